"""Check the arguments of public functions by their annotations, before a function runs.

An annotation says which values are meant: `str` is text, `float` a finite number, `int` a whole
number of at least 0, `Literal[...]` one of some words, `Sequence[...]` a list, `ArrayLike` a number
or an array. `Annotated[type, check]` says that a function (name, value) -> value checks what no
other member of the union takes. Values of equivalent types (NumPy's numbers, subclasses of str)
become Python's own. Annotations are read when a function is first called.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import numbers
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import FastfairError, InputError, NotEnoughMemoryError

from . import validation
from .text import joined_by_or, shown

Check = Callable[[str, Any], Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST_REPLICATES = 10**7  # with which limits hardly vary from seed to seed
# How to make the class wanted (first) from the class found (second), as a hint in messages.
_WAYS = {
    ("Comparisons", "Embeddings"): "make them with its method comparisons()",
    (
        "Comparisons",
        "data frame",
    ): "make Comparisons of it with Comparisons.from_frame or read_comparisons",
    ("Comparisons", "file name"): "read it with read_comparisons",
    (
        "Comparisons",
        "ScannedComparisons",
    ): (
        "a scan has kept few scores. evaluate, claim, fnmr_test and margin_of_error take it, and"
        " compare and fmr_test one of vectors; else use read_comparisons, or the vectors' method"
        " comparisons()"
    ),
    ("Comparisons", "FailureCounts"): "failure counts have no scores",
    ("Embeddings", "file name"): "read it with read_embeddings",
    ("Embeddings", "data frame"): "make Embeddings of it with read_embeddings",
    ("FailureCounts", "data frame"): "make FailureCounts of it with read_failure_counts",
    (
        "operating points",
        "number",
    ): "write at_fmr(1e-3) for an FMR, at_threshold(0.5) for a threshold",
}


# The kinds of values.


@dataclass(frozen=True)
class Kind:
    """Values of one kind: what messages call one and several, which values are meant, how one is
    read, and known words.

    Modules add the kinds of their classes to `KINDS`, by name.
    """

    wanted: str
    several: str
    takes: Callable[[Any], bool]
    read: Check = lambda name, value: value
    words: Callable[[], Iterable[str]] = tuple
    is_pair: bool = False


def _wrong(name: str, wanted: str, value: object, hint: str = "") -> InputError:
    return InputError(f"{name} must be {wanted}, not {shown(value)}{hint and f': {hint}'}")


def is_a(value: object, name: str, library: str = "fastfair") -> bool:
    """Return whether a value is of a class of a library; by name, as this module may not import
    it.
    """
    classes = type(value).__mro__
    return any(
        base.__name__ == name and base.__module__.startswith(f"{library}.") for base in classes
    )


def _anything(value: object) -> bool:
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _plain_text(name: str, value: Any) -> str:
    return str.__str__(value)


def _is_number(value: object) -> bool:
    return isinstance(validation.scalar(value), numbers.Real) and not isinstance(
        validation.scalar(value), bool
    )


def _path(name: str, value: Any) -> str | Path:
    """Require a name of a file or folder; whether there can be such is seen where it is used."""
    written = os.fspath(value)
    if not isinstance(written, str):
        raise _wrong(name, "the name of a file", value)
    if not written:
        raise InputError(f"{name} is empty: name a file or folder")
    return value if isinstance(value, Path) else str.__str__(written)


def _is_frame(value: object) -> bool:
    marks = ("__dataframe__", "__narwhals_dataframe__", "__arrow_c_stream__")
    return any(hasattr(type(value), mark) for mark in marks)


def _number_or_array(name: str, value: Any) -> Any:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return value
    return validation.listed(name, value, "a number or an array of them")


KINDS: dict[Any, Kind] = {
    NoneType: Kind("None", "None", lambda value: value is None),
    str: Kind("text", "texts", _is_text, _plain_text),
    bool: Kind(
        "True or False",
        "flags",
        lambda v: isinstance(v, bool | np.bool_),
        lambda name, value: bool(value),
    ),
    int: Kind(
        "a whole number of at least 0",
        "whole numbers",
        lambda value: _is_number(value) and isinstance(validation.scalar(value), numbers.Integral),
        validation.count,
    ),
    float: Kind("a finite number", "numbers", _is_number, validation.number),
    Path: Kind(
        "the name of a file",
        "names of files",
        lambda value: isinstance(value, str | os.PathLike),
        _path,
    ),
    np.ndarray: Kind("an array", "arrays", _anything, _number_or_array),
    # Names that stand for unions, or that are imported for type checkers alone.
    "IntoDataFrame": Kind("a data frame", "data frames", _is_frame),
    "Axes": Kind(
        "matplotlib Axes, as plt.subplots() gives",
        "Axes",
        lambda value: is_a(value, "Axes", "matplotlib"),
    ),
}
KINDS["ArrayLike"] = KINDS[NDArray] = KINDS[np.ndarray]  # NDArray is a type of its own in NumPy 2.5


# Constraints that annotations name, where a type alone does not say what is allowed.


def _resamples(name: str, value: Any, least: int = 0) -> int:
    n = validation.count(name, value, least)
    if n > _MOST_REPLICATES:
        raise InputError(
            f"{name} must be at most {_MOST_REPLICATES:,}, not {n:,}: limits hardly vary from"
            " 10,000 on"
        )
    return n


def at_least(n: int) -> Check:
    """Return the check of whole numbers of at least n."""
    return partial(validation.count, least=n)


Resamples = Annotated[int, _resamples]  # more of them would not change the digits that are printed
SomeResamples = Annotated[int, partial(_resamples, least=1)]
ManyResamples = Annotated[int, partial(_resamples, least=2)]
Natural = Annotated[int, at_least(1)]
AtLeastTwo = Annotated[int, at_least(2)]
Positive = Annotated[float, validation.positive]
Rate = Annotated[float, validation.fraction]  # in [0, 1)
Share = Annotated[float, partial(validation.fraction, interval="[0, 1]")]
Probability = Annotated[float, partial(validation.fraction, interval="(0, 1)")]
AnyNumber = Annotated[float, Kind("a number", "numbers", _anything, validation.any_number)]
Array = Annotated[ArrayLike, partial(validation.listed, wanted="an array or a list")]


# From annotations to checks.


def _literal(words: tuple[str, ...]) -> Kind:
    wanted = f"one of {', '.join(map(repr, words))}"
    return Kind(
        wanted,
        wanted,
        _is_text,
        lambda name, value: validation.choice(name, _plain_text(name, value), words),
    )


def _list_kind(inner: Any) -> Kind:
    """Lists; of text and numbers also arrays and columns of data frames, and of text sets."""
    several, check = _several(inner), _check(inner)
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
            value = validation.listed(name, value, f"a list of {several}")
        return [check(f"{name}[{k}]", entry) for k, entry in enumerate(value)]

    return Kind(f"a list of {several}", f"lists of {several}", takes, read)


def _dict_kind(keys: Any, inner: Any) -> Kind:
    check = _check(inner)
    key_check = _check(str) if keys is str else lambda _, key: key

    def read(name: str, value: Any) -> dict[Any, Any]:
        return {
            key_check(f"a name in {name}", key): check(f"{name}[{shown(key)}]", entry)
            for key, entry in value.items()
        }

    of_keys = "text" if keys is str else "labels"
    return Kind(
        f"a dict from {of_keys} to {_several(inner)}",
        "dicts",
        lambda value: isinstance(value, Mapping),
        read,
    )


def _pair_kind(inner: tuple[Any, ...]) -> Kind:
    several = _several(*inner)
    checks = list(map(_check, inner))

    def read(name: str, value: Any) -> tuple[Any, ...]:
        if len(value) != len(inner):
            raise _wrong(name, f"a pair of {several}", value)
        return tuple(check(name, entry) for check, entry in zip(checks, value, strict=True))

    return Kind(
        f"a pair of {several}",
        f"pairs of {several}",
        lambda value: isinstance(value, tuple),
        read,
        is_pair=True,
    )


def _several(*annotations: Any) -> str:
    return joined_by_or(kind.several for annotation in annotations for kind in _kinds(annotation))


def _kinds(annotation: Any) -> Iterator[Kind]:
    """Yield the kinds of values that an annotation allows."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        words = tuple(
            word for member in inner if get_origin(member) is Literal for word in get_args(member)
        )
        # a path may be text
        members = [member for member in inner if not (member is str and Path in inner)]
        for member in dict.fromkeys(
            Literal[words] if get_origin(member) is Literal else member for member in members
        ):
            yield from _kinds(member)
    elif origin is Annotated:
        check = annotation.__metadata__[0]
        yield check if isinstance(check, Kind) else Kind("", "", _anything, check)
    elif origin is Literal:
        yield _literal(inner)
    elif origin in (Sequence, list):
        yield _list_kind(inner[0])
    elif origin is Mapping:
        yield _dict_kind(*inner)
    elif origin is tuple:
        yield _pair_kind(inner)
    elif origin is Callable:
        wanted = f"a function of {('no', 'one', 'two', 'three')[len(inner[0])]} numbers"
        yield Kind(wanted, wanted, lambda value: callable(value) and not isinstance(value, type))
    else:
        kind = KINDS.get(origin or annotation) or KINDS.get(getattr(annotation, "__name__", None))
        if kind is None and not (
            isinstance(annotation, type) and annotation.__module__.startswith("fastfair")
        ):
            raise TypeError(f"arguments cannot be checked by the annotation {annotation!r}")
        name = annotation.__name__
        yield kind or Kind(name, name, partial(is_a, name=name))


