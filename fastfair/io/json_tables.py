"""Tables in JSON: a list of objects, an object on each line, or an object of lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import Integers
from fastfair.data import checks
from fastfair.errors import FileFormatError

from . import files
from .tables import Table

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".json", ".jsonl", ".ndjson")
_TIMES = 20  # memory that Python takes for a byte of JSON


@dataclass(frozen=True)
class Columns:
    """Columns of a JSON file: their values, the lines of rows that have lines, and whether the file
    has columns by name, not rows.
    """

    values: dict[str, list[Any]]
    lines: Integers | None
    by_name: bool


def read_json(path: Path) -> Table:
    """Make a table of a JSON file."""
    return table_of(path, read_columns(path))


def read_columns(path: Path) -> Columns:
    """Read a JSON file.

    Raises
    ------
    FileFormatError
        For what is no JSON, or no table.
    """
    memory.require(
        _TIMES * path.stat().st_size, f"the values of {path}", "save the table as Parquet"
    )
    with files.explain_reading(path), files.open_file(path) as file:
        content = file.read().decode("utf-8-sig")
    with files.explain_reading(path):
        parsed, lines = _parsed(path, content)
    if not isinstance(parsed, dict):
        names = list(dict.fromkeys(name for row in parsed for name in row))
        return Columns({name: [row.get(name) for row in parsed] for name in names}, lines, False)
    columns = {name: values for name, values in parsed.items() if isinstance(values, list)}
    if len(columns) < len(parsed) or not columns:
        raise FileFormatError(
            f"{path} has an object that is no table: write a list of objects, one for each row,"
            ' as to_json(orient="records") does'
        )
    return Columns(columns, None, True)


def table_of(path: Path, columns: Columns) -> Table:
    """Make a table of columns; refused are those that mix numbers, text and lists."""
    pl = files.polars()
    series = {name: _column(path, name, values) for name, values in columns.values.items()}

    def read(wanted: list[str], *_: Sequence[str]) -> Any:
        checks.same_length({name: len(series[name]) for name in wanted})
        return pl.DataFrame([series[name] for name in wanted])

    return Table(path, list(series), read, lines=columns.lines)


def _parsed(path: Path, content: str) -> tuple[Any, Any]:
    """Return rows, each an object, and their lines, or an object of columns."""
    numbered = [(k, line) for k, line in enumerate(content.split("\n"), 1) if line.strip()]
    if not numbered:
        raise FileFormatError(f"{path} holds nothing but blank lines")
    if len(numbered) == 1 or not _is_object(numbered[0][1]):
        rows, lines = json.loads(content, object_pairs_hook=refuse_twice), None
    else:
        rows = []
        for number, line in numbered:
            with files.explain_reading(f"{path}: line {number}"):
                rows.append(json.loads(line, object_pairs_hook=refuse_twice))
        lines = np.array([number for number, _ in numbered])
    if isinstance(rows, dict):
        return rows, None
    if not isinstance(rows, list) or not rows:
        raise FileFormatError(f"{path} has no list of rows")
    for k, row in enumerate(rows):
        if not isinstance(row, dict):
            where = f"row {k} (counted from 0)" if lines is None else f"line {lines[k]}"
            raise FileFormatError(f"{path}: {where} is no object with names, but {str(row)[:40]}")
    return rows, lines


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of an object, as `json.loads` asks for them; refuse one with a name
    twice.
    """
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("an object has a name twice")
    return entries


def _column(path: Path, name: str, values: list[Any]) -> pl.Series:
    """Return a column of text, truth values, numbers, or lists of numbers."""
    pl = files.polars()
    kinds = {type(value) for value in values if value is not None}
    if kinds == {list}:
        vectors = [None if value is None else numbers(path, name, value) for value in values]
        return pl.Series(name, vectors, pl.List(pl.Float64))
    if kinds <= {int, float}:
        whole = kinds == {int} and all(v is None or abs(v) < 2**63 for v in values)
        if whole:
            return pl.Series(name, values, pl.Int64)
        return pl.Series(name, [v if v is None else float(v) for v in values], pl.Float64)
    if kinds == {str}:
        return pl.Series(name, values, pl.String)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    raise FileFormatError(
        f"{path}: {name!r} holds {' and '.join(sorted(kind.__name__ for kind in kinds))}: a column"
        " has numbers, text, truth values or lists of numbers"
    )


def numbers(path: Path, name: str, values: list[Any]) -> list[float]:
    """Return a list of numbers, of which null is not one."""
    if not all(value is None or type(value) in (int, float) for value in values):
        raise FileFormatError(f"{path}: a list of {name!r} holds something else than numbers")
    return [np.nan if value is None else float(value) for value in values]
