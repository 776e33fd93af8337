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
    names = ["operating_point" if field.name == "at" else field.name for field in fields(rows[0])]
    return {name: [getattr(row, name) for row in rows] for name in names}


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


def by_columns(content: dict[str, Any]) -> dict[str, Any]:
    """Write tables as columns, so that names and texts stand there once; `by_rows` undoes it.

    Parameters
    ----------
    content : dict
        Results, with tables as lists of rows of the same names.

    Returns
    -------
    dict
        The same, with the names of the tables that became columns under "tables". Texts that repeat are categories, and
        a cell is the place of its own, counted from 0; -1 where there is none.
    """
    found: dict[str, Any] = {}
    tables = []
    for name, value in content.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) and [*row] == [*value[0]] for row in value):
            tables.append(name)
            found[name] = {column: _coded([row[column] for row in value]) for column in value[0]}
        else:
            found[name] = value
    return found | {"tables": tables}


def by_rows(content: dict[str, Any]) -> dict[str, Any]:
    """Write tables as rows again.

    Parameters
    ----------
    content : dict
        What `by_columns` returned.

    Returns
    -------
    dict
    """
    tables = {name: content[name] for name in content["tables"]}
    rows = {
        name: records({column: _decoded(cells) for column, cells in table.items()}) for name, table in tables.items()
    }
    return {name: value for name, value in (content | rows).items() if name != "tables"}


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
