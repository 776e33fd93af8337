"""What the comparisons of a scan cost, summed bucket by bucket."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.jobs import Arrays
from fastfair._lib.threads import in_threads
from fastfair.error_rates.exact_costs import ExactCosts

from .partner_costs import Floats, RatioCosts, Strata, without_errors
from .partners import Partners
from .scanned_partners import ScannedPartners

if TYPE_CHECKING:
    from fastfair.kernels.cost_sums import CostSums
    from fastfair.kernels.pair_walk import Sums

_BYTES_OF_A_UNIT = 112  # in a list: sums of comparisons and of costs


@dataclass(frozen=True, eq=False)
class ScannedCosts(RatioCosts):
    """The costs of the mated, or of the non-mated, comparisons of a scan.

    Attributes
    ----------
    partners : ScannedPartners
        The comparisons, grouped with their costs.
    exact, sizes
        As in `RatioCosts`.
    """

    partners: ScannedPartners
    exact: ExactCosts
    sizes: NDArray[np.int64]

    def _sums(self) -> NDArray[np.int64]:
        from fastfair.kernels import cost_sums

        words = self.partners.sum_of_buckets(_CostsOfLists(self.sizes.size))["words"]
        cost_sums.carry(words)
        return words

    def _variances(self, means: Floats, scale: float, strata: Strata) -> Floats:
        from fastfair.kernels import cost_sums

        stratum, stratum_size = strata
        n_units = stratum.size
        memory.require(
            _BYTES_OF_A_UNIT * means.size * n_units,
            f"sums over the costs of {n_units:,} subjects in {means.size:,} groups",
            "use fewer groups, or leave Cllr out",
        )
        of_numbers = self.partners.in_order_of_numbers(stratum)
        varies = stratum_size[of_numbers] > 1
        work = _PairCosts(means, scale, of_numbers, varies, stratum_size.size)
        arrays = self.partners.sum_of_buckets(work)
        sums = [_of_list(arrays, k) for k in range(means.size)]
        found = np.empty((means.size, 3))
        for k, (counts, costs) in enumerate(sums):
            in_rows = self.partners.in_order_of_rows
            counts = counts._replace(
                comparisons=in_rows(counts.comparisons), repeats_squared=in_rows(counts.repeats_squared)
            )
            costs = costs._replace(costs=in_rows(costs.costs), squares=in_rows(costs.squares))
            cost_sums.finish_costs(counts, costs, (means[k], scale), strata, found[k])
        return found


@dataclass(frozen=True, eq=False)
class _CostsOfLists:
    """A pass that sums the costs of lists, in words."""

    n_lists: int

    def start(self, _: int | None) -> _CostSums:
        return _CostSums(self.n_lists)


class _CostSums:
    def __init__(self, n_lists: int) -> None:
        from fastfair.kernels import cost_sums

        self._words, self._lock = np.zeros((cost_sums.WORDS, n_lists), np.int64), Lock()

    @property
    def arrays(self) -> Arrays:
        return {"words": self._words}

    def add(self, partners: Partners) -> None:
        from fastfair.kernels import cost_sums

        own = np.empty_like(self._words)
        cost_sums.sum_costs(partners.runs, partners.words, own)
        with self._lock:
            self._words += own


@dataclass(frozen=True, eq=False)
class _PairCosts:
    """A pass over the pairs of units of each list, as `kernels.cost_sums` sums their costs."""

    means: Floats
    scale: float
    stratum: NDArray[np.int32]  # (units,)
    varies: NDArray[np.bool_]  # (units,)
    n_strata: int

    def start(self, n_threads: int | None) -> _PairCostSums:
        return _PairCostSums(self, n_threads)


class _PairCostSums:
    def __init__(self, work: _PairCosts, n_threads: int | None) -> None:
        from fastfair.kernels import cost_sums, pair_walk

        self._work, self._n_threads = work, n_threads
        n_lists, n_units = work.means.size, work.stratum.size
        one = *pair_walk.new_sums(1, n_units, work.n_strata), *cost_sums.new_costs(n_units)
        self._arrays = [np.zeros((n_lists, *array.shape), array.dtype) for array in one]
        self._locks = [Lock() for _ in range(n_lists)]

    @property
    def arrays(self) -> Arrays:
        return {str(number): array for number, array in enumerate(self._arrays)}

    def add(self, partners: Partners) -> None:
        from fastfair.kernels import cost_sums, pair_walk

        work = self._work
        no_errors = without_errors(work.stratum.size)

        def add_list(k: int) -> None:
            chosen, (counts, costs) = partners.runs_of_list(k), _of_list(self.arrays, k)
            seen = np.empty(work.stratum.size, np.int64)
            with self._locks[k]:
                pair_walk.add_runs(partners.runs, chosen, no_errors, work.stratum, work.varies, counts, seen)
                of_list = work.means[k], work.scale
                cost_sums.add_costs(partners.runs, partners.words, chosen, of_list, work.varies, costs)

        in_threads(partners.n_comparisons, add_list, range(work.means.size), self._n_threads)


def _of_list(arrays: Arrays, k: int) -> tuple[Sums, CostSums]:
    """Return the sums of a list, as kernels take them."""
    from fastfair.kernels import cost_sums, pair_walk

    of_list = [array[k] for array in arrays.values()]
    n = len(pair_walk.Sums._fields)
    return pair_walk.Sums(*of_list[:n]), cost_sums.CostSums(*of_list[n:])
