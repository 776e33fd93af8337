"""Read tables of error rates, whose text files may lack some rates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import label_codes

from . import reading, tables, text_files

if TYPE_CHECKING:
    import polars as pl


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
    return frame.with_columns(_numbers(frame[name]) for name in table.names if name not in labels)


def _numbers(column: Any) -> Any:
    """Return a column of text as numbers, or as it is if it holds other text."""
    pl = reading.polars()
    if column.dtype != pl.String:
        return column
    missing = column.is_in([*label_codes.MISSING_TEXTS, ""])
    texts = column.filter(~missing)
    if not all(map(text_files.is_number, texts)):
        return column
    return column.set(missing, None).cast(pl.Float64)
