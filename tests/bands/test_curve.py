"""Bands about curves."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from helpers import flat
from helpers.data_sets import columns, pairs_within_groups
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from oracles import intervals as slow

import fastfair as ff
from fastfair import intervals
from fastfair.bands.curve import RocBand
from fastfair.evaluation.result import Evaluation
from fastfair.uncertainty.notes import Code, has_code

pytestmark = pytest.mark.jit  # thousands of passes
LEVELS = [0.2, 0.02, 0.05]


@pytest.fixture(scope="module")
def comparisons():
    return ff.Comparisons(**columns())


@pytest.fixture(scope="module")
def band(comparisons):
    return ff.roc_band(comparisons, LEVELS, n_resamples=400, rng=3)


def few_errors() -> ff.Comparisons:
    """Comparisons of which no mated one fails at FMR 0.5."""
    given = columns()
    return ff.Comparisons(**given | {"scores": given["scores"] + 1.7 * given["mated"]})


def freedom_of(ev: Evaluation, group: str | None) -> float:
    """The degrees of freedom of the FNMR, but not more than those of the FMR that is held."""
    at = {
        (q.name, q.group): ev.uncertainty.sizes.degrees_of_freedom[k]
        for k, q in enumerate(ev.quantities)
    }
    return min(at["fnmr", group], at["fmr", None])


def test_points_intervals_and_replicates_are_those_of_evaluate(comparisons, band):
    assert band.fmr.tolist() == LEVELS
    assert band.replicates.shape == (400, 3)
    for group in (None, "f"):
        of_group = ff.roc_band(comparisons, LEVELS, group=group, n_resamples=400, rng=3)
        for k, level in enumerate(LEVELS):
            at = ff.at_fmr(level)
            ev = ff.evaluate(comparisons, at, measures=[], n_resamples=400, rng=3)
            found = ev.quantity("fnmr", group=group)
            assert of_group.fnmr[k] == found.estimate
            assert band.threshold[k] == ev.value("threshold")
            want = intervals.confidence_interval(
                ev.replicates("fnmr", group=group),
                found.estimate,
                0.95,
                "logit",
                degrees_of_freedom=freedom_of(ev, group),
            )
            assert of_group.low[k] == pytest.approx(float(want[0]))
            assert of_group.high[k] >= want[1] - 1e-12  # with one more subject
            assert (of_group.low[k], of_group.high[k]) == pytest.approx((found.low, found.high))
            assert np.array_equal(of_group.replicates[:, k], ev.replicates("fnmr", group=group))
            assert of_group.uncertainty[k] == pytest.approx(found.standard_error / found.estimate)


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_other_methods_are_those_of_evaluate(comparisons, band, method):
    other = ff.roc_band(
        comparisons, LEVELS, n_resamples=400, rng=3, settings=ff.BandSettings(method)
    )
    for k, level in enumerate(LEVELS):
        ev = ff.evaluate(
            comparisons,
            ff.at_fmr(level),
            measures=[],
            n_resamples=400,
            settings=ff.EvaluationSettings(method=method),
            rng=3,
        )
        assert (other.low[k], other.high[k]) == ev.interval("fnmr")
    assert np.array_equal(other.band_low, band.band_low)


@pytest.mark.parametrize("group", [None, "f"])
def test_the_band_is_that_of_loops(group):
    comparisons = few_errors()
    levels = [0.01, 0.02, 0.05, 0.1, 0.3, 0.5]
    found = ff.roc_band(
        comparisons, levels, group=group, n_resamples=200, rng=1, confidence_level=0.9
    )
    quantity = ff.evaluate(comparisons, ff.at_fmr(0.1), measures=[], n_resamples=2, rng=0).quantity(
        "fnmr", group=group
    )
    freedom = [
        freedom_of(
            ff.evaluate(comparisons, ff.at_fmr(level), measures=[], n_resamples=2, rng=0), group
        )
        for level in levels
    ]
    assert min(freedom) < quantity.n_subjects - (1 if group else 3)
    assert found.fnmr[-1] == 0 < found.fnmr[-2] < 20 / quantity.n_comparisons
    given = columns()
    of_group = (given["reference_group"] == group) | (group is None)
    scores, who = given["scores"] + 1.7 * given["mated"], given["reference"]

    def counted(chosen: np.ndarray, t: float) -> list[tuple[int, int]]:
        attempts = Counter(who[given["mated"] & chosen].tolist())
        failures = Counter(who[given["mated"] & chosen & (scores < t)].tolist())
        return [(failures[k], attempts[k]) for k in attempts]

    everyone = np.ones(who.size, bool)
    added = [
        slow.typical_subject(counted(of_group, t), counted(everyone, t))
        for t in found.threshold[:-1]
    ] + [(math.nan, math.nan)]
    want = slow.band(
        found.fnmr.tolist(),
        found.replicates.T.tolist(),
        quantity.n_comparisons,
        freedom,
        0.9,
        added,
    )
    np.testing.assert_allclose(np.transpose([found.band_low, found.band_high]), want, rtol=1e-9)
    assert (found.band_low <= found.low).all()
    assert (found.band_high >= found.high).all()


def test_the_band_of_many_levels_holds_the_level_of_curves_and_never_turns(comparisons):
    band = ff.roc_band(comparisons, n_resamples=1000, rng=0, confidence_level=0.9)
    assert len(band.fmr) == 50
    assert (np.diff(band.band_low) <= 0).all()
    assert (np.diff(band.band_high) <= 0).all()
    inside = ((band.replicates >= band.band_low) & (band.replicates <= band.band_high)).all(axis=1)
    assert 0.88 <= inside.mean() < 0.97


def test_levels_come_in_the_order_asked():
    comparisons = few_errors()
    levels = [0.3, 0.01, 0.5, 0.02]
    asked = ff.roc_band(comparisons, levels, n_resamples=64, rng=1)
    in_order = ff.roc_band(comparisons, sorted(levels), n_resamples=64, rng=1)
    assert asked.fmr.tolist() == levels
    for name in ("fnmr", "threshold", "low", "high", "band_low", "band_high", "uncertainty"):
        assert np.array_equal(
            getattr(asked, name), getattr(in_order, name)[[2, 0, 3, 1]], equal_nan=True
        ), name
    assert np.array_equal(asked.replicates, in_order.replicates[:, [2, 0, 3, 1]])


def test_where_no_errors_are_left_intervals_are_those_of_clopper_and_pearson():
    given = columns()
    c = ff.Comparisons(**given | {"scores": given["scores"] + 9 * given["mated"]})
    band = ff.roc_band(c, [0.01, 0.5], n_resamples=50, rng=0)
    assert band.fnmr.tolist() == [0, 0]
    found = ff.evaluate(c, ff.at_fmr(0.01), measures=[], n_resamples=50, rng=0).quantity("fnmr")
    for low, high in ((band.low, band.high), (band.band_low, band.band_high)):
        assert low.tolist() == [0, 0]
        assert high.tolist() == [found.high] * 2
    assert band.note.startswith(
        "fewer than 30 errors; no errors: the interval is Clopper and Pearson's"
    )
    band.plot().figure.canvas.draw()


def steep(n_subjects: int = 40) -> ff.Comparisons:
    """Mated scores are almost the same, and the threshold may lie on either side of them."""
    rng = np.random.default_rng(0)
    who = np.arange(n_subjects)
    first, second = np.triu_indices(n_subjects, 1)
    n_mated = 2 * n_subjects
    scores = np.concatenate(
        (np.full(n_mated, 1.3) + 0.02 * rng.normal(size=n_mated), rng.normal(size=first.size))
    )
    return ff.Comparisons(
        scores,
        np.arange(scores.size) < n_mated,
        np.concatenate((who, who, first)),
        np.concatenate((who, who, second)),
    )


def test_where_a_curve_falls_within_the_uncertainty_of_its_threshold_intervals_hold_the_quantiles_of_replicates():
    c = steep()
    rates = [k / 780 for k in range(1, 300)]
    least = max(rate for rate in rates if ff.rates(c, ff.at_fmr(rate)).fnmr > 0)
    none = min(rate for rate in rates if rate > least)
    band = ff.roc_band(c, [least, none, 0.3], n_resamples=200, rng=0)
    assert band.fnmr[0] > 0 == band.fnmr[1]
    low, high = np.quantile(band.replicates, [0.025, 0.975], axis=0)
    assert (band.low <= low + 1e-12).all()
    assert (band.high >= high - 1e-12).all()
    assert (
        high[1]
        > ff.evaluate(c, ff.at_fmr(none), measures=[], n_resamples=2, rng=0).quantity("fnmr").high
    )
    assert f"FMR {none:.3g} to 0.3: no errors" in band.note
    assert has_code(band, Code.WIDENED)
    assert band.band_high[0] > 0.5


def hubs(shift: float) -> ff.Comparisons:
    """Comparisons of 240 subjects, twelve of whom are in almost all false matches."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(240), 4)
    first, second = np.triu_indices(240, 1)
    hub = np.minimum(first, second) < 12
    mated, nonmated = 2.5 + rng.normal(size=who.size), rng.normal(size=first.size)
    reference, probe = np.concatenate((who, first)), np.concatenate((who, second))

    return ff.Comparisons(
        np.concatenate((mated, nonmated + shift * hub)),
        np.arange(reference.size) < who.size,
        reference,
        probe,
    )


