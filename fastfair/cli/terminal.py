"""The one way to the terminal: names of groups and files cannot steer it, or a job that logs what
is printed.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fastfair.errors import OutputError, visible

if TYPE_CHECKING:
    from fastfair.results.result import Printed, Result

# Services that run jobs obey such lines: GitHub Actions those that begin with "::" or have "##[".
_COMMANDS = re.compile(r"(?<!\S)::|##\[")
# exit status of a tool whose output is no longer read
_CUT_OFF = 128 + getattr(signal, "SIGPIPE", 13)


def harmless(text: str) -> str:
    """Return text with control characters as escapes, and without commands to a service that runs
    jobs.
    """
    lines = (
        _COMMANDS.sub(lambda match: rf"\x{ord(match[0][0]):02x}{match[0][1:]}", line)
        for line in text.split("\n")
    )
    return "\n".join(map(visible, lines))


def say(text: str = "", *, err: bool = False, color: str | None = None) -> None:
    """Print lines of text."""
    _print(harmless(text), err, color)


def say_json(text: str) -> None:
    """Print JSON, in whose texts control characters are escapes already."""
    _print(text.replace("##[", r"\u0023#["))


def _print(text: str, err: bool = False, color: str | None = None) -> None:
    """Print; end as other tools do where output is no longer read, and go on without warnings that
    nobody reads.
    """
    try:
        click.echo(click.style(text, fg=color) if color else text, err=err)
    except OSError as error:
        # drops what is left
        os.dup2(os.open(os.devnull, os.O_WRONLY), (sys.stderr if err else sys.stdout).fileno())
        if err:
            return
        if isinstance(error, BrokenPipeError):
            sys.exit(_CUT_OFF)
        raise OutputError(f"the results cannot be printed: {error.strerror}") from error


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


def guard_streams() -> None:
    """Print characters that the terminal lacks as "?", and nothing to a stream that was closed
    before.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or Path(os.devnull).open("w")  # noqa: SIM115 - for the time of the process
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        setattr(sys, name, stream)
