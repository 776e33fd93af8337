"""Matrices of scores in text files: without names, or with those of rows and columns, as programs
write them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib.arrays import Floats, Integers
from fastfair.errors import FileFormatError

from . import files
from . import text as texts
from .text import Text, is_number, split

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = ("\t", ";", ",")  # where there are semicolons, commas may be those of decimals


@dataclass(frozen=True)
class TextMatrix:
    """A matrix of scores out of text.

    Attributes
    ----------
    scores : (n, m) ndarray of float64
        NaN where there is none.
    rows, columns : list of str, or None
        The names of both sides; None where there are none.
    lines : (n,) ndarray of int
        The line of each row in the file.
    """

    scores: Floats
    rows: list[str] | None
    columns: list[str] | None
    lines: Integers


def separator_of(text: Text) -> str | None:
    """Return the character between the fields of a matrix; None where these are blanks."""
    return next((separator for separator in _SEPARATORS if separator in text.first), None)


def read_matrix(text: Text) -> TextMatrix:
    """Read a matrix; a first row or column that holds something else than scores has names.

    Raises
    ------
    FileFormatError
        For text where a number belongs, and for rows of different lengths; the line is named.
    """
    separator = separator_of(text)
    cells, lines = split(texts.with_names_of_rows(text, separator), separator)
    cells = _without_quotes(cells)
    first = cells.row(0)
    has_header = _is_header(first, cells)
    body = cells[1:] if has_header else cells
    lines = lines[1:] if has_header else lines
    if not body.height:
        raise FileFormatError(f"{text.path} has a header but no rows")
    has_names = _has_row_names(first, body, has_header)
    rows = body.to_series(0).to_list() if has_names else None
    columns = list(first[1:] if has_names else first) if has_header else None
    scores = [
        texts.numbers(text.path, f"the score in column {k + 1}", column, lines, text.failures)
        for k, column in enumerate(body)
        if k or not has_names
    ]
    if not scores:
        raise FileFormatError(f"{text.path} has names of rows but no scores")
    return TextMatrix(np.column_stack(scores), rows, columns, lines)


def _without_quotes(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells without blanks about them, and without the quotes that fields between blanks
    may have.
    """
    pl = files.polars()
    return cells.select(pl.all().str.strip_chars().str.replace('^"(.*)"$', "$1"))


def _is_header(first: tuple[str, ...], cells: pl.DataFrame) -> bool:
    """Return whether the first row has the names of columns: words, or numbers that no scores would
    be.
    """
    corner = first[0]
    others = list(first[1:])
    if any(is_number(name.replace(",", ".", 1)) and not name.isdigit() for name in others):
        return False  # what else stands there is no name, but a damaged score
    if not all(map(_may_be_score, others)):
        return True
    if corner == "":  # the names of rows have none; or the first score is missing
        alike = cells.to_series(0)[1:].to_list() == others
        return bool(others) and (
            _count(others) or (alike and cells.height > 1 and cells.item(1, 1) != "")
        )
    if not _may_be_score(corner):  # the name of this row; or numbers are the names of columns
        return cells.height != cells.width - 1 and all(name.isdigit() for name in others)
    return cells.height == cells.width + 1 and _count([corner, *others])


def _count(names: list[str]) -> bool:
    """Return whether names are 0, 1, ... or 1, 2, ..., as programs write them where there are
    none.
    """
    return any(names == list(map(str, range(start, start + len(names)))) for start in (0, 1))


def _has_row_names(first: tuple[str, ...], body: pl.DataFrame, has_header: bool) -> bool:
    """Return whether the first column has the names of rows."""
    if not all(map(_may_be_score, body.to_series(0))):
        return True
    if not has_header or body.height == body.width:
        return False
    return first[0] == "" or body.height == body.width - 1


def _may_be_score(field: str) -> bool:
    # commas may be those of decimals
    return is_number(field.replace(",", ".", 1)) or texts.is_missing(field)
