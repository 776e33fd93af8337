"""Pairs of vectors out of similarity panels: all mated ones, and the non-mated ones at or above a bound.

Vectors are sorted by group and subject, so that of row i the columns i + 1 to subject_end[i] are mated and those from
there on non-mated. A panel holds the similarities of some rows with some columns; rows and columns beyond the last
vector are padding. Pairs (i, j) have i < j.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

_SIDE_BY_SIDE = 32  # similarities that are compared with the bound at once


@jit
def take_mated(panel, first_row, first_column, subject_end, offset, mated):
    """Keep the mated pairs of a panel.

    panel: (rows, columns) similarities; first_row, first_column: the vectors it begins with; subject_end: (n,) int64;
    offset: (n,) int64, where the mated pairs of a row begin; mated: (pairs,) similarities, out
    """
    n = subject_end.size
    for r in range(min(panel.shape[0], n - first_row)):
        i = first_row + r
        stop = min(subject_end[i], first_column + panel.shape[1])
        for j in range(max(i + 1, first_column), stop):
            mated[offset[i] + j - i - 1] = panel[r, j - first_column]


@jit
def take_nonmated(panel, first_row, first_column, subject_end, bound, found, first, second):
    """Keep the non-mated pairs of a panel that reach a bound, row by row, and return how many they are.

    panel, first_row, first_column, subject_end: as above; found, first, second: (rows * columns + 1,) similarities and
    int32 vectors of each pair, out
    """
    n = subject_end.size
    count = 0
    columns = min(panel.shape[1], n - first_column)
    for r in range(min(panel.shape[0], n - first_row)):
        i = first_row + r
        row = panel[r]
        start = max(0, subject_end[i] - first_column)
        while start < columns:
            stop = min(start + _SIDE_BY_SIDE, columns)
            reach = np.int32(0)
            for c in range(start, stop):
                reach += np.int32(row[c] >= bound)
            if reach > 0:
                for c in range(start, stop):  # written anyway and kept by counting on, as a branch would be guessed
                    found[count] = row[c]
                    first[count] = i
                    second[count] = first_column + c
                    count += np.int64(row[c] >= bound)
            start = stop
    return count


@jit
def distances(vectors, first, second, out):
    """Compute negative Euclidean distances. vectors: (n, d); first, second: (pairs,) int32; out: (pairs,) float64."""
    for p in range(first.size):
        a, b = vectors[first[p]], vectors[second[p]]
        total = 0.0
        for k in range(a.size):
            difference = np.float64(a[k]) - np.float64(b[k])
            total += difference * difference
        out[p] = -np.sqrt(total)


@jit
def pack(keys, first, second, lowest, places, out):
    """Pack keys and vectors into integers that sort by key.

    keys: (pairs,) int32 or int64; first, second: (pairs,) int32; lowest: of the keys; places: bits of a vector; out:
    (pairs,) int64
    """
    for p in range(keys.size):
        above = np.int64(keys[p]) - lowest
        out[p] = (((above << places) | np.int64(first[p])) << places) | np.int64(second[p])


@jit
def unpack(packed, lowest, places, keys, first, second):
    """Undo `pack`."""
    mask = (np.int64(1) << places) - 1
    for p in range(packed.size):
        keys[p] = (packed[p] >> (2 * places)) + lowest
        first[p] = (packed[p] >> places) & mask
        second[p] = packed[p] & mask
