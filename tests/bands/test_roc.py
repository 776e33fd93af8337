"""Bands about curves."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.data_sets import columns

import fastfair as ff
from fastfair.errors import InputError

pytestmark = pytest.mark.jit  # thousands of passes
LEVELS = [0.2, 0.02, 0.05]


@pytest.fixture(scope="module")
def comparisons():
    return ff.Comparisons(**columns())


@pytest.fixture(scope="module")
def band(comparisons):
    return ff.roc_band(comparisons, LEVELS, n_resamples=400, rng=3)


def test_points_intervals_and_replicates_are_those_of_evaluate(comparisons, band):
    assert band.fmr.tolist() == sorted(LEVELS)
    assert band.replicates.shape == (400, 3)
    for k, level in enumerate(sorted(LEVELS)):
        at = ff.at_fmr(level)
        ev = ff.evaluate(comparisons, at, measures=[], n_resamples=400, method="percentile", rng=3)
        assert band.fnmr[k] == ev.value("fnmr")
        assert band.threshold[k] == ev.value("threshold")
        assert (band.low[k], band.high[k]) == ev.interval("fnmr")
        assert np.array_equal(band.replicates[:, k], ev.replicates("fnmr"))
        assert band.uncertainty[k] == pytest.approx(ev.quantity("fnmr").standard_error / ev.value("fnmr"))


def test_the_band_is_wider_than_the_intervals_and_holds_the_level_of_curves(comparisons):
    band = ff.roc_band(comparisons, n_resamples=1000, rng=0, confidence_level=0.9)
    assert len(band.fmr) == 50
    held = ~np.isnan(band.band_low)
    assert (band.band_low <= band.low)[held].all()
    assert (band.band_high >= band.high)[held].all()
    inside = ((band.replicates >= band.band_low) & (band.replicates <= band.band_high))[:, held].all(axis=1)
    assert 0.9 <= inside.mean() < 0.93


@pytest.mark.parametrize("group", [None, "f"])
def test_the_band_ends_where_few_false_nonmatches_are_left(group):
    given = columns()
    comparisons = ff.Comparisons(**given | {"scores": given["scores"] + given["mated"]})
    band = ff.roc_band(comparisons, group=group, n_resamples=200, rng=0)
    rates = [ff.rates(comparisons, ff.at_fmr(level)).counts for level in band.fmr.tolist()]
    errors = np.array([r.false_nonmatches if group is None else r.group_false_nonmatches[0] for r in rates])
    assert errors[0] > 50
    assert (errors < 10).any()
    for limit in (band.band_low, band.band_high):
        assert np.array_equal(np.isnan(limit), errors < 10)
    last = band.fmr[errors >= 10][-1]
    assert (
        band.note
        == f"the simultaneous band ends at FMR {last:.3g}: there are fewer than 10 false non-matches beyond it"
    )
    few = ff.roc_band(comparisons, band.fmr[errors < 10], group=group, n_resamples=50, rng=0)
    assert few.note == "no simultaneous band: fewer than 10 false non-matches at every FMR"
    assert np.isnan([few.band_low, few.band_high]).all()
    many = ff.roc_band(comparisons, band.fmr[errors >= 10], group=group, n_resamples=200, rng=0)
    assert many.note == ""
    assert np.array_equal(many.band_low, band.band_low[errors >= 10])  # what is left out does not widen the rest


def test_where_no_replicate_has_an_error_there_is_no_interval():
    given = columns()
    c = ff.Comparisons(**given | {"scores": given["scores"] + 9 * given["mated"]})
    band = ff.roc_band(c, [0.01, 0.5], n_resamples=50, rng=0)
    assert band.fnmr.tolist() == [0, 0]
    assert np.isnan([band.low, band.high]).all()
    band.plot().figure.canvas.draw()


def test_other_methods(comparisons, band):
    for method in ("basic", "normal", "bca"):
        other = ff.roc_band(comparisons, LEVELS, n_resamples=400, rng=3, method=method)
        assert (other.low != band.low).any()
        assert np.array_equal(other.band_low, band.band_low)


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
