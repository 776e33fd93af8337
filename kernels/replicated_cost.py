"""The minimum detection cost of every replicate. Lists and weights are those of `sweep`."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .curves import count_below
from .philox import LANES
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
    x_shrink,
    y_shrink,
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
    x_weight, y_weight = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    rejected = np.empty(LANES, np.int64)
    miss_unit, false_match_unit = np.empty(LANES), np.empty(LANES)
    for lane in range(LANES):
        miss_unit[lane] = miss * y_shrink / y_totals[lane] if y_totals[lane] > 0 else np.nan
        false_match_unit[lane] = false_match * x_shrink / x_totals[lane] if x_totals[lane] > 0 else np.nan
        best[lane] = np.inf
    # A threshold just above a non-mated score: the lower ones between two of them reject fewer mated comparisons.
    p = start
    while 0 < p < n and x_keys[p - 1] == x_keys[p]:
        p -= 1
    q = 0 if p == n else count_below(y_keys, ~x_keys[p] + 1)
    add_many_pairs(x_a, x_b, weights, largest, 0, p, x_weight)
    add_many_pairs(y_a, y_b, weights, largest, 0, q, y_weight)
    x_base, y_base = false_match * (1 - x_shrink) / n, miss * (1 - y_shrink) / m
    lowest = np.empty(LANES)
    for lane in range(LANES):
        lowest[lane] = x_base * p + false_match_unit[lane] * x_weight[lane]
    while True:
        gain_possible = False
        for lane in range(LANES):
            misses = y_base * q + miss_unit[lane] * y_weight[lane]
            cost = misses + (x_base * p + false_match_unit[lane] * x_weight[lane])
            best[lane] = min(best[lane], cost)
            gain_possible |= misses < best[lane]
        if p == 0 or not gain_possible:
            break
        score = ~x_keys[p - 1]
        stop = p
        while p > 0 and ~x_keys[p - 1] == score:
            p -= 1
        rejected[:] = 0
        add_many_pairs(x_a, x_b, weights, largest, p, stop, rejected)
        for lane in range(LANES):
            x_weight[lane] -= rejected[lane]
        stop = q
        while stop < m and y_keys[stop] <= score:
            stop += 1
        add_many_pairs(y_a, y_b, weights, largest, q, stop, y_weight)
        q = stop
    enough = True
    for lane in range(LANES):
        enough &= not lowest[lane] < best[lane]
    return enough


@jit
def least_costs(
    x_keys, x_a, x_b, x_end, y_keys, y_a, y_b, y_end, weights, largest, x_totals, y_totals, x_shrink, y_shrink, miss,
    false_match, estimates, values,
):  # fmt: skip
    """Find the least of miss * FNMR + false_match * FMR of the first lists of both sides, in every replicate.

    x_...: non-mated lists; y_...: mated lists; largest: the largest weight; x_shrink, y_shrink: (lists,) float64;
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
            x_shrink[k], y_shrink[k], miss, false_match, start, values[k],
        ) and start < n:  # fmt: skip
            start = min(n, 2 * start)
        for lane in range(LANES):
            if x_totals[k, lane] == 0 or y_totals[k, lane] == 0:
                values[k, lane] = np.nan
