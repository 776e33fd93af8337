"""`rates_over_thresholds`: FMR and FNMR at many thresholds; `expected_performance_curve`: at those of other data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import held, warn
from fastfair.data.class_keys import keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import at_threshold
from fastfair.error_rates.score_metrics import DetectionCosts
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.uncertainty.quantities import Quantity

from .results import ExpectedError, ExpectedPerformance, RateAtThreshold, RatesOverThresholds

Floats = NDArray[np.float64]
NARROW = "likely too narrow"  # in notes of intervals
_THRESHOLDS = 41  # by default
_WEIGHTS = tuple(k / 20 for k in range(1, 20))


@checked(thresholds=argument_kinds.optional(argument_kinds.numbers))
def rates_over_thresholds(
    comparisons: Comparisons, thresholds: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> RatesOverThresholds:
    """Compute FMR and FNMR at given thresholds, overall and per group, with an interval at each threshold.

    It answers what error rates a vendor's threshold has here, and what they would be at others.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with or without groups and subjects.
    thresholds : float or (t,) array_like, optional
        Thresholds on the scale of the scores. By default 41, at equal distances from the median of the non-mated scores
        to that of the mated ones.
    confidence_level : float, default 0.95
        In (0, 1), of each interval alone.

    Returns
    -------
    RatesOverThresholds

    Raises
    ------
    InputError
        For thresholds that are not finite, and a level outside (0, 1).

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.

    Notes
    -----
    Intervals are those of `evaluate` at `at_threshold` without replicates. Where subjects are not known, comparisons
    are taken for independent.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.8, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
    >>> curve = ff.rates_over_thresholds(c, [0.2, 0.5])
    >>> [(row.threshold, row.name, round(row.estimate, 3)) for row in curve.rates]
    [(0.2, 'fmr', 0.667), (0.5, 'fmr', 0.333), (0.2, 'fnmr', 0.0), (0.5, 'fnmr', 0.333)]
    """
    level = intervals.level(confidence_level)
    given = _default_thresholds(comparisons) if thresholds is None else _given("thresholds", thresholds)
    found = _evaluated(comparisons, given.tolist(), level)
    rows = [
        _row(float(threshold), found.quantity(name, group, at_threshold(float(threshold))))
        for group in (None, *comparisons.groups)
        for name in ERROR_RATES
        for threshold in given
    ]
    _warn(row.note for row in rows)
    return RatesOverThresholds(given, comparisons.groups, tuple(rows), level)


@checked(development=argument_kinds.one_of("Comparisons"), weights=argument_kinds.numbers)
def expected_performance_curve(
    comparisons: Comparisons,
    development: Comparisons,
    weights: ArrayLike = _WEIGHTS,
    *,
    confidence_level: float = 0.95,
) -> ExpectedPerformance:
    """Compute the half total error rate at thresholds that cost least on development data, one for each weight.

    A ROC curve of evaluation data compares systems at thresholds that nobody could have known. Here each threshold is
    the one of least ``weight * FMR + (1 - weight) * FNMR`` on development data, and what it leads to is computed on
    evaluation data [1]_.

    Parameters
    ----------
    comparisons : Comparisons
        The evaluation data, with or without groups and subjects.
    development : Comparisons
        The development data.
    weights : float or (w,) array_like, default 0.05, 0.1, ..., 0.95
        Weights of false matches, in (0, 1).
    confidence_level : float, default 0.95
        In (0, 1), of each interval alone.

    Returns
    -------
    ExpectedPerformance

    Raises
    ------
    InputError
        For weights outside (0, 1), scores of two kinds, and a level outside (0, 1).

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.

    Notes
    -----
    The half total error rate is the mean of FMR and FNMR. Its interval joins those of the two rates by MOVER [2]_, as
    if these were not correlated, *for the thresholds as they are*: how much other development data would have moved
    them is not part of it.

    References
    ----------
    .. [1] Bengio, Mariéthoz and Keller, "The expected performance curve", ICML Workshop on ROC Analysis (2005).
    .. [2] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import fastfair as ff
    >>> development = ff.Comparisons([0.9, 0.5, 0.8, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
    >>> evaluation = ff.Comparisons([0.9, 0.3, 0.8, 0.4, 0.1, 0.7], [1, 1, 1, 0, 0, 0])
    >>> curve = ff.expected_performance_curve(evaluation, development, [0.2, 0.8])
    >>> [(row.weight, row.threshold, round(row.estimate, 3)) for row in curve.errors]
    [(0.2, 0.5, 0.333), (0.8, 0.8, 0.167)]
    """
    level = intervals.level(confidence_level)
    given = _given("weights", weights)
    if not ((given > 0) & (given < 1)).all():
        raise InputError(f"weights must be in (0, 1), not {given[~((given > 0) & (given < 1))][0]:g}")
    if comparisons.score_kind != development.score_kind:
        raise InputError(
            f"the scores of development are of the kind {development.score_kind!r}, those of the comparisons "
            f"{comparisons.score_kind!r}"
        )
    keys = keys_of(development)
    costs = [DetectionCosts(1 - float(weight)).least(keys) for weight in given]
    thresholds = [development.to_threshold(key) for _, key in costs]
    found = _evaluated(comparisons, thresholds, level)
    rows = []
    for group in (None, *comparisons.groups):
        for weight, threshold, (cost, _) in zip(given, thresholds, costs, strict=True):
            both = [found.quantity(name, group, at_threshold(threshold)) for name in ERROR_RATES]
            rows.append(_joined(float(weight), threshold, cost, both))
    _warn(row.note for row in rows)
    return ExpectedPerformance(given, comparisons.groups, tuple(rows), level)


def _given(name: str, values: ArrayLike) -> Floats:
    """Return numbers ascending, each once."""
    found = np.unique(validation.numbers_of(name, values))
    wrong = found[~np.isfinite(found)]
    if wrong.size:
        raise InputError(f"{name} must be finite, not {wrong[0]:g}")
    return found


def _default_thresholds(comparisons: Comparisons) -> Floats:
    first, last = (float(np.median(side.similarities)) for side in (comparisons.nonmated, comparisons.mated))
    if not (math.isfinite(first) and math.isfinite(last)):
        raise InputError("half of the comparisons failed: name the thresholds")
    return np.unique([comparisons.to_scale(float(one)) for one in np.linspace(first, last, _THRESHOLDS)])


def _evaluated(comparisons: Comparisons, thresholds: Sequence[float], level: float) -> Evaluation:
    with held():  # `_warn` tells what matters
        return evaluate(
            comparisons, [at_threshold(threshold) for threshold in thresholds], [], metrics=[], n_resamples=0,
            confidence_level=level, incomplete_groups="nan",
            unit="comparison" if comparisons.subjects is None else "subject",
        )  # fmt: skip


def _warn(notes: Iterable[str]) -> None:
    if any(NARROW in note for note in notes):
        warn("some intervals are likely too narrow: the notes of the rates say why", NarrowIntervalsWarning)


def _ends(quantity: Quantity) -> tuple[float, float]:
    low, high = (math.nan if end is None else end for end in (quantity.low, quantity.high))
    return low, high


def _row(threshold: float, found: Quantity) -> RateAtThreshold:
    return RateAtThreshold(
        found.name, found.group, threshold, found.estimate, *_ends(found), found.n_comparisons or 0,
        found.n_errors or 0, found.note,
    )  # fmt: skip


def _joined(weight: float, threshold: float, cost: float, rates: Sequence[Quantity]) -> ExpectedError:
    fmr, fnmr = rates
    first, others = np.array([fmr.estimate, *_ends(fmr)]) / 2, _ends(fnmr)
    second = -np.array([fnmr.estimate, *others[::-1]]) / 2  # a sum is the difference of what is turned round
    low, high = (float(end) for end in np.clip(intervals.difference_interval(first, second, np.zeros(())), 0.0, 1.0))
    note = "; ".join(dict.fromkeys(f"{one.name.upper()}: {one.note}" for one in rates if one.note))
    return ExpectedError(
        fmr.group, weight, threshold, (fmr.estimate + fnmr.estimate) / 2, low, high, fmr.estimate, fnmr.estimate,
        cost, note,
    )  # fmt: skip
