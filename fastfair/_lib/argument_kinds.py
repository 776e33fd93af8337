"""Kinds of arguments: each takes an argument's name and what was given, and returns it or says what it must be.

Only kinds and shapes are told here; what a value means, and which are allowed, the functions say themselves. What is as
good as what was asked for (NumPy's numbers, subclasses of text) is handed on as the plain thing.
"""

from __future__ import annotations

import array as array_module
import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastfair.errors import InputError

from . import arrays, memory, seeds, validation
from .text import shown

Check = Callable[[str, Any], Any]
_FRAMES = ("pandas", "polars", "pyarrow")
_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes, as file systems have it
# What makes the class wanted (first) out of the class found.
_WAYS = {
    ("Comparisons", "Embeddings"): "its method comparisons() makes them",
    ("Comparisons", "data frame"): "Comparisons.from_frame or read_comparisons takes it",
    ("Comparisons", "file name"): "read_comparisons reads it",
    ("Comparisons", "FailureCounts"): "these have no scores",
    ("Embeddings", "file name"): "read_embeddings reads it",
    ("Embeddings", "data frame"): "read_embeddings takes it",
    ("FailureCounts", "data frame"): "read_failure_counts takes it",
    ("OperatingPoint", "number"): "at_fmr(1e-3) holds an FMR, at_threshold(0.5) a threshold",
}


def _wrong(name: str, wanted: str, value: object, hint: str = "") -> InputError:
    return InputError(f"{name} must be {wanted}, not {shown(value)}{hint and f': {hint}'}")


def _is_a(value: object, *classes: str) -> bool:
    """Tell whether a value is of one of the library's classes, by name: their modules stand above this one."""
    return any(c.__name__ in classes and c.__module__.startswith("fastfair.") for c in type(value).__mro__)


def _kind(value: object) -> str:
    if type(value).__module__.partition(".")[0] in _FRAMES:
        return "data frame"
    if isinstance(value, str | os.PathLike):
        return "file name"
    return "number" if isinstance(value, int | float) else type(value).__name__


def one_of(*classes: str) -> Check:
    """Ask for an object of one of the library's classes."""

    def check(name: str, value: Any) -> Any:
        if _is_a(value, *classes):
            return value
        found = _kind(value)
        hint = next((_WAYS[wanted, found] for wanted in classes if (wanted, found) in _WAYS), "")
        wanted = "an operating point such as at_fmr(1e-3) or at_threshold(0.5)" if "OperatingPoint" in classes else ""
        raise _wrong(name, wanted or " or ".join(", ".join(classes).rsplit(", ", 1)), value, hint)

    return check


point = one_of("OperatingPoint")


def points(name: str, value: Any) -> Any:
    """Ask for an operating point, or several."""
    found = [value] if _is_a(value, "OperatingPoint") else value
    if isinstance(found, list | tuple) and all(_is_a(one, "OperatingPoint") for one in found):
        return value
    raise _wrong(name, "operating points such as at_fmr(1e-3) or at_threshold(0.5)", value)


def text(name: str, value: Any) -> str:
    """Ask for text."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise _wrong(name, "text", value)


def texts(name: str, value: Any) -> str | list[str]:
    """Ask for text, or several in a list."""
    if isinstance(value, str):
        return text(name, value)
    if isinstance(value, Collection) and not isinstance(value, bytes | bytearray):
        return [text(name, one) for one in value]
    raise _wrong(name, "text, or a list of texts", value)


def texts_or_pairs(name: str, value: Any) -> str | list[str | tuple[str, str]]:
    """Ask for names of columns, or pairs of them, one for each side."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Collection):
        return texts(name, value)  # type: ignore[return-value]
    found: list[str | tuple[str, str]] = []
    for one in value:
        if isinstance(one, tuple | list):
            if len(one) != 2:
                raise _wrong(name, "names of columns, or pairs of names", one)
            found.append((text(name, one[0]), text(name, one[1])))
        else:
            found.append(text(name, one))
    return found


def text_or_labels(name: str, value: Any) -> Any:
    """Ask for the name of a column, or the labels themselves."""
    return text(name, value) if isinstance(value, str) else labels(name, value)


def texts_or_groups(name: str, value: Any) -> Any:
    """Ask for names of columns, or columns of labels by name."""
    return groups(name, value) if isinstance(value, Mapping) else texts(name, value)


def group_or_cell(name: str, value: Any) -> str | tuple[str, ...]:
    """Ask for a group, or the pair of them behind a cell of the FMR matrix."""
    if isinstance(value, tuple) and len(value) == 2:
        return tuple(text(name, one) for one in value)
    return text(name, value) if isinstance(value, str) else _no(name, "a group, or a pair of them", value)


def whole(name: str, value: Any) -> int:
    """Ask for a whole number of at least 0."""
    return validation.count(name, value)


def number(name: str, value: Any) -> float:
    """Ask for a finite number, which stays whole where it is."""
    found = validation.real(name, value)
    return value if type(value) is int else found


def any_float(name: str, value: Any) -> float:
    """Ask for a number that need not be finite."""
    if isinstance(value, float | np.floating):
        return float(value)
    return number(name, value)


def text_or_number(name: str, value: Any) -> str | float:
    """Ask for the name of a policy, or the number that is one."""
    return text(name, value) if isinstance(value, str) else number(name, value)


