"""What a study of few data sets may fall short by."""

from __future__ import annotations

import math


def least_coverage(n: int) -> float:
    """Return the coverage that as good as no study of n data sets falls below where it is 95 %, or little less."""
    return 0.92 - 2 * math.sqrt(0.95 * 0.05 / n)
