"""`ErrorModel` and `StratifiedRates`: what attributes do to errors, and rates within strata, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.arguments import checked
from fastfair._lib.axes import axes_or_new
from fastfair._lib.plot_style import COLORS, LONGEST_LABEL, row_size
from fastfair._lib.text import per_cent, shortened
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import METRICS
from fastfair.results.charts import Bar, Line, draw_rows
from fastfair.results.result import Result

from .designs import DIFFERENT
from .stratifying import StratifiedDifference, StratifiedRate, in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "D", "s", "^")  # of values that share a colour


@dataclass(frozen=True)
class Effect:
    """What one value of an attribute does to the odds of an error, with the other attributes held fixed.

    Attributes
    ----------
    attribute, value, baseline : str
        The attribute, its value and the value it is compared with; of FMR each is that of both sides. "different" and
        "same" stand for the two sides having different values, or one.
    odds_ratio, low, high : float
        By what the odds of an error are multiplied, and the interval; NaN where the data do not determine it.
    standard_error, degrees_of_freedom : float
        Those of the logarithm of the odds ratio.
    pvalue : float
        Two-sided p-value of an odds ratio of 1.
    difference, difference_low, difference_high : float
        The average marginal effect: how much larger the rate of all comparisons would be if each of them had the value
        than if each had the baseline, and its interval. The other attributes are as in the data.
    n_comparisons, n_errors : int
        Numbers of comparisons that have the value on either side, and of errors among them.
    note : str
        Warnings for the reader.
    """

    attribute: str
    value: str
    baseline: str
    odds_ratio: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    pvalue: float
    difference: float
    difference_low: float
    difference_high: float
    n_comparisons: int
    n_errors: int
    note: str = ""


@dataclass(frozen=True)
class AttributeTest:
    """A test of all effects of an attribute at once.

    Attributes
    ----------
    attribute : str
        The attribute.
    statistic : float
        Hotelling's statistic as an F.
    n_effects : int
        The number of effects that the data determine.
    degrees_of_freedom : float
        Of the effects' variances, the median.
    pvalue : float
        The p-value of the attribute having no effect; NaN where too few subjects are behind so many effects.
    """

    attribute: str
    statistic: float
    n_effects: int
    degrees_of_freedom: float
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class ErrorModel(Result):
    """The result of `error_model`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Whether it is of false matches or of false non-matches.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    baseline : dict of str to str
        The value of each attribute with which the others are compared.
    effects : tuple of Effect
        The effects of the attributes' values.
    tests : tuple of AttributeTest
        A test of each attribute.
    contradictions : tuple of StratifiedDifference
        Values of one attribute whose order is another within the values of a second than overall.
    confidence_level : float
        Of the intervals.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    baseline: dict[str, str]
    effects: tuple[Effect, ...]
    tests: tuple[AttributeTest, ...]
    contradictions: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_comparisons: int
    n_errors: int
    n_subjects: int | None
    settings: dict[str, Any]

    _title = "Which attributes go with errors?"
    _rows = "effects"

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        who = "every comparison taken for independent" if self.n_subjects is None else f"{self.n_subjects:,} subjects"
        rate = METRICS[self.rate]
        text = [
            f"A logit of {rate.errors} on {' and '.join(self.baseline)} at {self.at}, the threshold taken as "
            f"given: {self.n_errors:,} errors in {self.n_comparisons:,} {rate.sides[0]} comparisons, {who}."
        ]
        for effect in self.effects:
            text.append(self._sentence(effect))
        for test in self.tests:
            if test.n_effects > 1 and not math.isnan(test.pvalue):
                text.append(f"{test.attribute} as a whole, {test.n_effects} effects: p = {test.pvalue:.2g}.")
        for one in self.contradictions:
            text.append(f"Overall and within {one.strata} the data say different things: {in_words(one, self.rate)}.")
        return "\n".join(map(visible, text))

    def _sentence(self, effect: Effect) -> str:
        both = "both " if self.rate == "fmr" and effect.value != DIFFERENT else ""
        odds = f"times the odds of a {METRICS[self.rate].error}"
        name = f"{effect.attribute}, {both}{effect.value} against {both}{effect.baseline}"
        if math.isnan(effect.odds_ratio):
            if math.isnan(effect.pvalue):
                return f"{name}: not known, {effect.note}."
            limit = f"at most {effect.high:.3g}" if effect.low == 0 else f"at least {effect.low:.3g}"
            return f"{name}: {limit} {odds}, p = {effect.pvalue:.2g} ({effect.note})."
        change = ""
        if not math.isnan(effect.difference):
            change = (
                f"; {100 * effect.difference:+.3g} percentage points "
                f"[{100 * effect.difference_low:.3g}, {100 * effect.difference_high:.3g}]"
            )
        note = f" ({effect.note})" if effect.note else ""
        return (
            f"{name}: {effect.odds_ratio:.3g} {odds} "
            f"[{effect.low:.3g}, {effect.high:.3g}]{change}, p = {effect.pvalue:.2g}{note}."
        )

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the odds ratios with their intervals, one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        names = list(dict.fromkeys(effect.attribute for effect in self.effects))
        bars = [
            Bar(y, e.odds_ratio, e.low, e.high, color=COLORS[names.index(e.attribute) % len(COLORS)])
            for y, e in enumerate(self.effects)
            if not math.isnan(e.odds_ratio)
        ]
        labels = [f"{e.attribute}: {e.value} against {e.baseline}" for e in self.effects]
        xlabel = f"Odds ratio of a {METRICS[self.rate].error},\nother attributes held fixed"
        return draw_rows(ax, labels, bars, [Line(1)], xlabel=xlabel, logarithmic=True, per_cent=False)


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedRates(Result):
    """The result of `stratified_rates`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Which rate.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    by, strata : str
        The attribute whose values are compared, and those that make the strata.
    mix : tuple of (str, float)
        The share of each stratum in standardised rates; 0 for those in which some value has no comparisons.
    rates : tuple of StratifiedRate
        For each value its rate overall, the standardised one, and those within strata.
    differences : tuple of StratifiedDifference
        Each two values compared.
    confidence_level : float
        Of the intervals.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    by: str
    strata: str
    mix: tuple[tuple[str, float], ...]
    rates: tuple[StratifiedRate, ...]
    differences: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_subjects: int | None
    settings: dict[str, Any]

    _title = "Rates within strata"
    _rows = "rates"

    @property
    def contradictions(self) -> tuple[StratifiedDifference, ...]:
        """The differences in which the margin and the strata contradict each other."""
        return tuple(one for one in self.differences if one.contradicts)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        text = [f"{self.rate.upper()} by {self.by} at {self.at}, overall and with the same mix of {self.strata}:"]
        for value in dict.fromkeys(row.value for row in self.rates):
            margin, same = (row for row in self.rates if row.value == value and row.stratum is None)
            text.append(f"{value}: {_interval(margin)} overall, {_interval(same)} with the same mix.")
        lost = [name for name, share in self.mix if not share]
        if lost:
            text.append(f"Left out of the mix, as not every value has comparisons there: {', '.join(lost)}.")
        for one in self.contradictions:
            text.append(f"Overall and within {one.strata} the data say different things: {in_words(one, self.rate)}.")
        if not self.contradictions:
            text.append("Nowhere do rates overall and within strata contradict each other.")
        return "\n".join(map(visible, text))

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each value overall, with the same mix, and in each stratum.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        values = list(dict.fromkeys(row.value for row in self.rates))
        strata = dict.fromkeys(row.stratum for row in self.rates if row.stratum)
        places = ["overall", f"same mix of {self.strata}", *strata]
        width, height = row_size(places)
        ax = axes_or_new(ax, (width, height + 0.12 * len(values) * len(places) + 0.2 * len(values)))
        steps = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
        bars = []
        for k, (value, step) in enumerate(zip(values, steps, strict=True)):
            color, marker = COLORS[k % len(COLORS)], _MARKERS[k // len(COLORS) % len(_MARKERS)]
            for row in self.rates:
                if row.value == value and not math.isnan(row.estimate):
                    y = places.index(row.stratum or places[int(row.standardised)]) + step
                    ends = row.estimate, row.low, row.high
                    bars.append(Bar(y, *ends, color=color, marker=marker, label=shortened(value, LONGEST_LABEL)))
        logarithmic = self.rate == "fmr" and any(bar.value > 0 for bar in bars)
        ax = draw_rows(ax, places, bars, xlabel=METRICS[self.rate].long_title, logarithmic=logarithmic)
        ax.axhline(1.5, color="0.7", linewidth=0.8)
        return ax


def _interval(row: StratifiedRate) -> str:
    return f"{per_cent(row.estimate)} [{per_cent(row.low)}, {per_cent(row.high)}]"
