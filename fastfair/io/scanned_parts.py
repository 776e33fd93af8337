"""The parts of files that a scan reads, in threads of this process or by the workers of an executor."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.file_stamps import Stamp
from fastfair._lib.threads import alone
from fastfair._lib.warnings import Told, held
from fastfair.data.checked_columns import checked_columns
from fastfair.data.scanning import DividedPart, Limits, divided
from fastfair.errors import InputError

from . import formats, reading, tables
from .file_names import naming
from .how_to_read import HowToRead
from .score_columns import columns_of
from .score_files import opened, read_table

_NO_SIDES = (None, None)


class Part(NamedTuple):
    """A file, or some rows of it."""

    file: Path
    kind: str  # its format; "" if it is told by what is in it
    first: int
    n_rows: int | None


def parts_of(file: Path, n_rows: int, how: HowToRead) -> list[Part]:
    """Cut a file into parts of a number of rows, if it is a Parquet file."""
    kind = formats.recognise_suffix(file) if how.format == "auto" else how.format
    if kind != "parquet":
        return [Part(file, "", 0, None)]
    pl = reading.polars()
    with reading.reading(file):
        size = tables.without_rows(file).select(pl.len()).collect().item()
    return [Part(file, kind, first, n_rows) for first in range(0, max(size, 1), n_rows)]


def _read(part: Part, how: HowToRead) -> tuple[formats.ScoreTable, str]:
    """Read a part, with its format."""
    if part.kind == "parquet":
        table = tables.of_parquet(part.file, part.first, part.n_rows)
        return formats.choose(table, part.kind, how.names, **how.groups_of), part.kind
    kind, *texts = opened(part.file, how)
    if kind == "matrix":
        raise InputError(f"{part.file} is a score matrix, which cannot be scanned: read it with read_comparisons")
    return read_table(part.file, kind, (texts[0], texts[1]), how), kind


class ReadPart(NamedTuple):
    """A part that was read."""

    found: DividedPart | None  # None where everything was left out
    left_out: tuple[str, ...]  # what was, and why
    rows: tables.Rows  # the place of its rows
    keep: NDArray[np.bool_] | None  # which of the rows are in it; None for all


@dataclass
class PartReader:
    """Reads parts; to an executor it is a job whose tasks are a part's number and the limits as they stand.

    Attributes
    ----------
    parts : list of Part
        All parts.
    how : HowToRead
        What the caller said of the files.
    score_kind, cllr
        As in `scan_comparisons`.
    stamps : dict
        How each file was when the scan began.
    """

    parts: list[Part]
    how: HowToRead
    score_kind: str
    cllr: bool
    stamps: dict[Path, Stamp]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the caller's table of metadata, of which `how` has what is needed."""
        how = copy.copy(self.how)
        how.metadata = None
        return {**vars(self), "how": how}

    def run(self, task: tuple[int, Limits], n_threads: int, _: None) -> tuple[ReadPart, Told]:
        """Read a part, and return what it gave warnings of beside it."""
        number, limits = task
        with naming(self.parts[number].file), alone(), held() as told:
            return self.read(number, limits), told

    def read(self, number: int, limits: Limits) -> ReadPart:
        """Read a part and divide its comparisons.

        Parameters
        ----------
        number : int
            Which part.
        limits : tuple
            As `Scan.limits` has them.

        Returns
        -------
        ReadPart
        """
        try:
            return self._read(number, limits)
        except InputError as error:  # a scan takes no failed comparisons
            said = str(error).replace(validation.FAILURES_DO, "read_comparisons can leave out or count failed ones")
            raise type(error)(said, error.row) from None

    def _read(self, number: int, limits: Limits) -> ReadPart:
        part = self.parts[number]
        with reading.unchanged({part.file: self.stamps[part.file]}):
            table, kind = _read(part, self.how)
            columns = columns_of(table, kind, self.how)
        rows = tables.Rows(table.place, lines=table.lines, first=table.first)
        if columns.keep is not None and not columns.keep.any():
            return ReadPart(None, columns.left_out, rows, None)
        given = columns.arguments
        subjects, groups = (
            tuple(given.get(f"{side}{what}") for side in ("reference", "probe")) for what in ("", "_group")
        )
        with rows.placed(columns.keep):
            checked = checked_columns(
                given["scores"], given["mated"], (subjects[0], subjects[1]), (groups[0], groups[1]), self.score_kind,
                _NO_SIDES, ("keep", "warn", "keep"),
            )  # fmt: skip
            return ReadPart(divided(checked, self.cllr, limits), columns.left_out, rows, columns.keep)
