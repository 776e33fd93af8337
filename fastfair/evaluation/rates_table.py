"""The tables of groups that the terminal prints, and that `Evaluation.summary` ends with."""

from __future__ import annotations

from typing import Any

from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.measures._registry import printed_name
from fastfair.uncertainty.quantities import FAILURE_RATES, Quantity, find, in_words

from .evaluated import Evaluated

FEW_ERRORS = f"* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of {ENOUGH_ERRORS})"
_METRICS = ("eer", "min_dcf")  # of groups, beside the rates at the first operating point


def rates_table(evaluation: Evaluated, rates: Rates) -> tuple[list[str], list[list[str]]]:
    """Write rates and counts of all comparisons and of each group at an operating point.

    Parameters
    ----------
    evaluation : Evaluated
        The evaluation.
    rates : Rates
        Those of one of its operating points; EER and minDCF stand beside those of the first.

    Returns
    -------
    headings : list of str
        The first is that of groups.
    rows : list of list of str
        All comparisons, then each group.
    """
    found = {one.key: one for one in evaluation.quantities}
    is_first = rates is evaluation.rates[0]
    metrics = [name for name in _METRICS if is_first and (name, None, None, None) in found]
    shown = ["fmr", "fnmr", *(name for name in ("far", "frr") if (name, None, None, rates.at) in found)]
    headings = ["group", *map(printed_name, (*shown, *metrics))]
    headings += ["mated", "non-mated", "false matches", "false non-matches", "subjects"]
    counts = rates.counts
    numbers: list[tuple[Any, ...]] = [
        (counts.mated, counts.nonmated, counts.false_matches, counts.false_nonmatches, counts.nonmated_subjects)
    ]
    subjects = counts.group_nonmated_subjects
    for k in range(len(rates.groups)):
        per_group = counts.group_mated, counts.group_nonmated, counts.group_false_matches, counts.group_false_nonmatches
        numbers.append((*(column[k] for column in per_group), None if subjects is None else subjects[k]))
    rows = []
    for group, behind in zip((None, *rates.groups), numbers, strict=True):
        row = [group or "all", *(rate_cell(found[name, group, None, rates.at]) for name in shown)]
        for name in metrics:
            row.append(in_words(found[name, group, None, None]))
        rows.append([*row, *("" if number is None else f"{number:,}" for number in behind)])
    return headings, rows


def rate_cell(quantity: Quantity) -> str:
    """Write a rate with its interval, and a star where fewer than 30 errors are behind it."""
    few = quantity.n_errors is not None and quantity.n_errors < ENOUGH_ERRORS and bool(quantity.n_comparisons)
    return in_words(quantity) + ("*" if few else " ")


def has_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation reports how often comparisons failed."""
    return any(one.name in FAILURE_RATES for one in evaluation.quantities)


def failure_rates_of(evaluation: Evaluated, group: str | None) -> list[Quantity]:
    """Return the shares of mated and of non-mated comparisons that failed, of all or of a group."""
    return [find(evaluation.quantities, name, group, None) for name in FAILURE_RATES]


def failures_table(evaluation: Evaluated) -> tuple[list[str], list[list[str]]]:
    """Write the rates of failure of all comparisons and of each group, with the numbers behind them.

    Parameters
    ----------
    evaluation : Evaluated
        An evaluation that has them.

    Returns
    -------
    headings : list of str
        The first is that of groups.
    rows : list of list of str
        All comparisons, then each group.
    """
    headings = ["group", *map(printed_name, FAILURE_RATES), "mated failed", "mated", "non-mated failed", "non-mated"]
    rows = []
    for group in (None, *evaluation.groups):
        found = failure_rates_of(evaluation, group)
        counts = [f"{number:,}" for one in found for number in (one.n_errors, one.n_comparisons)]
        rows.append([group or "all", *map(rate_cell, found), *counts])
    return headings, rows
