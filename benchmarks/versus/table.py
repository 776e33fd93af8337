"""The table for readers: a line a row, and notes below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .rows import Against, Result
from .targets import in_units

_HEADER = (
    "row",
    "what is done",
    "held against",
    "ours",
    "theirs",
    "ratio",
    "target",
    "met",
    "spread ours / theirs",
)


def to_markdown(results: Sequence[Result], machine: Mapping[str, Any]) -> str:
    """Lay the results out as a table."""
    lines = [
        *_heading(results, machine),
        "",
        *_table([_HEADER, *map(_cells, results)]),
        "",
        *_verdicts(results),
    ]
    lines += ["", _own_versions(results), "", *map(_note, results)]
    for result in results:
        if result.table:
            lines += ["", f"**{result.name}**: {result.task}", "", *_table(result.table)]
    return "\n".join(lines) + "\n"


def _heading(results: Sequence[Result], machine: Mapping[str, Any]) -> list[str]:
    dates = sorted(result.date for result in results)
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no rows"
    commits = ", ".join(dict.fromkeys(result.commit for result in results))
    return [
        (
            f"{machine['processor']}, {machine['cpus']} CPUs, {machine['system']}, Python"
            f" {machine['python']}; {when}; commit {commits}."
        ),
        (
            "Times are the least of all rounds, taken in turns; the spread says how far the slowest"
            " round lies above the fastest."
        ),
    ]


def _cells(result: Result) -> tuple[str, ...]:
    alone = result.theirs is None
    return (
        result.name,
        result.task,
        result.peer,
        "" if result.ours is None else in_units(result.ours),
        "" if result.theirs is None else in_units(result.theirs),
        (
            ""
            if alone
            else f"{result.ratio_of}: {result.ratio:.3g} (medians {result.ratio_of_medians:.3g})"
        ),
        result.target,
        _met(result),
        " / ".join(
            f"{spread:.0%}"
            for spread in (result.spread_ours, result.spread_theirs)
            if spread is not None
        ),
    )


def _met(result: Result) -> str:
    if result.agree is False:
        return "the answers differ"
    if result.ours is None:
        return "not measured"
    return {True: "yes", False: "**no**", None: ""}[result.met]


def _table(lines: Sequence[Sequence[str]]) -> list[str]:
    header, *body = lines
    return [_line(header), _line(["---"] * len(header)), *map(_line, body)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _verdicts(results: Sequence[Result]) -> list[str]:
    """Say in which rows others are faster, and where a target is missed."""
    rivals = [
        r for r in results if r.against in (Against.TOOL, Against.NUMPY) and r.ours is not None
    ]
    ahead = [r for r in rivals if r.theirs is not None and r.theirs < r.ours]
    missed = [f"{r.name} ({r.shortfall or 'no cause known'})" for r in results if r.met is False]
    return [
        f"Rows in which another tool or NumPy takes less time: {_named(r.name for r in ahead)}.",
        "",
        f"Targets missed: {_named(missed)}.",
    ]


def _named(names: Iterable[str]) -> str:
    return "; ".join(names) or "none"


def _own_versions(results: Sequence[Result]) -> str:
    own = {
        name: v for r in results for name, v in r.versions.items() if not name.startswith("peer ")
    }
    return f"Ours: {', '.join(f'{name} {version}' for name, version in own.items())}."


def _note(result: Result) -> str:
    theirs = [
        f"{name.removeprefix('peer ')} {v}"
        for name, v in result.versions.items()
        if name.startswith("peer ")
    ]
    parts = (
        f"answers: {result.agreement}" if result.agreement else "",
        result.remarks,
        f"theirs: {', '.join(theirs)}" if theirs else "",
    )
    return f"- **{result.name}**: " + "; ".join(part for part in parts if part) + "."
