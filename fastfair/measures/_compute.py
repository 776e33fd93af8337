"""Compute the fairness measures of an evaluation from its base metrics, for the estimate and for replicates alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.errors import InputError

from ._fairness import rate_array
from ._registry import BOTH_RATES, MEASURES, SUMMARIES, THRESHOLD_FREE, Estimand, Floats, compute

KINDS = frozenset(("fmr", "fnmr", BOTH_RATES))  # of measures at operating points: by the rates they are of
ZeroPolicy = Literal["keep", "raise", "clopper-pearson"]
ZERO_POLICIES: tuple[ZeroPolicy, ...] = get_args(ZeroPolicy)


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
            rates = at_mean_group_eer.fmr, at_mean_group_eer.fnmr
            value = compute(measure, [rate.groups for rate in rates], [rate.overall for rate in rates], alpha)
            yield MeasuredQuantity(name, None, value, measure.per_group)
            if measure.per_group:
                with np.errstate(invalid="ignore"):  # infinite where no comparison of the pooled ones is an error
                    for summary, of_groups in zip(SUMMARIES, (value.mean(axis=-1), value.std(axis=-1)), strict=True):
                        yield MeasuredQuantity(f"{name}_{summary}", None, of_groups, False)
        elif not measure.of:
            for point, pair in enumerate(at_points):
                if BOTH_RATES in pair.kinds:
                    value = value_of(measure, (pair.fmr, pair.fnmr), alpha, zero_policy)
                    yield MeasuredQuantity(name, point, value, measure.per_group)
        for metric in measure.of:
            label = f"{name}({metric})"
            if metric in THRESHOLD_FREE:
                if metric in threshold_free:
                    value = value_of(measure, (threshold_free[metric],), alpha, zero_policy)
                    yield MeasuredQuantity(label, None, value, measure.per_group)
                continue
            for point, pair in enumerate(at_points):
                if ("fmr" if metric == "fmr" else "fnmr") in pair.kinds:
                    value = value_of(measure, (pair.metric(metric),), alpha, zero_policy)
                    yield MeasuredQuantity(label, point, value, measure.per_group)


def value_of(measure: Estimand, metrics: Sequence[BaseMetric], alpha: float, zero_policy: str | float) -> Floats:
    """Compute a measure of a metric, or of FMR and FNMR."""
    groups = [
        replace_zeros(metric.groups, zero_policy, metric.comparisons)
        if measure.ratio and metric.comparisons is not None and zero_policy != "keep"
        else metric.groups
        for metric in metrics
    ]
    return compute(measure, groups, [metric.overall for metric in metrics], alpha)


@checked
def replace_zeros(
    rates: ArrayLike,
    policy: str | float = "keep",
    comparisons: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Floats:
    """Replace or refuse error rates of zero before measures divide by them.

    Parameters
    ----------
    rates : (..., g) array_like
        Error rates.
    policy : {"keep", "raise", "clopper-pearson"} or float
        "keep" leaves zeros, and ratios to them are infinite or NaN; "raise" refuses them; a number in (0, 1) replaces
        them; "clopper-pearson" replaces them by the upper end of the two-sided exact interval for no errors.
    comparisons : (..., g) array_like of int, optional
        Number of comparisons behind each rate, for "clopper-pearson".
    confidence_level : float, default 0.95
        Confidence level of the Clopper-Pearson interval.

    Returns
    -------
    (..., g) ndarray

    Raises
    ------
    InputError
        For rates of zero under "raise", and for "clopper-pearson" without `comparisons`.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.replace_zeros([0.0, 0.1], "clopper-pearson", comparisons=[100, 100]).round(4)
    array([0.0362, 0.1   ])
    """
    x = rate_array("rates", rates)
    zero = x == 0
    if not isinstance(policy, str):
        epsilon = validation.positive("policy", validation.rate("policy", policy))
        return np.where(zero, epsilon, x)
    validation.choice("policy", policy, ZERO_POLICIES)
    if policy == "raise" and zero.any():
        where = [tuple(map(int, place)) for place in np.argwhere(zero)[:5]]
        raise InputError(
            f"{int(zero.sum())} rates are 0, first at {where}: ratios to them are not computable; choose another policy"
        )
    if policy != "clopper-pearson":
        return x
    if comparisons is None:
        raise InputError("the policy 'clopper-pearson' needs the comparisons behind each rate")
    tail = (1 - intervals.level(confidence_level)) / 2
    n = validation.counts("comparisons", comparisons, 0)
    if n.shape and n.shape != x.shape[x.ndim - n.ndim :]:
        raise InputError(f"comparisons has the shape {n.shape}, but rates {x.shape}")
    with np.errstate(divide="ignore"):
        return np.where(zero, 1 - tail ** (1 / n), x)
