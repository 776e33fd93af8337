"""Compute the fairness measures of an evaluation from its base metrics, for the estimate and for replicates alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ._facts import MEASURES, Measure
from ._zeros import replace_zeros

Floats = NDArray[np.float64]
OF_ANY_SCORES = ("eer", "min_dcf", "cllr")
THRESHOLD_FREE = (*OF_ANY_SCORES, "act_dcf")  # the last of log-likelihood ratios only
KINDS = frozenset(("fmr", "fnmr", "both rates"))  # of measures at operating points: by the rates they are of


@dataclass(frozen=True, eq=False)
class BaseMetric:
    """A base metric (FMR, FNMR, EER, ...) of all comparisons pooled and of each group; leading axes are free.

    Attributes
    ----------
    overall : (...) ndarray
        The metric of all comparisons.
    groups : (..., g) ndarray
        The metric of each group.
    comparisons : (g,) ndarray of int, or None
        Number of comparisons behind each group's value where the metric is a rate; None for other metrics.
    """

    overall: Floats | np.float64
    groups: Floats
    comparisons: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class RatePair:
    """FMR and FNMR at the same threshold, or at several thresholds on a leading axis, and the measures wanted of them.

    Attributes
    ----------
    fmr, fnmr : BaseMetric
        The rates.
    kinds : set of {"fmr", "fnmr", "both rates"}
        Which measures are computed: those of the FMR, of the FNMR or of TMR = 1 - FNMR, and those of both rates.
    """

    fmr: BaseMetric
    fnmr: BaseMetric
    kinds: frozenset[str] = KINDS

    def metric(self, name: str) -> BaseMetric:
        """Return the rate of that name; TMR is 1 - FNMR."""
        if name == "tmr":
            return BaseMetric(1 - self.fnmr.overall, 1 - self.fnmr.groups, self.fnmr.comparisons)
        return self.fmr if name == "fmr" else self.fnmr


@dataclass(frozen=True, eq=False)
class MeasuredQuantity:
    """The values of one measure.

    Attributes
    ----------
    name : str
        Name of the measure, followed by its base metric in parentheses where it has one, or by "_mean" or "_std" for
        a summary over groups.
    point : int or None
        Position of its rates in `at_points` of `measure_all`; None where the measure needs no operating point.
    value : (...) or (..., g) ndarray
        One value, or one value for each group.
    per_group : bool
        Whether there is one value for each group.
    """

    name: str
    point: int | None
    value: Floats
    per_group: bool


def measure_all(
    names: Sequence[str],
    at_points: Sequence[RatePair],
    threshold_free: dict[str, BaseMetric],
    at_mean_group_eer: RatePair | None,
    alpha: float,
    zero_policy: str | float,
) -> Iterator[MeasuredQuantity]:
    """Compute measures at operating points, and measures that need no operating point.

    Parameters
    ----------
    names : sequence of str
        Names of measures.
    at_points : sequence of RatePair
        Rates at each operating point.
    threshold_free : dict of BaseMetric
        Any of EER, actual DCF, minDCF and Cllr; measures of the others are left out.
    at_mean_group_eer : RatePair or None
        Rates at the mean of the groups' EER thresholds; without them the measure of these is left out.
    alpha : float
        Weight of false matches.
    zero_policy : str or float
        For measures that divide by group rates; see `measures.replace_zeros`.

    Yields
    ------
    MeasuredQuantity
    """
    for name in names:
        measure = MEASURES[name]
        if measure.own_threshold:
            if at_mean_group_eer is None:
                continue
            fmr, fnmr = at_mean_group_eer.fmr, at_mean_group_eer.fnmr
            value = measure.function(fmr.groups, fnmr.groups, fmr.overall, fnmr.overall)
            yield MeasuredQuantity(name, None, value, True)
            yield MeasuredQuantity(f"{name}_mean", None, value.mean(axis=-1), False)
            with np.errstate(invalid="ignore"):  # infinite where no comparison of the pooled ones is an error
                yield MeasuredQuantity(f"{name}_std", None, value.std(axis=-1), False)
        elif measure.inputs == "both rates":
            for point, pair in enumerate(at_points):
                if "both rates" not in pair.kinds:
                    continue
                groups = [_without_zeros(measure, rate, zero_policy) for rate in (pair.fmr, pair.fnmr)]
                yield MeasuredQuantity(name, point, measure.function(*groups, alpha), False)
        else:
            for metric in measure.metrics:
                label = f"{name}({metric})"
                if metric in THRESHOLD_FREE:
                    if metric not in threshold_free:
                        continue
                    value = _of_one_metric(measure, threshold_free[metric], zero_policy)
                    yield MeasuredQuantity(label, None, value, measure.per_group)
                    continue
                for point, pair in enumerate(at_points):
                    if ("fmr" if metric == "fmr" else "fnmr") not in pair.kinds:
                        continue
                    value = _of_one_metric(measure, pair.metric(metric), zero_policy)
                    yield MeasuredQuantity(label, point, value, measure.per_group)


def _of_one_metric(measure: Measure, metric: BaseMetric, zero_policy: str | float) -> Floats:
    groups = _without_zeros(measure, metric, zero_policy)
    return (
        measure.function(groups, metric.overall) if measure.inputs == "metric and average" else measure.function(groups)
    )


def _without_zeros(measure: Measure, metric: BaseMetric, zero_policy: str | float) -> Floats:
    if not measure.ratio or metric.comparisons is None or zero_policy == "keep":
        return metric.groups
    return replace_zeros(metric.groups, zero_policy, metric.comparisons)


@cache
def measure_of(name: str) -> Measure | None:
    """Return the measure in a quantity's name such as "nrb(eer)" or "sed_mean"; None where it names no measure."""
    return MEASURES.get(name.partition("(")[0].removesuffix("_mean").removesuffix("_std"))
