"""Draw curves and scores of evaluations; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib import validation
from fastfair._lib.plots import (
    STANDS_OUT,
    USUAL,
    axes_or_new,
    legend_below,
    line_style,
    probit_axes,
    rate_ticks,
    square_with_diagonal,
)
from fastfair._lib.text import drawn, per_cent, shortened
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError, visible
from fastfair.measures._registry import METRICS
from fastfair.uncertainty.quantities import find

from .evaluated import Evaluated, comparisons_of
from .tracing import curve_of, distributions_of, edges_of, outline, score_kind_of, scores_of, sorted_keys_of, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
MOST_NAMED = 8  # more curves of groups than this cannot be told apart in one plot
_NAMED_AT_EACH_END = 3
_LONGEST_IN_LEGEND = 36  # characters of a group's name
_PANEL, _LEFT, _BOTTOM = 1.7, 0.62, 0.55  # inches of a small plot with what surrounds it, and of the figure's margins
_LONGEST_TITLE = 24  # characters of a group's name above a small plot
_INVISIBLE_IN_SMALL = 0.012  # normal deviates between a curve and its lines, a fifth of a point in a small plot
_POINT_LINES = ("-", ":", "-.", "--")  # of thresholds
_CLASSES = (("mated", USUAL, "-"), ("non-mated", STANDS_OUT, "--"))


def draw_det(evaluation: Evaluated, groups: Sequence[str] | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the DET curve of all comparisons and those of groups, with the operating points.

    With more groups than can be told apart, those with the highest and the lowest FNMR are named and the others are
    thin grey lines.
    """
    for group in groups or ():
        validation.choice("group", group, evaluation.groups)
    named = list(_to_name(evaluation) if groups is None else groups)
    others = [group for group in evaluation.groups if group not in named] if groups is None else []
    ax = axes_or_new(ax, (5.6, 5.8 + 0.18 * (len(named) + bool(others))))
    for group in others:
        _curve(ax, evaluation, group, color="0.75", linewidth=0.6, zorder=1)
    lines = []
    for k, group in enumerate(named):
        label = drawn(shortened(group, _LONGEST_IN_LEGEND)) + (_at_first_point(evaluation, group) if others else "")
        lines.append(_curve(ax, evaluation, group, label=label, linewidth=1.2, **line_style(k)))
    style: dict[str, Any] = {"color": "black", "linewidth": 1.8, "label": "all"}
    lines.insert(0, _curve(ax, evaluation, None, **(style | kwargs)))
    if others:
        lines += ax.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups")
    for rates in evaluation.rates:
        _mark(ax, evaluation, rates, lines[0].get_color())
    probit_axes(ax)
    before = ax.get_legend()  # of another system drawn into the same axes
    legend_below(ax, [*(before.legend_handles if before else ()), *lines])
    return ax


def _at_first_point(evaluation: Evaluated, group: str) -> str:
    rates = evaluation.rates[0] if evaluation.rates else None
    return "" if rates is None else f": FNMR {per_cent(rates.group_fnmr[evaluation.groups.index(group)])}"


def _to_name(evaluation: Evaluated) -> tuple[str, ...]:
    """Choose the groups whose curves are told apart: all of a few, of many those at both ends of the FNMR."""
    groups = evaluation.groups
    if len(groups) <= MOST_NAMED or not evaluation.rates:
        return groups[:MOST_NAMED]
    rates = evaluation.rates[0]
    known = [k for k in np.argsort(rates.group_fnmr) if rates.counts.group_false_nonmatches[k] >= ENOUGH_ERRORS]
    known = known if len(known) >= 2 * _NAMED_AT_EACH_END else list(np.argsort(rates.group_fnmr))
    chosen = [*known[::-1][:_NAMED_AT_EACH_END], *known[:_NAMED_AT_EACH_END][::-1]]
    return tuple(groups[k] for k in chosen)


