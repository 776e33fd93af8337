"""The rules of standards, in slow and obvious steps."""

from __future__ import annotations

import math
from collections.abc import Sequence


def normal_limit(failures: Sequence[int], attempts: Sequence[int], z: float) -> float:
    """Return the upper limit of a rate by the variance between people of ISO/IEC 19795-1."""
    n = len(failures)
    rate = sum(failures) / sum(attempts)
    mean = sum(attempts) / n
    between = 0.0
    for failed, tried in zip(failures, attempts, strict=True):
        between += failed**2 - 2 * rate * failed * tried + rate**2 * tried**2
    return rate + z * math.sqrt(between / (n * (n - 1)) / mean**2)


def people_needed(n_comparisons: int, attempts: int, ordered: bool) -> int:
    """Count people one by one until they have so many comparisons with each other."""
    n = 2
    while True:
        pairs = sum(1 for a in range(n) for b in range(n) if (a != b if ordered else a < b))
        if pairs * attempts >= n_comparisons:
            return n
        n += 1
