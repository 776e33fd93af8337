"""Intervals of error rates without replicates, from standard errors in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.errors import InputError
from fastfair.resampling.comparison_replicates import Resampler
from fastfair.resampling.linearized_rates import LinearizedRates

from .degrees_of_freedom import degrees_of_freedom
from .entries import Entry
from .few_held_errors import FewHeldErrors
from .interval_maker import IntervalMaker
from .interval_notes import (
    CLOSED_FORM,
    RATES,
    Case,
    are_concentrated,
    has_few_false_matches,
    rests_on_any,
    with_interval,
)
from .one_more_subject import attempts_of_one_more, raised_by_one_more
from .quantities import HELD, Quantity
from .simultaneous import families
from .zero_errors import independent_comparisons

Floats = NDArray[np.float64]


@dataclass(eq=False)
class ClosedForm(IntervalMaker):
    """The standard errors of an evaluation's rates, and all else that their intervals are computed from.

    Attributes
    ----------
    quantities : tuple of Quantity
        The quantities, without intervals.
    errors : (quantities,) ndarray
        Standard error of each rate; NaN for all other quantities, which get no interval.
    held : (quantities,) ndarray of bool
        Thresholds that were given, and rates that operating points hold.
    unit : str
        "subject" or "comparison".
    freedom, independent, raised : (quantities,) ndarray
        As in `Uncertainty`.
    few_held, places
        As in `IntervalMaker`.
    """

    quantities: tuple[Quantity, ...]
    errors: Floats
    held: NDArray[np.bool_]
    unit: str
    freedom: Floats
    independent: Floats
    raised: Floats
    few_held: FewHeldErrors
    places: Sequence[int]
    costs: None = None  # no cost has an interval

    def _pointwise(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        return self._of_rows(range(len(self.quantities)), confidence_level, method)

    def _simultaneous(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Widen the intervals of groups as if these were independent, which is Sidak's way."""
        found = list(self._pointwise(confidence_level, method))
        for rows in families(self.quantities):
            rows = [k for k in rows if found[k].low is not None and not math.isnan(found[k].low or 0.0)]
            level = confidence_level ** (1 / max(1, len(rows)))
            for k, wider in zip(rows, self._of_rows(rows, level, method), strict=True):
                found[k] = replace(found[k], low=wider.low, high=wider.high)
        return tuple(found)

    def _of_rows(self, rows: Sequence[int], confidence_level: float, method: str) -> tuple[Quantity, ...]:
        if method != "auto":
            raise InputError(f'method="{method}" needs replicates: evaluate with n_resamples > 0, or method="auto"')
        estimates = np.array([self.quantities[k].estimate for k in rows])
        errors, freedom = self.errors[list(rows)], self.freedom[list(rows)]
        known = ~np.isnan(errors) & (estimates >= 0) & (estimates <= 1)
        low, high = np.full((2, len(rows)), np.nan)
        low[known], high[known] = intervals.logit_interval(
            estimates[known], errors[known], freedom[known], confidence_level
        )
        concentrated = [q for q in self.quantities if are_concentrated(q)]
        found = []
        for row, k in enumerate(rows):
            quantity, held = self.quantities[k], bool(self.held[k])
            if math.isnan(errors[row]) and not held:
                found.append(self._within_few_held(quantity, k, confidence_level))
                continue
            case = Case(
                quantity if held else replace(quantity, standard_error=float(errors[row])),
                low=float(low[row]), high=float(high[row]), made_by=CLOSED_FORM, method=method, shift=0.0,
                varies=bool(errors[row] > 0), held=held, unit=self.unit, confidence_level=confidence_level,
                independent=float(self.independent[k]), concentrated=rests_on_any(quantity, concentrated),
                few=has_few_false_matches(quantity), raised=float(self.raised[k]), freedom=float(self.freedom[k]),
            )  # fmt: skip
            found.append(self._within_few_held(with_interval(case), k, confidence_level))
        return tuple(found)


def closed_form(
    quantities: tuple[Quantity, ...], entries: Sequence[Entry], held: Sequence[bool], resampler: Resampler
) -> ClosedForm:
    """Compute what intervals without replicates are made of.

    Parameters
    ----------
    quantities : tuple of Quantity
        The quantities of an evaluation, without intervals.
    entries : sequence of Entry
        The same, as numbers.
    held : sequence of bool
        Which of them are thresholds that were given.
    resampler : Resampler
        What would draw the replicates of rates. Its units are subjects or comparisons.

    Returns
    -------
    ClosedForm
    """
    comparisons, rates = resampler.prepared.comparisons, LinearizedRates(resampler.prepared)
    own = {group: (k, k) for k, group in enumerate(comparisons.groups)}
    places = {
        k: (entry.name == "fnmr", entry.point, entry.cell or own.get(entry.group or ""))
        for k, entry in enumerate(entries)
        if entry.name in RATES and entry.point is not None
    }
    at_given = degrees_of_freedom(entries, comparisons, resampler, of_held=False)
    attempts = attempts_of_one_more(entries, resampler)
    errors = np.array([rates.standard_error(*places[k]) if k in places else math.nan for k in range(len(entries))])
    of_points = np.array([HELD in quantity.note for quantity in quantities], bool)
    # A rate of 0 or 1 is not held, but all that the data have below, or above, what is asked for.
    at_ends = of_points & np.array([entry.value in (0, 1) for entry in entries], bool)
    return ClosedForm(
        quantities,
        np.where(at_ends, 0.0, errors),
        np.array(held, bool) | (of_points & ~at_ends),
        resampler.units.unit,
        degrees_of_freedom(entries, comparisons, resampler),
        independent_comparisons(entries, comparisons.groups, resampler),
        raised_by_one_more(entries, attempts, resampler),
        FewHeldErrors(entries, resampler, at_given, attempts),
        range(len(entries)),
    )
