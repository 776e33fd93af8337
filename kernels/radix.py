"""The two passes of a sort of integers by some of their bits, a digit at a time."""

from __future__ import annotations

import numpy as np

from ._jit import jit

DIGIT = 9  # bits of a digit: the counts and where they write to stay in the nearest caches
_MASK = np.int64((1 << DIGIT) - 1)


@jit
def count_digits(values, low, counts):
    """Count the values of each digit.

    values: (n,) int64, not negative; low: the digit's first bit; counts: (512,) int64, out
    """
    counts[:] = 0
    for p in range(values.size):
        counts[(values[p] >> low) & _MASK] += 1


@jit
def scatter(values, low, position, out):
    """Move values to where those of their digit go, in order.

    values: (n,) int64; low: as above; position: (512,) int64, where each digit's begin, overwritten; out: (all,) int64
    """
    for p in range(values.size):
        digit = (values[p] >> low) & _MASK
        out[position[digit]] = values[p]
        position[digit] += 1
