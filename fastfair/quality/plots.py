"""Draw error rates, and shares of groups discarded, over the share discarded; only plots import matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import axes_or_new, tick_per_cent
from fastfair._lib.plot_style import GREY, legend_below, line_style
from fastfair._lib.text import drawn, shortened

from .discarded import DiscardedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}
_LONGEST = 36  # characters of a group's name
_DARK = 0.18  # how dark an interval is


def draw_curves(
    fractions: NDArray[np.float64],
    curves: Mapping[str | None, Sequence[DiscardedRate]],
    rate: str,
    show: str,
    share_of: str,
    ax: Axes | None,
) -> Axes:
    """Draw a line with its intervals for each group, or one for all comparisons."""
    ax = axes_or_new(ax, (6.4, 4.4 + 0.2 * len(curves)))
    names = ("estimate", "low", "high") if show == "rate" else ("discarded", "discarded_low", "discarded_high")
    lines: list[Any] = []
    for k, (group, rows) in enumerate(curves.items()):
        value, low, high = (np.array([getattr(row, name) for row in rows]) for name in names)
        style = line_style(k)
        label = "all" if group is None else drawn(shortened(group, _LONGEST))
        lines += ax.plot(fractions, value, marker="o", markersize=3, label=label, **style)
        ax.fill_between(fractions, low, high, color=style["color"], alpha=_DARK, linewidth=0)
    if show == "discarded":
        lines += ax.plot(fractions, fractions, color=GREY, linewidth=0.8, linestyle=":", label="as many as of all")
    of_what = {"comparisons": "mated comparisons" if rate == "fnmr" else "non-mated comparisons"}.get(
        share_of, share_of
    )
    ax.set_xlabel(f"Share of {of_what} discarded")
    ax.set_ylabel(_NAMES[rate] if show == "rate" else "Share of the group discarded")
    ax.set_ylim(bottom=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(tick_per_cent)
    ax.grid(alpha=0.3)
    if len(lines) > 1:
        legend_below(ax, lines)
    return ax
