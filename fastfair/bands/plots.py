"""Draw ROC curves and fairness measures with their intervals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib.plots import (
    USUAL,
    axes_or_new,
    draw_lines,
    draw_ranges,
    legend_below,
    probit_axes,
    rate_ticks,
    roc_axes,
)
from fastfair._lib.text import drawn, shortened
from fastfair._lib.warnings import require
from fastfair.errors import visible
from fastfair.measures._registry import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.floating[Any]]
_EDGE = 1e-6
_PANEL, _COLUMNS = 1.75, 3  # inches of a small plot, and how many stand side by side
_LONGEST_TITLE = 24  # characters of a group's name above a small plot


def draw_band(band: Any, ax: Axes | None, *, det: bool, **kwargs: Any) -> Axes:
    """Draw the curve of a `RocBand` with its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    place = _deviates if det else np.asarray
    (line,) = ax.plot(place(band.fmr), place(band.fnmr), **kwargs)
    limits = [place(end) for end in (band.low, band.high, band.band_low, band.band_high)]
    draw_ranges(ax, place(band.fmr), limits, line.get_color())
    return probit_axes(ax) if det else roc_axes(ax)


def _deviates(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can be told apart."""
    return np.asarray(ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))


def draw_roc_panels(of_all: Any, of_groups: Mapping[str, Any]) -> Figure:
    """Draw a small plot of each group's band, before the curve of all, all on the same scales."""
    figures = require("matplotlib.figure", "cli", "drawing")
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


def draw_measure(band: Any, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the measure of a `FairnessBand`, of each group if it has one value for each."""
    parts = band.value, band.low, band.high, band.band_low, band.band_high
    of_groups = band.value.ndim > 1
    if of_groups:
        curves = {visible(group): [part[:, k] for part in parts] for k, group in enumerate(band.groups)}
        ax, lines = draw_lines(band.fmr, curves, ax, **kwargs)
    else:
        ax, lines = draw_lines(band.fmr, {"": parts}, axes_or_new(ax), **{"label": None, "color": None} | kwargs)
    if np.isfinite(band.value).any():
        ax.set_xscale("log")
        rate_ticks(ax.xaxis)
    else:
        ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
    ax.set_xlabel(METRICS["fmr"].long_title)
    ax.grid(alpha=0.3)
    if of_groups:
        legend_below(ax, lines)
    return ax


def figures_of(bands: Any) -> dict[str, Any]:
    """Draw the ROC of all pairs and of groups, and the fairness measures that are computable, of a `Bands`."""
    figures = {"roc": bands.roc.plot()}
    if bands.groups:
        figures["roc_by_group"] = draw_roc_panels(bands.roc, bands.group_roc)
    computable = [band for band in bands.fairness if np.isfinite(band.value).any()]
    if computable:
        figures["fairness"] = _fairness_figure(computable)
    return figures


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
