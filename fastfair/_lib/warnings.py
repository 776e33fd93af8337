"""Warnings that point at the line of the caller outside the library, and errors of ours in place of
others'.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType

from fastfair.errors import FastfairError, MissingDependencyError

_INSIDE = (__name__.partition(".")[0], "contextlib")  # which calls functions with decorators
Told = list[tuple[str, type[Warning]]]  # messages and categories
_held: ContextVar[Told | None] = ContextVar("held", default=None)


@contextmanager
def hold_warnings() -> Iterator[Told]:
    """Hold the warnings of this thread, for another one that knows the caller to `give_warnings`."""
    messages: Told = []
    before = _held.set(messages)
    try:
        yield messages
    finally:
        _held.reset(before)


def give_warnings(messages: Told) -> None:
    """Give warnings that were held."""
    for message, category in messages:
        warn(message, category)


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning that points at the nearest line outside the library, so that no `stacklevel`
    is needed.

    Parameters
    ----------
    message : str
        What was found, and what to do.
    category : type of Warning
        One of `fastfair.errors`.
    """
    messages = _held.get()
    if messages is not None:
        messages.append((message, category))
        return
    frame = sys._getframe(1)
    while (
        frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE
        and frame.f_back is not None
    ):
        frame = frame.f_back
    variables = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        variables.get("__name__"),
        variables.setdefault("__warningregistry__", {}),
    )


@contextmanager
def raise_as(error: type[FastfairError], what: str) -> Iterator[None]:
    """Raise an error of ours in place of any error of another library, except those that end the
    program.

    These errors have many types, and those of polars need not be an `Exception`.

    Parameters
    ----------
    error : type of FastfairError
        The type to raise.
    what : str
        The beginning of its message; the first line of the other error follows.
    """
    try:
        yield
    except (FastfairError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as cause:
        reason = next(
            (line for line in str(cause).splitlines() if line.strip()), type(cause).__name__
        )
        raise error(f"{what}: {reason}") from cause


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f'{purpose} needs the package {module.split(".")[0]}; pip install "fastfair[{extra}]"'
            " brings it"
        ) from None
