"""Results of thresholds: rates at one found on development data, over many, and at those that cost least."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plot_style import STANDS_OUT, USUAL, draw_lines, legend_below, rate_ticks
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import METRICS
from fastfair.results.charts import Bar, Line, draw_rows
from fastfair.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_APART = 0.14  # rows between the two intervals of a rate


@dataclass(frozen=True)
class AppliedRate:
    """An error rate at a threshold found on development data, of all people or of a group.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    group : str or None
        The group; None for all comparisons.
    estimate : float
        The rate in the evaluation data; NaN without comparisons.
    low, high : float
        Its interval with the uncertainty of the threshold: of the rate that finding a threshold so, on such development
        data, leads to.
    given_low, given_high : float
        Its interval for this very threshold, as `evaluate` gives it with `at_threshold`.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int
        Number of subjects.
    note : str
        Warnings for the reader.
    """

    name: str
    group: str | None
    estimate: float
    low: float
    high: float
    given_low: float
    given_high: float
    n_comparisons: int
    n_errors: int
    n_subjects: int
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class AppliedThreshold(Result):
    """The result of `apply_threshold`.

    Attributes
    ----------
    at : OperatingPoint
        The operating point that the development data hold.
    threshold : float
        The threshold found on them.
    laxest, strictest : float
        The ends of its interval, on the scale of the scores; infinite where the development data set no end.
    held : float
        The rate that the development data have at the threshold: what `at` holds, as far as ties allow. For an EER the
        mean of both rates.
    groups : tuple of str
        The groups of the evaluation data.
    rates : tuple of AppliedRate
        FMR and FNMR of all evaluation comparisons, and of each group.
    n_shared : int
        Number of subjects that are in both sets.
    confidence_level : float
        The level of all intervals.
    """

    at: OperatingPoint
    threshold: float
    laxest: float
    strictest: float
    held: float
    groups: tuple[str, ...]
    rates: tuple[AppliedRate, ...]
    n_shared: int
    confidence_level: float

    _title = "Errors at the threshold of development data"
    _rows = "rates"

    @checked
    def rate(self, name: str, group: str | None = None) -> AppliedRate:
        """Return one rate.

        Parameters
        ----------
        name : {"fmr", "fnmr"}
            The rate.
        group : str, optional
            One of `groups`; by default all comparisons.

        Returns
        -------
        AppliedRate
        """
        validation.choice("name", name, ERROR_RATES)
        if group is not None:
            validation.choice("group", group, self.groups)
        return next(one for one in self.rates if (one.name, one.group) == (name, group))

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        held = "EER" if self.at.kind == "eer" else self.at.kind.upper()
        shared = f" {self.n_shared:,} subjects are in both." if self.n_shared else " No subject is in both."
        text = [
            f"The threshold at {self.at} of the development data, where their {held} is {per_cent(self.held)}, is "
            f"{typed(self.threshold)}; it could be anywhere from {_end(self.laxest)} (lax) to {_end(self.strictest)} "
            f"(strict).{shared}"
        ]
        for name in ERROR_RATES:
            one = self.rate(name)
            text.append(
                f"On the evaluation data the {name.upper()} is "
                f"{rate_with_interval(one.estimate, one.low, one.high)} with the uncertainty of the threshold, and "
                f"{rate_with_interval(one.estimate, one.given_low, one.given_high)} for this very threshold."
            )
        held_rate = None if self.at.kind == "eer" else self.rate(self.at.kind)
        if held_rate is not None and not math.isnan(held_rate.low):
            aim = self.at.value
            apart = held_rate.high < aim or held_rate.low > aim
            text.append(
                f"So the {held} is {'not ' if apart else ''}what the development data promised"
                + (
                    f": {'above' if held_rate.low > aim else 'below'} {per_cent(aim)} by more than chance."
                    if apart
                    else ", as far as the data tell."
                )
            )
        return "\n".join(map(visible, text))

    @checked
    def plot(self, ax: Axes | None = None, *, rate: str = "fmr") -> Axes:
        """Draw a rate of all comparisons and of each group, with both intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fmr", "fnmr"}
            The rate.

        Returns
        -------
        matplotlib Axes
        """
        validation.choice("rate", rate, ERROR_RATES)
        rows = [self.rate(rate, group) for group in (None, *self.groups)]
        bars = [
            Bar(y + shift, row.estimate, low, high, color=color, label=label)
            for y, row in enumerate(rows)
            for low, high, shift, color, label in (
                (row.low, row.high, -_APART, USUAL, "with the uncertainty of the threshold"),
                (row.given_low, row.given_high, _APART, STANDS_OUT, "for this very threshold"),
            )
            if not math.isnan(low)
        ]
        aim = [Line(self.at.value, "held on development")] if self.at.kind == rate else []
        return draw_rows(ax, [row.group or "all" for row in rows], bars, aim, xlabel=METRICS[rate].long_title)


@dataclass(frozen=True)
class RateAtThreshold:
    """An error rate at a threshold.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    group : str or None
        The group; None for all comparisons.
    threshold : float
        The threshold, on the scale of the scores.
    estimate, low, high : float
        The rate with its interval; NaN where there is none, and `note` says why.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    note : str
        Warnings for the reader.
    """

    name: str
    group: str | None
    threshold: float
    estimate: float
    low: float
    high: float
    n_comparisons: int
    n_errors: int
    note: str = ""


@dataclass(frozen=True)
class ExpectedError:
    """The half total error rate at the threshold that costs least on development data.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    weight : float
        The weight of false matches in the cost.
    threshold : float
        The threshold found on development data.
    estimate, low, high : float
        The mean of FMR and FNMR in the evaluation data, with its interval.
    fmr, fnmr : float
        The two rates.
    cost : float
        The least cost on development data, ``weight * FMR + (1 - weight) * FNMR``.
    note : str
        Warnings for the reader.
    """

    group: str | None
    weight: float
    threshold: float
    estimate: float
    low: float
    high: float
    fmr: float
    fnmr: float
    cost: float
    note: str = ""


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
    def of(self, name: str, group: str | None = None) -> tuple[RateAtThreshold, ...]:
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
        validation.choice("name", name, ERROR_RATES)
        if group is not None:
            validation.choice("group", group, self.groups)
        return tuple(row for row in self.rates if (row.name, row.group) == (name, group))

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        text = []
        for k in dict.fromkeys((0, len(self.thresholds) // 2, len(self.thresholds) - 1)):
            both = [self.of(name)[k] for name in ERROR_RATES]
            said = " and ".join(
                f"the {one.name.upper()} {rate_with_interval(one.estimate, one.low, one.high)}" for one in both
            )
            text.append(f"At the threshold {self.thresholds[k]:g} is {said}.")
        return "\n".join(map(visible, text))

    @checked
    def plot(self, ax: Axes | None = None, *, rate: str | None = None) -> Axes:
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
        validation.choice("rate", rate, ERROR_RATES)
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
        if group is not None:
            validation.choice("group", group, self.groups)
        return tuple(row for row in self.errors if row.group == group)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        rows = self.of()
        best, worst = min(rows, key=lambda row: row.estimate), max(rows, key=lambda row: row.estimate)
        text = [
            f"At thresholds that cost least on the development data the half total error rate lies between "
            f"{rate_with_interval(best.estimate, best.low, best.high)}, where false matches have the weight "
            f"{best.weight:g}, and {rate_with_interval(worst.estimate, worst.low, worst.high)}, at {worst.weight:g}.",
            "Intervals are for these very thresholds.",
        ]
        return "\n".join(map(visible, text))

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


def _draw_over(
    places: Floats, curves: Mapping[str, Sequence[RateAtThreshold] | Sequence[ExpectedError]], label: str,
    ax: Axes | None,
) -> Axes:  # fmt: skip
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


def _end(threshold: float) -> str:
    return "no limit" if math.isinf(threshold) else f"{threshold:g}"
