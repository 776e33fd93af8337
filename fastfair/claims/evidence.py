"""Evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from scipy.special import betainc

from fastfair import intervals
from fastfair._lib.bisection import least_multiple

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
