"""The exact law of the failures of many subjects whose attempts are correlated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_OUTSIDE = 1e-16  # probability that may fall outside the window computed
_ROUNDING = 1e-12  # by which sums of probabilities may fall short of what they are


def beta_binomial_pmf(m: int, fnmr: float, correlation: float) -> Floats:
    """Compute the probabilities of 0 to m failures in m attempts of a subject.

    Written as an urn: after e failures in j attempts the next fails with probability
    ((1 - rho) pi + rho e) / (1 - rho + rho j). Binomial at rho = 0 and all or nothing at rho = 1 are no special cases.
    """
    apart = 1 - correlation
    j = np.arange(1, m)

    def rising(share: float) -> Floats:
        return np.append(0, np.cumsum(np.log(share * apart + j * correlation)))

    fails, passes = rising(fnmr), rising(1 - fnmr)
    log_pmf = np.empty(m + 1)
    log_pmf[0], log_pmf[m] = math.log1p(-fnmr) + passes[-1], math.log(fnmr) + fails[-1]
    if apart > 0:
        ways = np.cumsum(np.log((m + 1 - j) / j))
        mixed = math.log(fnmr) + math.log1p(-fnmr) + math.log(apart)
        log_pmf[1:m] = ways + mixed + fails[:-1] + passes[-2::-1]
    else:
        log_pmf[1:m] = -np.inf
    pmf = np.exp(log_pmf - rising(1)[-1])
    return pmf / pmf.sum()


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
