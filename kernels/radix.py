"""The two passes that sort integers by one digit, a group of their bits."""

from __future__ import annotations

import numpy as np

from ._jit import jit

# bits of a digit; with so few, the counts and the places to write to stay in the fastest caches
DIGIT = 9
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
    """Move values to the places for their digit, in order.

    values: (n,) int64; low: as above; position: (512,) int64, where the values of each digit go,
    overwritten; out: (values of all threads,) int64
    """
    for p in range(values.size):
        digit = (values[p] >> low) & _MASK
        out[position[digit]] = values[p]
        position[digit] += 1
