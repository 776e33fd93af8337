"""Sorts of integers by a few of their bits, in time that grows as their number does."""

from __future__ import annotations

import numpy as np

from ._jit import jit

_DIGIT = 9  # bits of a pass: the counts and where they write to stay in the nearest caches


@jit
def sort_by_bits(values, spare, low, high):
    """Sort by the bits from `low` to below `high`, those alike staying in order; return the array with the result.

    values, spare: (n,) int64, not negative, both overwritten
    """
    mask = np.int64((1 << _DIGIT) - 1)
    position = np.empty(1 << _DIGIT, np.int64)
    while low < high:
        position[:] = 0
        for p in range(values.size):
            position[(values[p] >> low) & mask] += 1
        start = np.int64(0)
        for digit in range(position.size):
            size = position[digit]
            position[digit] = start
            start += size
        for p in range(values.size):
            digit = (values[p] >> low) & mask
            spare[position[digit]] = values[p]
            position[digit] += 1
        values, spare = spare, values
        low += _DIGIT
    return values
