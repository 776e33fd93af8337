"""`history`: the results of several checks beside each other, one look after another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.plots import axes_or_new, line_style
from fastfair._lib.text import shortened
from fastfair.errors import InputError
from fastfair.results.result import Result

from .looks import read_earlier
from .result import Check, CheckedQuantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAND, _PALE_BAND = 0.2, 0.07  # how dark they are: a few, and many, which bury lines
_FEW = 3
_USUAL_NAME = "check"  # of a file in a folder of results, which the folder tells apart
_WIDEST_NAME = 24


@dataclass(frozen=True, kw_only=True)
class PastQuantity(CheckedQuantity):
    """A `CheckedQuantity` of one of several checks.

    Attributes
    ----------
    of : str
        Which check it is of: the name of its file or folder, or its look.
    threshold : float
        The threshold there; NaN where there is none.
    """

    of: str
    threshold: float


@dataclass(frozen=True, eq=False, repr=False)
class History(Result):
    """The result of `history`.

    Attributes
    ----------
    names : tuple of str
        The checks, in their order.
    looks : tuple of str
        Which look each of them is; empty for a single one.
    rows : tuple of PastQuantity
        The quantities of all of them.
    """

    names: tuple[str, ...]
    looks: tuple[str, ...]
    rows: tuple[PastQuantity, ...]

    _title = "What did the looks show?"
    _page_title = "Checks over time"
    _printed = "title of relation bound estimate decided_by decided_at verdict threshold"
    _properties = "decided_by decided_at title"

    @property
    def quantities(self) -> dict[tuple[str, str], list[PastQuantity]]:
        """The rows of each quantity, by its requirement and title."""
        listed: dict[tuple[str, str], list[PastQuantity]] = {}
        for row in self.rows:
            listed.setdefault((row.requirement, row.title), []).append(row)
        return listed

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        n = len(self.names)
        text = [f"{n} check{'s' if n > 1 else ''}, from {self.names[0]} to {self.names[-1]}."]
        if "" in self.looks and n > 1:
            text.append(
                "These checks are no planned looks, so that some of them errs more often than one"
                " alone."
            )
        quantities = self.quantities
        for (requirement, title), rows in quantities.items():
            changes = [
                rows[0],
                *(b for a, b in itertools.pairwise(rows) if a.verdict != b.verdict),
            ]
            said = ", ".join(f"{row.verdict} ({row.of})" for row in changes)
            is_alone = sum(name == requirement for name, _ in quantities) == 1
            about = requirement if is_alone else f"{requirement}, {title}"
            text.append(f"{about}: {said}.")
        return text

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each quantity over the checks, with the limits of both sides as a band, as multiples
        of what is required.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        lines = [(title, rows, rows[0].bound) for (_, title), rows in self.quantities.items()]
        ax = self._draw(ax, [line for line in lines if line[2] > 0], has_band=True)
        ax.axhline(1, color="0.3", linestyle="--", linewidth=1)
        ax.set_ylabel("Multiple of what is required")
        return ax

    def _draw(
        self,
        ax: Axes | None,
        lines: Sequence[tuple[str, Sequence[PastQuantity], float]],
        *,
        has_band: bool,
    ) -> Axes:
        """Draw lines over the checks: of quantities in units of a bound, with bands, or of
        thresholds.
        """
        ax = axes_or_new(ax)
        darkness = _BAND if len(lines) <= _FEW else _PALE_BAND
        place = {name: k for k, name in enumerate(self.names)}
        for k, (title, rows, unit) in enumerate(lines):
            at = [place[row.of] for row in rows]
            style = line_style(k)
            values = [(row.estimate if has_band else row.threshold) / unit for row in rows]
            ax.plot(at, values, marker="o", markersize=4, label=shortened(title, 60), **style)
            if has_band:
                ends = [sorted((row.limit / unit, row.opposite_limit / unit)) for row in rows]
                low, high = zip(*ends, strict=True)
                ax.fill_between(at, low, high, color=style["color"], alpha=darkness, linewidth=0)
        names = [shortened(name, _WIDEST_NAME) for name in self.names]
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
        ax.grid(alpha=0.3)
        if lines:
            ax.legend(fontsize="small")
        return ax

    def _figures(self) -> Mapping[str, Axes | Figure]:
        """Draw quantities, and thresholds that the data give, which may drift."""
        by_point: dict[str, dict[str, PastQuantity]] = {}
        for row in self.rows:
            if row.at is not None and not row.at.is_given and not math.isnan(row.threshold):
                by_point.setdefault(str(row.at), {}).setdefault(row.of, row)
        figures: dict[str, Axes | Figure] = {"": self.plot()}
        if by_point:
            lines = [(point, list(rows.values()), 1.0) for point, rows in by_point.items()]
            ax = self._draw(None, lines, has_band=False)
            ax.set_ylabel("Threshold")
            figures["thresholds"] = ax
        return figures


@checked
def history(results: Sequence[Check | str | Path]) -> History:
    """Put checks beside each other, one look after another: rates, limits, verdicts and thresholds.

    Parameters
    ----------
    results : sequence of Check or path
        Results of `check`, or their JSON, in the order of the looks.

    Returns
    -------
    History

    Raises
    ------
    InputError
        Without results, and for looks that are not in their order.

    Examples
    --------
    >>> import fastfair as ff
    >>> looks = [ff.FailureCounts([0, 1] * n, [4] * 2 * n, ["a"] * 2 * n) for n in (20, 80)]
    >>> checks = [ff.check(c, "fnmr <= 19 %", looks=(k, 2), rng=0) for k, c in enumerate(looks, 1)]
    >>> print(ff.history(checks).summary())
    2 checks, from look 1 of 2 to look 2 of 2.
    fnmr <= 19 %: undecided (look 1 of 2), met (look 2 of 2).
    """
    if not results:
        raise InputError("⟦results⟧ is empty: give the results of checks, one after another")
    checks: list[Check] = [
        item
        if isinstance(item, Check)
        else read_earlier(item, ("Check", "ProfileCheck"), "⟦results⟧")
        for item in results
    ]
    looks = [result.look for result in checks]
    names = _names_of(results, checks)
    for k, (before, look) in enumerate(itertools.pairwise(looks), 1):
        if before is not None and look is not None and look.number <= before.number:
            raise InputError(
                f"⟦results⟧: place {k} (counted from 0) is {look} and comes after {before}: give looks"
                " in their order"
            )
    return History(
        names,
        tuple("" if look is None else str(look) for look in looks),
        tuple(
            _past(row, name, result)
            for name, result in zip(names, checks, strict=True)
            for row in result.rows
        ),
        left_out=checks[-1].left_out,
    )


def _names_of(results: Sequence[Check | str | Path], checks: Sequence[Check]) -> tuple[str, ...]:
    """Name checks by their files, or their looks; those that are called alike by their places, too."""
    names = []
    for k, (item, result) in enumerate(zip(results, checks, strict=True), 1):
        name = f"check {k}" if result.look is None else str(result.look)
        if not isinstance(item, Check):
            path = Path(item)
            name = path.parent.name if path.stem == _USUAL_NAME and path.parent.name else path.stem
        names.append(name)
    return tuple(
        name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names, 1)
    )


def _past(row: CheckedQuantity, name: str, result: Check) -> PastQuantity:
    content: dict[str, Any] = {part.name: getattr(row, part.name) for part in fields(row)}
    threshold = result.thresholds.get(str(row.at), math.nan)
    return PastQuantity(**content, of=name, threshold=threshold)
