"""Results for machines: all of a run, and the compact record that documentation shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .provenance import machine
from .rows import Result

_DIGITS = 5
_SAME_MACHINE = ("processor", "cpus")


def to_json(results: Sequence[Result]) -> str:
    """Write everything, every round's seconds included."""
    return json.dumps({"machine": machine(), "rows": [result.to_dict() for result in results]}, indent=1) + "\n"


def update_record(path: Path, results: Sequence[Result], names: Sequence[str]) -> None:
    """Write results into a record, without their rounds; its other rows stay, each with its date.

    Parameters
    ----------
    path : Path
        Of the record, which need not exist yet.
    results : sequence of Result
        What was measured.
    names : sequence of str
        All rows in their order; those that are no more are left out.

    Raises
    ------
    ValueError
        Where rows that would stay are from another machine.
    """
    about = machine()
    rows: dict[str, dict[str, Any]] = {}
    before = json.loads(path.read_text()) if path.is_file() else {"rows": []}
    measured = {result.name for result in results}
    for row in before["rows"]:
        if row["name"] in names and row["name"] not in measured:
            rows[row["name"]] = row
    if rows and any(before["machine"][fact] != about[fact] for fact in _SAME_MACHINE):
        raise ValueError(f"{path} is of another machine ({before['machine']['processor']}): record all rows anew")
    rows |= {result.name: _compact(result) for result in results}
    latest = max(rows.values(), key=lambda row: row["date"])
    own = {name: version for name, version in latest["versions"].items() if not name.startswith("peer ")}
    record = {"machine": about, "date": latest["date"], "commit": latest["commit"], "versions": own}
    record["rows"] = [rows[name] for name in names if name in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _compact(result: Result) -> dict[str, Any]:
    row = result.to_dict()
    del row["rounds"]
    return _rounded(row)


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
