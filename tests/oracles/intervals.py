"""The slow, obvious oracle of intervals that are not quantiles of replicates: logit and its band,
and test inversion.

A system is a list of rates (FMR and FNMR, or one alone), each a list: of all comparisons, then of
each group. A measure is a function of a system. Nothing of fastfair is imported.
"""

import math
import statistics
from collections.abc import Callable

from scipy.stats import beta, norm
from scipy.stats import t as student

from . import resampling

System = list[list[float]]


def logit(estimate: float, se: float, freedom: float, level: float) -> tuple[float, float]:
    """Logit(x) -+ t sqrt((d + 1) / d) min(se, x, 1 - x) / (x (1 - x)), back on the scale of
    rates."""
    se = min(se, estimate, 1 - estimate)
    inflated = se * math.sqrt((freedom + 1) / freedom) if math.isfinite(freedom) else se
    reach = student.ppf(1 - (1 - level) / 2, freedom) * inflated / (estimate * (1 - estimate))
    odds, reach = estimate / (1 - estimate), min(reach, 700)  # beyond it odds are 0 or infinite
    low, high = odds * math.exp(-reach), odds * math.exp(reach)
    return low / (1 + low), high / (1 + high)


def clopper_pearson(rate: float, n: float, tail: float) -> tuple[float, float]:
    """Both limits of n independent comparisons, which need not be whole."""
    errors = rate * n
    return beta.ppf(tail, errors, n - errors + 1), beta.isf(tail, errors + 1, n - errors)


def bounded(estimate: float, se: float, freedom: float, level: float) -> tuple[float, float]:
    """The same, and on the long side at least Clopper and Pearson's of as many as have this
    standard error."""
    low, high = logit(estimate, se, freedom, level)
    if se > 0:
        n = estimate * (1 - estimate) / min(se, estimate, 1 - estimate) ** 2
        exact = clopper_pearson(estimate, n, (1 - level) / 2)
        low = min(low, exact[0]) if estimate <= 0.5 else low
        high = max(high, exact[1]) if estimate >= 0.5 else high
    return low, high


Counted = list[tuple[int, int]]  # failures and attempts of each subject


def typical_subject(subjects: Counted, everyone: Counted) -> tuple[float, float]:
    """Attempts and failures of one more subject of a group, in which some attempt failed.

    As many as the subject behind an attempt has on average, or the one behind a failure if these
    are more; half of them fail. Where of everyone the latter are 1.5 times as many, at least as many attempts
    and failures as the subject behind a failure has on average, in the group and of everyone.
    """

    def behind_an_attempt(of: Counted) -> float:
        return sum(m * m for _, m in of) / sum(m for _, m in of)

    def behind_a_failure(of: Counted, each: Callable[[int, int], int]) -> float:
        return sum(e * each(e, m) for e, m in of) / sum(e for e, _ in of)

    def attempts_of_failing(of: Counted) -> float:
        return behind_a_failure(of, lambda _, m: m)

    attempts = max(behind_an_attempt(subjects), attempts_of_failing(subjects))
    if attempts_of_failing(everyone) <= 1.5 * behind_an_attempt(everyone):
        return attempts, attempts / 2
    attempts = max(attempts, attempts_of_failing(everyone))
    failures = [behind_a_failure(of, lambda e, _: e) for of in (subjects, everyone)]
    return attempts, max(attempts / 2, *failures)


def with_one_more(
    estimate: float, n: int, added: tuple[float, float], se: float, freedom: float, level: float
) -> tuple[float, float]:
    """The lower limit of a rate of failure, and the upper one with another subject, of so many
    attempts and failures."""
    low, high = bounded(estimate, se, freedom, level)
    attempts, failures = added
    raised = (estimate * n + failures) / (n + attempts) - estimate
    if raised > 0:
        high = max(high, logit(estimate + raised, math.hypot(se, raised), freedom + 1, level)[1])
    return low, high


