"""Fairness measures of groups whose error rates are those of a law, so that no chance is in
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fastfair.measures import MEASURES
from fastfair.synthesis import Binormal

Floats = NDArray[np.float64]
Metric = tuple[Floats, np.float64]  # an error rate of each group, and of all comparisons
Rates = tuple[Metric, Metric]  # FMR and FNMR at a threshold


def measures_of_laws(
    groups: Sequence[Binormal], overall: Sequence[Binormal], fmr: float
) -> dict[str, float]:
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
    # Error rates are equal at a threshold of 0.5 in every group, which is the mean of these
    # thresholds too.
    eer = np.array([law.eer for law in groups]), at_own[0][1]
    return _measured(at_point, at_own, eer)


def scaled_measures(fmr: Floats, fnmr: Floats, factor: float) -> dict[str, float]:
    """Compute the measures of groups' error rates that are all some times as high; overall rates
    are their means.
    """
    of_fmr, of_fnmr = ((factor * rate, np.float64(factor * rate.mean())) for rate in (fmr, fnmr))
    return _measured((of_fmr, of_fnmr), (of_fmr, of_fnmr), of_fmr)


def threshold_at_fmr(laws: Sequence[Binormal], fmr: float) -> float:
    """Find the threshold at which laws in equal parts have an FMR."""
    ends = [float(law.threshold_at_fmr(fmr)) for law in laws]
    if max(ends) - min(ends) < 1e-15:
        return ends[0]
    return float(
        brentq(
            lambda t: float(np.mean([law.fmr(t) for law in laws])) - fmr,
            min(ends),
            max(ends),
            xtol=1e-15,
        )
    )


def _rates(groups: Sequence[Binormal], overall: Sequence[Binormal], threshold: float) -> Rates:
    def metric(name: str) -> Metric:
        of_all, of_groups = (
            np.array([float(getattr(law, name)(threshold)) for law in laws])
            for laws in (overall, groups)
        )
        return of_groups, np.float64(of_all.mean())

    return metric("fmr"), metric("fnmr")


def _measured(at_point: Rates, at_own: Rates, eer: Metric) -> dict[str, float]:
    """Compute measures of rates at an operating point, at the mean of the groups' EER thresholds,
    and of EERs.
    """
    (fmr, _), (fnmr, overall_fnmr) = at_point
    (own_fmr, own_overall_fmr), (own_fnmr, own_overall_fnmr) = at_own
    metrics = {
        "fmr": at_point[0],
        "fnmr": at_point[1],
        "tmr": (1 - fnmr, 1 - overall_fnmr),
        "eer": eer,
    }
    found: dict[str, Any] = {}
    for name, measure in MEASURES.items():
        if measure.own_threshold:
            of_groups = measure.function(own_fmr, own_fnmr, own_overall_fmr, own_overall_fnmr)
            found |= {f"{name}_mean": of_groups.mean(), f"{name}_std": of_groups.std()}
        elif not measure.of:
            found[name] = measure.function(fmr, fnmr, 0.5)
        elif not measure.per_group:
            for metric in measure.of:
                if metric in metrics:
                    inputs = metrics[metric] if measure.global_reference else metrics[metric][:1]
                    found[f"{name}({metric})"] = measure.function(*inputs)
    return {name: float(value) for name, value in found.items()}
