"""Lists of comparisons, each sorted with errors first, and what shrinks their weights to the
dyadic-robust variance.

Of the most similar non-mated pairs of vectors, those near thresholds are listed, and of the ranges
between them sums suffice: a replicate's threshold lies near that of the data, so that most pairs
are errors in every replicate or in none, and what counts is the total weight of all pairs between
two thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arrays import AnyIntegers, Bytes, Codes, Floats, Integers
from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair.data import score_keys
from fastfair.data.pair_search import FoundPairs
from fastfair.data.temporary_files import room

from .pair_source import Classes, Errors, ListedComparisons, PairSide, pieces
from .units import BLOCK, Units

if TYPE_CHECKING:
    from fastfair.kernels.partners import Runs
    from fastfair.kernels.sweep import Side, Summed

_CELL_BITS = 16  # of the range of keys
_SORT_ALL_UP_TO = 500_000  # pairs
_SAMPLED_PAIRS = 2_000_000  # that tell how much the errors of units vary
# standard deviations of the number of errors, on either side of a threshold, within which pairs are
# sorted,
_DEVIATIONS = 6.0
_LEAST_WIDTH = 64  # and as many pairs more
_IN_A_RUN = 8  # pairs of a unit in a range, in the mean, from which on sums are faster than sorting
_LEAST_SHARE = 0.005  # of the pairs that a range must have
_MOST_PARTS = 8  # threads that count at once, each in an array of its own


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of keys whose pairs are left out of lists, as replicates need their total weights
    alone.

    Attributes
    ----------
    key : (ranges,) int64
        Ascending: the keys of a range's pairs are below it, and those of all further pairs are not.
    parts : (ranges, 1 + groups) int64
        Number of pairs across groups, and inside each group.
    runs : kernels.partners.Runs
        The pairs by the smaller of their rows of weights; their lists, numbered from 1, are those
        that `parts` counts.
    """

    key: Integers
    parts: Integers
    runs: Runs

    @cached_property
    def counts(self) -> Integers:
        """(lists, ranges) number of pairs of all, and of each group."""
        return np.concatenate((self.parts.sum(axis=1)[None], self.parts[:, 1:].T))

    def below(self, limit: int) -> Integers:
        """Return the number of pairs of each list that lie in ranges below a key: (lists,)."""
        return self.counts[:, self.key <= limit].sum(axis=1)

    def positions(self, positions: Integers, keys: score_keys.Keys) -> Integers:
        """Turn positions among all pairs of list 0 into positions among those that are listed, -1
        for those of ranges.

        positions: (n,) counted from 0; keys: (listed,) those of the pairs listed.
        """
        counts = self.counts[0]
        listed_before = np.searchsorted(keys, self.key)
        end = listed_before + np.cumsum(counts)
        passed = (end <= positions[:, None]).sum(axis=1)
        among_listed = positions - np.append(0, np.cumsum(counts))[passed]
        inside = (positions[:, None] < end) & (positions[:, None] >= end - counts)
        return np.where(inside.any(axis=1), -1, among_listed)

    def in_replicates(self, weights: Bytes, largest: int) -> Summed:
        """Sum the weights of the pairs of each list in 64 replicates; weights: (rows, 64), up to
        the largest.
        """
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
    pairs : FoundPairs
        Non-mated pairs.
    units : Units
        The units that are drawn.
    group : (vectors,) ndarray of int32
        The group of each vector with lists of its own, else -1.
    n_groups : int
        Number of these groups.
    positions : (levels,) ndarray of int64
        For each level, ascending, the position of its threshold in the data among all sorted pairs.
    n_threads : int
        Number of threads.
    """

    def __init__(
        self,
        pairs: FoundPairs,
        units: Units,
        group: Codes,
        n_groups: int,
        positions: Integers,
        n_threads: int,
    ) -> None:
        self._pairs = pairs
        self._units = units
        self._group = group
        self._n_groups = n_groups
        self._packed = pairs.packed
        self._positions = positions
        self._slices = slices(self._packed.size, min(n_threads, _MOST_PARTS))
        self._row = units.row
        packing = pairs.packing
        self._dropped = max(packing.span - _CELL_BITS, 0)  # bits of a key below its cell
        self._bits = 2 * packing.places + self._dropped, packing.places

    def parted(self) -> tuple[FoundPairs, Ranges] | None:
        """Part the pairs into those to sort and those to sum; None where sorting all of them is as
        fast.
        """
        n_rows = self._units.n_rows - 1
        n_lists = 1 + self._n_groups
        size = self._packed.size
        if (
            size < max(_SORT_ALL_UP_TO, n_rows * self._positions.size)
            or self._positions[-1] >= size
        ):
            return None
        part, ends = self._parts(max(_IN_A_RUN * n_rows * n_lists, int(_LEAST_SHARE * size)))
        if not ends:
            return None
        key = self._pairs.packing.lowest + (np.array(ends) << self._dropped)
        return self._parted(part, key)

    @cached_property
    def _cells(self) -> Integers:
        """(cells,) number of pairs before the end of each cell."""
        from fastfair.kernels import parted_pairs as kernels

        counts = np.zeros(
            (len(self._slices), 1 << (self._pairs.packing.span - self._dropped)), np.int64
        )
        self._in_threads(
            lambda k: kernels.count_cells(self._packed[self._slices[k]], self._bits[0], counts[k])
        )
        return np.cumsum(counts.sum(axis=0))

    def _parts(self, least: int) -> tuple[NDArray[np.int16], list[int]]:
        """Return the part of each cell, and the cell after each range, which has at least so many
        pairs.
        """
        before = np.append(0, self._cells)
        half = self._half_widths()
        last = self._packed.size - 1
        first_cells, last_cells = (
            np.searchsorted(
                self._cells, np.clip(self._positions + side * half, 0, last), side="right"
            )
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

    def _half_widths(self) -> Integers:
        """(levels,) by how many pairs the number of errors at the threshold of the data may differ
        in replicates.
        """
        from fastfair.kernels import parted_pairs as kernels

        cells = np.searchsorted(self._cells, self._positions, side="right")
        part = np.searchsorted(cells, np.arange(self._cells.size)).astype(np.int32)
        step = max(1, self._packed.size // _SAMPLED_PAIRS)
        errors = np.zeros((cells.size, self._units.n_rows - 1))
        kernels.count_rows(self._packed, step, self._bits, part, self._row, errors)
        errors = step * np.cumsum(errors, axis=0)
        # Errors that were not looked at add to the variance of those found, and weights of pairs to
        # that of units.
        variance = self._units.spread(errors) - (step - 1) * errors.sum(axis=1)
        deviation = np.sqrt(1.5 * np.maximum(variance, 0) + 4 * self._positions)
        return (_DEVIATIONS * deviation + _LEAST_WIDTH).astype(np.int64)

    def _parted(self, part: NDArray[np.int16], key: Integers) -> tuple[FoundPairs, Ranges]:
        from fastfair.kernels import parted_pairs as kernels
        from fastfair.kernels.partners import Runs

        columns = self._bits, part, self._row, self._group
        counts = np.zeros(
            (len(self._slices), self._units.n_rows - 1, key.size + 2, 1 + self._n_groups), np.int64
        )
        kept: dict[int, Integers] = {}

        def count(k: int) -> None:
            packed = self._packed[self._slices[k]]
            kept[k] = packed[: kernels.count_parts(packed, *columns, counts[k])]

        self._in_threads(count)
        n_sorted = counts[:, :, -2].sum(axis=(1, 2))
        in_ranges = np.ascontiguousarray(counts[:, :, :-2])
        total = in_ranges.sum(axis=0)
        stop = np.cumsum(total).reshape(total.shape)
        position = np.cumsum(in_ranges, axis=0) - in_ranges + (stop - total)
        partner = room(int(total.sum()), np.uint16 if self._units.n_rows <= 2**16 else np.int32)
        out = room(int(n_sorted.sum()), np.int64)
        ends = np.cumsum(n_sorted)

        def scatter(k: int) -> None:
            to_sort = out[ends[k] - n_sorted[k] : ends[k]]
            kernels.scatter_parts(kept[k], *columns, position[k], partner, to_sort)

        self._in_threads(scatter)
        n_runs = np.count_nonzero(total)
        unit, of_list = np.empty((2, n_runs), np.int32)
        runs = Runs(unit, of_list, np.empty(n_runs, np.int64), partner, np.empty(0, np.int32))
        kernels.write_runs(total, runs)
        # What lies behind the last threshold is left out of both.
        complete = self._pairs.complete and out.size + partner.size == self._packed.size
        pairs = FoundPairs({"packed": out}, self._pairs.packing, complete)
        return pairs, Ranges(key, total.sum(axis=0), runs)

    def _in_threads(self, work: Any) -> None:
        in_threads(self._packed.size, work, range(len(self._slices)))


Scale = tuple[()] | tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class ErrorLists:
    """Lists of comparisons, one after another: list 0 is of all, the others are of groups or of
    pairs of groups.

    Attributes
    ----------
    keys : (n,) int32 or int64
        Ascending in each list, errors first: non-mated keys are inverted. Lists may be kept up to
        some key only.
    a, b : (n,) int32
        For each comparison, the rows of the weights of its two units, whose product is the
        comparison's weight.
    end : (lists,) int64
        Position after the last comparison kept of each list.
    mated : bool
        Whether the comparisons are mated.
    source : PairSide
        The side with all comparisons; a `SummedSide` where variances of single lists are asked for.
    complete : bool
        Whether all comparisons are kept.
    scale : tuple of (rows,) ndarray, or ()
        Two arrays: a comparison counts in a rate as much as the product of the first one's value at
        `a` and the second one's at `b`. () where all count alike.
    ranges : Ranges or None
        Comparisons that are counted, but not listed.
    """

    keys: score_keys.Keys
    a: Codes
    b: Codes
    end: Integers
    mated: bool
    source: Any
    complete: bool
    scale: Scale = ()
    ranges: Ranges | None = None
    # what `variances` has computed, by a point's errors, and `variance`, by what it was asked
    _variances: dict[tuple[int, ...], tuple[Floats, Floats]] = field(
        init=False, default_factory=dict
    )
    _of_lists: dict[tuple[int, int, bool], tuple[Floats, Floats]] = field(
        init=False, default_factory=dict
    )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what replicates do not need."""
        return {**vars(self), "_variances": {}, "_of_lists": {}}

    @property
    def start(self) -> Integers:
        """(lists,) position of the first comparison of each list."""
        return np.concatenate(([0], self.end[:-1]))

    @property
    def sizes(self) -> Integers:
        """(lists,) number of comparisons in each list, including those that are not kept."""
        return self.source.sizes

    def keys_of(self, k: int) -> score_keys.Keys:
        """Return the keys of list k."""
        return self.keys[self.start[k] : self.end[k]]

    def reach(self, limits: Integers) -> bool:
        """Tell whether all comparisons with keys below each limit are kept."""
        return self.complete or bool((limits <= self.keys[self.end[0] - 1]).all())

    def side(self, weights: Bytes, totals: Integers, shrinkage: Floats) -> Side:
        """Return the lists as kernels take them, with 1 as the largest weight.

        Parameters
        ----------
        weights, totals, shrinkage
            As in `kernels.sweep.Side`.

        Returns
        -------
        Side
        """
        from fastfair.kernels import sweep

        return sweep.Side(
            self.keys,
            self.a,
            self.b,
            self.scale,
            self.end,
            self.sizes,
            weights,
            1,
            totals,
            shrinkage,
        )

    def summed(self, weights: Bytes, largest: int) -> Summed:
        """Sum the weights, (rows, 64) up to the largest, of the comparisons that are counted, but
        not listed.
        """
        from fastfair.kernels import sweep

        return (
            sweep.NONE_SUMMED
            if self.ranges is None
            else self.ranges.in_replicates(weights, largest)
        )

    def limits(self, thresholds: Integers) -> Integers:
        """Turn threshold keys into the keys below which comparisons are errors."""
        return thresholds if self.mated else -thresholds

    def count_errors(self, thresholds: Integers) -> Integers:
        """Count the errors in the first lists, each at its own threshold key.

        thresholds: (..., n) ndarray for the first n lists. Returns (..., n).
        """
        return self.count_below(np.atleast_2d(self.limits(thresholds))).reshape(thresholds.shape)

    def count_below(self, limits: Integers) -> Integers:
        """Count the comparisons of the first lists with keys below limits, (levels, n) for the
        first n lists.
        """
        from fastfair.kernels import curves as kernels

        counts = np.empty(limits.shape, np.int64)
        kernels.count_below_in_lists(self.keys, self.start, self.end, limits, counts)
        return counts

    def errors_at(self, thresholds: Integers, of_lists: Sequence[Integers] = ()) -> Integers:
        """Count the errors in all lists at threshold keys, and in the first lists at keys that each
        has for itself.

        thresholds: (points,); of_lists: any number of (n,) ndarray. Returns (points + of_lists,
        lists).
        """
        errors = np.zeros((thresholds.size + len(of_lists), self.end.size), np.int64)
        errors[: thresholds.size] = self.count_errors(
            np.repeat(thresholds[:, None], self.end.size, axis=1)
        )
        for row, keys in enumerate(of_lists, thresholds.size):
            errors[row, : keys.size] = self.count_errors(keys)
        return errors

    def variances(self, errors: Integers) -> tuple[Floats, Floats]:
        """Compute the variances of each list's rate with so many errors, and sums over its pairs of
        units.

        errors: (points, lists) ndarray. Returns what `PairSide.variances` does.
        """
        points = [tuple(of_point.tolist()) for of_point in errors]
        if points and all(point in self._variances for point in points):
            computed = zip(*(self._variances[point] for point in points), strict=True)
            variances, sums = map(np.array, computed)
            return variances, sums
        of_points = self.source.variances(Errors(self.a, self.b, self.start, self.start + errors))
        self._variances.update(zip(points, zip(*of_points, strict=True), strict=True))
        return of_points

    def variance(self, k: int, n_errors: int, *, from_the_end: bool) -> tuple[Floats, Floats]:
        """Compute what `variances` does for list k alone with so many errors: (3,) and (sums,).

        With `from_the_end` the last comparisons of the list are treated as errors.
        """
        asked = k, n_errors, from_the_end
        if asked not in self._of_lists:
            self._of_lists[asked] = self._variance(*asked)
        return self._of_lists[asked]

    def _variance(self, k: int, n_errors: int, from_the_end: bool) -> tuple[Floats, Floats]:
        for point, (of_lists, of_their_pairs) in self._variances.items():
            if point[k] == n_errors and not from_the_end:
                return of_lists[k], of_their_pairs[k]
        first = self.end[k] - n_errors if from_the_end else self.start[k]
        of_list = Errors(self.a, self.b, first, np.array([first + n_errors]))
        variances, of_pairs = self.source.variances_of_list(k, of_list)
        return variances[0], of_pairs[0]

    def of_kinds(self, errors: Integers) -> list[ErrorLists]:
        """Return the same lists where each kind of unit is drawn alone, with the rows of as many
        errors; errors: (points, lists).
        """
        stops = self.start + errors
        of_kinds = self.source.errors_of_kinds(Errors(self.a, self.b, self.start, stops))
        return [
            replace(self, a=of_kind.a, b=of_kind.b, source=side)
            for side, of_kind in zip(self.source.kinds, of_kinds, strict=True)
        ]

    def shrinkage_of_costs(self, costs: Floats, n_lists: int) -> Floats:
        """Compute the shrinkage of the first lists' weights for the mean of what their comparisons
        cost, (n_lists,).
        """
        from fastfair.kernels import dyadic as kernels

        if not self.source.two_way:
            return np.ones(n_lists)
        of_kinds = [np.empty((n_lists, 3)) for _ in self.source.kinds]

        def compute(k: int) -> None:
            part = slice(self.start[k], self.end[k])
            rows = self.source.rows_of_kinds(self.a[part], self.b[part])
            for side, (a, b), out in zip(self.source.kinds, rows, of_kinds, strict=True):
                strata = side.stratum, side.stratum_size
                pair, first, second, repeats = number_pairs(a, b, strata[0].size)
                sums = np.bincount(pair, weights=costs[part], minlength=first.size)
                of_pairs = first, second, repeats, np.array([first.size]), sums.astype(np.float64)
                kernels.variances(*of_pairs, *strata, out[k : k + 1])

        in_threads(self.a.size, compute, range(n_lists), self.source.n_threads)
        return shrinkage_of(self.source.combined(of_kinds, slice(n_lists)))


def number_pairs(a: AnyIntegers, b: AnyIntegers, n_units: int) -> tuple[Codes, Codes, Codes, Codes]:
    """Number the distinct pairs of units of comparisons, those with the same smaller unit together.

    Returns the pair of each comparison, (n,), and the smaller unit, the larger one and the number
    of comparisons of each pair, (pairs,) each.
    """
    from fastfair.kernels import comparison_lists as kernels

    pair, *of_pairs = room((4, a.size), np.int32)
    n_pairs = np.empty(1, np.int64)
    kernels.number_pairs(
        a, b, np.array([0]), np.array([a.size]), n_units, pair, tuple(of_pairs), n_pairs
    )
    first, second, repeats = (column[: n_pairs[0]] for column in of_pairs)
    return pair, first, second, repeats


def shrinkage_of(variances: Floats) -> Floats:
    """Return what weights must be shrunk by so that product weights give the dyadic-robust
    variance.

    Parameters
    ----------
    variances : (..., 3) ndarray
        As the functions of `kernels.dyadic` write them.

    Returns
    -------
    (...) ndarray
    """
    from fastfair.kernels import dyadic as kernels

    robust, product = variances[..., kernels.ROBUST], variances[..., kernels.PRODUCT]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            (product > 0) & (robust > 0), np.minimum(1.0, np.sqrt(robust / product)), 1.0
        )


