"""Total weights, and sums over pairs of units, of comparisons that lie in buckets, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.jobs import Arrays
from fastfair._lib.threads import in_threads
from fastfair._lib.workers import Workers
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.error_rates.exact_costs import ExactCosts

from .grouped_buckets import GroupedBuckets, Pass
from .partners import Partners
from .sorted_comparisons import SortedComparisons
from .units import BLOCK, ComparisonUnits

_BYTES_OF_A_UNIT = 48  # in a list: two sums, twice, and where its errors begin and end
_LEAST_WALKED = 2**12  # comparisons of each list
Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]


@dataclass(eq=False)
class _Walked:
    """What was found in a walk over all pairs for the errors of lists."""

    errors: tuple[Integers, Integers, Integers, Integers]  # the lists' rows, where they begin and where errors end
    comparisons: Floats  # (lists, units), as in `kernels.pair_walk.Sums`, and so are the next three
    repeats_squared: Floats
    inside: Floats  # (lists, strata)
    of_pairs: Floats  # (lists, 1, sums)
    repeats: list[NDArray[np.int32]]  # for each list the number of comparisons of each error's pair


class ScannedPartners:
    """The mated, or the non-mated, comparisons of a scan.

    Parameters
    ----------
    comparisons : KeptComparisons
        The scan.
    source : SortedComparisons
        Those of a class that are kept, with the lists that they are in.
    workers : Workers
        Who groups and sums.
    exact : ExactCosts, optional
        What comparisons cost, to be grouped with them.

    Attributes
    ----------
    n_threads : int or None
        Number of threads of this process.
    exact : ExactCosts or None
        As given.
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list; list 0 holds all.
    """

    def __init__(
        self,
        comparisons: KeptComparisons,
        source: SortedComparisons,
        workers: Workers,
        exact: ExactCosts | None = None,
    ) -> None:
        pairs = comparisons.pairs[0 if source.mated else 1]
        self._buckets = GroupedBuckets(pairs, source, comparisons.group_of_number, workers, exact)
        self.sizes, self.n_threads, self.exact = source.sizes, workers.n_threads, exact
        units = source.units
        self._row = np.append(units.rows_of_subjects[np.argsort(comparisons.of_subjects.numbers)], units.n_rows - 1)
        self._walked: _Walked | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the comparisons, whose total weights are summed before others draw replicates."""
        return {"sizes": self.sizes, "n_threads": self.n_threads}

    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """Tell whether any comparison has two units that vary."""
        return self._buckets.any_varies(varies[self._row])

    def totals(
        self, drawn: DrawnWeights, n_costs: int, told: Callable[[int], None]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sum the weights of the comparisons of each list in blocks of 64 replicates, reading each bucket once.

        Parameters
        ----------
        drawn : DrawnWeights
            The weights, of units as they are numbered in buckets.
        n_costs : int
            Number of lists, from list 0 on, whose weighted costs are summed, too.
        told : callable
            Called with how many comparisons more were summed.

        Returns
        -------
        totals : (blocks, lists, 64) ndarray of int64
        costs : (blocks, n_costs, words, 64) ndarray of int64
            As `kernels.cost_sums.total_costs` writes them.
        """
        from fastfair.kernels import cost_sums

        found = self._buckets.sum(_Totals(drawn, self.sizes.size, n_costs), told)
        for block in range(len(drawn.starts) if n_costs else 0):
            for k in range(n_costs):
                cost_sums.carry(found["costs"][block, k])
        return found["totals"], found["costs"]

    def sum_of_buckets(self, work: Pass) -> Arrays:
        """Sum over the comparisons of all buckets, as in `GroupedBuckets`."""
        return self._buckets.sum(work)

    def drawn(self, units: ComparisonUnits, starts: range, key: NDArray[np.uint32]) -> DrawnWeights:
        """Return the weights of replicates, for units as they are numbered in buckets.

        Parameters
        ----------
        units : ComparisonUnits
            What is drawn.
        starts : range
            The number of the first replicate of each block.
        key : (2,) ndarray of uint32
            Key of the random stream.
        """
        return DrawnWeights(units, starts, key, self._row)

    def in_order_of_rows(self, of_numbers: NDArray[Any]) -> NDArray[Any]:
        """Undo `in_order_of_numbers`."""
        found = np.empty_like(of_numbers)
        found[self._row] = of_numbers
        return found

    def in_order_of_numbers(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return what each row of weights has, for units as they are numbered in buckets."""
        return of_rows[self._row]

    def variances(
        self, errors: tuple[Integers, Integers, Integers, Integers], stratum: Integers, stratum_size: Integers
    ) -> tuple[Floats, Floats]:
        """Compute the variances of the rates of all lists, and sums over their pairs; see `Partners.variances`."""
        from fastfair.kernels import pair_walk

        a, b, start, stops = errors
        found = np.empty((*stops.shape, 3)), np.empty((*stops.shape, pair_walk.N_SUMS))
        if stops.shape[0] == 0:
            return found
        walked = self._walk((a, b, start, stops.max(axis=0)), stratum, stratum_size)

        def compute(k: int) -> None:
            found[0][:, k], found[1][:, k] = _finished(walked, k, stops[:, k], stratum, stratum_size)

        in_threads(int(self.sizes[0]), compute, range(start.size), self.n_threads)
        return found

    def variance(
        self, k: int, rows: tuple[Integers, Integers], part: slice, stratum: Integers, stratum_size: Integers
    ) -> Floats:
        """Compute the variances of the rate of list k alone; see `Partners.variance`."""
        walked = self._walked
        if (
            walked is None
            or walked.errors[0] is not rows[0]
            or walked.errors[2][k] != part.start
            or walked.errors[3][k] < part.stop
        ):
            # All other lists without errors.
            start = np.zeros(self.sizes.size, np.int64)
            stops = start.copy()
            start[k], stops[k] = part.start, part.stop
            walked = self._found_in_walk((*rows, start, stops), stratum, stratum_size)
        return _finished(walked, k, np.array([part.stop]), stratum, stratum_size)[0][0]

    def _walk(
        self, errors: tuple[Integers, Integers, Integers, Integers], stratum: Integers, stratum_size: Integers
    ) -> _Walked:
        """Walk over the pairs of all buckets, unless that was done for as many errors of the same lists."""
        walked, (rows_a, rows_b, start, stops) = self._walked, errors
        if walked is None or walked.errors[0] is not rows_a or (stops > walked.errors[3]).any():
            # Further ones, for rates without errors, of which those at a laxer threshold tell the design effect.
            stops = np.minimum(np.append(start[1:], rows_a.size), np.maximum(stops, start + _LEAST_WALKED))
            walked = self._walked = self._found_in_walk((rows_a, rows_b, start, stops), stratum, stratum_size)
        return walked

    def _found_in_walk(
        self, errors: tuple[Integers, Integers, Integers, Integers], stratum: Integers, stratum_size: Integers
    ) -> _Walked:
        from fastfair.kernels import pair_walk

        rows_a, rows_b, start, stops = errors
        n_lists, n_units = start.size, stratum.size
        memory.require(
            _BYTES_OF_A_UNIT * n_lists * n_units,
            f"sums over the pairs of {n_units:,} subjects in {n_lists:,} groups and pairs of groups",
            "use fewer groups",
        )
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
        return _Walked(errors, comparisons, repeats_squared, found["inside"], found["of_pairs"], repeats)


@dataclass(frozen=True, eq=False)
class DrawnWeights:
    """The weights of units in blocks of 64 replicates; each process draws them for itself, once.

    Attributes
    ----------
    units : ComparisonUnits
        What is drawn.
    starts : range
        The number of the first replicate of each block.
    key : (2,) ndarray of uint32
        Key of the random stream.
    row : (units,) ndarray of int32
        Which row of weights each unit has, as units are numbered in buckets.
    """

    units: ComparisonUnits
    starts: range
    key: NDArray[np.uint32]
    row: Integers

    @cached_property
    def blocks(self) -> list[tuple[NDArray[np.uint8], int]]:
        """(units, 64) weights of each block, and the largest of them."""
        from fastfair.kernels import sweep

        blocks = []
        for start in self.starts:
            drawn = self.units.new_weights()
            self.units.draw(start, self.key, drawn)
            blocks.append((np.ascontiguousarray(drawn[self.row]), sweep.largest_weight(drawn)))
        return blocks

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the weights."""
        return {name: value for name, value in vars(self).items() if name != "blocks"}


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


def _finished(
    walked: _Walked, k: int, stops: Integers, stratum: Integers, stratum_size: Integers
) -> tuple[Floats, Floats]:
    """Compute the variances of list k, (points, 3), and its sums over pairs, with errors up to each of some stops."""
    from fastfair.kernels import pair_walk

    a, b, start, _ = walked.errors
    order = np.argsort(stops, kind="stable")
    ascending = stops[order]
    begin, at = np.zeros((2, stratum.size), np.int64), np.empty(ascending[-1] - start[k], np.int64)
    pair_walk.group_errors(a, b, start[k], ascending[-1], begin, at)
    sums = pair_walk.new_sums(stops.size, stratum.size, stratum_size.size)
    sums.comparisons[:], sums.repeats_squared[:] = walked.comparisons[k], walked.repeats_squared[k]
    sums.inside[:], sums.of_pairs[:1] = walked.inside[k], walked.of_pairs[k]
    grouped = a, b, begin, at, start[k], walked.repeats[k]
    pair_walk.add_errors(np.int64(0), np.int64(stratum.size), grouped, ascending, stratum_size[stratum] > 1, sums)
    found = np.empty((stops.size, 3)), np.empty((stops.size, pair_walk.N_SUMS))
    units = np.flatnonzero(sums.comparisons)
    pair_walk.finish_list(sums, units, (start[k], ascending, order), (stratum, stratum_size), *found)
    return found


class Totals(NamedTuple):
    """Sums over all comparisons in replicates."""

    weights: tuple[NDArray[np.int64], NDArray[np.int64]]  # (blocks, lists, 64) each: of mated and of non-mated lists
    costs: tuple[Floats, Floats]  # (blocks, lists, 64) each: weight times cost in nats, of lists that need them

    def of_block(self, block: int) -> Totals:
        """Return those of one block."""
        return Totals(*((mated[block], nonmated[block]) for mated, nonmated in self))


def totals_of_replicates(
    partners: tuple[ScannedPartners, ScannedPartners],
    units: ComparisonUnits,
    replicates: range,
    key: NDArray[np.uint32],
    n_costs: int,
    progress: Callable[[int, int], None] | None,
) -> Totals:
    """Sum the weights, and the weighted costs, of all comparisons of each list in replicates, reading each bucket once.

    Parameters
    ----------
    partners : tuple of ScannedPartners
        Of the mated, and of the non-mated, comparisons.
    units : ComparisonUnits
        What is drawn.
    replicates : range
        Their numbers.
    key : (2,) ndarray of uint32
        Key of the random stream.
    n_costs : int
        Number of lists, from list 0 on, whose costs are summed; 0 where comparisons were grouped without costs.
    progress : callable, optional
        Called with the number of comparisons done and of all.

    Returns
    -------
    Totals
    """
    starts = range(replicates.start, replicates.stop, BLOCK)
    memory.require(
        len(starts) * BLOCK * units.n_rows,
        f"the weights of {units.n_units:,} subjects in {len(replicates):,} replicates",
        "use fewer resamples",
    )
    drawn = partners[0].drawn(units, starts, key)  # both classes number units alike
    done, n = 0, sum(int(of_class.sizes[0]) for of_class in partners)

    def told(n_more: int) -> None:
        nonlocal done
        done += n_more
        if progress is not None:
            progress(done, n)

    sums = [of_class.totals(drawn, n_costs, told) for of_class in partners]
    costs = [
        np.zeros((len(starts), 0, BLOCK)) if of_class.exact is None else of_class.exact.nats(np.moveaxis(words, 2, 0))
        for of_class, (_, words) in zip(partners, sums, strict=True)
    ]
    return Totals((sums[0][0], sums[1][0]), (costs[0], costs[1]))
