"""Check values that callers give: numbers, rates, choices; find near names, and optional packages."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import math
import numbers
from collections.abc import Iterable
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import InputError, MissingDependencyError

from . import arrays
from .arrays import column as column
from .label_codes import Coded as Coded
from .label_codes import Labels as Labels
from .label_codes import encode as encode
from .label_codes import encode_together as encode_together
from .label_codes import is_missing as is_missing
from .text import shown as shown

LOG_LIKELIHOOD_RATIO = "log-likelihood-ratio"
ScoreKind = Literal["similarity", "distance", "log-likelihood-ratio"]
Similarity = Literal["cosine", "inner_product", "negative_euclidean"]
INTERSECTION = " & "
LARGEST_SCORE = 1e150  # so that float64 holds sums, squares and differences of scores
_TOO_MANY = 2**63  # the first whole number too large for int64


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f'{purpose} needs the package {module.split(".")[0]}; pip install "fastfair[{extra}]" brings it'
        ) from None


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that a value is one of its choices."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return str(value)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}{hint}")


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """Return a hint with the nearest known names, or "" if none is near."""
    by_lower = {str(name).lower(): name for name in known}
    word = str(value).lower()
    near = [name for name in by_lower if word and name.startswith(word)][:5]
    near = near or difflib.get_close_matches(word, by_lower, n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(by_lower[name]) for name in near)}?)" if near else ""


_LISTED = 20  # names in a message


def not_there(place: object, name: object, known: Iterable[str], *, role: str = "", kind: str = "column") -> str:
    """Return the message that a file or data frame lacks a name, with the nearest names, and all where they are few."""
    known = list(known)
    would_do = f": name one with {role}=" if role else ""
    others = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED + 1 else ""
    listed = ", ".join(known[:_LISTED] if others else known) or "none"
    return f"{place} has no {kind} {name!r}{did_you_mean(name, known)}{would_do}; its {kind}s are {listed}{others}"


def rate(name: str, value: object, *, one_allowed: bool = False) -> float:
    """Check one rate, a fraction and not a percentage."""
    number = real(name, value)
    if 0 <= number < 1 or (one_allowed and number == 1):
        return number
    bounds = "[0, 1]" if one_allowed else "[0, 1)"
    hint = f"; for {number:g} % write {number / 100:g}" if 1 <= number <= 100 else ""
    raise InputError(f"{name} is a rate, a fraction in {bounds}, not {number:g}{hint}")


def real(name: str, value: object) -> float:
    """Check one finite number."""
    with contextlib.suppress(OverflowError):
        plain = _plain(value)
        if not isinstance(plain, bool) and isinstance(plain, numbers.Real) and math.isfinite(plain):
            return float(plain)
    raise InputError(f"{name} must be a finite number, not {shown(value)}")


def positive(name: str, value: object) -> float:
    """Check one finite number above zero."""
    number = real(name, value)
    if number > 0:
        return number
    raise InputError(f"{name} must be above 0, not {number:g}")


def count(name: str, value: object, least: int = 0) -> int:
    """Check one whole number of at least `least`."""
    plain = _plain(value)
    if isinstance(plain, int | np.integer) and not isinstance(plain, bool) and plain >= least:
        if plain < _TOO_MANY:
            return int(plain)
        raise InputError(f"{name} must be a whole number below 2**63, not {shown(value)}")
    raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")


def _plain(value: object) -> object:
    """Return the number in an array without dimensions, and any other value as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def counts(name: str, values: ArrayLike | None, least: int) -> NDArray[np.int64]:
    """Check an array of whole numbers of at least `least`, of any shape; floats may hold them."""
    array = numbers_of(name, values)
    good = (array >= least) & (array == np.floor(array)) & (array <= 2**53)
    if not good.all():
        raise InputError(f"{name} must be whole numbers of at least {least}, not {array[~good][0]:g}")
    return array.astype(np.int64)


def fractions(name: str, values: ArrayLike, *, ends: bool) -> NDArray[np.float64]:
    """Check an array of fractions, of any shape; `ends` says whether 0 and 1 are allowed."""
    array = numbers_of(name, values)
    good = (array >= 0) & (array <= 1) if ends else (array > 0) & (array < 1)
    if not good.all():
        found = array[~good][0]
        hint = f"; for {found:g} % write {found / 100:g}" if 1 <= found <= 100 else ""
        raise InputError(f"{name} must be fractions in {'[0, 1]' if ends else '(0, 1)'}, not {found:g}{hint}")
    return array


def open_fraction(name: str, value: object) -> float:
    """Check one fraction that is neither 0 nor 1."""
    return float(fractions(name, real(name, value), ends=False))


def numbers_of(name: str, values: ArrayLike | None) -> NDArray[np.float64]:
    """Convert one number or many, of any shape, to an array."""
    if values is None:
        raise InputError(f"{name} must be a number or an array of them, not None")
    array = arrays.floats(name, values)
    if array.size == 0:
        raise InputError(f"{name} must be a number or an array of them, but is empty")
    return array
