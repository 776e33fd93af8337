"""`IntervalMaker`: what gives an evaluation's quantities intervals of any level, to both sides or to one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fastfair.error_rates.score_metrics import DetectionCosts
from fastfair.errors import InputError

from .few_held_errors import FewHeld, FewHeldErrors
from .interval_notes import WITH_FAILURES, one_sided, possible_values
from .quantities import BELOW_RESOLUTION, Quantity, noted


class IntervalMaker(ABC):
    """Gives the quantities of an evaluation intervals, from replicates or in closed form.

    Attributes
    ----------
    costs : DetectionCosts or None
        The costs of DCFs, which bound them.
    few_held : FewHeld or None
        The limits of quantities at thresholds that few errors hold.
    places : sequence of int
        The place of each quantity among the entries of `few_held`; of an FRR or FAR, that of the FNMR or FMR.
    """

    costs: DetectionCosts | None
    few_held: FewHeld | None
    places: Sequence[int]

    def with_intervals(
        self, confidence_level: float, method: str, alternative: str = "two-sided", simultaneous: bool = False
    ) -> tuple[Quantity, ...]:
        """Return the quantities with intervals, or with one limit and the bound of what is possible.

        Parameters
        ----------
        confidence_level, method, alternative, simultaneous
            As in `evaluate`. Simultaneous intervals of a quantity hold in all groups together.

        Returns
        -------
        tuple of Quantity
        """
        level = confidence_level if alternative == "two-sided" else two_sided_level(confidence_level)
        found = self._simultaneous(level, method) if simultaneous else self._pointwise(level, method)
        found = _far_within_fmr(found)
        return found if alternative == "two-sided" else tuple(one_sided(q, alternative, self.costs) for q in found)

    @abstractmethod
    def _pointwise(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Return the quantities with two-sided intervals, each of the level."""

    @abstractmethod
    def _simultaneous(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Return the quantities with two-sided intervals, those of groups wide enough to hold together."""

    def _within_few_held(self, quantity: Quantity, row: int, confidence_level: float) -> Quantity:
        """Widen the interval of a quantity at a threshold that few errors hold."""
        few_held, place = self.few_held, self.places[row] if self.places else -1
        limits = None if few_held is None else few_held.limits(place, confidence_level)
        if limits is None or math.isnan(quantity.estimate):
            return quantity
        if quantity.low is not None and quantity.high is not None and not math.isnan(quantity.low):
            ends = [limits.low, limits.high]
            if quantity.name in WITH_FAILURES and isinstance(few_held, FewHeldErrors):
                ends = [_with_failures(quantity, few_held.value(place), end) for end in ends]
            least, most = possible_values(quantity.name, self.costs)
            low, high = max(least, np.fmin(quantity.low, ends[0])), min(most, np.fmax(quantity.high, ends[1]))
            quantity = replace(quantity, low=float(low), high=float(high))
        return noted(quantity, limits.missing, BELOW_RESOLUTION) if limits.missing else quantity


def _with_failures(quantity: Quantity, scored: float, rate: float) -> float:
    """Return what an FRR or FAR would be with another FNMR or FMR, of which `scored` is that in the data."""
    if quantity.name == "far":
        return rate * quantity.estimate / scored if scored else rate
    failed = (quantity.estimate - scored) / (1 - scored) if scored < 1 else 0.0
    return failed + (1 - failed) * rate


def _far_within_fmr(quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """Let no interval of a FAR reach above that of the FMR, which a FAR never exceeds."""
    tops = {(q.group, q.at): q.high for q in quantities if q.name == "fmr" and q.high is not None}

    def within(quantity: Quantity) -> Quantity:
        top = tops.get((quantity.group, quantity.at), math.nan)
        if quantity.name != "far" or quantity.low is None or quantity.high is None or not quantity.high > top:
            return quantity
        return replace(quantity, low=min(quantity.low, top), high=top)

    return tuple(map(within, quantities))


def two_sided_level(confidence_level: float) -> float:
    """Return the level of the interval whose limits are one-sided ones of another level, above 0.5."""
    if confidence_level <= 0.5:
        raise InputError(
            f"confidence_level must be above 0.5 for a limit to one side, not {confidence_level:g}: below that the "
            "limit would lie beyond the estimate"
        )
    return 2 * confidence_level - 1
