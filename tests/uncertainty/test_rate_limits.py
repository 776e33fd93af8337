"""What data say about rates: arrays against a slow scalar twin, and limits and p-values against
each other."""

from __future__ import annotations

import math
from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import applied_thresholds
from oracles import rate_limits as slow
from scipy.stats import beta, binomtest

import fastfair as ff
from fastfair._lib.proportions import clopper_pearson_line
from fastfair.resampling.dependence import AddedSubject
from fastfair.uncertainty.rate_limits import HeldRate, RateEvidence, raised_rate

LEVELS = st.floats(0.2, 0.998)
_INSIDE = st.tuples(
    st.floats(1e-6, 0.95), st.floats(0.01, 2), st.floats(1, 500) | st.just(math.inf),
    st.floats(5, 1e5) | st.just(math.nan), st.floats(0, 0.04) | st.just(math.nan),
)  # fmt: skip
KNOWN = st.lists(
    _INSIDE.map(lambda one: (one[0], one[0] * one[1], *one[2:]))
    | st.tuples(st.sampled_from([0.0, 1.0]), st.just(0.0), st.floats(1, 500), st.floats(1, 1e6), st.just(math.nan)),
    min_size=1, max_size=12,
)  # fmt: skip
Known = list[tuple[float, float, float, float, float]]


@given(known=KNOWN, level=LEVELS)
def test_limits_of_arrays_are_those_of_the_slow_twin(known: Known, level: float):
    low, high = RateEvidence(*np.array(known).T).interval(level)
    expected = np.array([slow.limits(*one, level) for one in known])
    np.testing.assert_allclose(np.array([low, high]).T, expected, rtol=1e-6, atol=1e-12)


@given(known=KNOWN, level=LEVELS)
def test_limits_hold_the_rate_and_widen_with_the_level(known: Known, level: float):
    evidence = RateEvidence(*np.array(known).T)
    low, high = evidence.interval(level)
    wider = evidence.interval((1 + level) / 2)
    assert (wider[0] <= low).all()
    assert (low <= evidence.estimate).all()
    assert (evidence.estimate <= high).all()
    assert (high <= wider[1]).all()


@given(known=KNOWN, level=LEVELS)
def test_the_p_value_of_a_limit_is_its_error_probability(known: Known, level: float):
    evidence, tail = RateEvidence(*np.array(known).T), (1 - level) / 2
    low, high = evidence.interval(level)
    for side, limit, never in (("upper", high, 1.0), ("lower", low, 0.0)):
        inside = (limit > 1e-290) & (limit < 1 - 1e-9)
        found = evidence.pvalue(limit, side)
        np.testing.assert_allclose(found[inside], tail, rtol=1e-4)
        assert (found[evidence.estimate == never] == 1).all()


@given(known=KNOWN, bound=st.floats(1e-6, 0.98), level=st.floats(0.55, 0.999))
def test_p_values_are_small_exactly_where_limits_are_within_the_bound(
    known: Known, bound: float, level: float
):
    evidence = RateEvidence(*np.array(known).T)
    low, high = evidence.interval(2 * level - 1)
    for side, limit, is_within in (("upper", high, high <= bound), ("lower", low, low >= bound)):
        clear = abs(limit - bound) > 1e-9 * bound
        assert ((evidence.pvalue(bound, side) <= 1 - level) == is_within)[clear].all()


@given(known=KNOWN, bound=st.floats(1e-4, 0.9), side=st.sampled_from(["lower", "upper"]))
def test_p_values_are_those_that_the_slow_twin_looks_for(known: Known, bound: float, side: str):
    found = RateEvidence(*np.array(known).T).pvalue(bound, side)
    expected = np.array([slow.pvalue(one, bound, side) for one in known])
    clear = (found < 0.499) & (found > 1e-8)
    np.testing.assert_allclose(found[clear], expected[clear], rtol=1e-5)
    assert (expected[found > 0.501] == 1).all()


def test_evidence_may_be_of_one_rate_or_of_a_table_of_them():
    rates = np.array([[0.0, 0.1, 1.0], [0.2, 0.3, 0.4]])
    table = RateEvidence(rates, 0.01, np.array([[5.0], [50.0]]), 40.0)
    for place in np.ndindex(rates.shape):
        alone = RateEvidence(rates[place], 0.01, [5.0, 50.0][place[0]], 40.0)
        np.testing.assert_array_equal(
            [end[place] for end in table.interval(0.9)], alone.interval(0.9)
        )
        assert table.pvalue(0.15, "upper")[place] == alone.pvalue(0.15, "upper")


def test_a_rate_of_0_or_1_whose_effective_sample_size_is_not_known_has_no_limits():
    assert np.isnan(RateEvidence([0.0, 1.0], 0.0, 10.0).interval(0.95)).all()
    assert np.isnan(RateEvidence(0.3, math.nan, 10.0, 50.0).interval(0.95)).all()
    assert np.isnan(RateEvidence(0.3, math.nan, 10.0, 50.0).pvalue(0.2, "lower"))


