"""Compute the minimum detection cost of each replicate. Lists and weights are those of `sweep`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit_in_place, part
from .curves import count_below
from .philox import BLOCK
from .sweep import CHUNK, add_many_pairs, list_of

_FOUND, _LOWER, _TOO_SHORT = 0, 1, 2
_NONMATED, _MATED = 0, 1  # rows of the weights of errors


class _Costs(NamedTuple):
    """What errors cost: of each comparison, by shrinkage, and of each weight in each replicate."""

    miss: float
    false_match: float
    miss_unit: NDArray[np.float64]  # (64,)
    false_match_unit: NDArray[np.float64]  # (64,)


@part
def _costs_of(nonmated, mated, miss, false_match, units):
    """Return the costs of the errors of two `ErrorList`s; NaN in replicates in which a class has no
    weight.

    units: (2, 64) float64, scratch
    """
    miss_unit, false_match_unit = units[0], units[1]
    for r in range(BLOCK):
        miss_unit[r] = miss * mated.shrinkage / mated.totals[r] if mated.totals[r] > 0 else np.nan
        false_match_unit[r] = (
            false_match * nonmated.shrinkage / nonmated.totals[r]
            if nonmated.totals[r] > 0
            else np.nan
        )
    x_base = false_match * (1 - nonmated.shrinkage) / nonmated.size
    return _Costs(miss * (1 - mated.shrinkage) / mated.size, x_base, miss_unit, false_match_unit)


@helper
def _copy(errors, copied):
    """Copy the weights of errors, (2, 64) int64, element by element: an assignment of slices takes
    seconds to compile.
    """
    for r in range(BLOCK):
        copied[_NONMATED, r], copied[_MATED, r] = errors[_NONMATED, r], errors[_MATED, r]


@helper
def _untied(keys, p):
    """Return the last position up to p at which a threshold can lie."""
    while 0 < p < keys.size and keys[p - 1] == keys[p]:
        p -= 1
    return p


@helper
def _move(nonmated, mated, p, q, target, errors):
    """Raise the threshold from place p of the non-mated list to an earlier one, and return how many
    mated it rejects.

    q: how many it rejected; errors: (2, 64) int64, weights of non-mated and mated errors, out
    """
    weights, largest, y_keys, m = nonmated.weights, nonmated.largest, mated.keys, mated.keys.size
    accepted = errors[_NONMATED]
    for r in range(BLOCK):
        accepted[r] = -accepted[r]
    add_many_pairs(nonmated.a, nonmated.b, weights, largest, target, p, accepted)
    for r in range(BLOCK):
        accepted[r] = -accepted[r]
    score, stop = ~nonmated.keys[target], q
    while stop < m and y_keys[stop] <= score:
        stop += 1
    add_many_pairs(mated.a, mated.b, weights, largest, q, stop, errors[_MATED])
    return stop


@helper
def _try(costs, p, q, errors, best):
    """Compute the costs at a threshold, and tell whether a higher one can lower that of any
    replicate.
    """
    gain_possible = False
    for r in range(BLOCK):
        misses = costs.miss * q + costs.miss_unit[r] * errors[_MATED, r]
        cost = misses + (costs.false_match * p + costs.false_match_unit[r] * errors[_NONMATED, r])
        best[r] = cost if cost < best[r] else best[r]
        gain_possible |= misses < best[r]
    return gain_possible


@part
def _may_be_better(costs, p, q, before, after, best):
    """Tell whether a threshold up to the one after may cost less: it has no fewer misses than the
    one before.

    p: of the threshold after; q: of the one before
    """
    for r in range(BLOCK):
        misses = costs.miss * q + costs.miss_unit[r] * before[_MATED, r]
        if (
            misses + (costs.false_match * p + costs.false_match_unit[r] * after[_NONMATED, r])
            < best[r]
        ):
            return True
    return False


@part
def _walk(nonmated, mated, costs, start, sums, best):
    """Try thresholds from low to high, until a higher one can lower no replicate's cost.

    Thresholds some comparisons apart are tried first, and those between two of them only where one
    may cost less.

    nonmated, mated: each an `ErrorList`; costs: of `_costs_of`; start: position in the non-mated
    list; the first threshold rejects those from it on; sums: (3, 2, 64) int64, scratch, weights of
    errors at three thresholds; best: (64,) float64, out. Returns `_FOUND`, `_LOWER` where a
    threshold lower than the first may be better, or `_TOO_SHORT` where too few mated comparisons
    are kept.
    """
    x_keys, y_keys, weights, largest = nonmated.keys, mated.keys, nonmated.weights, nonmated.largest
    n, m = x_keys.size, y_keys.size
    first, here, ahead = sums[0], sums[1], sums[2]
    for r in range(BLOCK):
        best[r] = np.inf
        first[_NONMATED, r] = first[_MATED, r] = 0
    # Try thresholds just above non-mated scores: of all thresholds up to the next such score, they
    # have the least FNMR.
    first_p = _untied(x_keys, start)
    first_q = np.int64(0) if first_p == n else count_below(y_keys, ~x_keys[first_p] + 1)
    add_many_pairs(nonmated.a, nonmated.b, weights, largest, np.int64(0), first_p, first[_NONMATED])
    add_many_pairs(mated.a, mated.b, weights, largest, np.int64(0), first_q, first[_MATED])
    _copy(first, here)
    p, q = first_p, first_q
    while (q < m or m == mated.size) and _try(costs, p, q, here, best) and p > 0:
        target = _untied(x_keys, p - CHUNK if p > CHUNK else 0)
        q = _move(nonmated, mated, p, q, target, here)
        p = target
    _copy(first, here)
    p, q, one_by_one = first_p, first_q, first_p  # down to which thresholds are tried one by one
    while True:
        if q == m < mated.size:
            return _TOO_SHORT
        if not _try(costs, p, q, here, best) or p == 0:
            break
        if p <= one_by_one:
            target = _untied(x_keys, p - CHUNK if p > CHUNK else 0)
            _copy(here, ahead)
            after = _move(nonmated, mated, p, q, target, ahead)
            if (after < m or m == mated.size) and not _may_be_better(
                costs, target, q, here, ahead, best
            ):
                _copy(ahead, here)
                p, q = target, after
                continue
            one_by_one = target
        target = _untied(x_keys, p - 1)
        q = _move(nonmated, mated, p, q, target, here)
        p = target
    for r in range(BLOCK):
        if costs.false_match * first_p + costs.false_match_unit[r] * first[_NONMATED, r] < best[r]:
            return _LOWER
    return _FOUND


@jit_in_place
def least_costs(nonmated, mated, miss, false_match, estimates, sums, units, values):
    """Find the least of miss * FNMR + false_match * FMR of the first lists of both sides, in every
    replicate.

    nonmated, mated: each a `Side`; miss, false_match: the factors; estimates: (lists,) float64, the
    least costs without weights; sums: (3, 2, 64) int64, scratch; units: (2, 64) float64, scratch;
    values: (lists, 64) float64, out, NaN where a class has no weight. Returns whether lists reach
    far enough
    """
    for k in range(estimates.size):
        for r in range(BLOCK):
            values[k, r] = np.nan
        nonmated_list, mated_list = list_of(nonmated, k), list_of(mated, k)
        n, kept = nonmated_list.size, nonmated_list.keys.size
        if n == 0 or mated_list.size == 0:
            continue
        if kept == 0 or mated_list.keys.size == 0:
            return False
        # A threshold that rejects those from a position on is just above the first of them, which
        # must be known.
        last = kept if kept == n else kept - 1
        start = np.int64(1.5 * estimates[k] / false_match * n) + 32
        if last < start:
            start = last
        costs = _costs_of(nonmated_list, mated_list, miss, false_match, units)
        while True:
            found = _walk(nonmated_list, mated_list, costs, start, sums, values[k])
            if found == _TOO_SHORT or (found == _LOWER and start == last < n):
                return False
            if found == _FOUND or start == n:
                break
            start = last if last < 2 * start else 2 * start
        for r in range(BLOCK):
            if nonmated_list.totals[r] == 0 or mated_list.totals[r] == 0:
                values[k, r] = np.nan
    return True
