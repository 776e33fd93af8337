"""The oracle of the tests across groups, on examples small enough to work by hand or to enumerate."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import groups as slow
from scipy.stats import betabinom, f_oneway

F = Fraction

# Rates 1/2, 1/4, 1/4 and 1/3 overall; N 4 each; design effects 2, 2/3 and 1.
HAND = [[(2, 2), (0, 2)], [(1, 2), (0, 2)], [(0, 1), (1, 1), (0, 1), (0, 1)]]
# Rates 1/4, 1/2 and 3/8 overall; the replicates' attempts differ from the data's.
PAIR = [[(1, 1), (0, 3)], [(1, 2), (1, 2)]]
UNEVEN = [[(1, 3), (0, 1), (2, 2)], [(0, 2), (1, 4)], [(3, 3), (0, 5), (1, 1), (1, 2)]]
UNEVEN_DRAWN = [[0, 0, 1], [1, 1], [2, 3, 3, 0]]
NEVER = [[(0, 2), (0, 1)], [(0, 2)]]
ODD = [[(0, 3), (0, 2)], [(3, 3), (1, 1)], [(1, 1)], [(1, 2)], [(0, 4), (4, 4), (1, 2)]]


def once(groups):
    return [range(len(group)) for group in groups]


def all_drawn(groups):
    """Every replicate there is, all equally probable."""
    return itertools.product(*(itertools.product(range(len(group)), repeat=len(group)) for group in groups))


def mean_and_variance(values):
    mean = sum(values) / F(len(values))
    return mean, sum((value - mean) ** 2 for value in values) / len(values)


# --------------------------------------------------------------------------------------------------
# One group
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "pi", "rho", "m0", "effect", "variance"),
    [
        (HAND[0], F(1, 2), 1, 2, 2, F(1, 8)),  # all agree: worth one attempt a subject
        (HAND[1], F(1, 4), F(-1, 3), 2, F(2, 3), F(1, 32)),  # rho: (2 * -3/16 + 2 * 1/16) / (3/16 * 4)
        (HAND[2], F(1, 4), 0, 1, 1, F(3, 64)),  # no second attempts
        ([(1, 2), (1, 2)], F(1, 2), -1, 2, 0, 0),  # every subject the same
        ([(1, 3), (0, 1)], F(1, 4), F(-5, 9), F(5, 2), F(1, 6), F(1, 128)),  # rho: (4 * -3/16 + 2 * 1/16) / (3/16 * 6)
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


def test_decisions():
    assert slow.decisions(2, 5) == [1, 1, 0, 0, 0]
    assert slow.decisions(0, 1) == [0]


@pytest.mark.parametrize("group", [*HAND, *PAIR, *UNEVEN, *NEVER, *ODD])
def test_two_ways_to_the_same(group):
    """rho by pairs and by counts; V by (4), by (6) and as the spread of the subjects' failures about their mean."""
    pi = slow.rate(group)
    assert slow.icc(group) == slow.icc_by_pairs(group)
    assert slow.variance(group) == slow.variance_by_design_effect(group)
    assert slow.variance(group) == sum((e - m * pi) ** 2 for e, m in group) / slow.attempts(group) ** 2


# --------------------------------------------------------------------------------------------------
# All groups
# --------------------------------------------------------------------------------------------------


def test_all_groups():
    assert slow.overall_rate(HAND) == F(1, 3)
    assert slow.f_statistic(HAND) == (F(1, 6) / 2) / (4 * (F(1, 2) + F(1, 8) + F(3, 16)) / 9) == F(3, 13)
    assert slow.max_difference(HAND) == F(1, 6)
    assert slow.max_ratio(HAND) == F(3, 2)
    assert slow.difference_from_rest(HAND, 0) == F(1, 4)
    assert slow.difference_from_rest_variance(HAND, 0) == F(1, 8) + (F(1, 32) + F(3, 64)) / 4
    assert slow.max_ratio([[(1, 10)], [(3, 10)]]) == 2  # pi / pi_g, where pi_g is below


def test_difference_from_two_groups_of_unequal_size():
    """Rest: 1 of 6 and 5 of 11 together 6 of 17; variances by the groups' shares of the 17."""
    assert slow.difference_from_rest(UNEVEN, 0) == F(1, 2) - F(6, 17)
    v = [slow.variance(group) for group in UNEVEN]
    assert slow.difference_from_rest_variance(UNEVEN, 0) == v[0] + F(6, 17) ** 2 * v[1] + F(11, 17) ** 2 * v[2]


