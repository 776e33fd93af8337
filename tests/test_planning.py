"""Plans of studies against the exact oracle, against studies drawn one decision at a time, and the paper's trends."""

from __future__ import annotations

import math
from fractions import Fraction

import naive_groups as slow
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import fastfair as ff
from fastfair import _studies
from fastfair._failure_law import FailureLaw, beta_binomial_pmf

SETTING = {"n_groups": 4, "n_subjects": 30, "n_attempts": 3, "fnmr": 0.1, "correlation": 0.3}
WITHOUT_SUBJECTS = {name: value for name, value in SETTING.items() if name != "n_subjects"}
CENTER = {"n_subjects": 400, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}  # of the paper's figure 3

rates = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
correlations = st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), st.fractions(0, 1, max_denominator=10))
probabilities = st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100)


@pytest.fixture(scope="module")
def study() -> ff.MarginPlan:
    return ff.margin_study(method="exact")


# The law of failures.


@given(st.integers(1, 8), rates, correlations)
def test_the_failures_of_a_subject_are_beta_binomial(m, fnmr, correlation):
    found = beta_binomial_pmf(m, float(fnmr), float(correlation))
    expected = slow.beta_binomial_pmf(m, fnmr, correlation)
    np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("correlation", [1e-300, 1e-9, 1 - 1e-9, 1 - 2**-53])
def test_correlations_at_the_edge_of_floats(correlation):
    found = beta_binomial_pmf(6, 0.2, correlation)
    np.testing.assert_allclose(found, beta_binomial_pmf(6, 0.2, round(correlation)), atol=1e-8)


@given(st.integers(1, 6), st.integers(1, 4), rates, correlations)
@settings(max_examples=50)
def test_the_failures_of_many_are_a_convolution_power(n, m, fnmr, correlation):
    law = FailureLaw.of(n, beta_binomial_pmf(m, float(fnmr), float(correlation)))
    found = np.zeros(n * m + 1)
    found[law.failures] = law.pmf
    expected = [float(p) for p in slow.failures_pmf(n, m, fnmr, correlation)]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(("n", "m", "fnmr", "rho"), [(800, 10, 0.2, 0.45), (3000, 1, 0.02, 0.0), (2000, 4, 0.5, 1.0)])
def test_the_window_holds_all_that_is_worth_a_number(n, m, fnmr, rho):
    law = FailureLaw.of(n, beta_binomial_pmf(m, fnmr, rho))
    assert law.pmf.size < 0.6 * n * m
    size, mean = n * m, law.pmf @ law.failures
    assert mean == pytest.approx(size * fnmr, rel=1e-12)
    variance = law.pmf @ (law.failures - mean) ** 2
    assert variance == pytest.approx(size * fnmr * (1 - fnmr) * (1 + (m - 1) * rho), rel=1e-9)
    assert law.pmf[[0, -1]].max() < 1e-14  # rounding alone
    if rho == 0:
        np.testing.assert_allclose(law.pmf, stats.binom(size, fnmr).pmf(law.failures), atol=1e-13)


def test_probabilities_beyond_the_window_are_0_and_1():
    law = FailureLaw.of(1000, beta_binomial_pmf(2, 0.1, 0.1))
    assert law.first > 0
    np.testing.assert_allclose(
        law.at_most(np.array([-5.0, law.first - 1, 199.0, 1999.0, 1e9]))[[0, 1, 3, 4]], [0, 0, 1, 1]
    )


# Margins.


@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 3), rates, correlations, probabilities)
def test_exact_margins_are_those_of_the_oracle(n_groups, n, m, fnmr, correlation, probability):
    found = ff.plan_margin(
        n_groups=n_groups,
        n_subjects=n,
        n_attempts=m,
        fnmr=float(fnmr),
        correlation=float(correlation),
        confidence_level=float(probability),
        method="exact",
    )
    expected = slow.exact_margin(n_groups, n, m, fnmr, correlation, probability)
    assert float(found.margin) == pytest.approx(float(expected), abs=1e-12)


def test_the_papers_quantile_is_that_at_half_alpha():
    paper = ff.plan_margin(**SETTING, method="exact", quantile="paper", confidence_level=0.9)
    default = ff.plan_margin(**SETTING, method="exact", confidence_level=0.95)
    assert paper.margin == default.margin
    assert (paper.quantile, paper.method, paper.n_simulations, paper.seed) == ("paper", "exact", None, None)


@pytest.mark.jit
@pytest.mark.parametrize("changed", [{}, {"correlation": 0}, {"correlation": 1}, {"n_attempts": 1}, {"fnmr": 0.6}])
@pytest.mark.parametrize("quantile", ["family-wise", "paper"])
def test_simulated_margins_are_exact_but_for_their_noise(changed, quantile):
    """The simulated margin is a quantile at a level that is off by no more than counts of draws are."""
    setting, draws = SETTING | {"n_groups": [2, 5, 20], "n_subjects": 200} | changed, 20_000
    p = 0.95 if quantile == "family-wise" else 0.975
    off = 4.5 * math.sqrt(p * (1 - p) / draws)
    found = ff.plan_margin(**setting, n_simulations=draws, quantile=quantile, rng=1).margin
    low, high = (
        ff.plan_margin(**setting, confidence_level=level, method="exact").margin for level in (p - off, p + off)
    )
    assert (low - 1e-12 <= found).all()
    assert (found <= high + 1e-12).all()


