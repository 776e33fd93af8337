"""Total weights, and sums over pairs of subjects, of all pairs of vectors, from the numbers of vectors of subjects.

Two subjects with n and m vectors have n m pairs, so that sums over pairs are products of sums over subjects. Only pairs
of two groups in which one group is that of the references depend on the order of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair._lib.workers import Workers
from fastfair.data.pairing import pairs_of_two_subjects
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.exact_costs import ExactCosts

from .counted_partners import CountedPartners, DrawnWeights, Errors, Integers, Walked, require_room
from .sorted_comparisons import SortedComparisons
from .units import BLOCK

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class VectorPartners(CountedPartners):
    """The mated, or the non-mated, pairs of vectors."""

    def __init__(
        self,
        comparisons: KeptComparisons,
        source: SortedComparisons,
        workers: Workers,
        exact: ExactCosts | None = None,
    ) -> None:
        super().__init__(comparisons, source, workers, exact)
        pairs = comparisons.pairs[0 if source.mated else 1]
        assert isinstance(pairs, PairsOfVectors)
        self._pairs, self._group = pairs, comparisons.group_of_number
        self._list = np.zeros((1, 1), np.int32) if source.of_groups is None else source.of_groups[1]

    def any_varies(self, varies: Flags) -> bool:
        """As in `CountedPartners`."""
        return not self._pairs.mated and bool(self._pairs.of_subjects(varies[self._row][:-1]).any())

    def totals(self, drawn: DrawnWeights, n_costs: int, told: Callable[[int], None]) -> tuple[Counts, Counts]:
        """As in `CountedPartners`; no pairs of vectors have costs."""
        from fastfair.kernels import cost_sums
        from fastfair.kernels import vector_pairs as kernels

        weights = [of_block for of_block, _ in drawn.blocks]
        totals = np.zeros((len(weights), self.sizes.size, BLOCK), np.int64)
        pairs, ordered = self._pairs, self._cells and self._pairs.is_probe is None

        def sum_block(block: int) -> None:
            of_subjects, total = weights[block][:-1], totals[block]
            if pairs.mated:
                each = pairs.of_subjects()[:, None] * of_subjects
                for k, inside in self._inside():
                    total[k] = each.sum(axis=0) if inside is None else each[inside].sum(axis=0)
                return
            references, probes = (n[:, None] * of_subjects for n in pairs.vectors)
            for k, inside in self._inside():
                both = (references, probes) if inside is None else (references[inside], probes[inside])
                total[k] = pairs_of_two_subjects(*both, pairs.is_probe is not None)
            if ordered:
                kernels.weigh_by_order(pairs.subject, self._group, self._list, of_subjects, total)
                return
            for k, g, h in self._cells:
                total[k] = references[self._group == g].sum(axis=0) * probes[self._group == h].sum(axis=0)

        in_threads(len(weights) * self._group.size * BLOCK, sum_block, range(len(weights)), self.n_threads)
        told(int(self.sizes[0]))
        return totals, np.zeros((len(weights), n_costs, cost_sums.WORDS, BLOCK), np.int64)

    def _inside(self) -> Iterator[tuple[int, Flags | None]]:
        """Yield the lists of pairs within a set of subjects: of all of them, and of each group."""
        yield 0, None
        for k, in_list in enumerate(np.diagonal(self._list).tolist()):
            if in_list:
                yield in_list, self._group == k

    @property
    def _cells(self) -> list[tuple[int, int, int]]:
        """The other lists, with the groups of their references and of their probes."""
        rows, columns = np.nonzero(self._list)
        found = zip(self._list[rows, columns].tolist(), rows.tolist(), columns.tolist(), strict=True)
        return [(in_list, row, column) for in_list, row, column in found if row != column]

    def _found_in_walk(self, errors: Errors, stratum: Integers, stratum_size: Integers) -> Walked:
        from fastfair.kernels import pair_walk

        pairs, n_lists = self._pairs, self.sizes.size
        require_room(n_lists, stratum.size)
        of_numbers = self.in_order_of_numbers(stratum)[:-1]
        varies = stratum_size[of_numbers] > 1
        comparisons, squares = np.zeros((2, n_lists, stratum.size), np.int64)
        inside, of_pairs = np.zeros((n_lists, stratum_size.size)), np.zeros((n_lists, 1, pair_walk.N_SUMS))
        of_all, of_ends = np.zeros((2, n_lists), np.int64)
        for k, chosen in self._inside():
            own = pairs.of_subjects(chosen)
            squared = pairs.squares(chosen)
            comparisons[k, :-1] = own
            if pairs.mated:  # each is one of a subject and of what never varies
                comparisons[k, -1] = own.sum()
                of_all[k], of_ends[k] = squared.sum(), squared[varies].sum()
                continue
            squares[k, :-1] = np.where(varies, pairs.squares(chosen, varies), 0)
            of_all[k], of_ends[k] = squared.sum() // 2, squared[varies].sum()
            for s in np.unique(of_numbers if chosen is None else of_numbers[chosen]):
                in_stratum = of_numbers == s if chosen is None else chosen & (of_numbers == s)
                inside[k, s] = pairs.of_subjects(in_stratum).sum()
        if self._cells:
            self._add_cells(varies, comparisons, squares, of_all, of_ends)
        of_pairs[:, 0, pair_walk.REPEATS_SQUARED] = of_all
        of_pairs[:, 0, pair_walk.REPEATS_SQUARED_OF_ENDS] = of_ends
        by_rows = [self.in_order_of_rows(sums.T).T.astype(np.float64, order="C") for sums in (comparisons, squares)]
        return Walked(errors, by_rows[0], by_rows[1], inside, of_pairs, self._repeats(errors))

    def _add_cells(self, varies: Flags, comparisons: Counts, squares: Counts, of_all: Counts, of_ends: Counts) -> None:
        """Write the sums of the lists of two groups."""
        from fastfair.kernels import vector_pairs as kernels

        pairs, group = self._pairs, self._group
        as_reference, as_probe = pairs.with_groups(group, self._list.shape[0])
        for k, g, h in self._cells:
            comparisons[k, :-1] = np.where(group == g, as_reference[:, h], np.where(group == h, as_probe[:, g], 0))
        if pairs.is_probe is not None:
            (r, p), v = (n**2 for n in pairs.vectors), varies.astype(np.int64)
            for k, g, h in self._cells:
                of_g, of_h = r * (group == g), p * (group == h)
                squares[k, :-1] = v * (of_g * (of_h @ v) + of_h * (of_g @ v))
                of_all[k] = of_g.sum() * of_h.sum()
                of_ends[k] = (of_g @ v) * of_h.sum() + of_g.sum() * (of_h @ v)
            return
        lock, parts = Lock(), slices(group.size, count_threads(self.n_threads))

        def add(part: slice) -> None:
            own = np.zeros_like(squares[:, :-1]), np.zeros_like(of_all), np.zeros_like(of_ends)
            kernels.square_by_order(part.start, part.stop, pairs.subject, group, self._list, varies, own)
            with lock:
                for sums, more in zip((squares[:, :-1], of_all, of_ends), own, strict=True):
                    sums += more

        in_threads(pairs.subject.size * group.size, add, parts, self.n_threads)

    def _repeats(self, errors: Errors) -> list[NDArray[np.int32]]:
        """Count the pairs of each list that are of the same two subjects as each of its errors."""
        from fastfair.kernels import vector_pairs as kernels

        a, b, start, stops = errors
        pairs, group = self._pairs, self._group
        number = np.empty(self._row.size, np.int32)
        number[self._row] = np.arange(self._row.size)
        found = [np.zeros(stop - first, np.int32) for first, stop in zip(start, stops, strict=True)]

        def subjects(k: int) -> tuple[Any, Any]:
            part = slice(start[k], stops[k])
            return number[a[part]], number[b[part]]

        for k, _ in self._inside():
            first, second = subjects(k)
            if pairs.mated:  # of a subject and of what never varies, which has the highest number of all
                first = second = np.minimum(first, second)
            found[k][:] = pairs.of_two(first, second)
        if not self._cells:
            return found
        ordered = pairs.is_probe is None
        rows = np.argsort(pairs.subject, kind="stable").astype(np.int32) if ordered else np.empty(0, np.int32)
        begin = np.append(0, np.cumsum(pairs.vectors[0]))
        for k, g, _ in self._cells:
            one, other = subjects(k)
            swapped = group[one] != g
            first, second = np.where(swapped, other, one), np.where(swapped, one, other)
            if ordered:
                kernels.count_ordered(begin, rows, first, second, found[k])
            else:
                found[k][:] = pairs.vectors[0][first] * pairs.vectors[1][second]
        return found
