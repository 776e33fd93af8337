"""Results for machines: all of a run, and the compact record that documentation shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .provenance import machine
from .rows import Result

_DIGITS = 5
# of which each row keeps; Python's version is among its own
_MACHINE = ("processor", "cpus", "system", "million_additions_s")


def to_json(results: Sequence[Result]) -> str:
    """Write everything, every round's seconds included."""
    return (
        json.dumps(
            {"machine": machine(), "rows": [result.to_dict() for result in results]}, indent=1
        )
        + "\n"
    )


def update_record(path: Path, results: Sequence[Result], names: Sequence[str]) -> None:
    """Write results into a record, without their rounds; its other rows stay, each with its machine
    and date.

    Rows of several machines may stand side by side, as both sides of each row ran on one.

    Parameters
    ----------
    path : Path
        Of the record, which need not exist yet.
    results : sequence of Result
        What was measured, on this machine.
    names : sequence of str
        All rows in their order; those that are no more are left out.
    """
    about = machine()
    here = {fact: about[fact] for fact in _MACHINE}
    before = json.loads(path.read_text())["rows"] if path.is_file() else []
    rows = {row["name"]: row for row in before} | {
        result.name: _compact(result, here) for result in results
    }
    record = {"rows": [rows[name] for name in names if name in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _compact(result: Result, machine: dict[str, Any]) -> dict[str, Any]:
    row = result.to_dict()
    del row["rounds"]
    return _rounded(row | {"machine": machine})


def _rounded(value: Any) -> Any:
    """Keep the digits of floats that mean something."""
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case dict():
            return {name: _rounded(item) for name, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
        case _:
            return value
