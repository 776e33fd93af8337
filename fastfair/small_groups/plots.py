"""Draw raw and shrunken rates of groups; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.plot_style import legend_below, rate_ticks, row_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rates = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
_RAW, _SHRUNKEN = "0.55", "#0072B2"
_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}


def draw_shrunken(groups: Sequence[str], raw: Rates, shrunken: Rates, rate: str, ax: Axes | None) -> Axes:
    """Draw two intervals for each group, the raw one above."""
    ax = row_axes(ax, groups)
    rows = np.arange(len(groups))
    for (estimate, low, high), shift, color, marker, label in (
        (raw, -0.15, _RAW, "o", "the group's own"), (shrunken, 0.15, _SHRUNKEN, "D", "shrunken"),
    ):  # fmt: skip
        ax.hlines(rows + shift, low, high, color=color, linewidth=1.5)
        ax.plot(estimate, rows + shift, marker, color=color, markersize=5, label=label)
    rate_ticks(ax.xaxis)
    ax.set_xlabel(_NAMES[rate])
    legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax
