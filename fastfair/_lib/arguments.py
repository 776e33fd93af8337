"""Check the arguments of public functions by their annotations, before a function runs.

An annotation says which values are meant: `str` is text, `float` a finite number, `int` a whole number of at least 0,
`Literal[...]` one of some words, `Sequence[...]` a list, `ArrayLike` a number or an array. `Annotated[type, check]`
says that a function (name, value) -> value checks what no other member of the union takes. Values of equivalent types
(NumPy's numbers, subclasses of str) become Python's own. Annotations are read when a function is first called.
"""

from __future__ import annotations

import builtins
import inspect
import numbers
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import FastfairError, InputError, NotEnoughMemoryError

from . import arrays, validation
from .text import shown

Check = Callable[[str, Any], Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])
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
    ("operating points", "number"): "write at_fmr(1e-3) for an FMR, at_threshold(0.5) for a threshold",
}
# Classes that messages describe by how they are made: one, and several.
_DESCRIBED = {
    "OperatingPoint": ("an operating point such as at_fmr(1e-3) or at_threshold(0.5)", "operating points"),
    "Costs": ("costs such as Costs(0.05, c_miss=1, c_fa=10)", "costs"),
}
# What makes an object of a class from text; the modules of these classes add theirs.
READERS: dict[str, Callable[[str], Any]] = {}


# The kinds of values.


@dataclass(frozen=True)
class _Kind:
    """Values of one kind: what messages call one and several, which values are meant, and how one is read."""

    wanted: str
    several: str
    takes: Callable[[Any], bool]
    read: Check = lambda name, value: value


def _wrong(name: str, wanted: str, value: object, hint: str = "") -> InputError:
    return InputError(f"{name} must be {wanted}, not {shown(value)}{hint and f': {hint}'}")


def _listed(words: Iterable[str]) -> str:
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most).replace(' or ', ', ')} or {last}" if most else last


def is_a(value: object, name: str) -> bool:
    """Return whether a value is of one of the library's classes; by name, as this module may not import them."""
    return any(c.__name__ == name and c.__module__.startswith("fastfair.") for c in type(value).__mro__)


def _anything(value: object) -> bool:
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _plain_text(name: str, value: Any) -> str:
    return value if type(value) is str else str.__str__(value)


def _is_number(value: object) -> bool:
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return isinstance(plain, numbers.Real) and not isinstance(plain, bool)


def _number(name: str, value: Any) -> float:
    found = validation.real(name, value)
    return value if type(value) is int else found  # an int stays an int


def _is_whole(value: object) -> bool:
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return isinstance(plain, int | np.integer) and not isinstance(plain, bool)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _path(name: str, value: Any) -> str | Path:
    """Require a possible name of a file or folder."""
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


def _is_frame(value: object) -> bool:
    kind = type(value)
    marks = ("__dataframe__", "__narwhals_dataframe__", "__arrow_c_stream__")
    return kind.__module__.partition(".")[0] in _FRAMES or any(hasattr(kind, mark) for mark in marks)


def _is_axes(value: object) -> bool:
    classes = type(value).__mro__
    return any(c.__name__ in ("Axes", "_AxesBase") and c.__module__.startswith("matplotlib.") for c in classes)


def _number_or_array(name: str, value: Any) -> Any:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return value
    return arrays.listed(name, value, "a number or an array of them")


_KINDS: dict[Any, _Kind] = {
    NoneType: _Kind("None", "None", lambda value: value is None),
    str: _Kind("text", "texts", _is_text, _plain_text),
    bool: _Kind("True or False", "flags", lambda v: isinstance(v, bool | np.bool_), lambda name, value: bool(value)),
    int: _Kind("a whole number of at least 0", "whole numbers", _is_whole, validation.count),
    float: _Kind("a finite number", "numbers", _is_number, _number),
    Path: _Kind("the name of a file", "names of files", _is_path, _path),
    np.ndarray: _Kind("an array", "arrays", _anything, _number_or_array),
    # Names that stand for unions, or that are imported for type checkers alone.
    "ArrayLike": _Kind("an array", "arrays", _anything, _number_or_array),
    "IntoDataFrame": _Kind("a data frame", "data frames", _is_frame),
    "Axes": _Kind("matplotlib Axes, as plt.subplots() gives", "Axes", _is_axes),
}
_KINDS[NDArray] = _KINDS[np.ndarray]  # a type of its own in NumPy 2.5


# Checks that annotations name, where a type alone does not say what is allowed.


def _replicates(name: str, value: Any) -> int:
    found = validation.count(name, value)
    if found > _MOST_REPLICATES:
        raise InputError(
            f"{name} must be at most {_MOST_REPLICATES:,}, not {found:,}: limits hardly vary from 10,000 on"
        )
    return found


def _measure(name: str, value: Any) -> str:
    """Return the name of a fairness measure: functions of measures have its record."""
    record = getattr(value, "estimand", value)
    return str(record.name) if is_a(record, "Estimand") else _plain_text(name, value)


def _is_measure(value: object) -> bool:
    return isinstance(value, str) or is_a(getattr(value, "estimand", value), "Estimand")


def _any_number(name: str, value: Any) -> float:
    return float(value) if isinstance(value, float | np.floating) else _number(name, value)


Resamples = Annotated[int, _replicates]  # more of them would not change the digits that are printed
AnyNumber = Annotated[float, _Kind("a number", "numbers", _anything, _any_number)]  # one that need not be finite
Measure = Annotated[
    Any, _Kind("the name of a measure or its function", "names or functions of measures", _is_measure, _measure)
]
Array = Annotated[ArrayLike, lambda name, value: arrays.listed(name, value, "an array or a list")]


# From annotations to checks.


def _class_kind(name: str) -> _Kind:
    wanted, several = _DESCRIBED.get(name, (name, name))
    if name not in READERS:
        return _Kind(wanted, several, lambda value: is_a(value, name))

    def read(argument: str, value: Any) -> Any:
        return READERS[name](value) if isinstance(value, str) else value

    return _Kind(wanted, several, lambda value: isinstance(value, str) or is_a(value, name), read)


def _literal(words: tuple[str, ...]) -> _Kind:
    wanted = f"one of {', '.join(map(repr, words))}"
    return _Kind(wanted, wanted, _is_text, lambda name, value: validation.choice(name, _plain_text(name, value), words))


def _function_kind(n_arguments: int) -> _Kind:
    wanted = f"a function of {('no', 'one', 'two', 'three')[n_arguments]} numbers"

    def takes(value: Any) -> bool:
        if not callable(value) or isinstance(value, type):
            return False
        try:
            inspect.signature(value).bind(*range(n_arguments))
        except TypeError:
            return False
        except ValueError:  # a built-in function without a signature
            return True
        return True

    return _Kind(wanted, wanted, takes)


def _list_kind(inner: Any) -> _Kind:
    """Lists; of text and numbers also arrays and columns of data frames, and of text sets."""
    several, check = _listed(kind.several for kind in _kinds(inner)), _check(inner)
    inside = set(get_args(inner)) or {inner}
    of_text = bool({str, Any} & inside) or get_origin(inner) is Literal
    of_values = (of_text and Path not in inside) or inside <= {float, int}

    def takes(value: Any) -> bool:
        if not of_values or isinstance(value, list | tuple):
            return isinstance(value, list | tuple)
        is_values = isinstance(value, Collection) or hasattr(type(value), "__array__")
        return is_values and not isinstance(value, str | bytes | bytearray | Mapping)

    def read(name: str, value: Any) -> list[Any]:
        if not (of_text and isinstance(value, Collection)):
            value = arrays.listed(name, value, f"a list of {several}")
        return [check(f"{name}[{k}]", entry) for k, entry in enumerate(value)]

    return _Kind(f"a list of {several}", f"lists of {several}", takes, read)


