"""Draw odds ratios and stratified rates; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib.axes import axes_or_new, tick_per_cent
from fastfair._lib.plot_style import COLORS
from fastfair._lib.text import drawn

from .stratifying import StratifiedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .effects import Effect

_NAMES = {"fmr": "False match rate", "fnmr": "False non-match rate"}
_ERROR = {"fmr": "a false match", "fnmr": "a false non-match"}


def _new_axes(ax: Axes | None, n_rows: int) -> Axes:
    return axes_or_new(ax, (6.8, max(2.4, 1.2 + 0.3 * n_rows)))


def draw_effects(effects: Sequence[Effect], rate: str, ax: Axes | None) -> Axes:
    """Draw a forest plot: a row for each odds ratio, on a logarithmic scale; unknown ones are named without a mark."""
    ax = _new_axes(ax, len(effects))
    ax.axvline(1, color="k", linestyle="--", linewidth=1.2, zorder=0)
    names = list(dict.fromkeys(effect.attribute for effect in effects))
    for y, effect in enumerate(effects):
        color = COLORS[names.index(effect.attribute) % len(COLORS)]
        if not math.isnan(effect.odds_ratio):
            ax.plot([effect.low, effect.high], [y, y], color=color, linewidth=1.6)
            ax.plot(effect.odds_ratio, y, "o", color=color, markersize=6)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
    ax.set_yticks(
        range(len(effects)),
        [drawn(f"{e.attribute}: {e.value} against {e.baseline}") for e in effects],
    )
    ax.set_ylim(len(effects) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel(f"Odds ratio of {_ERROR[rate]}, other attributes held fixed")
    return ax


def draw_rates(rates: Sequence[StratifiedRate], rate: str, strata: str, ax: Axes | None) -> Axes:
    """Draw a row for the margin, the standardised rate and each stratum, with one colour for each value."""
    values = list(dict.fromkeys(row.value for row in rates))
    places = ["overall", f"same mix of {strata}", *dict.fromkeys(row.stratum for row in rates if row.stratum)]
    ax = _new_axes(ax, len(places))
    steps = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
    positive = [row.estimate for row in rates if row.estimate > 0]
    if rate == "fmr" and positive:
        ax.set_xscale("log")
    least = min(positive, default=0.0) / 3
    for k, value in enumerate(values):
        color = COLORS[k % len(COLORS)]
        label: str | None = drawn(value)
        for row in rates:
            if row.value != value or math.isnan(row.estimate):
                continue
            y = places.index(row.stratum or (places[1] if row.standardised else places[0])) + steps[k]
            start = max(row.low, least) if rate == "fmr" else row.low
            ax.plot([start, row.high], [y, y], color=color, linewidth=1.4)
            if row.estimate > 0 or rate == "fnmr":
                ax.plot(row.estimate, y, "o", color=color, markersize=5, label=label)
                label = None
    ax.axhline(1.5, color="0.7", linewidth=0.8)
    ax.set_yticks(range(len(places)), [drawn(place) for place in places])
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.xaxis.set_major_formatter(tick_per_cent)
    ax.set_xlabel(_NAMES[rate])
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax
