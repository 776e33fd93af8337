"""The table, for readers and for machines."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .rows import Result, in_units

_HEADER = (
    "task",
    "peer",
    "ours",
    "theirs",
    "ratio",
    "target",
    "met",
    "spread ours / theirs",
    "agreement",
    "remarks",
)


def machine() -> dict[str, Any]:
    """Describe where the figures come from."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def to_markdown(results: Sequence[Result]) -> str:
    """Lay the results out as a table."""
    about = machine()
    lines = [
        f"{about['processor']}, {about['cpus']} CPUs, {about['system']}. Times are the least of all rounds, taken in",
        "turns; the spread says how far the slowest round lies above the fastest.",
        "",
        _line(_HEADER),
        _line(["---"] * len(_HEADER)),
    ]
    lines += [_line(_cells(result)) for result in results]
    versions = {name: version for result in results for name, version in sorted(result.versions.items())}
    if versions:
        own = {name: version for name, version in versions.items() if not name.startswith("peer ")}
        lines += ["", "Ours: " + ", ".join(f"{name} {version}" for name, version in own.items()) + "."]
    for result in results:
        theirs = [f"{name[5:]} {v}" for name, v in result.versions.items() if name.startswith("peer ")]
        if theirs:
            lines.append(f"{result.peer}: {', '.join(theirs)}.")
    for result in results:
        if result.table:
            header, *body = result.table
            lines += ["", f"{result.task}:", "", _line(header), _line(["---"] * len(header)), *map(_line, body)]
    return "\n".join(lines) + "\n"


def _cells(result: Result) -> list[str]:
    if result.ours_s is None:
        return [result.task, result.peer, "", "", "", result.target, "", "", "", result.remarks]
    alone = result.theirs_s is None
    return [
        result.task,
        result.peer,
        in_units(result.ours_s),
        "" if result.theirs_s is None else in_units(result.theirs_s),
        "" if alone else f"{result.ratio:.3g} (medians {result.ratio_of_medians:.3g})",
        result.target,
        "yes" if result.met else "no",
        f"{result.spread_ours:.0%}" + ("" if alone else f" / {result.spread_theirs:.0%}"),
        result.agreement,
        result.remarks,
    ]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def to_json(results: Sequence[Result]) -> str:
    """Write everything, every round's seconds included."""
    return json.dumps({"machine": machine(), "rows": [result.to_dict() for result in results]}, indent=1) + "\n"