def _curve(ax: Axes, evaluation: Evaluated, group: str | None, *, small: bool = False, **style: Any) -> Any:
    """Draw a curve through some of its points; all lie on it. In small plots fewer points look the same."""
    curve = curve_of(evaluation, group)
    if not (curve.n_mated and curve.n_nonmated):  # named in the legend all the same
        return ax.plot([], [], **_without_curve(style, "no mated, or no non-mated"))[0]
    if not curve.false_matches.size:
        style = _without_curve(style, "no errors at some threshold")
    x, y = curve.deviates
    kept = outline(x, y, _INVISIBLE_IN_SMALL) if small else slice(None)
    return ax.plot(x[kept], y[kept], **style)[0]


def _without_curve(style: dict[str, Any], reason: str) -> dict[str, Any]:
    return style | {"label": f"{style['label']} (no curve: {reason})"} if style.get("label") else style


def _mark(ax: Axes, evaluation: Evaluated, rates: Rates, color: Any) -> None:
    """Mark an operating point, with the interval of its FNMR."""
    x, y = ndtri(rates.fmr), ndtri(rates.fnmr)
    if not (math.isfinite(x) and math.isfinite(y)):
        return
    found = find(evaluation.quantities, "fnmr", None, rates.at)
    if found.low is not None and found.high is not None and found.low > 0 and found.high < 1:
        ax.plot([x, x], ndtri([found.low, found.high]), color=color, linewidth=1)
    ax.plot(x, y, "o", color=color, markersize=6, markerfacecolor="white", zorder=5)
    ax.annotate(
        f"{rates.at.rate.upper()} {per_cent(rates.at.value)}" if rates.at.rate else str(rates.at),
        (x, y), (5, 5), textcoords="offset points", fontsize="small", zorder=6,
    )  # fmt: skip


def draw_scores(evaluation: Evaluated, group: str | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distributions of mated and of non-mated scores, with the thresholds."""
    if group is not None:
        validation.choice("group", group, evaluation.groups)
    edges = edges_of(evaluation)  # before axes are made, as it may be refused
    ax = axes_or_new(ax)
    _distributions(ax, evaluation, group, edges, **kwargs)
    ax.set(xlabel=f"Score ({score_kind_of(evaluation)})", ylabel="Density")
    ax.legend(fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2)
    return ax


def _distributions(ax: Axes, evaluation: Evaluated, group: str | None, edges: Floats, **kwargs: Any) -> None:
    for (name, color, line), bins in zip(_CLASSES, distributions_of(evaluation, group, edges).bins, strict=True):
        heights = bins / max(bins.sum(), 1) / (edges[1] - edges[0])
        style: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.4}
        style |= {"label": f"{name} ({bins.sum():,})"} | kwargs
        ax.stairs(heights, edges, **style)
        ax.stairs(heights, edges, fill=True, color=style["color"], alpha=0.2)
    for k, rates in enumerate(evaluation.rates):
        ax.axvline(rates.threshold, color="black", linewidth=1, linestyle=_POINT_LINES[k % len(_POINT_LINES)],
                   label=f"threshold at {rates.at}")  # fmt: skip
    ax.set_yticks([])
    ax.set_ylim(bottom=0)


def draw_thresholds(evaluation: Evaluated, group: str | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw FMR and FNMR over the threshold on a logarithmic scale, with the thresholds of the operating points."""
    comparisons = comparisons_of(evaluation)
    if group is not None:
        validation.choice("group", group, evaluation.groups)
    mated, nonmated = sorted_keys_of(comparisons, group)
    thresholds = np.unique(np.concatenate([spread(mated), spread(nonmated)]))
    ax = axes_or_new(ax)
    curves = (
        ("FMR", STANDS_OUT, "--", 1 - np.searchsorted(nonmated, thresholds) / max(nonmated.size, 1)),
        ("FNMR", USUAL, "-", np.searchsorted(mated, thresholds) / max(mated.size, 1)),
    )
    for name, color, line, rate in curves:
        seen = rate > 0
        style: dict[str, Any] = {"color": color, "linestyle": line, "label": name} | kwargs
        ax.plot(scores_of(comparisons, thresholds[seen]), rate[seen], **style)
    for k, rates in enumerate(evaluation.rates):
        ax.axvline(rates.threshold, color="black", linewidth=1, linestyle=_POINT_LINES[k % len(_POINT_LINES)],
                   label=f"threshold at {rates.at}")  # fmt: skip
    ax.set_yscale("log")
    rate_ticks(ax.yaxis)
    ax.set(xlabel=f"Threshold ({comparisons.score_kind})", ylabel="Rate")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2)
    return ax


