"""Checks of arguments: each takes an argument's name and value, and returns the value or raises an error.

Only types and shapes are checked here; the functions themselves check which values are allowed. Equivalent types
(NumPy's numbers, subclasses of str) are converted to Python's own.
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
_MOST_REPLICATES = 10**7
_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes, the limits of file systems
# How to make the class wanted (first) from the class found (second), as a hint in messages.
_WAYS = {
    ("Comparisons", "Embeddings"): "make them with its method comparisons()",
    ("Comparisons", "data frame"): "make Comparisons of it with Comparisons.from_frame or read_comparisons",
    ("Comparisons", "file name"): "read it with read_comparisons",
    ("Comparisons", "ScannedComparisons"): "a scan has kept few scores. evaluate, claim, fnmr_test and margin_of_error "
    "take it, and compare and fmr_test one of vectors; else use read_comparisons, or the vectors' method comparisons()",
    ("Comparisons", "FailureCounts"): "failure counts have no scores",
    ("Embeddings", "file name"): "read it with read_embeddings",
    ("Embeddings", "data frame"): "make Embeddings of it with read_embeddings",
    ("FailureCounts", "data frame"): "make FailureCounts of it with read_failure_counts",
    ("OperatingPoint", "number"): "write at_fmr(1e-3) for an FMR, at_threshold(0.5) for a threshold",
}


def _wrong(name: str, wanted: str, value: object, hint: str = "") -> InputError:
    return InputError(f"{name} must be {wanted}, not {shown(value)}{hint and f': {hint}'}")


def _is_a(value: object, *classes: str) -> bool:
    """Return whether a value is of one of the library's classes; by name, as this module may not import them."""
    return any(c.__name__ in classes and c.__module__.startswith("fastfair.") for c in type(value).__mro__)


def _kind(value: object) -> str:
    if type(value).__module__.partition(".")[0] in _FRAMES:
        return "data frame"
    if isinstance(value, str | os.PathLike):
        return "file name"
    return "number" if isinstance(value, int | float) else type(value).__name__


def one_of(*classes: str) -> Check:
    """Make a check for an object of one of the library's classes."""

    def check(name: str, value: Any) -> Any:
        if _is_a(value, *classes):
            return value
        found = _kind(value)
        hint = next((_WAYS[wanted, found] for wanted in classes if (wanted, found) in _WAYS), "")
        wanted = "an operating point such as at_fmr(1e-3) or at_threshold(0.5)" if "OperatingPoint" in classes else ""
        raise _wrong(name, wanted or " or ".join(", ".join(classes).rsplit(", ", 1)), value, hint)

    return check


# What makes an object of a class from text; the modules of these classes add theirs.
READERS: dict[str, Callable[[str], Any]] = {}
_point = one_of("OperatingPoint")


def point(name: str, value: Any) -> Any:
    """Require an operating point, or the text of one, such as "fmr=0.001"."""
    return READERS["OperatingPoint"](value) if isinstance(value, str) else _point(name, value)


_system = one_of("Comparisons", "ScannedComparisons", "Embeddings")


def systems(name: str, value: Any) -> Any:
    """Require one system's comparisons or vectors, or a list of at least two, or a dict of these by their names."""
    if not isinstance(value, Mapping | list | tuple):
        return _system(name, value)
    if len(value) < 2:
        raise _wrong(name, "one system, or a dict or a list of at least two", value)
    if isinstance(value, Mapping):
        return {text(f"a name in {name}", key): _system(f"{name}[{shown(key)}]", one) for key, one in value.items()}
    return [_system(f"{name}[{k}]", one) for k, one in enumerate(value)]


def points(name: str, value: Any) -> Any:
    """Require one operating point, or several."""
    if isinstance(value, str) or _is_a(value, "OperatingPoint"):
        return point(name, value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) or _is_a(one, "OperatingPoint") for one in value):
        return [point(name, one) for one in value]
    raise _wrong(name, "operating points such as at_fmr(1e-3) or at_threshold(0.5)", value)


