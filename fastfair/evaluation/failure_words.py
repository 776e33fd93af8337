"""What summaries and tables say of comparisons that failed."""

from __future__ import annotations

from fastfair._lib.text import rate_with_interval
from fastfair.measures._names import printed_name
from fastfair.uncertainty.quantities import FAILURE_RATES, WITH_FAILURES, Quantity, find

from .evaluated import Evaluated
from .rates_table import rate_cell

CLASSES = ("mated", "non-mated")
_AS_NONMATCHES = (
    "They count as non-matches at every threshold: FNMR is here the false rejection rate (FRR), and FMR the false "
    "acceptance rate (FAR), of ISO/IEC 19795-1, and so are the measures made of them."
)
_LEFT_OUT = "They are left out of FNMR and FMR, and of the measures; the FRR and the FAR count them as non-matches."


def has_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation reports how often comparisons failed."""
    return any(one.name in FAILURE_RATES for one in evaluation.quantities)


def failure_rates_of(evaluation: Evaluated, group: str | None) -> list[Quantity]:
    """Return the shares of mated and of non-mated comparisons that failed, of all or of a group."""
    return [find(evaluation.quantities, name, group, None) for name in FAILURE_RATES]


def sentences_on_failures(evaluation: Evaluated) -> list[str]:
    """Say how many comparisons failed, and what became of them."""
    parts = [
        f"{one.n_errors:,} of {one.n_comparisons:,} {kind} comparisons failed "
        f"({rate_with_interval(one.estimate, one.low, one.high)})"
        for one, kind in zip(failure_rates_of(evaluation, None), CLASSES, strict=True)
    ]
    said = [f"{' and '.join(parts)}.", _LEFT_OUT if has_rates_with_failures(evaluation) else _AS_NONMATCHES]
    for rates in evaluation.rates if has_rates_with_failures(evaluation) else ():
        frr, far = (find(evaluation.quantities, name, None, rates.at) for name in WITH_FAILURES)
        written = [rate_with_interval(one.estimate, one.low, one.high) for one in (frr, far)]
        said.append(f"At {rates.at} the FRR is {written[0]} and the FAR is {written[1]}.")
    return said


def has_rates_with_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation has FRRs and FARs beside FNMRs and FMRs."""
    return any(one.name in WITH_FAILURES for one in evaluation.quantities)


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