def _check(annotation: Any) -> Check:
    """Return the check of values by an annotation."""
    listed = list(_kinds(annotation))
    pairs = [kind for kind in listed if kind.is_pair]
    kinds = [
        *pairs,
        *sorted(
            (kind for kind in listed if kind not in pairs), key=lambda kind: kind.takes is _anything
        ),
    ]

    def check(name: str, value: Any) -> Any:
        for kind in kinds:
            if kind.takes(value):
                return kind.read(name, value)
        for pair in pairs:
            if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1):
                return pair.read(name, value)
        hints = (_WAYS.get((kind.several, _found(value)), "") for kind in listed)
        wanted = joined_by_or(kind.wanted for kind in listed if kind is not KINDS[NoneType])
        raise _wrong(name, wanted, value, next(filter(None, hints), ""))

    return check


def _found(value: object) -> str:
    if _is_frame(value):
        return "data frame"
    if isinstance(value, str | os.PathLike):
        return "file name"
    return "number" if isinstance(value, int | float) else type(value).__name__


class _Names(dict[str, Any]):
    """The names in a module's annotations; those that it imports for type checkers alone stand for
    themselves.
    """

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or type(name, (), {"__module__": "fastfair"})


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotation of each argument of a function or dataclass, by its name."""
    function = inspect.unwrap(function)
    names = _Names(
        vars(sys.modules[function.__module__])
        if isinstance(function, type)
        else function.__globals__
    )
    unions = (
        name for name in KINDS if isinstance(name, str) and not isinstance(names.get(name), type)
    )
    names |= {name: type(name, (), {}) for name in unions}
    return {
        p.name: eval(p.annotation, {}, names) if isinstance(p.annotation, str) else p.annotation
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name not in ("self", "cls")
    }


@functools.cache
def checks_of(function: Callable[..., Any]) -> dict[str, Check]:
    """Return the check of each argument of a function, by its name; defaults are not checked."""

    def checked_by(check: Check, default: Any, name: str, value: Any) -> Any:
        if value is default:
            return value
        try:
            return check(f"⟦{name}⟧", value)
        except FastfairError:
            raise
        except Exception as error:  # raised by the value's own methods
            raise InputError(
                f"⟦{name}⟧ cannot be read, as it raises {type(error).__name__}"
            ) from error

    parameters = inspect.signature(function).parameters
    return {
        name: partial(checked_by, _check(annotation), parameters[name].default)
        for name, annotation in annotations_of(function).items()
    }


def checked_options(
    caller: str, function: Callable[..., Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Check the arguments that a caller passes on by name to a function."""
    _, *names = checks_of(function)
    if unknown := options.keys() - set(names):
        raise TypeError(f"{caller}() got an unexpected keyword argument {min(unknown)!r}")
    return {name: checks_of(function)[name](name, value) for name, value in options.items()}


