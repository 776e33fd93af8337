"""Check single values and arrays of numbers."""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import InputError

from . import arrays
from .text import did_you_mean, shown

Interval = Literal["[0, 1)", "[0, 1]", "(0, 1)"]  # of fractions


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that a value is one of its choices."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return str(value)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}{hint}")


def plain(value: object) -> Any:
    """Return the number in an array without dimensions, and any other value as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def real(name: str, value: object) -> float:
    """Check one finite number."""
    given = plain(value)
    with contextlib.suppress(OverflowError):
        if not isinstance(given, bool) and isinstance(given, numbers.Real) and math.isfinite(given):
            return float(given)
    raise InputError(f"{name} must be a finite number, not {shown(value)}")


def number(name: str, value: object) -> float:
    """Check one finite number; whole numbers of any type become an int."""
    given = real(name, value)
    return int(plain(value)) if isinstance(plain(value), numbers.Integral) else given


def positive(name: str, value: object) -> float:
    """Check one finite number above zero."""
    given = number(name, value)
    if given > 0:
        return given
    raise InputError(f"{name} must be above 0, not {given:g}")


def count(name: str, value: object, least: int = 0) -> int:
    """Check one whole number of at least `least`."""
    given = plain(value)
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    if given >= 2**63:  # too large for int64
        raise InputError(f"{name} must be a whole number below 2**63, not {shown(value)}")
    return int(given)


def fraction(name: str, value: object, interval: Interval = "[0, 1)") -> float:
    """Check one fraction, and not a percentage."""
    given = real(name, value)
    return given if 0 < given < 1 else float(fractions(name, given, interval))


def counts(name: str, values: ArrayLike | None, least: int) -> NDArray[np.int64]:
    """Check an array of whole numbers of at least `least`, of any shape; floats may hold them."""
    array = numbers_of(name, values)
    good = (array >= least) & (array == np.floor(array)) & (array <= 2**53)
    if not good.all():
        raise InputError(f"{name} must be whole numbers of at least {least}, not {array[~good][0]:g}")
    return array.astype(np.int64)


def fractions(name: str, values: ArrayLike, interval: Interval) -> NDArray[np.float64]:
    """Check an array of fractions, of any shape."""
    array = numbers_of(name, values)
    above = array >= 0 if interval[0] == "[" else array > 0
    below = array <= 1 if interval[-1] == "]" else array < 1
    if not (above & below).all():
        wrong = array[~(above & below)][0]
        hint = f"; for {wrong:g} % write {wrong / 100:g}" if 1 <= wrong <= 100 else ""
        raise InputError(
            f"{name} must be {'fractions' if array.ndim else 'a fraction'} in {interval}, not {wrong:g}{hint}"
        )
    return array


def numbers_of(name: str, values: ArrayLike | None) -> NDArray[np.float64]:
    """Convert one number or many, of any shape, to an array."""
    if values is None:
        raise InputError(f"{name} must be a number or an array of them, not None")
    array = arrays.floats(name, values)
    if array.size == 0:
        raise InputError(f"{name} must be a number or an array of them, but is empty")
    return array
