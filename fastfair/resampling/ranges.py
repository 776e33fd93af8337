"""Part the most similar non-mated pairs: those near thresholds are sorted, of the ranges between them sums suffice.

A replicate's threshold lies near that of the data. So most pairs are errors in every replicate or in none, and what
counts is the total weight of all pairs between two thresholds, for which their order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import in_threads, slices
from fastfair.data import score_keys
from fastfair.data.pair_search import FoundPairs
from fastfair.data.temporary_files import room

from .units import BLOCK, VectorUnits

if TYPE_CHECKING:
    from fastfair.kernels.partners import Runs
    from fastfair.kernels.sweep import Summed

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
_CELL_BITS = 16  # of the range of keys
_FEW = 500_000  # pairs that are all sorted
_LOOKED_AT = 2_000_000  # pairs that tell how much the errors of units vary
_DEVIATIONS = 6.0  # of the number of errors, on either side of a threshold, within which pairs are sorted,
_LEAST_WIDTH = 64  # and as many pairs more
_IN_A_RUN = 8  # pairs of a unit in a range, in the mean, from which on sums are faster than sorting
_LEAST_SHARE = 0.005  # of the pairs that a range must have
_MOST_PARTS = 8  # threads that count at once, each in an array of its own


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of keys whose pairs are left out of lists, as replicates need their total weights alone.

    Attributes
    ----------
    key : (ranges,) int64
        Ascending: the keys of a range's pairs are below it, and those of all further pairs are not.
    parts : (ranges, 1 + groups) int64
        Number of pairs across groups, and inside each group.
    runs : kernels.partners.Runs
        The pairs by the smaller of their rows of weights; their lists, numbered from 1, are those that `parts` counts.
    """

    key: Counts
    parts: Counts
    runs: Runs

    @cached_property
    def counts(self) -> Counts:
        """(lists, ranges) number of pairs of all, and of each group."""
        return np.concatenate((self.parts.sum(axis=1)[None], self.parts[:, 1:].T))

    def below(self, limit: int) -> Counts:
        """Return the number of pairs of each list that lie in ranges below a key: (lists,)."""
        return np.asarray(self.counts[:, self.key <= limit].sum(axis=1))

    def positions(self, positions: Counts, keys: score_keys.Keys) -> Counts:
        """Turn positions among all pairs of list 0 into positions among those that are listed, -1 for those of ranges.

        positions: (n,) counted from 0; keys: (listed,) those of the pairs listed.
        """
        counts = self.counts[0]
        listed_before = np.searchsorted(keys, self.key)
        end = listed_before + np.cumsum(counts)
        passed = (end <= positions[:, None]).sum(axis=1)
        found = positions - np.append(0, np.cumsum(counts))[passed]
        inside = (positions[:, None] < end) & (positions[:, None] >= end - counts)
        return np.where(inside.any(axis=1), -1, found)

    def in_replicates(self, weights: NDArray[np.uint8], largest: int) -> Summed:
        """Sum the weights of the pairs of each list in 64 replicates; weights: (rows, 64), up to the largest."""
        from fastfair.kernels import row_sums, sweep

        totals = np.empty((1 + self.parts.size, BLOCK), np.int64)
        row_sums.total_weights(self.runs, weights, largest, totals)
        of_parts = totals[1:].reshape(*self.parts.shape, BLOCK)
        of_lists = np.concatenate((of_parts.sum(axis=1)[None], np.moveaxis(of_parts[:, 1:], 0, 1)))
        return sweep.Summed(self.key, self.counts, of_lists)


