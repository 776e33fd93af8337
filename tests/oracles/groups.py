"""The slow, obvious oracle of the tests across groups: FNMR by group, its bootstrap, margins of
error, planning.

Nothing of fastfair is imported and nothing is clever. Numbers in brackets are equations of paper 4,
Schuckers et al., Statistical Methods for Assessing Differences in False Non-Match Rates Across
Demographic Groups.

Data
----
`groups` has one group after the other, a group one subject after the other, and a subject is
(failures, attempts). A bootstrap replicate is `drawn`: for each group the positions of the subjects
drawn from it, as many as it has subjects, with repeats.

Conventions
-----------
- There are two groups or more and more attempts than groups, and every subject has one attempt or
  more.
- All arithmetic is exact; only inf and NaN are floats. Rates and levels passed in should be
  fractions too.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from oracles import resampling as slow
from oracles.resampling import holm as holm

Group = Sequence[tuple[int, int]]
Groups = Sequence[Group]
Drawn = Sequence[Sequence[int]]
Value = Fraction | float  # a float where it is inf or NaN


# --------------------------------------------------------------------------------------------------
# One group
# --------------------------------------------------------------------------------------------------


def attempts(group: Group) -> int:
    """N_pi = sum_i m_i."""
    return sum(m for _, m in group)


def rate(group: Group) -> Fraction:
    """pi = failures / attempts (2)."""
    return Fraction(sum(e for e, _ in group), attempts(group))


def decisions(failures: int, n_attempts: int) -> list[int]:
    """The D_ij of one subject (1), failures first: their order plays no part."""
    return [1] * failures + [0] * (n_attempts - failures)


def icc_by_pairs(group: Group) -> Fraction:
    """rho as (5) has it, over all pairs j != j' of the decisions of each subject.

    0 where no subject has two attempts, or the rate is 0 or 1.
    """
    pi = rate(group)
    products = Fraction(0)
    for e, m in group:
        d = decisions(e, m)
        for j in range(m):
            for other in range(m):
                if other != j:
                    products += (d[j] - pi) * (d[other] - pi)
    scale = pi * (1 - pi) * sum(m * (m - 1) for _, m in group)
    return products / scale if scale > 0 else Fraction(0)


def icc(group: Group) -> Fraction:
    """`icc_by_pairs` from the counts: all pairs of a subject's decisions, less each decision with
    itself."""
    pi = rate(group)
    products = Fraction(0)
    for e, m in group:
        products += (e - m * pi) ** 2 - e * (1 - pi) ** 2 - (m - e) * (0 - pi) ** 2
    scale = pi * (1 - pi) * sum(m * (m - 1) for _, m in group)
    return products / scale if scale > 0 else Fraction(0)


def common_correlation(groups: Groups) -> Fraction:
    """rho of all groups together, each about its own rate; 0 where it is not defined, and in [0,
    1]."""
    products, spread = Fraction(0), Fraction(0)
    for group in groups:
        pi = rate(group)
        for e, m in group:
            attempts = [x - pi for x in decisions(e, m)]
            products += sum(attempts) ** 2 - sum(x * x for x in attempts)
            spread += pi * (1 - pi) * m * (m - 1)
    return min(max(products / spread, Fraction(0)), Fraction(1)) if spread else Fraction(0)


def m0(group: Group) -> Fraction:
    """sum_i m_i^2 / N_pi."""
    return Fraction(sum(m * m for _, m in group), attempts(group))


def design_effect(group: Group) -> Fraction:
    """1 + (m0 - 1) rho."""
    return 1 + (m0(group) - 1) * icc(group)


def variance(group: Group) -> Fraction:
    """V = pi (1 - pi) [N_pi + rho sum_i m_i (m_i - 1)] / N_pi^2 (4)."""
    pi = rate(group)
    n = attempts(group)
    return pi * (1 - pi) * (n + icc(group) * sum(m * (m - 1) for _, m in group)) / n**2


# --------------------------------------------------------------------------------------------------
# All groups
# --------------------------------------------------------------------------------------------------


def _average(values: Sequence[Fraction], weights: Sequence[int]) -> Fraction:
    """sum_g w_g x_g / sum_g w_g."""
    total = sum(w * x for w, x in zip(weights, values, strict=True))
    return Fraction(total, sum(weights))


def overall_rate(groups: Groups) -> Fraction:
    """pi, the average of the groups' rates by their attempts (8)."""
    return _average([rate(group) for group in groups], [attempts(group) for group in groups])


