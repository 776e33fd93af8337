"""Number the rows of a column by its distinct entries, without a Python loop over rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .threads import count_threads, in_threads, slices

Array = NDArray[Any]
FEW = 1 << 15  # up to so many rows NumPy is quick enough, and no kernel needs to be compiled
_SLOTS = 1 << 16  # of the first hash table; the next have 8 times as many, so that trying again costs little
_UNKNOWN = 2**16 - 1  # no attribute has so many labels
_WIDTHS = (1, 2, 4, 8)  # bytes of integers


@dataclass(frozen=True)
class Numbers:
    """The rows of a column, numbered by its distinct entries.

    Attributes
    ----------
    values : (n,) ndarray of int, or None
        The number of each row; None where every row is an entry of its own.
    lowest : int
        What `values` begin with.
    used : (range,) ndarray of bool, or None
        Which of the numbers from `lowest` on occur, where not all do.
    """

    values: Array | None = None
    lowest: int = 0
    used: NDArray[np.bool_] | None = None

    def read(self, table: Array) -> Array:
        """Return, for each row, what a table with one place for each entry holds."""
        if self.values is None:
            return table
        if self.used is not None:
            spread = np.zeros(self.used.size, table.dtype)
            spread[self.used] = table
            table = spread
        return look_up(self.values, table, self.lowest)


def number_entries(array: Array) -> tuple[Array, Numbers]:
    """Find the distinct entries of a column, or nearly so: some entries may be equal, and with few rows all are kept.

    Parameters
    ----------
    array : (n,) ndarray
        A column of any type.

    Returns
    -------
    entries : (m,) ndarray
        Of the type of `array`. Entries that are equal as objects, but not the same object, are not joined, nor are
        numbers that differ in their bits.
    numbers : Numbers
        The entry of each row.
    """
    kind, width = array.dtype.kind, array.dtype.itemsize
    small = array.size <= FEW
    if kind == "O" and not small:
        pointers = np.frombuffer(np.ascontiguousarray(array), np.intp)
        return _by_hash(array, pointers, most=array.size // 4)  # with more, each row may have an object of its own
    whole = width in _WIDTHS
    if kind not in "biufmMSU" or not (whole or (kind in "SU" and width > 0)):
        return array, Numbers()
    if whole:
        values = np.ascontiguousarray(array)
        # Numbers keep their order, which makes short ranges; of all other types only the bits count.
        values = values.view(values.dtype if kind in "iu" and values.dtype != np.uint64 else f"i{width}")
        found = _by_range(array.dtype, values)
        if found is not None:
            return found
    return (array, Numbers()) if small else _by_hash(array, array, most=array.size)


def look_up(values: Array, table: Array, lowest: int = 0, dtype: Any = None) -> Array:
    """Return ``table[values - lowest]``, as `dtype` if given, with all processors where there are many values."""
    kind = table.dtype if dtype is None else np.dtype(dtype)
    if values.size <= FEW:
        places = np.subtract(values, lowest, dtype=np.intp) if lowest else values
        return table[places].astype(kind, copy=False)
    from fastfair.kernels import labels as kernels

    out = np.empty(values.size, kind)
    in_parts(values.size, lambda part: kernels.look_up(values[part], lowest, table, out[part]))
    return out


def in_parts(size: int, work: Any) -> list[Any]:
    """Call a function for one slice of the rows for each processor."""
    return in_threads(size, work, slices(size, count_threads(None)))


def smallest_integers(n: int) -> type[np.uint16] | type[np.int32]:
    """Return the smaller type of codes that holds all numbers below n."""
    return np.uint16 if n <= 2**16 else np.int32


def one_of_each(n: int, columns: list[tuple[Array, Array]]) -> NDArray[np.uint16] | None:
    """Find the label of each of n subjects; None where one has several.

    Parameters
    ----------
    n : int
        The number of subjects, all of which occur.
    columns : list of tuple
        The subjects of each row and their labels, such as those of references and those of probes.

    Returns
    -------
    (n,) ndarray of uint16, or None
    """
    found = np.full(n, _UNKNOWN, np.uint16)
    for subject, label in columns:
        if subject.size <= FEW:
            found[subject] = label
            continue
        for part in in_parts(subject.size, partial(_find_labels, n, subject, label)):
            if part is None or not ((found == part) | (found == _UNKNOWN) | (part == _UNKNOWN)).all():
                return None
            np.minimum(found, part, out=found)
    if all(np.array_equal(found[subject], label) for subject, label in columns if subject.size <= FEW):
        return found
    return None


def _find_labels(n: int, subject: Array, label: Array, part: slice) -> NDArray[np.uint16] | None:
    from fastfair.kernels import labels as kernels

    found = np.full(n, _UNKNOWN, np.uint16)
    return found if kernels.find_labels(subject[part], label[part], _UNKNOWN, found) else None


def _by_range(dtype: np.dtype[Any], values: Array) -> tuple[Array, Numbers] | None:
    """Number integers by their values; None where their range is too wide for a table."""
    if values.size == 0:
        return None
    ends = in_parts(values.size, lambda part: (values[part].min(), values[part].max()))
    lowest, highest = min(int(low) for low, _ in ends), max(int(high) for _, high in ends)
    size = highest - lowest + 1
    if size > max(2 * values.size, 2**16):
        return None
    used = np.zeros(size, np.bool_)
    if values.size <= FEW:
        used[np.subtract(values, lowest, dtype=np.intp)] = True
    else:
        from fastfair.kernels import labels as kernels

        # Threads may mark the same place, but only ever with the same value.
        in_parts(values.size, lambda part: kernels.mark_used(values[part], lowest, used))
    entries = (np.flatnonzero(used) + lowest).astype(values.dtype)
    return entries.view(dtype), Numbers(values, lowest, used)


def _by_hash(array: Array, keys: Array, most: int) -> tuple[Array, Numbers]:
    """Number rows by the bits of their keys; where more than `most` differ, every row is an entry of its own."""
    if keys.dtype.itemsize % 4:
        keys = keys.astype(f"S{-(-keys.dtype.itemsize // 4) * 4}")  # the spare bytes are zero
    words = np.ascontiguousarray(keys).view(np.uint32).reshape(keys.size, -1)
    numbers = np.empty(keys.size, np.int32)
    found = in_parts(keys.size, partial(_hash_part, words, numbers, most))
    if any(first is None for _, first in found) or sum(first.size for _, first in found) > most:
        return array, Numbers()
    before = 0
    for part, first in found:
        numbers[part] += before
        before += first.size
    return array[np.concatenate([part.start + first for part, first in found])], Numbers(numbers)


def _hash_part(words: Array, numbers: Array, most: int, part: slice) -> tuple[slice, Array | None]:
    from fastfair.kernels import labels as kernels

    size = _SLOTS
    while True:
        first = np.empty(min(size // 2, most), np.int64)
        known = np.empty((first.size, words.shape[1]), np.uint32)
        n = kernels.number_rows(words[part], first, known, np.full(size, -1, np.int32), numbers[part])
        if n >= 0:
            return part, first[:n].copy()
        if first.size == most:
            return part, None
        size *= 8
