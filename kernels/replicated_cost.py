"""The minimum detection cost of every replicate. Lists and weights are those of `sweep`."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .curves import count_below
from .philox import BLOCK
from .sweep import add_many_pairs


@jit
def _walk(
    x_keys,
    x_a,
    x_b,
    y_keys,
    y_a,
    y_b,
    weights,
    largest,
    x_totals,
    y_totals,
    x_shrinkage,
    y_shrinkage,
    miss,
    false_match,
    start,
    best,
):
    """Try all thresholds from low to high, until no replicate can gain by a higher one.

    largest: the largest weight; start: position in the non-mated list, those from it on are rejected already; best:
    (64,) float64, out. Returns whether no lower threshold than the first can be better.
    """
    n, m = x_keys.size, y_keys.size
    x_weight, y_weight = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.int64)
    rejected = np.empty(BLOCK, np.int64)
    miss_unit, false_match_unit = np.empty(BLOCK), np.empty(BLOCK)
    for r in range(BLOCK):
        miss_unit[r] = miss * y_shrinkage / y_totals[r] if y_totals[r] > 0 else np.nan
        false_match_unit[r] = false_match * x_shrinkage / x_totals[r] if x_totals[r] > 0 else np.nan
        best[r] = np.inf
    # A threshold just above a non-mated score: the lower ones between two of them reject fewer mated comparisons.
    p = start
    while 0 < p < n and x_keys[p - 1] == x_keys[p]:
        p -= 1
    q = 0 if p == n else count_below(y_keys, ~x_keys[p] + 1)
    add_many_pairs(x_a, x_b, weights, largest, 0, p, x_weight)
    add_many_pairs(y_a, y_b, weights, largest, 0, q, y_weight)
    x_base, y_base = false_match * (1 - x_shrinkage) / n, miss * (1 - y_shrinkage) / m
    lowest = np.empty(BLOCK)
    for r in range(BLOCK):
        lowest[r] = x_base * p + false_match_unit[r] * x_weight[r]
    while True:
        gain_possible = False
        for r in range(BLOCK):
            misses = y_base * q + miss_unit[r] * y_weight[r]
            cost = misses + (x_base * p + false_match_unit[r] * x_weight[r])
            best[r] = min(best[r], cost)
            gain_possible |= misses < best[r]
        if p == 0 or not gain_possible:
            break
        score = ~x_keys[p - 1]
        stop = p
        while p > 0 and ~x_keys[p - 1] == score:
            p -= 1
        rejected[:] = 0
        add_many_pairs(x_a, x_b, weights, largest, p, stop, rejected)
        for r in range(BLOCK):
            x_weight[r] -= rejected[r]
        stop = q
        while stop < m and y_keys[stop] <= score:
            stop += 1
        add_many_pairs(y_a, y_b, weights, largest, q, stop, y_weight)
        q = stop
    enough = True
    for r in range(BLOCK):
        enough &= not lowest[r] < best[r]
    return enough


@jit
def least_costs(
    x_keys, x_a, x_b, x_end, y_keys, y_a, y_b, y_end, weights, largest, x_totals, y_totals, x_shrinkage, y_shrinkage,
    miss, false_match, estimates, values,
):  # fmt: skip
    """Find the least of miss * FNMR + false_match * FMR of the first lists of both sides, in every replicate.

    x_...: non-mated lists; y_...: mated lists; largest: the largest weight; x_shrinkage, y_shrinkage: (lists,) float64;
    estimates: (lists,) float64, the least costs without weights; values: (lists, 64) float64, out, NaN where a class
    has no weight
    """
    x_start, y_start = 0, 0
    for k in range(estimates.size):
        x, y = slice(x_start, x_end[k]), slice(y_start, y_end[k])
        x_start, y_start = x_end[k], y_end[k]
        values[k] = np.nan
        n = x.stop - x.start
        if n == 0 or y.start == y.stop:
            continue
        start = min(n, np.int64(1.5 * estimates[k] / false_match * n) + 32)
        while not _walk(
            x_keys[x], x_a[x], x_b[x], y_keys[y], y_a[y], y_b[y], weights, largest, x_totals[k], y_totals[k],
            x_shrinkage[k], y_shrinkage[k], miss, false_match, start, values[k],
        ) and start < n:  # fmt: skip
            start = min(n, 2 * start)
        for r in range(BLOCK):
            if x_totals[k, r] == 0 or y_totals[k, r] == 0:
                values[k, r] = np.nan
