"""Draw how systems rank; matplotlib is imported only in modules of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastfair._lib import validation
from fastfair._lib.plots import STANDS_OUT, USUAL, ForestRow, draw_forest, explain, row_size
from fastfair.uncertainty.quantities import IN_PER_CENT

from .ranks import RankedSystem, quantity_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARK = {"color": USUAL, "marker": "o", "markersize": 5, "linewidth": 1.6}


def draw_ranks(ranking: Sequence[RankedSystem], level: float, ax: Axes | None) -> Axes:
    """Draw the rank of each system with the ranks that the data leave possible."""
    from matplotlib.ticker import MaxNLocator

    rows = [
        ForestRow(one.system, one.rank, one.best_rank, one.worst_rank, stands_out=_may_be_best(one)) for one in ranking
    ]
    ax = draw_forest(rows, ax)
    ax.set_xlim(0.5, len(ranking) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(f"rank by {quantity_in_words(ranking[0])}")
    entries = [(f"rank, and ranks possible at {100 * level:g} % for all together", _MARK)]
    if any(row.stands_out for row in rows):
        entries.append(("the same, of systems that may be the best", _MARK | {"color": STANDS_OUT, "marker": "D"}))
    explain(ax, entries)
    return ax


def draw_estimates(ranking: Sequence[RankedSystem], level: float, ax: Axes | None) -> Axes:
    """Draw the quantity of each system with its own interval, from the best to the worst."""
    rows = [ForestRow(one.system, one.estimate, one.low, one.high, stands_out=_may_be_best(one)) for one in ranking]
    ax = draw_forest(rows, ax)
    unit = ""
    if ranking[0].name in IN_PER_CENT:
        ax.xaxis.set_major_formatter(lambda value, position: f"{100 * value:g}")
        unit = " (%)"
    ax.set_xlabel(f"{quantity_in_words(ranking[0])}{unit}")
    explain(ax, [(f"estimate and its own {100 * level:g} % interval", _MARK)])
    return ax


def draw_ranking(ranking: Sequence[RankedSystem], level: float) -> Figure:
    """Draw the quantity of each system, and beside it the ranks."""
    pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
    width, height = row_size([one.system for one in ranking])
    figure: Figure
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(width + 3.6, height + 0.4), width_ratios=(width, 3.6), layout="constrained"
    )
    draw_estimates(ranking, level, left)
    draw_ranks(ranking, level, right)
    right.set_yticklabels([])
    return figure


def _may_be_best(ranked: RankedSystem) -> bool:
    return ranked.best_rank == 1
