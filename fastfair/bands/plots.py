"""Draw ROC curves and fairness measures with their intervals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib import validation
from fastfair._lib.plots import (
    LONGEST_IN_LEGEND,
    USUAL,
    axes_or_new,
    ends_to_name,
    legend_below,
    line_style,
    probit_axes,
    rate_ticks,
    roc_axes,
)
from fastfair._lib.text import drawn, shortened
from fastfair.errors import visible
from fastfair.measures._registry import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.floating[Any]]
Range = tuple[Floats, Floats]  # the lower and the upper end
_POINTWISE, _SIMULTANEOUS = 0.25, 0.15  # how dark
_EDGE = 1e-6
_PANEL, _COLUMNS = 1.75, 3  # inches of a small plot, and how many stand side by side
_MOST_CURVES = 8  # more groups than this have too many curves for one figure
_LONGEST_TITLE = 24  # characters of a group's name above a small plot


def draw_band(
    fmr: Floats, fnmr: Floats, interval: Range, band: Range, ax: Axes | None, *, det: bool, **kwargs: Any
) -> Axes:
    """Draw a curve with its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    place = _deviates if det else np.asarray
    (line,) = ax.plot(place(fmr), place(fnmr), **kwargs)
    fill_band(fmr, interval, band, ax, det=det, color=line.get_color())
    return probit_axes(ax) if det else roc_axes(ax)


def fill_band(fmr: Floats, interval: Range, band: Range, ax: Axes, *, det: bool, color: Any) -> None:
    """Draw the interval and the simultaneous band of a curve, without the curve."""
    place = _deviates if det else np.asarray
    for (low, high), alpha in ((band, _SIMULTANEOUS), (interval, _POINTWISE)):
        ax.fill_between(place(fmr), place(low), place(high), color=color, alpha=alpha, linewidth=0)


def _deviates(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can be told apart."""
    return np.asarray(ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))


def draw_roc_panels(of_all: Any, of_groups: Mapping[str, Any]) -> Figure:
    """Draw a small plot of each group's band, before the curve of all, all on the same scales."""
    figures = validation.require("matplotlib.figure", "cli", "drawing")
    columns = min(_COLUMNS, len(of_groups))
    rows = -(-len(of_groups) // columns)
    figure: Figure = figures.Figure(figsize=(_PANEL * columns + 0.7, _PANEL * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, (group, band) in zip(axes, of_groups.items(), strict=False):
        ax.plot(of_all.fmr, of_all.fnmr, color="0.6", linewidth=1)
        band.plot(ax, color=USUAL)
        ax.set_title(drawn(shortened(visible(group), _LONGEST_TITLE)), fontsize="small", loc="left")
        ax.set(xlabel="", ylabel="")
        ax.tick_params(labelsize="x-small")
    axes[0].set_ylim(bottom=0)
    rate_ticks(axes[0].xaxis)
    rate_ticks(axes[0].yaxis)
    for ax in axes[len(of_groups) :]:
        ax.set_visible(False)
    for ax in axes[max(0, len(of_groups) - columns) : len(of_groups)]:  # the last of each column has the numbers
        ax.tick_params(labelbottom=True)
    figure.supxlabel(f"{METRICS['fmr'].long_title} of all pairs", fontsize="small")
    figure.supylabel(METRICS["fnmr"].long_title, fontsize="small")
    return figure


def draw_measure(
    fmr: Floats,
    value: Floats,
    interval: Range,
    band: Range,
    groups: Sequence[str],
    ax: Axes | None,
    **kwargs: Any,
) -> Axes:
    """Draw a measure, of each group if it has one value for each, with its interval and its simultaneous band.

    With more groups than can be told apart, those with the highest and the lowest values are named and the others are
    thin grey lines.
    """
    of_groups = value.ndim > 1
    named = ends_to_name(value) if of_groups else [0]
    others = [k for k in range(len(groups)) if k not in named] if of_groups else []
    ax = axes_or_new(ax, (6.4, 4.4 + 0.2 * (len(named) + bool(others))) if of_groups else None)
    for k in others:
        ax.plot(fmr, value[:, k], color="0.75", linewidth=0.6, zorder=1)
    lines = []
    for place, k in enumerate(named):
        at = np.s_[:, k] if of_groups else np.s_[:]
        label = drawn(shortened(visible(groups[k]), LONGEST_IN_LEGEND)) if of_groups else None
        style = {"label": label, **line_style(place)} if of_groups else {}
        (line,) = ax.plot(fmr, value[at], **(style | kwargs))
        lines.append(line)
        for (low, high), alpha in ((band, _SIMULTANEOUS), (interval, _POINTWISE)):
            ax.fill_between(fmr, low[at], high[at], color=line.get_color(), alpha=alpha, linewidth=0)
    if np.isfinite(value).any():
        ax.set_xscale("log")
    else:
        ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
    ax.set_xlabel(METRICS["fmr"].long_title)
    ax.grid(alpha=0.3)
    if others:
        lines += ax.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups")
    if of_groups:
        legend_below(ax, lines)
    return ax


def figures_of(bands: Any) -> dict[str, Figure]:
    """Draw the ROC of all pairs and of groups, and the fairness measures that are computable, of a `Bands`."""
    figures = {"roc": _roc_figure(bands)}
    if len(bands.groups) > _MOST_CURVES:
        figures["roc_by_group"] = draw_roc_panels(bands.roc, bands.group_roc)
    computable = [band for band in bands.fairness if np.isfinite(band.value).any()]
    if computable:
        figures["fairness"] = _fairness_figure(computable)
    return figures


def _roc_figure(bands: Any) -> Figure:
    """Draw the FNMR of all pairs, and to its right that of each group."""
    from matplotlib.figure import Figure

    with_groups = 1 < len(bands.groups) <= _MOST_CURVES
    figure = Figure(figsize=(11 if with_groups else 5.5, 4.5), layout="constrained")
    axes = figure.subplots(1, 1 + with_groups, sharey=True, squeeze=False)[0]
    bands.roc.plot(axes[0], label="all", color="black")
    if with_groups:
        for group, band in bands.group_roc.items():
            band.plot(axes[1], label=drawn(group))
        axes[1].set(xlabel="False match rate of all pairs", ylabel="")
    for ax in axes:
        ax.set_ylim(bottom=0)
        ax.legend()
    return figure


def _fairness_figure(bands: Sequence[Any]) -> Figure:
    """Draw each fairness measure in its own axes."""
    from matplotlib.figure import Figure

    columns = min(2, len(bands))
    rows = -(-len(bands) // columns)
    figure = Figure(figsize=(5.5 * columns, 3.2 * rows), layout="constrained")
    for k, band in enumerate(bands):
        color = {} if band.value.ndim > 1 else {"color": "black"}
        band.plot(figure.add_subplot(rows, columns, k + 1), **color)
    return figure
