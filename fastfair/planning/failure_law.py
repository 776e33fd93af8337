"""The exact law of the failures of many subjects whose attempts are correlated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_OUTSIDE = 1e-16  # probability that may fall outside the window computed
_ROUNDING = 1e-12  # by which sums of probabilities may fall short of what they are


def bytes_of_law(n: int, m: int, fnmr: float, correlation: float) -> int:
    """Return about how many bytes the law of n subjects with m attempts takes while it is computed."""
    low, high = _window(n, m, m * fnmr, m * fnmr * (1 - fnmr) * (1 + (m - 1) * correlation))
    return 80 * (m + high - low)


def _window(n: int, m: int, mean: float, variance: float) -> tuple[int, int]:
    """Return the ends of the failures of n subjects that are worth a number, by Bernstein's inequality."""
    logs = math.log(2 / _OUTSIDE)
    reach = logs * m / 3 + math.sqrt((logs * m / 3) ** 2 + 2 * logs * n * variance)
    return max(0, math.floor(n * mean - reach)), min(n * m, math.ceil(n * mean + reach))


@dataclass(frozen=True, eq=False)
class FailureLaw:
    """The law of the failures of n alike, independent subjects.

    Attributes
    ----------
    first : int
        The number of failures where the window begins; outside it lies no probability worth a number.
    pmf : (window,) ndarray
        Probabilities of `first` failures and so on.
    """

    first: int
    pmf: Floats

    @classmethod
    def of(cls, n: int, pmf: Floats) -> FailureLaw:
        """Raise the law of one subject to its n-th convolution power.

        The transform's length need only span the window outside which lies next to nothing: beyond it the
        convolution wraps round, and what wraps is less than rounding.
        """
        from scipy.fft import irfft, next_fast_len, rfft

        m = pmf.size - 1
        k = np.arange(m + 1)
        mean = float(k @ pmf)
        low, high = _window(n, m, mean, float((k - mean) ** 2 @ pmf))
        length = next_fast_len(max(high - low, m) + 1, real=True)
        power = np.maximum(irfft(rfft(pmf, length) ** n, length), 0)
        return cls(low, np.roll(power, -(low % length))[: high - low + 1] / power.sum())

    @property
    def failures(self) -> NDArray[np.int64]:
        """(window,) numbers of failures."""
        return self.first + np.arange(self.pmf.size)

    def farthest(self, mean: float, n_groups: NDArray[np.int64], probability: float) -> Floats:
        """Return the smallest distances from the mean that all of several groups keep with a probability.

        Groups are alike and independent: all keep a distance with the probability of one, to the power of their number.
        """
        distance = np.abs(self.failures - mean)
        order = np.argsort(distance)
        wanted = probability ** (1 / n_groups) - _ROUNDING
        return distance[order[np.searchsorted(np.cumsum(self.pmf[order]), wanted)]]
