"""The rows of a calibration's tables: costs of applications, Cllr, differences between groups, fairness measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from fastfair._lib.tables import columns_of
from fastfair.measures._names import printed_name
from fastfair.uncertainty.quantities import Quantity

from .applications import Application

MISCALIBRATED, DIFFERENT, UNDECIDED = "miscalibrated", "different", "undecided"


class _OfApplication:
    """A row that belongs to an application, whose text, prior and costs stand in tables and files."""

    @classmethod
    def _columns_of(cls, rows: Sequence[Any]) -> dict[str, list[Any]]:
        """Return the columns of some rows; none where there are no rows."""
        if not rows:
            return {}
        columns = columns_of(rows)
        asked = columns.pop("application")
        parts = {name: [getattr(one, name) for one in asked] for name in ("p_target", "c_miss", "c_fa")}
        return {"application": [str(one) for one in asked]} | parts | columns

    @classmethod
    def _of_record(cls, record: Mapping[str, Any]) -> Self:
        """Make a row of a record that was written, in which null stands for numbers that there are none of."""
        application = Application(*(record[name] for name in ("p_target", "c_miss", "c_fa")))
        kept = {
            one.name: math.nan if record[one.name] is None and one.type == "float" else record[one.name]
            for one in fields(cls)  # type: ignore[arg-type]  # each is a dataclass
            if one.name != "application"
        }
        return cls(application=application, **kept)  # type: ignore[call-arg]


@dataclass(frozen=True)
class ApplicationCost(_OfApplication):
    """What decisions cost in one application, of all comparisons or of a group.

    Attributes
    ----------
    application : Application
        Prior and costs.
    group : str or None
        The group; None for all comparisons.
    threshold : float
        The Bayes threshold.
    actual, actual_low, actual_high : float
        Cost of the decisions at the Bayes threshold, with its interval.
    minimum, minimum_low, minimum_high : float
        Cost at the best threshold, with its interval.
    miscalibration, miscalibration_low, miscalibration_high : float
        Actual minus minimum cost, with its interval. The estimate lies too high by chance, as the minimum is looked for
        in the same comparisons.
    cllr, cllr_low, cllr_high : float
        Cllr at the prior that, with equal costs, has the same threshold.
    pvalue : float
        p-value of the hypothesis that no threshold that is 1, 2 or 4 to either side costs less.
    pvalue_adjusted : float
        For a group, the same after Holm's adjustment for the number of groups.
    verdict : {"miscalibrated", "undecided", ""}
        Whether the adjusted p-value is at most one minus the confidence level; empty without one.
    fnmr, fmr : float
        Error rates at the Bayes threshold.
    n_mated, n_nonmated, n_false_nonmatches, n_false_matches : int
        Numbers of comparisons and of errors.
    note : str
        Warnings for the reader.
    """

    application: Application
    group: str | None
    threshold: float
    actual: float
    actual_low: float
    actual_high: float
    minimum: float
    minimum_low: float
    minimum_high: float
    miscalibration: float
    miscalibration_low: float
    miscalibration_high: float
    cllr: float
    cllr_low: float
    cllr_high: float
    pvalue: float
    pvalue_adjusted: float
    verdict: str
    fnmr: float
    fmr: float
    n_mated: int
    n_nonmated: int
    n_false_nonmatches: int
    n_false_matches: int
    note: str = ""


@dataclass(frozen=True)
class RatioCost:
    """Cllr at even odds of all comparisons or of a group, and what of it a calibration could save.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    cllr, cllr_low, cllr_high : float
        Cllr, with its interval.
    minimum, minimum_low, minimum_high : float
        min Cllr, with its interval.
    loss, loss_high : float
        Cllr minus min Cllr, with an upper limit. There is no lower limit, as the estimate lies too high by chance.
    """

    group: str | None
    cllr: float
    cllr_low: float
    cllr_high: float
    minimum: float
    minimum_low: float
    minimum_high: float
    loss: float
    loss_high: float

    @classmethod
    def _of_record(cls, record: Mapping[str, Any]) -> Self:
        """Make a row of a record that was written."""
        return cls(record["group"], *(math.nan if v is None else v for n, v in record.items() if n != "group"))


@dataclass(frozen=True)
class CostDifference(_OfApplication):
    """The difference between two groups in what decisions cost.

    Attributes
    ----------
    application : Application
        Prior and costs.
    quantity : {"act_dcf", "miscalibration"}
        What is compared: the actual cost, or actual minus minimum cost.
    first, second : str
        The groups.
    difference, low, high : float
        That of the first minus that of the second, with its interval.
    simultaneous_low, simultaneous_high : float
        Interval that holds for all pairs of groups together.
    verdict : {"different", "undecided", ""}
        Whether the simultaneous interval leaves out 0; empty without one.
    """

    application: Application
    quantity: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    verdict: str

    @property
    def costlier_first(self) -> tuple[str, str]:
        """Both groups, the one with the larger cost first."""
        return (self.first, self.second) if self.difference > 0 else (self.second, self.first)


@dataclass(frozen=True)
class CostMeasure(_OfApplication):
    """A fairness measure of costs.

    Attributes
    ----------
    application : Application
        Prior and costs.
    name : str
        The measure followed by its base metric, such as "nrb(act_dcf)": "act_dcf", "min_dcf", or "cllr" at the
        application's prior.
    group : str or None
        The group, where the measure has a value for each.
    estimate, low, high : float
        The value, with its interval; NaN where it is not computable, and `note` says why.
    note : str
        Warnings for the reader.
    """

    application: Application
    name: str
    group: str | None
    estimate: float
    low: float
    high: float
    note: str = ""

    @classmethod
    def _of(cls, application: Application, quantity: Quantity) -> Self:
        """Make a row of a quantity."""
        low, high = (math.nan if end is None else end for end in (quantity.low, quantity.high))
        return cls(application, quantity.name, quantity.group, quantity.estimate, low, high, quantity.note)

    @property
    def title(self) -> str:
        """Name for print."""
        return printed_name(self.name)
