"""How all plots look: axes, colours and lines that colour-blind readers tell apart, rows with
intervals, legends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from fastfair._lib.arrays import AnyFloats

from .text import drawn, per_cent, shortened
from .warnings import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


_TICKS = np.array([1e-5, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999])


_on_screen: ContextVar[bool] = ContextVar("on_screen", default=True)


@contextmanager
def off_screen() -> Iterator[None]:
    """Make new figures without pyplot: no window opens, and nobody has to close them."""
    before = _on_screen.set(False)
    try:
        yield
    finally:
        _on_screen.reset(before)


def save(figure: Figure, file: BinaryIO, kind: str, dots: int) -> None:
    """Write a figure as "pdf", "svg" or "png", the same bytes for the same figure: no date, and ids
    of its own.

    Text stays text: PDF embeds TrueType fonts, as publishers ask, and SVG has letters that editors
    can change.
    """
    matplotlib = require("matplotlib", "cli", "drawing")
    date = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    with matplotlib.rc_context(
        {"svg.hashsalt": "fastfair", "svg.fonttype": "none", "pdf.fonttype": 42}
    ):
        figure.savefig(file, format=kind, dpi=dots, metadata=date)


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the axes given, or those of a new figure of a size in inches."""
    if ax is not None:
        return ax
    require("matplotlib", "cli", "drawing")
    from .paper_figures import PaperFigure

    if _on_screen.get():
        pyplot = require("matplotlib.pyplot", "cli", "drawing")
        return pyplot.subplots(figsize=size, layout="constrained", FigureClass=PaperFigure)[1]
    return PaperFigure(figsize=size, layout="constrained").subplots()


def tick_per_cent(value: float, position: float = 0) -> str:
    """Format the rate of a tick in per cent, as matplotlib's formatters do."""
    return per_cent(value, digits=10)


def roc_axes(ax: Axes) -> Axes:
    """Set up axes for a ROC curve, with FMR on a logarithmic scale."""
    ax.set_xscale("log")
    rate_ticks(ax.xaxis)
    rate_ticks(ax.yaxis)
    ax.set_xlabel("False match rate")
    ax.set_ylabel("False non-match rate")
    ax.grid(alpha=0.3)
    return ax


def probit_axes(ax: Axes) -> Axes:
    """Set up axes for a DET curve, in normal deviates that are labelled in per cent, as wide as
    high.
    """
    from scipy.special import ndtri

    low = min(ax.get_xlim()[0], ax.get_ylim()[0])
    high = max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.set(xlim=(low, high), ylim=(low, high))
    deviates = ndtri(_TICKS)
    shown = (deviates > low) & (deviates < high)
    labels = [f"{100 * tick:g}" for tick in _TICKS[shown]]
    ax.set_xticks(deviates[shown], labels)
    ax.set_yticks(deviates[shown], labels)
    ax.set_xlabel("False match rate (%)")
    ax.set_ylabel("False non-match rate (%)")
    ax.set_aspect("equal", anchor="N")
    ax.plot([low, high], [low, high], color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.grid(alpha=0.3)
    return ax


# Okabe and Ito's colours; the yellow is left out, as it is too light for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "D", "s", "^")
USUAL, STANDS_OUT = COLORS[:2]
GREY = "0.45"
LONGEST_LABEL = 60  # characters of a row's label; longer ones lose their middle
LONGEST_IN_LEGEND = 36  # characters of a group's name
_MOST_NAMED = 8  # lines of groups; more cannot be told apart in one plot,
_NAMED_AT_EACH_END = 3  # and so many of the highest and of the lowest are named
_MOST_FILLED = 3  # more filled intervals than this bury the lines
_DARKNESS = (0.25, 0.15)  # of an interval, and of a simultaneous band
LIGHTER = 0.7  # how opaque a row is drawn that rests on few errors
_LINE = 0.18  # inches of a further line of the label
# inches from the axes down to a legend below them, beyond the numbers and the label of the axis
_LEGEND_DROP = 0.47


def line_style(k: int) -> dict[str, Any]:
    """Return colour and line style of the k-th line: neighbours differ in both, and twelve lines in
    one of them.
    """
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k % len(LINES)]}


def mark_style(k: int) -> dict[str, Any]:
    """Return colour and marker of the k-th of what has marks, as `line_style` does for lines."""
    return {"color": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)]}