def _dict_kind(inner: Any) -> _Kind:
    several, check = _listed(kind.several for kind in _kinds(inner)), _check(inner)

    def read(name: str, value: Any) -> dict[str, Any]:
        text = _check(str)
        return {text(f"a name in {name}", key): check(f"{name}[{shown(key)}]", entry) for key, entry in value.items()}

    return _Kind(f"a dict from text to {several}", "dicts", lambda value: isinstance(value, Mapping), read)


def _pair_kind(inner: tuple[Any, ...]) -> _Kind:
    several, checks = _listed(kind.several for part in inner for kind in _kinds(part)), [_check(part) for part in inner]

    def read(name: str, value: Any) -> tuple[Any, ...]:
        if len(value) != len(inner):
            raise _wrong(name, f"a pair of {several}", value)
        return tuple(check(name, entry) for check, entry in zip(checks, value, strict=True))

    return _Kind(f"a pair of {several}", f"pairs of {several}", lambda value: isinstance(value, tuple), read)


def _kinds(annotation: Any) -> Iterator[_Kind]:
    """Yield the kinds of values that an annotation allows."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        words = tuple(word for member in inner if get_origin(member) is Literal for word in get_args(member))
        members = [member for member in inner if not (member is str and Path in inner)]  # a path may be text
        for member in dict.fromkeys(Literal[words] if get_origin(member) is Literal else member for member in members):
            yield from _kinds(member)
    elif origin is Annotated:
        found = annotation.__metadata__[0]
        yield found if isinstance(found, _Kind) else _Kind("", "", _anything, found)
    elif origin is Literal:
        yield _literal(inner)
    elif origin in (Sequence, list):
        yield _list_kind(inner[0])
    elif origin is Mapping:
        yield _dict_kind(inner[1])
    elif origin is tuple:
        yield _pair_kind(inner)
    elif origin is Callable:
        yield _function_kind(len(inner[0]))
    else:
        kind = _KINDS.get(origin or annotation) or _KINDS.get(getattr(annotation, "__name__", None))
        if kind is None and not (isinstance(annotation, type) and annotation.__module__.startswith("fastfair")):
            raise TypeError(f"arguments cannot be checked by the annotation {annotation!r}")
        yield kind or _class_kind(annotation.__name__)


def _check(annotation: Any) -> Check:
    """Return the check of values by an annotation."""
    listed = list(_kinds(annotation))
    pairs = [kind for kind in listed if kind.wanted.startswith("a pair")]
    kinds = [*pairs, *sorted((kind for kind in listed if kind not in pairs), key=lambda kind: kind.takes is _anything)]

    def check(name: str, value: Any) -> Any:
        for kind in kinds:
            if kind.takes(value):
                return kind.read(name, value)
        for pair in pairs:
            if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1):
                return pair.read(name, value)
        found = _found(value)
        hint = next((_WAYS[kind.several, found] for kind in listed if (kind.several, found) in _WAYS), "")
        raise _wrong(name, _listed(kind.wanted for kind in listed if kind.wanted != "None"), value, hint)

    return check


def _found(value: object) -> str:
    if type(value).__module__.partition(".")[0] in _FRAMES:
        return "data frame"
    if isinstance(value, str | os.PathLike):
        return "file name"
    return "number" if isinstance(value, int | float) else type(value).__name__


class _Names(dict[str, Any]):
    """The names in a module's annotations; those that it imports for type checkers alone stand for themselves."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or type(name, (), {"__module__": "fastfair"})


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotation of each argument of a function or dataclass, by its name."""
    function = inspect.unwrap(function)
    names = _Names(vars(sys.modules[function.__module__]) if isinstance(function, type) else function.__globals__)
    names |= {name: type(name, (), {}) for name in _KINDS if isinstance(name, str)}
    return {
        p.name: eval(p.annotation, {}, names) if isinstance(p.annotation, str) else p.annotation
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name not in ("self", "cls")
    }


def words_of(annotation: Any) -> tuple[str, ...]:
    """Return the words that an annotation allows by `Literal`, in a list or alone."""
    inner = get_args(annotation)
    if get_origin(annotation) is Literal:
        return inner
    return tuple(dict.fromkeys(word for member in inner for word in words_of(member)))


def checks_of(function: Callable[..., Any]) -> dict[str, Check]:
    """Return the check of each argument of a function, by its name."""
    return {name: _check(annotation) for name, annotation in annotations_of(function).items()}


# The decorator.


@overload
def checked(function: _Function, /) -> _Function: ...
@overload
def checked(*, takes: Callable[..., Any]) -> Callable[[_Function], _Function]: ...
def checked(function: Any = None, /, *, takes: Callable[..., Any] | None = None) -> Any:
    """Check every argument of a function by its annotation before the function runs; defaults are not checked.

    Parameters
    ----------
    function : function or dataclass
        The function; of a dataclass, its constructor is checked.
    takes : function, optional
        The function that receives the arguments gathered by two stars; they are checked as its own are.

    Returns
    -------
    function
        Has the name, signature and documentation of `function`.
    """
    return (lambda given: _decorated(given, takes)) if function is None else _decorated(function, takes)


def _refuse_other_indices(arguments: Iterable[tuple[str, Any]]) -> None:
    """Refuse columns of pandas whose rows have other labels, or the same in another order: which belong together?"""
    pandas = sys.modules["pandas"]
    columns = []
    for name, value in arguments:
        inside = value.items() if type(value) is dict else [("", value)]
        columns += [
            (f"{name} {key!r}" if key else name, column)
            for key, column in inside
            if issubclass(type(column), pandas.Series)
        ]
    for name, column in columns[1:]:
        first, others = columns[0]
        if len(column) == len(others) and not column.index.equals(others.index):
            raise InputError(
                f"the rows of {name} have another index than those of {first}, so that it is not clear which belong "
                "together: sort both alike, or pass .to_numpy() of each to take them in their order"
            )


@dataclass(frozen=True)
class _Arguments:
    """The arguments of a function: their checks and defaults, names of those given by place, and of one with a star."""

    checks: dict[str, Check]
    defaults: dict[str, Any]
    by_place: list[str]
    gathered: str

    def read(self, name: str, value: Any) -> Any:
        """Return the checked value that the function receives."""
        if name not in self.checks or value is self.defaults[name]:
            return value
        try:
            return self.checks[name](name, value)
        except FastfairError:
            raise
        except Exception as error:  # raised by the value's own methods
            raise InputError(f"{name} cannot be read, as it raises {type(error).__name__}") from error


def _arguments(function: Any, takes: Any) -> _Arguments:
    checks, defaults = {}, {}
    if takes is not None:
        first, *others = inspect.signature(takes).parameters.values()
        checks = {name: check for name, check in checks_of(takes).items() if name != first.name}
        defaults = {parameter.name: parameter.default for parameter in others}
    parameters = inspect.signature(function).parameters.values()
    by_place = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    gathered = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    checks |= checks_of(function)
    return _Arguments(checks, defaults | {p.name: p.default for p in parameters}, by_place, gathered)


def _decorated(function: Any, takes: Any) -> Any:
    if isinstance(function, type):
        function.__init__ = _decorated(function.__init__, takes)  # type: ignore[misc]
        return function
    known: _Arguments | None = None

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        nonlocal known
        if known is None:
            known = _arguments(function, takes)
        if len(args) + len(kwargs) > 1 and "pandas" in sys.modules:
            _refuse_other_indices([*zip(known.by_place, args, strict=False), *kwargs.items()])
        given = [known.read(name, value) for name, value in zip(known.by_place, args, strict=False)]
        given += [known.read(known.gathered, value) for value in args[len(given) :]]
        for name, value in kwargs.items():
            if takes is not None and name not in known.checks:
                raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {name!r}")
            kwargs[name] = known.read(name, value)
        try:
            return function(*given, **kwargs)
        except FastfairError:
            raise
        except MemoryError as error:
            what = function.__qualname__.removesuffix(".__init__")
            raise NotEnoughMemoryError(
                f"{what} needs more memory than the system gives this process ({error}): take fewer data or "
                "replicates, scan_comparisons for score files, or a larger limit (ulimit -v)"
            ) from error

    return checking
