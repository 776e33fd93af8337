"""Protect text in CSV files from spreadsheets that would take it for a formula, and undo this when reading."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from . import whole_files

if TYPE_CHECKING:
    import polars as pl

_Column = TypeVar("_Column", bound="pl.Series | pl.Expr")

# Spreadsheets take text that begins so for a formula, unless an apostrophe precedes it. Text that has apostrophes there
# already gets one more, so that removing one restores every text.
_FORMULA = r"'*[=+\-@\t\r]"


def neutralised(column: _Column) -> _Column:
    """Put an apostrophe before text that a spreadsheet would compute.

    Parameters
    ----------
    column : polars series or expression
        Of text.

    Returns
    -------
    polars series or expression
    """
    return _replaced(column, f"^({_FORMULA})", "'$1")


def restored(column: _Column) -> _Column:
    """Remove the apostrophe that `neutralised` puts before text.

    Parameters
    ----------
    column : polars series or expression
        Of text.

    Returns
    -------
    polars series or expression
    """
    return _replaced(column, f"^'({_FORMULA})", "$1")


def write_csv(frame: pl.DataFrame, path: str | os.PathLike[str], separator: str = ",") -> None:
    """Write a data frame as CSV, with its text neutralised.

    Parameters
    ----------
    frame : polars data frame
        The data frame.
    path : path
        As in `whole_files.written`.
    separator : str, default ","
        The character between cells.
    """
    import polars as pl

    with whole_files.written(path) as file:
        frame.with_columns(neutralised(pl.col(pl.String))).write_csv(file, separator=separator)


def _replaced(column: _Column, pattern: str, by: str) -> _Column:
    found: Any = column.str.replace(pattern, by)
    return found
