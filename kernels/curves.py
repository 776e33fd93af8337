"""Compute the ROC, the EER, the least cost (minDCF) and the convex hull from sorted mated and
non-mated scores; and find positions in sorted lists by bisection, for other kernels, too.

Scores are integer keys (see `sorting`) of similarities, ascending; a threshold t accepts s >= t. All
arguments called scores are such keys. Counts are integers, so ties and comparisons of rates are
exact. sizes: m and n, the numbers of mated and of non-mated scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import helper, jit, jit_if_large
from .sorting import rearrange

# points collected before they become rates: three such buffers fit the first-level cache
_CHUNK = 1024
_ONE = np.uint64(1)  # positions are unsigned, so that no access tests for a negative index


def _roc_kernel(ascending: bool) -> Any:
    """Build the kernel for one direction; the direction is compiled in."""

    @jit
    def roc_from_split(mated, nonmated, i, j, magnitude, threshold, fmr, fnmr):
        """Write the ROC points at the distinct scores above (or below) a split of the scores.

        They are written from index i + j upwards (or downwards). Returns the index after the last
        one (or that of the first one).

        mated: (m,) keys; nonmated: (n,) keys; i, j: number of keys below the split, which may not
        divide equal scores; magnitude: all bits but the sign; threshold: (m + n + 1,) the bits of
        floats, out; fmr, fnmr: (m + n + 1,) float64, out
        """
        m, n = mated.size, nonmated.size
        value = np.empty(_CHUNK, mated.dtype)
        below_mated = np.empty(_CHUNK, np.int64)
        below_nonmated = np.empty(_CHUNK, np.int64)
        # Slots fill in the direction of the walk. The newest one is open, as more scores equal to
        # it may follow; it is the first of the next chunk. The very first one is the split itself,
        # with the key of a NaN, as no score has it.
        no_value = ~np.int64(magnitude)
        first = np.uint64(0 if ascending else _CHUNK - 1)
        value[first], below_mated[first], below_nonmated[first] = no_value, i, j
        point = i + j
        a, b = np.uint64(i), np.uint64(j)
        while True:
            remaining_mated = m - np.int64(a) if ascending else np.int64(a)
            remaining_nonmated = n - np.int64(b) if ascending else np.int64(b)
            if remaining_mated + remaining_nonmated == 0:
                break
            slot = first
            previous = value[slot]
            if remaining_mated > 0 and remaining_nonmated > 0:
                for _ in range(min(_CHUNK - 1, remaining_mated, remaining_nonmated)):
                    if ascending:
                        x, y = mated[a], nonmated[b]
                        a += np.uint64(x <= y)
                        b += np.uint64(y <= x)
                        nearest = min(x, y)
                    else:
                        x, y = mated[a - _ONE], nonmated[b - _ONE]
                        a -= np.uint64(x >= y)
                        b -= np.uint64(y >= x)
                        nearest = max(x, y)
                    moved = np.uint64(nearest != previous)
                    slot = slot + moved if ascending else slot - moved
                    previous = nearest
                    value[slot], below_mated[slot], below_nonmated[slot] = (
                        nearest,
                        np.int64(a),
                        np.int64(b),
                    )
            else:
                only_mated = remaining_mated > 0
                rest = mated if only_mated else nonmated
                c = a if only_mated else b
                for _ in range(min(_CHUNK - 1, remaining_mated + remaining_nonmated)):
                    nearest = rest[c] if ascending else rest[c - _ONE]
                    c = c + _ONE if ascending else c - _ONE
                    moved = np.uint64(nearest != previous)
                    slot = slot + moved if ascending else slot - moved
                    previous = nearest
                    value[slot] = nearest
                    below_mated[slot] = np.int64(c) if only_mated else np.int64(a)
                    below_nonmated[slot] = np.int64(b) if only_mated else np.int64(c)
                if only_mated:
                    a = c
                else:
                    b = c
            if ascending:
                # The scores below a threshold are those that the walk had passed before it came to
                # the threshold's.
                low, lag, size = np.int64(0), 1, np.int64(slot)
            else:
                low, lag = np.int64(slot) + 1, 0
                size = np.int64(first - slot) - np.int64(value[first] == no_value)
                point -= size
            out = threshold[point : point + size]
            passed = value[low + lag :]
            for k in range(out.size):
                out[k] = rearrange(passed[k], magnitude)
            rate = fmr[point : point + size]
            below = below_nonmated[low:]
            for k in range(rate.size):
                rate[k] = (n - below[k]) / n
            rate = fnmr[point : point + size]
            below = below_mated[low:]
            for k in range(rate.size):
                rate[k] = below[k] / m
            if ascending:
                point += size
            value[first], below_mated[first], below_nonmated[first] = (
                value[slot],
                below_mated[slot],
                below_nonmated[slot],
            )
        if not ascending and value[first] != no_value:
            point -= 1
            threshold[point] = rearrange(value[first], magnitude)
            fmr[point] = (n - below_nonmated[first]) / n
            fnmr[point] = below_mated[first] / m
        return point

    return roc_from_split


roc_above = _roc_kernel(ascending=True)
roc_below = _roc_kernel(ascending=False)


@helper
def count_below(scores, threshold):
    """Count the scores below a threshold by bisection. scores: (n,) keys, ascending; threshold: a
    key.
    """
    low, high = 0, scores.size
    while low < high:
        middle = (low + high) // 2
        if scores[middle] < threshold:
            low = middle + 1
        else:
            high = middle
    return low


@jit_if_large
def count_below_in_lists(scores, start, end, thresholds, counts):
    """Count the scores below thresholds in lists that lie one behind the other.

    scores: (n,) keys, ascending in each list; start, end: (lists,) int64; thresholds: (points, k)
    keys, of the first k lists; counts: (points, k) int64, out
    """
    for point in range(thresholds.shape[0]):
        for k in range(thresholds.shape[1]):
            counts[point, k] = count_below(scores[start[k] : end[k]], thresholds[point, k])


@jit
def middle(longer, shorter):
    """Find a key above about half of the scores in two lists. longer, shorter: keys, ascending."""
    half = (longer.size + shorter.size) // 2
    low, high = 0, longer.size - 1
    while low < high:
        position = (low + high) // 2
        if position + count_below(shorter, longer[position]) < half:
            low = position + 1
        else:
            high = position
    return longer[low]


@helper
def _excess(mated, nonmated, sizes, threshold):
    """Return (FMR - FNMR) at a threshold times both numbers of scores: an exact integer, which
    never rises with it.
    """
    m, n = sizes
    return (nonmated.size - count_below(nonmated, threshold)) * m - count_below(
        mated, threshold
    ) * n


@helper
def _first_without_excess(scores, mated, nonmated, sizes):
    """Find the first of `scores` at which FMR <= FNMR. All three: keys, ascending."""
    low, high = 0, scores.size
    while low < high:
        middle = (low + high) // 2
        if _excess(mated, nonmated, sizes, scores[middle]) > 0:
            low = middle + 1
        else:
            high = middle
    return low


@jit_if_large
def equal_error_bracket(mated, nonmated, sizes):
    """Find the neighbouring thresholds between which FMR - FNMR changes sign.

    mated: keys of the lowest of m scores; nonmated: keys of the highest of n scores; sizes: m and
    n. Returns the last score with FMR > FNMR and the mated and non-mated counts below it, then the
    first score with FMR <= FNMR with its counts; where no score has FMR <= FNMR the second score is
    returned equal to the first and its counts are (m, n), those of a threshold above all scores.
    Where no score below the second one is kept, the first one is not below it.
    """
    m, n = sizes
    beyond = n - nonmated.size
    i = _first_without_excess(mated, mated, nonmated, sizes)
    j = _first_without_excess(nonmated, mated, nonmated, sizes)
    if i < mated.size and (j == nonmated.size or mated[i] <= nonmated[j]):
        high = mated[i]
    elif j < nonmated.size:
        high = nonmated[j]
    else:
        low = max(mated[mated.size - 1], nonmated[nonmated.size - 1])
        return low, count_below(mated, low), beyond + count_below(nonmated, low), low, m, n
    i = count_below(mated, high)
    j = count_below(nonmated, high)
    # At the lowest score FMR - FNMR is 1 - 0, so some score lies below `high`.
    low = high
    if i > 0 and (j == 0 or mated[i - 1] >= nonmated[j - 1]):
        low = mated[i - 1]
    elif j > 0:
        low = nonmated[j - 1]
    return low, count_below(mated, low), beyond + count_below(nonmated, low), high, i, beyond + j


@jit_if_large
def least_cost(mated, nonmated, sizes, miss_cost, false_match_cost):
    """Find the lowest threshold that minimises miss_cost * FNMR + false_match_cost * FMR.

    mated: keys of the lowest of m scores; nonmated: keys of the highest of n scores; sizes: m and
    n. For a given FNMR the largest threshold has the least FMR, so only mated scores (and "above
    them all", index m) can be the answer. Returns the cost, the index into `mated` and the
    non-mated count below the threshold.
    """
    m, n = sizes
    best, best_index, best_below = miss_cost, m, n
    j = nonmated.size
    for i in range(mated.size - 1, -1, -1):
        if i > 0 and mated[i - 1] == mated[i]:
            continue
        while j > 0 and nonmated[j - 1] >= mated[i]:
            j -= 1
        cost = miss_cost * (i / m) + false_match_cost * ((nonmated.size - j) / n)
        if cost <= best:
            best, best_index, best_below = cost, i, n - nonmated.size + j
    return best, best_index, best_below


@jit_if_large
def convex_hull(mated, nonmated):
    """Find the vertices of the ROC's lower convex hull, from (all accepted) to (all rejected).

    mated: (m,) keys; nonmated: (n,) keys. Returns (h,) counts of false matches, falling, and (h,)
    counts of false non-matches, rising. Only thresholds at mated scores can be vertices between the
    ends.
    """
    m, n = mated.size, nonmated.size
    false_matches = np.empty(64, np.int64)
    false_nonmatches = np.empty(64, np.int64)
    false_matches[0], false_nonmatches[0] = n, 0
    size = 1
    j = 0
    for i in range(m + 1):
        if 0 < i < m and mated[i] == mated[i - 1]:
            continue
        if i == m:
            j = n
        else:
            while j < n and nonmated[j] < mated[i]:
                j += 1
        x, y = n - j, i
        while size > 1:
            x1, y1 = false_matches[size - 1], false_nonmatches[size - 1]
            x0, y0 = false_matches[size - 2], false_nonmatches[size - 2]
            if (x0 - x1) * (y - y1) > (x1 - x) * (y1 - y0):
                break  # the last vertex lies strictly below the line past it
            size -= 1
        if size == 1 and x == false_matches[0] and y == false_nonmatches[0]:
            continue
        if size == false_matches.size:
            false_matches = np.concatenate((false_matches, np.empty_like(false_matches)))
            false_nonmatches = np.concatenate((false_nonmatches, np.empty_like(false_nonmatches)))
        false_matches[size], false_nonmatches[size] = x, y
        size += 1
    return false_matches[:size], false_nonmatches[:size]
