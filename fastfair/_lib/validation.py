"""Check values, single ones and arrays; arrays become plain ones in native byte order."""

from __future__ import annotations

import array as array_module
import contextlib
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib.arrays import AnyArray, Floats, Integers
from fastfair.errors import InputError

from . import memory
from .text import did_you_mean, shown

Interval = Literal["[0, 1)", "[0, 1]", "(0, 1)"]  # of fractions


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that a value is one of its choices."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return str(value)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise InputError(
        f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}{hint}"
    )


def scalar(value: object) -> Any:
    """Return the number in an array without dimensions, and any other value as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def real(name: str, value: object) -> float:
    """Check one finite number."""
    given = scalar(value)
    with contextlib.suppress(OverflowError):
        if not isinstance(given, bool) and isinstance(given, numbers.Real) and math.isfinite(given):
            return float(given)
    raise InputError(f"{name} must be a finite number, not {shown(value)}")


def number(name: str, value: object) -> float:
    """Check one finite number; whole numbers of any type become an int."""
    given = real(name, value)
    return int(scalar(value)) if isinstance(scalar(value), numbers.Integral) else given


def any_number(name: str, value: Any) -> float:
    """Check one number, which need not be finite."""
    return float(value) if isinstance(value, float | np.floating) else number(name, value)


def positive(name: str, value: object) -> float:
    """Check one finite number above zero."""
    given = number(name, value)
    if given > 0:
        return given
    raise InputError(f"{name} must be above 0, not {given:g}")


def count(name: str, value: object, least: int = 0) -> int:
    """Check one whole number of at least `least`."""
    given = scalar(value)
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    if given >= 2**63:  # too large for int64
        raise InputError(f"{name} must be a whole number below 2**63, not {shown(value)}")
    return int(given)


def fraction(name: str, value: object, interval: Interval = "[0, 1)") -> float:
    """Check one fraction, and not a percentage."""
    given = real(name, value)
    return given if 0 < given < 1 else float(fractions(name, given, interval))


def counts(name: str, values: ArrayLike | None, least: int) -> Integers:
    """Check an array of whole numbers of at least `least`, of any shape; floats may hold them."""
    array = numbers_of(name, values)
    good = (array >= least) & (array == np.floor(array)) & (array <= 2**53)
    if not good.all():
        raise InputError(
            f"{name} must be whole numbers of at least {least}, not {array[~good][0]:g}"
        )
    return array.astype(np.int64)


def fractions(name: str, values: ArrayLike, interval: Interval) -> Floats:
    """Check an array of fractions, of any shape."""
    array = numbers_of(name, values)
    above = array >= 0 if interval[0] == "[" else array > 0
    below = array <= 1 if interval[-1] == "]" else array < 1
    if not (above & below).all():
        wrong = array[~(above & below)][0]
        hint = f"; for {wrong:g} % write {wrong / 100:g}" if 1 <= wrong <= 100 else ""
        raise InputError(
            f"{name} must be {'fractions' if array.ndim else 'a fraction'} in {interval}, not"
            f" {wrong:g}{hint}"
        )
    return array


def numbers_of(name: str, values: ArrayLike | None) -> Floats:
    """Convert one number or many, of any shape, to an array."""
    array = floats(name, values)
    if array.size == 0:
        raise InputError(f"{name} must be a number or an array of them, but is empty")
    return array


LARGEST = 1e150  # of scores and rates, so that float64 holds their sums, squares and differences
_EXACT = 2**53  # float64 holds whole numbers exactly up to here


def plain(name: str, values: object, dtype: Any = None) -> AnyArray:
    """Convert anything like an array to a plain one in native byte order; copy only if needed.

    Masked entries, mappings, sets, generators, and rows that differ in length are refused.
    Memory-mapped arrays stay mapped. Kernels also need `contiguous`.
    """
    if isinstance(values, Mapping | Set | Iterator):
        raise InputError(f"{name} must be an array or a list, not {type(values).__name__}")
    _refuse_masked(name, values)
    try:
        array = np.asarray(values, dtype)
    except ValueError:
        raise _ragged(name, values) from None
    except Exception as error:  # raised by __array__ of other libraries
        raise InputError(
            f"{name} cannot be converted to an array: {type(error).__name__}: {error}"
        ) from None
    if array.dtype.names is not None:
        raise InputError(
            f"{name} must be a plain array, but has the fields {', '.join(array.dtype.names)}"
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def listed(name: str, value: Any, wanted: str) -> Any:
    """Return a value that can become an array, once there is memory; refuse text, sets, mappings
    and iterators.
    """
    if isinstance(value, np.ndarray):
        if 0 in value.strides:  # it takes no memory itself, but its copies do
            memory.require(8 * value.size, f"{value.size:,} values of {name}", "give fewer")
        return value
    if isinstance(value, list):
        return value if type(value) is list else list.copy(value)
    if isinstance(value, tuple):
        return value if type(value) is tuple else tuple.__getitem__(value, slice(None))
    # Having items is not enough: some such objects have no end.
    is_listed = hasattr(type(value), "__array__") or isinstance(
        value, Sequence | array_module.array
    )
    if is_listed and not isinstance(value, str | bytes | bytearray):
        return plain(name, value)
    raise InputError(f"{name} must be {wanted}, not {shown(value)}")


def contiguous(array: AnyArray, dtype: Any = None) -> AnyArray:
    """Return an array as kernels need it: row by row in memory, aligned, of a dtype; copy only if
    needed.
    """
    return np.require(array, dtype, ["C", "A"])


def column(name: str, values: object, dtype: Any = None) -> AnyArray:
    """Convert anything like a list to a one-dimensional plain array."""
    return one_dimensional(name, plain(name, values, dtype))


def one_dimensional(name: str, array: AnyArray) -> AnyArray:
    """Refuse an array that is not one-dimensional."""
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but its shape is {array.shape}")
    return array


def _ragged(name: str, values: object) -> InputError:
    """Return the error that names the first row whose length differs from that of row 0, if rows
    are lists.
    """
    rows = values if isinstance(values, list) else []
    sizes = [len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)]
    row = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
    which = (
        ""
        if row is None
        else f": row {row} (counted from 0) has {sizes[row]}, and row 0 has {sizes[0]}"
    )
    return InputError(
        f"{name} must be an array of one shape, but its entries differ in length{which}", row=row
    )


def numbers_in(name: str, values: object) -> AnyArray:
    """Convert to a plain array of whole numbers or floats of at most 8 bytes; refuse numbers that
    would be rounded.
    """
    array = plain(name, values)
    kind = array.dtype.kind
    if (
        kind == "f"
        and isinstance(values, list | tuple)
        and array.size
        and not (np.abs(array) < _EXACT).all()
    ):
        # In a list with floats, NumPy rounds large whole numbers.
        array = _exact(name, plain(name, values, object))
    elif kind == "f" and array.dtype.itemsize > 8:
        converted = array.astype(np.float64)
        if not np.array_equal(converted, array, equal_nan=True):
            raise InputError(
                f"{name} holds numbers of type {array.dtype} that float64 would round; round them"
                " first"
            )
        array = converted
    elif kind == "O":
        array = _exact(name, array)
    elif kind not in "fiu":
        first = (
            f" and the first is {shown(next(iter(array.flat)))}"
            if kind in "USTc" and array.size
            else ""
        )
        raise InputError(f"{name} must be numbers, but their type is {array.dtype}{first}")
    return array


def floats(name: str, values: object, first_row: int = 0) -> Floats:
    """Convert to a plain array of float64; refuse whole numbers that it would round. first_row: of
    part of an array.
    """
    array = numbers_in(name, values)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        with np.errstate(invalid="ignore"):  # the largest become 2^63
            rounded = np.argwhere(array.astype(np.float64).astype(array.dtype) != array)
        if len(rounded):
            number = array[tuple(rounded[0])]
            index = rounded[0] + first_row
            raise InputError(
                f"{name} holds whole numbers above 2^53, which float64 would round, as {number}"
                f" {_in_row(index)}; scale them down",
                row=_row(index),
            )
    return array.astype(np.float64, copy=False)


def _refuse_masked(name: str, values: object) -> None:
    index: tuple[int, ...] | None = None
    # Plain arrays are no reason to import numpy.ma.
    if (
        type(values) is not np.ndarray
        and isinstance(values, np.ndarray)
        and isinstance(values, np.ma.MaskedArray)
    ):
        if np.ma.is_masked(values):
            index = tuple(np.argwhere(np.ma.getmaskarray(values))[0])
    elif isinstance(values, list | tuple) and any(
        issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, values))
    ):
        masked = (
            k
            for k, v in enumerate(values)
            if isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v)
        )
        index = next(((k,) for k in masked), None)
    if index is not None:
        raise InputError(
            f"{name} has a masked entry {_in_row(index)}; leave such rows out", row=_row(index)
        )


def _exact(name: str, array: AnyArray) -> Floats:
    """Convert Python's numbers to float64; refuse other values and numbers that would be
    rounded.
    """
    made = np.empty(array.shape, np.float64)
    for index, value in np.ndenumerate(array):
        value = scalar(value)
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
            raise InputError(
                f"{name} must be numbers, but {_in_row(index)} there is {shown(value)}",
                row=_row(index),
            )
        try:
            number = float(value)
        except (OverflowError, ValueError):  # larger than the largest float, or a signalling NaN
            number = math.inf
        made[index] = number
        # A Decimal that prints as the float does is accepted, as the same text in a file would be.
        written = (
            isinstance(value, Decimal) and not value.is_snan() and Decimal(repr(number)) == value
        )
        if not (number == value or written or (math.isnan(number) and value != value)):
            raise InputError(
                f"{name} holds a number that float64 would round, {shown(value)} {_in_row(index)};"
                " round it first",
                row=_row(index),
            )
    return made


def _row(index: Any) -> int | None:
    return int(index[0]) if len(index) else None


def _in_row(index: Any) -> str:
    return f"in row {int(index[0])} (counted from 0)" if len(index) else "as a whole"
