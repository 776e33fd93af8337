"""`IntervalMaker`: what gives an evaluation's quantities intervals of any level, to both sides or to one."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fastfair.errors import InputError

from .interval_notes import one_sided
from .quantities import Quantity


class IntervalMaker(ABC):
    """Gives the quantities of an evaluation intervals, from replicates or in closed form."""

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
        return found if alternative == "two-sided" else tuple(one_sided(quantity, alternative) for quantity in found)

    @abstractmethod
    def _pointwise(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Return the quantities with two-sided intervals, each of the level."""

    @abstractmethod
    def _simultaneous(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Return the quantities with two-sided intervals, those of groups wide enough to hold together."""


def two_sided_level(confidence_level: float) -> float:
    """Return the level of the interval whose limits are one-sided ones of another level, above 0.5."""
    if confidence_level <= 0.5:
        raise InputError(
            f"confidence_level must be above 0.5 for a limit to one side, not {confidence_level:g}: below that the "
            "limit would lie beyond the estimate"
        )
    return 2 * confidence_level - 1
