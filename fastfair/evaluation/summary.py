"""An evaluation in sentences that follow from its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastfair._lib.text import rate_with_interval, typed
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.errors import visible
from fastfair.measures._names import printed_name
from fastfair.uncertainty.quantities import FAILURE_RATES, HELD, find

from .evaluated import Evaluated
from .failure_words import failures_table, has_failures, sentences_on_failures
from .rates_table import FEW_ERRORS, in_lines, rates_table

_ERRORS = {"fmr": "false matches", "fnmr": "false non-matches"}
_ERRORS |= dict(zip(FAILURE_RATES, ("failed mated comparisons", "failed non-mated comparisons"), strict=True))


def summary_of(evaluation: Evaluated, together: Evaluated) -> list[str]:
    """Return the sentences; `together` is the same evaluation with intervals that hold in all groups together."""
    said = [f"{size_of(evaluation)}."] if evaluation.rates else []
    for rates in evaluation.rates:
        told = [f"the threshold is {typed(rates.threshold)}"]
        for name in ("fmr", "fnmr"):
            one = find(evaluation.quantities, name, None, rates.at)
            if HELD not in one.note:
                told.append(f"the {name.upper()} is {rate_with_interval(one.estimate, one.low, one.high)}")
        said.append(f"At {rates.at} {', '.join(told[:-1])} and {told[-1]}.")
        if rates.below_resolution:
            said.append(f"{rates.at} allows fewer than {ENOUGH_ERRORS} errors: too few data for this operating point.")
        if evaluation.groups:
            said += [extremes(together, name, rates.at) for name in ("fnmr", "fmr")]
    if has_failures(evaluation):
        said += sentences_on_failures(evaluation)
        said += [extremes(together, name) for name in FAILURE_RATES] if evaluation.groups else []
    left_out = sorted(set(evaluation.groups) - set(evaluation.measured_groups))
    if left_out:
        said.append(f"Left out of the measures: {visible(', '.join(left_out))}.")
    if "confidence_level" in evaluation.settings:
        said.append(brackets_of(evaluation.settings))
    return said


def size_of(evaluation: Evaluated) -> str:
    """Say how many comparisons, subjects and groups there are, of an evaluation at an operating point."""
    counts = evaluation.rates[0].counts
    who = "" if evaluation.n_subjects is None else f" of {evaluation.n_subjects:,} subjects"
    groups = f", in {len(evaluation.groups)} groups" if evaluation.groups else ""
    return f"{counts.mated:,} mated and {counts.nonmated:,} non-mated comparisons{who}{groups}"


def brackets_of(settings: Mapping[str, Any]) -> str:
    """Say what intervals stand in brackets."""
    drawn = f"from {settings['n_resamples']:,} replicates" if settings["n_resamples"] else "in closed form"
    return (
        f"Numbers in brackets are {100 * settings['confidence_level']:g} % intervals, {drawn} over {settings['unit']}s."
    )


def tables_of(evaluation: Evaluated) -> list[str]:
    """Return the lines of a table of groups at each operating point, and of the note below them."""
    lines = []
    for rates in evaluation.rates:
        lines += ["", f"At {rates.at}", *in_lines(*rates_table(evaluation, rates))]
    at_points = [one for one in evaluation.quantities if one.name in ("fmr", "fnmr") and one.n_comparisons]
    if has_failures(evaluation):
        lines += ["", "Comparisons that failed", *in_lines(*failures_table(evaluation))]
        at_points += [one for one in evaluation.quantities if one.name in FAILURE_RATES and one.n_comparisons]
    if any((one.n_errors or 0) < ENOUGH_ERRORS for one in at_points):
        lines += ["", FEW_ERRORS]
    return lines


def extremes(evaluation: Evaluated, name: str, at: OperatingPoint | None = None) -> str:
    """Say which groups have the lowest and the highest rate, among those with enough errors."""
    title, where = printed_name(name), "" if at is None else f"At {at} "
    found = [find(evaluation.quantities, name, group, at) for group in evaluation.groups]
    enough = [one for one in found if (one.n_errors or 0) >= ENOUGH_ERRORS]
    few = len(found) - len(enough)
    told = (
        f" {few} of {len(found)} groups have fewer than {ENOUGH_ERRORS} {_ERRORS[name]}, too few to tell."
        if few
        else ""
    )
    kind = "failures" if name in FAILURE_RATES else "errors"
    if len(enough) < 2:
        comma = where.rstrip() + (", " if where else "")
        return f"{comma}{len(enough)} of {len(found)} groups have enough {kind} to tell their {title}.{told}"
    low, high = min(enough, key=lambda one: one.estimate), max(enough, key=lambda one: one.estimate)
    written = [
        f"{visible(str(one.group))}, {rate_with_interval(one.estimate, one.low, one.high)}" for one in (low, high)
    ]
    said = f"{where or 'The '}{'the ' if where else ''}{title} is lowest in {written[0]}, and highest in {written[1]}."
    if not evaluation.settings.get("simultaneous", False):
        return said + told
    if low.high is not None and high.low is not None and not math.isnan(low.high) and not math.isnan(high.low):
        apart = "do not overlap" if low.high < high.low else "overlap"
        said += f" These two intervals, which hold in all groups together, {apart}."
    return said + told
