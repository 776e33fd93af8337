"""Compute the equal error rate of each replicate, from sums stored for the range in which it can
lie.

Lists and weights are those of `sweep`: both begin with the errors. For a position p in the
non-mated list, with the score k, let D(p) be the share of non-mated up to and including p minus the
share of mated below k. D never falls, so the place where it becomes positive is found by bisection
over stored sums, and then comparison by comparison inside the chunk.

In names x stands for non-mated and y for mated, as on the axes of an ROC; p and q are positions in
these lists, r is a replicate; ranges of chunks end before `last`.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit_in_place
from .curves import count_below
from .philox import BLOCK
from .sweep import CHUNK, NO_LIMIT, _share, _weight, add_many_pairs, list_of

NEAREST, NEAREST_MAX, INTERPOLATED = 0, 1, 2
FOUND, MORE_SUMS, MORE_KEPT = 0, 1, 2


@helper
def _end_of_chunk(chunk, kept):
    """Return where a chunk ends of as many comparisons as are kept."""
    return (chunk + 1) * CHUNK if (chunk + 1) * CHUNK < kept else kept


@helper
def store_sums(nonmated, mated, first, last, start, sums, x_sums, y_sums):
    """Store the sums of weights at the end of each of some chunks of non-mated comparisons.

    nonmated, mated: each an `ErrorList`; first, last: the chunks, without the last; start: a
    non-mated comparison, at or before the first chunk's beginning; sums: (2, 64) int64, the weight
    of the non-mated before `start`, out: up to the chunks' end, and scratch; x_sums, y_sums: (last
    - first, 64) int64, out: weight of the non-mated up to the end of each, and of the mated below
    the score there
    """
    x_keys, x_a, x_b, y_keys, y_a, y_b = (
        nonmated.keys,
        nonmated.a,
        nonmated.b,
        mated.keys,
        mated.a,
        mated.b,
    )
    weights, largest, before, total = nonmated.weights, nonmated.largest, sums[0], sums[1]
    for chunk in range(first, last):
        stop = _end_of_chunk(chunk, x_keys.size)
        add_many_pairs(x_a, x_b, weights, largest, start, stop, before)
        start = stop
        for r in range(BLOCK):
            x_sums[chunk - first, r] = before[r]
    for r in range(BLOCK):
        total[r] = 0
    position = np.int64(0)
    for chunk in range(last - 1, first - 1, -1):
        score = ~x_keys[_end_of_chunk(chunk, x_keys.size) - 1]
        stop = count_below(y_keys, score)
        add_many_pairs(y_a, y_b, weights, largest, position, stop, total)
        position = stop
        for r in range(BLOCK):
            y_sums[chunk - first, r] = total[r]


@helper
def _next_with_weight(errors, position, step, stop, r):
    """Find the next comparison with weight in replicate r, from `position` on by `step`; `stop` if
    there is none.
    """
    a, b, weights, all_count = errors.a, errors.b, errors.weights, errors.shrinkage < 1
    while position != stop and not all_count and _weight(a, b, weights, position, r) == 0:
        position += step
    return position


@helper
def _of_one_replicate(nonmated, mated, first, last, x_sums, y_sums, method, r):
    """Return three numbers of replicate r: a status, the EER, and its threshold's key.

    The status is FOUND, MORE_SUMS where sums of further chunks are needed, or MORE_KEPT where the
    lists are too short. method: NEAREST, NEAREST_MAX or INTERPOLATED; other arguments are as in
    `store_sums`. Lists that are not complete end before their last comparison.
    """
    x_keys, x_a, x_b, y_keys, y_a, y_b = (
        nonmated.keys,
        nonmated.a,
        nonmated.b,
        mated.keys,
        mated.a,
        mated.b,
    )
    x_total, y_total, weights = nonmated.totals[r], mated.totals[r], nonmated.weights
    x_shrinkage, y_shrinkage = nonmated.shrinkage, mated.shrinkage
    n, m, x_kept, y_kept = nonmated.size, mated.size, x_keys.size, y_keys.size
    low, high = first, last
    while low < high:
        chunk = (low + high) // 2
        end = _end_of_chunk(chunk, x_kept)
        below = count_below(y_keys, ~x_keys[end - 1])
        x_share = _share(end, n, x_sums[chunk - first, r], x_total, x_shrinkage)
        if x_share > _share(below, m, y_sums[chunk - first, r], y_total, y_shrinkage):
            high = chunk
        else:
            low = chunk + 1
    if low == last and last * CHUNK < x_kept:
        return MORE_SUMS, np.nan, NO_LIMIT
    if low == last and x_kept < n:
        return MORE_KEPT, np.nan, NO_LIMIT
    if low == last:
        # All mated scores lie below all non-mated ones: at the lowest score FMR is 1 and FNMR 0.
        p, q, x_weight, y_weight = n, 0, x_total, np.int64(0)
        at_or_above = 1.0
        key, fmr_low, fnmr_low = NO_LIMIT, 1.0, 0.0
    else:
        p = _end_of_chunk(low, x_kept) - 1
        q = count_below(y_keys, ~x_keys[p])
        x_weight, y_weight = x_sums[low - first, r], y_sums[low - first, r]
        # Go back to the first position at which the share of non-mated exceeds that of mated below.
        while p > 0:
            x_before = x_weight - _weight(x_a, x_b, weights, p, r)
            above, y_before = q, y_weight
            score = ~x_keys[p - 1]
            while above < y_kept and y_keys[above] < score:
                y_before += _weight(y_a, y_b, weights, above, r)
                above += 1
            if above == y_kept and y_kept < m:
                return MORE_KEPT, np.nan, NO_LIMIT
            if _share(p, n, x_before, x_total, x_shrinkage) <= _share(
                above, m, y_before, y_total, y_shrinkage
            ):
                break
            p, q, x_weight, y_weight = p - 1, above, x_before, y_before
        key = np.int64(~x_keys[p])
        tie_end, tie_weight = p + 1, x_weight
        while tie_end < x_kept and x_keys[tie_end] == x_keys[p]:
            tie_weight += _weight(x_a, x_b, weights, tie_end, r)
            tie_end += 1
        if tie_end == x_kept and x_kept < n:
            return MORE_KEPT, np.nan, NO_LIMIT
        fmr_low = _share(tie_end, n, tie_weight, x_total, x_shrinkage)
        fnmr_low = _share(q, m, y_weight, y_total, y_shrinkage)
        while p >= 0 and ~x_keys[p] == key:
            x_weight -= _weight(x_a, x_b, weights, p, r)
            p -= 1
        p += 1
        at_or_above = _share(p, n, x_weight, x_total, x_shrinkage)
        while q < y_kept and y_keys[q] == key:
            y_weight += _weight(y_a, y_b, weights, q, r)
            q += 1
    # Just above `key` the FMR is `at_or_above` and stays so up to the next non-mated score; the
    # FNMR rises meanwhile.
    fmr_high, fnmr_high = at_or_above, _share(q, m, y_weight, y_total, y_shrinkage)
    while fnmr_high < fmr_high and q < y_kept:
        key, fmr_low, fnmr_low = np.int64(y_keys[q]), fmr_high, fnmr_high
        while q < y_kept and y_keys[q] == key:
            y_weight += _weight(y_a, y_b, weights, q, r)
            q += 1
        fnmr_high = _share(q, m, y_weight, y_total, y_shrinkage)
    excess, lack = fmr_low - fnmr_low, fnmr_high - fmr_high
    if method == INTERPOLATED:
        value = fmr_low + excess / (excess + lack) * (fmr_high - fmr_low)
    else:
        fmr, fnmr = (fmr_low, fnmr_low) if excess <= lack else (fmr_high, fnmr_high)
        larger = fnmr if fnmr > fmr else fmr
        value = larger if method == NEAREST_MAX else (fmr + fnmr) / 2
    if excess > lack:
        q = _next_with_weight(mated, q, np.int64(1), y_kept, r)
        p = _next_with_weight(nonmated, p - 1, np.int64(-1), np.int64(-1), r)
        last_y, last_x = np.int64(y_keys[y_kept - 1]), np.int64(~x_keys[0])
        above_all = (last_x if last_x > last_y else last_y) + 1
        next_y = np.int64(y_keys[q]) if q < y_kept else above_all
        next_x = np.int64(~x_keys[p]) if p >= 0 else above_all
        key = next_x if next_x < next_y else next_y
    # what ended at the last mated score that is kept may go on behind it
    if q == y_kept and y_kept < m:
        return MORE_KEPT, np.nan, NO_LIMIT
    return FOUND, value, key


@jit_in_place
def equal_error_rates(nonmated, mated, guesses, method, sums, scratch, values, keys):
    """Find the EER of the first lists of both sides, overall and the groups, in every replicate.

    nonmated, mated: each a `Side`; guesses: (lists,) int64, about where in the non-mated list the
    EER lies; sums: (2, chunks of the longest list, 64) int64, scratch; scratch: (3, 64) int64;
    values: (lists, 64) float64, out, NaN where a class has no weight; keys: (lists, 64) int64, out,
    thresholds. Returns whether the comparisons that are kept reach far enough.
    """
    is_open, x_sums, y_sums = scratch[2], sums[0], sums[1]
    for k in range(guesses.size):
        nonmated_list, mated_list = list_of(nonmated, k), list_of(mated, k)
        n_open = 0
        for r in range(BLOCK):
            is_open[r] = nonmated_list.totals[r] > 0 and mated_list.totals[r] > 0
            n_open += is_open[r]
            values[k, r], keys[k, r] = np.nan, NO_LIMIT
        if n_open == 0:
            continue
        n_chunks = (nonmated_list.keys.size + CHUNK - 1) // CHUNK
        # Replicates vary by the square root of their errors, and more if comparisons share
        # subjects.
        spread = 8 * np.sqrt(guesses[k] + 1.0) + 0.3 * guesses[k]
        first, last = (
            np.int64((guesses[k] - spread) / CHUNK),
            np.int64((guesses[k] + spread) / CHUNK) + 1,
        )
        if first < 0:
            first = np.int64(0)
        if n_chunks < last:
            last = n_chunks
        if first >= n_chunks:
            return False
        if mated_list.keys.size < mated_list.size:
            # Sums are stored of the mated below the score that ends the first chunk.
            score = ~nonmated_list.keys[_end_of_chunk(first, nonmated_list.keys.size) - 1]
            if count_below(mated_list.keys, score) == mated_list.keys.size:
                return False
        for r in range(BLOCK):
            scratch[0, r] = 0
        start = np.int64(0)
        while n_open > 0:
            store_sums(nonmated_list, mated_list, first, last, start, scratch, x_sums, y_sums)
            for r in range(BLOCK):
                if is_open[r]:
                    found, values[k, r], keys[k, r] = _of_one_replicate(
                        nonmated_list, mated_list, first, last, x_sums, y_sums, method, r
                    )
                    if found == MORE_KEPT:
                        return False
                    is_open[r] = found != FOUND
                    n_open -= found == FOUND
            # Those that are open have theirs in later chunks.
            start = last * CHUNK
            first, last = last, 2 * last + 1 if 2 * last + 1 < n_chunks else n_chunks
    return True
