"""Draw steps to a target, measures of many systems, and the coverage of intervals of simulated data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.axes import axes_or_new
from fastfair._lib.plot_style import USUAL
from fastfair.measures._registry import printed_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .system_measures import SystemMeasure

Floats = NDArray[np.floating[Any]]
_STYLES = ("-", "--", "-.", ":")


def draw_history(distance: Floats, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distance of the rates from their target over the steps."""
    ax = axes_or_new(ax)
    ax.step(np.arange(distance.size), distance, **({"where": "post"} | kwargs))
    ax.set(xlabel="Step", ylabel="Distance from the target")
    ax.grid(alpha=0.3)
    return ax


def draw_systems(measures: Sequence[SystemMeasure], columns: int = 4) -> Figure:
    """Draw each measure over systems in the order given, in a panel of its own; tables of the paper lie apart."""
    figures = validation.require("matplotlib.figure", "cli", "drawing")
    systems = list(dict.fromkeys((one.table, one.kind, one.ratios) for one in measures))
    tables = list(dict.fromkeys(table for table, _, _ in systems))
    places = {system: k + 2 * tables.index(system[0]) for k, system in enumerate(systems)}
    found: dict[str, dict[int, float]] = {}
    for one in measures:
        if one.group is None:
            found.setdefault(one.measure, {})[places[one.table, one.kind, one.ratios]] = one.value
    rows = -(-len(found) // columns)
    figure: Figure = figures.Figure(figsize=(2.6 * columns, 1.7 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for ax, (name, values) in zip(axes, found.items(), strict=False):
        ax.plot(list(values), list(values.values()), ".", color=USUAL)
        ax.set_title(printed_name(name), fontsize="small", loc="left")
        ax.tick_params(labelsize="x-small")
        ax.grid(alpha=0.3)
        middles = [np.mean([places[system] for system in systems if system[0] == table]) for table in tables]
        ax.set_xticks(middles, tables)
    for ax in axes[len(found) :]:
        ax.set_visible(False)
    figure.supxlabel("Systems, by table of the paper", fontsize="small")
    return figure


def draw_coverage(
    nominal: Floats,
    coverage: Floats,
    standard_error: Floats,
    methods: Sequence[str],
    levels: Floats,
    ax: Axes | None,
    **kwargs: Any,
) -> Axes:
    """Draw estimated over nominal coverage, a line for each method and FMR; arrays are (methods, nominal, levels)."""
    ax = axes_or_new(ax)
    for m, method in enumerate(methods):
        for k, fmr in enumerate(levels):
            style: dict[str, Any] = {"color": f"C{m}", "linestyle": _STYLES[k % len(_STYLES)], "marker": "."}
            style["label"] = f"{method}, FMR {fmr:g}"
            ax.errorbar(nominal, coverage[m, :, k], standard_error[m, :, k], **(style | kwargs))
    ends = nominal.min(), nominal.max()
    ax.plot(ends, ends, color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.set(xlabel="Nominal coverage", ylabel="Estimated coverage")
    ax.grid(alpha=0.3)
    ax.legend()
    return ax
