"""Where results of the command line go: into files first, and then to who reads."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib import whole_files
from fastfair.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS = 200  # of PNG, an inch
_CUT_OFF = 128 + getattr(signal, "SIGPIPE", 13)  # the exit status of other tools whose reader goes away


def require_output(output: Path | None, plots: bool = False) -> None:
    """Refuse before any work plots that have nowhere to go, and a folder that nothing can be written to."""
    if plots and output is None:
        raise click.UsageError("--plots needs --output DIR")
    if output is not None:
        whole_files.check_folder(output)


def deliver(
    output: Path | None,
    files: Callable[[], Mapping[str, Callable[[Path], Any]]],
    figures: Callable[[], Mapping[str, Figure]] | None,
    show: Callable[[], None],
) -> None:
    """Write results, and print them when all is written, so that who stops reading loses nothing.

    Parameters
    ----------
    output : path or None
        The folder of the files.
    files : callable
        Returns what writes each file, by its name.
    figures : callable or None
        Draws figures, by their names, and each is written as PNG and SVG.
    show : callable
        Prints the results.
    """
    written: list[Path] = []
    if output is not None:
        whole_files.ready_folder(output)
        for name, write in files().items():
            written.append(output / name)
            write(written[-1])
        for name, figure in figures().items() if figures else ():
            for kind in ("png", "svg"):
                written.append(output / f"{name}.{kind}")
                with whole_files.written(written[-1]) as file:
                    figure.savefig(file, format=kind, dpi=_DOTS)
    show()
    if written:
        click.echo(f"Written: {', '.join(map(str, written))}", err=True)


class _Stream(io.FileIO):
    """A standard stream whose reader may go away, or whose disk may be full."""

    def __init__(self, descriptor: int, on_fault: Callable[[OSError], None]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._on_fault = on_fault
        self._broken = False

    def write(self, data: Any, /) -> int:
        if not self._broken:
            try:
                return super().write(data)
            except OSError as error:
                self._broken = True  # what is left over at the end goes nowhere
                self._on_fault(error)
        return memoryview(data).nbytes


def _end(error: OSError) -> None:
    """End the program as other tools end whose results nobody reads any more."""
    if isinstance(error, BrokenPipeError):
        sys.exit(_CUT_OFF)
    raise OutputError(f"the results cannot be printed: {error.strerror}") from error


def _go_on(_: OSError) -> None:
    """Let no warning that nobody reads cost the results."""


def guard_streams() -> None:
    """Print what the terminal's encoding lacks as question marks, and end without a traceback where nobody reads."""
    for name, on_fault in (("stdout", _end), ("stderr", _go_on)):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before the program began
            stream = _text(os.open(os.devnull, os.O_WRONLY), on_fault, "utf-8")
        elif isinstance(stream, io.TextIOWrapper) and os.name == "posix":  # consoles of Windows are no files
            stream = _text(stream.fileno(), on_fault, stream.encoding, stream.line_buffering)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        setattr(sys, name, stream)


def _text(
    descriptor: int, on_fault: Callable[[OSError], None], encoding: str, line_buffering: bool = False
) -> io.TextIOWrapper:
    raw = _Stream(descriptor, on_fault)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, line_buffering=line_buffering)
