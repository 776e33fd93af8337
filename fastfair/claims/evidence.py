"""How strongly data speak for a rate being at most as large as claimed, by the limits that `evaluate` computes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from fastfair import intervals

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
        Where the rate is 0 or 1, the number of independent comparisons that would tell as much; else NaN.
    strata : float
        The number of subjects minus the degrees of freedom.
    """

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    independent: float
    strata: float = 1.0

    def pvalue(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is above what is claimed.

        It is at most 1 minus a level exactly where the one-sided upper limit of that level is at most what is claimed.
        """
        if self.estimate == 0:
            return float((1 - claimed) ** self.independent)
        if self.estimate == 1 or math.isnan(self.standard_error):
            return 1.0 if self.estimate == 1 else math.nan
        return self._pvalues(claimed)[0]

    def pvalue_above(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is at most what is claimed."""
        if self.estimate == 0:
            return 1.0
        if self.estimate == 1:
            return float(claimed**self.independent)
        return math.nan if math.isnan(self.standard_error) else self._pvalues(claimed)[1]

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
        )

    def times_needed(self, claimed: float, level: float) -> float:
        """Return how many times as many subjects would support the claim with the same rate; infinite if none would."""
        if self.pvalue(claimed) <= 1 - level:
            return 1.0
        if self.estimate >= claimed or math.isnan(self.pvalue(claimed)):
            return math.inf
        low, high = 1.0, 2.0
        while self.times(high).pvalue(claimed) > 1 - level:
            low, high = high, 2 * high
            if high > _MOST_TIMES:
                return math.inf
        while high / low > 1 + 1e-9:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.times(middle).pvalue(claimed) > 1 - level else (low, middle)
        return high


def independent_limit(errors: int, comparisons: int, level: float) -> float:
    """Return Clopper and Pearson's one-sided upper limit, which takes comparisons for independent."""
    from scipy.special import betaincinv

    return 1.0 if errors >= comparisons else float(betaincinv(errors + 1, comparisons - errors, level))