def test_a_simulated_margin_does_not_depend_on_what_else_is_asked():
    alone = ff.plan_margin(**SETTING, n_simulations=70, rng=5)
    among = ff.plan_margin(
        **SETTING | {"n_groups": [[9], [4], [2]], "fnmr": [0.3, 0.1]}, n_simulations=70, rng=5, n_threads=2
    )
    assert among.margin.shape == (3, 2)
    assert among.margin[1, 1] == alone.margin
    assert alone.seed == 5
    assert (ff.plan_margin(**SETTING, n_simulations=70, rng=alone.seed).margin == alone.margin).all()


@pytest.mark.jit
def test_simulations_are_the_same_whatever_the_threads_and_blocks(monkeypatch):
    setting = SETTING | {"fnmr": np.linspace(0.05, 0.5, 7)}
    expected = ff.plan_margin(**setting, n_simulations=700, rng=3, n_threads=1).margin
    assert (ff.plan_margin(**setting, n_simulations=700, rng=3, n_threads=2).margin == expected).all()
    monkeypatch.setattr(_studies, "_AT_ONCE", 100)
    assert (ff.plan_margin(**setting, n_simulations=700, rng=3).margin == expected).all()
    assert (ff.plan_margin(**setting, n_simulations=700, rng=4).margin != expected).any()


@pytest.mark.slow
def test_a_fair_system_is_found_unfair_as_often_as_said():
    """Studies drawn one decision at a time: some group is outside rate +- margin in at most alpha of them."""
    plan = ff.plan_margin(**SETTING | {"n_subjects": 100}, method="exact")
    n_studies, g = 20_000, SETTING["n_groups"]
    drawn = ff.correlated_decisions(n_studies * g * 100, 3, 0.1, 0.3, rng=11)
    apart = np.abs(drawn.reshape(n_studies, g, 300).mean(axis=2) - 0.1).max(axis=1)
    cdf = slow_cdf(plan, float(plan.margin))
    assert 0.95 <= cdf < 0.97
    assert (apart <= plan.margin + 1e-9).mean() == pytest.approx(cdf, abs=4.5 * math.sqrt(0.05 / n_studies))


def slow_cdf(plan: ff.MarginPlan, margin: float) -> float:
    """Compute how often all groups are within a margin, by plain convolution."""
    n, m, fnmr = int(plan.n_subjects), int(plan.n_attempts), float(plan.fnmr)
    one = beta_binomial_pmf(m, fnmr, float(plan.correlation))
    pmf = np.ones(1)
    for _ in range(n):
        pmf = np.convolve(pmf, one)
    near = np.abs(np.arange(pmf.size) / (n * m) - fnmr) <= margin + 1e-12
    return float(pmf[near].sum() ** int(plan.n_groups))


def test_settings_broadcast_and_are_kept():
    plan = ff.plan_margin(
        n_groups=[[3], [5]], n_subjects=[10, 20, 40], n_attempts=2, fnmr=0.1, correlation=0.0, method="exact"
    )
    assert plan.margin.shape == plan.n_groups.shape == plan.correlation.shape == (2, 3)
    assert plan.axes == ("n_groups", "n_subjects")
    for i, j in np.ndindex(2, 3):
        alone = ff.plan_margin(
            n_groups=[3, 5][i], n_subjects=[10, 20, 40][j], n_attempts=2, fnmr=0.1, correlation=0, method="exact"
        )
        assert plan.margin[i, j] == alone.margin
    together = ff.plan_margin(**SETTING | {"n_groups": [2, 3], "fnmr": [0.1, 0.2]}, method="exact")
    assert together.axes == ("n_groups & fnmr",)
    assert alone.axes == ()
    frame = plan.to_frame("polars")
    assert frame.columns == ["n_groups", "n_subjects", "n_attempts", "fnmr", "correlation", "margin"]
    assert frame.height == 6
    assert frame.row(4) == (5, 20, 2, 0.1, 0.0, plan.margin[1, 1])


def test_progress_is_told():
    told = []
    setting = SETTING | {"fnmr": [0.1, 0.2, 0.3], "n_groups": [[2], [3]]}
    ff.plan_margin(**setting, method="exact", progress=lambda *done: told.append(done))
    assert told[-1] == (3, 3)


# The paper's study.


def test_the_study_has_the_papers_settings(study):
    assert study.axes == ("fnmr", "correlation", "n_subjects", "n_attempts", "n_groups")
    assert study.margin.shape == (5, 5, 4, 5, 8)
    assert study.margin.size == 4000
    assert np.unique(study.n_groups).tolist() == [3, 4, 5, 6, 10, 15, 20, 30]
    at = (2, 0, 2, 0, 4)
    setting = CENTER | {"n_groups": 10}
    assert all(getattr(study, name)[at] == value for name, value in setting.items())
    assert study.margin[at] == ff.plan_margin(**setting, method="exact").margin


@pytest.mark.jit
def test_the_simulated_study_is_the_exact_one_but_for_noise(study):
    """A setting's quantile from 1000 draws lies between those at 0.95 -+ 4.5 standard errors."""
    found = ff.margin_study(rng=0).margin
    off = 4.5 * math.sqrt(0.05 * 0.95 / 1000)
    low, high = (ff.margin_study(confidence_level=level, method="exact").margin for level in (0.95 - off, 0.95 + off))
    assert ((low - 1e-12 <= found) & (found <= high + 1e-12)).all()
