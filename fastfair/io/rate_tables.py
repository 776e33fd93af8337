"""Read tables of error rates, whose text files may lack some rates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import label_codes
from fastfair.errors import FileFormatError

from . import reading, tables, text_files

if TYPE_CHECKING:
    import polars as pl


_PER_CENT = r"^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\s*[%‰]$"


@reading.from_unchanged_files
def read_rates(path: Path, labels: Sequence[str]) -> pl.DataFrame:
    """Read a table whose columns are numbers but for some labels; columns with other text stay text.

    Parameters
    ----------
    path : path
        CSV, TSV or Parquet.
    labels : sequence of str
        Columns of labels.

    Returns
    -------
    pl.DataFrame
        Missing numbers are null.
    """
    table = tables.table(path, "path", "the table")
    frame = table.columns(table.names)
    return frame.with_columns(_numbers(table, frame[name]) for name in table.names if name not in labels)


def _numbers(table: tables.Table, column: Any) -> Any:
    """Return a column of text as numbers, or as it is if it holds other text; refuse those with a sign of per cent."""
    pl = reading.polars()
    if column.dtype != pl.String:
        return column
    missing = column.is_in([*label_codes.MISSING_TEXTS, ""])
    texts = column.filter(~missing)
    if not all(map(text_files.is_number, texts)):
        in_per_cent = column.str.contains(_PER_CENT).fill_null(False)
        if in_per_cent.any() and all(map(text_files.is_number, column.filter(~missing & ~in_per_cent))):
            row = int(in_per_cent.arg_max() or 0)
            raise FileFormatError(
                f"{table.place}: {table.where(row)}: column {column.name!r} must hold numbers, not {column[row]!r}: "
                "write all rates as fractions, or all in per cent without the sign, with percent=True (--percent)"
            )
        return column
    return column.set(missing, None).cast(pl.Float64)
