"""The one way to the terminal: names of groups and files cannot steer it, or a job that logs what is printed."""

from __future__ import annotations

import re
from typing import Any

import click
from rich.console import Console
from rich.table import Table as _PlainTable
from rich.text import Text

from fastfair.errors import visible

# Services that run jobs obey such lines: GitHub Actions those that begin with "::" or have "##[".
_COMMANDS = re.compile(r"(?<!\S)::|##\[")


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


class Terminal(Console):
    """Prints text and tables, so wide that no table is cut and loses digits; labels are text, not markup."""

    def __init__(self) -> None:
        super().__init__(width=1000, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make text ready to be printed, which all text passes through; see rich."""
        return super().render_str(harmless(text), **options)


class Table(_PlainTable):
    """A table that shows line ends in labels as escapes."""

    def add_column(self, header: Any = "", *args: Any, **kwargs: Any) -> None:
        """Add a column; see rich."""
        super().add_column(visible(header), *args, **kwargs)

    def add_row(self, *cells: Any, **kwargs: Any) -> None:
        """Add a row; see rich."""
        super().add_row(*(visible(cell) if isinstance(cell, str) else cell for cell in cells), **kwargs)