# The decorator.


def _series_of_pandas() -> type[Any] | None:
    """Return the class of pandas' columns; None where nobody can have one, as pandas is not
    imported, or not yet.
    """
    return getattr(sys.modules.get("pandas"), "Series", None)


def _refuse_other_indices(series: type[Any], arguments: Iterable[tuple[str, Any]]) -> None:
    """Refuse columns of pandas whose rows have other labels, or the same in another order: which
    belong together?
    """
    first = None
    for argument, value in arguments:
        for key, column in value.items() if type(value) is dict else [("", value)]:
            if not issubclass(type(column), series):
                continue
            name = f"{argument} {key!r}" if key else argument
            first = first or (name, column)
            if len(column) == len(first[1]) and not first[1].index.equals(column.index):
                raise InputError(
                    f"the rows of {name} have another index than those of {first[0]}, so that it is"
                    " not clear which belong together: sort both alike, or pass .to_numpy() of"
                    " each to take them in their order"
                )


@functools.cache
def _places(function: Callable[..., Any], n: int) -> list[str]:
    """Return the names of the first n arguments, "" where there are not so many."""
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind in by_place]
    gathered = next(
        (parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL),
        "",
    )
    return [*names, *[gathered] * n][:n]


@functools.cache
def _records_of_fields(function: Callable[..., Any]) -> dict[str, str]:
    """Return how callers write the record of each field of a function's records, such as policies;
    "" for arguments, which are in none.
    """
    parameters = inspect.signature(function).parameters
    records = {name: p.default for name, p in parameters.items() if is_dataclass(p.default)}
    of_fields = {
        field.name: f"{name}={type(record).__name__}"
        for name, record in records.items()
        for field in fields(record)
    }
    return of_fields | dict.fromkeys(parameters, "")


