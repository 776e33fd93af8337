"""Fairness measures of groups whose error rates are those of a law, so that no chance is in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fastfair.measures import MEASURES
from fastfair.measures._compute import BaseMetric, RatePair, measure_all
from fastfair.synthesis.binormal import Binormal

Floats = NDArray[np.float64]


def measures_of_laws(groups: Sequence[Binormal], overall: Sequence[Binormal], fmr: float) -> dict[str, float]:
    """Compute the measures that have one value for all groups.

    Parameters
    ----------
    groups : sequence of Binormal
        One a group.
    overall : sequence of Binormal
        All comparisons are equal parts of these.
    fmr : float
        Of all comparisons, which says where the threshold lies.

    Returns
    -------
    dict of str to float
        Named as in an evaluation. Those of minDCF and Cllr are not among them.
    """
    at_point, at_own = (_rates(groups, overall, at) for at in (threshold_at_fmr(overall, fmr), 0.5))
    # Error rates are equal at a threshold of 0.5 in every group, which is the mean of these thresholds too.
    eer = BaseMetric(at_own.fmr.overall, np.array([law.eer for law in groups]))
    return _summaries(at_point, at_own, eer)


def scaled_measures(fmr: Floats, fnmr: Floats, factor: float) -> dict[str, float]:
    """Compute the measures of groups' error rates that are all some times as high; overall rates are their means."""
    pair = RatePair(*(BaseMetric(np.float64(factor * rate.mean()), factor * rate) for rate in (fmr, fnmr)))
    return _summaries(pair, pair, pair.fmr)


def threshold_at_fmr(laws: Sequence[Binormal], fmr: float) -> float:
    """Find the threshold at which laws in equal parts have an FMR."""
    ends = [float(law.threshold_at_fmr(fmr)) for law in laws]
    if max(ends) - min(ends) < 1e-15:
        return ends[0]
    return float(brentq(lambda t: float(np.mean([law.fmr(t) for law in laws])) - fmr, min(ends), max(ends), xtol=1e-15))


def _rates(groups: Sequence[Binormal], overall: Sequence[Binormal], threshold: float) -> RatePair:
    def metric(name: str) -> BaseMetric:
        of_all, of_groups = (
            np.array([float(getattr(law, name)(threshold)) for law in laws]) for laws in (overall, groups)
        )
        return BaseMetric(np.float64(of_all.mean()), of_groups)

    return RatePair(metric("fmr"), metric("fnmr"))


def _summaries(at_point: RatePair, at_own: RatePair, eer: BaseMetric) -> dict[str, float]:
    measured = measure_all(list(MEASURES), [at_point], {"eer": eer}, at_own, 0.5, "keep")
    return {one.name: float(one.value) for one in measured if not one.per_group}
