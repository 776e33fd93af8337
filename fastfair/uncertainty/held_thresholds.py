"""Rates at a threshold that holds another rate: how they hang on the threshold, which is uncertain itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals

from .interval_notes import CONCENTRATED
from .quantities import Quantity

Floats = NDArray[np.float64]
OF_FEW_SUBJECTS = f"few subjects cause {100 * CONCENTRATED:.0f} % or more of the false matches: likely too narrow"
BY_QUANTILES = ", widened to the quantiles of replicates, which have other thresholds"
MOST_PER_ERROR = 1 / 3  # of the subjects whose share of the errors is looked at
_LARGE = 0.3  # share of a rate's variance that comes from its threshold
_FREEDOM = 30.0  # degrees of freedom of the FMR, from which on no few subjects cause most false matches
_FEW = 0.5  # standard errors, in units of a rate or its complement, from which on replicates' quantiles are held, too


def is_held_by_few_subjects(freedom: float, concentration: float) -> bool:
    """Return whether few subjects cause most of the false matches that hold a threshold.

    Parameters
    ----------
    freedom : float
        Degrees of freedom of the FMR of all comparisons.
    concentration : float
        The share of its errors that involve one of few subjects, at most `MOST_PER_ERROR` of them for each error.

    Returns
    -------
    bool
    """
    return freedom < _FREEDOM and concentration >= CONCENTRATED


def hangs_on_threshold(rates: Floats, thresholds: Floats) -> NDArray[np.bool_]:
    """Return where a good part of the variance of a rate's replicates is that of their thresholds.

    Where few subjects hold the threshold, intervals of the rate are then likely too narrow: whether such subjects are
    in the data is luck. In simulations this was so in 97 % of the intervals that failed at FMRs at which they hold the
    truth in fewer than 92 % of data sets.

    Parameters
    ----------
    rates, thresholds : (rows, r) ndarray
        Replicates.

    Returns
    -------
    (rows,) ndarray of bool
    """
    known = np.isfinite(thresholds) & ~np.isnan(rates)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    one, other = (
        np.where(known, values - np.where(known, values, 0.0).sum(axis=1, keepdims=True) / n, 0.0)
        for values in (np.where(known, thresholds, 0.0), np.where(known, rates, 0.0))
    )
    covariance, scale = (one * other).sum(axis=1), (one**2).sum(axis=1) * (other**2).sum(axis=1)
    return np.asarray(covariance**2 > _LARGE * scale)


def widened(quantity: Quantity, replicates: Floats, confidence_level: float) -> Quantity:
    """Widen the interval of a rate, where few errors are left, to hold the quantiles of its replicates.

    The rate may then hang on the threshold, which replicates find anew, more than on chance. The note of a rate of 0 or
    1 says so.

    Parameters
    ----------
    quantity : Quantity
        A rate with its interval.
    replicates : (r,) ndarray
        The rate in every replicate.
    confidence_level : float
        That of the interval.

    Returns
    -------
    Quantity
    """
    if quantity.low is None or quantity.high is None or math.isnan(quantity.low):
        return quantity
    rarer = min(quantity.estimate, 1 - quantity.estimate)
    if quantity.standard_error is None or not quantity.standard_error > _FEW * rarer:
        return quantity
    low, high = intervals.confidence_interval(replicates, quantity.estimate, confidence_level)
    wider = replace(
        quantity, low=min(quantity.low, max(0.0, float(low))), high=max(quantity.high, min(1.0, float(high)))
    )
    if 0 < quantity.estimate < 1 or (wider.low, wider.high) == (quantity.low, quantity.high):
        return wider
    return replace(wider, note=quantity.note + BY_QUANTILES)