def test_one_attempt_each_is_analysis_of_variance():
    groups = [[(1, 1), (0, 1), (0, 1)], [(1, 1), (1, 1), (0, 1), (1, 1)], [(0, 1), (1, 1)]]
    expected = f_oneway(*([e for e, _ in group] for group in groups)).statistic
    assert float(slow.f_statistic(groups)) == pytest.approx(expected, rel=1e-12)


def test_nothing_varies_within():
    assert math.isnan(slow.f_statistic(NEVER))
    assert math.isnan(slow.f_statistic([[(1, 2), (1, 2)], [(1, 2)]]))
    assert slow.f_statistic([[(0, 2)], [(2, 2)]]) == math.inf
    assert slow.max_ratio(NEVER) == slow.max_ratio([[(0, 2)], [(1, 2)]]) == math.inf
    assert slow.max_difference(NEVER) == 0


# --------------------------------------------------------------------------------------------------
# A bootstrap replicate
# --------------------------------------------------------------------------------------------------


def test_replicate_with_the_attempts_of_the_data():
    drawn = [[0, 0], [0, 1], [0, 1, 1, 3]]  # rates 1, 1/4, 1/2
    assert slow.resampled(HAND, drawn)[2] == [(0, 1), (1, 1), (1, 1), (0, 1)]
    assert slow.shifted_rates(HAND, drawn) == [F(5, 6), F(1, 3), F(7, 12)]
    assert slow.replicated_overall_rate(HAND, drawn) == F(7, 12)
    within = F(5, 36) * 1 + F(2, 9) * F(2, 3) + F(35, 144) * 1  # the first group never fails to fail: rho* = 0
    assert slow.replicated_f(HAND, drawn) == (F(1, 2) / 2) / (4 * within / 9) == F(243, 229)
    assert slow.phi(HAND, drawn) == F(1, 2)
    assert slow.phi(HAND, drawn, "moving") == slow.replicated_max_difference(HAND, drawn) == F(1, 4)
    assert slow.replicated_max_ratio(HAND, drawn) == F(7, 4)
    assert slow.replicated_difference_from_rest(HAND, drawn, 0) == F(3, 8)
    assert slow.replicated_difference_from_rest_variance(HAND, drawn, 0) == (F(1, 32) + F(1, 16)) / 4


def test_replicate_with_attempts_of_its_own():
    """(11) averages by the replicate's 6 and 4 attempts, (10) by the data's 4 and 4."""
    drawn = [[1, 1], [0, 1]]  # rates 0, 1/2
    assert slow.shifted_rates(PAIR, drawn) == [F(1, 8), F(3, 8)]
    assert slow.replicated_overall_rate(PAIR, drawn) == (6 * F(1, 8) + 4 * F(3, 8)) / 10 == F(9, 40)
    numerator = 4 * F(1, 10) ** 2 + 4 * F(3, 20) ** 2
    within = 4 * F(1, 8) * F(7, 8) * 1 + 4 * F(3, 8) * F(5, 8) * 0  # design effects 1 (rate 0) and 0 (rho* = -1)
    assert slow.replicated_f(PAIR, drawn) == numerator / (within / 6) == F(312, 175)
    assert slow.phi(PAIR, drawn) == F(1, 4)
    assert slow.replicated_max_difference(PAIR, drawn) == F(3, 20)
    assert slow.replicated_max_ratio(PAIR, drawn) == F(9, 5)
    assert slow.replicated_difference_from_rest(PAIR, drawn, 1) == F(1, 4)


def test_shift_out_of_the_unit_interval():
    assert slow.shifted_rates(PAIR, [[0, 0], [0, 1]]) == [F(9, 8), F(3, 8)]
    assert slow.replicated_f(PAIR, [[0, 0], [0, 1]]) == math.inf  # 9/8 * (1 - 9/8) < 0
    groups = [[(3, 4), (0, 4)], [(0, 4), (0, 4)]]
    assert slow.shifted_rates(groups, [[1, 1], [0, 1]]) == [F(-3, 16), F(3, 16)]
    assert slow.replicated_max_ratio(groups, [[1, 1], [0, 1]]) == math.inf
    assert slow.replicated_f(NEVER, [[0, 0], [0]]) == math.inf  # 0 / 0


