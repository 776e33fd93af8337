"""How the error rates of two systems that scored the same comparisons vary together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.threshold_slopes import KINDS
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.resampling.preparation import NO_METRICS, Preparation
from fastfair.uncertainty.interval_notes import RATES

from .evaluated import Evaluated
from .score_tests import UNITS_TESTED


def rate_correlations(
    systems: Sequence[Comparisons], evaluations: Sequence[Evaluated], n_threads: int | None
) -> NDArray[np.float64]:
    """Compute the correlation of each rate of two systems in closed form.

    Replicates of FMRs correlate too little: product weights count what happens in a pair of subjects three times as
    much as what subjects have in all their pairs, of which two systems have more in common.

    Parameters
    ----------
    systems : two Comparisons
        The same comparisons scored by two systems, numbered alike.
    evaluations : two Evaluation
        Their evaluations.
    n_threads : int or None
        Number of threads; all processors by default.

    Returns
    -------
    (quantities,) ndarray
        NaN for other quantities, where samples are drawn, and at operating points that hold the mean EER of groups.
    """
    first, second = evaluations
    found = np.full(len(first.quantities), np.nan)
    unit, points = first.settings["unit"], [result.at for result in first.rates]
    if unit not in UNITS_TESTED:
        return found
    position, workers = {group: k for k, group in enumerate(first.groups)}, Workers(n_threads)
    measured = [position[group] for group in first.measured_groups]
    one, other = (
        LinearizedRates(Preparation(comparisons, points, unit, "product", NO_METRICS, measured, True, workers))
        for comparisons in systems
    )
    for k, (mine, theirs) in enumerate(zip(first.quantities, second.quantities, strict=True)):
        if mine.name in RATES and mine.at is not None and mine.at.kind in KINDS:
            cell = None if mine.group is None else (position[mine.group], position[mine.probe_group or mine.group])
            if np.isfinite(mine.estimate) and np.isfinite(theirs.estimate):
                found[k] = one.correlation(other, mine.name == "fnmr", points.index(mine.at), cell)
    return found
