"""What pages are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from papers.verdict_rules import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_ROUNDING = 1e-12  # what sums of logarithms leave of 0
_VERDICTS = {
    "holds": "holds",
    "in part": "holds in part",
    "fails": "does not hold",
    "open": "cannot be told",
}


@dataclass(frozen=True)
class Range:
    """A number between two others: an interval about an estimate, or a median and the range about
    it.
    """

    value: float
    low: float
    high: float


Cell = str | int | float | Range | None


@dataclass(frozen=True)
class Table:
    """A table, written for readers and as CSV.

    Attributes
    ----------
    name : str
        Of the CSV file, without its ending.
    caption : str
        What it shows, in Markdown.
    columns : sequence of str
        Headings.
    rows : sequence of sequence of Cell
        One cell a column; None where there is nothing.
    formats : mapping of str to str
        Format of a column's numbers where it is not ".4g".
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    formats: Mapping[str, str] = field(default_factory=dict)

    def written(self) -> list[list[str]]:
        """Return the rows as text for readers."""
        formats = [self.formats.get(column, ".4g") for column in self.columns]
        return [
            [_text(cell, spec) for cell, spec in zip(row, formats, strict=True)]
            for row in self.rows
        ]


def _text(cell: Cell, spec: str) -> str:
    match cell:
        case None:
            return ""
        case str():
            return cell
        case Range(value, low, high):
            return f"{_number(value, spec)} [{_number(low, spec)}, {_number(high, spec)}]"
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case _:
            return _number(cell, spec)


def _number(value: float, spec: str) -> str:
    if math.isnan(value):
        return "not computable"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{0.0 if abs(value) < _ROUNDING else value:{spec}}"


@dataclass(frozen=True)
class Figure:
    """A drawing, written as PNG and SVG.

    Attributes
    ----------
    name : str
        Of the files, without their ending.
    caption : str
        What it shows and of what it is made, in Markdown.
    drawing : matplotlib Figure
        Made by `figure_style.new_figure`.
    """

    name: str
    caption: str
    drawing: Drawing


@dataclass(frozen=True)
class Verdict:
    """A claim of a paper, and what our numbers say of it.

    Attributes
    ----------
    claim : str
        In the paper's words or close to them.
    source : str
        Section, table or figure.
    rule : str
        What is computed, and when the claim counts as holding.
    found : str
        The numbers.
    verdict : {"holds", "in part", "fails", "open"}
        What the rule makes of them.
    """

    claim: str
    source: str
    rule: str
    found: str
    verdict: Outcome


def verdict_table(name: str, caption: str, verdicts: Sequence[Verdict]) -> Table:
    """Lay verdicts out, one a row."""
    rows = [(v.claim, v.source, v.rule, v.found, _VERDICTS[v.verdict]) for v in verdicts]
    return Table(name, caption, ("Claim", "Where", "Rule", "Found", "Verdict"), rows)


Part = str | Table | Figure  # text is Markdown


@dataclass(frozen=True)
class Page:
    """A page: text, tables and figures in their order.

    Attributes
    ----------
    name : str
        Of its files, without their ending.
    title : str
        Its first line.
    parts : sequence of str, Table or Figure
        Text is Markdown, headings from the second level on. Those of the second level begin
        sections.
    ending : str
        Markdown that stands at the end of the page, and of the pages of its sections.
    """

    name: str
    title: str
    parts: Sequence[Part]
    ending: str = ""

    def table(self, name: str) -> Table:
        """Return one of the tables."""
        return next(part for part in self.parts if isinstance(part, Table) and part.name == name)