def applications(name: str, value: Any) -> Any:
    """Require one application, or several."""
    found = [value] if _is_a(value, "Application") else value
    if isinstance(found, list | tuple) and all(_is_a(one, "Application") for one in found):
        return value
    raise _wrong(name, "applications such as Application(0.01) or Application(0.05, c_miss=1, c_fa=10)", value)


def text(name: str, value: Any) -> str:
    """Require text."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise _wrong(name, "text", value)


def texts(name: str, value: Any) -> str | list[str]:
    """Require one text, or a list of texts."""
    if isinstance(value, str):
        return text(name, value)
    if isinstance(value, Collection) and not isinstance(value, bytes | bytearray):
        return [text(name, one) for one in value]
    raise _wrong(name, "text, or a list of texts", value)


def measure(name: str, value: Any) -> str:
    """Require the name of a fairness measure, or its function, which has its record; return the name."""
    record = getattr(value, "estimand", value)
    if _is_a(record, "Estimand"):
        return str(record.name)
    return text(name, value) if isinstance(value, str) else _no(name, "the name of a measure, or its function", value)


def measures(name: str, value: Any) -> str | list[str]:
    """Require one measure, or several."""
    if isinstance(value, list | tuple):
        return [measure(name, one) for one in value]
    return measure(name, value) if callable(value) or _is_a(value, "Estimand") else texts(name, value)


def text_by_name(name: str, value: Any) -> dict[str, str] | None:
    """Require None, or a dict from text to text."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {text(name, key): text(f"{name}[{shown(key)}]", one) for key, one in value.items()}
    raise _wrong(name, "a dict from text to text", value)


def number_by_name(name: str, value: Any) -> dict[str, float]:
    """Require a dict from text to number."""
    if isinstance(value, Mapping):
        return {text(name, key): number(f"{name}[{shown(key)}]", one) for key, one in value.items()}
    raise _wrong(name, "a dict from text to number", value)


def texts_or_pairs(name: str, value: Any) -> str | list[str | tuple[str, str]]:
    """Require names of columns; a pair names the columns of references and of probes."""
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


def text_or_pair(name: str, value: Any) -> str | tuple[str, str]:
    """Require the name of a column, or a pair of names."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return text(name, value[0]), text(name, value[1])
    return text(name, value) if isinstance(value, str) else _no(name, "the name of a column, or a pair of them", value)


def text_or_labels(name: str, value: Any) -> Any:
    """Require the name of a column, or labels."""
    return text(name, value) if isinstance(value, str) else labels(name, value)


def text_or_labels_or_count(name: str, value: Any) -> Any:
    """Require a name, a column of labels, or a whole number."""
    return text(name, value) if isinstance(value, str) else labels_or_count(name, value)


def texts_or_groups(name: str, value: Any) -> Any:
    """Require names of columns, or columns of labels by name."""
    return groups(name, value) if isinstance(value, Mapping) else texts(name, value)


def group_or_cell(name: str, value: Any) -> str | tuple[str, ...]:
    """Require a group, or the two groups of a cell of the FMR matrix."""
    if isinstance(value, tuple) and len(value) == 2:
        return tuple(text(name, one) for one in value)
    return text(name, value) if isinstance(value, str) else _no(name, "a group, or a pair of them", value)


def whole(name: str, value: Any) -> int:
    """Require a whole number of at least 0."""
    return validation.count(name, value)


def replicates(name: str, value: Any) -> int:
    """Require a number of replicates: more of them would not change the digits that are printed."""
    found = validation.count(name, value)
    if found > _MOST_REPLICATES:
        raise InputError(
            f"{name} must be at most {_MOST_REPLICATES:,}, not {found:,}: limits hardly vary from 10,000 on"
        )
    return found


def number(name: str, value: Any) -> float:
    """Require a finite number; an int stays an int."""
    found = validation.real(name, value)
    return value if type(value) is int else found


def any_float(name: str, value: Any) -> float:
    """Require a number that need not be finite."""
    if isinstance(value, float | np.floating):
        return float(value)
    return number(name, value)


def text_or_number(name: str, value: Any) -> str | float:
    """Require the name of a policy, or a number in its place."""
    return text(name, value) if isinstance(value, str) else number(name, value)


def flag(name: str, value: Any) -> bool:
    """Require True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise _wrong(name, "True or False", value)