class PairParting:
    """Decides which pairs are sorted, and parts them.

    Parameters
    ----------
    found : FoundPairs
        Non-mated pairs.
    units : VectorUnits
        The units that are drawn.
    n_groups : int
        Number of groups with lists of their own.
    positions : (levels,) ndarray of int64
        For each level, ascending, the position of its threshold in the data among all sorted pairs.
    n_threads : int
        Number of threads.
    """

    def __init__(self, found: FoundPairs, units: VectorUnits, n_groups: int, positions: Counts, n_threads: int) -> None:
        self._found, self._units, self._n_groups = found, units, n_groups
        self._packed = found.packed
        self._positions = positions
        self._slices = slices(self._packed.size, min(n_threads, _MOST_PARTS))
        vectors = np.arange(units.subject.size, dtype=np.int32)
        self._row = units.rows_of(False, vectors, vectors)[0]
        packing = found.packing
        self._dropped = max(packing.span - _CELL_BITS, 0)  # bits of a key below its cell
        self._bits = 2 * packing.places + self._dropped, packing.places

    def parted(self) -> tuple[FoundPairs, Ranges] | None:
        """Part the pairs into those to sort and those to sum; None where sorting all of them is as fast."""
        n_rows, n_lists = self._units.n_rows - 1, 1 + self._n_groups
        size = self._packed.size
        if size < max(_FEW, n_rows * self._positions.size) or self._positions[-1] >= size:
            return None
        part, ends = self._parts(max(_IN_A_RUN * n_rows * n_lists, int(_LEAST_SHARE * size)))
        if not ends:
            return None
        key = self._found.packing.lowest + (np.array(ends) << self._dropped)
        return self._parted(part, key)

    @cached_property
    def _cells(self) -> Counts:
        """(cells,) number of pairs before the end of each cell."""
        from fastfair.kernels import parted_pairs as kernels

        counts = np.zeros((len(self._slices), 1 << (self._found.packing.span - self._dropped)), np.int64)
        self._in_threads(lambda k: kernels.count_cells(self._packed[self._slices[k]], self._bits[0], counts[k]))
        return np.asarray(np.cumsum(counts.sum(axis=0)))

    def _parts(self, least: int) -> tuple[NDArray[np.int16], list[int]]:
        """Return the part of each cell, and the cell after each range, which has at least so many pairs."""
        before = np.append(0, self._cells)
        half = self._half_widths()
        last = self._packed.size - 1
        first_cells, last_cells = (
            np.searchsorted(self._cells, np.clip(self._positions + side * half, 0, last), side="right")
            for side in (-1, 1)
        )
        to_sort, left_out = -1, -2
        part = np.full(self._cells.size, to_sort, np.int16)
        ends: list[int] = []
        at = 0
        for begin, end in zip(first_cells.tolist(), last_cells.tolist(), strict=True):
            if begin > at and before[begin] - before[at] >= least:
                part[at:begin] = len(ends)
                ends.append(begin)
            at = max(at, end + 1)
        part[at:] = left_out
        part[part == to_sort], part[part == left_out] = len(ends), len(ends) + 1
        return part, ends

    def _half_widths(self) -> Counts:
        """(levels,) by how many pairs the number of errors at the threshold of the data may differ in replicates."""
        from fastfair.kernels import parted_pairs as kernels

        cells = np.searchsorted(self._cells, self._positions, side="right")
        part = np.searchsorted(cells, np.arange(self._cells.size)).astype(np.int32)
        step = max(1, self._packed.size // _LOOKED_AT)
        errors = np.zeros((cells.size, self._units.n_rows - 1))
        kernels.count_rows(self._packed, step, self._bits, part, self._row, errors)
        errors = step * np.cumsum(errors, axis=0)
        # Errors that were not looked at add to the variance of those found, and weights of pairs to that of units.
        variance = self._units.spread(errors) - (step - 1) * errors.sum(axis=1)
        deviation = np.sqrt(1.5 * np.maximum(variance, 0) + 4 * self._positions)
        return np.asarray(_DEVIATIONS * deviation + _LEAST_WIDTH, np.int64)

    def _parted(self, part: NDArray[np.int16], key: Counts) -> tuple[FoundPairs, Ranges]:
        from fastfair.kernels import parted_pairs as kernels
        from fastfair.kernels.partners import Runs

        group = self._units.group[self._units.subject] if self._n_groups else np.full(self._row.size, -1, np.int32)
        columns = self._bits, part, self._row, group
        counts = np.zeros((len(self._slices), self._units.n_rows - 1, key.size + 2, 1 + self._n_groups), np.int64)
        kept: dict[int, Counts] = {}

        def count(k: int) -> None:
            own = self._packed[self._slices[k]]
            kept[k] = own[: kernels.count_parts(own, *columns, counts[k])]

        self._in_threads(count)
        n_sorted = counts[:, :, -2].sum(axis=(1, 2))
        in_ranges = np.ascontiguousarray(counts[:, :, :-2])
        total = in_ranges.sum(axis=0)
        stop = np.cumsum(total).reshape(total.shape)
        position = np.cumsum(in_ranges, axis=0) - in_ranges + (stop - total)
        partner = room(int(total.sum()), np.uint16 if self._units.n_rows <= 2**16 else np.int32)
        out, ends = room(int(n_sorted.sum()), np.int64), np.cumsum(n_sorted)

        def scatter(k: int) -> None:
            own = out[ends[k] - n_sorted[k] : ends[k]]
            kernels.scatter_parts(kept[k], *columns, position[k], partner, own)

        self._in_threads(scatter)
        n_runs = np.count_nonzero(total)
        unit, of_list = np.empty((2, n_runs), np.int32)
        runs = Runs(unit, of_list, np.empty(n_runs, np.int64), partner, np.empty(0, np.int32))
        kernels.write_runs(total, runs)
        # What lies behind the last threshold is left out of both.
        complete = self._found.complete and out.size + partner.size == self._packed.size
        found = FoundPairs([{"packed": out}], self._found.packing, complete)
        return found, Ranges(key, total.sum(axis=0), runs)

    def _in_threads(self, work: Any) -> None:
        in_threads(self._packed.size, work, range(len(self._slices)))
