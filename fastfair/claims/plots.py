"""Draw rates and their limits against what is claimed; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastfair._lib.plot_style import GREY, STANDS_OUT, USUAL, legend_below, rate_ticks, row_axes

from .claimed_rates import CONTRADICTED, SUPPORTED, ClaimedRate
from .judging import UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = {SUPPORTED: USUAL, UNDECIDED: GREY, CONTRADICTED: STANDS_OUT}
_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}


def draw_claim(rows: Sequence[ClaimedRate], rate: str, claimed: float, ax: Axes | None) -> Axes:
    """Draw a row for all comparisons and one for each group; verdicts differ in colour."""
    ax = row_axes(ax, [row.group or "all" for row in rows])
    known = [row for row in rows if not math.isnan(row.limit)]
    logarithmic = rate == "fmr"  # FMRs of groups, and their limits, are often powers of ten apart
    least = min([claimed, *(row.limit for row in known), *(row.estimate for row in known if row.estimate > 0)]) / 3
    ax.axvline(claimed, color="k", linestyle="--", linewidth=1.2, zorder=0, label="claimed")
    seen: set[str] = set()
    for y, row in enumerate(rows):
        if math.isnan(row.limit):
            continue
        color = _COLORS[row.verdict]
        start = max(row.estimate, least) if logarithmic else row.estimate
        ax.plot([start, row.limit], [y, y], color=color, linewidth=1.4)
        ax.plot(row.limit, y, "|", color=color, markersize=11, markeredgewidth=1.6)
        shown = row.estimate > 0 or not logarithmic
        label = None if row.verdict in seen else row.verdict
        ax.plot(row.estimate if shown else start, y, "o" if shown else "<", color=color, markersize=5, label=label)
        ax.plot(
            row.independent_limit, y, "x", color="0.2", markersize=5,
            label=None if seen else "limit if comparisons were independent",
        )  # fmt: skip
        seen.add(row.verdict)
    if logarithmic:
        ax.set_xscale("log")
    rate_ticks(ax.xaxis)
    ax.set_xlabel(f"{_NAMES[rate]} with upper limit")
    legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax
