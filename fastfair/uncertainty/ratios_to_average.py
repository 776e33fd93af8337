"""Intervals of groups' ratios to the average, which reach as far as quantiles do and as ratios vary by logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.resampling.design_effects import ENOUGH_PAIRS

from .quantities import Quantity

RATIOS = ("group_to_average_ratio", "group_to_average_log_ratio")  # the second is minus the logarithm


def ratio_of(name: str) -> str | None:
    """Return which ratio to the average a quantity is, by its name with the base metric in parentheses, or None."""
    return next((ratio for ratio in RATIOS if name.partition("(")[0] == ratio), None)


def has_few_errors(ratio: Quantity, quantities: Sequence[Quantity]) -> bool:
    """Return whether a group's ratio of rates rests on fewer than five errors of the group, which tell nothing of it.

    Intervals of such ratios excluded 1 in a third to a half of the data sets of fair systems with small groups.
    """
    metric = ratio.name.partition("(")[2].removesuffix(")")
    own = (q.n_errors for q in quantities if (q.name, q.group, q.at) == (metric, ratio.group, ratio.at))
    return any(n_errors is not None and n_errors < ENOUGH_PAIRS for n_errors in own)


def widened(
    name: str,
    estimate: float,
    quantiles: tuple[float, float],
    replicates: NDArray[np.float64],
    freedom: float,
    confidence_level: float,
) -> tuple[float, float]:
    """Widen the interval of a group's ratio to the average, or of its logarithm, that quantiles of replicates give.

    Where errors are few or few subjects cause most, quantiles reach too little to the side of larger ratios.

    Parameters
    ----------
    name : str
        One of `RATIOS`.
    estimate : float
        The ratio, or minus its logarithm.
    quantiles : tuple of float
        Low and high of the interval by quantiles.
    replicates : (r,) ndarray
        The same in every replicate.
    freedom : float
        Degrees of freedom of the group's own value.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    low, high : float
        Wide enough also for the interval that is symmetric on the scale of logarithms, with a quantile of Student's t
        and a relative standard error of at most 1. The quantiles themselves where they or the ratio are not known, or
        it is 0.
    """
    from scipy.special import stdtrit

    is_log = name == RATIOS[1]
    ratio, ratios = (math.exp(-estimate), np.exp(-replicates)) if is_log else (estimate, replicates)
    if not 0 < ratio < math.inf or any(map(math.isnan, quantiles)):
        return quantiles
    error = min(float(intervals.standard_error(ratios)) / ratio, 1.0) * math.sqrt(1 + 1 / freedom)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * error
    ends = (estimate - reach, estimate + reach) if is_log else (ratio / math.exp(reach), ratio * math.exp(reach))
    return min(quantiles[0], ends[0]), max(quantiles[1], ends[1])