def row_size(labels: Sequence[str], width: float = 6.4) -> tuple[float, float]:
    """Return the inches that named rows need: at least the width given, and more for long
    labels.
    """
    longest = max((min(len(label), LONGEST_LABEL) for label in labels), default=0)
    return width + 0.08 * max(0, longest - 20), max(2.4, 1.5 + 0.24 * len(labels))


def row_axes(ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Set up axes with a named row for each label, the first on top; new ones are as tall as the
    rows need.
    """
    ax = axes_or_new(ax, row_size(labels))
    fontsize = "medium" if len(labels) <= 25 else "small"
    ax.set_yticks(
        range(len(labels)),
        [drawn(shortened(label, LONGEST_LABEL)) for label in labels],
        fontsize=fontsize,
    )
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
    return ax


def explain(ax: Axes, entries: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Put a legend below the axes: each entry's text, and the style of its line and mark."""
    from matplotlib.lines import Line2D

    legend_below(ax, [Line2D([], [], label=drawn(text), **style) for text, style in entries])


def legend_below(ax: Axes, handles: Sequence[Any], labels: Sequence[str] | None = None) -> None:
    """Put a legend below the axes, out of the way of what is drawn; by default the labels are those
    of the handles.
    """
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    assert figure is not None
    below = _LEGEND_DROP + _LINE * ax.get_xlabel().count("\n")
    drop = ScaledTranslation(0, -below, figure.dpi_scale_trans)
    ax.legend(
        handles=list(handles),
        labels=labels or [handle.get_label() for handle in handles],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + drop,
        fontsize="small",
        frameon=False,
        borderaxespad=0,
    )


def rate_ticks(axis: Axis) -> None:
    """Write the numbers of an axis in per cent, few enough where it is logarithmic that they do not
    overlap.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        spread = high / low
        steps = ((5, (1, 1.2, 1.5, 2, 3, 5, 7)), (30, (1, 2, 5)), (300, (1, 3)))
        subs = next((subs for most, subs in steps if spread < most), (1,))
        axis.set_major_locator(LogLocator(subs=subs, numticks=6))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(tick_per_cent)


def plain_ticks(axis: Axis) -> None:
    """Write the numbers of an axis plainly, at places as for rates."""
    rate_ticks(axis)
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def ends_to_name(value: AnyFloats) -> list[int]:
    """Choose the groups whose lines are told apart: all of a few, of many those at both ends, by
    their mean.
    """
    n = value.shape[1]
    if n <= _MOST_NAMED:
        return list(range(n))
    is_known = np.isfinite(value)
    mean = np.where(is_known, value, 0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    order = [k for k in np.argsort(mean, kind="stable").tolist() if is_known[:, k].any()]
    return list(
        dict.fromkeys([*order[::-1][:_NAMED_AT_EACH_END], *order[:_NAMED_AT_EACH_END][::-1]])
    )


def draw_lines(
    places: AnyFloats,
    curves: Mapping[str, Sequence[AnyFloats]],
    ax: Axes | None,
    labels: tuple[str, str],
    guide: tuple[str, AnyFloats] | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw a line with its intervals for each group; of many, those at both ends are named and the
    others are grey.

    Parameters
    ----------
    places : (n,) ndarray
        Along the axis to the right.
    curves : dict of str to three or five (n,) ndarray
        The values of each group, the lower and upper ends of their intervals, and those of their
        simultaneous bands. Of more than three groups the outer ends alone are drawn, as thin lines
        that bury no curve.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    labels : tuple of str
        Of the axes.
    guide : tuple, optional
        The name and the values of a line to compare with.
    **kwargs
        Passed to `Axes.plot` for the lines.

    Returns
    -------
    matplotlib Axes
        With a legend of two lines or more.
    """
    names = list(curves)
    ends = list(curves.values())
    named = ends_to_name(np.stack([values[0] for values in ends], axis=1))
    others = [k for k in range(len(ends)) if k not in named]
    ax = axes_or_new(ax, (6.4, 4.4 + 0.2 * (len(named) + bool(others))))
    for k in others:
        ax.plot(places, ends[k][0], color="0.75", linewidth=0.6, zorder=1)
    lines: list[Any] = []
    for rank, k in enumerate(named):
        value, *limits = ends[k]
        style = {
            "label": drawn(shortened(names[k], LONGEST_IN_LEGEND)),
            **line_style(rank),
        } | kwargs
        lines += ax.plot(places, value, **style)
        color = lines[-1].get_color()
        if len(named) > _MOST_FILLED:
            ax.plot(
                places,
                np.column_stack(limits[-2:]),
                color=color,
                linewidth=0.7,
                linestyle=":",
                zorder=1,
            )
        else:
            draw_ranges(ax, places, limits, color)
    if others:
        lines += ax.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups")
    if guide is not None:
        lines += ax.plot(places, guide[1], color=GREY, linewidth=0.8, linestyle=":", label=guide[0])
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.grid(alpha=0.3)
    if len(lines) > 1:
        legend_below(ax, lines)
    return ax


def draw_ranges(ax: Axes, places: Any, limits: Sequence[Any], color: Any) -> None:
    """Fill between lower and upper limits: an interval, and lighter a simultaneous band about
    it.
    """
    for k in range(len(limits) - 2, -1, -2):
        ax.fill_between(
            places, limits[k], limits[k + 1], color=color, alpha=_DARKNESS[k // 2], linewidth=0
        )


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
    is_light : bool
        Whether it rests on few errors, and is drawn lighter.
    instead : str
        Written in place of an estimate that is not finite.
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
    is_light: bool = False
    instead: str = ""


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
    **kwargs: Any,
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
        Whether its scale is logarithmic. What is below `least` is then at the left edge, an
        estimate as an arrow.
    per_cent : bool
        Whether the numbers of the axis are in per cent.
    least : float
        The left edge of a logarithmic scale; by default a third of the least positive number.
    **kwargs
        Passed to `Axes.plot` for the marks of estimates.

    Returns
    -------
    matplotlib Axes
    """
    ax = row_axes(ax, labels)
    handles: dict[str, Any] = {}
    for line in lines:
        if math.isfinite(line.value):
            upright = ax.axvline(
                line.value, color=line.color, linestyle=line.style, linewidth=1.2, zorder=0
            )
            handles |= {line.label: upright} if line.label else {}
    if logarithmic:
        ax.set_xscale("log")
        # An interval that reaches further down goes to the edge; few do, and all others would be
        # squeezed.
        numbers = [x for bar in bars for x in (bar.value, bar.high, bar.limit) if 0 < x < math.inf]
        least = (
            least
            or min([*numbers, *(line.value for line in lines if line.value > 0)], default=1.0) / 3
        )
    for bar in bars:
        shown = _draw(ax, bar, least if logarithmic else -math.inf, kwargs)
        if bar.label and shown and (bar.label not in handles or bar.marker):
            handles.setdefault(bar.label, shown)
    if per_cent:
        rate_ticks(ax.xaxis)
    else:
        plain_ticks(ax.xaxis)
    ax.set_xlabel(xlabel)
    if handles:
        legend_below(ax, [*handles.values()], list(map(drawn, handles)))
    return ax


def _draw(ax: Axes, bar: Bar, least: float, style: dict[str, Any]) -> tuple[Any, ...]:
    """Draw a bar, and return the line and the mark that a legend shows of it."""
    if bar.instead and not math.isfinite(bar.value):
        ax.text(
            0.06,
            bar.row,
            bar.instead,
            transform=ax.get_yaxis_transform(),
            va="center",
            color=GREY,
            fontsize="small",
        )
        return ()
    look: dict[str, Any] = {"color": bar.color, "alpha": LIGHTER if bar.is_light else None}
    low, high = (bar.value, bar.limit) if math.isfinite(bar.limit) else (bar.low, bar.high)
    parts: list[Any] = []
    if math.isfinite(low) and not math.isnan(high):
        high = min(high, ax.get_xlim()[1]) if math.isinf(high) else high
        width = 1.0 if bar.is_light else bar.width
        parts += ax.plot(
            [max(low, least), max(high, least)], [bar.row, bar.row], linewidth=width, **look
        )
    if math.isfinite(bar.limit):
        ax.plot(
            max(bar.limit, least), bar.row, "|", color=bar.color, markersize=11, markeredgewidth=1.6
        )
    if bar.marker and math.isfinite(bar.value):
        marker, position = (bar.marker, bar.value) if bar.value > least else ("<", least)
        look |= {"marker": marker, "linestyle": "", "markersize": 5, "clip_on": marker != "<"}
        look |= {"markerfacecolor": "none"} if bar.is_light else {}
        parts += ax.plot([position], [bar.row], **look | style)
    return tuple(parts)
