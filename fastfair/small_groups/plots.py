"""Draw raw and shrunken rates of groups; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.axes import tick_per_cent
from fastfair._lib.text import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rates = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
_RAW, _SHRUNKEN = "0.55", "#0072B2"
_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}


def draw_shrunken(groups: Sequence[str], raw: Rates, shrunken: Rates, rate: str, ax: Axes | None) -> Axes:
    """Draw two intervals for each group, the raw one above."""
    if ax is None:
        pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
        ax = pyplot.subplots(figsize=(6.4, max(2.6, 1 + 0.3 * len(groups))), layout="constrained")[1]
    assert ax is not None
    rows = np.arange(len(groups))
    for (estimate, low, high), shift, color, marker, label in (
        (raw, -0.15, _RAW, "o", "the group's own"), (shrunken, 0.15, _SHRUNKEN, "D", "shrunken"),
    ):  # fmt: skip
        ax.hlines(rows + shift, low, high, color=color, linewidth=1.5)
        ax.plot(estimate, rows + shift, marker, color=color, markersize=5, label=label)
    ax.set_yticks(rows, [drawn(group) for group in groups])
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.xaxis.set_major_formatter(tick_per_cent)
    ax.set_xlabel(_NAMES[rate])
    ax.legend(fontsize="small", loc="best")
    return ax
