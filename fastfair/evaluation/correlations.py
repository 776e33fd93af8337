"""How the error rates of two systems that scored the same comparisons vary together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair.uncertainty.quantities import RATES

from .compared_system import ComparedSystem


def rate_correlations(first: ComparedSystem, second: ComparedSystem) -> NDArray[np.float64]:
    """Compute the correlation of each rate of two systems in closed form.

    Replicates of FMRs correlate too little: product weights count what happens in a pair of subjects three times as
    much as what subjects have in all their pairs, of which two systems have more in common.

    Parameters
    ----------
    first, second : ComparedSystem
        The systems.

    Returns
    -------
    (quantities,) ndarray
        NaN for other quantities, where samples are drawn, and at operating points that hold the mean EER of groups.
    """
    one, other = first.linearized, second.linearized
    found = np.full(len(first.evaluation.quantities), np.nan)
    if one is None or other is None:
        return found
    points = [result.at for result in first.evaluation.rates]
    position = {group: k for k, group in enumerate(first.evaluation.groups)}
    pairs = zip(first.evaluation.quantities, second.evaluation.quantities, strict=True)
    for k, (mine, theirs) in enumerate(pairs):
        if mine.name in RATES and mine.at is not None and mine.at.rule.signs is not None:
            cell = None if mine.group is None else (position[mine.group], position[mine.probe_group or mine.group])
            if np.isfinite(mine.estimate) and np.isfinite(theirs.estimate):
                found[k] = one.correlation(other, mine.name == "fnmr", points.index(mine.at), cell)
    return found
