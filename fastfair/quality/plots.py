"""Draw error rates, and shares of groups discarded, over the share discarded; only plots import matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import tick_per_cent
from fastfair._lib.plot_style import GREY, draw_lines, legend_below

from .discarded import DiscardedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}


def draw_curves(
    fractions: NDArray[np.float64],
    curves: Mapping[str | None, Sequence[DiscardedRate]],
    rate: str,
    show: str,
    share_of: str,
    ax: Axes | None,
) -> Axes:
    """Draw a line with its intervals for each group, or one for all comparisons."""
    names = ("estimate", "low", "high") if show == "rate" else ("discarded", "discarded_low", "discarded_high")
    values = {
        group or "all": [np.array([getattr(row, name) for row in rows]) for name in names]
        for group, rows in curves.items()
    }
    ax, lines = draw_lines(fractions, values, ax)
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
