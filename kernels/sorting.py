"""Turn scores into integer keys, those of mated and of non-mated comparisons apart, ready for a
sort.

A key is the score's bit pattern, rearranged so that keys sort as the scores do: comparing two keys
is one instruction, the next larger score is the next integer, and a NaN lies beyond the infinities.
Keys are int32 for float32 scores, int64 for float64.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit_in_place, part


@helper
def rearrange(pattern, magnitude):
    """Turn a float's bits into its key, or a key into the float's bits. magnitude: all bits but the
    sign.
    """
    wide = np.int64(pattern)
    return wide ^ ((wide >> np.int64(63)) & np.int64(magnitude))


@part
def make_key(pattern, flip, magnitude):
    """Make the key of one score. flip: the sign bit if it is a distance, to negate it, else 0;
    magnitude: as above.
    """
    pattern = np.int64(pattern) ^ np.int64(flip)
    if pattern == ~np.int64(magnitude):  # -0.0 becomes 0.0, as they are equal
        pattern = np.int64(0)
    return rearrange(pattern, magnitude)


@jit_in_place
def pack_with_rows(bits, flip, magnitude, mated, row, nonmated_at, mated_at, out):
    """Write the keys and rows of consecutive comparisons, each pair as one integer that sorts by
    key, then by row.

    bits: (n,) int32; flip, magnitude: as in `make_key`, int32; mated: (n,) bool; row: of the first;
    nonmated_at, mated_at: where in `out` the first of each class goes; out: (comparisons of all
    parts below 2^32,) uint64
    """
    for k in range(bits.size):
        above_zero = np.uint64(make_key(bits[k], flip, magnitude) + np.int64(2**31))
        # One place or the other, without a branch, which processors predict badly.
        out[mated_at if mated[k] else nonmated_at] = (above_zero << np.uint64(32)) | np.uint64(
            row + k
        )
        step = np.int64(mated[k])
        mated_at += step
        nonmated_at += 1 - step
