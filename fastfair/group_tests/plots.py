"""Draw groups' rates with margins of error or intervals; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import tick_per_cent
from fastfair._lib.plot_style import STANDS_OUT, USUAL, row_axes

from .failure_rates import failure_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rates = NDArray[np.float64]


def draw_margin(
    groups: Sequence[str],
    rates: Rates,
    overall: float,
    bounds: tuple[float, float],
    outside: Sequence[str],
    error: str,
    ax: Axes | None,
) -> Axes:
    """Draw each group's rate between the margins; those outside stand out."""
    ax = _axes(ax, groups)
    _bounds(ax, overall, *bounds)
    _points(ax, groups, rates, outside, "outside")
    ax.set_xlabel(_title(error))
    return ax


def draw_test(
    groups: Sequence[str],
    rates: Rates,
    overall: float,
    intervals: tuple[tuple[Rates, Rates], tuple[Rates, Rates]],
    different: Sequence[str],
    error: str,
    ax: Axes | None,
) -> Axes:
    """Draw each group's rate with its own interval and that for all groups together; those that differ stand out."""
    ax = _axes(ax, groups)
    ax.axvline(overall, color="0.3", linestyle="--", linewidth=1, zorder=0)
    for ends, width in zip(intervals, (2.6, 0.9), strict=True):
        for row, (group, low, high) in enumerate(zip(groups, *ends, strict=True)):
            ax.plot([low, high], [row, row], color=STANDS_OUT if group in different else USUAL, linewidth=width)
    _points(ax, groups, rates, different, "differs from the others")
    ax.set_xlabel(_title(error))
    return ax


def _title(error: str) -> str:
    return "False match rate" if error == "fmr" else failure_rate(error).title


def _axes(ax: Axes | None, groups: Sequence[str]) -> Axes:
    ax = row_axes(ax, groups)
    ax.xaxis.set_major_formatter(tick_per_cent)
    return ax


def _bounds(ax: Axes, middle: float, low: float, high: float) -> None:
    ax.axvline(middle, color="0.3", linestyle="--", linewidth=1, zorder=0, label="overall")
    for bound, label in ((max(0.0, low), "margin of error"), (min(1.0, high), None)):
        ax.axvline(bound, color="0.3", linestyle=":", linewidth=1.2, zorder=0, label=label)


def _points(ax: Axes, groups: Sequence[str], rates: Rates, apart: Sequence[str], label: str) -> None:
    is_apart = np.array([group in apart for group in groups], bool)
    rows = np.arange(len(groups))
    for chosen, color, marker, name in ((~is_apart, USUAL, "o", None), (is_apart, STANDS_OUT, "D", label)):
        if chosen.any():
            ax.plot(rates[chosen], rows[chosen], marker, color=color, label=name, markersize=5)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", fontsize="small")
