"""`DiscardCurve`: error rates after discarding comparisons of low quality, overall and in each group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.axes import tick_per_cent
from fastfair._lib.plot_style import GREY, draw_lines, legend_below
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
SHOWN = ("rate", "discarded")


@dataclass(frozen=True)
class DiscardedRate:
    """An error rate after discarding the comparisons of low quality, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    fraction : float
        The share that was to be discarded.
    cut : float
        The quality below which comparisons are discarded, in all groups alike.
    estimate, low, high : float
        The rate of those left, with its interval; NaN where none is left, or there is no interval, and `note` says why.
    n_comparisons, n_errors : int
        Numbers of comparisons left, and of errors among them.
    n_subjects : int
        Number of subjects in these.
    discarded, discarded_low, discarded_high : float
        The share of the group's own comparisons that is discarded, with its interval. That of all is at most
        `fraction`.
    note : str
        Warnings for the reader.
    """

    group: str | None
    fraction: float
    cut: float
    estimate: float
    low: float
    high: float
    n_comparisons: int
    n_errors: int
    n_subjects: int
    discarded: float
    discarded_low: float
    discarded_high: float
    note: str = ""


@dataclass(frozen=True)
class DiscardArea:
    """The partial area under an error rate over the share discarded, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    area, low, high : float
        The area under the rate from no comparisons discarded to the largest share, with its interval. Divided by this
        share it is the mean rate. NaN where nothing is left of a group.
    standard_error : float
        Its standard error; 0 without errors.
    note : str
        Warnings for the reader.
    """

    group: str | None
    area: float
    low: float
    high: float
    standard_error: float
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class DiscardCurve(Result):
    """The result of `discard_curve`.

    Attributes
    ----------
    rate : {"fnmr", "fmr"}
        The error rate.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, found before anything is discarded and the same for all shares.
    share_of : {"comparisons", "samples"}
        What shares are discarded of.
    fractions : (f,) ndarray
        The shares that were to be discarded.
    groups : tuple of str
        The groups; empty without.
    rates : tuple of DiscardedRate
        A row for each share, of all comparisons first, then those of each group.
    areas : tuple of DiscardArea
        Of all comparisons and of each group.
    confidence_level : float
        The level of the intervals.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    share_of: str
    fractions: Floats
    groups: tuple[str, ...]
    rates: tuple[DiscardedRate, ...]
    areas: tuple[DiscardArea, ...]
    confidence_level: float

    _title = "Errors after discarding comparisons of low quality"
    _rows = "rates"

    @checked
    def of(self, group: str | None = None) -> tuple[DiscardedRate, ...]:
        """Return the rows of a group, or of all comparisons, one for each share.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        tuple of DiscardedRate
        """
        if group is not None:
            validation.choice("group", group, self.groups)
        return tuple(row for row in self.rates if row.group == group)

    @checked
    def area(self, group: str | None = None) -> DiscardArea:
        """Return the partial area under the curve of a group, or of all comparisons.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        DiscardArea
        """
        if group is not None:
            validation.choice("group", group, self.groups)
        return next(one for one in self.areas if one.group == group)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        rate, rows, of_all = self.rate.upper(), self.of(), self.area()
        first, last = rows[0], rows[-1]
        text = [
            f"{rate} at {self.at} (threshold {typed(self.threshold)}), which stays as {self.share_of} of low quality "
            "are discarded.",
            f"With {per_cent(first.discarded)} of the comparisons discarded it is {_written(first)}, with "
            f"{per_cent(last.discarded)} (quality below {last.cut:g}) {_written(last)}.",
            f"The partial area under the curve, to {per_cent(last.fraction)}, is {of_all.area:.3g}"
            + (f" [{of_all.low:.3g}, {of_all.high:.3g}]." if not math.isnan(of_all.low) else f": {of_all.note}."),
        ]
        ends = [self.of(group)[-1] for group in self.groups]
        known = sorted((row for row in ends if not math.isnan(row.discarded)), key=lambda row: row.discarded)
        if len(known) > 1:
            text.append(
                f"The cut at {last.cut:g} discards "
                + " and ".join(
                    f"{rate_with_interval(row.discarded, row.discarded_low, row.discarded_high)} of the comparisons of "
                    f"{row.group}"
                    for row in (known[-1], known[0])
                )
                + (", the most and the least." if len(known) > 2 else ".")
            )
        return "\n".join(map(visible, text))

    @checked
    def plot(self, ax: Axes | None = None, *, show: str = "rate") -> Axes:
        """Draw the rate, or the share of each group's own comparisons discarded, over the share discarded of all.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        show : {"rate", "discarded"}
            What to draw, of each group where there are groups.

        Returns
        -------
        matplotlib Axes
        """
        validation.choice("show", show, SHOWN)
        names = ("estimate", "low", "high") if show == "rate" else ("discarded", "discarded_low", "discarded_high")
        curves = {
            group or "all": [np.array([getattr(row, name) for row in self.of(group)]) for name in names]
            for group in (self.groups or (None,))
        }
        ax, lines = draw_lines(self.fractions, curves, ax)
        if show == "discarded":
            style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": ":"}
            lines += ax.plot(self.fractions, self.fractions, label="as many as of all", **style)
        kind = "mated comparisons" if self.rate == "fnmr" else "non-mated comparisons"
        ax.set_xlabel(f"Share of {kind if self.share_of == 'comparisons' else self.share_of} discarded")
        ax.set_ylabel(METRICS[self.rate].long_title if show == "rate" else "Share of the group discarded")
        ax.set_ylim(bottom=0)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(tick_per_cent)
        ax.grid(alpha=0.3)
        if len(lines) > 1:
            legend_below(ax, lines)
        return ax


def _written(row: DiscardedRate) -> str:
    if math.isnan(row.estimate):
        return "not known, as none is left"
    return rate_with_interval(row.estimate, row.low, row.high)
