"""Rules that decide on the claims and criteria of paper 2, from numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.measures import Estimand
from papers.verdict_rules import Outcome, by_count

Floats = NDArray[np.float64]

# Terms are on one scale where the larger is nowhere this many times the smaller.
SAME_SCALE = 10
# Shares of values inside a range that make them concentrated there, and half so.
MOST, HALF = 0.95, 0.5


def of_cases(cases: Iterable[bool]) -> Outcome:
    """Judge a claim by the cases in which it is true."""
    found = list(cases)
    return by_count(sum(found), len(found))


def share_inside(values: ArrayLike, low: float, high: float) -> float:
    """Compute the share of values from low to high."""
    array = np.asarray(values, np.float64)
    return float(((array >= low) & (array <= high)).mean())


def concentrated(share: float) -> Outcome:
    """Judge whether values are concentrated in a range by the share that lies there."""
    return "holds" if share >= MOST else "in part" if share >= HALF else "fails"


def spans(values: ArrayLike, low: float, high: float) -> Outcome:
    """Judge whether values span a range: nine tenths of it, or half."""
    share = float(np.ptp(np.asarray(values, np.float64))) / (high - low)
    return "holds" if share >= 0.9 else "in part" if share >= HALF else "fails"


def one_scale(disparities: ArrayLike) -> bool:
    """Tell whether terms are on one scale at all points where there are both."""
    found = np.asarray(disparities, np.float64)
    known = found[~np.isnan(found)]
    return bool(known.size and known.max() < SAME_SCALE)


def crossings(levels: Floats, difference: ArrayLike) -> Floats:
    """Find the level where a difference, levels last, changes its sign; NaN unless it does so once.

    Between two levels it is found on a logarithmic axis.
    """
    values = np.asarray(difference, np.float64)
    changes = values[..., 1:] * values[..., :-1] < 0
    once = changes.sum(axis=-1) == 1
    first = changes.argmax(axis=-1)[..., np.newaxis]
    before, after = (np.take_along_axis(values, first + step, -1) for step in (0, 1))
    # Where there is no change any share does: the level is not used.
    share = before / np.where(once[..., np.newaxis], before - after, np.inf)
    logs = np.log(levels)
    return np.where(once, np.exp(logs[first] + share * np.diff(logs)[first])[..., 0], np.nan)


def swap(level: float, low: float, high: float, printed: float) -> Outcome:
    """Judge where terms swap: within the interval the level printed, elsewhere, or nowhere (a level
    of NaN).
    """
    if np.isnan(level):
        return "fails"
    return "holds" if low <= printed <= high else "in part"


def most(true: float, untrue: float) -> Outcome:
    """Judge whether something is true in most cases by the shares where it surely is, and surely is
    not.
    """
    return "holds" if true > HALF else "fails" if untrue > HALF else "open"


def everywhere(true: float, untrue: float) -> Outcome:
    """Judge whether something is true in all cases, in part where it is in most, by the same
    shares.
    """
    outcome = most(true, untrue)
    return "in part" if outcome == "holds" and true < 1 else outcome


def both(*judgements: Outcome) -> Outcome:
    """Judge a claim that needs several to hold: by the one that is farthest from it."""
    order: Sequence[Outcome] = ("fails", "open", "in part", "holds")
    return min(judgements, key=order.index)


def within_bounds(measure: Estimand, values: ArrayLike) -> bool:
    """Tell whether a measure has finite bounds, and values keep them."""
    array = np.asarray(values, np.float64)
    known, (low, high) = array[~np.isnan(array)], measure.range
    return measure.bounded and share_inside(known, low - 1e-12, high + 1e-12) == 1


def computable_without_errors(function: Callable[..., Any]) -> bool:
    """Tell whether a measure is finite where one group, or every group, has no errors of one or
    both kinds.
    """
    some, one, none = (0.1, 0.2, 0.3), (0.0, 0.2, 0.3), (0.0, 0.0, 0.0)
    probes = [(a, b) for a in (some, one, none) for b in (some, one, none)]
    return all(
        bool(np.isfinite(function(a, b, alpha))) for a, b in probes for alpha in (0.25, 0.5, 0.75)
    )


def chance_of_errors_everywhere(n_groups: int, n_errors: int) -> float:
    """Compute how likely errors fall into every one of some groups that are all as likely to have
    them.

    Examples
    --------
    >>> chance_of_errors_everywhere(2, 2)
    0.5
    """
    terms = (
        (-1) ** k * comb(n_groups, k) * (1 - k / n_groups) ** n_errors for k in range(n_groups + 1)
    )
    return float(sum(terms))
