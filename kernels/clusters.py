"""Sums over subjects drawn with replacement, where subjects with the same failures and attempts are drawn together.

How often each type of subject comes up among the n drawn is multinomial: a chain of binomial numbers, one a type,
whatever n is.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .philox import LANES, fill

ATTEMPTS, FAILURES, FAILURES_SQUARED, FAILURES_BY_ATTEMPTS, ATTEMPTS_SQUARED = range(5)  # rows of sums
_UNIT = 2.0**-53
_LOW_BITS, _HALF = np.uint64(11), np.uint64(32)
_FEW = 10.0  # expected number below which it is found by adding up probabilities, from zero


@jit
def _uniform(high, low):
    """Turn 64 random bits, in two words, into a number inside (0, 1)."""
    return (np.float64(((high << _HALF) | low) >> _LOW_BITS) + 0.5) * _UNIT


@jit
def _tail(k):
    """Tell what Stirling's formula for log k! leaves out."""
    squared = (k + 1.0) * (k + 1.0)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * squared)) / squared) / squared) / (k + 1.0)


@jit
def _invert(uniform, n, odds, log_complement):
    """Find the binomial number at a quantile. odds: p / (1 - p); log_complement: log(1 - p)."""
    probability = np.exp(n * log_complement)
    k = 0
    while uniform > probability and k < n:
        uniform -= probability
        k += 1
        probability *= odds * (n - k + 1) / k
    return k


@jit
def _reject(u, v, n, p, odds):
    """Try a binomial number by Hoermann's transformed rejection with squeeze (BTRS, 1993); -1 where it is rejected.

    u, v: uniform numbers; p: at most 1/2, with n p >= 10; odds: p / (1 - p)
    """
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    u -= 0.5
    edge = 0.5 - abs(u)
    k = np.floor((2 * a / edge + b) * u + n * p + 0.5)
    if edge >= 0.07 and v <= 0.92 - 4.2 / b:
        return np.int64(k)
    if k < 0 or k > n:
        return np.int64(-1)
    mode = np.floor((n + 1) * p)
    v = np.log(v * (2.83 + 5.1 / b) * deviation / (a / (edge * edge) + b))
    bound = (
        (mode + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1)))
        + (n + 1) * np.log((n - mode + 1) / (n - k + 1))
        + (k + 0.5) * np.log(odds * (n - k + 1) / (k + 1))
        + _tail(mode) + _tail(n - mode) - _tail(k) - _tail(n - k)
    )  # fmt: skip
    return np.int64(k if v <= bound else -1)


@jit
def draw_binomial(n, chance, draw, stride, stream, purpose, first_replicate, key, words, drawn):
    """Draw a binomial number for each of 64 replicates, with one chance for all.

    n: (64,) int64; chance: in [0, 1]; draw, stride: the first count of the random stream, and how far on the next is
    where a number is rejected; stream, purpose, first_replicate, key: as in `philox.fill`; words: (4, 64) uint64,
    scratch; drawn: (64,) int64, out
    """
    p = min(chance, 1 - chance)
    odds, log_complement = p / (1 - p), np.log1p(-p)
    waiting = 0
    for lane in range(LANES):
        drawn[lane] = -1 if n[lane] > 0 and p > 0 else 0
        waiting += drawn[lane] < 0
    while waiting > 0:
        fill(draw, stream, purpose, first_replicate, key, words)
        draw += stride
        for lane in range(LANES):
            if drawn[lane] < 0:
                u = _uniform(words[0, lane], words[1, lane])
                if n[lane] * p < _FEW:
                    drawn[lane] = _invert(u, n[lane], odds, log_complement)
                else:
                    v = _uniform(words[2, lane], words[3, lane])
                    drawn[lane] = _reject(u, v, n[lane], p, odds)
                waiting -= drawn[lane] >= 0
    if chance > 0.5:
        for lane in range(LANES):
            drawn[lane] = n[lane] - drawn[lane]


@jit
def draw_sums(failures, attempts, share, end, size, purpose, first_replicate, n_replicates, key, sums):
    """Draw subjects of every group with replacement, and sum over them.

    failures, attempts: (types,) int64, of each type of subject, the types of a group side by side; share: (types,)
    float64, in proportion to the chance of each in its group; end: (groups,) int64, where each group's types end; size:
    (groups,) int64, subjects drawn; purpose, first_replicate: int; key: (2,) uint32; sums: (5, n_replicates, groups)
    int64, out
    """
    words = np.empty((4, LANES), np.uint64)
    left, drawn = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    totals = np.empty((5, LANES), np.int64)
    chance = np.ones(share.size)  # of each type among those from it on
    start = 0
    for group in range(end.size):
        rest = 0.0
        for kind in range(end[group] - 1, start - 1, -1):
            rest += share[kind]
            chance[kind] = share[kind] / rest if rest > 0 else 1.0
        start = end[group]
    for first in range(0, n_replicates, LANES):
        start = 0
        for group in range(end.size):
            left[:] = size[group]
            totals[:] = 0
            n_types = end[group] - start
            for kind in range(start, end[group]):
                draw_binomial(
                    left,
                    chance[kind],
                    kind - start,
                    n_types,
                    group,
                    purpose,
                    first_replicate + first,
                    key,
                    words,
                    drawn,
                )
                e, m = failures[kind], attempts[kind]
                for lane in range(LANES):
                    left[lane] -= drawn[lane]
                    totals[ATTEMPTS, lane] += m * drawn[lane]
                    totals[FAILURES, lane] += e * drawn[lane]
                    totals[FAILURES_SQUARED, lane] += e * e * drawn[lane]
                    totals[FAILURES_BY_ATTEMPTS, lane] += e * m * drawn[lane]
                    totals[ATTEMPTS_SQUARED, lane] += m * m * drawn[lane]
            for row in range(5):
                for lane in range(min(LANES, n_replicates - first)):
                    sums[row, first + lane, group] = totals[row, lane]
            start = end[group]
