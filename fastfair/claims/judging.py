"""The rule by which claims and requirements are judged: limits, what puts them in doubt, and several rows at once.

All rows of a claim or requirement are met together where every limit, unadjusted, is on the right side of the bound: a
system that violates one row passes no more often than that row alone would (an intersection-union test). Otherwise rows
are judged by Holm's procedure, so that with the probability of the level no row is called met although it is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fastfair import intervals
from fastfair._lib.bisection import least_multiple
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.evaluation.result import Evaluation
from fastfair.uncertainty.interval_rules import room_for
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, NARROW, UNKNOWN_CONCENTRATION, Quantity, has_flag

UNDECIDED = "undecided"
RELATION = re.compile("<=|>=|[<>\u2264\u2265]")
RELATIONS = {"<=": "<=", "\u2264": "<=", "<": "<", ">=": ">=", "\u2265": ">=", ">": ">"}
_NUMBER = re.compile(r"\s*(?P<number>[^\s%]+)\s*(?P<percent>%?)\s*")


def number_of(text: str) -> float:
    """Return the number that is written, such as "1e-4" or "2 %"; a ValueError where the text is no finite number."""
    found = _NUMBER.fullmatch(text)
    value = float(found["number"]) / (100 if found["percent"] else 1) if found else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def doubts_about(quantity: Quantity, within: Callable[[float], bool]) -> str:
    """Say why a limit that is on the right side of its bound does not settle a verdict; empty where it does.

    within tells whether the bound leaves room for so many times the limit.
    """
    blocking = (NARROW, BELOW_RESOLUTION, *(() if quantity.name == "fmr" else (UNKNOWN_CONCENTRATION,)))
    reasons = [quantity.note] if has_flag(quantity, *blocking) else []
    room = room_for(quantity.name, quantity.n_errors or 0)
    if room > 1 and not within(room):
        reasons.append(
            f"with fewer than {ENOUGH_ERRORS} false matches it is not known whether few subjects cause most of them, "
            f"so the bound has to leave room for {room:g} times the limit"
        )
    return "; ".join(reasons)


def met_by_holm(n_rows: int, met_at: Callable[[float, Sequence[int]], Sequence[int]], significance: float) -> set[int]:
    """Return which rows are met, of those that belong together.

    met_at returns which of some rows are met by limits of an error probability; significance is 1 minus the level.
    """
    rows = range(n_rows)
    alone = set(met_at(significance, rows))
    if len(alone) == n_rows:
        return alone
    met: set[int] = set()
    while True:
        left = [row for row in rows if row in alone and row not in met]
        more = met_at(significance / (n_rows - len(met)), left) if left else ()
        if not more:
            return met
        met.update(more)


_LEAST_FREEDOM = 1.0
_MOST_TIMES = 1e12  # as many subjects as there are; beyond it no number is named


@dataclass(frozen=True)
class Evidence:
    """What the limits of a rate are computed from.

    Attributes
    ----------
    estimate : float
        The rate in the data.
    standard_error, degrees_of_freedom : float
        As in `intervals.logit_interval`.
    independent : float
        The effective sample size where the rate is 0 or 1, or has one to four errors; else NaN.
    strata : float
        The number of subjects minus the degrees of freedom.
    raised : float
        By how much one more subject raises a rate of failure; NaN for other rates. See `few_errors`.
    room : callable
        How many times the limit may be too low, given how many times as many subjects there are.
    """

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    independent: float
    strata: float = 1.0
    raised: float = math.nan
    room: Callable[[float], float] = lambda _: 1.0

    @classmethod
    def of(cls, evaluation: Evaluation, quantity: Quantity) -> Evidence | None:
        """Return the evidence of a rate of an evaluation with replicates; None where it has no limit."""
        sizes, row = evaluation.maker.sizes, evaluation.quantities.index(quantity)
        if quantity.high is None or math.isnan(quantity.high):
            return None
        subjects, freedom = quantity.n_subjects or 0, float(sizes.degrees_of_freedom[row])
        error = math.nan if quantity.standard_error is None else quantity.standard_error
        return cls(
            quantity.estimate, error, freedom, float(sizes.effective[row]), max(1.0, subjects - freedom),
            float(sizes.raised[row]), lambda times: room_for(quantity.name, (quantity.n_errors or 0) * times),
        )  # fmt: skip

    def pvalue(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is above what is claimed.

        It is at most 1 minus a level exactly where the one-sided upper limit of that level is at most what is claimed.
        """
        if self.estimate == 0:
            return float((1 - claimed) ** self.independent)
        if self.estimate == 1 or math.isnan(self.standard_error):
            return 1.0 if self.estimate == 1 else math.nan
        own = self._pvalues(claimed)[0]
        if math.isnan(self.raised):
            return own
        error = math.hypot(self.standard_error, self.raised)
        raised, freedom = self.estimate + self.raised, self.degrees_of_freedom + 1
        return max(own, intervals.logit_pvalues(raised, error, freedom, claimed)[0])

    def pvalue_above(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is at most what is claimed."""
        if self.estimate == 0:
            return 1.0
        if self.estimate == 1:
            return float(claimed**self.independent)
        if math.isnan(self.standard_error):
            return math.nan
        above = self._pvalues(claimed)[1]
        if math.isnan(self.independent):
            return above
        from scipy.special import betainc

        errors = self.estimate * self.independent
        return max(above, float(betainc(errors, self.independent - errors + 1, claimed)))

    def _pvalues(self, claimed: float) -> tuple[float, float]:
        return intervals.logit_pvalues(self.estimate, self.standard_error, self.degrees_of_freedom, claimed)

    def times(self, share: float) -> Evidence:
        """Return the evidence of the same rate in data of so many times as many subjects."""
        freedom = share * (self.degrees_of_freedom + self.strata) - self.strata
        return replace(
            self,
            standard_error=self.standard_error / math.sqrt(share),
            degrees_of_freedom=max(_LEAST_FREEDOM, freedom),
            independent=self.independent * share,
            raised=self.raised / share,
        )

    def times_needed(self, claimed: float, level: float) -> float:
        """Return how many times as many subjects would support the claim with the same rate; infinite if none would."""

        def supports(times: float) -> bool:
            return self.times(times).pvalue(claimed / self.room(times)) <= 1 - level

        if self.estimate >= claimed or math.isnan(self.pvalue(claimed)):
            return 1.0 if supports(1.0) else math.inf
        return least_multiple(supports, _MOST_TIMES, 1 + 1e-9)


def independent_limit(errors: int, comparisons: int, level: float) -> float:
    """Return Clopper and Pearson's one-sided upper limit, which takes comparisons for independent."""
    from scipy.special import betaincinv

    return 1.0 if errors >= comparisons else float(betaincinv(errors + 1, comparisons - errors, level))
