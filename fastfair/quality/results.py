"""`DiscardCurve`: error rates after discarding comparisons of low quality, overall and in each group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible

from .discarded import DiscardArea, DiscardedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
SHOWN = ("rate", "discarded")


@dataclass(frozen=True, eq=False, repr=False)
class DiscardCurve(Tabular):
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

    def _content(self) -> dict[str, Any]:
        return {
            "rate": self.rate, "operating_point": str(self.at), "threshold": self.threshold, "share_of": self.share_of,
            "fractions": self.fractions.tolist(), "confidence_level": self.confidence_level,
            "areas": records(columns_of(self.areas)), "rates": records(self._columns()),
        }  # fmt: skip

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rates)

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
        from .plots import draw_curves

        validation.choice("show", show, SHOWN)
        curves: Mapping[str | None, tuple[DiscardedRate, ...]] = {
            group: self.of(group) for group in (self.groups or (None,))
        }
        return draw_curves(self.fractions, curves, self.rate, show, self.share_of, ax)


def _written(row: DiscardedRate) -> str:
    if math.isnan(row.estimate):
        return "not known, as none is left"
    return rate_with_interval(row.estimate, row.low, row.high)
