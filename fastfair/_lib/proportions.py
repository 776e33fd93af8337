"""Limits of proportions, to one side, and their p-values, which are one line read in both
directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .arrays import Floats

Numbers = Floats | float
_BEYOND_ALL = 1e300  # standard errors


class Line(NamedTuple):
    """The limits of proportions to one side: that of an error probability, and the error
    probability of a limit.
    """

    limit: Callable[[Numbers], Floats]
    pvalue: Callable[[Numbers], Floats]


def _log_odds(rate: Numbers) -> Floats:
    return np.asarray(np.log(rate) - np.log1p(-rate))


def student_line(sign: int, rate: Numbers, standard_error: Numbers, freedom: Numbers) -> Line:
    """Return Student's t on the scale of log odds; NaN for proportions of 0 and 1.

    sign: 1 for upper limits, -1 for lower ones. The others are (...) arrays, or numbers.
    """
    from scipy.special import expit, stdtr, stdtrit

    with np.errstate(invalid="ignore", divide="ignore"):
        # Few subjects can give errors many times the rate, but at least one independent error is
        # behind it.
        error = np.minimum(standard_error, np.minimum(rate, 1 - rate))
        spread = error * np.sqrt(1 + 1 / np.asarray(freedom)) / (rate * (1 - rate))
        odds = _log_odds(rate)

    def limit(tail: Numbers) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(expit(odds + sign * stdtrit(freedom, 1 - tail) * spread))

    def pvalue(bound: Numbers) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = sign * (odds - _log_odds(bound))
            reach = np.where(spread == 0, np.copysign(np.inf, apart), apart / spread)
        return np.asarray(stdtr(freedom, np.clip(reach, -_BEYOND_ALL, _BEYOND_ALL)))

    return Line(limit, pvalue)


def clopper_pearson_line(sign: int, errors: Numbers, n: Numbers) -> Line:
    """Return Clopper and Pearson's limits of errors among n; both may be broken, as effective
    numbers are, and NaN.

    There is no upper limit below 1 of nothing but errors, and no lower one above 0 of none.
    """
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    if sign > 0:
        shape = errors + 1, n - errors
        return Line(
            lambda tail: np.asarray(betainccinv(*shape, tail)),
            lambda to: np.asarray(betaincc(*shape, to)),
        )
    shape = errors, n - errors + 1
    return Line(
        lambda tail: np.asarray(betaincinv(*shape, tail)),
        lambda to: np.asarray(betainc(*shape, to)),
    )
