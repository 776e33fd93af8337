"""The parts of a page: chapters of sections, which hold sentences, pictures and tables; all of them
plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fastfair.measures._registry import SUCCESSES
from fastfair.uncertainty.notes import Note

_FLIP = str.maketrans("<>", "><")


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is more than text.

    Attributes
    ----------
    text : str
        What stands in it.
    interval : str
        What stands behind, in grey.
    notes : sequence of Note
        Notes of which the page shows the letters.
    look : str
        "few" where fewer than 30 errors are behind a number, or a verdict: "met", "not met",
        "undecided".
    drawing : str
        SVG that fills the cell.
    link : str
        The anchor of a section that it leads to.
    """

    text: str = ""
    interval: str = ""
    notes: Sequence[Note] = ()
    look: str = ""
    drawing: str = ""
    link: str = ""


Row: TypeAlias = list[str | Cell]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
        Its heading.
    kind : {"number", "text", "drawing"}
        What its cells hold.
    side : int
        1 or 2 where rows become blocks of two columns on narrow screens; 0 for cells that take
        both.
    """

    title: str
    kind: str = "number"
    side: int = 0


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row names it.

    Attributes
    ----------
    caption : str
        What the table shows.
    columns : sequence of str or Column
        The columns; the first one names rows.
    rows : sequence of sequence of str or Cell
        The cells.
    foot : sequence of str or Cell
        Cells below all rows, such as axes.
    look : str
        "rates" for rows that become blocks on narrow screens, "matrix" for cells of one width.
    explanation : str
        How to read it, written below.
    """

    caption: str
    columns: Sequence[str | Column]
    rows: Sequence[Sequence[str | Cell]]
    foot: Sequence[str | Cell] = ()
    look: str = ""
    explanation: str = ""

    @property
    def headed(self) -> list[Column]:
        """The columns, also those that are given by their titles alone."""
        return [column if isinstance(column, Column) else Column(column) for column in self.columns]


def stacked(titled: Sequence[tuple[str, Table]], n_above: int = 1) -> Table:
    """Put tables of the same columns below each other, each but a single one below its title; the
    first rows of the first one, such as that of all comparisons, stand above.
    """
    (title, first), *others = titled
    if not others:
        return first
    rows = list(first.rows[:n_above])
    parts = ((title, first.rows[n_above:]), *((name, table.rows) for name, table in others))
    for name, rows_of in parts:
        rows += [[Cell(name, look="title"), *[""] * (len(first.columns) - 1)], *rows_of]
    return replace(first, rows=rows)


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Attributes
    ----------
    svg : str or callable
        The drawing, as `drawings.svg_of` makes it, or what makes it where the page shows it.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        How to read it.
    """

    svg: str | Callable[[], str]
    alt: str
    caption: str


@dataclass(frozen=True)
class Panels:
    """Small drawings side by side, of one size: a title, SVG and what it shows for each."""

    panels: Sequence[tuple[str, str, str]]
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of a chapter: sentences, then pictures, panels and tables; folded ones are opened by a
    click.
    """

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    panels: Panels | None = None
    is_folded: bool = False
    anchor: str = ""  # what links lead to


@dataclass(frozen=True)
class FirstScreen:
    """What a result puts on the first screen of a page.

    Attributes
    ----------
    facts : sequence of pair of str
        What was tested.
    overall, groups, limits : sequence of pair of str
        Sentences of the answer with what they are about: overall, groups, and what is not known or
        was not tested.
    picture : Table, optional
        The rates of all groups.
    title : str
        What the rates are of, where several results have them.
    table : Table, optional
        What the page begins with.
    """

    facts: Sequence[tuple[str, str]] = ()
    overall: Sequence[tuple[str, str]] = ()
    groups: Sequence[tuple[str, str]] = ()
    limits: Sequence[tuple[str, str]] = ()
    picture: Table | None = None
    title: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Chapter:
    """What a page says of one result.

    Attributes
    ----------
    title : str
        The title.
    summary : sequence of str
        The most important sentences, which the page begins with where there is no `first`.
    sections : sequence of Section
        The sections.
    settings : mapping
        The arguments of the call and the seed.
    numbers : str
        The result as JSON.
    first : FirstScreen, optional
        What it puts on the first screen.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    settings: Mapping[str, Any] = field(default_factory=dict)
    numbers: str = "{}"
    first: FirstScreen | None = None


@dataclass(frozen=True)
class Beside:
    """What else stands on the page of an evaluation: results of tests of equal rates, and of
    requirements.
    """

    tests: Sequence[Any] = ()
    checks: Sequence[Any] = ()
    evaluations: Sequence[Any] = ()  # the first one has the overall numbers

    def tests_of(self, groups: Sequence[str]) -> list[Any]:
        """Return the tests of these very groups."""
        return [test for test in self.tests if set(test.groups) == set(groups)]

    def required(self, name: str, at: str) -> list[Any]:
        """Return what is required of a rate of groups or of all comparisons at an operating
        point, or of 1 minus it, with the bound of the rate.
        """
        rows = [row for check in self.checks for row in check.rows if row.operating_point == at]
        of_success = [
            replace(row, bound=1 - row.bound, relation=row.relation.translate(_FLIP))
            for row in rows
            if row.name == SUCCESSES.get(name)
        ]
        return [*(row for row in rows if row.name == name), *of_success]

    def is_first(self, evaluation: Any) -> bool:
        """Return whether the overall numbers stand with an evaluation."""
        return not self.evaluations or evaluation.quantities is self.evaluations[0].quantities

    @property
    def one_by_one(self) -> Sequence[Any]:
        """The evaluations whose rates stand on the first screen: those of one attribute, or else
        the first.
        """
        alone = [
            evaluation
            for evaluation in self.evaluations
            if len(evaluation.settings["grouping"]) == 1
        ]
        return alone or self.evaluations[:1]


# what intervals to one side are called
INTERVALS = {
    "less": "upper limit",
    "greater": "lower limit",
}


def interval_name(settings: Mapping[str, Any]) -> str:
    """Name the intervals of an evaluation, such as "95 % interval, for all groups together"; empty
    without.
    """
    if "confidence_level" not in settings:
        return ""
    side = INTERVALS.get(settings.get("alternative", ""), "interval")
    together = ", for all groups together" if settings.get("simultaneous") else ""
    return f"{100 * settings['confidence_level']:g} % {side}{together}"
