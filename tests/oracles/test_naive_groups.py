"""The oracle of the tests across groups, on examples small enough to work by hand or to
enumerate."""

from fractions import Fraction

import pytest
from helpers.each import each
from oracles import groups as slow
from scipy.stats import betabinom, f_oneway

F = Fraction

# Rates 1/2, 1/4, 1/4 and 1/3 overall; N 4 each; design effects 2, 2/3 and 1.
HAND = [[(2, 2), (0, 2)], [(1, 2), (0, 2)], [(0, 1), (1, 1), (0, 1), (0, 1)]]


# --------------------------------------------------------------------------------------------------
# One group
# --------------------------------------------------------------------------------------------------


@each(
    ("group", "pi", "rho", "m0", "effect", "variance"),
    [
        (HAND[0], F(1, 2), 1, 2, 2, F(1, 8)),  # all agree: worth one attempt a subject
        (
            HAND[1],
            F(1, 4),
            F(-1, 3),
            2,
            F(2, 3),
            F(1, 32),
        ),  # rho: (2 * -3/16 + 2 * 1/16) / (3/16 * 4)
        (HAND[2], F(1, 4), 0, 1, 1, F(3, 64)),  # no second attempts
        ([(1, 2), (1, 2)], F(1, 2), -1, 2, 0, 0),  # every subject the same
        (
            [(1, 3), (0, 1)],
            F(1, 4),
            F(-5, 9),
            F(5, 2),
            F(1, 6),
            F(1, 128),
        ),  # rho: (4 * -3/16 + 2 * 1/16) / (3/16 * 6)
        ([(0, 3), (0, 1)], 0, 0, F(5, 2), 1, 0),
        ([(2, 2), (2, 2)], 1, 0, 2, 1, 0),
    ],
)
def test_one_group(group, pi, rho, m0, effect, variance):
    assert slow.rate(group) == pi
    assert slow.icc(group) == rho
    assert slow.m0(group) == m0
    assert slow.design_effect(group) == effect
    assert slow.variance(group) == variance


# --------------------------------------------------------------------------------------------------
# All groups
# --------------------------------------------------------------------------------------------------


def test_one_attempt_each_is_analysis_of_variance():
    groups = [[(1, 1), (0, 1), (0, 1)], [(1, 1), (1, 1), (0, 1), (1, 1)], [(0, 1), (1, 1)]]
    expected = f_oneway(*([e for e, _ in group] for group in groups)).statistic
    assert float(slow.f_statistic(groups)) == pytest.approx(expected, rel=1e-12)


# --------------------------------------------------------------------------------------------------
# Planning
# --------------------------------------------------------------------------------------------------


def test_beta_binomial_by_hand():
    assert slow.beta_binomial_pmf(2, F(1, 4), F(0)) == [F(9, 16), F(6, 16), F(1, 16)]
    assert slow.beta_binomial_pmf(3, F(1, 4), F(1)) == [F(3, 4), 0, 0, F(1, 4)]
    assert slow.beta_binomial_pmf(4, F(1, 2), F(1, 3)) == [F(1, 5)] * 5  # Beta(1, 1): uniform
    assert slow.beta_binomial_pmf(1, F(1, 7), F(2, 5)) == [F(6, 7), F(1, 7)]
    assert slow.beta_binomial_pmf(2, F(0), F(1, 2)) == [1, 0, 0]
    assert slow.beta_binomial_pmf(2, F(1), F(1, 2)) == [0, 0, 1]


@each("m", [1, 2, 5])
@each("pi", [F(1, 40), F(1, 5), F(1, 2)])
@each("rho", [F(0), F(1, 20), F(9, 20), F(1)])
def test_beta_binomial_moments(m, pi, rho):
    pmf = slow.beta_binomial_pmf(m, pi, rho)
    assert sum(pmf) == 1
    assert sum(k * p for k, p in enumerate(pmf)) == m * pi
    spread = sum((k - m * pi) ** 2 * p for k, p in enumerate(pmf))
    assert spread == m * pi * (1 - pi) * (1 + (m - 1) * rho)
    if 0 < rho < 1:
        a, b = float(pi * (1 - rho) / rho), float((1 - pi) * (1 - rho) / rho)
        assert [float(p) for p in pmf] == pytest.approx(
            betabinom.pmf(range(m + 1), m, a, b), rel=1e-9
        )


def test_margin_by_hand():
    """Two groups of one attempt at 1/4: deviations 1/4 (no failure at all, 9/16) or 3/4."""
    arguments = (2, 1, 1, F(1, 4), F(0))
    assert slow.max_deviation_cdf(*arguments) == [(F(1, 4), F(9, 16)), (F(3, 4), 1)]
    assert slow.exact_margin(*arguments, F(9, 16)) == F(1, 4)
    assert slow.exact_margin(*arguments, F(10, 16)) == F(3, 4)
