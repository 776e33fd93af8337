"""The one way to the terminal: names of groups and files cannot steer it, or a job that logs what is printed."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fastfair.errors import OutputError, visible

if TYPE_CHECKING:
    from fastfair.results.result import Printed, Result

# Services that run jobs obey such lines: GitHub Actions those that begin with "::" or have "##[".
_COMMANDS = re.compile(r"(?<!\S)::|##\[")
_CUT_OFF = 128 + getattr(signal, "SIGPIPE", 13)  # exit status of a tool whose output is no longer read


def harmless(text: str) -> str:
    """Return text with control characters as escapes, and without commands to a service that runs jobs."""
    lines = (_COMMANDS.sub(lambda found: rf"\x{ord(found[0][0]):02x}{found[0][1:]}", line) for line in text.split("\n"))
    return "\n".join(map(visible, lines))


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines of text."""
    click.echo(harmless(text), err=err)


def say_json(text: str) -> None:
    """Print JSON, in whose texts control characters are escapes already."""
    click.echo(text.replace("##[", r"\u0023#["))


def print_result(result: Result, title: str = "") -> None:
    """Print a result: its sentences, and its tables."""
    if title:
        say(f"\n{title}")
    say(result.summary())
    for table in result._tables():
        say()
        print_table(table)


def print_table(table: Printed) -> None:
    """Print a table below its title."""
    from fastfair._lib.text import in_lines

    title, headings, rows = table
    if title:
        say(visible(title))
    if rows:
        say("\n".join(in_lines(headings, rows)))


class _Stream(io.FileIO):
    """A standard stream that calls a function when it cannot be written, as its pipe is closed or its disk full."""

    def __init__(self, descriptor: int, on_fault: Callable[[OSError], None]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._on_fault = on_fault
        self._broken = False

    def write(self, data: Any, /) -> int:
        if not self._broken:
            try:
                return super().write(data)
            except OSError as error:
                self._broken = True  # from here on, writes are dropped
                self._on_fault(error)
        return memoryview(data).nbytes


def _end(error: OSError) -> None:
    """End as other tools do when their output is no longer read, or say that results cannot be printed."""
    if isinstance(error, BrokenPipeError):
        sys.exit(_CUT_OFF)
    raise OutputError(f"the results cannot be printed: {error.strerror}") from error


def _go_on(_: OSError) -> None:
    """Ignore that a warning cannot be printed: the results still matter."""


def guard_streams() -> None:
    """Print characters that the terminal lacks as "?", and end without a traceback if the output is closed."""
    for name, on_fault in (("stdout", _end), ("stderr", _go_on)):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before the program began
            stream = _text(os.open(os.devnull, os.O_WRONLY), on_fault, "utf-8")
        elif isinstance(stream, io.TextIOWrapper) and os.name == "posix":  # on Windows, consoles are not files
            stream = _text(stream.fileno(), on_fault, stream.encoding, stream.line_buffering)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        setattr(sys, name, stream)


def _text(
    descriptor: int, on_fault: Callable[[OSError], None], encoding: str, line_buffering: bool = False
) -> io.TextIOWrapper:
    raw = _Stream(descriptor, on_fault)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, line_buffering=line_buffering)