def make_lists(
    kept: ListedComparisons,
    source: PairSide,
    mated: bool,
    n_kept: int | None = None,
    *,
    errors_first: bool = False,
) -> ErrorLists:
    """Divide the sorted mated, or non-mated, comparisons into lists.

    Parameters
    ----------
    kept : ListedComparisons
        The comparisons that are kept, sorted.
    source : PairSide
        All of them.
    mated : bool
        Whether they are mated.
    n_kept : int, optional
        Number of comparisons to keep, from the first error on; all by default, or all that a scan
        has kept.
    errors_first : bool, default False
        Whether errors of non-mated comparisons come first, too; else these are taken from the last
        one on, and their keys inverted.

    Returns
    -------
    ErrorLists
    """
    from fastfair.kernels import comparison_lists as kernels

    # of scans fewer than there are comparisons
    keys = kept.keys
    n_threads = source.n_threads
    n = keys.size
    forward = mated or errors_first
    n_kept = n if n_kept is None else min(n, n_kept)
    first = 0 if forward else n - n_kept
    of_threads = slices(n_kept, count_threads(n_threads))
    # Where errors come last, comparisons are taken from the last one on.
    parts = [slice(first + part.start, first + part.stop) for part in of_threads][
        :: 1 if forward else -1
    ]
    sizes = np.zeros((len(parts), source.sizes.size), np.int64)

    def count(k: int) -> None:
        for piece in pieces(parts[k]):
            sizes[k] += np.bincount(kept.lists(piece), minlength=sizes.shape[1])
        sizes[k, 0] = parts[k].stop - parts[k].start

    in_threads(n_kept, count, range(len(parts)), n_threads)
    of_lists = sizes.sum(axis=0)
    end = np.cumsum(of_lists)
    position = end - of_lists + np.cumsum(sizes, axis=0) - sizes
    n_listed = int(end[-1])
    out = room(n_listed, keys.dtype), room(n_listed, np.int32), room(n_listed, np.int32)

    def divide(k: int) -> None:
        for piece in pieces(parts[k])[:: 1 if forward else -1]:
            columns = keys[piece], *kept.rows(piece)
            kernels.divide(columns, kept.lists(piece), not forward, position[k], out)

    in_threads(n_kept, divide, range(len(parts)), n_threads)
    return ErrorLists(*out, end, mated, source, bool(end[0] == source.sizes[0]))


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Factors by which weights are shrunk towards equal weights; 1 leaves them as they are.

    Attributes
    ----------
    mated, nonmated : (lists, points) ndarray
        Factors for the error rates at each operating point.
    metrics : dict of Classes of (metrics' lists,) ndarray
        For each metric, the factors of the mated and of the non-mated lists.
    freedom : (lists, points) ndarray
        Degrees of freedom of the dyadic-robust variance of each FMR; infinite where it is not
        computed.
    """

    mated: Floats
    nonmated: Floats
    metrics: dict[str, Classes[Floats]]
    freedom: Floats


def find_shrinkage(
    both: Classes[ErrorLists], thresholds: Integers, keys: Mapping[str, Integers], *, dyadic: bool
) -> Shrinkage:
    """Compute the shrinkage that gives replicates the dyadic-robust variance; see
    `fastfair.kernels.dyadic`.

    Parameters
    ----------
    both : Classes of ErrorLists
        Mated and non-mated comparisons.
    thresholds : (points,) ndarray of int64
        Threshold keys of the operating points.
    keys : mapping of (metrics' lists,) ndarray of int64
        For each metric that has a threshold, the threshold keys of the first lists.
    dyadic : bool
        Whether to shrink weights at all.

    Returns
    -------
    Shrinkage
    """
    from fastfair.kernels import dyadic as kernels

    n_points = thresholds.size
    factors = []
    freedom_of_fmr: Floats = np.empty(0)
    for lists in both:
        shape = n_points + len(keys), lists.end.size
        of_class = np.ones(shape)
        freedom = np.full(shape, np.inf)
        if dyadic and lists.source.two_way:
            variances, _ = lists.variances(lists.errors_at(thresholds, tuple(keys.values())))
            of_class = shrinkage_of(variances)
            freedom = variances[..., kernels.FREEDOM]
        factors.append(of_class)
        if not lists.mated:
            freedom_of_fmr = freedom
    metrics = {
        name: Classes(*(of_class[row, : of_lists.size] for of_class in factors))
        for row, (name, of_lists) in enumerate(keys.items(), n_points)
    }
    mated, nonmated, of_fmr = (
        of_points[:n_points].T.copy() for of_points in (*factors, freedom_of_fmr)
    )
    return Shrinkage(mated, nonmated, metrics, of_fmr)
