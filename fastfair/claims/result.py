"""The result of `check`: verdicts on requirements, as sentences, a plot, JUnit XML and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.plots import Line, draw_rows
from fastfair.data.exclusions import sentences_on_exclusions
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.evaluation.counted_rates import sentence_on_people
from fastfair.pages.parts import Table
from fastfair.pages.report import limits_table
from fastfair.results.model_card import ResultOfEstimates
from fastfair.results.result import Printed
from fastfair.uncertainty.notes import Code, has_code
from fastfair.uncertainty.sessions import sentences_on_ignored

from .looks import Look
from .verdicts import (
    COLORS,
    MET,
    NOT_MET,
    UNDECIDED,
    JudgedEstimate,
    compared_in_words,
    headed_by,
    verdict_bars,
    written_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 0.01  # of what is required; what is lower is drawn there


@dataclass(frozen=True, kw_only=True)
class CheckedQuantity(JudgedEstimate):
    """One quantity that a requirement is about: a `JudgedEstimate`, and what it was held against.

    Attributes
    ----------
    requirement : str
        The requirement, as it was written.
    name : str
        The quantity, as in `Quantity`.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How it must lie to the bound.
    bound : float
        What it is compared with.
    verdict : {"met", "not met", "undecided"}
        Whether the data show, at the level, that the requirement is met, that it is not, or
        neither.
    """

    requirement: str
    name: str
    at: OperatingPoint | None
    relation: str
    bound: float

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")


@dataclass(frozen=True, eq=False, repr=False)
class Check(ResultOfEstimates):
    """The result of `check`.

    Attributes
    ----------
    requirements : tuple of str
        The requirements, as they were written.
    rows : tuple of CheckedQuantity
        The quantities that they are about; one for each group where a requirement is about every
        group.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed; "of_species" are requirements on each species.
    allow_undecided : bool
        Whether undecided requirements pass, too.
    look : Look or None
        Which look at growing data it is, and what looks have spent; None for a single one.
    thresholds : dict of str to float
        The threshold at each operating point.
    """

    requirements: tuple[str, ...]
    rows: tuple[CheckedQuantity, ...]
    confidence_level: float
    settings: dict[str, Any]
    allow_undecided: bool = False
    look: Look | None = None
    thresholds: dict[str, float] = field(default_factory=dict)

    _title = "Are the requirements met?"
    _printed = (
        "title relation bound estimate decided_by decided_at extra_room n_comparisons n_errors"
        " n_subjects verdict doubt"
    )
    _derived = ("passed", "verdict", "verdicts")
    _properties = "decided_by decided_at extra_room title"

    def _tables(self) -> list[Printed]:
        counted = [row for row in self.rows if row.n_comparisons is not None]
        return headed_by(
            {compared_in_words(row.name, row.at) for row in counted}, super()._tables()
        )

    def _estimates(self) -> Sequence[CheckedQuantity]:
        return self.rows

    @property
    def passed(self) -> bool:
        """Whether every requirement is met, or undecided where that is allowed."""
        return all(
            row.verdict == MET or (self.allow_undecided and row.verdict == UNDECIDED)
            for row in self.rows
        )

    @property
    def verdict(self) -> str:
        """The verdict on all requirements together: "met", "not met" as soon as one is not, else
        "undecided".
        """
        return worst([row.verdict for row in self.rows])

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each requirement."""
        return {
            text: worst([row.verdict for row in self.rows if row.requirement == text])
            for text in self.requirements
        }

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        return {"requirements": [(None, limits_table(self))]}

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        n = len(self.requirements)
        verdicts = list(self.verdicts.values())
        counted = ", ".join(
            f"{verdicts.count(answer)} {answer}"
            for answer in (MET, NOT_MET, UNDECIDED)
            if answer in verdicts
        )
        text = [
            f"{n} requirement{'s' if n > 1 else ''}: {counted}, with {100 * self.confidence_level:g} %"
            " confidence."
        ]
        if self.look is not None:
            text.append(self.look.in_words(self.confidence_level))
        for requirement, verdict in self.verdicts.items():
            rows = [row for row in self.rows if row.requirement == requirement]
            farthest = self._farthest(requirement)
            n_deciding = sum(row.verdict == verdict for row in rows)
            of_species = requirement in self.settings.get("of_species", ())
            counted_in = "species" if of_species else "groups"
            groups = f" ({n_deciding} of {len(rows)} {counted_in}): {farthest.group}"
            groups = groups if len(rows) > 1 else ""
            text.append(f"{verdict.capitalize()}: {requirement}{groups}: {farthest.reason}")
        independent = [row.name for row in self.rows if has_code(row, Code.TAKEN_FOR_INDEPENDENT)]
        text += map(sentence_on_people, independent[:1])
        return text + sentences_on_ignored(self.rows)

    def _farthest(self, requirement: str) -> CheckedQuantity:
        """Return the quantity that decides on a requirement: that with the worst limit."""
        rows = [row for row in self.rows if row.requirement == requirement]
        deciding = [row for row in rows if row.verdict == self.verdicts[requirement]]
        with_limits = [row for row in deciding if not math.isnan(row.limit)] or deciding
        return max(with_limits, key=lambda row: row.compared if row.is_upper else -row.compared)

    def _suite(self) -> Suite:
        """Return what JUnit XML has: a case for each quantity."""
        cases = [
            Case(
                row.requirement,
                row.title,
                row.verdict,
                row.reason,
                is_met=row.verdict == MET,
                is_allowed=self.allow_undecided and row.verdict == UNDECIDED,
            )
            for row in self.rows
        ]
        return Suite("fastfair check", cases)

    @checked
    def to_junit(self, path: str | Path | None = None) -> str:
        """Write the result as JUnit XML, which build servers show: a test case for each quantity.

        Parameters
        ----------
        path : path, optional
            File to which the XML is written as well.

        Returns
        -------
        str
            What is not met is a failure of this type; and so is what is undecided, unless it is
            allowed: then it is skipped.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> check = ff.check(c, "eer <= 0.999", unit="comparison", rng=0)
        >>> "<testsuite" in check.to_junit()
        True
        """
        return _as_junit(self._suite(), sentences_on_exclusions(self.left_out), path)

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each quantity with the limit that decides, as multiples of what is required.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows = self.rows

        def multiple(row: Any, value: float) -> float:
            return value / row.bound if row.bound > 0 else math.nan

        bars = verdict_bars(rows, multiple)
        labels = [
            f"{row.title} {row.relation} {written_value(row.name, row.bound)}" for row in rows
        ]
        ax = draw_rows(
            ax,
            labels,
            bars,
            [Line(1, "required")],
            xlabel="Estimate and limit, as multiples of what is required",
            logarithmic=True,
            per_cent=False,
            least=_LEAST,
        )
        for y in sorted({*range(len(rows))} - {int(bar.row) for bar in bars}):
            row = rows[y]
            why = "no limit" if math.isnan(row.limit) else "its limit cannot be drawn"
            ax.text(
                1,
                y,
                f"  {row.verdict}: {why}",
                va="center",
                color=COLORS[row.verdict],
                fontsize="small",
            )
        return ax


