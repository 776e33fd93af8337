"""What a study of few data sets may fall short by."""

from __future__ import annotations

import math

from scipy.stats import binom

ENOUGH = 300  # data sets


def least_coverage(n: int) -> float:
    """Return the coverage that as good as no study of n data sets falls below where it is 95 %, or
    little less."""
    return 0.92 - 2 * math.sqrt(0.95 * 0.05 / n)


def error(share: float, n: int, times: float = 3.5) -> float:
    """Compute so many binomial standard errors of a share of n data sets."""
    return times * math.sqrt(share * (1 - share) / n)


def least(share: float, n: int, chance: float = 0.001) -> float:
    """Return the share that studies of n data sets fall below by so small a chance."""
    return float(binom.ppf(chance, n, share)) / n


def most(share: float, n: int, chance: float = 0.0001) -> float:
    """Return the share that studies of n data sets exceed by so small a chance."""
    return float(binom.ppf(1 - chance, n, share)) / n


def promised(share: float, n: int) -> float:
    """Return a share with twice its binomial error, which it is to keep in studies of at least 300
    data sets; what fewer exceed by a small chance."""
    return share + error(share, n, 2.0) if n >= ENOUGH else most(share, n)
