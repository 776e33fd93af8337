"""`Effect` and `AttributeTest`: what a model says of a value of an attribute, and of the whole attribute."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """What one value of an attribute does to the odds of an error, with the other attributes held fixed.

    Attributes
    ----------
    attribute, value, baseline : str
        The attribute, its value and the value it is compared with; of FMR each is that of both sides. "different" and
        "same" stand for the two sides having different values, or one.
    odds_ratio, low, high : float
        By what the odds of an error are multiplied, and the interval; NaN where the data do not determine it.
    standard_error, degrees_of_freedom : float
        Those of the logarithm of the odds ratio.
    pvalue : float
        Two-sided p-value of an odds ratio of 1.
    difference, difference_low, difference_high : float
        The average marginal effect: how much larger the rate of all comparisons would be if each of them had the value
        than if each had the baseline, and its interval. The other attributes are as in the data.
    n_comparisons, n_errors : int
        Numbers of comparisons that have the value on either side, and of errors among them.
    note : str
        Warnings for the reader.
    """

    attribute: str
    value: str
    baseline: str
    odds_ratio: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    pvalue: float
    difference: float
    difference_low: float
    difference_high: float
    n_comparisons: int
    n_errors: int
    note: str = ""


@dataclass(frozen=True)
class AttributeTest:
    """A test of all effects of an attribute at once.

    Attributes
    ----------
    attribute : str
        The attribute.
    statistic : float
        Hotelling's statistic as an F.
    n_effects : int
        The number of effects that the data determine.
    degrees_of_freedom : float
        Of the effects' variances, the median.
    pvalue : float
        The p-value of the attribute having no effect; NaN where too few subjects are behind so many effects.
    """

    attribute: str
    statistic: float
    n_effects: int
    degrees_of_freedom: float
    pvalue: float
