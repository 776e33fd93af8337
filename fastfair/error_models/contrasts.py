"""What a fitted logit says of one combination of its coefficients: the value, its interval and its p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fastfair import intervals

from .cells import Cells, Floats
from .fitting import Fit, fit_without

_FARTHEST, _STEPS = 20.0, 24  # of logarithms of odds ratios, and of bisections


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty; NaN where the data do not determine it.

    Attributes
    ----------
    value : float
        The estimate.
    standard_error : float
        Its standard error, enlarged a little for few degrees of freedom, as that of `intervals.logit_interval` is.
    degrees_of_freedom : float
        Of the standard error.
    """

    value: float = math.nan
    standard_error: float = math.nan
    degrees_of_freedom: float = math.nan

    @property
    def pvalue(self) -> float:
        """The two-sided p-value of the hypothesis that it is 0."""
        from scipy.special import stdtr

        if math.isnan(self.value):
            return math.nan
        return float(2 * stdtr(self.degrees_of_freedom, -abs(self.value) / self.standard_error))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of a confidence level."""
        from scipy.special import stdtrit

        if math.isnan(self.value):
            return math.nan, math.nan
        reach = float(stdtrit(self.degrees_of_freedom, (1 + confidence_level) / 2)) * self.standard_error
        return self.value - reach, self.value + reach

    @property
    def exponential(self) -> float:
        """What this is the logarithm of."""
        return _exp(self.value)

    def ratio_interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of what this is the logarithm of."""
        low, high = self.interval(confidence_level)
        return _exp(low), _exp(high)

    def rate_interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of the rate that these are the log odds of, as `evaluate` does."""
        if math.isnan(self.value):
            return math.nan, math.nan
        rate = 1 / (1 + math.exp(-self.value))
        spread = self.standard_error / math.sqrt(1 + 1 / self.degrees_of_freedom) * rate * (1 - rate)
        low, high = intervals.logit_interval(rate, spread, self.degrees_of_freedom, confidence_level)
        return float(low), float(high)


def _exp(value: float) -> float:
    with np.errstate(over="ignore"):  # the end of an interval may be infinite
        return float(np.exp(value))


def estimate(fit: Fit, contrast: Floats) -> Estimate:
    """Estimate a combination of coefficients, such as a logarithm of an odds ratio."""
    value = fit.value(contrast)
    return Estimate() if math.isnan(value) else of_function(fit, value, contrast)


def of_function(fit: Fit, value: float, gradient: Floats) -> Estimate:
    """Return a function of the coefficients with its uncertainty by the delta method."""
    freedom = fit.freedom(gradient)
    spread = math.sqrt(max(0.0, float(fit.covariance_of(gradient[None])[0, 0])) * (1 + 1 / freedom))
    return Estimate(value, spread, freedom)


def mean_chance(fit: Fit, rows: Floats, weights: Floats) -> tuple[float, Floats]:
    """Average the chances of an error over rows of a design, and return the gradient of this mean as well.

    Rows whose log odds no data determine make it NaN.
    """
    chances = 1 / (1 + np.exp(-fit.values(rows)))
    shares = weights / weights.sum()
    return float(shares @ chances), np.asarray((shares * chances * (1 - chances)) @ rows)


def difference(fit: Fit, with_value: Floats, with_baseline: Floats, weights: Floats) -> Estimate:
    """Estimate the difference of the mean chances of an error of two sets of rows."""
    means, gradients = zip(*(mean_chance(fit, rows, weights) for rows in (with_value, with_baseline)), strict=True)
    if math.isnan(means[0]) or math.isnan(means[1]):
        return Estimate()
    return of_function(fit, means[0] - means[1], gradients[0] - gradients[1])


def separated_ratio(cells: Cells, design: Floats, contrast: Floats, level: float) -> tuple[float, float, float]:
    """Test an effect whose odds ratio is 0 or infinite in the data, and limit it to the side that is known.

    Parameters
    ----------
    cells, design
        As `fitting.fit` takes them.
    contrast : (coefficients,) ndarray
        A multiple of one coefficient, the logarithm of the odds ratio.
    level : float
        The confidence level of an interval, one end of which is the limit.

    Returns
    -------
    pvalue, low, high : float
        The p-value of a score test, and an interval with the end 0 or infinity; NaN where nothing is known.
    """
    (column,) = np.flatnonzero(contrast).tolist()

    def score(log_ratio: float) -> Estimate:
        offset = design[:, column] * log_ratio / contrast[column]
        return estimate(fit_without(cells, design, [column], offset), np.ones(1))

    found = score(0.0)
    if math.isnan(found.value):
        return math.nan, math.nan, math.nan
    below = found.value < 0  # whether the odds ratio is 0 in the data

    def excluded(log_ratio: float) -> bool:
        try:
            with np.errstate(all="ignore"):
                at = score(log_ratio)
        except (np.linalg.LinAlgError, OverflowError):
            at = Estimate()
        if math.isnan(at.pvalue):  # so far off that all chances are 0 or 1
            return (log_ratio > 0) == below
        return (at.value < 0) == below and at.pvalue < 1 - level

    held, left = (-_FARTHEST, _FARTHEST) if below else (_FARTHEST, -_FARTHEST)
    for _ in range(_STEPS):
        middle = (held + left) / 2
        held, left = (held, middle) if excluded(middle) else (middle, left)
    return found.pvalue, *((0.0, _exp(left)) if below else (_exp(left), math.inf))


def joint_test(fit: Fit, contrasts: Floats) -> tuple[float, int, float, float]:
    """Test that several combinations of coefficients are all 0, as Hotelling does.

    Returns
    -------
    statistic : float
        F.
    n_effects : int
        The number of combinations that the data determine; the others are left out.
    degrees_of_freedom : float
        The median of theirs.
    pvalue : float
        NaN where there are too few degrees of freedom for so many combinations.
    """
    from scipy.special import fdtrc

    values = fit.values(contrasts)
    contrasts, values = contrasts[~np.isnan(values)], values[~np.isnan(values)]
    size = values.size
    if not size:
        return math.nan, 0, math.nan, math.nan
    freedom = float(np.median([fit.freedom(contrast) for contrast in contrasts]))
    square = float(values @ np.linalg.solve(fit.covariance_of(contrasts) * (1 + 1 / freedom), values))
    if math.isinf(freedom):
        statistic, left = square / size, 1e9
    else:
        left = freedom - size + 1
        if left <= 0:
            return math.nan, size, freedom, math.nan
        statistic = square * left / (freedom * size)
    return statistic, size, freedom, float(fdtrc(size, left, statistic))
