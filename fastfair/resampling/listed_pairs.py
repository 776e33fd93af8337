"""Comparisons that are listed with the rows of weights of their units: as sorted, and grouped by one of their units."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair._lib.workers import Workers
from fastfair.data.sorted_scores import SortedSide
from fastfair.error_rates.score_metrics import ExactCosts

from .pair_source import Errors, Floats, Integers, ListedComparisons, PairSide, SortedComparisons, pieces, side_of
from .units import BLOCK, Units

if TYPE_CHECKING:
    from fastfair.kernels.cost_sums import CostSums
    from fastfair.kernels.pair_walk import Sums
    from fastfair.kernels.partners import Runs

_REPEATED = 5  # comparisons of a pair, from which on multiplying a pair's weight is faster than adding it as often
_REPEATED_WITH_COSTS = 2  # the same where costs are weighted, too
_LOOKED_AT = 2**20  # comparisons that tell how often pairs are repeated


@dataclass(frozen=True, eq=False)
class Grouped:
    """Comparisons, grouped by the smaller of their two units and by list.

    Attributes
    ----------
    runs : kernels.partners.Runs
        The comparisons.
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list; list 0 holds all.
    n_units : int
        Number of rows of weights.
    words : (n, 2 or 3) ndarray of uint32
        Costs of partners in words of 32 bits, the lowest first; (0, 2) where comparisons were grouped without.
    """

    runs: Runs
    sizes: NDArray[np.int64]
    n_units: int
    words: NDArray[np.uint32]

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons that are grouped."""
        return int(self.runs.repeats.sum() or self.runs.partner.size)

    def total_weights(self, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """Write the total weight of the comparisons of each list in 64 replicates into `totals`, (lists, 64)."""
        from fastfair.kernels import row_sums

        row_sums.total_weights(self.runs, weights, largest, totals)

    def total_costs(self, weights: NDArray[np.uint8], words: NDArray[np.int64]) -> None:
        """Write the weighted costs of the first lists in 64 replicates into `words`, (n_lists, words, 64)."""
        from fastfair.kernels import cost_sums

        cost_sums.total_costs(self.runs, self.words, weights, words)

    def cost_words(self, n_lists: int) -> NDArray[np.int64]:
        """Return the total costs of the first lists in words of 32 bits, (words, n_lists)."""
        from fastfair.kernels import cost_sums

        words = np.empty((cost_sums.WORDS, n_lists), np.int64)
        cost_sums.sum_costs(self.runs, self.words, words)
        return words

    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """Tell whether any comparison has two units that vary."""
        from fastfair.kernels import partners as kernels

        return bool(kernels.any_varies(self.runs, varies))

    def runs_of_list(self, k: int) -> Integers:
        """Return the runs of a list, in the order of units."""
        if k == 0:
            return np.arange(self.runs.stop.size, dtype=np.int32)
        chosen, begin, end = self.runs_of_lists
        return chosen[begin[k] : end[k]]

    @cached_property
    def runs_of_lists(self) -> tuple[Integers, Integers, Integers]:
        """The runs in the order of their lists, and where those of each list begin and end."""
        n = np.bincount(self.runs.list, minlength=self.sizes.size)
        end = np.cumsum(n)
        return np.argsort(self.runs.list, kind="stable").astype(np.int32), end - n, end

    def parts(self, n_threads: int) -> list[slice]:
        """Cut the runs into parts with about as many comparisons, each with all runs of its units."""
        runs = self.runs
        if runs.stop.size == 0:
            return [slice(0, 0)]
        ends = [part.stop for part in slices(int(runs.stop[-1]), n_threads)]
        units = runs.unit[np.searchsorted(runs.stop, ends[:-1])]
        cuts = sorted({0, *np.searchsorted(runs.unit, units).tolist(), runs.stop.size})
        return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]