def draw_panels(evaluation: Evaluated, kind: str, columns: int = 4) -> Figure:
    """Draw a small plot for each group, all on the same scales."""
    figures = validation.require("matplotlib.figure", "cli", "drawing")
    groups = evaluation.groups
    if not groups:
        raise InputError("the evaluation has no groups to draw side by side: evaluate comparisons with groups")
    columns = min(columns, len(groups))
    rows = -(-len(groups) // columns)
    size = _PANEL * columns + _LEFT, _PANEL * rows + _BOTTOM
    figure: Figure = figures.Figure(figsize=size)
    # Constrained layout would take longer than all drawing.
    figure.subplots_adjust(
        left=_LEFT / size[0], right=1 - 0.06 / size[0], bottom=_BOTTOM / size[1], top=1 - 0.25 / size[1], wspace=0.15,
        hspace=0.3,
    )  # fmt: skip
    axes = figure.subplots(rows, columns, sharex=True, sharey=kind == "det", squeeze=False).ravel()
    PANELS[kind](evaluation, list(axes[: len(groups)]))
    for ax, group in zip(axes, groups, strict=False):
        ax.set_title(drawn(shortened(visible(group), _LONGEST_TITLE)), fontsize="small", loc="left")
        ax.tick_params(labelsize="x-small")
        ax.set(xlabel="", ylabel="")
    for ax in axes[len(groups) :]:
        ax.set_visible(False)
    for ax in axes[max(0, len(groups) - columns) : len(groups)]:  # the last of each column has the numbers
        ax.tick_params(labelbottom=True)
    figure.supxlabel(
        f"{METRICS['fmr'].long_title} (%)" if kind == "det" else f"Score ({score_kind_of(evaluation)})",
        fontsize="small", y=0.08 / size[1],
    )  # fmt: skip
    if kind == "det":
        figure.supylabel(f"{METRICS['fnmr'].long_title} (%)", fontsize="small", x=0.08 / size[0])
    return figure


def _det_panels(evaluation: Evaluated, axes: Sequence[Axes]) -> None:
    """Draw each group's curve before that of all comparisons."""
    for ax, group in zip(axes, evaluation.groups, strict=True):
        _curve(ax, evaluation, None, small=True, color="0.7", linewidth=1)
        _curve(ax, evaluation, group, small=True, color=USUAL, linewidth=1.4)
        for rates in evaluation.rates:
            k = evaluation.groups.index(group)
            ax.plot(ndtri(rates.group_fmr[k]), ndtri(rates.group_fnmr[k]), "o", color=USUAL, markersize=4,
                    markerfacecolor="white")  # fmt: skip
    low = min(min(ax.get_xlim()[0], ax.get_ylim()[0]) for ax in axes)
    high = max(max(ax.get_xlim()[1], ax.get_ylim()[1]) for ax in axes)
    axes[0].set(xlim=(low, high), ylim=(low, high))
    probit_axes(axes[0], small=True)
    for ax in axes[1:]:  # they share scales and ticks, which take long to set
        square_with_diagonal(ax)


def _scores_panels(evaluation: Evaluated, axes: Sequence[Axes]) -> None:
    edges = edges_of(evaluation)
    for ax, group in zip(axes, evaluation.groups, strict=True):
        _distributions(ax, evaluation, group, edges)


PANELS: dict[str, Callable[[Evaluated, Sequence[Axes]], None]] = {"det": _det_panels, "scores": _scores_panels}
