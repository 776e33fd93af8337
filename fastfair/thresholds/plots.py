"""Draw error rates at thresholds from elsewhere; only plots import matplotlib."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.plot_style import STANDS_OUT, USUAL, draw_lines, legend_below, rate_ticks, row_axes

from .applied import AppliedRate
from .curve_rows import ExpectedError, RateAtThreshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}
_APART = 0.14  # rows between the two intervals of a rate


def draw_applied(rows: Sequence[AppliedRate], rate: str, aim: float, ax: Axes | None) -> Axes:
    """Draw a row for all comparisons and one for each group, with two intervals, and what was held on other data."""
    ax = row_axes(ax, [row.group or "all" for row in rows])
    handles: list[Any] = []
    for k, (low, high, color, label) in enumerate((
        ("low", "high", USUAL, "with the uncertainty of the threshold"),
        ("given_low", "given_high", STANDS_OUT, "for this very threshold"),
    )):  # fmt: skip
        for y, row in enumerate(rows):
            ends = getattr(row, low), getattr(row, high)
            if not math.isnan(ends[0]):
                place = y + _APART * (2 * k - 1)
                (line,) = ax.plot(ends, [place, place], color=color, linewidth=1.6, label=label)
                ax.plot(row.estimate, place, "o", color=color, markersize=4)
                if len(handles) == k:
                    handles.append(line)
    if not math.isnan(aim):
        handles.append(ax.axvline(aim, color="k", linestyle="--", linewidth=1.2, zorder=0, label="held on development"))
    rate_ticks(ax.xaxis)
    ax.set_xlabel(_NAMES[rate])
    legend_below(ax, handles)
    return ax


def draw_over(
    places: NDArray[np.float64],
    curves: Mapping[str, Sequence[RateAtThreshold] | Sequence[ExpectedError]],
    label: str,
    ax: Axes | None,
) -> Axes:
    """Draw rates over thresholds, or over what thresholds are chosen by, with the interval at each."""
    ends = ("estimate", "low", "high")
    drawn = {name: [np.array([getattr(row, end) for row in rows]) for end in ends] for name, rows in curves.items()}
    ax, lines = draw_lines(places, drawn, ax)
    ax.set_xlabel("Threshold")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    rate_ticks(ax.yaxis)
    ax.grid(alpha=0.3)
    if len(lines) > 1:
        legend_below(ax, lines)
    return ax


def draw_expected(curves: Mapping[str | None, Sequence[ExpectedError]], ax: Axes | None) -> Axes:
    """Draw half total error rates over the weights that thresholds are chosen by."""
    weights = np.array([row.weight for row in next(iter(curves.values()))])
    named = {group or "all": rows for group, rows in curves.items()}
    ax = draw_over(weights, named, "Half total error rate", ax)
    ax.set_xlabel("Weight of false matches")
    return ax
