"""Confidence levels at which intervals hold together: those of one curve at all its points, and those of all groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals

from .quantities import HELD, Quantity

Floats = NDArray[np.float64]
_FARTHEST = 8.0  # standard errors; beyond it a normal quantile's level cannot be told from 1
_STEPS = 50  # of a bisection


def level_of_curve(replicates: Floats, estimate: Floats, confidence_level: float) -> float:
    """Find the confidence level at which the intervals of a rate hold at all operating points together.

    Parameters
    ----------
    replicates : (points, r) ndarray
        The rate in every replicate.
    estimate : (points,) ndarray
        The rate in the data. Points at which it is 0 or 1 do not count.
    confidence_level : float
        How often the intervals are to hold together.

    Returns
    -------
    float
        That of normal intervals that reach as many standard errors as replicates of the whole curve stay within.
    """
    from scipy.special import ndtr

    counted = (estimate > 0) & (estimate < 1)
    farthest = _farthest(replicates[counted], estimate[counted])
    reach = min(float(np.quantile(farthest, confidence_level)), _FARTHEST)
    return max(confidence_level, float(2 * ndtr(reach) - 1))


def level_of_groups(replicates: Floats, estimate: Floats, confidence_level: float, n_others: int = 0) -> float:
    """Find the confidence level at which the intervals of one quantity hold in all groups together.

    Parameters
    ----------
    replicates : (groups, r) ndarray
        The quantity of each group in every replicate.
    estimate : (groups,) ndarray
        The quantity in the data.
    confidence_level : float
        How often the intervals are to hold together.
    n_others : int, default 0
        Number of groups besides, whose intervals do not come from replicates, as those of groups without errors. They
        are taken for independent of the others.

    Returns
    -------
    float
        That of normal intervals that reach as many standard errors as replicates of all groups stay within; at most
        that of Bonferroni's intervals.
    """
    from scipy.special import ndtri

    n = len(estimate) + n_others
    low, high = confidence_level, 1 - (1 - confidence_level) / max(n, 1)
    farthest = _farthest(replicates, estimate)
    for _ in range(_STEPS):
        level = (low + high) / 2
        inside = np.mean(farthest <= ndtri((1 + level) / 2)) * level**n_others
        low, high = (low, level) if inside >= confidence_level else (level, high)
    return high


def _farthest(replicates: Floats, estimate: Floats) -> Floats:
    """Return how many standard errors each replicate is away from the estimates, where it is farthest."""
    errors = intervals.standard_error(replicates)
    moving = errors > 0
    away = np.abs(replicates[moving] - estimate[moving, None]) / errors[moving, None]
    return np.asarray(np.fmax.reduce(away, axis=0, initial=0.0))  # without what was not computable


def families(quantities: Sequence[Quantity]) -> Iterator[list[int]]:
    """List the positions of each quantity that two or more groups have at one operating point."""
    found: dict[object, list[int]] = {}
    for k, quantity in enumerate(quantities):
        if quantity.group is not None and HELD not in quantity.note:
            found.setdefault((quantity.name, quantity.at), []).append(k)
    yield from (rows for rows in found.values() if len(rows) > 1)
