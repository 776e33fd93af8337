"""Part packed pairs of vectors by their keys: some are sorted, of others the sums of ranges of keys
suffice.

A packed pair holds the distance of its key from the lowest one, and below it its two vectors, as
`pairs.pack` combines them. A cell is a range of keys that have the same upper bits; each belongs to
one part: to one of the ranges that are summed, numbered from 0, or to the pairs that are sorted,
which have the next number, or to those that are left out, which have the last one.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def count_cells(packed, shift, counts):
    """Count the pairs of each cell.

    packed: (pairs,) int64; shift: bits below a cell; counts: (cells,) int64, added to
    """
    for p in range(packed.size):
        counts[packed[p] >> shift] += 1


@jit
def count_rows(packed, step, bits, part, row, counts):
    """Count the pairs of each row of weights and part, among every `step`-th pair.

    packed: (pairs,) int64; bits: below a cell, and of a vector; part: (cells,) int32; row: (n,)
    int32, that of each vector; counts: (parts, rows) float64, added to; pairs of further parts are
    not counted
    """
    shift, places = bits
    mask = (np.int64(1) << places) - 1
    for p in range(0, packed.size, step):
        k = part[packed[p] >> shift]
        if k < counts.shape[0]:
            counts[k, row[(packed[p] >> places) & mask]] += 1
            counts[k, row[packed[p] & mask]] += 1


@jit
def count_parts(packed, bits, part, row, group, counts):
    """Count the pairs of each smaller row of weights, part and list, and move those that are left
    out to the end.

    Returns the number of the others, which keep their order; those left out are overwritten.

    packed, bits, row: as above; part: (cells,) int16; group: (n,) int32, that of each vector: pairs
    inside group g are in list g + 1, others in list 0; counts: (rows, ranges + 2, lists) int64,
    added to
    """
    shift, places = bits
    mask, left_out = (np.int64(1) << places) - 1, counts.shape[1] - 1
    n = np.int64(0)
    # without a branch, as the parts of one pair after another follow no rule
    for p in range(packed.size):
        pair = packed[p]
        k = part[pair >> shift]
        packed[n] = pair
        n += np.int64(k != left_out)
        i, j = (pair >> places) & mask, pair & mask
        of_list = group[i] + 1 if group[i] == group[j] else 0
        counts[min(row[i], row[j]), k, of_list] += 1
    return n


@jit
def scatter_parts(packed, bits, part, row, group, position, partner, out):
    """Write the pairs to sort, and of the others the larger row of weights, to the place for what
    `count_parts` counts.

    packed: (pairs,) int64, without those left out; bits, part, row, group: as above; position:
    (rows, ranges, lists) int64, where the next pair goes, overwritten; partner: (pairs of ranges,)
    uint16 or int32, out; out: (pairs to sort,) int64, out
    """
    shift, places = bits
    mask = (np.int64(1) << places) - 1
    n_lists, of_row = position.shape[2], position.shape[1] * position.shape[2]
    flat, n_ranges, n_sorted = position.ravel(), position.shape[1], 0
    for pair in packed:
        k = np.int64(part[pair >> shift])
        if k == n_ranges:
            out[n_sorted] = pair
            n_sorted += 1
            continue
        i, j = (pair >> places) & mask, pair & mask
        of_list = np.int64(group[i] + 1) * np.int64(group[i] == group[j])
        place = np.int64(min(row[i], row[j])) * of_row + k * n_lists + of_list
        at = flat[place]
        partner[at] = max(row[i], row[j])
        flat[place] = at + 1


@jit
def write_runs(counts, runs):
    """Write the runs of pairs: those of a row of weights together, and there those of a range, list
    by list.

    counts: (rows, ranges, lists) int64; runs: `partners.Runs`, out but for partners; their lists
    are numbered from 1, those of the first range first
    """
    n_rows, n_ranges, n_lists = counts.shape
    run, stop = 0, np.int64(0)
    for row in range(n_rows):
        for k in range(n_ranges):
            for of_list in range(n_lists):
                n = counts[row, k, of_list]
                if n > 0:
                    stop += n
                    runs.unit[run], runs.list[run], runs.stop[run] = (
                        row,
                        1 + k * n_lists + of_list,
                        stop,
                    )
                    run += 1
