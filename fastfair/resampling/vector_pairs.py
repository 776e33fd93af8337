"""Pairs of vectors: total weights, and sums over pairs of subjects, from the numbers of vectors that subjects have.

Two subjects with n and m vectors have n m pairs, so that sums over pairs are products of sums over subjects. Only pairs
of two groups in which one group is that of the references depend on the order of the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair._lib.workers import Workers
from fastfair.data.vector_pairs import PairsOfVectors, pairs_of_two_subjects
from fastfair.error_rates.score_metrics import ExactCosts

from .pair_source import CountedSide, Errors, SortedComparisons, Walked, require_room, side_of

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class VectorSide(CountedSide):
    """The mated, or the non-mated, pairs of vectors."""

    def __init__(
        self, pairs: PairsOfVectors, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None
    ) -> None:
        super().__init__(kept, workers, exact)
        self._pairs = pairs
        self._list = np.zeros((1, 1), np.int32) if kept.list_of_cell is None else kept.list_of_cell

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the sums over pairs."""
        return vars(self) | {"_walked": None}

    @cached_property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        return not self._pairs.mated and bool(self._pairs.of_subjects(self.varies[self._row][:-1]).any())

    def weigh(self, block: int, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """As in `PairSide`."""
        from fastfair.kernels import vector_pairs as kernels

        pairs, of_subjects = self._pairs, weights[self._row[:-1]]
        totals[:] = 0
        if pairs.mated:
            each = pairs.of_subjects()[:, None] * of_subjects
            for k, inside in self._inside():
                totals[k] = each.sum(axis=0) if inside is None else each[inside].sum(axis=0)
            return
        references, probes = (n[:, None] * of_subjects for n in pairs.vectors)
        for k, inside in self._inside():
            both = (references, probes) if inside is None else (references[inside], probes[inside])
            totals[k] = pairs_of_two_subjects(*both, pairs.is_probe is not None)
        if self._cells and pairs.is_probe is None:
            kernels.weigh_by_order(pairs.subject, self.group, self._list, of_subjects, totals)
            return
        for k, g, h in self._cells:
            totals[k] = references[self.group == g].sum(axis=0) * probes[self.group == h].sum(axis=0)

    def _inside(self) -> Iterator[tuple[int, Flags | None]]:
        """Yield the lists of pairs within a set of subjects: of all of them, and of each group."""
        yield 0, None
        for k, in_list in enumerate(np.diagonal(self._list).tolist()):
            if in_list:
                yield in_list, self.group == k

    @property
    def _cells(self) -> list[tuple[int, int, int]]:
        """The other lists, with the groups of their references and of their probes."""
        rows, columns = np.nonzero(self._list)
        found = zip(self._list[rows, columns].tolist(), rows.tolist(), columns.tolist(), strict=True)
        return [(in_list, row, column) for in_list, row, column in found if row != column]

    def _walk(self, errors: Errors) -> Walked:
        from fastfair.kernels import pair_walk

        pairs, n_lists, stratum, stratum_size = self._pairs, self.sizes.size, self.stratum, self.stratum_size
        require_room(n_lists, stratum.size)
        of_numbers, varies = self.stratum_of_numbers[:-1], self.varies[self._row][:-1]
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

        pairs, group = self._pairs, self.group
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
        pairs, group = self._pairs, self.group
        number = self.numbers
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


@side_of.register
def _(pairs: PairsOfVectors, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None) -> VectorSide:
    return VectorSide(pairs, kept, workers, exact)
