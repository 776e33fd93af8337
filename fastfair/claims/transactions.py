"""FRR and FAR of transactions in claims and checks: they are judged as FNMR and FMR of comparisons
are, at thresholds that attempts give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastfair.data.comparisons import Comparisons
from fastfair.data.transactions import FRR_AND_FAR
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.evaluation.transactions import point_of

from .requirements import Requirement


def names_of_rates(data: object) -> Mapping[str, str]:
    """Return what the rates of comparisons are called where these are transactions; else
    nothing.
    """
    is_made = isinstance(data, Comparisons) and data.transactions is not None
    return FRR_AND_FAR if is_made else {}


def of_transactions(comparisons: Comparisons, wanted: Sequence[Requirement]) -> list[Requirement]:
    """Return requirements on transactions, at the thresholds that their attempts give.

    Raises
    ------
    InputError
        For FNMR and FMR, which are rates of attempts.
    """
    for rule in wanted:
        if rule.name in FRR_AND_FAR and not rule.counts_failures:
            raise InputError(
                f"requirement {rule.text!r}: these are transactions, and FNMR and FMR are rates of"
                f" their attempts: write {FRR_AND_FAR[rule.name]}, or give the attempts"
            )
    return [
        rule if rule.at is None else replace(rule, at=point_of(comparisons, rule.at))
        for rule in wanted
    ]


def point_of_claim(comparisons: Comparisons, at: OperatingPoint | None) -> OperatingPoint | None:
    """Return the operating point of a claim on transactions as a threshold."""
    return None if at is None else point_of(comparisons, at)