def test_what_does_not_vary_is_within_bounds_from_itself_on():
    evidence = RateEvidence(0.25, 0.0, 7.0)
    assert [float(end) for end in evidence.interval(0.95)] == pytest.approx([0.25, 0.25])
    assert [float(evidence.pvalue(bound, "upper")) for bound in (0.2, 0.3)] == [1.0, 0.0]
    assert [float(evidence.pvalue(bound, "lower")) for bound in (0.2, 0.3)] == [0.0, 1.0]
    assert [float(evidence.pvalue(bound, "upper")) for bound in (0.0, 1.0)] == [1.0, 0.0]


@given(known=KNOWN, level=LEVELS)
def test_widened_intervals_are_never_narrower(known: Known, level: float):
    evidence = RateEvidence(*np.array(known).T)
    low, high = evidence.estimate * 0.9, np.minimum(evidence.estimate * 1.1, 1)
    wider = evidence.widened(low, high, level)
    whole = evidence.interval(level)
    for k, (rate, _, _, effective, raised) in enumerate(known):
        if not 0 < rate < 1:
            continue
        assert wider[0][k] == (low[k] if math.isnan(effective) else min(low[k], wider[0][k]))
        no_line = math.isnan(raised) and math.isnan(effective)
        assert wider[1][k] == (high[k] if no_line else max(high[k], wider[1][k]))
    outermost = evidence.widened(*whole, level)
    np.testing.assert_array_equal(outermost, whole)


@given(errors=st.integers(0, 40), more=st.integers(0, 1000), level=st.floats(0.6, 0.99))
def test_clopper_and_pearsons_limits_are_scipys(errors, more, level):
    n = errors + more
    if more:
        expected = binomtest(errors, n, alternative="less").proportion_ci(level, "exact").high
        assert clopper_pearson_line(1, errors, n).limit(1 - level) == pytest.approx(
            expected, rel=1e-9
        )
    if errors:
        expected = binomtest(errors, n, alternative="greater").proportion_ci(level, "exact").low
        assert clopper_pearson_line(-1, errors, n).limit(1 - level) == pytest.approx(
            expected, rel=1e-9
        )


def test_limits_of_few_errors_and_of_few_others_are_mirror_images():
    for errors in (1, 4, 10):
        rate, error = errors / 50, math.sqrt(errors / 50 * (1 - errors / 50) / 50)
        both = RateEvidence([rate, 1 - rate], error, 49.0, 50.0)
        low, high = both.interval(0.95)
        exact = binomtest(errors, 50).proportion_ci(0.95, "exact").low
        assert low[0] == pytest.approx(exact)
        assert high[1] == pytest.approx(1 - exact)
    counts = ff.FailureCounts(np.arange(50) > 0, np.ones(50, int), ["a"] * 50)
    assert counts.confidence_interval(0.95)[1][0] == pytest.approx(0.99949, abs=1e-5)


@given(failures=st.integers(1, 19), n=st.integers(20, 400), attempts=st.integers(1, 30))
def test_one_more_subject_fails_half_of_its_attempts(failures, n, attempts):
    with_it = (Fraction(failures) + Fraction(attempts, 2)) / (n + attempts)
    expected = max(Fraction(0), with_it - Fraction(failures, n))
    added = AddedSubject(attempts, attempts / 2)
    assert raised_rate(failures / n, n, added) == pytest.approx(float(expected), abs=1e-15)
    assert np.isnan(raised_rate(np.array([0.0, 1.0]), n, added)).all()
    assert np.isnan(raised_rate(0.2, n, AddedSubject(math.nan, math.nan)))


@given(
    estimate=st.floats(1e-4, 0.2),
    relative=st.floats(0.05, 1),
    freedom=st.floats(3, 300),
    gap=st.floats(1.05, 5),
)
def test_so_many_subjects_as_are_named_would_just_do(estimate, relative, freedom, gap):
    bound = min(gap * estimate, 0.9)
    evidence = RateEvidence(estimate, relative * estimate, freedom, strata=3.0)
    times = evidence.times_needed(bound, 0.95)
    assert times >= 1
    assert evidence.times(times).pvalue(bound, "upper") <= 0.05
    if times > 1:
        assert evidence.times(times / 1.001).pvalue(bound, "upper") > 0.05


def test_more_subjects_shrink_all_that_limits_are_made_of():
    evidence = RateEvidence(
        [0.1, 0.0], [0.02, 0.0], [17.0, 17.0], [30.0, 40.0], [0.01, math.nan], 3.0, 50.0
    )
    error, freedom, effective, raised, strata, independent = astuple(evidence.times(4))[1:]
    assert independent.tolist() == [200.0, 200.0]
    assert error.tolist() == [0.01, 0.0]
    assert freedom.tolist() == [77.0, 77.0]
    assert effective.tolist() == [120.0, 160.0]
    assert raised[0] == 0.0025
    assert strata.tolist() == [3.0, 3.0]
    assert (evidence.times(0.01).degrees_of_freedom == 1).all()


