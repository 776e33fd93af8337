"""`RatesOverThresholds` and `ExpectedPerformance`: error rates at many thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import rate_with_interval
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.errors import visible

from .curve_rows import ExpectedError, RateAtThreshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RatesOverThresholds(Tabular):
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

    def _content(self) -> dict[str, Any]:
        return {"confidence_level": self.confidence_level, "rates": records(self._columns())}

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rates)

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
        from .plots import draw_over

        if rate is None:
            return draw_over(self.thresholds, {name.upper(): self.of(name) for name in ERROR_RATES}, "Error rate", ax)
        validation.choice("rate", rate, ERROR_RATES)
        curves = {group or "all": self.of(rate, group) for group in (self.groups or (None,))}
        return draw_over(self.thresholds, curves, rate.upper(), ax)


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedPerformance(Tabular):
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

    def _content(self) -> dict[str, Any]:
        return {"confidence_level": self.confidence_level, "errors": records(self._columns())}

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.errors)

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
        from .plots import draw_expected

        return draw_expected({group: self.of(group) for group in (self.groups or (None,))}, ax)
