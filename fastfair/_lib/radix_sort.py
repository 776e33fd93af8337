"""Sort integers by some of their bits, in time proportional to their number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .threads import in_threads, slices

Values = NDArray[np.int64]


def sort_by_bits(values: Values, spare: Values, low: int, high: int, n_threads: int = 1) -> Values:
    """Sort by the bits from `low` to below `high`; integers with equal bits keep their order.

    Parameters
    ----------
    values, spare : (n,) ndarray
        The integers, which sort as if their bits had no sign, and an array of the same size; both are overwritten.
    low, high : int
        First bit, and the bit after the last.
    n_threads : int
        Number of threads.

    Returns
    -------
    (n,) ndarray
        The one of the two arrays that holds the result.
    """
    from fastfair.kernels import radix

    parts = slices(values.size, n_threads)
    counts = np.empty((len(parts), 1 << radix.DIGIT), np.int64)
    while low < high:
        each = range(len(parts))
        in_threads(values.size, partial(_count, values, parts, low, counts), each)
        # Where each part writes each digit: ordered by digit, then by part.
        position = (np.cumsum(counts.T) - counts.T.ravel()).reshape(counts.T.shape).T.copy()
        in_threads(values.size, partial(_scatter, values, parts, low, position, spare), each)
        values, spare = spare, values
        low += radix.DIGIT
    return values


def _count(values: Values, parts: Sequence[slice], low: int, counts: Values, k: int) -> None:
    from fastfair.kernels import radix

    radix.count_digits(values[parts[k]], low, counts[k])


def _scatter(values: Values, parts: Sequence[slice], low: int, position: Values, out: Values, k: int) -> None:
    from fastfair.kernels import radix

    radix.scatter(values[parts[k]], low, position[k], out)