@given(errors=st.integers(0, 60), n=st.integers(60, 500), level=st.floats(0.5, 0.99))
def test_attempts_taken_for_independent_have_exact_limits(errors, n, level):
    """Clopper and Pearson's alone, whatever else is known, and p-values that agree with them."""
    rate = RateEvidence(errors / n, 0.02, 17.0, 30.0, 0.01, independent=n)
    low, high = map(float, rate.interval(level))
    tail = (1 - level) / 2
    assert high == pytest.approx(
        beta.ppf(1 - tail, errors + 1, n - errors) if errors < n else 1.0, rel=1e-9
    )
    assert low == pytest.approx(beta.ppf(tail, errors, n - errors + 1) if errors else 0.0, rel=1e-9)
    if errors < n:
        assert rate.pvalue(high, "upper") == pytest.approx(tail, rel=1e-6)


def test_a_rate_above_the_bound_is_never_within_it_by_more_of_the_same():
    assert RateEvidence(0.2, 0.05, 50).times_needed(0.1, 0.95) == math.inf
    without_errors = RateEvidence(0.0, 0.0, 50, 10.0).times_needed(0.01, 0.95)
    assert without_errors == pytest.approx(math.log(0.05) / math.log(0.99) / 10)
    rate = RateEvidence(0.05, 0.01, 50)
    assert rate.times_needed(0.1, 0.95, room=lambda _: 2.0) == math.inf
    assert rate.times_needed(
        0.09, 0.95, room=lambda times: 2.0 if times < 3 else 1.0
    ) == pytest.approx(3, rel=1e-6)


@given(
    rate=st.floats(1e-5, 0.5),
    relative=st.floats(0.01, 1.5),
    freedom=st.floats(1, 500),
    level=st.floats(0.5, 0.99),
)
def test_the_law_of_a_held_rate_is_scipys(rate, relative, freedom, level):
    held = HeldRate(rate, 100, relative * rate, freedom)
    expected = applied_thresholds.law_of_rate(rate, relative * rate, freedom, level)
    assert held.quantiles((1 - level) / 2) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(
    rate=st.floats(1e-4, 0.2),
    relative=st.floats(0.05, 1.5),
    n=st.integers(10, 5000),
    freedom=st.floats(2, 300),
)
def test_errors_beyond_the_populations_threshold_are_those_that_its_law_leaves(
    rate, relative, n, freedom
):
    fewest, most = HeldRate(rate, n, relative * rate, freedom).errors(0.025)
    low, high = applied_thresholds.law_of_rate(rate, relative * rate, freedom, 0.95)
    if abs(low * n - round(low * n)) > 1e-6 and abs(high * n - round(high * n)) > 1e-6:
        assert fewest == max(e for e in range(n + 1) if e / n <= low)
        assert most == min(e for e in range(n + 1) if e / n >= high or e == n)


@given(st.floats(0.01, 0.3), st.integers(50, 500), st.integers(1, 40))
def test_with_one_error_less_than_the_fewest_the_upper_limit_does_not_reach_the_rate_held(
    rate, n, attempts
):
    held = HeldRate.of(rate, n, 40.0)

    def upper_limit(errors):
        share = errors / n
        known = RateEvidence(
            share,
            math.sqrt(share * (1 - share) / n),
            40.0,
            n,
            raised_rate(share, n, AddedSubject(attempts, attempts / 2)),
        )
        return float(known.interval(0.95)[1])

    fewest, most = held.errors(0.025, upper_limit)
    plain, same = held.errors(0.025)
    assert fewest <= plain
    assert most == same
    assert fewest == plain or upper_limit(fewest) >= rate
    assert fewest == 0 or upper_limit(fewest - 1) < rate


def test_a_held_rate_is_as_uncertain_as_its_data_or_independent_errors():
    binomial = math.sqrt(0.01 * 0.99 / 500)
    assert HeldRate.of(0.01, 500, 40.0).standard_error == binomial
    assert HeldRate.of(0.01, 500, 40.0, 0.1).standard_error == 0.1
    assert HeldRate.of(0.01, 500, 40.0, effective=125.0).standard_error == pytest.approx(
        2 * binomial
    )
    assert HeldRate.of(0.01, 500, 40.0).expected == pytest.approx(5 / 0.99)
    for nothing in (0.0, 1e-310):
        held = HeldRate.of(nothing, 500, 40.0)
        assert (held.rate, held.expected, held.errors(0.025)) == (0.0, 0.0, (0, 0))
        assert held.comparisons_needed(0.025) == math.inf


@given(rate=st.floats(1e-5, 1e-2), n=st.integers(20, 2000))
def test_so_many_comparisons_as_are_named_leave_an_error_at_the_least(rate, n):
    held = HeldRate.of(rate, n, 50.0)
    needed = held.comparisons_needed(0.025)
    if held.errors(0.025)[0]:
        assert needed == n
    else:
        assert HeldRate.of(rate, math.ceil(needed), 50.0).errors(0.025)[0] >= 1
        assert HeldRate.of(rate, int(needed / 1.03), 50.0).errors(0.025)[0] == 0