def f_statistic(groups: Groups) -> Value:
    """F (7). 0 where all rates are equal; else a denominator of 0 gives inf."""
    pi = overall_rate(groups)
    n = sum(attempts(group) for group in groups)
    numerator = Fraction(0)
    denominator = Fraction(0)
    for group in groups:
        pi_g = rate(group)
        numerator += attempts(group) * (pi_g - pi) ** 2
        denominator += attempts(group) * pi_g * (1 - pi_g) * design_effect(group)
    numerator /= len(groups) - 1
    denominator /= n - len(groups)
    return _over(numerator, denominator)


def _over(numerator: Fraction, denominator: Fraction) -> Value:
    if numerator == 0:
        return Fraction(0)
    return numerator / denominator if denominator > 0 else math.inf


def _largest_difference(rates: Sequence[Fraction], center: Fraction) -> Fraction:
    """max_g |x_g - center|."""
    return max(abs(x - center) for x in rates)


def _largest_ratio(rates: Sequence[Fraction], center: Fraction) -> Value:
    """max_g max(x_g / center, center / x_g); 1 where all are equal, else inf where one of them is 0
    or negative."""
    if len(set(rates)) == 1:
        return Fraction(1)
    if min(rates) <= 0 or center <= 0:
        return math.inf
    return max(max(x / center, center / x) for x in rates)


def max_difference(groups: Groups) -> Fraction:
    """max_g |pi_g - pi|."""
    return _largest_difference([rate(group) for group in groups], overall_rate(groups))


def max_ratio(groups: Groups) -> Value:
    """max_g max(pi_g / pi, pi / pi_g), the paper's alternative; inf where a rate is 0."""
    return _largest_ratio([rate(group) for group in groups], overall_rate(groups))


def difference_from_rest(groups: Groups, g: int) -> Fraction:
    """pi_g minus the rate of the subjects of all other groups, pooled."""
    rest = []
    for h, group in enumerate(groups):
        if h != g:
            rest += list(group)
    return rate(groups[g]) - rate(rest)


# --------------------------------------------------------------------------------------------------
# A bootstrap replicate
# --------------------------------------------------------------------------------------------------


def resampled(groups: Groups, drawn: Drawn) -> list[list[tuple[int, int]]]:
    """The groups of the replicate, every drawn subject with all its attempts (step 2 of the
    paper)."""
    replicate = []
    for group, positions in zip(groups, drawn, strict=True):
        if len(positions) != len(group):
            raise ValueError(f"a group has {len(group)} subjects, {len(positions)} were drawn")
        replicate.append([group[i] for i in positions])
    return replicate


def shifted_rates(groups: Groups, drawn: Drawn) -> list[Fraction]:
    """Each group's rate in the replicate - pi_g + pi (9): as if all groups had the rate pi. May
    leave [0, 1]."""
    pi = overall_rate(groups)
    shifted = []
    for group, replicate in zip(groups, resampled(groups, drawn), strict=True):
        shifted.append(rate(replicate) - rate(group) + pi)
    return shifted


def replicated_overall_rate(groups: Groups, drawn: Drawn) -> Fraction:
    """The average of the shifted rates by the replicate's attempts (11)."""
    return _average(
        shifted_rates(groups, drawn),
        [attempts(replicate) for replicate in resampled(groups, drawn)],
    )


def replicated_f(groups: Groups, drawn: Drawn) -> Value:
    """F* (10) as printed; 0 where all rates are equal, else inf where its denominator is 0 or, by
    the shift, negative.

    N_pi^(g), N and G are those of the data; rho and m0 those of the replicate's decisions, which
    the shift leaves alone; the rates are shifted throughout.
    """
    replicate = resampled(groups, drawn)
    shifted = shifted_rates(groups, drawn)
    center = replicated_overall_rate(groups, drawn)
    n = sum(attempts(group) for group in groups)
    numerator = Fraction(0)
    denominator = Fraction(0)
    for g, group in enumerate(groups):
        numerator += attempts(group) * (shifted[g] - center) ** 2
        denominator += attempts(group) * shifted[g] * (1 - shifted[g]) * design_effect(replicate[g])
    numerator /= len(groups) - 1
    denominator /= n - len(groups)
    return _over(numerator, denominator)


def replicated_max_difference(groups: Groups, drawn: Drawn) -> Fraction:
    """`max_difference` of the shifted rates from their own average (11)."""
    return _largest_difference(shifted_rates(groups, drawn), replicated_overall_rate(groups, drawn))


def replicated_max_ratio(groups: Groups, drawn: Drawn) -> Value:
    """`max_ratio` of the shifted rates to their own average (11); inf where one of them is 0 or
    negative."""
    return _largest_ratio(shifted_rates(groups, drawn), replicated_overall_rate(groups, drawn))


