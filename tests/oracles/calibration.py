"""Calibration in slow, obvious loops: costs of decisions by log-likelihood ratios, and transforms
of scores into these.

Formulas of Brümmer and du Preez (2006) and of Brümmer and de Villiers, "The BOSARIS Toolkit"
(2013), with a comparison accepted where its log-likelihood ratio is at least the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from oracles import naive


def bayes_threshold(p_target: float, c_miss: float, c_fa: float) -> float:
    """The log-likelihood ratio at which accepting and rejecting cost the same."""
    return math.log((c_fa * (1 - p_target)) / (c_miss * p_target))


def cost(
    mated: Sequence[float],
    nonmated: Sequence[float],
    threshold: float,
    application: tuple[float, float, float],
) -> float:
    """The detection cost of a threshold, not normalised."""
    p_target, c_miss, c_fa = application
    misses = sum(1 for s in mated if s < threshold) / len(mated)
    false_alarms = sum(1 for s in nonmated if s >= threshold) / len(nonmated)
    return c_miss * p_target * misses + c_fa * (1 - p_target) * false_alarms


def default_cost(application: tuple[float, float, float]) -> float:
    """The cost of accepting everything, or of rejecting everything, whichever is lower."""
    p_target, c_miss, c_fa = application
    return min(c_miss * p_target, c_fa * (1 - p_target))


def act_dcf(
    mated: Sequence[float], nonmated: Sequence[float], application: tuple[float, float, float]
) -> float:
    """The cost at the Bayes threshold."""
    return cost(mated, nonmated, bayes_threshold(*application), application)


def least_cost(
    mated: Sequence[float], nonmated: Sequence[float], application: tuple[float, float, float]
) -> float:
    """The least cost over all thresholds."""
    return min(cost(mated, nonmated, t, application) for t in [*mated, *nonmated, math.inf])


def _log_one_plus_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def cllr(mated: Sequence[float], nonmated: Sequence[float], p: float) -> float:
    """The cross-entropy of the posterior probabilities, divided by that of the prior."""
    log_odds = math.log(p / (1 - p))
    of_mated = sum(_log_one_plus_exp(-s - log_odds) for s in mated) / len(mated)
    of_nonmated = sum(_log_one_plus_exp(s + log_odds) for s in nonmated) / len(nonmated)
    return (p * of_mated + (1 - p) * of_nonmated) / entropy(p)


def min_cllr(mated: Sequence[float], nonmated: Sequence[float], p: float) -> float:
    """`cllr` of the ratios that pooling adjacent violators gives."""
    log_odds = math.log(p / (1 - p))
    total = 0.0
    for n_mated, n_nonmated in naive.pool_adjacent_violators(list(mated), list(nonmated)):
        if n_mated and n_nonmated:
            ratio = math.log(n_mated / len(mated)) - math.log(n_nonmated / len(nonmated))
            total += p * n_mated / len(mated) * _log_one_plus_exp(-ratio - log_odds)
            total += (1 - p) * n_nonmated / len(nonmated) * _log_one_plus_exp(ratio + log_odds)
    return total / entropy(p)


def bayes_error(
    mated: Sequence[float], nonmated: Sequence[float], log_odds: float
) -> tuple[float, float, float]:
    """The probability of error at a prior: actual, minimum and without scores."""
    p = 1 / (1 + math.exp(-log_odds))
    application = p, 1.0, 1.0
    return (
        cost(mated, nonmated, -log_odds, application),
        least_cost(mated, nonmated, application),
        min(p, 1 - p),
    )


def share_at_least(ratios: Sequence[float], ratio: float) -> float:
    return sum(1 for one in ratios if one >= ratio) / len(ratios)


def pav_ratios(mated: Sequence[float], nonmated: Sequence[float]) -> dict[float, float]:
    """The log-likelihood ratio of each score, with one comparison of each class added below all and
    above all."""
    scores = sorted({*mated, *nonmated})
    counts = [(1, 1), *((list(mated).count(s), list(nonmated).count(s)) for s in scores), (1, 1)]
    blocks = naive.pool(list(counts))
    found, done = {}, 0
    for n_mated, n_nonmated in blocks:
        ratio = math.log(n_mated / (len(mated) + 2)) - math.log(n_nonmated / (len(nonmated) + 2))
        left = n_mated + n_nonmated
        while left:
            if 0 < done <= len(scores):
                found[scores[done - 1]] = ratio
            left -= sum(counts[done])
            done += 1
    return found


def logistic_cost(
    mated: Sequence[float], nonmated: Sequence[float], line: tuple[float, float], p: float
) -> float:
    """What logistic regression minimises: the cross-entropy of the ratios slope * s + offset."""
    slope, offset = line
    return cllr([slope * s + offset for s in mated], [slope * s + offset for s in nonmated], p)


Trial = tuple[float, bool, str, str]  # score, mated, subject of the reference and of the probe


def may_train(trial: Trial, tested: Trial, fold_of: dict[str, int]) -> bool:
    """Whether a comparison may train what tests another: neither of its subjects is in a fold of
    the other's."""
    folds = {fold_of[tested[2]], fold_of[tested[3]]}
    return fold_of[trial[2]] not in folds and fold_of[trial[3]] not in folds


def sum_interval(
    first: tuple[float, float, float], second: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """MOVER for a sum (Zou and Donner 2008, equation 9), of estimates with their limits."""
    x, low_x, high_x = first
    y, low_y, high_y = second
    below = (x - low_x) ** 2 + (y - low_y) ** 2 + 2 * correlation * (x - low_x) * (y - low_y)
    above = (high_x - x) ** 2 + (high_y - y) ** 2 + 2 * correlation * (high_x - x) * (high_y - y)
    return x + y - math.sqrt(max(below, 0)), x + y + math.sqrt(max(above, 0))


def error_of_saving(
    drawn: Sequence[float],
    weights: tuple[float, float],
    sizes: tuple[int, int],
    changed: tuple[int, int],
) -> float:
    """The standard error of what a shifted threshold saves, if it saved nothing.

    drawn: savings in replicates; weights: cost of all mated, and of all non-mated, comparisons
    being errors; changed: how many comparisons of either class change sides. If the shift saved
    nothing, each class would have to make up for the other: a class with fewer changes than that
    varies as that many independent ones would.
    """
    mean = sum(drawn) / len(drawn)
    variance = sum((one - mean) ** 2 for one in drawn) / (len(drawn) - 1)
    for own in (0, 1):
        each, of_other = weights[own] / sizes[own], weights[1 - own] / sizes[1 - own]
        missing = changed[1 - own] * of_other / each - changed[own]
        if missing > 0:
            variance += each**2 * missing
    return math.sqrt(variance)
