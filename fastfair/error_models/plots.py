"""Draw odds ratios and stratified rates; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib.axes import axes_or_new
from fastfair._lib.plot_style import COLORS, LONGEST_LABEL, legend_below, rate_ticks, row_axes, row_size
from fastfair._lib.text import drawn, shortened

from .stratifying import StratifiedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .effects import Effect

_MARKERS = ("o", "D", "s", "^")  # of values that share a colour
_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}
_ERROR = {"fmr": "a false match", "fnmr": "a false non-match"}


def draw_effects(effects: Sequence[Effect], rate: str, ax: Axes | None) -> Axes:
    """Draw a forest plot: a row for each odds ratio, on a logarithmic scale; unknown ones are named without a mark."""
    ax = row_axes(ax, [f"{e.attribute}: {e.value} against {e.baseline}" for e in effects])
    ax.axvline(1, color="k", linestyle="--", linewidth=1.2, zorder=0)
    names = list(dict.fromkeys(effect.attribute for effect in effects))
    for y, effect in enumerate(effects):
        color = COLORS[names.index(effect.attribute) % len(COLORS)]
        if not math.isnan(effect.odds_ratio):
            ax.plot([effect.low, effect.high], [y, y], color=color, linewidth=1.6)
            ax.plot(effect.odds_ratio, y, "o", color=color, markersize=6)
    ax.set_xscale("log")
    rate_ticks(ax.xaxis)
    ax.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
    ax.set_xlabel(f"Odds ratio of {_ERROR[rate]},\nother attributes held fixed")
    return ax


def draw_rates(rates: Sequence[StratifiedRate], rate: str, strata: str, ax: Axes | None) -> Axes:
    """Draw a row for the margin, the standardised rate and each stratum, with one colour for each value."""
    values = list(dict.fromkeys(row.value for row in rates))
    places = ["overall", f"same mix of {strata}", *dict.fromkeys(row.stratum for row in rates if row.stratum)]
    width, height = row_size(places)
    ax = axes_or_new(ax, (width, height + 0.12 * len(values) * len(places) + 0.2 * len(values)))
    row_axes(ax, places)
    steps = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
    positive = [row.estimate for row in rates if row.estimate > 0]
    if rate == "fmr" and positive:
        ax.set_xscale("log")
    least = min(positive, default=0.0) / 3
    for k, value in enumerate(values):
        color, marker = COLORS[k % len(COLORS)], _MARKERS[k // len(COLORS) % len(_MARKERS)]
        # Named in the legend even where its rates are 0 and have no mark.
        ax.plot([], [], marker, color=color, markersize=5, label=drawn(shortened(value, LONGEST_LABEL)))
        for row in rates:
            if row.value != value or math.isnan(row.estimate):
                continue
            y = places.index(row.stratum or (places[1] if row.standardised else places[0])) + steps[k]
            start = max(row.low, least) if rate == "fmr" else row.low
            ax.plot([start, row.high], [y, y], color=color, linewidth=1.4)
            if row.estimate > 0 or rate == "fnmr":
                ax.plot(row.estimate, y, marker, color=color, markersize=5)
    ax.axhline(1.5, color="0.7", linewidth=0.8)
    rate_ticks(ax.xaxis)
    ax.set_xlabel(_NAMES[rate])
    legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax
