"""Requirements as cards on the first screen: the verdict, the number, what is required and how far it may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastfair._lib.text import NONE, number_with_interval, per_cent, value_and_ends
from fastfair.errors import visible
from fastfair.measures._registry import measure_of, printed_name
from fastfair.uncertainty.quantities import IN_PER_CENT

from .drawings import Scale, interval
from .parts import Cell, Column, Row, Table

VERDICTS = ("met", "not met", "undecided")
_REQUIRED = {"<=": "{} or less", "<": "less than {}", ">=": "{} or more", ">": "more than {}"}


@dataclass(frozen=True)
class Card:
    """A requirement: its verdict, what it is about, the number that decides, and the groups behind it, in words."""

    verdict: str
    title: str
    value: str
    about: str
    required: str
    true_value: str
    groups: str
    drawing: str


def cards_of(check: Any, main_point: str | None) -> list[Card]:
    """Make the cards of the result of `check`; the operating point of most numbers of a page is not repeated."""
    return [
        _card([row for row in check.rows if row.requirement == text], verdict, main_point)
        for text, verdict in check.verdicts.items()
    ]


def limits_table(check: Any) -> Table:
    """Write what each requirement is about with the limit that decides, and why."""
    rows: list[Row] = []
    for row in check.rows:
        write = per_cent if row.name in IN_PER_CENT else number_with_interval
        verdict = Cell(row.verdict.capitalize(), look=row.verdict)
        numbers = write(row.estimate), write(row.limit)
        rows.append([
            visible(row.title), f"{row.relation} {write(row.bound)}", *numbers, verdict, visible(row.reason)
        ])  # fmt: skip
    columns: list[str | Column] = ["Quantity", "Required", "Estimate", "Limit"]
    columns += [Column("Verdict", "text"), Column("Why", "text")]
    return Table(f"Limits at {100 * check.confidence_level:g} % confidence", columns, rows, look="limits")


def _card(rows: Sequence[Any], verdict: str, main_point: str | None) -> Card:
    is_upper = rows[0].relation.startswith("<")
    deciding = [row for row in rows if row.verdict == verdict]

    def badness(row: Any) -> float:
        return -math.inf if math.isnan(row.estimate) else row.estimate * (1 if is_upper else -1)

    row = max(deciding, key=badness)
    estimate, limit, opposite = row.estimate, row.limit, row.opposite_limit
    is_rate, bound = row.name in IN_PER_CENT, row.bound
    ends = (opposite, limit) if is_upper else (limit, opposite)
    value, low, high = value_and_ends(estimate, *ends, is_rate=is_rate)
    unit = " %" if is_rate else ""
    shows_opposite = verdict == "not met"
    end = high if is_upper != shows_opposite else low
    side = "at most" if is_upper != shows_opposite else "at least"
    groups = ""
    if len(rows) > 1:
        counts = {one: sum(row.verdict == one for row in rows) for one in VERDICTS}
        groups = ", ".join(f"{n or 'none'} {one}" for one, n in counts.items()) + "."
        groups = f"{len(rows)} groups: {groups}"
    about = f"{'highest' if is_upper else 'lowest'}: {visible(row.group)}" if len(rows) > 1 else "measured"
    written = per_cent(bound) if is_rate else number_with_interval(bound)
    return Card(
        verdict, _title(rows, main_point), value + unit if value != NONE else NONE, about,
        _REQUIRED[row.relation].format(written), f"{side} {end}{unit}" if end else "not known", groups,
        _drawing(estimate, opposite if shows_opposite else limit, bound),
    )  # fmt: skip


def _title(rows: Sequence[Any], main_point: str | None) -> str:
    row = rows[0]
    title = printed_name(row.name)
    if len(rows) > 1:
        title += f" of each of {len(rows)} groups"
    elif row.group is not None:
        title += f" of {visible(row.group)}"
    elif measure_of(row.name) is None:
        title += " of all people"
    at = row.operating_point
    return title if at in (None, main_point) else f"{title} at {at}"


def _drawing(estimate: float, end: float, bound: float) -> str:
    known = [x for x in (estimate, end, bound) if math.isfinite(x)]
    scale = Scale(0.0, 1.1 * max(known) or 1.0, lines=(("limit", bound),))
    low, high = (min(estimate, end), max(estimate, end)) if math.isfinite(end) else (None, None)
    return interval(scale, estimate, low, high, look="plain")
