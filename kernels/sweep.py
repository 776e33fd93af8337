"""Compute weighted shares of errors from sorted comparisons, for 64 replicates at once.

A side, mated or non-mated, is given as several lists, one behind the other: list 0 holds all its
comparisons, the others those of a group or of a pair of groups. Each list begins with the errors:
mated lists with the least similar score, non-mated lists with the most similar one. Keys ascend, as
those of non-mated scores are inverted (~key); at a threshold with the key t the errors are the
mated keys below t, and the inverted non-mated keys below -t. So a low rate needs only the beginning
of a list.

A comparison's weight in a replicate is the product of two unit weights; if it depends on one unit
only, the other weight is from a row of ones. A share of errors is (1 - shrinkage) * unweighted
share + shrinkage * weighted share.

Weights are summed in uint16 (`pair_sums`), over so few comparisons that they cannot overflow, and
then added to sums in int64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit_in_place, part
from .pair_sums import add_pairs
from .philox import BLOCK

CHUNK = 64  # comparisons between two stored sums
_STRIDE = 16 * CHUNK  # comparisons between two checks while shares are far from those wanted
INSIDE_RANGE = -2  # position of a threshold whose comparison is not in the list
NO_LIMIT = np.int64(-(2**63))  # key for a threshold that a replicate does not have
_MOST = 2**16 - 1  # the largest sum in uint16


class Side(NamedTuple):
    """All lists of one class, mated or non-mated, and the weights of their comparisons in 64
    replicates.
    """

    keys: NDArray[Any]  # (n,) int32 or int64, all lists one behind the other
    a: NDArray[np.int32]  # (n,) row of the first unit's weights
    b: NDArray[np.int32]  # (n,) row of the second unit's weights
    scale: tuple[
        Any, ...
    ]  # (), or two (rows,) float64, whose values at a and b multiply to a comparison's count
    end: NDArray[np.int64]  # (lists,) where each list ends
    sizes: NDArray[
        Any
    ]  # (lists,) count of all comparisons of each list, including those left out of `keys`
    weights: NDArray[np.uint8]  # (rows, 64)
    largest: int  # the largest weight
    totals: NDArray[Any]  # (lists, 64) int64 or float64: weight of all comparisons of each list
    shrinkage: NDArray[np.float64]  # (lists,), or (lists, points)

    def first(self, points: NDArray[np.intp] | slice) -> ErrorList:
        """Return list 0 with its shrinkage at some points."""
        stop, shrinkage = self.end[0], self.shrinkage[0, points]
        keys, a, b = self.keys[:stop], self.a[:stop], self.b[:stop]
        size, totals = self.sizes[0], self.totals[0]
        return ErrorList(
            keys, a, b, self.scale, size, self.weights, self.largest, totals, shrinkage
        )


class Summed(NamedTuple):
    """Ranges of keys whose comparisons are not in the lists, as their sums suffice; without a
    scale, if any.
    """

    key: NDArray[
        np.int64
    ]  # (ranges,) ascending; a range's keys are below it, those of the list's next comparison not
    counts: NDArray[np.int64]  # (lists, ranges) number of comparisons
    weights: NDArray[np.int64]  # (lists, ranges, 64) their weights


NONE_SUMMED = Summed(
    np.empty(0, np.int64), np.empty((1, 0), np.int64), np.empty((1, 0, BLOCK), np.int64)
)


class ErrorList(NamedTuple):
    """One list of a side."""

    keys: NDArray[Any]  # (n,)
    a: NDArray[np.int32]  # (n,)
    b: NDArray[np.int32]  # (n,)
    scale: tuple[Any, ...]  # as in `Side`
    size: Any  # count of all its comparisons
    weights: NDArray[np.uint8]  # (rows, 64)
    largest: int
    totals: NDArray[Any]  # (64,)
    shrinkage: Any  # a number, or (points,) float64


def new_sums(errors: Side | ErrorList) -> NDArray[Any]:
    """Return (2, 64) scratch for sums of weights, scaled or not."""
    return np.empty((2, BLOCK), np.float64 if errors.scale else np.int64)


@helper
def list_of(side, k):
    """Return list k of a `Side` with one shrinkage for each list."""
    start, stop = side.end[k - 1] if k > 0 else 0, side.end[k]
    return ErrorList(
        side.keys[start:stop],
        side.a[start:stop],
        side.b[start:stop],
        side.scale,
        side.sizes[k],
        side.weights,
        side.largest,
        side.totals[k],
        side.shrinkage[k],
    )


@helper
def add_many_pairs(a, b, weights, largest, start, stop, totals):
    """Add the weights of any number of comparisons.

    a, b: (n,) int32 rows of weights; weights: (rows, 64) uint8; largest: the largest weight; start,
    stop: the comparisons; totals: (64,) int64, out
    """
    step = _MOST // (largest * largest)
    while start < stop:
        end = start + step if start + step < stop else stop
        add_pairs(a, b, weights, start, end, totals)
        start = end


@helper
def _weight(a, b, weights, p, r):
    """Return the weight of comparison p in replicate r. a, b, weights: as above."""
    return np.int64(weights[a[p], r]) * np.int64(weights[b[p], r])


@helper
def _share(count, size, weight, total, shrinkage):
    """Return a share of errors: the mean, by shrinkage, of count / size and weight / total."""
    return (1 - shrinkage) * (count / size) + shrinkage * (weight / total)


@helper
def _add(a, b, scale, weights, largest, start, stop, totals):
    """Add the weights of any number of comparisons, scaled or not.

    a, b, weights, largest, start, stop: as above; scale: as in `Side`; totals: (64,) int64, float64
    where there is a scale, out
    """
    if len(scale) == 0:
        add_many_pairs(a, b, weights, largest, start, stop, totals)
    else:
        for p in range(start, stop):
            times, first, second = _scale(a, b, scale, p), weights[a[p]], weights[b[p]]
            for r in range(BLOCK):
                totals[r] += times * np.float64(np.int32(first[r]) * np.int32(second[r]))


@helper
def _scale(a, b, scale, p):
    """Return the count of comparison p in the unweighted share: 1, or its scale."""
    if len(scale) == 0:
        return 1
    return scale[0][a[p]] * scale[1][b[p]]


@helper
def _count(a, b, scale, start, stop, count):
    """Return `count` plus the counts of comparisons start to stop in the unweighted share."""
    if len(scale) == 0:
        return count + (stop - start)
    for p in range(start, stop):
        count += _scale(a, b, scale, p)
    return count


@part
def _resolve(errors, point, share, start, stop, r, count, weight):
    """Find the first comparison of start to stop at which replicate r's share of errors exceeds
    `share`, or the last.

    errors: an `ErrorList`; point: the one whose shrinkage applies; count, weight: sums over
    comparisons before start
    """
    a, b, scale, size, weights = errors.a, errors.b, errors.scale, errors.size, errors.weights
    total, shrinkage = errors.totals[r], errors.shrinkage[point]
    for p in range(start, stop):
        times = _scale(a, b, scale, p)
        count += times
        weight += times * _weight(a, b, weights, p, r)
        if _share(count, size, weight, total, shrinkage) > share:
            return p
    return stop - 1


@part
def _pass_range(errors, summed, k, shares, first_open, count_before, before, positions):
    """Add the sums of range k to those before it, and mark the replicates that exceed a share
    inside it.

    errors, summed, shares, positions: as in `first_beyond`; first_open: the first share that some
    replicate has not exceeded; count_before, before: sums, of which (64,) `before` is added to.
    Returns the new count
    """
    count = count_before + summed.counts[0, k]
    for r in range(BLOCK):
        before[r] += summed.weights[0, k, r]
    most = _largest_share(count / errors.size, before, errors.totals)
    for point in range(first_open, shares.size):
        if shares[point] >= most:
            break
        for r in range(BLOCK):
            if positions[point, r] == errors.a.size:
                share = _share(
                    count, errors.size, before[r], errors.totals[r], errors.shrinkage[point]
                )
                if share > shares[point]:
                    positions[point, r] = INSIDE_RANGE
    return count


@jit_in_place
def first_beyond(errors, summed, shares, sums, positions):
    """Find where in a list the share of errors first exceeds each given share, in each replicate.

    errors: an `ErrorList`, whose shrinkage is that of each share; summed: `Summed`, of which list 0
    counts; shares: (points,), ascending; sums: of `new_sums`, scratch; positions:
    (points, 64) int64, out: the length of the list if the share is not exceeded up to its end, -1
    if the replicate has no weight, INSIDE_RANGE if the share is exceeded inside a range that is
    summed
    """
    a, b, scale, size = errors.a, errors.b, errors.scale, errors.size
    weights, largest, totals, shrinkage = (
        errors.weights,
        errors.largest,
        errors.totals,
        errors.shrinkage,
    )
    stored = a.size
    before, after = sums[0], sums[1]
    for r in range(BLOCK):
        before[r] = after[r] = 0
    count_before = before[0]
    for r in range(BLOCK):
        for point in range(shares.size):
            positions[point, r] = stored if totals[r] > 0 else -1
    first_open, start, near_until = 0, 0, 0
    n_passed, known = 0, stored  # comparisons before `known` follow without a range between them
    if summed.key.size > 0:
        known = _advance(errors.keys, start, stored, summed.key[0])
    while first_open < shares.size and start < stored:
        while n_passed < summed.key.size and start == known:
            count_before = _pass_range(
                errors, summed, n_passed, shares, first_open, count_before, before, positions
            )
            for r in range(BLOCK):
                after[r] = before[r]
            n_passed += 1
            known = stored
            if n_passed < summed.key.size:
                known = _advance(errors.keys, start, stored, summed.key[n_passed])
        if start == stored:
            break
        near = start < near_until
        stop, most_until = (start + CHUNK, near_until) if near else (start + _STRIDE, known)
        if most_until < stop:
            stop = most_until
        _add(a, b, scale, weights, largest, start, stop, after)
        count = _count(a, b, scale, start, stop, count_before)
        most = _largest_share(count / size, after, totals)
        if (
            not near and most > shares[first_open]
        ):  # exceeded somewhere in the stride: go through it by chunks
            near_until = stop
            for r in range(BLOCK):
                after[r] = before[r]
            continue
        open_before = False
        for point in range(first_open, shares.size):
            if shares[point] >= most:
                break
            share, factor = shares[point], shrinkage[point]
            # Replicates whose weighted share is at or below this one need no exact check; the
            # factor allows for rounding.
            least = (
                (share - (1 - factor) * (count / size)) / factor * (1 - 1e-9)
                if factor > 0
                else -1.0
            )
            for r in range(BLOCK):
                if positions[point, r] != stored:
                    continue
                if (
                    after[r] > least * totals[r]
                    and _share(count, size, after[r], totals[r], factor) > share
                ):
                    positions[point, r] = _resolve(
                        errors, point, share, start, stop, r, count_before, before[r]
                    )
                else:
                    open_before = True
            if not open_before:
                first_open = point + 1
        for r in range(BLOCK):
            before[r] = after[r]
        count_before, start = count, stop
        if near and start == near_until and first_open < shares.size and most > shares[first_open]:
            # Some replicates exceed the share, so others soon will.
            near_until = start + _STRIDE if start + _STRIDE < known else known


@helper
def _largest_share(unweighted, sums, totals):
    """Return an upper bound of the shares of errors of all replicates, for any shrinkage."""
    most = unweighted
    for r in range(BLOCK):
        if totals[r] > 0 and sums[r] / totals[r] > most:
            most = sums[r] / totals[r]
    return most * (1 + 1e-12)  # allows for rounding


@helper
def _advance(keys, position, stop, limit):
    """Return the position of the first key at or above `limit`, searched from `position` in
    doubling steps.
    """
    step = 1
    low = position
    while position < stop and keys[position] < limit:
        low = position + 1
        position += step
        step *= 2
    high = position if position < stop else stop
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@jit_in_place
def shares_at(side, summed, limits, order, sums, shares):
    """Find the share of errors of each list at each replicate's own thresholds, in one pass.

    side: a `Side`, with a shrinkage for each point; summed: `Summed`, inside of whose ranges no
    limit lies; limits: (points, 64) int64: the keys below are errors; order: (points * 64,) int64
    that sorts them; sums: of `new_sums`, scratch; shares: (points, k, 64) float64,
    out, of the last k lists, NaN where there is no limit or no weight
    """
    keys, a, b, scale, end, sizes = side.keys, side.a, side.b, side.scale, side.end, side.sizes
    weights, largest, totals, shrinkage = side.weights, side.largest, side.totals, side.shrinkage
    first_list = end.size - shares.shape[1]
    start = end[first_list - 1] if first_list > 0 else np.int64(0)
    running = sums[0]
    for k in range(first_list, end.size):
        for r in range(BLOCK):
            running[r] = 0
        count = running[0]
        position, n_passed = start, np.int64(0)
        for event in order:
            point, r = event // BLOCK, event % BLOCK
            limit = limits[point, r]
            if limit == NO_LIMIT or totals[k, r] == 0:
                shares[point, k - first_list, r] = np.nan
                continue
            while n_passed < summed.key.size and summed.key[n_passed] <= limit:
                count += summed.counts[k, n_passed]
                for other in range(BLOCK):
                    running[other] += summed.weights[k, n_passed, other]
                n_passed += 1
            stop = _advance(keys, position, end[k], limit)
            if stop > position:
                _add(a, b, scale, weights, largest, position, stop, running)
                count = _count(a, b, scale, position, stop, count)
                position = stop
            shares[point, k - first_list, r] = _share(
                count, sizes[k], running[r], totals[k, r], shrinkage[k, point]
            )
        start = end[k]
