"""p-values of two systems' difference in a fairness measure: could both be equally unfair?

A measure of the less certain of two equally fair systems is larger by chance, so that a difference says nothing on its
own. Both systems are moved to a common value u of the measure, along the ways of `inversion.MovedSystems`, and p(u) is
twice the smaller share of their replicates' differences that are as large, or as small, as the data's. The p-value is
the largest p(u) of the values u that neither system's own inversion rejects at gamma / 2, plus gamma (Berger and Boos,
"P values maximized over a confidence set for the nuisance parameter", Journal of the American Statistical Association
89, 1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .entries import Key
from .inversion import POWERS, Inversion, MovedSystems

Floats = NDArray[np.float64]
GAMMA = 0.01
_VALUES = 16  # of the measure, at which systems are compared


def joint_pvalues(first: MovedSystems, second: MovedSystems, inverted: tuple[Inversion, Inversion]) -> dict[Key, float]:
    """Compute the p-values of the hypotheses that two systems have the same values of fairness measures.

    Parameters
    ----------
    first, second : MovedSystems
        The systems, with the same replicates of units and the same measures.
    inverted : tuple of Inversion
        Their inversions.

    Returns
    -------
    dict of float
        The p-value of each measure, NaN where a system cannot be moved, as one of its groups has no errors.
    """
    ends = [one.intervals(1 - GAMMA / 2) for one in inverted]
    paths = [np.maximum.accumulate(system.signs[:, None] * system.path(POWERS), axis=1) for system in (first, second)]
    found: dict[Key, float] = {}
    for k, (key, *drawn) in enumerate(
        zip(first.keys, first.replicates(POWERS), second.replicates(POWERS), strict=True)
    ):
        sign = first.signs[k]
        limits = np.sort([[sign * low[k], sign * high[k]] for low, high in ends], axis=1)
        if not (np.isfinite(limits).all() and all(np.isfinite(path[k]).all() for path in paths)):
            found[key] = float("nan")
            continue
        least, most = limits[:, 0].max(), limits[:, 1].min()
        if least > most:
            found[key] = GAMMA
            continue
        difference = sign * (first.estimates[k] - second.estimates[k])
        largest = 0.0
        for value in np.linspace(least, most, _VALUES):
            moved = [_at_value(value, path[k], sign * rows) for path, rows in zip(paths, drawn, strict=True)]
            with np.errstate(invalid="ignore"):  # ratios to a group without errors are infinite, in both systems
                differences = moved[0] - moved[1]
            largest = max(largest, _two_sided(differences, difference))
        found[key] = min(1.0, largest + GAMMA)
    return found


def _at_value(value: float, path: Floats, replicates: Floats) -> Floats:
    """Interpolate the (powers, r) replicates of systems between those whose measure surrounds a value.

    Where a path does not reach the value, replicates of its end are moved by what is missing.
    """
    within = min(max(value, path[0]), path[-1])
    k = min(int(np.searchsorted(path, within, side="right")), path.size - 1)
    run = path[k] - path[k - 1]
    share = (within - path[k - 1]) / run if run > 0 else 0.0
    with np.errstate(invalid="ignore"):
        between = (1 - share) * replicates[k - 1] + share * replicates[k]
    return np.asarray(between + (value - within))


def _two_sided(replicates: Floats, estimate: float) -> float:
    """Return twice the smaller share of replicates, and the data, on one side of the estimate."""
    known = replicates[~np.isnan(replicates)]
    rounding = 1e-12 * max(1.0, abs(estimate))
    above, below = (
        int(np.count_nonzero(side)) for side in (known >= estimate - rounding, known <= estimate + rounding)
    )
    return min(1.0, 2 * (1 + min(above, below)) / (1 + known.size))
