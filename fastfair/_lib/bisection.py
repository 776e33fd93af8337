"""Search for the least number that is enough, by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable


def least_between(
    is_enough: Callable[[float], bool], low: float, high: float, ratio: float
) -> float:
    """Return the least number that is enough, up to a ratio, between one that may not be and one
    that is.
    """
    while high / low > ratio:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def least_whole(is_enough: Callable[[int], bool], low: int, high: int, ratio: float = 1.0) -> int:
    """Return the least whole number that is enough, between one that is not and one that is; up to
    a ratio.
    """
    while high > low * ratio and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def least_multiple(is_enough: Callable[[float], bool], most: float, ratio: float) -> float:
    """Return the least number from 1 on that is enough, up to a ratio; infinite where none up to
    the most is.
    """
    low = high = 1.0
    while not is_enough(high):
        low = high
        high = 2 * high
        if high > most:
            return math.inf
    return least_between(is_enough, low, high, ratio)
