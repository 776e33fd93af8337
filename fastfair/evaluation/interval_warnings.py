"""Warnings of intervals that are likely to be too narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import Rates
from fastfair.errors import NarrowIntervalsWarning
from fastfair.uncertainty.few_errors import CONCENTRATED, OF_FEW_SUBJECTS
from fastfair.uncertainty.interval_rules import (
    BY_PERCENTILES,
    ENOUGH_EFFECTIVE_ERRORS,
    has_concentrated_errors,
    has_few_effective_errors,
)
from fastfair.uncertainty.quantities import Quantity

# Of each kind in every group: with fewer, intervals of measures miss the truth more often.
_LEAST_ERRORS = 5
_MOST_NAMED = 4  # in a warning; notes are at every quantity


def _is_held_by_few(quantity: Quantity) -> bool:
    return OF_FEW_SUBJECTS in quantity.note


def warn_of_few_errors(quantities: Sequence[Quantity], at_points: Sequence[Rates], measured: Sequence[str]) -> None:
    """Warn of intervals that, in simulations, contain the true value less often than their confidence level says.

    Parameters
    ----------
    quantities : sequence of Quantity
        All quantities, with their intervals.
    at_points : sequence of Rates
        The rates at each operating point.
    measured : sequence of str
        The groups that fairness measures compare; empty where intervals of measures are not looked at.
    """

    def names(applies: Callable[[Quantity], bool]) -> list[str]:
        return [
            f"{q.name} of {' / '.join(filter(None, (q.group, q.probe_group))) or 'all'}"
            for q in quantities
            if applies(q)
        ]

    groups = []
    for result in at_points if measured else ():
        kinds = result.counts.group_false_matches, result.counts.group_false_nonmatches
        few = np.minimum(*kinds) < _LEAST_ERRORS
        groups += [group for group, too_few in zip(result.groups, few, strict=True) if too_few and group in measured]
    for what, found in (
        (
            f"rest on fewer than {ENOUGH_EFFECTIVE_ERRORS} effective errors, (rate / standard error)^2,",
            names(has_few_effective_errors),
        ),
        (
            f"rest on errors of which {100 * CONCENTRATED:.0f} % or more involve 5 % of the subjects",
            names(has_concentrated_errors),
        ),
        ("are of FNMRs at thresholds that the false matches of few subjects hold", names(_is_held_by_few)),
        (f"are of measures over groups with fewer than {_LEAST_ERRORS} false matches or false non-matches", groups),
        ("are of percentiles, as a group has no errors,", [q.name for q in quantities if BY_PERCENTILES in q.note]),
    ):
        named = list(dict.fromkeys(found))
        if named:
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            warn(
                f"intervals that {what} are likely too narrow: {', '.join(named[:_MOST_NAMED])}{more}",
                NarrowIntervalsWarning,
            )


def warn_of_repeated_subjects(comparisons: Comparisons, unit: str) -> None:
    """Warn where comparisons are drawn as if each had subjects of its own."""
    n = len(comparisons.mated) + len(comparisons.nonmated)
    if unit == "comparison" and comparisons.subjects is not None and comparisons.subjects.size < n:
        warn(
            f'intervals are too narrow: unit="comparison" treats {n} comparisons of {comparisons.subjects.size} '
            'subjects as independent; use unit="subject"',
            NarrowIntervalsWarning,
        )
