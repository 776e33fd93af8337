"""Turn scores into integer keys, and take the mated or the non-mated comparisons out of the list, ready for a sort.

A key is the score's bit pattern, rearranged so that keys sort as the scores do: comparing two keys is one instruction,
the next larger score is the next integer, and a NaN lies beyond the infinities. Keys are int32 for float32 scores,
int64 for float64.

`take_keys` goes through the whole list for one class, so two threads can take the two classes without writing to the
same place. Every comparison is written, and the position moves on only if it is of the class. This avoids a branch,
which processors predict badly, and needs one spare place at the end of `out`.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def rearrange(pattern, magnitude):
    """Turn a float's bits into its key, or a key into the float's bits. magnitude: all bits but the sign."""
    wide = np.int64(pattern)
    return wide ^ ((wide >> np.int64(63)) & np.int64(magnitude))


@jit
def make_key(pattern, flip, magnitude):
    """Make the key of one score. flip: the sign bit if it is a distance, to negate it, else 0; magnitude: as above."""
    pattern = np.int64(pattern) ^ np.int64(flip)
    if pattern == ~np.int64(magnitude):  # -0.0 becomes 0.0, as they are equal
        pattern = np.int64(0)
    return rearrange(pattern, magnitude)


@jit
def take_keys(bits, flip, magnitude, mated, wanted, out):
    """Write the keys of one class.

    bits: (n,) int32 or int64, the scores' bits; flip, magnitude: as in `make_key`, of this type; mated: (n,) bool;
    wanted: bool, the class; out: (comparisons of the class + 1,) of this type
    """
    position = np.uint64(0)
    for k in range(bits.size):
        out[position] = bits[k]
        position += np.uint64(mated[k] == wanted)
    for k in range(out.size):  # a separate loop, so that the processor computes several keys at a time
        out[k] = make_key(out[k], flip, magnitude)


@jit
def pack_with_rows(bits, flip, magnitude, mated, row, nonmated_at, mated_at, out):
    """Write the keys and rows of consecutive comparisons, each pair as one integer that sorts by key, then by row.

    bits: (n,) int32; flip, magnitude: as in `make_key`, int32; mated: (n,) bool; row: of the first; nonmated_at,
    mated_at: where in `out` the first of each class goes; out: (comparisons of all parts below 2^32,) uint64
    """
    for k in range(bits.size):
        above_zero = np.uint64(make_key(bits[k], flip, magnitude) + np.int64(2**31))
        # One place or the other, without a branch, which processors predict badly.
        out[mated_at if mated[k] else nonmated_at] = (above_zero << np.uint64(32)) | np.uint64(row + k)
        step = np.int64(mated[k])
        mated_at += step
        nonmated_at += 1 - step
