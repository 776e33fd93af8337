"""How all plots look: colours and lines that colour-blind readers tell apart, rows with intervals, legends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .axes import axes_or_new, tick_per_cent
from .text import drawn, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's colours; the yellow is left out, as it is too light for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
USUAL, STANDS_OUT = COLORS[:2]
GREY = "0.45"
LONGEST_LABEL = 60  # characters of a row's label; longer ones lose their middle
LONGEST_IN_LEGEND = 36  # characters of a group's name
_MOST_NAMED, _NAMED_AT_EACH_END = 8, 3  # more lines of groups cannot be told apart in one plot
_POINTWISE = 0.18  # how dark an interval is
LIGHTER = 0.7  # how opaque a row is drawn that rests on few errors
_LINE = 0.18  # inches of a further line of the label
_LEGEND_DROP = 0.47  # inches from the axes down to a legend below them, beyond the numbers and the label of the axis


@dataclass(frozen=True)
class ForestRow:
    """A row of a forest plot.

    Attributes
    ----------
    label : str
        Written at the left.
    value, low, high : float
        The estimate and its interval; NaN where there is none.
    is_light : bool
        Whether the row is drawn lighter.
    stands_out : bool
        Whether the row is drawn in another colour and with another mark.
    instead : str
        Written in place of an estimate that is not finite.
    """

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    is_light: bool = False
    stands_out: bool = False
    instead: str = "not computable"


def line_style(k: int) -> dict[str, Any]:
    """Return colour and line style of the k-th line; lines of one colour differ in style."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k // len(COLORS) % len(LINES)]}


def row_size(labels: Sequence[str], width: float = 6.4) -> tuple[float, float]:
    """Return the inches that named rows need: at least the width given, and more for long labels."""
    longest = max((min(len(label), LONGEST_LABEL) for label in labels), default=0)
    return width + 0.08 * max(0, longest - 20), max(2.4, 1.5 + 0.24 * len(labels))


def row_axes(ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Set up axes with a named row for each label, the first on top; new ones are as tall as the rows need."""
    ax = axes_or_new(ax, row_size(labels))
    fontsize = "medium" if len(labels) <= 25 else "small"
    ax.set_yticks(range(len(labels)), [drawn(shortened(label, LONGEST_LABEL)) for label in labels], fontsize=fontsize)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
    return ax


def draw_forest(rows: Sequence[ForestRow], ax: Axes | None, *, logarithmic: bool = False, **kwargs: Any) -> Axes:
    """Draw the estimate and the interval of each row.

    Parameters
    ----------
    rows : sequence of ForestRow
        The rows, from top to bottom.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    logarithmic : bool
        Whether the scale is logarithmic; an estimate of 0 is then an arrow at the left edge.
    **kwargs
        Passed to `Axes.plot` for the marks.

    Returns
    -------
    matplotlib Axes
    """
    ax = row_axes(ax, [row.label for row in rows])
    edge = None
    if logarithmic:
        # An interval that reaches further down than this goes to the edge; few do, and all others would be squeezed.
        positive = [x for row in rows for x in (row.value, row.high) if math.isfinite(x) and x > 0]
        edge = min(positive, default=1e-6) / 10
        ax.set_xscale("log")
    for y, row in enumerate(rows):
        _draw_row(ax, y, row, edge, kwargs)
    if edge is not None:
        ax.set_xlim(left=edge)
    return ax


def _draw_row(ax: Axes, y: int, row: ForestRow, edge: float | None, kwargs: dict[str, Any]) -> None:
    if not math.isfinite(row.value):
        ax.text(0.06, y, row.instead, transform=ax.get_yaxis_transform(), va="center", color=GREY, fontsize="small")
        return
    style: dict[str, Any] = {"color": STANDS_OUT if row.stands_out else USUAL}
    style["alpha"] = LIGHTER if row.is_light else 1.0
    at_edge = edge is not None and row.value <= 0
    place = row.value if edge is None else max(row.value, edge)
    if math.isfinite(row.low) and row.high > row.low:
        right = row.high if math.isfinite(row.high) else ax.get_xlim()[1]
        ax.plot(
            [row.low if edge is None else max(row.low, edge), right],
            [y, y],
            linewidth=1.0 if row.is_light else 1.6,
            **style,
        )
    marker = "<" if at_edge else "D" if row.stands_out else "o"
    style |= {"marker": marker, "markersize": 5, "markerfacecolor": "none" if row.is_light else style["color"]}
    ax.plot([place], [y], clip_on=not at_edge, **(style | {"linestyle": ""} | kwargs))


def explain(ax: Axes, entries: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Put a legend below the axes: each entry's text, and the style of its line and mark."""
    from matplotlib.lines import Line2D

    legend_below(ax, [Line2D([], [], label=drawn(text), **style) for text, style in entries])


def legend_below(ax: Axes, handles: Sequence[Any]) -> None:
    """Put a legend of what is drawn below the axes, out of the way of it."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    assert figure is not None
    below = _LEGEND_DROP + _LINE * ax.get_xlabel().count("\n")
    drop = ScaledTranslation(0, -below, figure.dpi_scale_trans)
    ax.legend(
        handles=list(handles), loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=ax.transAxes + drop,
        fontsize="small", frameon=False, borderaxespad=0,
    )  # fmt: skip


def rate_ticks(axis: Axis) -> None:
    """Write the numbers of an axis in per cent, few enough where it is logarithmic that they do not overlap."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        spread = high / low
        axis.set_major_locator(
            LogLocator(subs=(1, 2, 5) if spread < 30 else (1, 3) if spread < 300 else (1,), numticks=6)
        )
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(tick_per_cent)


def ends_to_name(value: NDArray[np.floating[Any]]) -> list[int]:
    """Choose the groups whose lines are told apart: all of a few, of many those at both ends, by their mean."""
    n = value.shape[1]
    if n <= _MOST_NAMED:
        return list(range(n))
    known = np.isfinite(value)
    mean = np.where(known, value, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    order = [k for k in np.argsort(mean, kind="stable").tolist() if known[:, k].any()]
    return list(dict.fromkeys([*order[::-1][:_NAMED_AT_EACH_END], *order[:_NAMED_AT_EACH_END][::-1]]))


def draw_lines(
    places: NDArray[np.floating[Any]], curves: Mapping[str, Sequence[NDArray[np.float64]]], ax: Axes | None
) -> tuple[Axes, list[Any]]:
    """Draw a line with its intervals for each group; of many, those at both ends are named and the others are grey.

    Parameters
    ----------
    places : (n,) ndarray
        Along the axis to the right.
    curves : dict of str to three (n,) ndarray
        The values of each group, and the lower and upper ends of their intervals.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    lines : list
        What a legend explains.
    """
    names, ends = list(curves), list(curves.values())
    named = ends_to_name(np.stack([values[0] for values in ends], axis=1))
    others = [k for k in range(len(ends)) if k not in named]
    ax = axes_or_new(ax, (6.4, 4.4 + 0.2 * (len(named) + bool(others))))
    for k in others:
        ax.plot(places, ends[k][0], color="0.75", linewidth=0.6, zorder=1)
    lines: list[Any] = []
    for place, k in enumerate(sorted(named) if not others else named):
        value, low, high = ends[k]
        style = line_style(place)
        lines += ax.plot(places, value, label=drawn(shortened(names[k], LONGEST_IN_LEGEND)), **style)
        ax.fill_between(places, low, high, color=style["color"], alpha=_POINTWISE, linewidth=0)
    if others:
        lines += ax.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups")
    return ax, lines