@pytest.mark.parametrize("groups", [HAND, PAIR, UNEVEN])
def test_every_subject_drawn_once(groups):
    """The shift makes all groups alike, and a replicate in any order changes nothing else."""
    pi = slow.overall_rate(groups)
    for drawn in (once(groups), [positions[::-1] for positions in once(groups)]):
        assert slow.shifted_rates(groups, drawn) == [pi] * len(groups)
        assert slow.replicated_overall_rate(groups, drawn) == pi
        assert slow.replicated_f(groups, drawn) == slow.phi(groups, drawn) == slow.phi(groups, drawn, "moving") == 0
        assert slow.replicated_max_ratio(groups, drawn) == 1
        for g in range(len(groups)):
            assert slow.replicated_difference_from_rest(groups, drawn, g) == 0
            variance = slow.difference_from_rest_variance(groups, g)
            assert slow.replicated_difference_from_rest_variance(groups, drawn, g) == variance


def test_rest_and_whole():
    """pi_g - pi = N_rest / N (pi_g - pi_rest), in the data and in a replicate."""
    sizes = [slow.attempts(group) for group in UNEVEN]
    drawn_sizes = [slow.attempts(group) for group in slow.resampled(UNEVEN, UNEVEN_DRAWN)]
    assert drawn_sizes != sizes
    for g in range(3):
        share = 1 - F(sizes[g], sum(sizes))
        whole = slow.rate(UNEVEN[g]) - slow.overall_rate(UNEVEN)
        assert whole == share * slow.difference_from_rest(UNEVEN, g)
        drawn_share = 1 - F(drawn_sizes[g], sum(drawn_sizes))
        whole = slow.shifted_rates(UNEVEN, UNEVEN_DRAWN)[g] - slow.replicated_overall_rate(UNEVEN, UNEVEN_DRAWN)
        assert whole == drawn_share * slow.replicated_difference_from_rest(UNEVEN, UNEVEN_DRAWN, g)


def test_all_replicates_have_the_variance_of_the_formulas():
    """Where the subjects of a group have equal attempts, V is the variance of the bootstrap itself."""
    groups = [[(2, 2), (0, 2)], [(1, 3), (0, 3)], [(0, 1), (1, 1), (0, 1)]]
    replicates = list(all_drawn(groups))
    assert len(replicates) == 2**2 * 2**2 * 3**3
    for g, group in enumerate(groups):
        mean, variance = mean_and_variance([slow.shifted_rates(groups, drawn)[g] for drawn in replicates])
        assert mean == slow.overall_rate(groups)
        assert variance == slow.variance(group)
        differences = [slow.replicated_difference_from_rest(groups, drawn, g) for drawn in replicates]
        assert mean_and_variance(differences) == (0, slow.difference_from_rest_variance(groups, g))


def test_wrong_words_and_sizes():
    with pytest.raises(ValueError, match="a group has 2 subjects, 1 were drawn"):
        slow.shifted_rates(PAIR, [[0], [0, 1]])
    with pytest.raises(ValueError, match="still"):
        slow.phi(PAIR, once(PAIR), "still")
    with pytest.raises(ValueError, match="half"):
        slow.margin([F(1)], F(1, 2), "half")


# --------------------------------------------------------------------------------------------------
# Many replicates
# --------------------------------------------------------------------------------------------------


def test_pvalue():
    replicated = [F(1), F(2), F(2), math.inf]
    assert slow.pvalue(F(2), replicated) == F(4, 5)  # ties count
    assert slow.pvalue(F(3), replicated) == F(2, 5)
    assert slow.pvalue(math.inf, replicated) == F(2, 5)
    assert slow.pvalue(math.inf, replicated[:3]) == F(1, 4)
    assert math.isnan(slow.pvalue(math.nan, replicated))


def test_margin_and_who_is_outside():
    phis = [F(5, 10), F(1, 10), F(3, 10), F(2, 10), F(4, 10)]
    assert slow.margin(phis, F(3, 4)) == F(4, 10)  # position 3 of 0..4
    assert slow.margin(phis, F(3, 4), "paper") == F(45, 100)  # 1 - 1/8: position 3.5
    for quantile, p in (("family-wise", 0.9), ("paper", 0.95)):
        expected = np.quantile([float(phi) for phi in phis], p)
        assert float(slow.margin(phis, F(9, 10), quantile)) == pytest.approx(expected, rel=1e-12)
    assert slow.outside(HAND, F(1, 12)) == [0]  # on the margin is inside
    assert slow.outside(HAND, F(1, 13)) == [0, 1, 2]
    assert slow.outside(HAND, F(1, 6)) == []