class ListedSide(PairSide):
    """Comparisons in memory, or of any source that lists them."""

    def __init__(
        self,
        listed: ListedComparisons,
        sizes: NDArray[np.int64],
        units: Units,
        n_threads: int | None = None,
        exact: ExactCosts | None = None,
    ) -> None:
        super().__init__(sizes, units, n_threads, exact)
        self.grouped = group_comparisons(listed, sizes, units.n_rows, n_threads, exact)

    @cached_property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        return self.grouped.any_varies(self.varies)

    def weigh(self, block: int, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """As in `PairSide`."""
        self.grouped.total_weights(weights, largest, totals)

    def cost(self, block: int, weights: NDArray[np.uint8], n_lists: int) -> Floats:
        """As in `PairSide`."""
        from fastfair.kernels import cost_sums

        assert self.exact is not None
        words = np.empty((n_lists, cost_sums.WORDS, BLOCK), np.int64)
        self.grouped.total_costs(weights, words)
        return np.asarray(self.exact.nats(words.swapaxes(0, 1)))

    def unit_counts(self, k: int) -> NDArray[np.int64]:
        """As in `PairSide`."""
        from fastfair.kernels import unit_sums

        counts = np.zeros(self.stratum.size, np.int64)
        unit_sums.count_comparisons(self.grouped.runs, self.grouped.runs_of_list(k), counts)
        return counts

    def variance(self, k: int, rows: tuple[Integers, Integers], part: slice) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
        from fastfair.kernels import pair_walk

        found = np.empty((1, 1, 3)), np.empty((1, 1, pair_walk.N_SUMS))
        errors = rows[0][part], rows[1][part]
        stops, zeros = np.array([[errors[0].size]]), np.zeros((1, 1), np.int64)
        if k == 0:
            self._variances_of_all((*errors, stops[0], zeros[0]), found)
        else:
            chosen, begin, end = self.grouped.runs_of_lists
            of_lists, of_errors = (chosen, begin[k : k + 1], end[k : k + 1]), (*errors, zeros[0], stops, zeros)
            strata = self.stratum, self.stratum_size
            pair_walk.variances_of_lists(self.grouped.runs, of_lists, of_errors, strata, self.varies, *found)
        return found[0][0, 0], found[1][0, 0]

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
        from fastfair.kernels import pair_walk

        a, b, start, stops = errors
        n_points, n_lists = stops.shape
        found = np.empty((n_lists, n_points, 3)), np.empty((n_lists, n_points, pair_walk.N_SUMS))
        if n_points == 0:
            return np.empty((0, n_lists, 3)), np.empty((0, n_lists, pair_walk.N_SUMS))

        strata = self.stratum, self.stratum_size
        chosen, begin, end = self.grouped.runs_of_lists
        orders = np.argsort(stops.T, axis=1, kind="stable").copy()  # list by list, whatever the order in memory
        ascending = np.take_along_axis(stops.T, orders, axis=1).copy()

        def compute(lists: slice) -> None:
            of_lists = chosen, begin[lists], end[lists]
            of_errors = a, b, start[lists], ascending[lists], orders[lists]
            written = (array[lists] for array in found)
            pair_walk.variances_of_lists(self.grouped.runs, of_lists, of_errors, strata, self.varies, *written)

        self._variances_of_all((a, b, ascending[0], orders[0]), found)
        in_threads(int(self.sizes[0]), compute, shares_of_lists(self.sizes, self.n_threads), self.n_threads)
        of_rates, of_pairs = (array.swapaxes(0, 1).copy() for array in found)
        return of_rates, of_pairs

    def _variances_of_all(self, errors: Errors, found: tuple[Floats, Floats]) -> None:
        """Write those of list 0, added up by several threads; errors: a, b, where they end, ascending, their order."""
        from fastfair.kernels import pair_walk

        (a, b, ascending, order), runs, n_rows = errors, self.grouped.runs, self.stratum.size
        n_errors = int(ascending[-1])
        begin, at = np.zeros((2, n_rows), np.int64), np.empty(n_errors, np.int64)
        pair_walk.group_errors(a, b, 0, n_errors, begin, at)
        grouped = a, b, begin, at, np.int64(0), np.empty(n_errors, np.int32)

        def add(part: slice) -> Sums:
            sums = pair_walk.new_sums(ascending.size, n_rows, self.stratum_size.size)
            chosen, seen = np.arange(part.start, part.stop, dtype=np.int32), np.empty(n_rows, np.int64)
            pair_walk.add_runs(runs, chosen, grouped, self.stratum, self.varies, sums, seen)
            own = runs.unit[part]
            if own.size:
                pair_walk.add_errors(own[0], own[-1] + 1, grouped, ascending, self.varies, sums)
            return sums

        sums = self._added(add, int(self.sizes[0]))
        units_seen = np.flatnonzero(sums.comparisons)
        of_list = (array[0] for array in found)
        pair_walk.finish_list(sums, units_seen, (0, ascending, order), (self.stratum, self.stratum_size), *of_list)

    def _added(self, add: Callable[[slice], Any], n: int) -> Any:
        """Add up, array by array, what is found in as many parts of the runs as there are threads."""
        sums, *others = in_threads(n, add, self.grouped.parts(count_threads(self.n_threads)), self.n_threads)
        for other in others:
            for array, more in zip(sums, other, strict=True):
                array += more
        return sums

    def cost_words(self, n_lists: int) -> NDArray[np.int64]:
        """As in `PairSide`."""
        return self.grouped.cost_words(n_lists)

    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """As in `PairSide`."""
        from fastfair.kernels import cost_sums, pair_walk

        runs, words, n_rows, found = self.grouped.runs, self.grouped.words, self.stratum.size, np.empty((means.size, 3))
        no_errors = without_errors(n_rows)
        for k, mean in enumerate(means.tolist()):
            of_list = mean, scale

            def add(part: slice, k: int = k, of_list: tuple[float, float] = of_list) -> list[Any]:
                chosen = np.arange(part.start, part.stop, dtype=np.int32)
                if k > 0:
                    chosen = chosen[runs.list[part] == k]
                counts, costs = pair_walk.new_sums(1, n_rows, self.stratum_size.size), cost_sums.new_costs(n_rows)
                seen = np.empty(n_rows, np.int64)
                pair_walk.add_runs(runs, chosen, no_errors, self.stratum, self.varies, counts, seen)
                cost_sums.add_costs(runs, words, chosen, of_list, self.varies, costs)
                return [*counts, *costs]

            counts, costs = pair_and_cost_sums(self._added(add, int(self.sizes[k])))
            cost_sums.finish_costs(counts, costs, of_list, (self.stratum, self.stratum_size), found[k])
        return found


@side_of.register
def _(pairs: SortedSide, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None) -> ListedSide:
    return ListedSide(kept, kept.sizes, kept.units, workers.n_threads, exact)


def shares_of_lists(sizes: NDArray[np.int64], n_threads: int | None) -> list[slice]:
    """Cut the lists after list 0 into shares with about as many comparisons, one for each thread."""
    running, n = np.cumsum(sizes[1:]), count_threads(n_threads)
    if running.size == 0 or running[-1] == 0:
        return [slice(1, sizes.size)] if running.size else []
    cuts = {1 + int(np.searchsorted(running, running[-1] * k / n)) for k in range(1, n)}
    return [slice(*both_ends) for both_ends in itertools.pairwise(sorted({1, *cuts, sizes.size}))]


def without_errors(n_units: int) -> tuple[Any, ...]:
    """Return the errors of a list for `kernels.pair_walk.add_runs` that has none."""
    no_rows = np.empty(0, np.int32)
    return no_rows, no_rows, np.zeros((2, n_units), np.int64), np.empty(0, np.int64), np.int64(0), no_rows


def pair_and_cost_sums(arrays: Sequence[Any]) -> tuple[Sums, CostSums]:
    """Return the sums of a list over pairs, and of their costs, as kernels take them."""
    from fastfair.kernels import cost_sums, pair_walk

    n = len(pair_walk.Sums._fields)
    return pair_walk.Sums(*arrays[:n]), cost_sums.CostSums(*arrays[n:])


def group_comparisons(
    source: ListedComparisons,
    sizes: NDArray[np.int64],
    n_units: int,
    n_threads: int | None,
    exact: ExactCosts | None = None,
) -> Grouped:
    """Group comparisons by the smaller of their two units, and by list.

    Parameters
    ----------
    source : ListedComparisons
        The comparisons.
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list; list 0 holds all.
    n_units : int
        Number of rows of weights.
    n_threads : int, optional
        All processors by default.
    exact : ExactCosts, optional
        What comparisons cost, to be grouped with them.

    Returns
    -------
    Grouped
    """
    from fastfair.kernels import partners as kernels

    n, n_lists = len(source), sizes.size
    n_parts = min(count_threads(n_threads), max(1, n // max(n_units, 1)))  # each counts all units
    parts = [pieces(part) for part in slices(n, n_parts)]
    counts = np.zeros((len(parts), n_units), np.int64)

    def count(k: int) -> None:
        for piece in parts[k]:
            kernels.count_smaller(*source.rows(piece), counts[k])

    in_threads(n, count, range(len(parts)), n_threads)
    begin = np.append(0, np.cumsum(counts.sum(axis=0)))
    position = begin[:-1] + np.cumsum(counts, axis=0) - counts
    partner = np.empty(n, np.uint16 if n_units <= 2**16 else np.int32)
    no_costs, words = np.empty(0, np.int64), np.empty((0 if exact is None else n, 2), np.uint32)
    kind = source.lists(slice(0, 0))
    lists = np.empty(n if n_lists > 1 else 0, kind.dtype)

    def scatter(k: int) -> None:
        for piece in parts[k]:
            costs = no_costs if exact is None else exact.of(source.keys_of(piece))
            kernels.scatter(*source.rows(piece), source.lists(piece), position[k], partner, lists, costs, words)

    in_threads(n, scatter, range(len(parts)), n_threads)
    cuts = np.searchsorted(begin, [part.stop for part in slices(n, count_threads(n_threads))][:-1])
    blocks = [*itertools.pairwise(sorted({0, *cuts.tolist(), n_units}))]
    n_runs = in_threads(
        n, lambda block: int(kernels.arrange(begin, *block, n_lists, partner, lists, words)), blocks, n_threads
    )
    total = sum(n_runs)
    runs = kernels.Runs(
        np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int64), partner, np.empty(0, np.int32)
    )  # fmt: skip
    first = np.cumsum(n_runs) - n_runs

    def write(k: int) -> None:
        kernels.write_runs(begin, *blocks[k], lists, first[k], runs)

    in_threads(n, write, range(len(blocks)), n_threads)
    merged, words = _merged(runs, words, n_units)
    return Grouped(merged, sizes, n_units, words)


def _merged(runs: Runs, words: NDArray[np.uint32], n_units: int) -> tuple[Runs, NDArray[np.uint32]]:
    """Keep partners once, with the number and the costs of their comparisons, where they are repeated often."""
    from fastfair.kernels import cost_sums
    from fastfair.kernels import partners as kernels

    last = min(runs.stop.size, int(np.searchsorted(runs.stop, _LOOKED_AT)) + 1)
    repeated = _REPEATED_WITH_COSTS if words.size else _REPEATED
    if last == 0 or kernels.count_pairs(runs, last, n_units) * repeated > runs.stop[last - 1]:
        return runs, words
    n_pairs = int(kernels.count_pairs(runs, runs.stop.size, n_units))
    merged = runs._replace(
        stop=np.empty_like(runs.stop),
        partner=np.empty(n_pairs, runs.partner.dtype),
        repeats=np.empty(n_pairs, np.int32),
    )
    kernels.merge_repeated(runs, n_units, merged)
    if words.size:
        of_pairs = np.empty((n_pairs, 3), np.uint32)
        cost_sums.merge_costs(runs, words, n_units, merged, of_pairs)
        words = of_pairs
    return merged, words
