"""Compute the minimum detection cost of each replicate. Lists and weights are those of `sweep`."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .curves import count_below
from .philox import BLOCK
from .sweep import add_many_pairs, list_of

_FOUND, _LOWER, _TOO_SHORT = 0, 1, 2


@jit
def _walk(nonmated, mated, miss, false_match, start, best):
    """Try thresholds from low to high, until a higher one can lower no replicate's cost.

    nonmated, mated: each an `ErrorList`; miss, false_match: factors of FNMR and FMR; start: position in the non-mated
    list; the first threshold rejects those from it on; best: (64,) float64, out. Returns `_FOUND`, `_LOWER` where a
    threshold lower than the first may be better, or `_TOO_SHORT` where too few mated comparisons are kept.
    """
    x_keys, x_a, x_b, y_keys, y_a, y_b = nonmated.keys, nonmated.a, nonmated.b, mated.keys, mated.a, mated.b
    weights, largest = nonmated.weights, nonmated.largest
    n, m = x_keys.size, y_keys.size
    x_weight, y_weight = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.int64)
    rejected = np.empty(BLOCK, np.int64)
    miss_unit, false_match_unit = np.empty(BLOCK), np.empty(BLOCK)
    for r in range(BLOCK):
        miss_unit[r] = miss * mated.shrinkage / mated.totals[r] if mated.totals[r] > 0 else np.nan
        false_match_unit[r] = (
            false_match * nonmated.shrinkage / nonmated.totals[r] if nonmated.totals[r] > 0 else np.nan
        )
        best[r] = np.inf
    # Try thresholds just above non-mated scores: of all thresholds up to the next such score, they have the least FNMR.
    p = start
    while 0 < p < n and x_keys[p - 1] == x_keys[p]:
        p -= 1
    q = np.int64(0) if p == n else count_below(y_keys, ~x_keys[p] + 1)
    add_many_pairs(x_a, x_b, weights, largest, np.int64(0), p, x_weight)
    add_many_pairs(y_a, y_b, weights, largest, np.int64(0), q, y_weight)
    x_base = false_match * (1 - nonmated.shrinkage) / nonmated.size
    y_base = miss * (1 - mated.shrinkage) / mated.size
    lowest = np.empty(BLOCK)
    for r in range(BLOCK):
        lowest[r] = x_base * p + false_match_unit[r] * x_weight[r]
    while True:
        if q == m < mated.size:
            return _TOO_SHORT
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
    for r in range(BLOCK):
        if lowest[r] < best[r]:
            return _LOWER
    return _FOUND


@jit
def least_costs(nonmated, mated, miss, false_match, estimates, values):
    """Find the least of miss * FNMR + false_match * FMR of the first lists of both sides, in every replicate.

    nonmated, mated: each a `Side`; miss, false_match: the factors; estimates: (lists,) float64, the least costs without
    weights; values: (lists, 64) float64, out, NaN where a class has no weight. Returns whether lists reach far enough
    """
    for k in range(estimates.size):
        values[k] = np.nan
        nonmated_list, mated_list = list_of(nonmated, k), list_of(mated, k)
        n, kept = nonmated_list.size, nonmated_list.keys.size
        if n == 0 or mated_list.size == 0:
            continue
        if kept == 0 or mated_list.keys.size == 0:
            return False
        # A threshold that rejects those from a position on is just above the first of them, which must be known.
        last = kept if kept == n else kept - 1
        start = min(last, np.int64(1.5 * estimates[k] / false_match * n) + 32)
        while True:
            found = _walk(nonmated_list, mated_list, miss, false_match, start, values[k])
            if found == _TOO_SHORT or (found == _LOWER and start == last < n):
                return False
            if found == _FOUND or start == n:
                break
            start = min(last, 2 * start)
        for r in range(BLOCK):
            if nonmated_list.totals[r] == 0 or mated_list.totals[r] == 0:
                values[k, r] = np.nan
    return True
