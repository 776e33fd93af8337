"""Convert results to columns, to records and to JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fastfair._version import __version__

from . import whole_files


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
    names = kind._column_names() if hasattr(kind, "_column_names") else [field.name for field in fields(kind)]
    called = ["operating_point" if name == "at" else name for name in names]
    return {name: [getattr(row, name) for row in rows] for name in called}


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows.

    Parameters
    ----------
    columns : dict of list
        Columns of one length.

    Returns
    -------
    list of dict
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


_TABLE = "table"  # the only name in an object that stands for a table


def by_columns(content: Any) -> Any:
    """Write tables as columns, so that names and texts stand there once; `by_rows` undoes it.

    Parameters
    ----------
    content : dict
        A result, in which a table is a list of objects that have the same names and hold no lists or objects.

    Returns
    -------
    dict
        The same with ``{"table": {column: cells}}`` in the place of each table. Texts that repeat are categories, and a
        cell is the place of its own, counted from 0; -1 where there is none.
    """
    if isinstance(content, dict):
        return {name: by_columns(value) for name, value in content.items()}
    if not isinstance(content, list):
        return content
    if content and all(isinstance(row, dict) and [*row] == [*content[0]] for row in content):
        cells = [value for row in content for value in row.values()]
        if not any(isinstance(value, dict | list) for value in cells):
            return {_TABLE: {name: _coded([row[name] for row in content]) for name in content[0]}}
    return list(map(by_columns, content))


def by_rows(content: Any) -> Any:
    """Write tables as rows again.

    Parameters
    ----------
    content : dict
        What `by_columns` returned.

    Returns
    -------
    dict
    """
    if isinstance(content, list):
        return list(map(by_rows, content))
    if not isinstance(content, dict):
        return content
    if [*content] == [_TABLE]:
        return records({column: _decoded(cells) for column, cells in content[_TABLE].items()})
    return {name: by_rows(value) for name, value in content.items()}


def _coded(cells: list[Any]) -> list[Any] | dict[str, list[Any]]:
    places = {text: k for k, text in enumerate(dict.fromkeys(cell for cell in cells if isinstance(cell, str)))}
    if 2 * len(places) > len(cells) or not all(cell is None or isinstance(cell, str) for cell in cells):
        return cells
    return {"categories": [*places], "codes": [-1 if cell is None else places[cell] for cell in cells]}


def _decoded(cells: list[Any] | dict[str, list[Any]]) -> list[Any]:
    if isinstance(cells, list):
        return cells
    return [None if code == -1 else cells["categories"][code] for code in cells["codes"]]


def write_json(content: dict[str, Any], path: str | Path | None) -> str:
    """Write strict JSON with the version of fastfair; NaN and infinity become null.

    Parameters
    ----------
    content : dict
        The content.
    path : path, optional
        A file to write to; the text is returned in any case.

    Returns
    -------
    str

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    text = json.dumps({"fastfair": __version__} | _finite(content), indent=1, allow_nan=False, default=float)
    if path is not None:
        whole_files.write_text(path, text + "\n")
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