def checked(function: _Function) -> _Function:
    """Check every argument of a function, or of a dataclass's constructor, by its annotation before
    it runs.

    The name, signature and documentation stay.
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function

    @functools.wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        checks = checks_of(function)
        given = list(zip(_places(function, len(args)), args, strict=True))
        if len(args) + len(kwargs) > 1 and (series := _series_of_pandas()):
            _refuse_other_indices(series, [*given, *kwargs.items()])
        args = tuple(
            checks[name](name, value) if name in checks else value for name, value in given
        )
        kwargs = {
            name: checks[name](name, value) if name in checks else value
            for name, value in kwargs.items()
        }
        records = _records_of_fields(function)
        for name in kwargs:
            if record := records.get(name):
                called = function.__qualname__.removesuffix(".__init__")
                raise TypeError(f"{called}() takes {name} as {record}({name}=...)")
        try:
            return function(*args, **kwargs)
        except FastfairError as error:
            error.in_records(records)
            raise
        except MemoryError as error:
            what = function.__qualname__.removesuffix(".__init__")
            raise NotEnoughMemoryError(
                f"{what} needs more memory than the system gives this process ({error}): take fewer"
                " data or replicates, scan_comparisons for score files, or a larger limit"
                " (ulimit -v)"
            ) from error

    return checking  # type: ignore[return-value]
