"""FRR and FAR of transactions in claims and checks: they are judged as FNMR and FMR of comparisons
are, at thresholds that attempts give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastfair.data.comparisons import Comparisons
from fastfair.data.transactions import FRR_AND_FAR
from fastfair.errors import InputError
from fastfair.evaluation.transactions import point_of
from fastfair.measures._registry import SUCCESSES, measures_called

from .requirements import Requirement


def names_of_rates(data: object) -> Mapping[str, str]:
    """Return what the rates of comparisons are called where these are transactions; else
    nothing.
    """
    is_made = isinstance(data, Comparisons) and data.transactions is not None
    return FRR_AND_FAR if is_made else {}


def measures_of_rates(data: object) -> dict[str, str]:
    """Return the names of measures of FRR and FAR where comparisons are transactions, with those
    that they have of comparisons; else nothing.
    """
    return {
        name: of_comparisons
        for rate, called in names_of_rates(data).items()
        for name, of_comparisons in measures_called(called, rate).items()
    }


def names_of_rates_and_measures(data: object) -> dict[str, str]:
    """Return what the rates of comparisons, and measures of them, are called where these are
    transactions; else nothing.
    """
    rates = names_of_rates(data)
    successes = {SUCCESSES[of]: SUCCESSES[name] for of, name in rates.items() if of in SUCCESSES}
    measures = {of: name for name, of in measures_of_rates(data).items()}
    return {**rates, **successes, **measures}


def of_transactions(comparisons: Comparisons, wanted: Sequence[Requirement]) -> list[Requirement]:
    """Return requirements on transactions, at the thresholds that their attempts give.

    Raises
    ------
    InputError
        For FNMR and FMR, which are rates of attempts, and measures of these.
    """
    measures = measures_of_rates(comparisons)
    would_do = names_of_rates_and_measures(comparisons)
    for rule in wanted:
        if rule.name in would_do and not rule.counts_failures:
            raise InputError(
                f"requirement {rule.text!r}: these are transactions, and FNMR and FMR are rates of"
                f" their attempts: write {would_do[rule.name]}, or give the attempts"
            )
    named = [replace(rule, name=measures.get(rule.name, rule.name)) for rule in wanted]
    return [
        rule if rule.at is None else replace(rule, at=point_of(comparisons, rule.at))
        for rule in named
    ]
