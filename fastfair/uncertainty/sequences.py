"""Confidence sequences: limits of a rate that hold however often, and whenever, data are looked at.

They bet against a rate (Waudby-Smith and Ramdas, 2024). Unit i, a person or a pair of people, has e_i
errors in m_i comparisons, M at most, and the rate is E e / E m. Whoever claims that it is at least b
offers a fair bet or better on b m_i - e_i: of a capital of 1, the share L is laid on each unit, which
becomes

    K = product over units of 1 + L (b m_i - e_i) / M.

If the rate is b or above, this is a supermartingale, so that by Ville's inequality it ever reaches 1 / t
with a probability of at most t: the rates against which it did are excluded at every look with an error
of t over all of them. Nothing is assumed but that units are drawn alike and independently, and that M
is known. The capital is divided among several shares L from the start, so that one suits whatever the
rate and its spread are. As these shares do not depend on the data, the order of units does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fastfair._lib.arrays import Floats, Integers

# What is laid on a unit: of all that could be lost to an upper limit, and to a lower one.
_SHARES_ABOVE = 0.98 / 2.0 ** np.arange(10)
_SHARES_BELOW = 0.5 / 2.0 ** np.arange(14)
_LEAST_RATE = 1e-15


def _capital(kinds: Floats, n: Integers, rate: float, *, above: bool) -> float:
    """Return the logarithm of the capital of who bets that a rate is lower; above: or higher.

    kinds: errors and comparisons of kinds of units, as shares of the most that one can have; n: of
    how many units each.
    """
    e, m = kinds
    if above:
        gain, shares = e / rate - m, _SHARES_BELOW
    else:
        gain, shares = rate * m - e, _SHARES_ABOVE
    logarithms = np.log1p(shares[:, None] * gain) @ n
    return float(np.logaddexp.reduce(logarithms)) - math.log(shares.size)


def sequence_limits(
    errors: Integers, comparisons: Integers, most: int, tail: float
) -> tuple[float, float]:
    """Return the limits of a rate to both sides, each with an error probability over all looks; 0 and
    1 where nothing is excluded.
    """
    codes, n = np.unique(errors * (most + 1) + comparisons, return_counts=True)
    shares = np.stack(np.divmod(codes, most + 1)) / most
    enough = -math.log(tail)
    low = high = math.nan
    if n.size:
        low, high = 0.0, 1.0
        if _capital(shares, n, 1.0, above=False) >= enough:
            high = _crossing(lambda rate: _capital(shares, n, rate, above=False) - enough)
        if errors.any():
            low = _crossing(lambda rate: enough - _capital(shares, n, rate, above=True))
    return low, high


def _crossing(excess: Callable[[float], float]) -> float:
    """Return the rate from which on something is above 0 that grows with rates; on a scale of
    logarithms.
    """
    from scipy.optimize import brentq

    if excess(_LEAST_RATE) >= 0:
        return _LEAST_RATE
    ends = math.log(_LEAST_RATE), 0.0
    return math.exp(brentq(lambda x: excess(math.exp(x)), *ends, xtol=1e-14, rtol=1e-15))
