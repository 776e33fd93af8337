"""Named columns of text files, Parquet files and data frames."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import csv_text, validation
from fastfair._lib.frames import FrameColumns
from fastfair.errors import FileFormatError, InputError

from . import reading, text_files

if TYPE_CHECKING:
    import polars as pl

_PARQUET, _END = b"PAR1", 8  # what Parquet files begin with, and bytes behind the footer
SEPARATORS = ("\t", ",", ";")


@dataclass
class Rows:
    """The place that rows come from, for messages.

    Attributes
    ----------
    place : path or str
        The file, or a name for a data frame.
    lines : (n,) ndarray of int, or None
        The line of each row in a text file; else None.
    first : int
        The number of the first row, where these are a part of a file.
    """

    place: Path | str
    lines: NDArray[np.int64] | None = field(default=None, kw_only=True)
    first: int = field(default=0, kw_only=True)

    def where(self, row: int) -> str:
        """Return the line or the number of a row, for messages."""
        return f"row {self.first + row} (counted from 0)" if self.lines is None else f"line {self.lines[row]}"

    @contextmanager
    def placed(self, keep: Any = None) -> Iterator[None]:
        """Add place and row to errors that know a row; `keep` says which rows were kept, if some were left out."""
        try:
            yield
        except InputError as error:
            if error.row is None:
                raise
            row = error.row if keep is None else int(np.flatnonzero(keep)[error.row])
            raise type(error)(f"{self.place}: {self.where(row)}: {error}", row) from None


@dataclass
class Table(Rows):
    """Named columns of a file or a data frame, read when asked for.

    Attributes
    ----------
    names : list of str
        The columns, without the blanks that may surround their names in a text file.
    """

    names: list[str]
    read: Callable[[list[str], Sequence[str]], pl.DataFrame]

    def columns(self, names: Sequence[str], numbers: Sequence[str] = ()) -> pl.DataFrame:
        """Read columns; in text files, those in `numbers` are converted to numbers."""
        frame = self.read(list(dict.fromkeys(names)), numbers)
        if frame.height == 0:
            raise FileFormatError(f"{self.place} has a header but no rows")
        return frame

    def require(self, role: str, name: str) -> str:
        """Check that exactly one column has this name; role: the argument that names it."""
        if name not in self.names:
            raise InputError(validation.not_there(self.place, name, self.names, role=role))
        if self.names.count(name) > 1:
            raise FileFormatError(f"{self.place} has {self.names.count(name)} columns called {name!r}")
        return name


def of_text(text: text_files.Text, separator: str | None = None) -> Table:
    """Make a table of a text file; the default separator is the one in its first line."""
    pl = reading.polars()
    by = separator or next((s for s in SEPARATORS if s in text.first), None)
    if by is None:
        raise FileFormatError(f"{text.path}: the header has neither tab, comma nor semicolon: {text.first[:120]!r}")
    names = _restored(pl.Series(text_files.header(text, by))).to_list()

    def read(wanted: list[str], numbers: Sequence[str]) -> Any:
        places = sorted(names.index(name) for name in wanted)
        frame, lines = text_files.split(text, by, columns=places)
        frame.columns = [names[place] for place in places]
        frame, made.lines = frame[1:], lines[1:]
        return frame.select(
            pl.Series(name, text_files.numbers(text.path, f"column {name!r}", frame[name], lines[1:], text.failures))
            if name in numbers
            else _restored(frame[name])
            for name in wanted
        )

    made = Table(text.path, names, read)
    return made


def of_parquet(path: Path, first: int = 0, n: int | None = None) -> Table:
    """Make a table of a Parquet file, or of `n` rows from the row `first` on."""
    pl = reading.polars()

    def read(wanted: list[str], numbers: Sequence[str]) -> Any:
        with reading.reading(path):
            # polars would take some names for patterns, addresses or folders of partitions.
            rows = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False, schema=schema)
            return rows.select(wanted).slice(first, n).collect()

    with reading.reading(path):
        schema = without_rows(path).collect_schema()
    return Table(path, schema.names(), read, first=first)


def without_rows(path: Path) -> pl.LazyFrame:
    """Return what the footer of a Parquet file says of it.

    polars would map the file to memory for that, and end the process where somebody cuts it off meanwhile.
    """
    with path.open("rb") as file:
        file.seek(-_END, os.SEEK_END)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-_END - size, os.SEEK_END)
        footer = file.read()
    found: pl.LazyFrame = reading.polars().scan_parquet(io.BytesIO(_PARQUET + footer))
    return found


def of_frame(frame: Any, called: str, place: str) -> Table:
    """Make a table of a data frame; `called` is the argument that holds it."""
    columns = FrameColumns(frame, called, "a file's path or a data frame")
    return Table(place, columns.names, lambda wanted, numbers: columns.polars(wanted))


def table(source: Any, called: str, place: str) -> Table:
    """Make a table of a text file, Parquet file or data frame; `called` is the argument that holds it."""
    if not isinstance(source, str | Path):
        return of_frame(source, called, place)
    path = reading.check_file(source)
    return of_parquet(path) if path.suffix == ".parquet" else of_text(text_files.read(path))


def _restored(cells: pl.Series) -> pl.Series:
    """Return the cells of a text file without blanks and protecting apostrophes."""
    cells = cells.str.strip_chars()
    # To look for apostrophes takes a tenth of the time that a regular expression does.
    return csv_text.restored(cells) if cells.str.starts_with("'").any() else cells
