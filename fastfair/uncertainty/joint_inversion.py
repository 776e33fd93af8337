"""p-values of two systems' difference in a fairness measure: could both be equally unfair?

A measure of the less certain of two equally fair systems is larger by chance, so that a difference says nothing on its
own. Both systems are moved to a common value u of the measure, along the ways of `inversion.MovedSystems`, and p(u) is
twice the smaller share of their replicates' differences that are as large, or as small, as the data's. The p-value is
the largest p(u) of the values u that neither system's own inversion rejects at gamma / 2, plus gamma (Berger and Boos,
"P values maximized over a confidence set for the nuisance parameter", Journal of the American Statistical Association
89, 1994).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .entries import Key
from .inversion import POWERS, Inversion, MovedSystems

Floats = NDArray[np.float64]
Inverted = tuple[MovedSystems, Inversion]
GAMMA = 0.01
_VALUES = 16  # of the measure, at which systems are compared


@dataclass(frozen=True, eq=False)
class _Way:
    """The way of a system through the values of one measure, turned so that larger values are less fair.

    path, replicates: (powers,) and (powers, r) values; limits: the least and the largest that are not rejected.
    """

    path: Floats
    replicates: Floats
    limits: tuple[float, float]

    @property
    def is_known(self) -> bool:
        return bool(np.isfinite(self.limits).all() and np.isfinite(self.path).all())


def joint_pvalues(
    moved: Sequence[Inverted], counted: Sequence[Inverted | None], wanted: Container[Key]
) -> dict[Key, float]:
    """Compute the p-values of the hypotheses that two systems have the same values of fairness measures.

    Parameters
    ----------
    moved : two tuples of MovedSystems and Inversion
        The systems, with the same replicates of units and the same measures, and their inversions.
    counted : two tuples of CountedSystems and Inversion, or None
        The same with numbers of errors drawn anew, for measures of a system of which a group has no errors.
    wanted : container of Key
        The measures to compare; those of others need not be finite.

    Returns
    -------
    dict of float
        The p-value of each measure wanted, NaN where a system can be moved in neither way.
    """
    by_counts = [{} if one is None else dict(_ways(*one)) for one in counted]
    # Both systems draw numbers of errors from the same stream. Those of one are paired with the other's from half the
    # stream later, so that they are independent. Errors that systems share make their differences vary less than that,
    # so p-values are too large rather than too small.
    if by_counts[0]:
        by_counts[1] = {
            key: replace(way, replicates=np.roll(way.replicates, way.replicates.shape[-1] // 2, axis=-1))
            for key, way in by_counts[1].items()
        }
    estimates, signs = [systems.estimates for systems, _ in moved], moved[0][0].signs
    found: dict[Key, float] = {}
    for k, ((key, *ways)) in enumerate(
        (key, one, other) for (key, one), (_, other) in zip(*(_ways(*one) for one in moved), strict=True)
    ):
        if key not in wanted:
            continue
        ways = [
            way if way.is_known else of_counts.get(key, way) for way, of_counts in zip(ways, by_counts, strict=True)
        ]
        difference = signs[k] * (estimates[0][k] - estimates[1][k])
        found[key] = _joint_pvalue(ways[0], ways[1], difference)
    return found


def _ways(systems: MovedSystems, inverted: Inversion) -> Iterator[tuple[Key, _Way]]:
    """Yield each measure and the system's way through its values."""
    path = np.maximum.accumulate(systems.signs[:, None] * systems.path(POWERS), axis=1)
    ends = zip(systems.signs, *inverted.intervals(1 - GAMMA / 2), strict=True)
    for key, along, rows, (sign, *limits) in zip(systems.keys, path, systems.replicates(POWERS), ends, strict=True):
        low, high = sorted(sign * limit for limit in limits)
        yield systems.key_of(key), _Way(along, sign * rows, (low, high))


def _joint_pvalue(first: _Way, second: _Way, difference: float) -> float:
    if not (first.is_known and second.is_known):
        return float("nan")
    if difference == 0:  # as of systems that decide alike, whose numbers of errors would be drawn apart all the same
        return 1.0
    least, most = max(first.limits[0], second.limits[0]), min(first.limits[1], second.limits[1])
    if least > most:
        return GAMMA
    largest = 0.0
    for value in np.linspace(least, most, _VALUES):
        one, other = (_at_value(value, way) for way in (first, second))
        with np.errstate(invalid="ignore"):  # ratios to a group without errors are infinite, in both systems
            largest = max(largest, _two_sided(one - other, difference))
    return min(1.0, largest + GAMMA)


def _at_value(value: float, way: _Way) -> Floats:
    """Interpolate the (powers, r) replicates of systems between those whose measure surrounds a value.

    Where a path does not reach the value, replicates of its end are moved by what is missing.
    """
    path, replicates = way.path, way.replicates
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
