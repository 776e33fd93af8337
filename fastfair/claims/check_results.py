"""`Check`: whether requirements are met, quantity by quantity, with the limits that decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.plot_style import GREY, STANDS_OUT, USUAL
from fastfair._lib.text import number_with_interval, per_cent
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import printed_name
from fastfair.results.charts import Line, draw_rows, verdict_bars
from fastfair.results.result import Result
from fastfair.uncertainty.quantities import IN_PER_CENT, TakenAt

from .judging import UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MET, NOT_MET = "met", "not met"
_COLORS = {MET: USUAL, UNDECIDED: GREY, NOT_MET: STANDS_OUT}
# Numbers of the axis between two powers of ten, by how far it reaches.
_STEPS = ((3, (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 8)), (10, (1, 1.5, 2, 3, 5, 7)), (100, (1, 2, 5)))
_LEAST = 0.01  # of what is required; what is lower is drawn there


def written_value(name: str, value: float) -> str:
    """Write a value of a quantity: rates in per cent, all else as a number."""
    return per_cent(value) if name in IN_PER_CENT else number_with_interval(value)


@dataclass(frozen=True)
class CheckedQuantity(TakenAt):
    """One quantity that a requirement is about, the limits of what it may be, and the verdict.

    Attributes
    ----------
    requirement : str
        The requirement, as it was written.
    name : str
        The quantity, as in `Quantity`.
    group : str or None
        Its group; None for all comparisons and measures over all groups.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How it must lie to the bound.
    bound : float
        What it is compared with.
    estimate : float
        Its value in the data.
    limit : float
        The one-sided limit that has to meet the requirement: the upper one for "<=" and "<", else the lower one. NaN
        where there is none.
    opposite_limit : float
        The one-sided limit on the other side, at a level adjusted for the number of quantities; beyond the bound, it
        shows that the requirement is not met.
    verdict : {"met", "not met", "undecided"}
        Whether the data show, at the level, that the requirement is met, that it is not, or neither.
    reason : str
        Why.
    n_comparisons, n_errors, n_subjects : int or None
        Numbers behind a rate; None for other quantities.
    flags : str
        Codes of what puts the limit in doubt, as in `Quantity`.
    """

    requirement: str
    name: str
    group: str | None
    at: OperatingPoint | None
    relation: str
    bound: float
    estimate: float
    limit: float
    opposite_limit: float
    verdict: str
    reason: str
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    flags: str = ""

    @property
    def title(self) -> str:
        """What people call the quantity, such as "FNMR of f at FMR=0.001"."""
        of_group = "" if self.group is None else f" of {self.group}"
        return f"{printed_name(self.name)}{of_group}{'' if self.at is None else f' at {self.at}'}"


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result):
    """The result of `check`.

    Attributes
    ----------
    requirements : tuple of str
        The requirements, as they were written.
    rows : tuple of CheckedQuantity
        The quantities that they are about; one for each group where a requirement is about every group.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed.
    allow_undecided : bool
        Whether undecided requirements pass, too.
    """

    requirements: tuple[str, ...]
    rows: tuple[CheckedQuantity, ...]
    confidence_level: float
    settings: dict[str, Any]
    allow_undecided: bool = False

    _title = "Are the requirements met?"
    _derived = ("passed", "verdict", "verdicts")

    @property
    def passed(self) -> bool:
        """Whether every requirement is met, or undecided where that is allowed."""
        return all(row.verdict == MET or (self.allow_undecided and row.verdict == UNDECIDED) for row in self.rows)

    @property
    def verdict(self) -> str:
        """The verdict on all requirements together: "met", "not met" as soon as one is not, else "undecided"."""
        return _worst([row.verdict for row in self.rows])

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each requirement."""
        return {
            text: _worst([row.verdict for row in self.rows if row.requirement == text]) for text in self.requirements
        }

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        n, verdicts = len(self.requirements), list(self.verdicts.values())
        told = ", ".join(f"{verdicts.count(one)} {one}" for one in (MET, NOT_MET, UNDECIDED) if one in verdicts)
        text = [f"{n} requirement{'s' if n > 1 else ''}: {told}, with {100 * self.confidence_level:g} % confidence."]
        for requirement, verdict in self.verdicts.items():
            rows = [row for row in self.rows if row.requirement == requirement]
            deciding = [row for row in rows if row.verdict == verdict]
            if verdict == MET:  # the nearest to the bound
                deciding = [max(deciding, key=lambda row: row.limit if row.relation.startswith("<") else -row.limit)]
            more = f" ({len(rows)} groups)" if len(rows) > 1 else ""
            text.append(f"{verdict.capitalize()}: {requirement}{more}")
            text += [f"  {row.title}: {row.reason}" for row in deciding]
        return "\n".join(map(visible, text))

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
            What is not met is a failure of this type; and so is what is undecided, unless it is allowed: then it is
            skipped.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> found = ff.check(c, "eer <= 0.999", unit="comparison", rng=0)
        >>> "<testsuite" in found.to_junit()
        True
        """
        return _as_junit(self.rows, self.allow_undecided, path)

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
        from matplotlib.ticker import FixedLocator, NullFormatter

        rows = self.rows
        multiples = [(row.estimate / row.bound, row.limit / row.bound) if row.bound > 0 else (math.nan,) * 2
                     for row in rows]  # fmt: skip
        drawn = [one if all(map(math.isfinite, one)) else (math.nan,) * 2 for one in multiples]
        estimates, limits = zip(*drawn, strict=True)
        bars = verdict_bars([row.verdict for row in rows], estimates, limits, _COLORS)
        labels = [f"{row.title} {row.relation} {written_value(row.name, row.bound)}" for row in rows]
        ax = draw_rows(
            ax, labels, bars, [Line(1, "required")], xlabel="Estimate and limit, as multiples of what is required",
            logarithmic=True, per_cent=False, least=_LEAST,
        )  # fmt: skip
        for y, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            if math.isnan(limit):
                told = "no limit" if math.isnan(row.limit) else "its limit cannot be drawn"
                color = _COLORS[row.verdict]
                ax.text(1, y, f"  {row.verdict}: {told}", va="center", color=color, fontsize="small")
        low, high = ax.get_xlim()
        steps = next((steps for most, steps in _STEPS if high / low < most), (1.0,))
        ax.xaxis.set_major_locator(FixedLocator([step * 10.0**k for k in range(-3, 7) for step in steps]))
        ax.xaxis.set_minor_formatter(NullFormatter())
        return ax

    def _columns(self) -> dict[str, list[Any]]:
        return super()._columns() | {"title": [row.title for row in self.rows]}


def _worst(verdicts: list[str]) -> str:
    return next((one for one in (NOT_MET, UNDECIDED) if one in verdicts), MET)


def _as_junit(rows: Sequence[CheckedQuantity], allow_undecided: bool, path: str | Path | None) -> str:
    """Write a suite with a test case for each quantity; those that are not met, or undecided, have failed.

    Undecided ones are skipped where they are allowed.
    """
    skipped = [row for row in rows if allow_undecided and row.verdict == UNDECIDED]
    n_failed = sum(row.verdict != MET for row in rows) - len(skipped)
    numbers = {"tests": str(len(rows)), "failures": str(n_failed), "errors": "0", "skipped": str(len(skipped))}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "fastfair check", **numbers})
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": visible(row.requirement), "name": visible(row.title), "time": "0"}
        )
        if row in skipped:
            ElementTree.SubElement(case, "skipped", {"message": f"{row.verdict}: {visible(row.reason)}"})
        elif row.verdict != MET:
            failure = {"type": row.verdict, "message": visible(row.reason)}
            ElementTree.SubElement(case, "failure", failure).text = f"{visible(row.title)}: {visible(row.reason)}"
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    if path is not None:
        with whole_files.written(Path(path)) as file:
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())
    return text
