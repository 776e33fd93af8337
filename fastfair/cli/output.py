"""Write the results of the command line to files first, and then print them."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib import whole_files
from fastfair._lib.axes import save
from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import write_json
from fastfair.errors import OutputError

from .terminal import say
from .verbs import input_files, write_configuration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FILES = {"--report": "report.html", "--junit": "junit.xml"}  # for example
_DOTS = 200  # per inch of a PNG
_CUT_OFF = 128 + getattr(signal, "SIGPIPE", 13)  # exit status of a tool whose output is no longer read


def require_output(
    output: Path | None, plots: bool = False, report: Path | None = None, option: str = "--report"
) -> None:
    """Refuse, before any work, --plots without --output and places that cannot be written to."""
    if plots and output is None:
        raise click.UsageError("--plots needs --output DIR")
    if output is not None:
        whole_files.check_folder(output)
    if report is not None:
        if report.is_dir():
            raise click.UsageError(
                f"{option} {report} is a folder: name a file in it, such as {report / _FILES[option]}"
            )
        whole_files.check_folder(report.parent)


def with_inputs(text: str, path: Path | None = None) -> str:
    """Add the files that the verb reads to a result's JSON, and write it to a file where one is given."""
    return write_json(json.loads(text) | {"inputs": [str(file) for file in input_files()]}, path)


def files_of(name: str, result: Any) -> dict[str, Callable[[Path], Any]]:
    """Return for the names of a result's files, JSON and CSV, the functions that write them."""
    return {
        f"{name}.json": partial(with_inputs, result.to_json()),
        f"{name}.csv": partial(write_csv, result.to_frame("polars")),
    }


def deliver(
    output: Path | None,
    files: Callable[[], Mapping[str, Callable[[Path], Any]]],
    figures: Callable[[], Mapping[str, Figure]] | None,
    show: Callable[[], None],
    *more: tuple[Path, Callable[[Path], Any]] | None,
) -> None:
    """Write all files before printing, so that nothing is lost if the output is no longer read.

    Parameters
    ----------
    output : path or None
        The folder to write to; None writes no files.
    files : callable
        Returns for each file name a function that writes the file.
    figures : callable or None
        Returns figures by name; each is written as PNG and SVG.
    show : callable
        Prints the results.
    more : path and callable, or None
        Files to write elsewhere, such as a page, and the functions that write them.
    """
    written: list[Path] = []
    if output is not None:
        whole_files.ready_folder(output)
        for name, write in files().items():
            written.append(output / name)
            write(written[-1])
        written.append(output / "config.toml")
        write_configuration(written[-1])
        for name, figure in figures().items() if figures else ():
            for kind in ("png", "svg"):
                written.append(output / f"{name}.{kind}")
                with whole_files.written(written[-1]) as file:
                    save(figure, file, kind, _DOTS)
    for path, write in filter(None, more):
        write(path)
        written.append(path)
    show()
    if written:
        say(f"Written: {', '.join(map(str, written))}", err=True)


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
