"""Part packed pairs of vectors by their keys: some are sorted, of others the sums of ranges of keys suffice.

A packed pair holds the distance of its key from the lowest one, and below it its two vectors, as `pairs.pack` combines
them. A cell is a range of keys that have the same upper bits; each belongs to one part.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

SORTED, LEFT_OUT = -1, -2  # parts of cells that are no ranges to sum over


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

    packed: (pairs,) int64; bits: below a cell, and of a vector; part: (cells,) int32, LEFT_OUT or the part; row: (n,)
    int32, that of each vector; counts: (parts, rows) float64, added to
    """
    shift, places = bits
    mask = (np.int64(1) << places) - 1
    for p in range(0, packed.size, step):
        k = part[packed[p] >> shift]
        if k >= 0:
            counts[k, row[(packed[p] >> places) & mask]] += 1
            counts[k, row[packed[p] & mask]] += 1


@jit
def count_parts(packed, bits, part, row, group, counts):
    """Count the pairs to sort, which is returned, and those of each smaller row of weights, range and list.

    packed, bits, row: as above; part: (cells,) int16, a range, SORTED or LEFT_OUT; group: (n,) int32, that of each
    vector: pairs inside group g are in list g + 1, others in list 0; counts: (rows, ranges, lists) int64, added to
    """
    shift, places = bits
    mask = (np.int64(1) << places) - 1
    n_sorted = np.int64(0)
    for p in range(packed.size):
        k = part[packed[p] >> shift]
        if k >= 0:
            i, j = (packed[p] >> places) & mask, packed[p] & mask
            of_list = group[i] + 1 if group[i] == group[j] else 0
            counts[min(row[i], row[j]), k, of_list] += 1
        else:
            n_sorted += np.int64(k == SORTED)
    return n_sorted


@jit
def scatter_parts(packed, bits, part, row, group, position, partner, out):
    """Write the pairs to sort, and of the others the larger row of weights, to the place for what `count_parts` counts.

    packed, bits, part, row, group: as above; position: (rows, ranges, lists) int64, where the next pair goes,
    overwritten; partner: (pairs of ranges,) uint16 or int32, out; out: (pairs to sort,) int64, out
    """
    shift, places = bits
    mask = (np.int64(1) << places) - 1
    n_sorted = 0
    for p in range(packed.size):
        k = part[packed[p] >> shift]
        if k >= 0:
            i, j = (packed[p] >> places) & mask, packed[p] & mask
            of_list = group[i] + 1 if group[i] == group[j] else 0
            low, high = min(row[i], row[j]), max(row[i], row[j])
            partner[position[low, k, of_list]] = high
            position[low, k, of_list] += 1
        elif k == SORTED:
            out[n_sorted] = packed[p]
            n_sorted += 1


@jit
def write_runs(counts, runs):
    """Write the runs of pairs: those of a row of weights together, and there those of a range, list by list.

    counts: (rows, ranges, lists) int64; runs: `partners.Runs`, out but for partners; their lists are numbered from 1,
    those of the first range first
    """
    n_rows, n_ranges, n_lists = counts.shape
    run, stop = 0, np.int64(0)
    for row in range(n_rows):
        for k in range(n_ranges):
            for of_list in range(n_lists):
                n = counts[row, k, of_list]
                if n > 0:
                    stop += n
                    runs.unit[run], runs.list[run], runs.stop[run] = row, 1 + k * n_lists + of_list, stop
                    run += 1
