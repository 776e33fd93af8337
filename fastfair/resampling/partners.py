"""Comparisons as partners of units: their total weights, and sums over their pairs, without a list of pairs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads, slices

from .sorted_comparisons import ListedComparisons, pieces

if TYPE_CHECKING:
    from fastfair.error_rates.exact_costs import ExactCosts
    from fastfair.kernels.pair_walk import Sums
    from fastfair.kernels.partners import Runs

Integers = NDArray[np.integer]
Floats = NDArray[np.float64]
_REPEATED = 5  # comparisons of a pair, from which on multiplying a pair's weight is faster than adding it as often
_REPEATED_WITH_COSTS = 2  # the same where costs are weighted, too
_LOOKED_AT = 2**20  # comparisons that tell how often pairs are repeated


@dataclass(frozen=True, eq=False)
class Partners:
    """The mated, or the non-mated, comparisons, grouped by one of their two units and by list.

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
    n_threads : int or None
        Number of threads that sum over pairs, and make lists; all processors by default.
    """

    runs: Runs
    sizes: NDArray[np.int64]
    n_units: int
    words: NDArray[np.uint32]
    n_threads: int | None = None

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons that are grouped."""
        return int(self.runs.repeats.sum() or self.runs.partner.size)

    def total_weights(self, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """Write the total weight of the comparisons of each list in 64 replicates into `totals`, (lists, 64)."""
        from fastfair.kernels import row_sums

        row_sums.total_weights(self.runs, weights, largest, totals)

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

    def comparisons_of_units(self, k: int) -> NDArray[np.int64]:
        """Return the number of comparisons of each unit in list k, (units,)."""
        from fastfair.kernels import unit_sums

        counts = np.zeros(self.n_units, np.int64)
        unit_sums.count_comparisons(self.runs, k, counts)
        return counts

    def variance(
        self, k: int, rows: tuple[Integers, Integers], part: slice, stratum: Integers, stratum_size: Integers
    ) -> Floats:
        """Compute the variances of the rate of list k alone.

        Parameters
        ----------
        k : int
            The list.
        rows : tuple of (n,) ndarray
            The rows of both units of the comparisons of all lists.
        part : slice
            Those of list k that are errors.
        stratum, stratum_size : (units,) and (strata,) ndarray
            As in `variances`.

        Returns
        -------
        (3,) ndarray
        """
        from fastfair.kernels import pair_walk

        found = np.empty((1, 1, 3)), np.empty((1, 1, pair_walk.N_SUMS))
        errors = rows[0][part], rows[1][part]
        stops, zeros, units = np.array([[errors[0].size]]), np.zeros((1, 1), np.int64), (stratum, stratum_size)
        if k == 0:
            self._variances_of_all((*errors, stops[0], zeros[0]), units, found)
        else:
            chosen, begin, end = self.runs_of_lists
            of_lists, of_errors = (chosen, begin[k : k + 1], end[k : k + 1]), (*errors, zeros[0], stops, zeros)
            varies = stratum_size[stratum] > 1
            pair_walk.variances_of_lists(self.runs, of_lists, of_errors, units, varies, *found)
        return np.asarray(found[0][0, 0])

    def variances(
        self, errors: tuple[Integers, Integers, Integers, Integers], stratum: Integers, stratum_size: Integers
    ) -> tuple[Floats, Floats]:
        """Compute the variances of the rates of all lists, and sums over their pairs.

        Parameters
        ----------
        errors : tuple of ndarray
            The rows of both units of comparisons in lists, (n,) each, errors first; where each list begins, (lists,);
            and where its errors end, (points, lists).
        stratum, stratum_size : (units,) and (strata,) ndarray
            The stratum of each unit, and the number of units in each.

        Returns
        -------
        (points, lists, 3) and (points, lists, sums) ndarray
            As `kernels.dyadic` and `kernels.pair_walk` write them.
        """
        from fastfair.kernels import pair_walk

        a, b, start, stops = errors
        n_points, n_lists = stops.shape
        found = np.empty((n_lists, n_points, 3)), np.empty((n_lists, n_points, pair_walk.N_SUMS))
        if n_points == 0:
            return np.empty((0, n_lists, 3)), np.empty((0, n_lists, pair_walk.N_SUMS))

        chosen, begin, end = self.runs_of_lists
        orders = np.argsort(stops.T, axis=1, kind="stable").copy()  # list by list, whatever the order in memory
        ascending = np.take_along_axis(stops.T, orders, axis=1).copy()
        varies = stratum_size[stratum] > 1

        def compute(lists: slice) -> None:
            of_lists = chosen, begin[lists], end[lists]
            of_errors = a, b, start[lists], ascending[lists], orders[lists]
            written = (array[lists] for array in found)
            pair_walk.variances_of_lists(self.runs, of_lists, of_errors, (stratum, stratum_size), varies, *written)

        self._variances_of_all((a, b, ascending[0], orders[0]), (stratum, stratum_size), found)
        shares = self.shares(count_threads(self.n_threads))
        in_threads(int(self.sizes[0]), compute, shares, self.n_threads)
        of_rates, of_pairs = (array.swapaxes(0, 1).copy() for array in found)
        return of_rates, of_pairs

    def _variances_of_all(
        self,
        errors: tuple[Integers, Integers, Integers, Integers],
        units: tuple[Integers, Integers],
        found: tuple[Floats, Floats],
    ) -> None:
        """Do the same for list 0, whose sums are added up by several threads, at points whose errors ascend."""
        from fastfair.kernels import pair_walk

        a, b, ascending, order = errors
        stratum, stratum_size = units
        n_errors = int(ascending[-1])
        begin, at = np.zeros((2, self.n_units), np.int64), np.empty(n_errors, np.int64)
        pair_walk.group_errors(a, b, 0, n_errors, begin, at)
        grouped = a, b, begin, at, np.int64(0), np.empty(n_errors, np.int32)
        varies = stratum_size[stratum] > 1

        def add(part: slice) -> Sums:
            sums = pair_walk.new_sums(ascending.size, self.n_units, stratum_size.size)
            chosen, seen = np.arange(part.start, part.stop, dtype=np.int32), np.empty(self.n_units, np.int64)
            pair_walk.add_runs(self.runs, chosen, grouped, stratum, varies, sums, seen)
            own = self.runs.unit[part]
            if own.size:
                pair_walk.add_errors(own[0], own[-1] + 1, grouped, ascending, varies, sums)
            return sums

        parts = self.parts(count_threads(self.n_threads))
        sums, *others = in_threads(int(self.sizes[0]), add, parts, self.n_threads)
        for other in others:
            for array, more in zip(sums, other, strict=True):
                array += more
        units_seen = np.flatnonzero(sums.comparisons)
        of_list = (array[0] for array in found)
        pair_walk.finish_list(sums, units_seen, (0, ascending, order), units, *of_list)

    def parts(self, n_threads: int) -> list[slice]:
        """Cut the runs into parts with about as many comparisons, each with all runs of its units."""
        runs = self.runs
        if runs.stop.size == 0:
            return [slice(0, 0)]
        ends = [part.stop for part in slices(int(runs.stop[-1]), n_threads)]
        units = runs.unit[np.searchsorted(runs.stop, ends[:-1])]
        cuts = sorted({0, *np.searchsorted(runs.unit, units).tolist(), runs.stop.size})
        return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]

    def shares(self, n_threads: int) -> list[slice]:
        """Cut the lists after list 0 into shares with about as many comparisons."""
        running = np.cumsum(self.sizes[1:])
        if running.size == 0 or running[-1] == 0:
            return [slice(1, self.sizes.size)] if running.size else []
        cuts = {1 + int(np.searchsorted(running, running[-1] * k / n_threads)) for k in range(1, n_threads)}
        return [slice(*both_ends) for both_ends in itertools.pairwise(sorted({1, *cuts, self.sizes.size}))]

    @cached_property
    def runs_of_lists(self) -> tuple[Integers, Integers, Integers]:
        """The runs in the order of their lists, and where those of each list begin and end."""
        n = np.bincount(self.runs.list, minlength=self.sizes.size)
        end = np.cumsum(n)
        return np.argsort(self.runs.list, kind="stable").astype(np.int32), end - n, end


def group_comparisons(source: ListedComparisons, n_threads: int | None, exact: ExactCosts | None = None) -> Partners:
    """Group comparisons by the smaller of their two units, and by list.

    Parameters
    ----------
    source : ListedComparisons
        The comparisons.
    n_threads : int, optional
        All processors by default.
    exact : ExactCosts, optional
        What comparisons cost, to be grouped with them.

    Returns
    -------
    Partners
    """
    from fastfair.kernels import partners as kernels

    n, n_units, n_lists = len(source), source.n_rows, source.sizes.size
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
    lists = np.empty(n if source.has_groups else 0, kind.dtype)

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
    return Partners(merged, source.sizes, n_units, words, n_threads)


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
