"""Weighted passes over sorted comparisons, 64 replicates at a time.

A side, mated or non-mated, comes as lists one behind the other: list 0 holds all its comparisons, the others those
of a group or of a pair of groups. Every list starts where errors start, the mated ones at the least similar score, the
non-mated ones at the most similar, and its keys ascend: those of non-mated scores are inverted (~key), so that at a
threshold key t the errors are the keys below t, or below -t. Few errors are a short pass.

A comparison's weight in a replicate is the product of two unit weights; comparisons of one unit have a row of ones for
the other. A share of errors is (1 - shrink) * unweighted share + shrink * weighted share.

Sums run in uint16, so that two registers hold 64 replicates, over as many comparisons as cannot overflow at the largest
weight drawn, and then move to int64.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .philox import LANES

CHUNK = 64  # comparisons between two stored sums
_STRIDE = 16 * CHUNK  # between two looks at shares that are far
NO_LIMIT = np.int64(-(2**63))  # stands for a threshold that a replicate does not have
_MOST = 2**16 - 1  # what a narrow sum holds


@jit
def largest_weight(weights):
    """Return the largest weight, at least 1. weights: (rows, 64) uint8."""
    largest = np.empty(LANES, np.uint8)
    for lane in range(LANES):
        largest[lane] = 1
    for row in range(weights.shape[0]):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], weights[row, lane])
    found = np.int64(1)
    for lane in range(LANES):
        found = max(found, np.int64(largest[lane]))
    return found


@jit
def add_pairs(a, b, weights, start, stop, sums):
    """Add the weights of some comparisons, no more than cannot overflow.

    a, b: (n,) int32 rows of weights; weights: (rows, 64) uint8; start, stop: the comparisons; sums: (64,) uint16, out
    """
    # Two at a time, as the sums are read and written each time.
    for p in range(start, stop - 1, 2):
        first, second, third, fourth = weights[a[p]], weights[b[p]], weights[a[p + 1]], weights[b[p + 1]]
        for lane in range(LANES):
            sums[lane] += np.uint16(first[lane]) * np.uint16(second[lane]) + np.uint16(third[lane]) * np.uint16(
                fourth[lane]
            )
    if (stop - start) % 2:
        first, second = weights[a[stop - 1]], weights[b[stop - 1]]
        for lane in range(LANES):
            sums[lane] += np.uint16(first[lane]) * np.uint16(second[lane])


@jit
def add_many_pairs(a, b, weights, largest, start, stop, totals):
    """Add the weights of any number of comparisons.

    a, b: (n,) int32 rows of weights; weights: (rows, 64) uint8; largest: the largest weight; start, stop: the
    comparisons; totals: (64,) int64, out
    """
    sums = np.empty(LANES, np.uint16)
    step = _MOST // (largest * largest)
    while start < stop:
        end = min(start + step, stop)
        for lane in range(LANES):
            sums[lane] = 0
        add_pairs(a, b, weights, start, end, sums)
        for lane in range(LANES):
            totals[lane] += sums[lane]
        start = end


@jit
def _weight(a, b, weights, p, lane):
    """Return the weight of one comparison in one replicate."""
    return np.int64(weights[a[p], lane]) * np.int64(weights[b[p], lane])


@jit
def _share(count, size, weight, total, shrink):
    """Return a share of errors. count of size comparisons, and their weight of the total, are errors."""
    return (1 - shrink) * (count / size) + shrink * (weight / total)


@jit
def total_weights(first, second, repeats, end, weights, largest, totals):
    """Sum the weights of all comparisons of each list, over distinct pairs of units.

    first, second: (pairs,) int32 rows of weights, sorted by first within each list; repeats: (pairs,) int32, how many
    comparisons a pair has; end: (lists,) int64, where each list's pairs end; weights: (rows, 64) uint8; largest: the
    largest weight; totals: (lists, 64) int64, out
    """
    of_one = np.empty(LANES, np.uint16)
    most = _MOST // largest
    pair = 0
    for k in range(end.size):
        total = totals[k]
        for lane in range(LANES):
            total[lane] = 0
        while pair < end[k]:
            row = first[pair]
            unit = weights[row]
            if repeats[pair] > most:
                many, weight = np.int64(repeats[pair]), weights[second[pair]]
                for lane in range(LANES):
                    total[lane] += many * np.int64(unit[lane]) * np.int64(weight[lane])
                pair += 1
                continue
            for lane in range(LANES):
                of_one[lane] = 0
            comparisons = np.int64(0)
            while pair < end[k] and first[pair] == row and comparisons + repeats[pair] <= most:
                times, weight = np.uint16(repeats[pair]), weights[second[pair]]
                for lane in range(LANES):
                    of_one[lane] += times * np.uint16(weight[lane])
                comparisons += repeats[pair]
                pair += 1
            for lane in range(LANES):
                total[lane] += np.int64(of_one[lane]) * np.int64(unit[lane])


@jit
def total_costs(first, second, costs, end, weights, totals):
    """Sum weight times cost over each list.

    first, second, end, weights: as above; costs: (pairs,) float64; totals: (lists, 64) float64, out
    """
    of_one = np.empty(LANES, np.float64)
    pair = 0
    for k in range(end.size):
        total = totals[k]
        total[:] = 0
        while pair < end[k]:
            unit = first[pair]
            of_one[:] = 0
            while pair < end[k] and first[pair] == unit:
                cost, weight = costs[pair], weights[second[pair]]
                for lane in range(LANES):
                    of_one[lane] += cost * weight[lane]
                pair += 1
            weight = weights[unit]
            for lane in range(LANES):
                total[lane] += of_one[lane] * weight[lane]


@jit
def _add(a, b, scale, weights, largest, start, stop, totals):
    """Add the weights of any number of comparisons, scaled or not.

    a, b, weights, largest, start, stop: as above; scale: as in `first_beyond`; totals: (64,) int64, float64 where there
    is a scale, out
    """
    if len(scale) == 0:
        add_many_pairs(a, b, weights, largest, start, stop, totals)
    else:
        for p in range(start, stop):
            times, first, second = _scale(a, b, scale, p), weights[a[p]], weights[b[p]]
            for lane in range(LANES):
                totals[lane] += times * np.float64(np.int32(first[lane]) * np.int32(second[lane]))


@jit
def _scale(a, b, scale, p):
    """Return what one comparison counts in the unweighted share."""
    if len(scale) == 0:
        return 1
    return scale[0][a[p]] * scale[1][b[p]]


@jit
def _sums(scale):
    """Make room for the sums of 64 replicates."""
    if len(scale) == 0:
        return np.zeros(LANES, np.int64)
    return np.zeros(LANES, np.float64)


@jit
def _resolve(a, b, scale, size, weights, total, shrink, share, start, stop, lane, count, weight):
    """Find the first of some comparisons at which a replicate's share of errors exceeds `share`; the last if none."""
    for p in range(start, stop):
        times = _scale(a, b, scale, p)
        count += times
        weight += times * _weight(a, b, weights, p, lane)
        if _share(count, size, weight, total, shrink) > share:
            return p
    return stop - 1


