"""Intervals that hold together: of the points of a curve, or of all groups.

Estimates are about normal together, with the correlations of what people add to them. Of m of them,
max-t intervals have the level at which all m hold at once with the probability asked for: that of
the quantile of the greatest |z| of so correlated normal numbers. Each interval is then that of its
own method at this level, so that few errors are allowed for as they are alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from fastfair._lib.arrays import Floats
from fastfair.error_rates.operating_points import OperatingPoint

from .estimator import Estimator, IdentifiedRate, shares
from .rates import RATES, SearchRate

_DRAWS = 19_999
_SEED = 0  # so that the same searches have the same limits


def joint_level(influences: Floats, level: float) -> float:
    """Return the level of each of several intervals that hold together.

    influences: (m, people) what people add to each estimate; one to which nobody adds anything is
    taken for independent of the others.
    """
    length = np.sqrt((influences**2).sum(axis=1))
    scaled = influences / np.where(length, length, 1.0)[:, None]
    correlation = scaled @ scaled.T
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    mixed = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng(_SEED).standard_normal((_DRAWS, length.size))
    greatest = np.abs(normal @ mixed.T).max(axis=1)
    of_law = 2 * float(ndtr(np.quantile(greatest, level, method="higher"))) - 1
    return min(max(level, of_law), 1 - (1 - level) / length.size)  # Bonferroni's is never too low


def largest(estimator: Estimator, at: OperatingPoint) -> list[IdentifiedRate]:
    """Return the row of the group with the largest FPIR at an operating point, with an interval of
    the largest of all groups; nothing where fewer than two groups have one.
    """
    rate = RATES["fpir"]
    s = estimator.searches
    n_of_groups = np.bincount(s.group[~s.is_mated], minlength=max(len(s.groups), 1))
    groups = np.flatnonzero(n_of_groups).tolist()
    if len(s.groups) < 2 or len(groups) < 2 or "non-mated" not in at.rule.searches:
        return []
    level = joint_level(_influences(estimator, rate, at, groups), estimator.level)
    rows = [
        row
        for row in replace(estimator, level=level).rows(at, [s.n_enrolled], [rate])
        if row.group is not None and not np.isnan(row.estimate)
    ]
    if any(np.isnan(row.low) for row in rows):  # of too few sessions
        return []
    greatest = max(rows, key=lambda row: row.estimate)
    low, high = max(row.low for row in rows), max(row.high for row in rows)
    return [replace(greatest, low=low, high=high)]


def level_of_curves(estimator: Estimator, points: list[OperatingPoint]) -> float:
    """Return the level of the intervals of the points of a curve that hold together, of the rate
    and the group that need the highest.
    """
    s, level = estimator.searches, estimator.level
    for rate in map(RATES.__getitem__, shares()):
        kind = "mated" if rate.of_mated else "non-mated"
        drawn = [at for at in points if kind in at.rule.searches and rate.name not in at.rule.holds]
        of_rate = rate.of_searches(s)
        if len(drawn) < 2 or not of_rate.any():
            continue
        codes = sorted(set(s.group[of_rate].tolist())) if s.groups else []
        all_of = [_influences(estimator, rate, at, [None, *codes]) for at in drawn]
        for of_group in np.stack(all_of, axis=1):
            level = max(level, joint_level(of_group, estimator.level))
    return level


def _influences(
    estimator: Estimator, rate: SearchRate, at: OperatingPoint, groups: Sequence[int | None]
) -> Floats:
    """Return (groups, people) what people add to a rate, also by way of a threshold that holds
    another.
    """
    of_all = estimator.point(at).measure(rate)
    return np.array([of_all.within(group).influence_with_threshold() for group in groups])
