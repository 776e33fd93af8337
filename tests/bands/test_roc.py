"""Bands about curves."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.data_sets import columns
from oracles import intervals as slow

import fastfair as ff
from fastfair.bands.limits import STEEP
from fastfair.errors import InputError

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
            assert (of_group.low[k], of_group.high[k]) == (found.low, found.high)
            assert np.array_equal(of_group.replicates[:, k], ev.replicates("fnmr", group=group))
            assert of_group.uncertainty[k] == pytest.approx(found.standard_error / found.estimate)


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_other_methods_are_those_of_evaluate(comparisons, band, method):
    other = ff.roc_band(comparisons, LEVELS, n_resamples=400, rng=3, method=method)
    for k, level in enumerate(LEVELS):
        ev = ff.evaluate(comparisons, ff.at_fmr(level), measures=[], n_resamples=400, method=method, rng=3)
        assert (other.low[k], other.high[k]) == ev.interval("fnmr")
    assert np.array_equal(other.band_low, band.band_low)


@pytest.mark.parametrize("group", [None, "f"])
def test_the_band_is_that_of_loops(group):
    comparisons = few_errors()
    levels = [0.01, 0.02, 0.05, 0.1, 0.3, 0.5]
    found = ff.roc_band(comparisons, levels, group=group, n_resamples=200, rng=1, confidence_level=0.9)
    quantity = ff.evaluate(comparisons, ff.at_fmr(0.1), measures=[], n_resamples=2, rng=0).quantity("fnmr", group=group)
    freedom = quantity.n_subjects - (1 if group else 3)
    assert found.fnmr[-1] == 0 < found.fnmr[-2] < 20 / quantity.n_comparisons
    want = slow.band(found.fnmr.tolist(), found.replicates.T.tolist(), quantity.n_comparisons, freedom, 0.9)
    np.testing.assert_allclose(np.transpose([found.band_low, found.band_high]), want, rtol=1e-9)
    assert (found.band_low <= found.low).all()
    assert (found.band_high >= found.high).all()


def test_the_band_of_many_levels_holds_the_level_of_curves_and_never_turns(comparisons):
    band = ff.roc_band(comparisons, n_resamples=1000, rng=0, confidence_level=0.9)
    assert len(band.fmr) == 50
    assert (np.diff(band.band_low) <= 0).all()
    assert (np.diff(band.band_high) <= 0).all()
    inside = ((band.replicates >= band.band_low) & (band.replicates <= band.band_high)).all(axis=1)
    assert 0.88 <= inside.mean() < 0.95


def test_levels_come_in_the_order_asked():
    comparisons = few_errors()
    levels = [0.3, 0.01, 0.5, 0.02]
    asked = ff.roc_band(comparisons, levels, n_resamples=64, rng=1)
    in_order = ff.roc_band(comparisons, sorted(levels), n_resamples=64, rng=1)
    assert asked.fmr.tolist() == levels
    for name in ("fnmr", "threshold", "low", "high", "band_low", "band_high", "uncertainty"):
        assert np.array_equal(getattr(asked, name), getattr(in_order, name)[[2, 0, 3, 1]], equal_nan=True), name
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
    assert band.note.startswith("no errors: the interval is Clopper and Pearson's")
    band.plot().figure.canvas.draw()


def test_a_curve_that_falls_within_the_uncertainty_of_its_threshold_is_noted():
    """Mated scores are all the same, and the threshold may lie on either side of them."""
    rng = np.random.default_rng(0)
    who = np.arange(40)
    first, second = np.triu_indices(40, 1)
    scores = np.concatenate((np.full(80, 1.3) + 0.02 * rng.normal(size=80), rng.normal(size=first.size)))
    c = ff.Comparisons(
        scores, np.arange(scores.size) < 80, np.concatenate((who, who, first)), np.concatenate((who, who, second))
    )
    level = max(k / 780 for k in range(1, 300) if ff.rates(c, ff.at_fmr(k / 780)).fnmr > 0)
    band = ff.roc_band(c, [level, 0.3], n_resamples=200, rng=0)
    assert 0 < band.fnmr[0] < 0.1
    assert STEEP in band.note
    assert band.band_high[0] > 0.5


def test_plots(band):
    import matplotlib.pyplot as pyplot

    for det in (False, True):
        ax = band.plot(det=det, label="all")
        assert len(ax.collections) == 2
        assert np.isfinite(ax.dataLim.get_points()).all()
        pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fmr": [5]}, r"for 5 % write 0\.05"),
        ({"fmr": []}, "is empty"),
        ({"fmr": ["a"]}, "fmr must be numbers"),
        ({"fmr": [[0.1]]}, "list of rates"),
        ({"n_resamples": 0}, "needs replicates"),
        ({"method": "dyadic"}, "method must be one of"),
        ({"unit": "sample"}, "give reference_sample"),
    ],
)
def test_bad_arguments(comparisons, arguments, message):
    with pytest.raises(InputError, match=message):
        ff.roc_band(comparisons, **arguments)
