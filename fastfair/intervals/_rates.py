"""Confidence limits and p-values of error rates, in closed form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import arrays, validation
from fastfair._lib.arguments import checked
from fastfair.errors import InputError

from ._checks import level, require_rates

Floats = NDArray[np.float64]


def logit_interval(
    estimate: ArrayLike,
    standard_error: ArrayLike,
    degrees_of_freedom: ArrayLike = np.inf,
    confidence_level: float = 0.95,
) -> tuple[Floats, Floats]:
    """Compute confidence intervals of rates that are symmetric on the scale of log odds.

    Parameters
    ----------
    estimate : (...) array_like
        Rates.
    standard_error : (...) array_like
        The standard error of each rate.
    degrees_of_freedom : (...) array_like, default infinity
        The number of independent units minus the number of their strata.
    confidence_level : float, default 0.95
        In (0, 1).

    Returns
    -------
    low, high : (...) ndarray
        As by the method "logit" of `confidence_interval`.

    Examples
    --------
    >>> from fastfair.intervals import logit_interval
    >>> low, high = logit_interval(0.02, 0.005)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0122, 0.0326)
    """
    from scipy.special import expit, stdtrit

    tail = (1 - level(confidence_level)) / 2
    center, freedom = arrays.floats("estimate", estimate), arrays.floats("degrees_of_freedom", degrees_of_freedom)
    spread = arrays.floats("standard_error", standard_error)
    require_rates("estimate", center)
    for name, array, wrong in (("standard_error", spread, spread < 0), ("degrees_of_freedom", freedom, ~(freedom > 0))):
        if wrong.any():
            least = "at least 0" if array is spread else "above 0"
            raise InputError(f"{name} must be {least}, not {array[wrong][0]:g}")
    try:
        np.broadcast_shapes(center.shape, spread.shape, freedom.shape)
    except ValueError:
        raise InputError(
            "estimate, standard_error and degrees_of_freedom must be of one shape, not "
            f"{center.shape}, {spread.shape} and {freedom.shape}"
        ) from None
    with np.errstate(invalid="ignore", divide="ignore"):
        odds, reach = _log_odds(center), stdtrit(freedom, 1 - tail) * _odds_error(center, spread, freedom)
        low, high = expit(odds - reach), expit(odds + reach)
    has_odds = np.isfinite(odds)
    return np.where(has_odds, low, np.nan), np.where(has_odds, high, np.nan)


def logit_pvalues(
    estimate: float, standard_error: float, degrees_of_freedom: float, claimed: float
) -> tuple[float, float]:
    """Compute p-values of a rate in (0, 1) being above, and being at most, what is claimed of it.

    Parameters
    ----------
    estimate, standard_error, degrees_of_freedom : float
        As in `logit_interval`.
    claimed : float
        The rate claimed.

    Returns
    -------
    above, at_most : float
        The first is at most 1 minus a level, above 0.5, exactly where the one-sided upper limit of that level by
        `logit_interval` is at most what is claimed; the second where the lower limit is at least that.
    """
    from scipy.special import stdtr

    error = float(_odds_error(estimate, standard_error, degrees_of_freedom))
    apart = float(_log_odds(claimed) - _log_odds(estimate))
    below = apart / error if error else math.copysign(math.inf, apart)
    return float(stdtr(degrees_of_freedom, -below)), float(stdtr(degrees_of_freedom, below))


def _log_odds(rate: Floats | float) -> Floats:
    return np.asarray(np.log(rate) - np.log1p(-np.asarray(rate)))


def _odds_error(rate: Floats | float, standard_error: Floats | float, freedom: Floats | float) -> Floats:
    """Return the standard error of the log odds of a rate, of which at least the error of one error is known."""
    # Few subjects can give errors many times the rate, but at least one independent error is behind it.
    error = np.minimum(standard_error, np.minimum(rate, 1 - rate))
    return np.asarray(error * np.sqrt(1 + 1 / np.asarray(freedom)) / (rate * (1 - rate)))


def exact_lower_limit(errors: float, comparisons: float, confidence_level: float) -> float:
    """Compute the lower limit of Clopper and Pearson's two-sided interval; numbers may be effective ones, and broken.

    Parameters
    ----------
    errors, comparisons : float
        How many errors, more than 0, of how many independent comparisons.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
    """
    from scipy.special import betaincinv

    return float(betaincinv(errors, comparisons - errors + 1, (1 - confidence_level) / 2))


@checked
def upper_limit_without_errors(n: float, confidence_level: float) -> float:
    """Compute the upper end of Clopper and Pearson's two-sided interval for no errors in n independent trials.

    Parameters
    ----------
    n : float
        Number of trials, at least 1; need not be whole, as a number divided by a design effect is not.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
        About 3.7 / n at 95 %.

    Raises
    ------
    InputError
        For fewer than one trial and a level outside (0, 1).

    Examples
    --------
    >>> from fastfair.intervals import upper_limit_without_errors
    >>> round(upper_limit_without_errors(1000, 0.95), 5)
    0.00368
    """
    trials = validation.real("n", n)
    if not trials >= 1:
        raise InputError(f"n must be at least 1, not {trials:g}")
    return float(-np.expm1(np.log((1 - level(confidence_level)) / 2) / trials))