def seed(name: str, value: Any) -> Any:
    """Require a seed of random numbers."""
    return seeds.checked_seed(name, value)


def heard(name: str, value: Any) -> Any:
    """Require True, False or a function that progress is reported to."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return _called_with(name, value, (0, 1), "True, False or a function of two numbers, the work done and all the work")


def executor(name: str, value: Any) -> Any:
    """Require None, or an object that runs tasks."""
    if value is None or (callable(getattr(value, "submit", None)) and not isinstance(value, type)):
        return value
    raise _wrong(name, "an executor with a method submit, as those of concurrent.futures or a Client of Dask", value)


def _called_with(name: str, value: Any, arguments: tuple[Any, ...], wanted: str) -> Any:
    if not callable(value) or isinstance(value, type):
        raise _wrong(name, wanted, value)
    try:
        signature = inspect.signature(value)
    except ValueError:  # a built-in function without a signature
        return value
    try:
        signature.bind(*arguments)
    except TypeError:
        raise _wrong(name, wanted, value) from None
    return value


def _no(name: str, wanted: str, value: object) -> Any:
    raise _wrong(name, wanted, value)


def _listed(name: str, value: Any, wanted: str) -> Any:
    """Return a value that can become an array; refuse text, sets, mappings and iterators."""
    if isinstance(value, np.ndarray):
        if 0 in value.strides:  # it takes no memory itself, but its copies do
            memory.require(8 * value.size, f"{value.size:,} values of {name}", "give fewer")
        return value
    if isinstance(value, list):
        return value if type(value) is list else list.copy(value)
    if isinstance(value, tuple):
        return value if type(value) is tuple else tuple.__getitem__(value, slice(None))
    # Having items is not enough: some such objects have no end.
    listed = hasattr(type(value), "__array__") or isinstance(value, Sequence | array_module.array)
    if listed and not isinstance(value, str | bytes | bytearray):
        return arrays.plain(name, value)
    raise _wrong(name, wanted, value)


def array(name: str, value: Any) -> Any:
    """Require an array or a list."""
    return _listed(name, value, "an array or a list")


def one_or_two_arrays(name: str, value: Any) -> Any:
    """Require an array or a list; in a tuple, two of them."""
    if isinstance(value, tuple):
        if len(value) != 2:
            raise _wrong(name, "an array, or a pair of arrays in a tuple", value)
        return tuple(array(name, one) for one in value)
    return array(name, value)


def numbers(name: str, value: Any) -> Any:
    """Require a number, or an array of numbers."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return value
    return _listed(name, value, "a number or an array of them")


def labels(name: str, value: Any) -> Any:
    """Require a column of labels."""
    return value if _is_a(value, "Coded") else _listed(name, value, "an array or a list of labels")


def labels_or_count(name: str, value: Any) -> Any:
    """Require a column of labels, or a whole number."""
    is_number = isinstance(value, int | float | complex | str | np.generic) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )
    return whole(name, value) if is_number else labels(name, value)


def groups(name: str, value: Any) -> Any:
    """Require a column of labels, or several by attribute."""
    if not isinstance(value, Mapping):
        return labels(name, value)
    return {key: labels(f"{name}[{shown(key)}]", column) for key, column in value.items()}


def optional(check: Check) -> Check:
    """Make a check that also accepts None."""
    return lambda name, value: None if value is None else check(name, value)


