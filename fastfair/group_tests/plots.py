"""Draw groups' rates with margins of error or intervals; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.axes import tick_per_cent
from fastfair._lib.text import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rates = NDArray[np.float64]
_USUAL, _STANDS_OUT = "#0072B2", "#D55E00"  # told apart by the colour-blind


def draw_margin(
    groups: Sequence[str],
    rates: Rates,
    overall: float,
    bounds: tuple[float, float],
    outside: Sequence[str],
    ax: Axes | None,
) -> Axes:
    """Draw each group's FNMR between the margins; those outside stand out."""
    ax = _axes(ax, groups)
    _bounds(ax, overall, *bounds)
    _points(ax, groups, rates, outside, "outside")
    ax.set_xlabel("False non-match rate")
    return ax


def draw_test(
    groups: Sequence[str],
    rates: Rates,
    overall: float,
    intervals: tuple[Rates, Rates],
    together: tuple[Rates, Rates],
    different: Sequence[str],
    ax: Axes | None,
) -> Axes:
    """Draw each group's rate with its intervals; those that differ from the others stand out."""
    ax = _axes(ax, groups)
    ax.axvline(overall, color="0.3", linestyle="--", linewidth=1, zorder=0)
    for ends, width in ((together, 0.9), (intervals, 2.6)):
        for row, (group, low, high) in enumerate(zip(groups, *ends, strict=True)):
            ax.plot([low, high], [row, row], color=_STANDS_OUT if group in different else _USUAL, linewidth=width)
    _points(ax, groups, rates, different, "differs from the others")
    return ax


def _axes(ax: Axes | None, groups: Sequence[str]) -> Axes:
    if ax is None:
        pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
        ax = pyplot.subplots(figsize=(6.4, max(2.4, 1 + 0.24 * len(groups))), layout="constrained")[1]
    assert ax is not None
    ax.set_yticks(range(len(groups)), [drawn(group) for group in groups])
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.xaxis.set_major_formatter(tick_per_cent)
    return ax


def _bounds(ax: Axes, middle: float, low: float, high: float) -> None:
    ax.axvline(middle, color="0.3", linestyle="--", linewidth=1, zorder=0, label="overall")
    for bound, label in ((max(0.0, low), "margin of error"), (min(1.0, high), None)):
        ax.axvline(bound, color="0.3", linestyle=":", linewidth=1.2, zorder=0, label=label)


def _points(ax: Axes, groups: Sequence[str], rates: Rates, apart: Sequence[str], label: str) -> None:
    is_apart = np.array([group in apart for group in groups], bool)
    rows = np.arange(len(groups))
    for chosen, color, marker, name in ((~is_apart, _USUAL, "o", None), (is_apart, _STANDS_OUT, "D", label)):
        if chosen.any():
            ax.plot(rates[chosen], rows[chosen], marker, color=color, label=name, markersize=5)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", fontsize="small")
