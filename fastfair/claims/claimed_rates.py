"""`ClaimedRate`: what the data say of one rate that something is claimed of, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastfair import intervals
from fastfair.error_rates.operating_points import ENOUGH_ERRORS

from .judging import UNDECIDED

SUPPORTED, CONTRADICTED = "supported", "contradicted"


def verdict_of(pvalue: float, above: float, significance: float, doubt: str) -> str:
    """Return the verdict of two p-values, of the rate being above what is claimed and of it not being so."""
    if pvalue <= significance and not doubt:
        return SUPPORTED
    return CONTRADICTED if above <= significance else UNDECIDED


@dataclass(frozen=True)
class ClaimedRate:
    """What the data say of one rate, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    estimate : float
        The rate in the data.
    limit : float
        Its upper limit, to one side, at the level of the claim; NaN where there is none, and `note` says why.
    pvalue, pvalue_above : float
        p-values of the hypotheses that the rate is above what is claimed, and that it is not.
    pvalue_adjusted : float
        For a group, `pvalue` after Holm's adjustment for the number of groups; else the same.
    verdict : {"supported", "contradicted", "undecided"}
        Whether the data show, at the level, that the rate is at most what is claimed, that it is above, or neither. Of
        groups the adjusted p-values decide, unless all groups are supported without an adjustment.
    doubt : str
        Why the claim is undecided although the limit is at most what is claimed; empty where nothing puts the limit in
        doubt.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int or None
        Number of subjects.
    independent_limit : float
        Clopper and Pearson's upper limit, for comparisons that were all independent.
    n_subjects_needed : float
        About how many subjects (comparisons, where subjects are not known) would support the claim if the rate were
        the same and each subject had as many comparisons; infinite where no number would.
    note : str
        Warnings for the reader.
    """

    group: str | None
    estimate: float
    limit: float
    pvalue: float
    pvalue_adjusted: float
    pvalue_above: float
    verdict: str
    doubt: str
    n_comparisons: int
    n_errors: int
    n_subjects: int | None
    independent_limit: float
    n_subjects_needed: float
    note: str = ""

    @property
    def rule_of_3(self) -> float:
        """The limit of the rule of 3, three divided by the number of comparisons; NaN where there are errors."""
        return math.nan if self.n_errors or not self.n_comparisons else min(1.0, 3 / self.n_comparisons)

    @property
    def meets_rule_of_30(self) -> bool:
        """Whether there are 30 errors, which would hold the rate to within 30 % at 90 % if they were independent."""
        return self.n_errors >= ENOUGH_ERRORS


def adjusted(rates: Sequence[ClaimedRate], significance: float) -> tuple[ClaimedRate, ...]:
    """Return the rates of groups with p-values adjusted for their number, and verdicts by these.

    All are supported where all are by unadjusted p-values; see `judging`.
    """
    if rates and all(rate.verdict == SUPPORTED for rate in rates):
        return tuple(replace(rate, pvalue_adjusted=max(one.pvalue for one in rates)) for rate in rates)
    below, above = (
        intervals.holm([getattr(rate, name) for rate in rates]).tolist() for name in ("pvalue", "pvalue_above")
    )
    return tuple(
        replace(rate, pvalue_adjusted=p, verdict=verdict_of(p, opposite, significance, rate.doubt))
        for rate, p, opposite in zip(rates, below, above, strict=True)
    )