def path(name: str, value: Any) -> str | Path:
    """Require a possible name of a file or folder."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong(name, "the name of a file", value)
    written = os.fspath(value)
    if not isinstance(written, str):
        raise _wrong(name, "a name in text", value)
    try:
        size = len(os.fsencode(written))
        longest = max((len(os.fsencode(part)) for part in Path(written).parts), default=0)
    except UnicodeEncodeError:
        raise _wrong(name, "a name that can be written", value) from None
    if "\0" in written:
        raise _wrong(name, "the name of a file", value)
    if not written:
        raise InputError(f"{name} is empty: name a file or folder")
    if size >= _LONGEST_PATH or longest > _LONGEST_NAME:
        raise InputError(f"{name} is a name of {size:,} characters, longer than file systems allow: {shown(value)}")
    return value if isinstance(value, Path) else written


def amount_of_memory(name: str, value: Any) -> int:
    """Require a number of bytes, or text such as "4 GB"."""
    return memory.bytes_of(name, value)


def paths(name: str, value: Any) -> list[str | Path]:
    """Require a list of possible names of files; the name of one counts as a list of it."""
    several_paths = [value] if isinstance(value, str | os.PathLike) else value
    if isinstance(several_paths, list | tuple):
        return [path(name, one) for one in several_paths]
    raise _wrong(name, "names of files", value)


def results(name: str, value: Any) -> list[Any]:
    """Require a result that a page can show, or a list of such; one counts as a list of it."""
    several_results = list(value) if isinstance(value, list | tuple) else [value]
    wrong = next((one for one in several_results if not _is_a(one, "Result")), None)
    if several_results and wrong is None:
        return several_results
    raise _wrong(name, "results, such as evaluate, check or fnmr_test return", value if wrong is None else wrong)


def source(name: str, value: Any) -> Any:
    """Require the name of a file, or a data frame."""
    if isinstance(value, str | os.PathLike):
        return path(name, value)
    if hasattr(type(value), "__dataframe__") or hasattr(type(value), "__narwhals_dataframe__") or _is_framed(value):
        return value
    raise _wrong(name, "a file's path or a data frame", value)


def sources(name: str, value: Any) -> Any:
    """Require the name of a file, a list of such names, or a data frame."""
    return paths(name, value) if isinstance(value, list | tuple) else source(name, value)


def source_of_vectors(name: str, value: Any) -> Any:
    """Require vectors with names, or where to read them."""
    return value if _is_a(value, "NamedVectors") else sources(name, value)


def _is_framed(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in _FRAMES or hasattr(type(value), "__arrow_c_stream__")


def axes(name: str, value: Any) -> Any:
    """Require matplotlib's Axes."""
    for c in type(value).__mro__:
        if c.__name__ in ("Axes", "_AxesBase") and c.__module__.startswith("matplotlib."):
            return value
    raise _wrong(name, "matplotlib Axes, as plt.subplots() gives", value)


def rows(name: str, value: Any) -> Any:
    """Require positions: a slice or an array of whole numbers."""
    if isinstance(value, slice):
        if all(isinstance(part, int | np.integer | None) for part in (value.start, value.stop, value.step)):
            return value
        raise _wrong(name, "a slice of whole numbers", value)
    found = arrays.plain(name, array(name, value))
    return found if found.dtype.kind in "iu" and found.ndim == 1 else _no(name, "a slice or whole numbers", value)


def key(name: str, value: Any) -> Any:
    """Require the key of a score (see `data.score_keys`), which is a NumPy integer."""
    return value if type(value) in (np.int32, np.int64) else _no(name, "a key: an int32 or int64 of NumPy", value)


def pair(name: str, value: Any) -> Any:
    """Require a number, or a pair of numbers."""
    if isinstance(value, list | tuple):
        return tuple(number(name, one) for one in value)
    return tuple(value) if isinstance(value, np.ndarray) and value.ndim == 1 else number(name, value)


def several(check: Check) -> Check:
    """Make a check for a list of values that pass another check."""

    def checked(name: str, value: Any) -> list[Any]:
        return [check(name, one) for one in _listed(name, value, "a list")]

    return checked


def text_or_several(check: Check) -> Check:
    """Make a check for text, or a list of values that pass another check."""
    of_list = several(check)
    return lambda name, value: text(name, value) if isinstance(value, str) else of_list(name, value)
