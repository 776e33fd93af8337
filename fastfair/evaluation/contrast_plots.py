"""Draw how two systems differ; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastfair._lib import validation
from fastfair._lib.plots import (
    LONGEST_IN_LEGEND,
    STANDS_OUT,
    USUAL,
    ForestRow,
    draw_forest,
    explain,
    line_style,
    row_size,
)
from fastfair._lib.text import drawn, shortened

from .contrasts import Contrast
from .evaluated import Evaluated
from .plots import MOST_NAMED, draw_det

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OF_TWO = ({"color": USUAL}, {"color": STANDS_OUT, "linestyle": "--"})


def draw_both_det(systems: Sequence[Evaluated], ax: Axes | None) -> Axes:
    """Draw the DET curves of two systems."""
    return draw_det_of(dict(zip(("first system", "second system"), systems, strict=True)), ax)


def draw_det_of(systems: Mapping[str, Evaluated], ax: Axes | None) -> Axes:
    """Draw the DET curve of each system by its name; of many, those with the lowest FNMR at the first point."""
    chosen = list(systems)
    if len(chosen) > MOST_NAMED and all(system.rates for system in systems.values()):
        chosen.sort(key=lambda name: systems[name].rates[0].fnmr)
    for k, name in enumerate(chosen[:MOST_NAMED]):
        style = _OF_TWO[k] if len(systems) == 2 else line_style(k)
        ax = draw_det(systems[name], (), ax, label=drawn(shortened(name, LONGEST_IN_LEGEND)), **style)
    assert ax is not None
    return ax


def draw_differences(contrasts: Sequence[Contrast], level: float, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the difference in one rate, of all comparisons and of each group."""
    rows = [
        ForestRow(
            one.group or "all", one.difference, one.low, one.high, stands_out=one.verdict in ("first", "second")
        )
        for one in contrasts
    ]  # fmt: skip
    ax = draw_forest(rows, ax, **kwargs)
    ax.axvline(0, color="black", linestyle="--", linewidth=1, zorder=0)
    ax.xaxis.set_major_formatter(lambda value, position: f"{100 * value:g}")
    ax.set_xlabel(f"{contrasts[0].name.upper()} at {contrasts[0].at},\nfirst minus second (percentage points)")
    mark = {"color": USUAL, "marker": "o", "markersize": 5, "linewidth": 1.6}
    entries = [(f"difference and {100 * level:g} % interval", mark)]
    if any(row.stands_out for row in rows):
        told = f"the same, and the adjusted p-value is at most {1 - level:.3g}"
        entries.append((told, mark | {"color": STANDS_OUT, "marker": "D"}))
    explain(ax, entries)
    return ax


def draw_both(systems: Sequence[Evaluated], contrasts: Sequence[Contrast], level: float) -> Figure:
    """Draw the curves of two systems, and beside them their differences."""
    pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
    width, height = row_size([one.group or "all" for one in contrasts])
    figure: Figure
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(4.8 + width, max(5.0, 0.5 + height)), width_ratios=(4.8, width), layout="constrained"
    )
    draw_both_det(systems, left)
    draw_differences(contrasts, level, right)
    return figure