def test_holm():
    assert slow.holm([F(1, 100), F(4, 100), F(3, 100), F(1, 2)]) == [F(4, 100), F(9, 100), F(9, 100), F(1, 2)]
    assert slow.holm([F(1, 2), F(2, 3)]) == [1, 1]


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


@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("pi", [F(1, 40), F(1, 5), F(1, 2)])
@pytest.mark.parametrize("rho", [F(0), F(1, 20), F(9, 20), F(1)])
def test_beta_binomial_moments(m, pi, rho):
    pmf = slow.beta_binomial_pmf(m, pi, rho)
    assert sum(pmf) == 1
    assert sum(k * p for k, p in enumerate(pmf)) == m * pi
    spread = sum((k - m * pi) ** 2 * p for k, p in enumerate(pmf))
    assert spread == m * pi * (1 - pi) * (1 + (m - 1) * rho)
    if 0 < rho < 1:
        a, b = float(pi * (1 - rho) / rho), float((1 - pi) * (1 - rho) / rho)
        assert [float(p) for p in pmf] == pytest.approx(betabinom.pmf(range(m + 1), m, a, b), rel=1e-9)


def test_beta_binomial_subjects_have_its_intra_class_correlation():
    """A group made up exactly as the distribution says has its rate, and its rho by (5)."""
    for pi, rho in itertools.product([F(1, 4), F(1, 2)], [F(0), F(1, 5), F(1)]):
        pmf = slow.beta_binomial_pmf(3, pi, rho)
        n = math.lcm(*(p.denominator for p in pmf))
        group = [(k, 3) for k, p in enumerate(pmf) for _ in range(int(n * p))]
        assert len(group) == n
        assert slow.rate(group) == pi
        assert slow.icc(group) == rho


def test_failures():
    assert slow.failures_pmf(0, 3, F(1, 4), F(1, 5)) == [1]
    assert slow.failures_pmf(1, 3, F(1, 4), F(1, 5)) == slow.beta_binomial_pmf(3, F(1, 4), F(1, 5))
    assert slow.failures_pmf(2, 2, F(1, 4), F(1)) == [F(9, 16), 0, F(6, 16), 0, F(1, 16)]
    assert slow.failures_pmf(3, 2, F(1, 4), F(0)) == slow.beta_binomial_pmf(6, F(1, 4), F(0))
    pmf = slow.failures_pmf(3, 2, F(1, 4), F(1, 5))
    expected = [F(0)] * 7
    one = slow.beta_binomial_pmf(2, F(1, 4), F(1, 5))
    for failed in itertools.product(range(3), repeat=3):
        expected[sum(failed)] += math.prod(one[k] for k in failed)
    assert pmf == expected


def test_margin_by_hand():
    """Two groups of one attempt at 1/4: deviations 1/4 (no failure at all, 9/16) or 3/4."""
    arguments = (2, 1, 1, F(1, 4), F(0))
    assert slow.max_deviation_cdf(*arguments) == [(F(1, 4), F(9, 16)), (F(3, 4), 1)]
    assert slow.exact_margin(*arguments, F(9, 16)) == F(1, 4)
    assert slow.exact_margin(*arguments, F(10, 16)) == F(3, 4)


def enumerated(pmfs):
    """(failures of each group, probability), every combination."""
    for failed in itertools.product(*(range(len(pmf)) for pmf in pmfs)):
        yield failed, math.prod(pmf[k] for pmf, k in zip(pmfs, failed, strict=True))


def test_largest_deviation_by_enumeration():
    pi, rho = F(1, 4), F(1, 5)
    cdf = slow.max_deviation_cdf(3, 2, 2, pi, rho)
    pmf = slow.failures_pmf(2, 2, pi, rho)
    for x, p in cdf:
        assert p == sum(q for failed, q in enumerated([pmf] * 3) if max(abs(F(k, 4) - pi) for k in failed) <= x)
    assert [x for x, _ in cdf] == [0, F(1, 4), F(1, 2), F(3, 4)]
    assert cdf[-1][1] == 1