@pytest.mark.parametrize(
    "c", [steep(), hubs(2.0), hubs(0.0)], ids=["steep", "few subjects", "alike"]
)
def test_intervals_and_notes_are_those_of_evaluate(c):
    levels = [0.005, 0.02, 0.1, 0.3]
    band = ff.roc_band(c, levels, n_resamples=200, rng=0)
    with quietly():
        evaluation = ff.evaluate(
            c, [ff.at_fmr(level) for level in levels], [], metrics=[], n_resamples=200, rng=0
        )
    quantities = [evaluation.quantity("fnmr", at=ff.at_fmr(level)) for level in levels]
    assert np.array([(q.low, q.high) for q in quantities]).T.tolist() == [
        band.low.tolist(),
        band.high.tolist(),
    ]
    for level, quantity in zip(levels, quantities, strict=True):
        assert has_code(quantity, Code.HELD_BY_FEW_SUBJECTS) == (
            f"{level:g}" in band.note and has_code(band, Code.HELD_BY_FEW_SUBJECTS)
        )


def test_evaluate_warns_of_a_threshold_that_few_subjects_hold():
    with pytest.warns(ff.errors.NarrowIntervalsWarning, match="few subjects cause 70"):
        ff.evaluate(hubs(2.0), ff.at_fmr(0.02), [], metrics=[], n_resamples=200, rng=0)