def worst(verdicts: Sequence[str]) -> str:
    """Return the verdict on several together."""
    return next((verdict for verdict in (NOT_MET, UNDECIDED) if verdict in verdicts), MET)


@dataclass(frozen=True)
class Case:
    """A case of JUnit XML: what it is about, its verdict and why; what is allowed is skipped, and
    not a failure.
    """

    about: str
    name: str
    verdict: str
    reason: str
    is_met: bool
    is_allowed: bool


@dataclass(frozen=True)
class Suite:
    """A suite of JUnit XML: its name, its cases, and properties as pairs of names and values."""

    name: str
    cases: Sequence[Case]
    properties: Sequence[tuple[str, str]] = ()


def _as_junit(suite: Suite, excluded: Sequence[str], path: str | Path | None) -> str:
    """Write a suite: what is not met is a failure, undecided too unless it is allowed.

    What was left out of the data is a property of the suite.
    """
    n_skipped = sum(case.is_allowed for case in suite.cases)
    numbers = {
        "tests": str(len(suite.cases)),
        "failures": str(sum(not case.is_met for case in suite.cases) - n_skipped),
        "errors": "0",
        "skipped": str(n_skipped),
    }
    root = ElementTree.Element("testsuites", numbers)
    element = ElementTree.SubElement(root, "testsuite", {"name": suite.name, **numbers})
    listed = [*suite.properties, *(("left out", said) for said in excluded)]
    if listed:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in listed:
            ElementTree.SubElement(
                properties, "property", {"name": visible(name), "value": visible(value)}
            )
    for case in suite.cases:
        about = {"classname": visible(case.about), "name": visible(case.name), "time": "0"}
        made = ElementTree.SubElement(element, "testcase", about)
        reason = visible(case.reason)
        if case.is_allowed:
            ElementTree.SubElement(made, "skipped", {"message": f"{case.verdict}: {reason}"})
        elif not case.is_met:
            failure = {"type": case.verdict, "message": reason}
            ElementTree.SubElement(
                made, "failure", failure
            ).text = f"{visible(case.name)}: {reason}"
        else:
            ElementTree.SubElement(made, "system-out").text = reason
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    if path is not None:
        with whole_files.written(Path(path)) as file:
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())
    return text