def flag(name: str, value: Any) -> bool:
    """Ask for True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise _wrong(name, "True or False", value)


def seed(name: str, value: Any) -> Any:
    """Ask for a seed of random numbers."""
    return seeds.checked_seed(name, value)


def heard(name: str, value: Any) -> Any:
    """Ask for True, False or a function that is told of progress."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return _called_with(name, value, (0, 1), "True, False or a function of what is done and what there is to do")


def _called_with(name: str, value: Any, arguments: tuple[Any, ...], wanted: str) -> Any:
    if not callable(value) or isinstance(value, type):
        raise _wrong(name, wanted, value)
    try:
        signature = inspect.signature(value)
    except ValueError:  # of a function that does not tell
        return value
    try:
        signature.bind(*arguments)
    except TypeError:
        raise _wrong(name, wanted, value) from None
    return value


def _no(name: str, wanted: str, value: object) -> Any:
    raise _wrong(name, wanted, value)


def _listed(name: str, value: Any, wanted: str) -> Any:
    """Return what can be an array: neither text nor what has no order or is used up by reading."""
    if isinstance(value, np.ndarray):
        if 0 in value.strides:  # it takes no memory itself, what is made of it does
            memory.require(8 * value.size, f"{value.size:,} values of {name}", "give fewer")
        return value
    if isinstance(value, list):
        return value if type(value) is list else list.copy(value)
    if isinstance(value, tuple):
        return value if type(value) is tuple else tuple.__getitem__(value, slice(None))
    # Not what merely has items: some have no end.
    listed = hasattr(type(value), "__array__") or isinstance(value, Sequence | array_module.array)
    if listed and not isinstance(value, str | bytes | bytearray):
        return arrays.plain(name, value)
    raise _wrong(name, wanted, value)


def array(name: str, value: Any) -> Any:
    """Ask for what NumPy can make an array of."""
    return _listed(name, value, "an array or a list")


def numbers(name: str, value: Any) -> Any:
    """Ask for a number, or an array of them."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return value
    return _listed(name, value, "a number or an array of them")


def labels(name: str, value: Any) -> Any:
    """Ask for a column of labels."""
    return value if _is_a(value, "Coded") else _listed(name, value, "an array or a list of labels")


def groups(name: str, value: Any) -> Any:
    """Ask for a column of labels, or several by the name of what they tell."""
    if not isinstance(value, Mapping):
        return labels(name, value)
    return {key: labels(f"{name}[{shown(key)}]", column) for key, column in value.items()}


def optional(check: Check) -> Check:
    """Let None pass where it is not the default."""
    return lambda name, value: None if value is None else check(name, value)


def path(name: str, value: Any) -> str | Path:
    """Ask for the name of a file or folder, one that there can be."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong(name, "the name of a file", value)
    written = os.fspath(value)
    if not isinstance(written, str):
        raise _wrong(name, "a name in text", value)
    try:
        size = len(os.fsencode(written))
        longest = max(len(os.fsencode(part)) for part in Path(written).parts)
    except UnicodeEncodeError:
        raise _wrong(name, "a name that can be written", value) from None
    if not written or "\0" in written:
        raise _wrong(name, "the name of a file", value)
    if size >= _LONGEST_PATH or longest > _LONGEST_NAME:
        raise InputError(f"{name} is a name of {size:,} characters, longer than file systems take: {shown(value)}")
    return value if isinstance(value, Path) else written


def source(name: str, value: Any) -> Any:
    """Ask for a file's name or a data frame."""
    if isinstance(value, str | os.PathLike):
        return path(name, value)
    if hasattr(type(value), "__dataframe__") or hasattr(type(value), "__narwhals_dataframe__") or _is_framed(value):
        return value
    raise _wrong(name, "a file's path or a data frame", value)


def _is_framed(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in _FRAMES or hasattr(type(value), "__arrow_c_stream__")


def axes(name: str, value: Any) -> Any:
    """Ask for matplotlib's Axes."""
    for c in type(value).__mro__:
        if c.__name__ in ("Axes", "_AxesBase") and c.__module__.startswith("matplotlib."):
            return value
    raise _wrong(name, "matplotlib Axes, as plt.subplots() gives", value)


def rows(name: str, value: Any) -> Any:
    """Ask for positions: a slice or an array of whole numbers."""
    if isinstance(value, slice):
        if all(isinstance(part, int | np.integer | None) for part in (value.start, value.stop, value.step)):
            return value
        raise _wrong(name, "a slice of whole numbers", value)
    found = arrays.plain(name, array(name, value))
    return found if found.dtype.kind in "iu" and found.ndim == 1 else _no(name, "a slice or whole numbers", value)


def key(name: str, value: Any) -> Any:
    """Ask for a key, which is of the type of its side."""
    return value if type(value) in (np.int32, np.int64) else _no(name, "a key: an int32 or int64 of NumPy", value)


def pair(name: str, value: Any) -> Any:
    """Ask for a number, or a pair of them."""
    if isinstance(value, list | tuple):
        return tuple(number(name, one) for one in value)
    return tuple(value) if isinstance(value, np.ndarray) and value.ndim == 1 else number(name, value)


def several(check: Check) -> Check:
    """Ask for a list, of what a check says."""

    def checked(name: str, value: Any) -> list[Any]:
        return [check(name, one) for one in _listed(name, value, "a list")]

    return checked


def text_or_several(check: Check) -> Check:
    """Ask for text, or a list of what a check says."""
    of_list = several(check)
    return lambda name, value: text(name, value) if isinstance(value, str) else of_list(name, value)
