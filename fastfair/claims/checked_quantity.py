"""`CheckedQuantity`: one quantity that is required of something, its limits and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.measures._names import printed_name
from fastfair.uncertainty.quantities import TakenAt

MET, NOT_MET = "met", "not met"
_IN_PER_CENT = ("fmr", "fnmr", "eer")


def written_value(name: str, value: float) -> str:
    """Write a value of a quantity: rates in per cent, all else as a number."""
    return "-" if math.isnan(value) else per_cent(value) if name in _IN_PER_CENT else f"{value:.4g}"


@dataclass(frozen=True)
class CheckedQuantity(TakenAt):
    """One quantity that a requirement is about, the limits of what it may be, and the verdict.

    Attributes
    ----------
    requirement : str
        The requirement, as it was written.
    name : str
        The quantity, as in `Quantity`.
    group : str or None
        Its group; None for all comparisons and measures over all groups.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How it must lie to the bound.
    bound : float
        What it is compared with.
    estimate : float
        Its value in the data.
    limit : float
        The one-sided limit that has to meet the requirement: the upper one for "<=" and "<", else the lower one. NaN
        where there is none.
    opposite_limit : float
        The one-sided limit on the other side, at a level adjusted for the number of quantities; beyond the bound, it
        shows that the requirement is not met.
    verdict : {"met", "not met", "undecided"}
        Whether the data show, at the level, that the requirement is met, that it is not, or neither.
    reason : str
        Why.
    n_comparisons, n_errors, n_subjects : int or None
        Numbers behind a rate; None for other quantities.
    flags : str
        Codes of what puts the limit in doubt, as in `Quantity`.
    """

    requirement: str
    name: str
    group: str | None
    at: OperatingPoint | None
    relation: str
    bound: float
    estimate: float
    limit: float
    opposite_limit: float
    verdict: str
    reason: str
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    flags: str = ""

    @property
    def title(self) -> str:
        """What people call the quantity, such as "FNMR of f at FMR=0.001"."""
        of_group = "" if self.group is None else f" of {self.group}"
        return f"{printed_name(self.name)}{of_group}{'' if self.at is None else f' at {self.at}'}"
