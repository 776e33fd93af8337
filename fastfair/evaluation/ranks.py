"""The ranks of systems in one quantity, and those that tests of all pairs leave possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.measures._registry import printed_name
from fastfair.uncertainty.quantities import Estimated, in_words

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankedSystem(Estimated):
    """One system's place among those that scored the same comparisons, in one quantity.

    Attributes
    ----------
    name, group, at, probe_group
        The quantity, as in `Quantity`.
    system : str
        The system.
    estimate, low, high : float
        The quantity of the system, with its own interval; NaN where there is none.
    rank : int
        One plus the number of systems with a better estimate: 1 is the best, and systems with the same estimate share
        a rank. Estimates that are not computable come last.
    best_rank, worst_rank : int
        The ranks that the data leave possible: one plus the number of systems shown to be better, and the number of
        systems minus that of those shown to be worse. A system is shown to be better than another one where their
        adjusted p-value is at most one minus the confidence level.
    """

    name: str
    group: str | None
    at: OperatingPoint | None
    system: str
    estimate: float
    low: float
    high: float
    rank: int
    best_rank: int
    worst_rank: int
    probe_group: str | None = None


def ranks_of(
    estimates: Sequence[float], pvalues: Floats, significance: float, *, higher_is_better: bool
) -> list[tuple[int, int, int]]:
    """Compute the rank of each system, and the best and the worst that tests of all pairs leave possible.

    Parameters
    ----------
    estimates : sequence of float
        The estimate of each system; NaN where not computable.
    pvalues : (systems, systems) ndarray
        Adjusted p-values of the differences; NaN where withheld, which shows nothing.
    significance : float
        The largest p-value that shows a difference.
    higher_is_better : bool
        Whether larger values are better ones.

    Returns
    -------
    list of tuple of int
        Rank, best rank and worst rank of each system.
    """
    badness = np.array(estimates, np.float64) * (-1 if higher_is_better else 1)
    badness[np.isnan(badness)] = np.inf
    is_better = badness[:, None] < badness[None, :]  # row than column
    with np.errstate(invalid="ignore"):
        shown = is_better & (pvalues <= significance)
    ranks = 1 + is_better.sum(axis=0)
    best, worst = 1 + shown.sum(axis=0), len(badness) - shown.sum(axis=1)
    return list(zip(ranks.tolist(), best.tolist(), worst.tolist(), strict=True))


def quantity_in_words(ranked: RankedSystem) -> str:
    """Name the quantity by which systems rank, such as "FNMR of f at FMR=0.001"."""
    of = "" if ranked.group is None else f" of {ranked.group}"
    of += "" if ranked.probe_group is None else f" with {ranked.probe_group}"
    return printed_name(ranked.name) + of + ("" if ranked.at is None else f" at {ranked.at}")


def possible_ranks(ranked: RankedSystem) -> str:
    """Write the ranks that are possible, such as "2 to 4"."""
    return str(ranked.best_rank) + (f" to {ranked.worst_rank}" if ranked.worst_rank > ranked.best_rank else "")


def table_of_groups(
    rankings: Sequence[Sequence[RankedSystem]], systems: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Write a quantity of groups: a row for each system and a column for each group, with the ranks that are possible.

    Parameters
    ----------
    rankings : sequence of rankings
        One for each group.
    systems : sequence of str
        The systems, in the order of the rows.

    Returns
    -------
    headings : list of str
    rows : list of list of str
    """
    of_groups = [{one.system: one for one in ranking} for ranking in rankings]
    rows = [
        [system, *(f"{in_words(each[system])}, rank {possible_ranks(each[system])}" for each in of_groups)]
        for system in systems
    ]
    return ["system", *(ranking[0].group or "all" for ranking in rankings)], rows
