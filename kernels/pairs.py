"""Pairs of vectors out of similarity panels: all mated ones, and the non-mated ones at or above a bound.

Vectors are sorted by group and subject, so that of row i the columns i + 1 to subject_end[i] are mated and those from
there on non-mated. A panel holds the similarities of some rows with some columns; rows and columns beyond the last
vector are padding. Pairs (i, j) have i < j.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .sorting import make_key

_FEW = 32  # to insert one by one
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
def take_nonmated(panel, first_row, first_column, subject_end, bound, places, found, codes):
    """Keep the non-mated pairs of a panel that reach a bound, row by row, and return how many they are.

    panel, first_row, first_column, subject_end: as above; places: bits of a vector; found, codes: (rows * columns + 1,)
    similarities, and the two vectors as one int64, the first above the second, out
    """
    n = subject_end.size
    count = np.int64(0)
    columns = min(panel.shape[1], n - first_column)
    for r in range(min(panel.shape[0], n - first_row)):
        i = first_row + r
        row = panel[r]
        code = (np.int64(i) << places) + first_column
        start = max(0, subject_end[i] - first_column)
        while start < columns:
            stop = min(start + _SIDE_BY_SIDE, columns)
            reach = np.int32(0)
            for c in range(start, stop):
                reach += np.int32(row[c] >= bound)
            if reach > 0:
                for c in range(start, stop):  # written anyway and kept by counting on, as a branch would be guessed
                    found[count] = row[c]
                    codes[count] = code + c
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
def pack(bits, codes, invert, lowest, shift, out):
    """Put keys above codes, in integers that sort by key.

    bits: (pairs,) int32 of similarities; codes: (pairs,) int64; invert: -1 for keys that descend as similarities
    ascend, else 0; lowest: of the keys; out: (pairs,) int64
    """
    for p in range(bits.size):
        key = make_key(bits[p], np.int32(0), np.int32(2**31 - 1)) ^ np.int64(invert)
        out[p] = ((key - lowest) << shift) | codes[p]


@jit
def order_ties(packed, shift):
    """Sort those of one key by their codes. packed: (pairs,) int64, sorted by key."""
    start = 0
    for p in range(1, packed.size + 1):
        if p == packed.size or (packed[p] >> shift) != (packed[start] >> shift):
            if p - start > _FEW:
                packed[start:p] = np.sort(packed[start:p])
            else:
                for k in range(start + 1, p):
                    value, at = packed[k], k
                    while at > start and packed[at - 1] > value:
                        packed[at] = packed[at - 1]
                        at -= 1
                    packed[at] = value
            start = p


@jit
def unpack_codes(packed, places, first, second):
    """Take the two vectors out of packed pairs. packed: (pairs,) int64; first, second: (pairs,) int32, out."""
    mask = (np.int64(1) << places) - 1
    for p in range(packed.size):
        first[p] = (packed[p] >> places) & mask
        second[p] = packed[p] & mask


@jit
def unpack_keys(packed, lowest, shift, keys):
    """Take the keys out, from the front, so that `keys`, (pairs,) int32, may lie in the memory of `packed`."""
    for p in range(packed.size):
        keys[p] = (packed[p] >> shift) + lowest


@jit
def count_within_groups(first, second, group, sizes):
    """Count pairs inside each group. first, second: (pairs,) int32; group: (n,) int32; sizes: (groups,) int64, out."""
    for p in range(first.size):
        g = group[first[p]]
        sizes[g] += np.int64(g == group[second[p]])


@jit
def split_within_groups(keys, first, second, group, position, keys_out, first_out, second_out):
    """Write the pairs inside each group, in order.

    keys, first, second: (pairs,); group: (n,) int32; position: (groups,) int64, where each group's go, overwritten
    """
    for p in range(first.size):
        g = group[first[p]]
        if g == group[second[p]]:
            at = position[g]
            keys_out[at], first_out[at], second_out[at] = keys[p], first[p], second[p]
            position[g] = at + 1
