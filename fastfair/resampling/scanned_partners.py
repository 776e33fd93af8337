"""Total weights, and sums over pairs of units, of comparisons that lie in buckets, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.jobs import Arrays
from fastfair._lib.threads import in_threads
from fastfair._lib.workers import Workers
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.exact_costs import ExactCosts

from .counted_partners import CountedPartners, DrawnWeights, Errors, Integers, Walked, require_room
from .grouped_buckets import GroupedBuckets, Pass
from .partners import Partners
from .sorted_comparisons import SortedComparisons
from .units import BLOCK


class ScannedPartners(CountedPartners):
    """The mated, or the non-mated, comparisons of a scan, bucket by bucket, where they are grouped with their costs."""

    def __init__(
        self,
        comparisons: KeptComparisons,
        source: SortedComparisons,
        workers: Workers,
        exact: ExactCosts | None = None,
    ) -> None:
        super().__init__(comparisons, source, workers, exact)
        pairs = comparisons.pairs[0 if source.mated else 1]
        assert not isinstance(pairs, PairsOfVectors)
        self._buckets = GroupedBuckets(pairs, source, comparisons.group_of_number, workers, exact)

    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """As in `CountedPartners`."""
        return self._buckets.any_varies(varies[self._row])

    def totals(
        self, drawn: DrawnWeights, n_costs: int, told: Callable[[int], None]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As in `CountedPartners`; each bucket is read once."""
        from fastfair.kernels import cost_sums

        found = self._buckets.sum(_Totals(drawn, self.sizes.size, n_costs), told)
        for block in range(len(drawn.starts) if n_costs else 0):
            for k in range(n_costs):
                cost_sums.carry(found["costs"][block, k])
        return found["totals"], found["costs"]

    def sum_of_buckets(self, work: Pass) -> Arrays:
        """Sum over the comparisons of all buckets, as in `GroupedBuckets`."""
        return self._buckets.sum(work)

    def _found_in_walk(self, errors: Errors, stratum: Integers, stratum_size: Integers) -> Walked:
        from fastfair.kernels import pair_walk

        rows_a, rows_b, start, stops = errors
        n_lists, n_units = start.size, stratum.size
        require_room(n_lists, n_units)
        number = np.empty(n_units, np.int32)
        number[self._row] = np.arange(n_units)
        a, b = number[rows_a], number[rows_b]
        of_numbers = self.in_order_of_numbers(stratum)
        varies = stratum_size[of_numbers] > 1
        grouped = []
        for k in range(n_lists):
            begin, at = np.zeros((2, n_units), np.int64), np.empty(stops[k] - start[k], np.int64)
            pair_walk.group_errors(a, b, start[k], stops[k], begin, at)
            grouped.append((a, b, begin, at, start[k]))
        found = self._buckets.sum(_PairSums(grouped, of_numbers, varies, stratum_size.size))
        comparisons, repeats_squared = (
            self.in_order_of_rows(found[name].T).T.copy() for name in ("comparisons", "repeats_squared")
        )
        repeats = np.split(found["repeats"], np.cumsum(stops - start)[:-1])
        errors = rows_a, rows_b, start, stops
        return Walked(errors, comparisons, repeats_squared, found["inside"], found["of_pairs"], repeats)


@dataclass(frozen=True, eq=False)
class _Totals:
    """A pass that sums the weights, and the weighted costs, of all comparisons in replicates."""

    drawn: DrawnWeights
    n_lists: int
    n_costs: int

    def start(self, n_threads: int | None) -> _TotalSums:
        return _TotalSums(self, n_threads)


class _TotalSums:
    def __init__(self, work: _Totals, n_threads: int | None) -> None:
        from fastfair.kernels import cost_sums

        self._blocks, self._n_threads = work.drawn.blocks, n_threads
        n = len(self._blocks)
        self._totals = np.zeros((n, work.n_lists, BLOCK), np.int64)
        self._costs = np.zeros((n, work.n_costs, cost_sums.WORDS, BLOCK), np.int64)
        self._locks = [Lock() for _ in self._blocks]

    @property
    def arrays(self) -> Arrays:
        return {"totals": self._totals, "costs": self._costs}

    def add(self, partners: Partners) -> None:
        from fastfair.kernels import cost_sums

        def add_block(block: int) -> None:
            weights, largest = self._blocks[block]
            of_bucket, costs_of_bucket = np.empty_like(self._totals[block]), np.empty_like(self._costs[block])
            partners.total_weights(weights, largest, of_bucket)
            if costs_of_bucket.size:
                cost_sums.total_costs(partners.runs, partners.words, weights, costs_of_bucket)
            with self._locks[block]:
                self._totals[block] += of_bucket
                self._costs[block] += costs_of_bucket

        in_threads(partners.n_comparisons, add_block, range(len(self._blocks)), self._n_threads)


@dataclass(frozen=True, eq=False)
class _PairSums:
    """A pass over the pairs of units of each list, as `kernels.pair_walk` sums over them."""

    grouped: list[tuple[Any, ...]]  # the errors of each list, but for the numbers of comparisons of their pairs
    stratum: Integers  # (units,)
    varies: NDArray[np.bool_]  # (units,)
    n_strata: int

    def start(self, n_threads: int | None) -> _SumsOfLists:
        return _SumsOfLists(self, n_threads)


class _SumsOfLists:
    def __init__(self, work: _PairSums, n_threads: int | None) -> None:
        from fastfair.kernels import pair_walk

        self._work, self._n_threads = work, n_threads
        n_lists, n_units = len(work.grouped), work.stratum.size
        sizes = [errors[3].size for errors in work.grouped]
        self.arrays = {
            "comparisons": np.zeros((n_lists, n_units)),
            "repeats_squared": np.zeros((n_lists, n_units)),
            "inside": np.zeros((n_lists, work.n_strata)),
            "of_pairs": np.zeros((n_lists, 1, pair_walk.N_SUMS)),
            "repeats": np.zeros(sum(sizes), np.int32),  # those of a pair are found in one bucket alone
        }
        self._repeats = np.split(self.arrays["repeats"], np.cumsum(sizes)[:-1])
        self._locks = [Lock() for _ in sizes]

    def add(self, partners: Partners) -> None:
        from fastfair.kernels import pair_walk

        work, found = self._work, self.arrays
        no_errors = np.empty((0, 3, work.stratum.size))

        def add_list(k: int) -> None:
            sums = pair_walk.Sums(
                found["comparisons"][k],
                found["repeats_squared"][k],
                found["inside"][k],
                no_errors,
                found["of_pairs"][k],
            )
            errors = *work.grouped[k], self._repeats[k]
            own, seen = partners.runs_of_list(k), np.empty(work.stratum.size, np.int64)
            with self._locks[k]:
                pair_walk.add_runs(partners.runs, own, errors, work.stratum, work.varies, sums, seen)

        in_threads(partners.n_comparisons, add_list, range(len(work.grouped)), self._n_threads)
