"""Draw quantities and their limits against what is required; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastfair._lib.plot_style import GREY, STANDS_OUT, USUAL, legend_below, row_axes

from .checked_quantity import MET, NOT_MET, CheckedQuantity, written_value
from .judging import UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = {MET: USUAL, UNDECIDED: GREY, NOT_MET: STANDS_OUT}
# Numbers of the axis between two powers of ten, by how far it reaches.
_STEPS = ((3, (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 8)), (10, (1, 1.5, 2, 3, 5, 7)), (100, (1, 2, 5)))
_LEAST = 0.01  # of what is required; what is lower is drawn there


def draw_check(rows: Sequence[CheckedQuantity], ax: Axes | None) -> Axes:
    """Draw a row for each quantity: its estimate and the limit that decides, as multiples of what is required."""
    from matplotlib.ticker import FixedLocator, NullFormatter

    ax = row_axes(ax, [f"{row.title} {row.relation} {written_value(row.name, row.bound)}" for row in rows])
    ax.axvline(1, color="k", linestyle="--", linewidth=1.2, zorder=0, label="required")
    ax.set_xscale("log")
    seen: set[str] = set()
    for y, row in enumerate(rows):
        label = None if row.verdict in seen else row.verdict
        seen.add(row.verdict)
        color = _COLORS[row.verdict]
        estimate, limit = row.estimate / row.bound, row.limit / row.bound
        if row.bound <= 0 or not math.isfinite(limit) or not math.isfinite(estimate):
            told = "no limit" if math.isnan(limit) else "its limit cannot be drawn"
            ax.text(1, y, f"  {row.verdict}: {told}", va="center", color=color, fontsize="small")
            continue
        start, end = max(estimate, _LEAST), max(limit, _LEAST)
        ax.plot([start, end], [y, y], color=color, linewidth=1.4)
        ax.plot(end, y, "|", color=color, markersize=11, markeredgewidth=1.6)
        ax.plot(start, y, "o" if estimate > _LEAST else "<", color=color, markersize=5, label=label)
    low, high = ax.get_xlim()
    steps = next((steps for most, steps in _STEPS if high / low < most), (1.0,))
    ax.xaxis.set_major_locator(FixedLocator([step * 10.0**k for k in range(-3, 7) for step in steps]))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Estimate and limit, as multiples of what is required")
    legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax
