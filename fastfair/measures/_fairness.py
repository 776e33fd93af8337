"""All fairness measures: each is a function of the groups' error rates, with its record in the
decorator above it.

The docstring of `fastfair.measures` says what measures have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import Share, checked
from fastfair._lib.arrays import Floats, Integers
from fastfair.errors import InputError

from ._registry import BOTH_RATES, MEASURES, SUMMARIES, Estimand, compute, measure

__all__ = [
    "fdr",
    "garbe",
    "gini",
    "group_to_average_log_ratio",
    "group_to_average_ratio",
    "group_to_min_difference",
    "inequity_rate",
    "log_geomean_sum",
    "mape",
    "max_geomean_ratio",
    "max_min_ratio",
    "nrb",
    "sed",
    "skewed_error_ratio",
    "std",
]
INF = float("inf")
_RATES = ("fmr", "fnmr")
_BASE = ("fmr", "fnmr", "eer", "act_dcf", "min_dcf", "cllr")

# What measures are given, checked, and the arithmetic that they share.


@dataclass(frozen=True, eq=False)
class BaseMetric:
    """A base metric (FMR, FNMR, EER, ...) of each group, and what measures make of it, computed
    once for all of them.

    Attributes
    ----------
    groups : (..., g) ndarray
        The metric of each group.
    overall : (...) ndarray
        The metric of all comparisons pooled.
    comparisons : (g,) ndarray of int, or None
        Number of comparisons behind each group's value where the metric is a rate; None for other
        metrics.
    """

    groups: Floats
    overall: Any = None
    comparisons: Integers | None = None

    @cached_property
    def lowest(self) -> Floats:
        """(...) values of the best group."""
        return np.asarray(self.groups.min(axis=-1))

    @cached_property
    def highest(self) -> Floats:
        """(...) values of the worst group."""
        return np.asarray(self.groups.max(axis=-1))

    @cached_property
    def ratio(self) -> Floats:
        """(...) ratios of the worst group to the best."""
        return divide(self.highest, self.lowest)

    @cached_property
    def logs(self) -> Floats:
        """(..., g) natural logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.groups)

    @cached_property
    def mean_log(self) -> Floats:
        """(...) logarithms of the geometric mean."""
        return np.asarray(self.logs.mean(axis=-1))

    @cached_property
    def gini(self) -> Floats:
        """(...) Gini coefficients."""
        x = np.sort(self.groups, axis=-1)
        n_groups = self.groups.shape[-1]
        # The gap above the k-th smallest lies between k (G - k) pairs; sums of gaps are exactly 0
        # where all are equal.
        k = np.arange(1, n_groups)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.diff(x, axis=-1) @ (k * (n_groups - k)).astype(np.float64)
            total = x.sum(axis=-1)
            return np.asarray(
                np.where(total == 0, 0.0, spread / (total * np.float64(n_groups - 1)))
            )


def numbers_of(name: str, values: ArrayLike, largest: float = validation.LARGEST) -> Floats:
    """Make an array of numbers that are not negative; the largest of rates is 1."""
    array = validation.floats(name, values)
    if array.size and array.min() >= 0 and array.max() <= largest:
        return array
    if (array < 0).any():
        raise InputError(
            f"{name} must not be negative, but holds {float(array[array < 0].flat[0]):g}"
        )
    beyond = array[(array > largest) & (np.isfinite(array) | (largest == 1))]
    if beyond.size and largest > 1:
        raise InputError(
            f"{name} must not be above 1e150, as its squares overflow, but holds {beyond[0]:g}"
        )
    if beyond.size:
        hint = "; divide percentages by 100" if beyond[0] <= 100 else ""
        raise InputError(
            f"{name} must hold rates, fractions in [0, 1], but holds {beyond[0]:g}{hint}"
        )
    return array


def metrics_of(largest: float = validation.LARGEST, **values: Any) -> list[BaseMetric]:
    """Make metrics of values with the same groups on their last axes; those that measures share
    stay as they are.
    """
    if all(isinstance(rates, BaseMetric) for rates in values.values()):
        return list(values.values())
    given = {name: numbers_of(name, rates, largest) for name, rates in values.items()}
    for name, array in given.items():
        if array.ndim == 0 or array.shape[-1] == 0:
            raise InputError(
                f"{name} needs groups on its last axis, but its shape is {array.shape}"
            )
    if len({array.shape[-1] for array in given.values()}) > 1:
        sizes = ", ".join(f"{name} has {array.shape[-1]}" for name, array in given.items())
        raise InputError(f"rates must be of the same groups, but {sizes}")
    _require_one_shape(given)
    return [BaseMetric(array) for array in given.values()]


def average_of(
    name: str, values: ArrayLike, groups: Floats, largest: float = validation.LARGEST
) -> Floats:
    """Make an array of averages, one for every set of groups, with a last axis of 1 in place of the
    groups.
    """
    array = numbers_of(name, values, largest)
    if array.ndim > groups.ndim - 1:
        raise InputError(
            f"{name} has one value for all groups, but its shape is {array.shape} against"
            f" {groups.shape}"
        )
    averages = array[..., np.newaxis]
    _require_one_shape({name: averages, "of groups": groups})
    return averages


def _require_one_shape(given: Mapping[str, Floats]) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in given.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items())
        raise InputError(
            f"axes before that of groups must fit together, but the shapes are: {shapes}"
        ) from None


def divide(x: Floats, y: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.divide(x, y)


def log_ratio(x: BaseMetric, average: ArrayLike) -> Floats:
    """Return the natural logarithms of the groups' ratios to the average."""
    with np.errstate(divide="ignore"):
        return np.log(divide(x.groups, average_of("average", average, x.groups)))


# The measures, in the order in which results list them.


@measure(
    of=BOTH_RATES,
    range=(0, 1),
    fair_value=1,
    title="FDR",
    long_title="Fairness discrepancy rate",
    families="maximum disparity",
    source="papers 1 (15), 2 (1-3), 3 (1)",
    question="How far apart are the two groups with the most different FMRs, and FNMRs?",
)
@checked
def fdr(fmr: ArrayLike, fnmr: ArrayLike, alpha: Share = 0.5) -> Floats:
    """Compute the Fairness Discrepancy Rate.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1].

    Returns
    -------
    (...) ndarray
        ``1 - [alpha max|a_i - a_j| + (1 - alpha) max|b_i - b_j|]``; 1 is fair, 0 is unfair.

    References
    ----------
    Paper 1 (15), paper 2 (1-3), paper 3 (1); de Freitas Pereira and Marcel (2022).

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.fdr([0.25, 0.75], [0.5, 0.5]))
    0.75
    """
    a, b = metrics_of(1, fmr=fmr, fnmr=fnmr)
    return 1 - (alpha * (a.highest - a.lowest) + (1 - alpha) * (b.highest - b.lowest))


@measure(
    of=BOTH_RATES,
    range=(1, INF),
    fair_value=1,
    title="IR",
    long_title="Inequity rate",
    families="maximum disparity",
    source="papers 1 (12-14), 2 (4-6)",
    question="By which factor does the worst group exceed the best, in FMR and FNMR?",
)
@checked
def inequity_rate(fmr: ArrayLike, fnmr: ArrayLike, alpha: Share = 0.5) -> Floats:
    """Compute the Inequity Rate.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1]; rates with weight 0 have no effect, even where they are
        0 or NaN.

    Returns
    -------
    (...) ndarray
        ``(max a / min a)^alpha (max b / min b)^(1 - alpha)``, from 1 (fair) to infinity.

    References
    ----------
    Paper 1 (12-14), paper 2 (4-6); NIST FRTE.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.inequity_rate([0.01, 0.04], [0.1, 0.1]))
    2.0
    """
    a, b = metrics_of(1, fmr=fmr, fnmr=fnmr)
    return a.ratio**alpha * b.ratio ** (1 - alpha)


@measure(
    of=_RATES,
    range=(0, 1),
    fair_value=0,
    title="Gini",
    long_title="Gini coefficient",
    aliases="Gini index",
    families="aggregation",
    source="papers 1 (16), 2 (7-8), 5 A.1",
    question="How unequally is the rate spread over groups?",
)
@checked
def gini(x: ArrayLike) -> Floats:
    """Compute the Gini coefficient, scaled so that it is 1 where one group has all the errors.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups, not negative.

    Returns
    -------
    (...) ndarray
        ``G / (G - 1) * sum_ij |x_i - x_j| / (2 G^2 mean(x))``, from 0 (fair) to 1; 0 where every x
        is 0, NaN for one group.

    References
    ----------
    Paper 1 (16), paper 2 (7-8), paper 5 A.1; ISO/IEC 19795-10.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.gini([0.0, 0.0, 0.3]))
    1.0
    """
    (metric,) = metrics_of(x=x)
    return metric.gini[()]


@measure(
    of=BOTH_RATES,
    range=(0, 1),
    fair_value=0,
    title="GARBE",
    long_title="Gini aggregation rate for biometric equitability",
    families="aggregation",
    source="papers 1 (17-18), 2 (9-10)",
    question="How unequally are FMR and FNMR spread over groups?",
)
@checked
def garbe(fmr: ArrayLike, fnmr: ArrayLike, alpha: Share = 0.5) -> Floats:
    """Compute the Gini Aggregation Rate for Biometric Equitability.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1].

    Returns
    -------
    (...) ndarray
        ``alpha Gini(a) + (1 - alpha) Gini(b)``, from 0 (fair) to 1.

    References
    ----------
    Paper 1 (17-18), paper 2 (9-10); Howard et al. (2022).

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.garbe([0.0, 0.1], [0.2, 0.2]))
    0.5
    """
    a, b = metrics_of(1, fmr=fmr, fnmr=fnmr)
    return alpha * a.gini + (1 - alpha) * b.gini


@measure(
    of=("fmr", "fnmr", "tmr", "eer"),
    range=(0, 0.5),
    fair_value=0,
    title="STD",
    long_title="Standard deviation",
    families="standard deviation",
    source="paper 1 (21), table I",
    question="How much does the rate scatter about the mean of the groups?",
)
@checked
def std(x: ArrayLike) -> Floats:
    """Compute the population standard deviation over groups.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups: FMR, FNMR, TMR or EER.

    Returns
    -------
    (...) ndarray
        ``sqrt(mean_g (x_g - mean(x))^2)``, from 0 (fair).

    References
    ----------
    Paper 1 (21) and Table I.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.std([0.25, 0.75]))
    0.25
    """
    with np.errstate(invalid="ignore"):
        return np.std(metrics_of(x=x)[0].groups, axis=-1)


@measure(
    of="fmr",
    range=(1, INF),
    fair_value=1,
    title="SER",
    long_title="Skewed error ratio",
    families="maximum disparity",
    source="paper 1 section II-B",
    question="By which factor does the worst group exceed the best?",
)
@checked
def skewed_error_ratio(fmr: ArrayLike) -> Floats:
    """Compute the Skewed Error Ratio.

    Parameters
    ----------
    fmr : (..., g) array_like
        False match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max a / min a``, from 1 (fair) to infinity.

    References
    ----------
    Paper 1, section II-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.skewed_error_ratio([0.01, 0.04]))
    4.0
    """
    (a,) = metrics_of(1, fmr=fmr)
    return a.ratio


@measure(
    of="fmr",
    range=(0, INF),
    fair_value=0,
    title="MAPE",
    long_title="Mean absolute percentage error",
    families="aggregation",
    source="paper 1 section II-B",
    question="How far are groups from the rate of all comparisons, relative to it?",
)
@checked
def mape(fmr: ArrayLike, fmr_global: ArrayLike) -> Floats:
    """Compute the mean absolute percentage error of groups' FMRs from the global FMR, as a
    fraction.

    Parameters
    ----------
    fmr : (..., g) array_like
        False match rates of g groups.
    fmr_global : (...) array_like
        False match rate of all non-mated comparisons, cross-group ones included.

    Returns
    -------
    (...) ndarray
        ``mean_g |a_g - a_global| / a_global``, from 0 (fair) to infinity.

    References
    ----------
    Paper 1, section II-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.mape([0.5, 0.25], 0.25))
    0.5
    """
    (a,) = metrics_of(1, fmr=fmr)
    reference = average_of("fmr_global", fmr_global, a.groups, largest=1)
    return divide(np.abs(a.groups - reference), reference).mean(axis=-1)


@measure(
    of=BOTH_RATES,
    range=(0, INF),
    fair_value=0,
    title="SED",
    long_title="Sum of group error differences",
    aliases="SEDG",
    families=("standard deviation", "aggregation"),
    source="paper 1 (8-11)",
    own_threshold=True,
    question=(
        "How far are groups from the overall rates, at the mean of the groups' EER thresholds?"
    ),
)
@checked
def sed(fmr: ArrayLike, fnmr: ArrayLike, fmr_global: ArrayLike, fnmr_global: ArrayLike) -> Floats:
    """Compute the Sum of Error Differences of each group; its mean and standard deviation over
    groups are reported.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups at the mean of the groups' EER thresholds (`at_mean_group_eer`).
    fmr_global, fnmr_global : (...) array_like
        Error rates of all comparisons at that threshold.

    Returns
    -------
    (..., g) ndarray
        ``|1 - a_g / a_global| + |1 - b_g / b_global|``, from 0 (fair) to infinity.

    References
    ----------
    Paper 1 (8-11).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.sed([0.5, 0.25], [0.5, 0.5], 0.25, 0.5)
    array([1., 0.])
    """
    a, b = metrics_of(1, fmr=fmr, fnmr=fnmr)
    a_global = average_of("fmr_global", fmr_global, a.groups, largest=1)
    b_global = average_of("fnmr_global", fnmr_global, b.groups, largest=1)
    return np.abs(1 - divide(a.groups, a_global)) + np.abs(1 - divide(b.groups, b_global))


@measure(
    of=_BASE,
    range=(0, INF),
    fair_value=0,
    title="group-to-min difference",
    long_title="Group-to-minimum difference",
    aliases="G2min difference",
    families="maximum disparity",
    source="paper 3 table 1",
    question="How far is each group from the best one?",
)
@checked
def group_to_min_difference(x: ArrayLike) -> Floats:
    """Compute the difference between each group and the best group.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.

    Returns
    -------
    (..., g) ndarray
        ``x_g - min x``, from 0 (fair).

    References
    ----------
    Paper 3, table 1.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_min_difference([0.25, 0.75])
    array([0. , 0.5])
    """
    (metric,) = metrics_of(x=x)
    with np.errstate(invalid="ignore"):
        return np.asarray(metric.groups - metric.lowest[..., np.newaxis])


@measure(
    of=_BASE,
    range=(0, INF),
    fair_value=1,
    title="group-to-average ratio",
    long_title="Group-to-average ratio",
    aliases="G2avg ratio",
    families="aggregation",
    source="paper 3 table 1",
    question="How many times the performance of all comparisons is that of each group?",
)
@checked
def group_to_average_ratio(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute each group's ratio to the average.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled; not the mean of the groups.

    Returns
    -------
    (..., g) ndarray
        ``x_g / average``, 1 where fair.

    References
    ----------
    Paper 3, table 1. Its table 3 shows that the average is that of pooled comparisons (3.218 /
    3.657 = 0.880).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_average_ratio([0.25, 0.5], 0.25)
    array([1., 2.])
    """
    (metric,) = metrics_of(x=x)
    return divide(metric.groups, average_of("average", average, metric.groups))


@measure(
    of=_BASE,
    range=(-INF, INF),
    fair_value=0,
    title="group-to-average log ratio",
    long_title="Group-to-average log ratio",
    aliases="G2avg log ratio",
    families="aggregation",
    source="paper 3 table 1",
    question=(
        "How far is each group from the performance of all comparisons, on a logarithmic scale?"
    ),
)
@checked
def group_to_average_log_ratio(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute the negative natural logarithm of each group's ratio to the average.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled.

    Returns
    -------
    (..., g) ndarray
        ``-ln(x_g / average)``: 0 where fair, below 0 for groups worse than average; +inf for a
        group without errors.

    References
    ----------
    Paper 3, table 1.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_average_log_ratio([0.25, 0.5], 0.25).round(3)
    array([-0.   , -0.693])
    """
    return -log_ratio(metrics_of(x=x)[0], average)


@measure(
    of=_BASE,
    range=(0, INF),
    fair_value=0,
    title="NRB",
    long_title="Normalised reliability bias",
    aliases="normalized reliability bias",
    families="aggregation",
    source="paper 3 (2)",
    question="How far are groups from the performance of all comparisons, on average?",
)
@checked
def nrb(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute the Normalised Reliability Bias.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled.

    Returns
    -------
    (...) ndarray
        ``mean_g |ln(x_g / average)|``, from 0 (fair) to infinity.

    References
    ----------
    Paper 3 (2).

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.nrb([0.25, 0.5], 0.25)), 4)
    0.3466
    """
    return np.abs(log_ratio(metrics_of(x=x)[0], average)).mean(axis=-1)


@measure(
    of=_RATES,
    range=(1, INF),
    fair_value=1,
    title="max-min ratio",
    long_title="Maximum-minimum ratio",
    families="maximum disparity",
    source="paper 5 A.1, NIST FRTE part 8",
    question="By which factor does the worst group exceed the best?",
)
@checked
def max_min_ratio(x: ArrayLike) -> Floats:
    """Compute the ratio of the worst group to the best.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max x / min x``, from 1 (fair) to infinity.

    References
    ----------
    Paper 5 A.1; NIST FRTE part 8.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.max_min_ratio([0.01, 0.04]))
    4.0
    """
    (metric,) = metrics_of(x=x)
    return metric.ratio


@measure(
    of=_RATES,
    range=(1, INF),
    fair_value=1,
    title="max-geomean ratio",
    long_title="Maximum-geometric mean ratio",
    families="maximum disparity",
    source="paper 5 A.1, NIST FRTE part 8",
    question="By which factor does the worst group exceed the geometric mean?",
)
@checked
def max_geomean_ratio(x: ArrayLike) -> Floats:
    """Compute the ratio of the worst group to the geometric mean.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max x / geomean(x)``, from 1 (fair) to infinity.

    References
    ----------
    Paper 5 A.1; NIST FRTE part 8.

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.max_geomean_ratio([0.01, 0.04])), 12)
    2.0
    """
    (metric,) = metrics_of(x=x)
    # rounding alone could bring it below
    return np.maximum(divide(metric.highest, np.exp(metric.mean_log)), 1)


@measure(
    of=_RATES,
    range=(0, INF),
    fair_value=0,
    title="log-geomean sum",
    long_title="Sum of log-geomean ratios",
    families="aggregation",
    source="paper 5 A.1",
    question="How far are groups from their geometric mean, on a logarithmic scale?",
)
@checked
def log_geomean_sum(x: ArrayLike) -> Floats:
    """Sum the groups' distances from their geometric mean, in powers of ten.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``sum_g |log10(x_g / geomean(x))|``, from 0 (fair) to infinity; NaN where a group has no
        errors (0 / 0).

    References
    ----------
    Paper 5 A.1.

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.log_geomean_sum([0.001, 0.1])), 12)
    2.0
    """
    (metric,) = metrics_of(x=x)
    with np.errstate(invalid="ignore"):
        return np.abs(metric.logs - metric.mean_log[..., np.newaxis]).sum(axis=-1) / np.log(10)


# of measures at operating points; those of TMR are of FNMR
KINDS = frozenset(("fmr", "fnmr", BOTH_RATES))
ZeroPolicy = Literal["keep", "raise", "clopper-pearson"]
ZERO_POLICIES: tuple[ZeroPolicy, ...] = get_args(ZeroPolicy)


Metrics = Mapping[str, BaseMetric]  # by their names


@dataclass(frozen=True, eq=False)
class MeasuredQuantity:
    """The values of one measure.

    Attributes
    ----------
    name : str
        Name of the measure, followed by its base metric in parentheses where it has one, or by
        "_mean" or "_std" for a summary over groups.
    point : int or None
        Position of its rates in `at_points` of `measure_all`; None where the measure needs no
        operating point.
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
    at_points: Sequence[Metrics],
    threshold_free: Metrics,
    at_mean_group_eer: Metrics,
    alpha: float,
    zero_policy: str | float,
    kinds: frozenset[str] = KINDS,
) -> Iterator[MeasuredQuantity]:
    """Compute measures at operating points, and measures that need no operating point.

    Parameters
    ----------
    names : sequence of str
        Names of measures.
    at_points : sequence of dict of BaseMetric
        FMR and FNMR at each operating point, or at several of them on a leading axis.
    threshold_free : dict of BaseMetric
        Any of EER, actual DCF, minDCF and Cllr; measures of the others are left out.
    at_mean_group_eer : dict of BaseMetric
        Rates at the mean of the groups' EER thresholds; without them the measure of these is left
        out.
    alpha : float
        Weight of false matches.
    zero_policy : str or float
        For measures that divide by group rates; see `measures.replace_zeros`.
    kinds : set of {"fmr", "fnmr", "both rates"}
        Which measures are computed at operating points: those of the FMR, of the FNMR or TMR, and
        those of both rates.

    Yields
    ------
    MeasuredQuantity
    """
    for name in names:
        measure = MEASURES[name]
        if measure.own_threshold:
            value = value_of(measure, BOTH_RATES, at_mean_group_eer, alpha, "keep")
            yield MeasuredQuantity(name, None, value, measure.per_group)
            if measure.per_group:
                # infinite where no comparison of the pooled ones is an error
                with np.errstate(invalid="ignore"):
                    for summary, of_groups in zip(
                        SUMMARIES, (value.mean(axis=-1), value.std(axis=-1)), strict=True
                    ):
                        yield MeasuredQuantity(f"{name}_{summary}", None, of_groups, False)
            continue
        for metric in measure.of or (BOTH_RATES,):
            label = name if metric == BOTH_RATES else f"{name}({metric})"
            given: list[tuple[int | None, Metrics]] = []
            if metric in threshold_free:
                given = [(None, threshold_free)]
            elif ("fnmr" if metric == "tmr" else metric) in kinds:
                given = list(enumerate(at_points))
            for point, metrics in given:
                value = value_of(measure, metric, metrics, alpha, zero_policy)
                yield MeasuredQuantity(label, point, value, measure.per_group)


def value_of(
    measure: Estimand, metric: str, metrics_by_name: Metrics, alpha: float, zero_policy: str | float
) -> Floats:
    """Compute a measure of a metric, or of both rates; the TMR is 1 - FNMR."""
    if metric == "tmr":
        fnmr = metrics_by_name["fnmr"]
        metrics = [BaseMetric(1 - fnmr.groups, 1 - fnmr.overall, fnmr.comparisons)]
    else:
        metrics = [
            metrics_by_name[name] for name in (_RATES if metric == BOTH_RATES else (metric,))
        ]
    if measure.ratio and zero_policy != "keep":
        metrics = [
            (
                measured
                if measured.comparisons is None
                else replace(
                    measured,
                    groups=replace_zeros(measured.groups, zero_policy, measured.comparisons),
                )
            )
            for measured in metrics
        ]
    # Functions of this file share what a metric has computed; those of users take arrays.
    given = (
        metrics
        if measure.function.__module__ == __name__
        else [measured.groups for measured in metrics]
    )
    return compute(measure, given, [measured.overall for measured in metrics], alpha)


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
        "keep" leaves zeros, and ratios to them are infinite or NaN; "raise" refuses them; a number
        in (0, 1) replaces them; "clopper-pearson" replaces them by the upper end of the two-sided
        exact interval for no errors.
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
    x = numbers_of("rates", rates, largest=1)
    zero = x == 0
    if not isinstance(policy, str):
        epsilon = validation.fraction("policy", policy, "(0, 1)")
        return np.where(zero, epsilon, x)
    validation.choice("policy", policy, ZERO_POLICIES)
    if policy == "raise" and zero.any():
        where = [tuple(map(int, index)) for index in np.argwhere(zero)[:5]]
        raise InputError(
            f"{int(zero.sum())} rates are 0, first at {where}: ratios to them are not computable;"
            " choose another policy"
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
