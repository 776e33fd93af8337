"""The slow, obvious oracle of intervals that are not quantiles of replicates: logit, and test inversion.

A system is a list of rates (FMR and FNMR, or one alone), each a list: of all comparisons, then of each group. A measure
is a function of a system. Nothing of fastfair is imported.
"""

import math
from collections.abc import Callable

from scipy.stats import t as student

System = list[list[float]]


def logit(estimate: float, se: float, freedom: float, level: float) -> tuple[float, float]:
    """Logit(x) -+ t sqrt((d + 1) / d) min(se, x, 1 - x) / (x (1 - x)), back on the scale of rates."""
    se = min(se, estimate, 1 - estimate)
    inflated = se * math.sqrt((freedom + 1) / freedom) if math.isfinite(freedom) else se
    reach = student.ppf(1 - (1 - level) / 2, freedom) * inflated / (estimate * (1 - estimate))
    odds = estimate / (1 - estimate)
    low, high = odds * math.exp(-reach), odds * math.exp(reach)
    return low / (1 + low), high / (1 + high)


def moved(system: System, power: float) -> System:
    """Every rate x is m (x / m)^power, m the geometric mean of the groups' rates; at most 1."""
    found = []
    for rate in system:
        groups = rate[1:]
        m = math.prod(groups) ** (1 / len(groups))
        found.append([min(1, m * (x / m) ** power) for x in rate])
    return found


def moved_replicate(system: System, replicate: System, power: float) -> System:
    """x(power) + (x* - x) sqrt(x(power) / x), within 0 and 1."""
    found = []
    for rate, drawn, to in zip(system, replicate, moved(system, power), strict=True):
        scattered = []
        for x, x_drawn, x_to in zip(rate, drawn, to, strict=True):
            scattered.append(min(1, max(0, x_to + (x_drawn - x) * math.sqrt(x_to / x))))
        found.append(scattered)
    return found


def shares(
    measure: Callable[[System], float], system: System, replicates: list[System], power: float, higher_is_fairer: bool
) -> tuple[float, float]:
    """Shares of moved replicates at least as unfair as the estimate, and at least as fair."""
    estimate = measure(system)
    unfair = fair = n = 0
    for replicate in replicates:
        value = measure(moved_replicate(system, replicate, power))
        if math.isnan(value):
            continue
        n += 1
        above, below = value >= estimate, value <= estimate
        unfair += below if higher_is_fairer else above
        fair += above if higher_is_fairer else below
    return unfair / n, fair / n


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