@jit
def first_beyond(a, b, scale, stored, size, weights, largest, totals, shrink, shares, positions):
    """Find where in a list the share of errors first exceeds each of some shares, in every replicate.

    a, b: (>= stored,) int32, list 0, of which the first `stored` comparisons are there; scale: (), or two (rows,)
    float64 arrays whose values at a and at b multiply to what a comparison counts; size: what all comparisons count;
    largest: the largest weight; totals: (64,) int64, float64 with a scale; shrink, shares: (points,), shares ascending;
    positions: (points, 64) int64, out, `stored` where no share is beyond, -1 where there is no weight
    """
    before, after = _sums(scale), _sums(scale)
    count_before = _sums(scale)[0]
    for lane in range(LANES):
        for point in range(shares.size):
            positions[point, lane] = stored if totals[lane] > 0 else -1
    first_open, start, near_until = 0, 0, 0
    while first_open < shares.size and start < stored:
        near = start < near_until
        stop = min(start + CHUNK, near_until) if near else min(start + _STRIDE, stored)
        _add(a, b, scale, weights, largest, start, stop, after)
        count = count_before
        for p in range(start, stop):
            count += _scale(a, b, scale, p)
        most = _largest_share(count / size, after, totals)
        if not near and most > shares[first_open]:  # so far only what holds the share is known
            near_until = stop
            for lane in range(LANES):
                after[lane] = before[lane]
            continue
        open_before = False
        for point in range(first_open, shares.size):
            if shares[point] >= most:
                break
            share, factor = shares[point], shrink[point]
            # Lanes at or below this share of their weight, rounding aside, need no closer look.
            least = (share - (1 - factor) * (count / size)) / factor * (1 - 1e-9) if factor > 0 else -1.0
            for lane in range(LANES):
                if positions[point, lane] != stored:
                    continue
                if (
                    after[lane] > least * totals[lane]
                    and _share(count, size, after[lane], totals[lane], factor) > share
                ):
                    positions[point, lane] = _resolve(
                        a, b, scale, size, weights, totals[lane], factor, share, start, stop, lane, count_before,
                        before[lane],
                    )  # fmt: skip
                else:
                    open_before = True
            if not open_before:
                first_open = point + 1
        for lane in range(LANES):
            before[lane] = after[lane]
        count_before, start = count, stop
        if near and start == near_until and first_open < shares.size and most > shares[first_open]:
            near_until = min(start + _STRIDE, stored)  # some lanes are beyond it, so others will be soon


