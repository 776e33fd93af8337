"""Where a rate at a threshold that holds an FMR hangs on few subjects, whose false matches hold the threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair.uncertainty.interval_notes import CONCENTRATED

from .rates_at_levels import RatesOverLevels

Floats = NDArray[np.float64]
OF_FEW_SUBJECTS = f"few subjects cause {100 * CONCENTRATED:.0f} % or more of the false matches: likely too narrow"
_LARGE = 0.3  # share of a rate's variance that comes from its threshold
_FEW = 30.0  # degrees of freedom of the FMR, from which on no few subjects cause most false matches


def hangs_on_few_subjects(found: RatesOverLevels, replicates: Floats) -> NDArray[np.bool_]:
    """Return at which levels intervals of a rate are likely too narrow, as few subjects hold the threshold.

    Whether such subjects are in the data is luck. In simulations the note came in 97 % of the intervals that failed at
    FMRs at which they hold the truth in fewer than 92 % of data sets.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    replicates : (levels, r) ndarray
        Replicates of the rate.

    Returns
    -------
    (levels,) ndarray of bool
    """
    return few_subjects_err(found, _share_of_thresholds(found, replicates) > _LARGE)


def few_subjects_err(found: RatesOverLevels, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return at which of the levels asked few subjects cause most false matches."""
    behind = found.behind["fmr"]
    if behind.concentration is None:
        return np.zeros(found.levels.size, bool)
    asked = asked & (behind.freedom_and_independent(0)[0] < _FEW)
    return np.array([bool(level) and behind.concentration(k) >= CONCENTRATED for k, level in enumerate(asked)])


def _share_of_thresholds(found: RatesOverLevels, replicates: Floats) -> Floats:
    """Compute the squared correlation of a rate's replicates with those of the threshold."""
    thresholds = np.ma.masked_invalid(found.replicates.threshold)
    rates = np.ma.masked_array(replicates, thresholds.mask | np.isnan(replicates))
    thresholds.mask = rates.mask
    one, other = (values - values.mean(axis=1, keepdims=True) for values in (thresholds, rates))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(((one * other).sum(axis=1) ** 2 / ((one**2).sum(axis=1) * (other**2).sum(axis=1))).filled(0))
