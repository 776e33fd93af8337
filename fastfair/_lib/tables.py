"""Convert results to columns, to JSON, and rows in it to columns and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fastfair._version import __version__

from . import whole_files

# where they are not called as the field
_COLUMNS_OF = {
    "at": ("operating_point",),
    "notes": ("note", "flags"),
}


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn rows that are dataclasses into columns.

    Parameters
    ----------
    rows : sequence of dataclass
        Rows of one dataclass, at least one.

    Returns
    -------
    dict of list
    """
    kind = type(rows[0])
    names = (
        kind._column_names()
        if hasattr(kind, "_column_names")
        else [field.name for field in fields(kind)]
    )
    columns = [column for name in names for column in _COLUMNS_OF.get(name, (name,))]
    return {name: [getattr(row, name) for row in rows] for name in columns}


_COLUMNS = "column by column"


def in_columns(content: Any) -> Any:
    """Write rows that have the same names as one object of columns, which is half as long;
    `in_rows` undoes it.
    """
    if isinstance(content, dict):
        return {name: in_columns(value) for name, value in content.items()}
    if not isinstance(content, list):
        return content
    rows = [in_columns(value) for value in content]
    if len(rows) < 2 or not all(
        isinstance(row, dict) and row and [*row] == [*rows[0]] for row in rows
    ):
        return rows
    return {_COLUMNS: {name: [row[name] for row in rows] for name in rows[0]}}


def in_rows(content: dict[str, Any]) -> Any:
    """Make rows of an object that `in_columns` made, and leave others: a hook of `json.loads`."""
    columns = content.get(_COLUMNS)
    return rows_of(columns) if columns else content


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns that have as many entries each."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_json(content: dict[str, Any], path: str | Path | None, *, indent: int | None = 1) -> str:
    """Write strict JSON with the version of fastfair.

    Parameters
    ----------
    content : dict
        The content, without numbers that are not finite.
    path : path, optional
        A file to write to; the text is returned in any case.
    indent : int, optional
        Blanks a level; None for a single line, which takes a fifth of the time.

    Returns
    -------
    str

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    text = json.dumps(
        {"fastfair": __version__} | content, indent=indent, allow_nan=False, default=float
    )
    if path is not None:
        whole_files.write_text(path, text + "\n")
    return text
