"""What one more subject, half of whose attempts fail, adds to FNMR, EER and minDCF: upper limits allow for goats so.

Where a few subjects fail most of their attempts, it is luck whether any of them is in the data, and the variance of the
subjects that are in the data does not show it. So upper limits are computed from the data and one more subject of
typical weight, sum m^2 / sum m attempts, half of which fail: the step of Agresti and Coull, for subjects. Where those
who fail try more often, as when people try until they succeed, the weight is theirs, sum e m / sum e. The subject
raises the estimate, and its standard error by as much again. Lower limits are those of the data.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.data.class_keys import ClassKeys, NotKeptError, keys_of
from fastfair.error_rates.score_metrics import DetectionCosts
from fastfair.resampling.comparison_replicates import Resampler

from .entries import Entry

Floats = NDArray[np.float64]


def attempts_of_one_more(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute how many attempts one more subject has for each FNMR, EER and minDCF.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        Its resampler.

    Returns
    -------
    (entries,) ndarray
        NaN for other entries, and where the units drawn are not subjects.
    """
    found, prepared = np.full(len(entries), np.nan), resampler.prepared
    if resampler.units.unit != "subject":
        return found
    lists, n_points = prepared.y, prepared.thresholds.size
    errors = np.zeros((n_points + 2, lists.end.size), np.int64)
    errors[:n_points] = lists.count_errors(np.repeat(prepared.thresholds[:, None], lists.end.size, axis=1))
    for row, keys in ((n_points, prepared.eer_keys), (n_points + 1, prepared.cost_keys)):
        errors[row, : keys.size] = lists.count_errors(keys)
    attempts, groups = resampler.typical_attempts(errors), prepared.comparisons.groups
    places = {"eer": n_points, "min_dcf": n_points + 1}
    for row, entry in enumerate(entries):
        if entry.name in ("fnmr", *places):
            at = places.get(entry.name, entry.point)
            found[row] = attempts[at, 0 if entry.group is None else 1 + groups.index(entry.group)]
    return found


def raised_by_one_more(entries: Sequence[Entry], attempts: Floats, resampler: Resampler) -> Floats:
    """Compute by how much one more subject raises each FNMR, EER and minDCF that rests on failures.

    Parameters
    ----------
    entries, resampler
        As `attempts_of_one_more` takes them.
    attempts : (entries,) ndarray
        As it returns them.

    Returns
    -------
    (entries,) ndarray
        NaN for other entries.
    """
    found, comparisons = np.full(len(entries), np.nan), resampler.prepared.comparisons
    for row, (entry, more) in enumerate(zip(entries, attempts.tolist(), strict=True)):
        value = float(entry.value)
        if math.isnan(more) or not value > 0:
            continue
        keys = keys_of(comparisons, None if entry.group is None else comparisons.groups.index(entry.group))
        if entry.name == "fnmr":
            found[row] = raised_rate(value, keys.sizes[0], more)
        elif entry.name == "eer":
            found[row] = _of_equal_error(value, keys, more)
        else:
            found[row] = _of_least_cost(value, resampler.prepared.costs, keys, more)
    return found


def raised_rate(rate: float, n: int, attempts: float) -> float:
    """Return by how much a subject of so many attempts raises a rate of failure of n attempts; NaN for 0 and 1."""
    return max(0.0, attempts * (0.5 - rate) / (n + attempts)) if 0 < rate < 1 else math.nan


def limit_with_one_more(
    rate: float, standard_error: float, freedom: float, raised: float, confidence_level: float
) -> float:
    """Return the upper limit of a rate with one more subject, by whom it is raised; NaN if that is NaN.

    The other arguments are those of `intervals.logit_interval`.
    """
    if math.isnan(raised):
        return math.nan
    error = math.hypot(standard_error, raised)
    return float(intervals.logit_interval(rate + raised, error, freedom + 1, confidence_level)[1])


def _of_equal_error(value: float, keys: ClassKeys, attempts: float) -> float:
    """Return by how much an EER is raised: by less than the FNMR at its threshold, as the new one is laxer."""
    raised = _crossing(keys, attempts) - _crossing(keys, 0.0)
    return raised_rate(value, keys.sizes[0], attempts) if math.isnan(raised) else max(0.0, raised)


def _crossing(keys: ClassKeys, attempts: float) -> float:
    """Return the rate at which FMR and FNMR cross with so many attempts more, half of which fail; NaN if not kept."""
    m, n = keys.sizes

    def rates(key: int) -> tuple[float, float]:
        below = int(np.searchsorted(keys.mated, key)), int(np.searchsorted(keys.nonmated, key))
        return (keys.nonmated.size - below[1]) / n, (below[0] + attempts / 2) / (m + attempts)

    low, high = int(min(keys.mated[0], keys.nonmated[0])), int(max(keys.mated[-1], keys.nonmated[-1])) + 1
    if keys.limits is not None:
        low, high = max(low, keys.limits[0]), min(high, keys.limits[1])
        fmr, fnmr = rates(low)
        if fmr < fnmr:
            return math.nan
    while low < high:
        middle = (low + high) // 2
        fmr, fnmr = rates(middle)
        low, high = (low, middle) if fmr <= fnmr else (middle + 1, high)
    return sum(rates(low)) / 2


def _of_least_cost(value: float, costs: DetectionCosts, keys: ClassKeys, attempts: float) -> float:
    """Return by how much a minDCF is raised: the FNMR behind it is less than that at another threshold."""
    n = keys.sizes[0]
    of_half, fewer = costs.miss * attempts / 2 / (n + attempts) / costs.unit, copy.copy(costs)
    fewer.miss = costs.miss * n / (n + attempts)
    try:
        return max(0.0, fewer.least(keys)[0] + of_half - value)
    except NotKeptError:
        return of_half
