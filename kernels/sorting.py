"""Scores as integer keys, and one class of comparisons at a time out of the mixed list, ready for a sort.

A key is the score's bit pattern rearranged so that keys sort as the scores do: comparing two is one instruction, the
next score above is the next integer, and a NaN lies beyond the infinities. Keys are int32 for float32 scores, int64
for float64.

Every `take_` kernel walks the whole list for one class, so that two threads can take the two classes and neither
writes where the other does. The store is unconditional and the position moves only on a hit: no branch to mispredict,
at the price of one slot of slack at the end of `out`.
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
    """Make the key of one score; flip: all bits but the magnitude for distances, which become their negatives."""
    pattern = np.int64(pattern) ^ np.int64(flip)
    if pattern == ~np.int64(magnitude):  # -0.0 and 0.0 are one score
        pattern = np.int64(0)
    return rearrange(pattern, magnitude)


@jit
def take_keys(bits, flip, magnitude, mated, wanted, out):
    """Write the keys of one class.

    bits: (n,) int, the scores' bits; flip, magnitude: of the same type; mated: (n,) bool; out: (hits + 1,) of it too
    """
    position = np.uint64(0)
    for k in range(bits.size):
        out[position] = bits[k]
        position += np.uint64(mated[k] == wanted)
    for k in range(out.size):  # a pass of its own, so that it runs several keys at a time
        out[k] = make_key(out[k], flip, magnitude)


@jit
def take_keys_with_rows(bits, flip, magnitude, mated, wanted, out):
    """Write key and row of one class packed into integers that sort by key, then by row.

    bits: (n,) int32, n < 2^32; flip, magnitude: int32; mated: (n,) bool; out: (hits + 1,) uint64
    """
    position = np.uint64(0)
    for k in range(bits.size):
        above_zero = np.uint64(make_key(bits[k], flip, magnitude) + np.int64(2**31))
        out[position] = (above_zero << np.uint64(32)) | np.uint64(k)
        position += np.uint64(mated[k] == wanted)


@jit
def unpack_rows(packed, keys, rows):
    """Undo the packing of `take_keys_with_rows`. packed: (n,) uint64; keys: (n,) int32, out; rows: (n,) uint32, out."""
    for k in range(packed.size):
        keys[k] = np.int32(np.int64(packed[k] >> np.uint64(32)) - np.int64(2**31))
        rows[k] = np.uint32(packed[k] & np.uint64(2**32 - 1))
