"""`Evaluated`: what plots and pages need to know of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import Rates
from fastfair.errors import InputError
from fastfair.uncertainty.quantities import Quantity

if TYPE_CHECKING:
    from .traces import Traces


class Evaluated(Protocol):
    """The attributes of `Evaluation` that plots and pages read."""

    @property
    def quantities(self) -> tuple[Quantity, ...]: ...  # noqa: D102
    @property
    def rates(self) -> tuple[Rates, ...]: ...  # noqa: D102
    @property
    def groups(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def measured_groups(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def description(self) -> str: ...  # noqa: D102
    @property
    def comparisons(self) -> Comparisons | None: ...  # noqa: D102
    @property
    def traces(self) -> Traces | None: ...  # noqa: D102
    @property
    def left_out(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def n_subjects(self) -> int | None: ...  # noqa: D102


def comparisons_of(evaluation: Evaluated) -> Comparisons:
    """Return the comparisons behind an evaluation, or say that it was made without them."""
    if evaluation.comparisons is None:
        raise InputError(
            "this evaluation has no comparisons, which this plot is drawn from: take the evaluation that evaluate "
            "returned, of comparisons in memory"
        )
    return evaluation.comparisons


def has_curves(evaluation: Evaluated) -> bool:
    """Return whether there is what DET curves and distributions of scores are drawn from."""
    return evaluation.comparisons is not None or evaluation.traces is not None


def interval_name(settings: dict[str, Any]) -> str:
    """Name the intervals of an evaluation, such as "95 % interval, for all groups together"; empty without."""
    if "confidence_level" not in settings:
        return ""
    side = {"less": "upper limit", "greater": "lower limit"}.get(settings["alternative"], "interval")
    together = ", for all groups together" if settings["simultaneous"] else ""
    return f"{100 * settings['confidence_level']:g} % {side}{together}"
