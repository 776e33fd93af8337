"""Take pairs of vectors out of panels of similarities: all mated ones, and non-mated ones at or
above a bound.

A panel holds the similarities of some rows with some columns; rows and columns beyond the last
vector are padding. The partners of row i are the columns from columns[i, 0] on; of these, those
from columns[i, 1] to below columns[i, 2] are mated. Rows without partners come last and are left
out of `columns`.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit
from .bit_masks import TOGETHER, lowest, reaching
from .sorting import make_key


@jit
def take_mated(panel, first_row, first_column, columns, offset, mated):
    """Keep the mated pairs of a panel.

    panel: (height, width) similarities; first_row, first_column: the vectors of its first row and
    column; columns: (rows, 3) int64; offset: (rows,) int64, where the mated pairs of each row begin
    in `mated`; mated: (pairs,) similarities, out
    """
    for r in range(min(panel.shape[0], columns.shape[0] - first_row)):
        i = first_row + r
        begin = columns[i, 1]
        for j in range(max(begin, first_column), min(columns[i, 2], first_column + panel.shape[1])):
            mated[offset[i] + j - begin] = panel[r, j - first_column]


@jit
def take_nonmated(panel, first_row, first_column, columns, n, bound, places, kept):
    """Keep the non-mated pairs of a panel at or above a bound, row by row, and return their number.

    panel, first_row, first_column, columns: as above; n: number of vectors; bound: a similarity;
    places: bits of a vector's number; kept: (height * width + 1,) similarities, and int64 codes,
    the first vector's number in the bits above the second's, out
    """
    found, codes = kept
    count = np.int64(0)
    width = min(panel.shape[1], n - first_column)
    for r in range(min(panel.shape[0], columns.shape[0] - first_row)):
        i = first_row + r
        row = panel[r]
        code = (np.int64(i) << places) + first_column
        mated, others = columns[i, 1] - first_column, columns[i, 2] - first_column
        start, end = max(0, columns[i, 0] - first_column), min(mated, width)
        for _ in range(2):  # before the mated partners, and behind them
            while start + TOGETHER <= end:
                mask = reaching(row, start, bound)
                while mask != 0:
                    c = start + lowest(mask)
                    found[count], codes[count] = row[c], code + c
                    count += 1
                    mask &= mask - 1  # without its lowest bit
                start += TOGETHER
            # every pair is written, and kept by counting it: without a branch
            for c in range(start, end):
                found[count], codes[count] = row[c], code + c
                count += np.int64(row[c] >= bound)
            start, end = max(start, others), width
    return count


@helper
def squared_distance(a, b):
    """Sum the squares of the differences of two vectors in float64. a, b: (d,) floats."""
    total = 0.0
    for k in range(a.size):
        difference = np.float64(a[k]) - np.float64(b[k])
        total += difference * difference
    return total


@jit
def distances(vectors, first, second, out):
    """Compute negative Euclidean distances. vectors: (n, d); first, second: (pairs,) int32; out:
    (pairs,) float64.
    """
    for p in range(first.size):
        out[p] = -np.sqrt(squared_distance(vectors[first[p]], vectors[second[p]]))


@jit
def pack(bits, codes, invert, lowest, shift, out):
    """Combine keys and codes into integers that sort by key.

    bits: (pairs,) int32, the bits of similarities; codes: (pairs,) int64; invert: -1 if keys must
    fall as similarities rise, else 0; lowest: the lowest key; shift: bits of a code; out: (pairs,)
    int64
    """
    for p in range(bits.size):
        key = make_key(bits[p], np.int32(0), np.int32(2**31 - 1)) ^ np.int64(invert)
        out[p] = ((key - lowest) << shift) | codes[p]


@jit
def order_ties(packed, shift):
    """Sort pairs of equal keys by their codes. packed: (pairs,) int64, sorted by key; shift: bits
    of a code.
    """
    start = 0
    for p in range(1, packed.size + 1):
        if p == packed.size or (packed[p] >> shift) != (packed[start] >> shift):
            # Shell's sort; np.sort would take three seconds to compile.
            gap = 1
            while gap < (p - start) // 3:
                gap = 3 * gap + 1
            while gap > 0:
                for k in range(start + gap, p):
                    value, at = packed[k], k
                    while at >= start + gap and packed[at - gap] > value:
                        packed[at] = packed[at - gap]
                        at -= gap
                    packed[at] = value
                gap //= 3
            start = p


@jit
def unpack_codes(packed, places, first, second):
    """Take the vectors of packed pairs. packed: (pairs,) int64; places: as above; first, second:
    (pairs,) int32 out.
    """
    mask = (np.int64(1) << places) - 1
    for p in range(packed.size):
        first[p] = (packed[p] >> places) & mask
        second[p] = packed[p] & mask


@jit
def unpack_keys(packed, lowest, shift, keys):
    """Take the keys of packed pairs.

    packed: (pairs,) int64; lowest, shift: as in `pack`; keys: (pairs,) int32, out, which may be
    memory of `packed`
    """
    for p in range(packed.size):
        keys[p] = (packed[p] >> shift) + lowest
