"""The slow, obvious oracle of the limits of one rate: every rule a branch, scipy's distributions,
and no arrays."""

from __future__ import annotations

import math

from . import intervals


def limits(
    rate: float, error: float, freedom: float, effective: float, raised: float, level: float
) -> tuple[float, float]:
    """Logit with Student's t; lower ones of at most a half, upper ones of at least a half, and those
    of 0 and 1, also Clopper and Pearson's.

    Upper ones also from the rate that one more subject raises. `effective` and `raised` are NaN
    where there are none.
    """
    tail = (1 - level) / 2
    if rate == 0:
        return (0.0, 1 - tail ** (1 / effective)) if effective > 0 else (math.nan, math.nan)
    if rate == 1:
        return (tail ** (1 / effective), 1.0) if effective > 0 else (math.nan, math.nan)
    low, high = intervals.bounded(rate, error, freedom, level)
    if not math.isnan(effective):
        low = min(low, intervals.clopper_pearson(rate, effective, tail)[0])
        if rate >= 0.5:
            high = max(high, intervals.clopper_pearson(rate, effective, tail)[1])
    if not math.isnan(raised):
        both = math.sqrt(error**2 + raised**2)
        high = max(high, intervals.logit(rate + raised, both, freedom + 1, level)[1])
    return low, high


def pvalue(known: tuple[float, float, float, float, float], bound: float, side: str) -> float:
    """The smallest error probability of a one-sided limit that is within the bound, by bisection of
    its logarithm."""

    def is_within(tail: float) -> bool:
        low, high = limits(*known, 1 - 2 * tail)
        return high <= bound if side == "upper" else low >= bound

    least, most = math.log(1e-9), math.log(0.5)
    if not is_within(0.5):
        return 1.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (least, middle) if is_within(math.exp(middle)) else (middle, most)
    return math.exp(most)