def test_a_threshold_that_few_subjects_hold_is_noted():
    """Few subjects are in almost all false matches, so that the threshold hangs on them."""

    def band(shift: float, **options) -> RocBand:
        return flat.roc_band(hubs(shift), [0.02], n_resamples=200, rng=0, **options)

    assert has_code(band(2.0), Code.HELD_BY_FEW_SUBJECTS)
    assert not has_code(band(0.0), Code.HELD_BY_FEW_SUBJECTS)
    assert has_code(band(2.0, method="percentile"), Code.HELD_BY_FEW_SUBJECTS)


def test_fairness_bands_hold_the_fair_value_where_a_group_has_no_errors():
    """Where replicates, which never have errors there either, gave no interval."""
    inside, whole = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = (12, 30, 60)
        group = np.repeat(np.arange(3), sizes)
        reference, probe, mated = pairs_within_groups(sizes, 5)
        scores = rng.normal(size=mated.size) + 3 * mated
        c = ff.Comparisons(scores, mated, reference, probe, group[reference], group[probe])
        for rate, level in (("fmr", 0.004), ("fnmr", 0.05)):
            of_groups = getattr(ff.rates(c, ff.at_fmr(level)), f"group_{rate}")
            if 0 == of_groups.min() < of_groups.max():
                band = ff.fairness_band(c, "gini", rate, [level], n_resamples=200, rng=seed)
                assert "no interval" not in band.note
                inside.append(band.low[0] == 0 < band.value[0] <= band.high[0] < 1)
                whole.append(band.band_low[0] <= band.low[0] <= band.high[0] <= band.band_high[0])
    assert len(inside) > 15
    assert sum(inside) >= len(inside) - 3
    assert all(whole)


def test_plots(band):
    for det in (False, True):
        ax = band.plot(det=det, label="all")
        assert len(ax.collections) == 2
        assert np.isfinite(ax.dataLim.get_points()).all()


@each(
    ("arguments", "message"),
    [
        ({"fmr": [5]}, r"for 5 % write 0\.05"),
        ({"fmr": []}, "is empty"),
        ({"fmr": ["a"]}, "fmr must be numbers"),
        ({"fmr": [[0.1]]}, "list of rates"),
        ({"n_resamples": 0}, "whole number of at least 2"),
        ({"method": "dyadic"}, "method must be one of"),
        ({"unit": "sample"}, "give reference_sample"),
    ],
)
def test_bad_arguments(comparisons, arguments, message):
    refused(message, flat.roc_band, comparisons, **arguments)
