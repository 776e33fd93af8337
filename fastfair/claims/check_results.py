"""`Check`: whether requirements are met, quantity by quantity, with the limits that decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair.errors import visible

from .checked_quantity import MET, NOT_MET, CheckedQuantity
from .judging import UNDECIDED

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Check(Tabular):
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
        from .junit import as_junit

        return as_junit(self.rows, self.allow_undecided, path)

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
        from .check_plots import draw_check

        return draw_check(self.rows, ax)

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings, "confidence_level": self.confidence_level, "passed": self.passed,
            "allow_undecided": self.allow_undecided,
            "verdict": self.verdict, "requirements": [
                {"requirement": text, "verdict": verdict} for text, verdict in self.verdicts.items()
            ],
            "rows": records(self._columns()),
        }  # fmt: skip

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rows) | {"title": [row.title for row in self.rows]}


def _worst(verdicts: list[str]) -> str:
    return next((one for one in (NOT_MET, UNDECIDED) if one in verdicts), MET)
