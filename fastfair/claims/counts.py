"""Counts of failures in claims and checks: the decisions that they are, as comparisons that are
accepted or rejected.

So counts are judged by the rules of scores, and get the limits of the same decisions with scores,
to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.evaluation.counted_rates import (
    AT,
    names_of_counts,
    names_of_decisions,
    require_groups_of_counts,
    require_no_point,
)
from fastfair.evaluation.failure_counts import ATTEMPTS, FailureCounts, RateOfFailure
from fastfair.measures._registry import SUCCESSES

from .requirements import Requirement, Statement, Systems, read_statement, requirements_of

# rates that succeed, by their errors
_OF_SUCCESS = {"tar": "frr", "gar": "frr", "tmr": "fnmr", "tpr": "fnmr", "tpir": "fnir"}
_CALLED = re.compile(
    rf"(?<![a-z_])({'|'.join([*ATTEMPTS, *_OF_SUCCESS])})(?![a-z_])", re.IGNORECASE
)


def rate_named(texts: str | Sequence[str]) -> RateOfFailure | None:
    """Return the one rate of counts that requirements or a statement name, or 1 minus which; None
    where they name none, or several.
    """
    listed = [texts] if isinstance(texts, str) else list(texts)
    called = {name.lower() for text in listed for name in _CALLED.findall(text.partition("[")[0])}
    names = {_OF_SUCCESS.get(name, name) for name in called}
    return next((rate for rate in get_args(RateOfFailure) if {rate} == names), None)


def _require_rate(rate: str, text: str) -> None:
    """Refuse a requirement or statement on another rate than the one that was counted."""
    named = rate_named(text)
    if named is not None and named != rate and re.search(named, text, re.IGNORECASE):
        raise InputError(
            f"{text.strip()!r} is on the {named.upper()}, but the {rate.upper()} was"
            f" counted, of {ATTEMPTS[rate]}s: name it, or give counts with"
            f' ⟦rate="{named}"⟧ if they are of {ATTEMPTS[named]}s'
        )


def requirements_on_rate(
    rate: str, requirements: str | Sequence[str], pairs: Sequence[Systems] = ()
) -> list[Requirement]:
    """Read requirements on a rate that was counted, and measures of it; of pairs of data sets, on
    differences.
    """
    listed = [requirements] if isinstance(requirements, str) else list(requirements)
    for text in listed:
        _require_rate(rate, text)
    read = requirements_of(listed, AT, list(names_of_counts(rate)), pairs)
    for requirement in read:
        if requirement.at != AT:
            raise InputError(
                f"requirement {requirement.text!r}: counts hold decisions, so leave"
                f" {requirement.at} out"
            )
    return read


def requirements_on(counts: FailureCounts, requirements: str | Sequence[str]) -> list[Requirement]:
    """Read requirements on the rate of counts, and measures of it, as those on the rate of their
    decisions.
    """
    names = names_of_counts(counts.rate_name)
    read = requirements_on_rate(counts.rate_name, requirements)
    for requirement in read:
        if requirement.name != counts.rate_name:
            require_groups_of_counts(counts, [requirement.name])
    return [replace(requirement, name=names[requirement.name]) for requirement in read]


def claimed_rate(counts: FailureCounts, statement: str, at: OperatingPoint | None) -> Statement:
    """Read what is claimed of the rate of the decisions."""
    require_no_point(at)
    _require_rate(counts.rate_name, statement)
    read = read_statement(statement, [counts.rate_name])
    return read._replace(rate=names_of_counts(counts.rate_name)[counts.rate_name])


def names_in_requirements(rate: str) -> dict[str, str]:
    """Return what results call the rates and measures of decisions, and the share that succeeds."""
    names = names_of_decisions(rate)
    if rate in SUCCESSES and "fnmr" in names:
        names[SUCCESSES["fnmr"]] = SUCCESSES[rate]
    return names