def of_all_or_none(estimate: float, n: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of n comparisons without an error, or of n errors."""
    reach = 1 - ((1 - level) / 2) ** (1 / n)
    return (0.0, reach) if estimate == 0 else (1 - reach, 1.0)


def level_of_band(estimates: list[float], replicates: list[list[float]], level: float) -> float:
    """2 Phi(c) - 1; a share `level` of the replicate curves is within c standard errors wherever
    there are errors."""
    farthest = []
    for curve in zip(*replicates, strict=True):
        away = [0.0]
        for x, drawn, of_level in zip(estimates, curve, replicates, strict=True):
            if 0 < x < 1 and statistics.stdev(of_level) > 0:
                away.append(abs(drawn - x) / statistics.stdev(of_level))
        farthest.append(max(away))
    return max(level, 2 * norm.cdf(min(resampling.quantile(farthest, level), 8)) - 1)


def band(
    estimates: list[float],
    replicates: list[list[float]],
    n: int,
    freedom: list[float],
    level: float,
    added: list[tuple[float, float]] | None = None,
    n_effective: float | None = None,
) -> list[tuple[float, float]]:
    """Ends at each point of a falling curve, made of the intervals of `level_of_band`; FMRs ascend.

    `added`: attempts and failures of one more subject at each point; `n_effective`: comparisons behind a rate
    without errors. With few errors (a standard error above x / 2 or (1 - x) / 2) they reach as far
    as the replicates' quantiles, too.
    """
    wide = level_of_band(estimates, replicates, level)
    ends = []
    for k, (x, of_level, degrees) in enumerate(zip(estimates, replicates, freedom, strict=True)):
        se = statistics.stdev(of_level)
        if not 0 < x < 1:
            low, high = of_all_or_none(x, n_effective or n, wide)
        elif added:
            low, high = with_one_more(x, n, added[k], se, degrees, wide)
        else:
            low, high = bounded(x, se, degrees, wide)
        if se > min(x, 1 - x) / 2:
            of_quantiles = resampling.percentile(of_level, wide)
            low, high = max(0, min(low, of_quantiles[0])), min(1, max(high, of_quantiles[1]))
        ends.append((low, high))
    return [
        (min(low for low, _ in ends[: k + 1]), max(high for _, high in ends[k:]))
        for k in range(len(ends))
    ]


def moved(system: System, power: float) -> System:
    """Every rate x is m (x / m)^power, m the geometric mean of the groups' rates; at most 1."""
    found = []
    for rate in system:
        groups = rate[1:]
        m = math.prod(groups) ** (1 / len(groups))
        found.append([min(1, m * (x / m) ** power) for x in rate])
    return found


def moved_replicate(system: System, replicate: System, at: System) -> System:
    """x' + (x* - x) sqrt(x' / x), within 0 and 1, where x' are the rates moved to."""
    return [
        [
            min(1, max(0, x_to + (x_drawn - x) * math.sqrt(x_to / x)))
            for x, x_drawn, x_to in zip(rate, drawn, to, strict=True)
        ]
        for rate, drawn, to in zip(system, replicate, at, strict=True)
    ]


def shares(
    measure: Callable[[System], float],
    system: System,
    replicates: list[System],
    power: float,
    higher_is_fairer: bool,
) -> tuple[float, float]:
    """Shares of moved replicates at least as unfair as the estimate, and at least as fair."""
    estimate, at = measure(system), moved(system, power)
    unfair = fair = n = 0
    for replicate in replicates:
        value = measure(moved_replicate(system, replicate, at))
        if math.isnan(value):
            continue
        n += 1
        above, below = value >= estimate, value <= estimate
        unfair += below if higher_is_fairer else above
        fair += above if higher_is_fairer else below
    return unfair / n, fair / n


def shares_of_alike_groups(
    measure: Callable[[System], float],
    system: System,
    replicates: list[System],
    raised: list[list[float]],
    higher_is_fairer: bool,
) -> float:
    """Share of replicates at least as unfair as the estimate, about the groups' mean rates, wider
    by factors."""
    estimate = measure(system)
    unfair = 0
    for replicate in replicates:
        moved = []
        for drawn, start, factors in zip(replicate, system, raised, strict=True):
            mean = sum(start[1:]) / len(start[1:])
            moved.append(
                [
                    min(1.0, max(0.0, (d - s) * f * math.sqrt(mean / s) + mean))
                    for d, s, f in zip(drawn, start, factors, strict=True)
                ]
            )
        value = measure(moved)
        unfair += value <= estimate if higher_is_fairer else value >= estimate
    return unfair / len(replicates)


def inversion(
    measure: Callable[[System], float],
    system: System,
    replicates: list[System],
    level: float,
    powers: list[float],
    higher_is_fairer: bool = False,
) -> tuple[float, float]:
    """Least and largest measure of the systems with neither share below (1 - level) / 2."""
    accepted = []
    for power in powers:
        if min(shares(measure, system, replicates, power, higher_is_fairer)) >= (1 - level) / 2:
            accepted.append(measure(moved(system, power)))
    return min(accepted), max(accepted)


def joint_pvalue(
    measure: Callable[[System], float],
    systems: list[System],
    replicates: list[list[System]],
    common: list[float],
    gamma: float,
    higher_is_fairer: bool = False,
) -> float:
    """The largest p-value of the systems' difference over common values of the measure, plus gamma.

    At a common value both systems are moved there; its p-value is twice the smaller share of
    replicates' differences that are at least as large, or at most as large, as the data's.
    """
    difference = measure(systems[0]) - measure(systems[1])
    largest = 0.0
    for value in common:
        first, second = (
            moved(system, power_of(measure, system, value, higher_is_fairer)) for system in systems
        )
        above = below = 0
        for one, other in zip(*replicates, strict=True):
            found = measure(moved_replicate(systems[0], one, first))
            found -= measure(moved_replicate(systems[1], other, second))
            above += found >= difference
            below += found <= difference
        largest = max(largest, min(1, 2 * (1 + min(above, below)) / (1 + len(replicates[0]))))
    return min(1, largest + gamma)


def power_of(
    measure: Callable[[System], float], system: System, value: float, higher_is_fairer: bool
) -> float:
    """The power at which a system has a value of the measure."""
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        reached = measure(moved(system, middle)) >= value
        low, high = (low, middle) if reached != higher_is_fairer else (middle, high)
    return low


def mover_difference(
    first: tuple[float, float, float], second: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """Interval of x - y from estimate, low and high of each: each end is as far as the ends that
    make it extreme."""
    (x, low, high), (y, other_low, other_high) = first, second
    below = math.sqrt(
        (x - low) ** 2 + (other_high - y) ** 2 - 2 * correlation * (x - low) * (other_high - y)
    )
    above = math.sqrt(
        (high - x) ** 2 + (y - other_low) ** 2 - 2 * correlation * (high - x) * (y - other_low)
    )
    return x - y - below, x - y + above


def mover_ratio(
    first: tuple[float, float, float],
    second: tuple[float, float, float],
    correlation: float,
    ratios: list[float],
) -> tuple[float, float]:
    """The least and the largest of some ratios R for which the interval of x - R y holds zero."""
    inside = []
    for ratio in ratios:
        scaled = tuple(ratio * value for value in second)
        low, high = mover_difference(first, scaled, correlation)
        if low <= 0 <= high:
            inside.append(ratio)
    return min(inside), max(inside)


def of_cost(
    estimate: float, replicates: list[float], freedom: float, level: float
) -> tuple[float, float]:
    """c exp(-+ t sqrt((d + 1) / d) min(sqrt(se^2 + 4 b^2), c) / c), c = x + b, b how far replicates
    lie below x."""
    mean = sum(replicates) / len(replicates)
    variance = sum((x - mean) ** 2 for x in replicates) / (len(replicates) - 1)
    b = max(0.0, estimate - mean)
    c = estimate + b
    error = min(math.sqrt(variance + 4 * b**2), c)
    reach = student.ppf(1 - (1 - level) / 2, freedom) * error / c
    reach *= math.sqrt((freedom + 1) / freedom) if math.isfinite(freedom) else 1
    return min(estimate, c * math.exp(-reach)), c * math.exp(reach)
