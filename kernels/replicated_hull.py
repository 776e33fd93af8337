"""Compute min Cllr, or the EER, from the ROC's convex hull of each replicate.

Lists and weights are those of `sweep`. The hull's edges are the pools of the
pool-adjacent-violators algorithm, from the least similar scores on. Whatever the weights, a pool
ends only where a score with non-mated comparisons is followed by one with mated ones. The
comparisons between two such places are a block; their weights are summed once, and each replicate
then pools its blocks. Non-mated comparisons below all mated ones, and mated ones above all
non-mated ones, are pools of their own and belong to no block.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit, jit_if_large
from .philox import BLOCK
from .sweep import add_many_pairs, list_of

MIN_CLLR, EQUAL_ERROR = 0, 1


@jit_if_large
def find_blocks(mated, nonmated):
    """Find where each block begins, and where the last one ends.

    mated: (m,) keys, ascending; nonmated: (n,) inverted keys, ascending. Returns (blocks + 1,)
    int64 positions of the first mated comparison of each block, and (blocks + 1,) int64 counts of
    the non-mated ones at and above its score; both empty if there is no block.
    """
    m, n = mated.size, nonmated.size
    first, above = np.empty(min(m, n) + 1, np.int64), np.empty(min(m, n) + 1, np.int64)
    size = 0
    j = n
    for i in range(m):
        before = j
        while j > 0 and ~nonmated[j - 1] < mated[i]:
            j -= 1
        if i == 0 or j < before:
            first[size], above[size] = i, j
            size += 1
        if j == 0:
            break
    if j > 0:
        first[size], above[size] = m, 0
        size += 1
    return first[:size], above[:size]


@helper
def _push(pools, size, y, x):
    """Add a block to one replicate's pools, and merge pools until they are in order. Returns the
    number of pools.

    pools: (room, 2) float64, rising mated share; size: how many there are; y, x: mated and
    non-mated share
    """
    # Equal ones are merged, too: otherwise a block without weight would separate its neighbours.
    while size > 0 and pools[size - 1, 0] * x >= y * pools[size - 1, 1]:
        size -= 1
        y += pools[size, 0]
        x += pools[size, 1]
    pools[size, 0], pools[size, 1] = y, x
    return size + 1


@helper
def _copy_pools(pools, sizes, larger):
    """Copy each replicate's pools, element by element: an assignment of slices takes seconds to
    compile.

    pools: (64, room, 2) float64; sizes: (64,) int64; larger: (64, more room, 2) float64, out
    """
    for r in range(BLOCK):
        for k in range(sizes[r]):
            larger[r, k, 0], larger[r, k, 1] = pools[r, k, 0], pools[r, k, 1]


@helper
def _positive(n):
    """Return n, or 1 if it is 0."""
    return n if n > 0 else np.int64(1)


@helper
def _pool_blocks(nonmated, mated, first, above, pools, sizes):
    """Pool the blocks of one list in each replicate.

    nonmated, mated: each an `ErrorList`; first, above: (blocks + 1,) int64; pools: (64, room, 2)
    float64, scratch; sizes: (64,) int64, out. Returns the pools of each replicate as mated and
    non-mated share, in a larger array if they did not fit.
    """
    x_a, x_b, y_a, y_b, weights, largest = (
        nonmated.a,
        nonmated.b,
        mated.a,
        mated.b,
        nonmated.weights,
        nonmated.largest,
    )
    # The share that each comparison adds whatever its weight, and the share that a weight of one
    # adds.
    x_base, y_base = (
        (1 - nonmated.shrinkage) / _positive(x_a.size),
        (1 - mated.shrinkage) / _positive(y_a.size),
    )
    x_unit, y_unit = np.empty(BLOCK), np.empty(BLOCK)
    for r in range(BLOCK):
        x_unit[r] = nonmated.shrinkage / _positive(nonmated.totals[r])
        y_unit[r] = mated.shrinkage / _positive(mated.totals[r])
    x_sums, y_sums = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    x_open, y_open = np.zeros(BLOCK), np.zeros(BLOCK)
    x_closed, y_closed, closed = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.bool_)
    for r in range(BLOCK):
        sizes[r] = 0
    room = pools.shape[1]
    for block in range(first.size - 1):
        if room == 1:  # a block adds at most one pool, and the open pool is added last
            # in a loop: code with NumPy's max loads a part of numba that takes a third of a second
            deepest = 0
            for r in range(BLOCK):
                if sizes[r] > deepest:
                    deepest = sizes[r]
            if 2 * deepest > pools.shape[1]:
                larger = np.empty((BLOCK, 2 * pools.shape[1], 2))
                _copy_pools(pools, sizes, larger)
                pools = larger
            room = pools.shape[1] - deepest
        room -= 1
        for r in range(BLOCK):
            x_sums[r] = y_sums[r] = 0
        x_start, x_stop, y_start, y_stop = (
            above[block + 1],
            above[block],
            first[block],
            first[block + 1],
        )
        add_many_pairs(x_a, x_b, weights, largest, x_start, x_stop, x_sums)
        add_many_pairs(y_a, y_b, weights, largest, y_start, y_stop, y_sums)
        x_part, y_part = x_base * (x_stop - x_start), y_base * (y_stop - y_start)
        # Blocks are merged into the open pool, in all replicates at once, until a block is in order
        # with it.
        for r in range(BLOCK):
            x = x_part + x_unit[r] * x_sums[r]
            y = y_part + y_unit[r] * y_sums[r]
            after = y_open[r] * x < y * x_open[r]
            closed[r], y_closed[r], x_closed[r] = after, y_open[r], x_open[r]
            y_open[r] = y + (0.0 if after else y_open[r])
            x_open[r] = x + (0.0 if after else x_open[r])
        for r in range(BLOCK):
            if closed[r]:
                sizes[r] = _push(pools[r], sizes[r], y_closed[r], x_closed[r])
    for r in range(BLOCK):
        sizes[r] = _push(pools[r], sizes[r], y_open[r], x_open[r])
    return pools


@helper
def _min_cllr(pools):
    """Return min Cllr in bits. pools: (pools, 2) float64, mated and non-mated share."""
    loss = 0.0
    for k in range(pools.shape[0]):
        y, x = pools[k]
        if y > 0 and x > 0:  # a pool of one class only adds no loss
            loss += y * np.log2(1 + x / y) + x * np.log2(1 + y / x)
    return loss / 2


@helper
def _equal_error(pools):
    """Return where FMR and FNMR meet on the hull. pools: (pools, 2) float64, mated and non-mated
    share.
    """
    fmr, fnmr = 0.0, 0.0
    for k in range(pools.shape[0]):
        fmr += pools[k, 1]
    for k in range(pools.shape[0]):
        y, x = pools[k]
        if x + y > 0 and fmr - x <= fnmr + y:
            share = (fmr - fnmr) / (x + y)
            return fmr - share * x
        fmr -= x
        fnmr += y
    return 0.0


@jit
def hull_figures(nonmated, mated, first, above, block_end, what, values):
    """Compute one number for each of the first lists of both sides, overall and the groups, in each
    replicate.

    nonmated, mated: each a `Side`; first, above: of `find_blocks`, of all lists; block_end:
    (lists,) int64; what: MIN_CLLR or EQUAL_ERROR; values: (lists, 64) float64, out, NaN where a
    class has no weight
    """
    pools = np.empty((BLOCK, 64, 2))
    sizes = np.empty(BLOCK, np.int64)
    start = np.int64(0)
    for k in range(block_end.size):
        nonmated_list, mated_list, stop = list_of(nonmated, k), list_of(mated, k), block_end[k]
        pools = _pool_blocks(
            nonmated_list, mated_list, first[start:stop], above[start:stop], pools, sizes
        )
        start = stop
        for r in range(BLOCK):
            if nonmated_list.totals[r] == 0 or mated_list.totals[r] == 0:
                values[k, r] = np.nan
            elif what == MIN_CLLR:
                values[k, r] = _min_cllr(pools[r, : sizes[r]])
            else:
                values[k, r] = _equal_error(pools[r, : sizes[r]])