def phi(groups: Groups, drawn: Drawn, center: str = "fixed") -> Fraction:
    """The deviation whose quantile is the margin of error.

    "fixed"
        max_g |shifted rate - pi|, pi of the data: the paper's.
    "moving"
        From the average of the shifted rates instead: `replicated_max_difference`.
    """
    if center == "fixed":
        return _largest_difference(shifted_rates(groups, drawn), overall_rate(groups))
    if center == "moving":
        return replicated_max_difference(groups, drawn)
    raise ValueError(center)


# --------------------------------------------------------------------------------------------------
# Many replicates
# --------------------------------------------------------------------------------------------------


def pvalue(observed: Value, replicated: Sequence[Value]) -> Value:
    """(1 + #{replicated >= observed}) / (K + 1); NaN with any NaN."""
    if any(math.isnan(value) for value in [observed, *replicated]):
        return math.nan
    at_least = 0
    for value in replicated:
        if value >= observed:
            at_least += 1
    return Fraction(1 + at_least, len(replicated) + 1)


def margin(
    phis: Sequence[Fraction], confidence_level: Value, quantile: str = "family-wise"
) -> Value:
    """Margin of error M, a quantile of the `phi` of all replicates.

    "family-wise"
        At the confidence level 1 - alpha.
    "paper"
        At 1 - alpha / 2.
    """
    if quantile == "family-wise":
        return slow.quantile(list(phis), confidence_level)
    if quantile == "paper":
        return slow.quantile(list(phis), 1 - (1 - confidence_level) / 2)
    raise ValueError(quantile)


def outside(groups: Groups, margin: Value) -> list[int]:
    """The positions of the groups with |pi_g - pi| > M."""
    pi = overall_rate(groups)
    return [g for g, group in enumerate(groups) if abs(rate(group) - pi) > margin]


# --------------------------------------------------------------------------------------------------
# Planning: exact distributions before there are data
# --------------------------------------------------------------------------------------------------


def _rising(x: Fraction, k: int) -> Fraction:
    """x (x + 1) ... (x + k - 1), of k factors."""
    product = Fraction(1)
    for i in range(k):
        product *= x + i
    return product


def beta_binomial_pmf(m: int, fnmr: Fraction, correlation: Fraction) -> list[Fraction]:
    """P(a subject fails k of m attempts), k = 0..m, with mean rate `fnmr` and intra-class
    correlation `correlation`.

    The subject's own rate is Beta(a, b), a = pi (1 - rho) / rho, b = (1 - pi) (1 - rho) / rho; at
    rho = 0 it is pi, and at rho = 1 it is 1 with probability pi, else 0.
    """
    if correlation == 1:
        return [1 - fnmr, *[Fraction(0)] * (m - 1), fnmr]
    pmf = []
    for k in range(m + 1):
        if correlation == 0:
            pmf.append(math.comb(m, k) * fnmr**k * (1 - fnmr) ** (m - k))
        else:
            a = fnmr * (1 - correlation) / correlation
            b = (1 - fnmr) * (1 - correlation) / correlation
            pmf.append(math.comb(m, k) * _rising(a, k) * _rising(b, m - k) / _rising(a + b, m))
    return pmf


def failures_pmf(n: int, m: int, fnmr: Fraction, correlation: Fraction) -> list[Fraction]:
    """P(n such subjects fail k of their n m attempts), k = 0..nm: one subject after the other
    joins."""
    one = beta_binomial_pmf(m, fnmr, correlation)
    pmf = [Fraction(1)]
    for _ in range(n):
        joined = [Fraction(0)] * (len(pmf) + m)
        for k, p in enumerate(pmf):
            for more, q in enumerate(one):
                joined[k + more] += p * q
        pmf = joined
    return pmf


def max_deviation_cdf(
    n_groups: int, n: int, m: int, fnmr: Fraction, correlation: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """(x, P(max_g |E_g / (nm) - pi| <= x)) for every value x a group's deviation can take,
    ascending.

    The groups are independent, of n subjects with m attempts each, and pi is the rate they all
    have.
    """
    pmf = failures_pmf(n, m, fnmr, correlation)
    deviations = [abs(Fraction(k, n * m) - fnmr) for k in range(n * m + 1)]
    cdf = []
    for x in sorted(set(deviations)):
        one_group = sum(p for p, deviation in zip(pmf, deviations, strict=True) if deviation <= x)
        cdf.append((x, Fraction(one_group) ** n_groups))
    return cdf


def exact_margin(
    n_groups: int, n: int, m: int, fnmr: Fraction, correlation: Fraction, probability: Fraction
) -> Fraction:
    """The smallest x of `max_deviation_cdf` with P(max <= x) >= probability."""
    return min(
        x for x, p in max_deviation_cdf(n_groups, n, m, fnmr, correlation) if p >= probability
    )
