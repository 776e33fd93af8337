"""`rates_over_thresholds`: FMR and FNMR at many thresholds; `expected_performance_curve`: at those of other data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import draw_lines, legend_below, rate_ticks
from fastfair.data.class_keys import keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import ERROR_RATES, ErrorRate
from fastfair.error_rates.operating_points import at_threshold
from fastfair.error_rates.score_metrics import Costs, least_cost
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate_at_thresholds
from fastfair.results.result import Result
from fastfair.uncertainty.quantities import Estimate, Quantity, ends_of, in_words, of_group, warn_of_narrow

from .apply_threshold import require_same_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_APART = 0.14  # rows between the two intervals of a rate


@dataclass(frozen=True, kw_only=True)
class RateAtThreshold(Estimate):
    """An error rate at a threshold: an `Estimate`, its name and the threshold.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    threshold : float
        The threshold, on the scale of the scores.
    """

    name: str
    threshold: float


@dataclass(frozen=True, kw_only=True)
class ExpectedError(Estimate):
    """The half total error rate, the mean of FMR and FNMR, at the threshold that costs least on development data.

    Attributes
    ----------
    weight : float
        The weight of false matches in the cost.
    threshold : float
        The threshold found on development data.
    fmr, fnmr : float
        The two rates.
    cost : float
        The least cost on development data, ``weight * FMR + (1 - weight) * FNMR``.
    """

    weight: float
    threshold: float
    fmr: float
    fnmr: float
    cost: float

    _unused = ("n_comparisons", "n_errors", "n_subjects")


@dataclass(frozen=True, eq=False, repr=False)
class RatesOverThresholds(Result):
    """The result of `rates_over_thresholds`.

    Attributes
    ----------
    thresholds : (t,) ndarray
        The thresholds, ascending.
    groups : tuple of str
        The groups; empty without.
    rates : tuple of RateAtThreshold
        FMR and FNMR of all comparisons, then of each group, at each threshold.
    confidence_level : float
        The level of each interval.
    """

    thresholds: Floats
    groups: tuple[str, ...]
    rates: tuple[RateAtThreshold, ...]
    confidence_level: float

    _title = "Error rates over thresholds"
    _rows = "rates"

    @checked
    def of(self, name: ErrorRate, group: str | None = None) -> tuple[RateAtThreshold, ...]:
        """Return a rate at each threshold.

        Parameters
        ----------
        name : {"fmr", "fnmr"}
            The rate.
        group : str, optional
            One of `groups`; by default all comparisons.

        Returns
        -------
        tuple of RateAtThreshold
        """
        return tuple(of_group(self.rates, group, self.groups, name))

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        text = []
        for k in dict.fromkeys((0, len(self.thresholds) // 2, len(self.thresholds) - 1)):
            said = (f"the {name.upper()} is {in_words(self.of(name)[k])}" for name in ERROR_RATES)
            text.append(f"At threshold {self.thresholds[k]:g} {' and '.join(said)}.")
        return text

    @checked
    def plot(self, ax: Axes | None = None, *, rate: ErrorRate | None = None) -> Axes:
        """Draw rates over thresholds: both of all comparisons, or one of each group.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fmr", "fnmr"}, optional
            The rate to draw of each group. By default both rates of all comparisons are drawn.

        Returns
        -------
        matplotlib Axes
        """
        if rate is None:
            return _draw_over(self.thresholds, {name.upper(): self.of(name) for name in ERROR_RATES}, "Error rate", ax)
        curves = {group or "all": self.of(rate, group) for group in (self.groups or (None,))}
        return _draw_over(self.thresholds, curves, rate.upper(), ax)


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedPerformance(Result):
    """The result of `expected_performance_curve`.

    Attributes
    ----------
    weights : (w,) ndarray
        The weights of false matches, ascending.
    groups : tuple of str
        The groups of the evaluation data; empty without.
    errors : tuple of ExpectedError
        A row for each weight, of all comparisons first, then of each group.
    confidence_level : float
        The level of each interval.
    """

    weights: Floats
    groups: tuple[str, ...]
    errors: tuple[ExpectedError, ...]
    confidence_level: float

    _title = "Errors at thresholds that cost least on development data"
    _rows = "errors"

    @checked
    def of(self, group: str | None = None) -> tuple[ExpectedError, ...]:
        """Return the rows of a group, or of all comparisons, one for each weight.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        tuple of ExpectedError
        """
        return tuple(of_group(self.errors, group, self.groups))

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        rows = self.of()
        best, worst = min(rows, key=lambda row: row.estimate), max(rows, key=lambda row: row.estimate)
        return [
            "At the thresholds that cost least on the development data, the half total error rate is lowest, "
            f"{in_words(best)}, where false matches have the weight {best.weight:g}, and highest, {in_words(worst)}, "
            f"at the weight {worst.weight:g}.",
            "The intervals take these thresholds as given.",
        ]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the half total error rate over the weight of false matches, of each group where there are groups.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        curves = {group or "all": self.of(group) for group in (self.groups or (None,))}
        ax = _draw_over(self.weights, curves, "Half total error rate", ax)
        ax.set_xlabel("Weight of false matches")
        return ax


def _draw_over(places: Floats, curves: Mapping[str, Sequence[Estimate]], label: str, ax: Axes | None) -> Axes:
    """Draw rates over thresholds, or over what thresholds are chosen by, with the interval at each."""
    ends = ("estimate", "low", "high")
    drawn = {name: [np.array([getattr(row, end) for row in rows]) for end in ends] for name, rows in curves.items()}
    ax, lines = draw_lines(places, drawn, ax)
    ax.set_xlabel("Threshold")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    rate_ticks(ax.yaxis)
    ax.grid(alpha=0.3)
    if len(lines) > 1:
        legend_below(ax, lines)
    return ax


_THRESHOLDS = 41  # by default
_WEIGHTS = tuple(k / 20 for k in range(1, 20))


@checked
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
    found = evaluate_at_thresholds(comparisons, given.tolist(), level)
    rows = [
        RateAtThreshold._of(
            found.quantity(name, group, at_threshold(float(threshold))), name=name, threshold=float(threshold)
        )
        for group in (None, *comparisons.groups)
        for name in ERROR_RATES
        for threshold in given
    ]
    warn_of_narrow(rows)
    return RatesOverThresholds(given, comparisons.groups, tuple(rows), level)


@checked
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
    require_same_scores(comparisons, development)
    keys = keys_of(development)
    costs = [least_cost(Costs(1 - float(weight)), keys) for weight in given]
    thresholds = [development.to_threshold(key) for _, key in costs]
    found = evaluate_at_thresholds(comparisons, thresholds, level)
    rows = []
    for group in (None, *comparisons.groups):
        for weight, threshold, (cost, _) in zip(given, thresholds, costs, strict=True):
            both = [found.quantity(name, group, at_threshold(threshold)) for name in ERROR_RATES]
            rows.append(_joined(float(weight), threshold, cost, both))
    warn_of_narrow(rows)
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


def _joined(weight: float, threshold: float, cost: float, rates: Sequence[Quantity]) -> ExpectedError:
    fmr, fnmr = rates
    first, second = (np.array([one.estimate, *ends_of(one)]) / 2 for one in rates)
    low, high = (float(end) for end in np.clip(intervals.sum_interval(first, second, np.zeros(())), 0.0, 1.0))
    note = "; ".join(dict.fromkeys(f"{one.name.upper()}: {one.note}" for one in rates if one.note))
    return ExpectedError(
        group=fmr.group, estimate=(fmr.estimate + fnmr.estimate) / 2, low=low, high=high, note=note, weight=weight,
        threshold=threshold, fmr=fmr.estimate, fnmr=fnmr.estimate, cost=cost,
    )  # fmt: skip
