"""Counts of failures in claims and checks: the decisions that they are, as mated comparisons that
are accepted or rejected.

So counts are judged by the rules of scores, and get the limits of the same decisions with scores,
to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold
from fastfair.errors import InputError
from fastfair.evaluation.failure_counts import FailureCounts

from .requirements import Requirement, requirements_of

AT = at_threshold(0.5)  # attempts score 1, or 0 where they failed


def decisions_of(counts: FailureCounts) -> Comparisons:
    """Return the attempts of each subject as comparisons with itself."""
    attempts = counts.attempts
    subject = np.repeat(np.arange(attempts.size), attempts)
    number = np.arange(subject.size) - np.repeat(np.cumsum(attempts) - attempts, attempts)
    labels = np.array(counts.groups, object)[counts.subject_group[subject]]
    group = {" & ".join(counts.grouping): labels}
    is_accepted = (number >= counts.failures[subject]).astype(np.float32)
    mated = np.ones(subject.size, np.bool_)
    return Comparisons(is_accepted, mated, subject, subject, reference_group=group)


def requirements_on(counts: FailureCounts, requirements: str | Sequence[str]) -> list[Requirement]:
    """Read requirements on the rate of counts, as requirements on the FNMR of their decisions."""
    read = requirements_of(requirements, AT, [counts.rate_name])
    for requirement in read:
        if requirement.at != AT:
            raise InputError(
                f"requirement {requirement.text!r}: counts hold decisions, so leave"
                f" {requirement.at} out"
            )
    return [replace(requirement, name="fnmr") for requirement in read]


def require_no_point(at: OperatingPoint | None) -> None:
    """Refuse an operating point of counts."""
    if at is not None:
        raise InputError(f"⟦at={at}⟧ is for scores, but FailureCounts hold decisions: leave it out")
