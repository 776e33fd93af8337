"""The chart that most results are drawn as: named rows, each with estimates and their intervals.

matplotlib is imported only here, in `_lib.axes` and in modules of plots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.plot_style import USUAL, legend_below, rate_ticks, row_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Bar:
    """An estimate with its interval, in a row.

    Attributes
    ----------
    row : float
        The row, counted from 0 at the top; fractions lie between two rows.
    value, low, high : float
        The estimate and its interval; NaN where there is none.
    color, marker, width : str, str, float
        How it is drawn; without a marker the interval alone.
    label : str
        What the legend calls bars like this one; the first of them stands there.
    limit : float
        A limit, drawn as an upright tick; the line runs from the estimate to it.
    """

    row: float
    value: float
    low: float = math.nan
    high: float = math.nan
    color: str = USUAL
    marker: str = "o"
    width: float = 1.6
    label: str = ""
    limit: float = math.nan


@dataclass(frozen=True)
class Line:
    """An upright line at a value, such as that of all groups or a requirement."""

    value: float
    label: str = ""
    style: str = "--"
    color: str = "k"


def draw_rows(
    ax: Axes | None,
    labels: Sequence[str],
    bars: Sequence[Bar],
    lines: Sequence[Line] = (),
    *,
    xlabel: str,
    logarithmic: bool = False,
    per_cent: bool = True,
    least: float = 0.0,
) -> Axes:
    """Draw bars in named rows, with upright lines and a legend below.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure as high as the rows need.
    labels : sequence of str
        The names of the rows, from top to bottom.
    bars, lines : sequence of Bar, sequence of Line
        What is drawn.
    xlabel : str
        What the axis shows.
    logarithmic : bool
        Whether its scale is logarithmic. What is 0 or below `least` is then drawn at the left edge, as an arrow.
    per_cent : bool
        Whether the numbers of the axis are in per cent.
    least : float
        The left edge of a logarithmic scale; by default a third of the least positive number.

    Returns
    -------
    matplotlib Axes
    """
    ax = row_axes(ax, labels)
    handles: dict[str, Any] = {}
    for line in lines:
        if math.isfinite(line.value):
            drawn = ax.axvline(line.value, color=line.color, linestyle=line.style, linewidth=1.2, zorder=0)
            if line.label:
                handles[line.label] = drawn
    if logarithmic:
        ax.set_xscale("log")
        numbers = [x for bar in bars for x in (bar.value, bar.high, bar.limit) if 0 < x < math.inf]
        least = least or min([*numbers, *(line.value for line in lines if line.value > 0)], default=1.0) / 3
    for bar in bars:
        for drawn in _draw(ax, bar, least if logarithmic else -math.inf):
            if bar.label and (bar.label not in handles or bar.marker):
                handles.setdefault(bar.label, drawn)
    rate_ticks(ax.xaxis)
    if not per_cent:
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel(xlabel)
    if handles:
        for label, drawn in handles.items():
            drawn.set_label(label)
        legend_below(ax, list(handles.values()))
    return ax


def _draw(ax: Axes, bar: Bar, least: float) -> list[Any]:
    """Draw a bar; return its mark first, if it has one."""
    low, high = (bar.value, bar.limit) if math.isfinite(bar.limit) else (bar.low, bar.high)
    drawn: list[Any] = []
    if math.isfinite(low) and math.isfinite(high):
        ends = [max(low, least), max(high, least)]
        drawn += ax.plot(ends, [bar.row, bar.row], color=bar.color, linewidth=bar.width)
    if math.isfinite(bar.limit):
        ax.plot(max(bar.limit, least), bar.row, "|", color=bar.color, markersize=11, markeredgewidth=1.6)
    if bar.marker and math.isfinite(bar.value):
        marker = bar.marker if bar.value > least else "<"
        drawn[:0] = ax.plot(
            max(bar.value, least), bar.row, marker, color=bar.color, markersize=5, clip_on=marker != "<"
        )
    return drawn


def verdict_bars(
    verdicts: Sequence[str], estimates: Sequence[float], limits: Sequence[float], colors: dict[str, str]
) -> list[Bar]:
    """Return bars from estimates to the limits that decide, in the colours of their verdicts."""
    rows = enumerate(zip(verdicts, estimates, limits, strict=True))
    return [
        Bar(y, estimate, color=colors[verdict], label=verdict, limit=limit, width=1.4)
        for y, (verdict, estimate, limit) in rows
        if math.isfinite(limit)
    ]
