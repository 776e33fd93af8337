"""The rule by which claims and requirements are judged: limits, what puts them in doubt, and several rows at once.

All rows of a claim or requirement are met together where every limit, unadjusted, is on the right side of the bound: a
system that violates one row passes no more often than that row alone would (an intersection-union test). Otherwise rows
are judged by Holm's procedure, so that with the probability of the level no row is called met although it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.uncertainty.interval_rules import room_for
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, NARROW, UNKNOWN_CONCENTRATION, Quantity, has_flag

UNDECIDED = "undecided"


def doubts_about(quantity: Quantity, within: Callable[[float], bool]) -> str:
    """Say why a limit that is on the right side of its bound does not settle a verdict; empty where it does.

    Parameters
    ----------
    quantity : Quantity
        The quantity, with flags.
    within : callable
        Whether the bound leaves room for so many times the limit.
    """
    blocking = (NARROW, BELOW_RESOLUTION, *(() if quantity.name == "fmr" else (UNKNOWN_CONCENTRATION,)))
    reasons = [quantity.note] if has_flag(quantity, *blocking) else []
    room = room_for(quantity.name, quantity.n_errors or 0)
    if room > 1 and not within(room):
        reasons.append(
            f"with fewer than {ENOUGH_ERRORS} false matches it is not known whether few subjects cause most of them, "
            f"so the bound has to leave room for {room:g} times the limit"
        )
    return "; ".join(reasons)


def met_by_holm(n_rows: int, met_at: Callable[[float, Sequence[int]], Sequence[int]], significance: float) -> set[int]:
    """Return which rows are met, of those that belong together.

    Parameters
    ----------
    n_rows : int
        How many there are.
    met_at : callable
        Given an error probability and the rows to look at, returns those met by limits of that probability.
    significance : float
        1 minus the level.

    Returns
    -------
    set of int
    """
    rows = range(n_rows)
    alone = set(met_at(significance, rows))
    if len(alone) == n_rows:
        return alone
    met: set[int] = set()
    while True:
        left = [row for row in rows if row in alone and row not in met]
        more = met_at(significance / (n_rows - len(met)), left) if left else ()
        if not more:
            return met
        met.update(more)
