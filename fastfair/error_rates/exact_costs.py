"""Costs of log-likelihood ratios as whole numbers, whose sums are exact and do not depend on any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.class_keys import ClassKeys

_AT_ONCE = 2**18  # costs that are computed together
_LOW = 2**32 - 1


@dataclass(frozen=True)
class ExactCosts:
    """Costs of mated, or of non-mated, comparisons, as multiples of a power of 2.

    The largest cost of the class has 62 bits, so that a cost is rounded by at most 2^-62 of the largest one.

    Attributes
    ----------
    mated : bool
        Whether the comparisons are mated.
    exponent : int
        Costs are multiples of 2^exponent nats.
    log_odds : float
        Prior log odds of a mated comparison, which are added to each log-likelihood ratio.
    """

    mated: bool
    exponent: int
    log_odds: float = 0.0
    bits: ClassVar[int] = 62  # of the largest cost

    def of(self, keys: score_keys.Keys) -> NDArray[np.int64]:
        """Return the costs of comparisons as multiples, (n,)."""
        costs = _costs(keys, self.mated, self.log_odds)
        return np.rint(np.ldexp(costs, -self.exponent)).astype(np.int64)

    def nats(self, words: NDArray[np.int64]) -> Any:
        """Return sums in nats, (n,), from their words of 32 bits, (words, n), the lowest first."""
        found = np.zeros(words.shape[1:])
        for word in words[::-1]:
            found = found * 2.0**32 + word
        return np.ldexp(found, self.exponent)

    def mean(self, keys: score_keys.Keys) -> float:
        """Return the mean cost of comparisons in nats."""
        words = np.zeros((2, 1), np.int64)
        for start in range(0, keys.size, _AT_ONCE):
            words += two_words(self.of(keys[start : start + _AT_ONCE]))
        return float(self.means(words, np.array([keys.size]))[0])

    def means(self, words: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return means in nats, (n,), from sums of `two_words`, (2, n), and the numbers of comparisons, (n,)."""
        carried = np.stack((words[0] & _LOW, words[1] + (words[0] >> 32)))
        return np.asarray(self.nats(carried) / np.maximum(sizes, 1))


def two_words(costs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum costs: (2, 1), those of the lower 32 bits and those of the higher ones."""
    return np.array([[(costs & _LOW).sum()], [(costs >> 32).sum()]])


def exact_costs(keys: ClassKeys, log_odds: float = 0.0) -> tuple[ExactCosts, ExactCosts]:
    """Find in what units to count the costs of mated, and of non-mated, comparisons.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys of all comparisons of both classes, or of those near the errors, whose costs are the largest.
    log_odds : float
        As in `ExactCosts`.

    Returns
    -------
    tuple of ExactCosts
    """
    found, (low, high) = [], keys.limits or (0, 0)
    # Where a scan has kept none, the lowest mated key is the limit, and the highest non-mated one lies just below it.
    for kept, limit, mated in ((keys.mated[:1], high, True), (keys.nonmated[-1:], low - 1, False)):
        worst = kept if kept.size or not keys.sizes[0 if mated else 1] else np.array([limit], kept.dtype)
        largest = _costs(worst, mated, log_odds).max(initial=0.0)
        found.append(ExactCosts(mated, int(np.frexp(largest)[1]) - ExactCosts.bits, log_odds))
    return found[0], found[1]


def _costs(keys: score_keys.Keys, mated: bool, log_odds: float) -> NDArray[np.float64]:
    return log_likelihood_ratio_costs(score_keys.decode(keys).astype(np.float64) + log_odds, mated)


def log_likelihood_ratio_costs(ratios: NDArray[np.float64], mated: bool) -> NDArray[np.float64]:
    """Compute the cost of each comparison, in nats, from its log-likelihood ratio.

    Parameters
    ----------
    ratios : (n,) ndarray
        Natural logarithms of likelihood ratios.
    mated : bool
        Whether the comparisons are mated.

    Returns
    -------
    (n,) ndarray
    """
    return np.asarray(np.logaddexp(0, -ratios if mated else ratios))
