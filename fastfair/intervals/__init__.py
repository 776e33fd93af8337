"""Confidence intervals, simultaneous bands and p-values from bootstrap replicates, for many quantities at once.

Replicates lie on the last axis. A replicate is NaN where the quantity was not computable, and is then left out. It may
be infinite, as a ratio to a rate of zero is, and then counts as the largest.
"""

from ._bands import depths as depths
from ._bands import simultaneous_band
from ._checks import level as level
from ._mover import correlations_of as correlations_of
from ._mover import difference_interval as difference_interval
from ._mover import ratio_interval as ratio_interval
from ._mover import sum_interval as sum_interval
from ._pvalues import bootstrap_pvalue, holm
from ._rates import exact_lower_limit as exact_lower_limit
from ._rates import logit_interval as logit_interval
from ._rates import logit_pvalues as logit_pvalues
from ._rates import upper_limit_without_errors
from ._replicates import METHODS as METHODS
from ._replicates import METHODS_FOR_ANYTHING as METHODS_FOR_ANYTHING
from ._replicates import METHODS_OF_EVALUATIONS as METHODS_OF_EVALUATIONS
from ._replicates import confidence_interval, standard_error
from ._replicates import finite_mean as finite_mean
from ._replicates import quantile as quantile

__all__ = [
    "bootstrap_pvalue",
    "confidence_interval",
    "holm",
    "simultaneous_band",
    "standard_error",
    "upper_limit_without_errors",
]
