"""What comparisons cost, grouped as partners of units: exact total costs, and the dyadic variance of mean costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads
from fastfair.error_rates.exact_costs import ExactCosts

from .comparison_lists import ErrorLists, shrinkage_of
from .partners import Partners
from .units import BLOCK

_ROUNDING = 1e-14  # of a mean: a standard error below it is what rounding leaves of 0

Floats = NDArray[np.float64]
Strata = tuple[NDArray[np.int32], NDArray[np.int64]]  # the stratum of each unit, and their sizes


def without_errors(n_units: int) -> tuple[Any, ...]:
    """Return the errors of a list for `kernels.pair_walk.add_runs` that has none."""
    no_rows = np.empty(0, np.int32)
    return no_rows, no_rows, np.zeros((2, n_units), np.int64), np.empty(0, np.int64), np.int64(0), no_rows


class RatioCosts(ABC):
    """What the mated, or the non-mated, comparisons cost in Cllr.

    Attributes
    ----------
    exact : ExactCosts
        What the costs are multiples of.
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list, from list 0 on, whose costs are summed.
    """

    exact: ExactCosts
    sizes: NDArray[np.int64]

    @cached_property
    def means(self) -> Floats:
        """(lists,) mean cost of the comparisons of each list in nats, and 0 where it has none."""
        return np.asarray(self.exact.nats(self._sums()) / np.maximum(self.sizes, 1))

    def shrinkage(self, lists: ErrorLists) -> Floats:
        """Compute the shrinkage of each list's weights for its mean cost, (lists,); see `kernels.dyadic`."""
        if not lists.two_way:
            return np.ones(self.sizes.size)
        # As multiples of what costs are multiples of; a pair's residual is less than the largest cost of all.
        means = np.ldexp(self.means, -self.exact.exponent)
        scale = 0.5 ** (1 + self.exact.bits + int(self.sizes[0]).bit_length())
        variances = self._variances(means, scale, (lists.stratum, lists.stratum_size))
        variances[variances < (_ROUNDING * means * scale)[:, None] ** 2] = 0  # as of a list with a single pair
        return shrinkage_of(variances)

    @abstractmethod
    def _sums(self) -> NDArray[np.int64]:
        """Return the words of the costs of each list, (words, lists), carried."""

    @abstractmethod
    def _variances(self, means: Floats, scale: float, strata: Strata) -> Floats:
        """Compute the variances of the mean cost of each list, (lists, 3), of scaled costs."""


@dataclass(frozen=True, eq=False)
class PartnerCosts(RatioCosts):
    """The costs of comparisons that are grouped as partners of units.

    Attributes
    ----------
    partners : Partners
        The comparisons, grouped with their costs.
    exact, sizes
        As in `RatioCosts`.
    """

    partners: Partners
    exact: ExactCosts
    sizes: NDArray[np.int64]

    def totals(self, weights: NDArray[np.uint8]) -> Floats:
        """Sum weight times cost over the comparisons of each list in 64 replicates, in nats: (lists, 64)."""
        from fastfair.kernels import cost_sums

        words = np.empty((self.sizes.size, cost_sums.WORDS, BLOCK), np.int64)
        cost_sums.total_costs(self.partners.runs, self.partners.words, weights, words)
        return np.asarray(self.exact.nats(words.swapaxes(0, 1)))

    def _sums(self) -> NDArray[np.int64]:
        from fastfair.kernels import cost_sums

        words = np.empty((cost_sums.WORDS, self.sizes.size), np.int64)
        cost_sums.sum_costs(self.partners.runs, self.partners.words, words)
        return words

    def _variances(self, means: Floats, scale: float, strata: Strata) -> Floats:
        found = np.empty((means.size, 3))
        for k, mean in enumerate(means.tolist()):
            self._variance(k, (mean, scale), strata, found[k])
        return found

    def _variance(self, k: int, of_list: tuple[float, float], strata: Strata, found: Floats) -> None:
        """Compute the variances of the mean cost of list k, in as many parts as there are threads."""
        from fastfair.kernels import cost_sums, pair_walk

        partners, (stratum, stratum_size) = self.partners, strata
        runs, varies, n_units = partners.runs, stratum_size[stratum] > 1, stratum.size
        parts = partners.parts(count_threads(partners.n_threads))
        no_errors = without_errors(n_units)

        def add(part: slice) -> tuple[Any, Any]:
            chosen = np.arange(part.start, part.stop, dtype=np.int32)
            if k > 0:
                chosen = chosen[runs.list[part] == k]
            counts, costs = pair_walk.new_sums(1, n_units, stratum_size.size), cost_sums.new_costs(n_units)
            pair_walk.add_runs(runs, chosen, no_errors, stratum, varies, counts, np.empty(n_units, np.int64))
            cost_sums.add_costs(runs, partners.words, chosen, of_list, varies, costs)
            return counts, costs

        (counts, costs), *others = in_threads(int(partners.sizes[k]), add, parts, partners.n_threads)
        for of_part in others:
            for sums, more in zip((counts, costs), of_part, strict=True):
                for array, added in zip(sums, more, strict=True):
                    array += added
        cost_sums.finish_costs(counts, costs, of_list, strata, found)