@jit
def _largest_share(unweighted, sums, totals):
    """Bound the shares of errors of all replicates from above, whatever they are shrunk by."""
    most = unweighted
    for lane in range(LANES):
        if totals[lane] > 0:
            most = max(most, sums[lane] / totals[lane])
    return most * (1 + 1e-12)  # shares round


@jit
def _advance(keys, position, stop, limit):
    """Return how far the keys below a limit reach, galloping from a position before or at that."""
    step = 1
    low = position
    while position < stop and keys[position] < limit:
        low = position + 1
        position += step
        step *= 2
    high = min(position, stop)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def shares_at(keys, a, b, scale, end, sizes, weights, largest, totals, limits, order, shrink, shares):
    """Find the share of errors of every list at thresholds of every replicate's own, in one pass.

    keys, a, b: (n,) all lists; scale: as in `first_beyond`; end: (lists,) int64; sizes: (lists,) what all comparisons
    of each count; largest: the largest weight; totals: (lists, 64) int64, float64 with a scale; limits: (points, 64)
    int64, errors are the keys below; order: (points * 64,) int64 that sorts them; shrink: (lists, points) float64;
    shares: (points, lists, 64) float64, out, NaN where there is no limit or no weight
    """
    start = 0
    for k in range(end.size):
        running = _sums(scale)
        count = running[0]
        position = start
        for event in order:
            point, lane = event // LANES, event % LANES
            limit = limits[point, lane]
            if limit == NO_LIMIT or totals[k, lane] == 0:
                shares[point, k, lane] = np.nan
                continue
            stop = _advance(keys, position, end[k], limit)
            if stop > position:
                _add(a, b, scale, weights, largest, position, stop, running)
                if len(scale) == 0:
                    count += stop - position
                else:
                    for p in range(position, stop):
                        count += _scale(a, b, scale, p)
                position = stop
            shares[point, k, lane] = _share(count, sizes[k], running[lane], totals[k, lane], shrink[k, point])
        start = end[k]
