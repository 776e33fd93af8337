"""Bands over embeddings against loops, against score files of all pairs, and on real faces."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers import flat
from helpers.each import each
from helpers.refusals import refused
from helpers.small_embeddings import as_draw, matrix_of, small_embeddings
from oracles import embeddings as slow
from oracles import naive
from oracles.intervals import band as bands_of_loops
from oracles.intervals import of_all_or_none

import fastfair as ff
from fastfair._lib import seeds
from fastfair._lib.workers import Workers
from fastfair.bands.curve import (
    BandRequest,
    BandSettings,
    CurveMaker,
    RatesOverLevels,
    bands_of,
    compute_over_levels,
    level_by_depth,
)
from fastfair.errors import FairValueOutsideWarning
from fastfair.measures import MEASURES as FACTS
from fastfair.measures._registry import at_any_threshold
from fastfair.resampling.units import Units
from fastfair.uncertainty.few_errors import Limits
from fastfair.uncertainty.notes import Code, Note, has_code

pytestmark = pytest.mark.jit  # minutes without
LEVELS = [0.1, 0.3, 0.6]
MEASURES = {
    "max_geomean_ratio": naive.max_geomean_ratio,
    "max_min_ratio": naive.max_min_ratio,
    "log_geomean_sum": naive.log_geomean_sum,
    "gini": naive.gini,
}


def draws_of(e: ff.Embeddings, unit: str, n: int, seed: int) -> list[slow.Draw]:
    units = Units.of_vectors(e, unit)
    weights = units.new_weights()
    units.draw(0, seeds.stream(seed)[0], weights)
    return [as_draw(e, unit, weights[:, r], units.subject) for r in range(n)]


def asked_of(data: ff.Comparisons | ff.Embeddings, unit: str = "subject") -> BandRequest:
    return BandRequest.checked(data, BandSettings(), Workers(), unit=unit, n_resamples=2, rng=0)


@pytest.mark.parametrize("weighting", ["identity", "comparison"])
@pytest.mark.parametrize("method", ["recentered", "percentile", "gaussian"])
def test_roc_bands_are_those_of_loops(weighting: str, method: str):
    e = small_embeddings(4, 7, 4)
    matrix, subject = matrix_of(e), e.subject.tolist()
    settings = {"unit": "sample", "n_resamples": 8, "confidence_level": 0.9, "rng": 2}
    band = flat.roc_band(e, LEVELS, weighting=weighting, method=method, **settings)
    estimate, v = (
        slow.roc(LEVELS, matrix, subject, weighting),
        slow.v_roc(LEVELS, matrix, subject, weighting),
    )
    replicates = slow.replicate_roc(LEVELS, matrix, subject, weighting, draws_of(e, "sample", 8, 2))
    np.testing.assert_allclose(band.fnmr, estimate)
    np.testing.assert_allclose(band.v_statistic, v)
    np.testing.assert_allclose(band.replicates, replicates)
    ends = np.clip(slow.band(method, estimate, v, replicates, 0.9), 0, 1)
    n = (
        ff.evaluate(e.comparisons(), ff.at_eer(), measures=[], n_resamples=0)
        .quantity("fnmr")
        .n_comparisons
    )
    for k, x in enumerate(map(float, estimate)):
        if x in (0, 1):
            ends[k] = of_all_or_none(x, n, 0.9)
    np.testing.assert_allclose(np.transpose([band.low, band.high]), ends, atol=1e-12)
    for k in range(len(LEVELS)):
        of_level = [replicate[k] for replicate in replicates]
        np.testing.assert_allclose(
            band.uncertainty[k], slow.normalised_uncertainty(of_level, estimate[k], v[k])
        )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rate", ["fmr", "fnmr"])
@pytest.mark.parametrize("unit", ["sample", "subject", "subject+sample"])
def test_fairness_bands_are_those_of_loops(measure: str, rate: str, unit: str):
    e = small_embeddings(11, 9, 5, noise=3)
    matrix, subject = matrix_of(e), e.subject.tolist()
    groups = {k: e.groups[e.subject_group[k]] for k in range(e.subjects.size)}
    settings = {
        "unit": unit,
        "scheme": "product",
        "method": "percentile",
        "n_resamples": 12,
        "rng": 6,
    }
    band = flat.fairness_band(e, measure, rate, LEVELS, **settings)
    arguments = MEASURES[measure], rate.upper(), LEVELS, matrix, subject, groups, "identity"
    np.testing.assert_allclose(band.value, slow.fairness(*arguments), rtol=1e-9, atol=1e-12)
    if unit != "subject":
        np.testing.assert_allclose(
            band.v_statistic, slow.v_fairness(*arguments), rtol=1e-9, atol=1e-12
        )
    want = [slow.fairness(*arguments, draw) for draw in draws_of(e, unit, 12, 6)]
    np.testing.assert_allclose(band.replicates, want, rtol=1e-9, atol=1e-12)


def test_what_does_not_fit_embeddings_is_refused():
    e = small_embeddings(0, 6, 3)
    for wrong, match in (
        ({"method": "bca"}, "method"),
        ({"unit": "comparison"}, "unit"),
        ({"weighting": "pair"}, "weighting"),
        ({"scheme": "pair"}, "scheme"),
        ({"n_resamples": 1}, "at least 2"),
        ({"group": "x"}, "group"),
    ):
        refused(match, flat.roc_band, e, [0.5], **wrong)
    refused("Comparisons or Embeddings", ff.roc_band, [1, 2], [0.5])
    refused("sed", ff.fairness_band, e, "sed")
    refused("groups", ff.fairness_band, ff.Embeddings(e.vectors, e.subject), fmr=[0.5])


def test_bands_are_drawn():
    e = small_embeddings(11, 9, 5, noise=3)
    for measure in ("max_geomean_ratio", "group_to_min_difference", "garbe"):
        ax = ff.fairness_band(e, measure, fmr=LEVELS, n_resamples=8, rng=0).plot()
        assert ax.get_xlabel() == "False match rate"
        assert ax.get_title() == ""
        assert len(ax.lines) == (2 if measure == "group_to_min_difference" else 1)
    apart = ff.von_mises_fisher_embeddings(20, 3, 16, concentration=5000, rng=0)
    apart = ff.Embeddings(apart.vectors, apart.subject, group=apart.subject % 2)
    ax = ff.fairness_band(apart, fmr=[0.01, 0.1], n_resamples=8, rng=0).plot()
    ax.figure.canvas.draw()
    assert "not computable" in ax.texts[0].get_text()


@pytest.fixture(scope="module")
def random_groups() -> ff.Embeddings:
    """People alike, parted at random."""
    e = ff.von_mises_fisher_embeddings(90, 4, 16, concentration=(20, 60), rng=1)
    return ff.Embeddings(
        e.vectors, e.subject, group=np.random.default_rng(2).integers(0, 3, 90)[e.subject]
    )


def few_men() -> ff.Embeddings:
    """Ten subjects of group "m" and fifty of group "f"."""
    e = ff.von_mises_fisher_embeddings(60, 4, 16, concentration=(20, 60), rng=1)
    return ff.Embeddings(e.vectors, e.subject, group=np.where(e.subject % 6 == 0, "m", "f"))


def rate_of(measure: str) -> str:
    facts = FACTS[measure]
    return facts.of[0] if facts.of and "fnmr" not in facts.of else "fnmr"


@pytest.mark.jit
@each("measure", at_any_threshold())
def test_fairness_bands_have_the_intervals_of_evaluate(measure: str, random_groups: ff.Embeddings):
    """Over all pairs of vectors, embeddings and score files have the same replicates."""
    rate, levels, c = rate_of(measure), [0.1, 0.01], random_groups.comparisons()
    settings = {"n_resamples": 100, "rng": 0}
    band = ff.fairness_band(c, measure, rate, levels, **settings)
    of_vectors = flat.fairness_band(
        random_groups, measure, rate, levels, weighting="comparison", **settings
    )
    name = measure if band.rate is None else f"{measure}({rate})"
    for k, level in enumerate(levels):
        at = ff.at_fmr(level)
        ev = ff.evaluate(c, at, measure, metrics=(), **settings)
        for g, group in enumerate(c.groups) if FACTS[measure].per_group else [(None, None)]:
            place = k if group is None else (k, g)
            want = ev.quantity(name, group=group, at=at)
            assert band.value[place] == want.estimate
            np.testing.assert_equal((band.low[place], band.high[place]), (want.low, want.high))
    for field in ("value", "low", "high", "band_low", "band_high"):
        np.testing.assert_allclose(getattr(of_vectors, field), getattr(band, field), rtol=1e-9)
    known = ~np.isnan(band.low)
    assert (band.band_low <= band.low)[known].all()
    assert (band.band_high >= band.high)[known].all()


def test_the_band_of_a_measure_has_the_level_at_which_quantiles_hold_whole_curves():
    curves = np.random.default_rng(0).normal(size=(20, 2000)).cumsum(axis=0)
    level = level_by_depth(curves, 0.9)
    low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=1)
    inside = ((low[:, None] <= curves) & (curves <= high[:, None])).all(axis=0)
    assert inside.mean() == pytest.approx(0.9, abs=0.005)
    unknown = np.where(np.arange(2000) % 3 == 0, np.nan, curves[:1])  # in some replicates
    assert level_by_depth(np.concatenate((curves, unknown)), 0.9) == level_by_depth(
        curves[:, unknown[0] == unknown[0]], 0.9
    )
    assert level_by_depth(curves[:0], 0.9) == 0.9
    assert level_by_depth(curves[:1], 0.9) == pytest.approx(0.9, abs=0.002)


def test_a_group_without_errors_has_no_interval_of_measures():
    e = few_men()
    band = ff.fairness_band(e, "gini", "fnmr", [0.001, 0.4], n_resamples=100, rng=0)
    assert np.isnan(band.low).tolist() == np.isnan(band.band_high).tolist() == [False, True]
    assert f"FMR 0.4: {Note(Code.NO_ERRORS_TO_DRAW)}" in band.note


def test_all_bands_have_the_intervals_of_each():
    e = few_men()
    asked = {"fmr": [0.4, 0.01], "n_resamples": 50, "rng": 0}
    bands = bands_of(e, measures=["gini", "group_to_min_difference"], **asked)
    for name in ("gini", "group_to_min_difference"):
        for rate in ("fmr", "fnmr"):
            band, found = ff.fairness_band(e, name, rate, **asked), bands[f"fairness_{name}_{rate}"]
            for field in ("value", "low", "high", "band_low", "band_high", "replicates", "note"):
                np.testing.assert_array_equal(getattr(found, field), getattr(band, field))
    assert bands["roc"].to_json() == ff.roc_band(e, **asked).to_json()
    note, low = (
        json.loads(bands["fairness_gini_fnmr"].to_json())[name] for name in ("note", "low")
    )
    assert f"FMR 0.4: {Note(Code.NO_ERRORS_TO_DRAW)}" in note
    assert low[0] is None


def test_all_bands_of_quantiles_say_once_that_fairness_measures_are_no_test(
    random_groups: ff.Embeddings,
):
    with pytest.warns(FairValueOutsideWarning) as given:
        bands = bands_of(
            random_groups,
            [0.01, 0.1],
            ["gini", "group_to_average_ratio"],
            n_resamples=50,
            settings=BandSettings("recentered"),
            rng=0,
        )
    assert len(given) == 1
    assert (
        bands["fairness_gini_fnmr"].note
        == bands["fairness_gini_fmr"].note
        == str(Note(Code.FAIR_OUTSIDE))
    )
    assert not has_code(bands["fairness_group_to_average_ratio_fnmr"], Code.FAIR_OUTSIDE)


@pytest.mark.parametrize("group", [None, "f", "m"])
@pytest.mark.parametrize("unit", ["sample", "subject"])
def test_the_band_over_embeddings_is_that_of_loops(group: str | None, unit: str):
    e = few_men()
    levels = np.geomspace(0.001, 0.5, 12)
    band = ff.roc_band(e, levels[::-1], group=group, unit=unit, n_resamples=100, rng=0)
    assert band.fmr.tolist() == levels[::-1].tolist()
    subjects = {None: 60, "f": 50, "m": 10}[group]
    own = math.inf if unit == "sample" else subjects - (2 if group is None else 1)
    settings = asked_of(e, unit)
    held = compute_over_levels(e, levels, settings, lambda found: found.freedom, with_groups=False)
    freedom = np.minimum(own, held).tolist()
    assert (min(freedom) < own) == (unit == "subject" and group != "m")
    centred = (band.replicates - band.v_statistic + band.fnmr).T[::-1]
    added = n_effective = None
    if unit == "subject":  # as of all pairs listed
        listed = ff.evaluate(e.comparisons(), ff.at_fmr(0.5), [], metrics=[], n_resamples=2, rng=0)
        row = listed.quantities.index(listed.quantity("fnmr", group))
        added = [(6.0, 3.0)] * len(levels)
        n_effective = float(listed.uncertainty.sizes.effective[row])
    want = bands_of_loops(
        band.fnmr[::-1].tolist(),
        centred.tolist(),
        6 * subjects,
        freedom,
        0.95,
        added,
        n_effective,
    )
    assert band.fnmr[0] == 0
    np.testing.assert_allclose(
        np.transpose([band.band_low, band.band_high])[::-1], want, rtol=1e-9, atol=1e-12
    )
    assert "no errors" in band.note
    band.plot(det=True).figure.canvas.draw()


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@each("group", [None, "1"])
def test_limits_where_few_false_matches_hold_the_threshold_are_those_of_all_pairs(
    group, random_groups: ff.Embeddings
):
    e, listed = random_groups, random_groups.comparisons()
    levels = [expected / e.n_nonmated for expected in (3, 8, 20)]
    few_held = []
    for data in (e, listed):
        settings = asked_of(data)
        row = 0 if group is None else 1 + e.groups.index(group)

        def limits(found: RatesOverLevels, row: int = row) -> list[Limits | None]:
            curves = CurveMaker(found)
            sizes, cell = curves.sizes, None if row == 0 else (row - 1, row - 1)
            assert sizes.few_held is not None
            places = [
                p
                for p, e in zip(sizes.places, curves.entries, strict=True)
                if (e.name, e.cell) == ("fnmr", cell)
            ]
            return sizes.few_held.limits(places, 0.95)

        few_held.append(compute_over_levels(data, levels, settings, limits, with_groups=True))
    assert few_held[0] == few_held[1]
    assert few_held[0][0].missing
    assert few_held[0][1].high < 1
    band = ff.roc_band(e, levels, group=group, n_resamples=50, rng=0)
    assert band.high[0] == band.band_high[0] == 1
    assert "below the resolution of the data" in band.note
    assert (
        "below the resolution"
        in ff.fairness_band(e, "gini", "fnmr", levels, n_resamples=50, rng=0).note
    )
