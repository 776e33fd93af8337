"""Intervals from replicates, against the oracle and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import intervals as naive_intervals
from oracles import resampling as slow

from fastfair import intervals

VALUES = st.lists(st.floats(-5, 5, width=32), min_size=2, max_size=40)
LEVELS = st.floats(0.05, 0.99)


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@given(values=VALUES, estimate=st.floats(-5, 5), level=LEVELS)
def test_methods_are_those_of_the_oracle(values, estimate, level):
    close(intervals.confidence_interval(values, estimate, level), slow.percentile(values, level))
    close(
        intervals.confidence_interval(values, estimate, level, "basic"),
        slow.basic(values, estimate, level),
    )
    close(
        intervals.confidence_interval(values, estimate, level, "normal"),
        slow.normal(values, estimate, level),
    )
    found = intervals.confidence_interval(values, estimate, level, "recentered", v_statistic=0.5)
    close(found, slow.recentered(values, estimate, 0.5, level))
    error = float(intervals.standard_error(values))
    close(
        intervals.confidence_interval(values, 0.25, level, "dyadic"),
        slow.log_normal(0.25, error, level),
    ) if error < 5 else None


@given(
    values=VALUES,
    estimate=st.floats(0.01, 0.99),
    freedom=st.integers(1, 500) | st.just(math.inf),
    level=LEVELS,
)
def test_logit_intervals_are_those_of_the_oracle(values, estimate, freedom, level):
    rates = np.abs(values) / 100
    found = intervals.confidence_interval(
        rates, estimate, level, "logit", degrees_of_freedom=freedom
    )
    error = float(intervals.standard_error(rates))
    assert found == pytest.approx(naive_intervals.logit(estimate, error, freedom, level), rel=1e-6)


def test_logit_intervals_are_for_rates_with_errors():
    low, high = intervals.confidence_interval([[0.1, 0.2]] * 3, [0, 1, 0.5], method="logit")
    assert np.isnan([low[:2], high[:2]]).all()
    assert 0 < low[2] < 0.5 < high[2] < 1


@given(values=VALUES, jackknife=VALUES, level=LEVELS, at=st.integers(0, 39))
def test_bca_is_that_of_the_oracle(values, jackknife, level, at):
    estimate = (
        values[at % len(values)] + 0.01
    )  # between replicates, so that both have the same below it
    found = intervals.confidence_interval(values, estimate, level, "bca", jackknife=jackknife)
    expected = slow.bca(values, estimate, jackknife, level)
    if not any(map(math.isnan, expected)) and not np.isnan(found).any():
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_bca_against_scipy():
    from scipy.stats import bootstrap

    data = np.random.default_rng(0).exponential(size=40)
    theirs = bootstrap(
        (data,), np.mean, n_resamples=4000, method="BCa", rng=np.random.default_rng(1)
    )
    jackknife = (data.sum() - data) / (data.size - 1)
    ours = intervals.confidence_interval(
        theirs.bootstrap_distribution, data.mean(), 0.95, "bca", jackknife=jackknife
    )
    assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=1e-3)


@given(rows=st.lists(st.lists(st.floats(-5, 5), min_size=6, max_size=6), min_size=1, max_size=4))
def test_rows_are_independent_of_each_other(rows):
    low, high = intervals.confidence_interval(rows, [0.5] * len(rows))
    for row, *limits in zip(rows, low, high, strict=True):
        close(tuple(limits), intervals.confidence_interval(row, 0.5))


def test_replicates_that_were_not_computable():
    nan, inf = math.nan, math.inf
    assert intervals.confidence_interval([1, nan, 3, nan], 2, 0.5) == pytest.approx((1.5, 2.5))
    low, high = intervals.confidence_interval(
        [1, 2, 3, inf, inf], 2
    )  # a ratio with a rate of zero is the largest
    assert (float(low), float(high)) == (pytest.approx(1.1), inf)
    assert np.isnan(intervals.confidence_interval([nan, nan], 2)).all()
    assert np.isnan(
        intervals.confidence_interval([nan, nan], 2, method="bca", jackknife=[nan, nan])
    ).all()
    assert float(intervals.standard_error([1, 3, nan, inf])) == pytest.approx(math.sqrt(2))
    assert math.isnan(intervals.standard_error([1, nan]))


@given(curves=st.integers(0, 1000), share=st.floats(0.5, 0.99), n=st.integers(20, 200))
def test_bands_hold_whole_curves(curves, share, n):
    level = (math.ceil(share * n) - 0.5) / n  # a whole number of curves, rounding or not
    values = np.random.default_rng(curves).normal(size=(5, n)).cumsum(axis=0).round(1)
    low, high = intervals.simultaneous_band(values, level)
    expected = slow.sup_t_band(values.T.tolist(), level)
    pointwise = [slow.percentile(row.tolist(), level) for row in values]
    assert low.tolist() == pytest.approx(
        [min(a, b[0]) for a, b in zip(expected[0], pointwise, strict=True)]
    )
    assert high.tolist() == pytest.approx(
        [max(a, b[1]) for a, b in zip(expected[1], pointwise, strict=True)]
    )
    inside = ((values >= low[:, None]) & (values <= high[:, None])).all(axis=0)
    assert inside.mean() >= level - 1e-9


def test_bands_refuse_curves_that_are_not_known_everywhere():
    values = np.arange(12.0).reshape(2, 6)
    values[1, [0, 3]] = np.nan
    refused("NaN in 2 of 6 curves", intervals.simultaneous_band, values)


@given(pvalues=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_the_oracle(pvalues):
    close(intervals.holm(pvalues).tolist(), slow.holm(pvalues))


@given(values=st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=30))
def test_pvalues_are_those_of_the_oracle(values):
    close(float(intervals.bootstrap_pvalue(values)), slow.bootstrap_pvalue(values))


def test_upper_limits_without_errors():
    from scipy.stats import binomtest

    for n in (1, 7, 300):
        expected = binomtest(0, n).proportion_ci(0.9, method="exact").high
        assert intervals.upper_limit_without_errors(n, 0.9) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "bca"}, "needs the jackknife"),
        ({"method": "recentered"}, "needs the V-statistic"),
        ({"method": "student"}, "method must be one of"),
        ({"confidence_level": 95}, r"write 0\.95"),
        ({"confidence_level": "high"}, "must be a finite number"),
    ],
)
def test_bad_arguments(arguments, message):
    refused(message, intervals.confidence_interval, [1.0, 2.0], 1.5, **arguments)


def test_standard_errors_of_very_large_replicates_do_not_overflow():
    small = np.array([[1.0, 2.0, 4.0, np.nan], [3.0, 3.0, 5.0, 1.0]])
    large = intervals.standard_error(small * 1e200)
    np.testing.assert_allclose(large, intervals.standard_error(small) * 1e200)
    assert intervals.standard_error([1.7e308, -1.7e308]) == np.inf


def test_a_method_that_works_in_place_changes_no_replicates(monkeypatch):
    def middle(values, center, tail, **_):
        values.sort(axis=-1)
        center -= 1
        return values[..., 1], values[..., -2]

    monkeypatch.setitem(intervals.METHODS_FOR_ANYTHING, "middle", middle)
    replicates, estimate = np.array([3.0, 1.0, 4.0, 2.0]), np.array(2.5)
    assert [
        float(end) for end in intervals.confidence_interval(replicates, estimate, method="middle")
    ] == [2.0, 3.0]
    assert replicates.tolist() == [3.0, 1.0, 4.0, 2.0]
    assert estimate == 2.5
