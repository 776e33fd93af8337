"""Comparisons of which few are kept: total weights of all of them, and sums over their pairs of units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.threads import in_threads
from fastfair._lib.workers import Workers
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.error_rates.exact_costs import ExactCosts

from .sorted_comparisons import SortedComparisons
from .units import BLOCK, ComparisonUnits

_BYTES_OF_A_UNIT = 48  # in a list: two sums, twice, and where its errors begin and end
_LEAST_WALKED = 2**12  # comparisons of each list
Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Errors = tuple[Integers, Integers, Integers, Integers]


@dataclass(eq=False)
class Walked:
    """What was found in a walk over all pairs for the errors of lists."""

    errors: Errors  # the lists' rows, where they begin and where errors end
    comparisons: Floats  # (lists, units), as in `kernels.pair_walk.Sums`, and so are the next three
    repeats_squared: Floats
    inside: Floats  # (lists, strata)
    of_pairs: Floats  # (lists, 1, sums)
    repeats: list[NDArray[np.int32]]  # for each list the number of comparisons of each error's pair


class CountedPartners(ABC):
    """The mated, or the non-mated, comparisons of which few are kept.

    Parameters
    ----------
    comparisons : KeptComparisons
        The comparisons.
    source : SortedComparisons
        Those of a class that are kept, with the lists that they are in.
    workers : Workers
        Who groups and sums.
    exact : ExactCosts, optional
        What comparisons cost, where all of them have scores.

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
        self.sizes, self.n_threads, self.exact = source.sizes, workers.n_threads, exact
        units = source.units
        self._row = np.append(units.rows_of_subjects[np.argsort(comparisons.of_subjects.numbers)], units.n_rows - 1)
        self._walked: Walked | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the comparisons, whose total weights are summed before others draw replicates."""
        return {"sizes": self.sizes, "n_threads": self.n_threads}

    @abstractmethod
    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """Tell whether any comparison has two units that vary."""

    @abstractmethod
    def totals(
        self, drawn: DrawnWeights, n_costs: int, told: Callable[[int], None]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sum the weights of the comparisons of each list in blocks of 64 replicates.

        Parameters
        ----------
        drawn : DrawnWeights
            The weights, of units as they are numbered in the scan.
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

    @abstractmethod
    def _found_in_walk(self, errors: Errors, stratum: Integers, stratum_size: Integers) -> Walked:
        """Sum over all pairs of units of each list, and count the comparisons of each error's pair."""

    def drawn(self, units: ComparisonUnits, starts: range, key: NDArray[np.uint32]) -> DrawnWeights:
        """Return the weights of replicates, for units as they are numbered in the scan.

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
        """Return what each row of weights has, for units as they are numbered in the scan."""
        return of_rows[self._row]

    def variances(self, errors: Errors, stratum: Integers, stratum_size: Integers) -> tuple[Floats, Floats]:
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

    def comparisons_of_units(
        self, k: int, rows: tuple[Integers, Integers], start: Integers, stratum: Integers, stratum_size: Integers
    ) -> NDArray[np.int64]:
        """Return the number of comparisons of each unit in list k, (units,); the others as in `variances`."""
        walked = self._walk((*rows, start, start), stratum, stratum_size)
        return walked.comparisons[k].astype(np.int64)

    def _walk(self, errors: Errors, stratum: Integers, stratum_size: Integers) -> Walked:
        """Find the sums over all pairs, unless that was done for as many errors of the same lists."""
        walked, (rows_a, rows_b, start, stops) = self._walked, errors
        if walked is None or walked.errors[0] is not rows_a or (stops > walked.errors[3]).any():
            # Further ones, for rates without errors, of which those at a laxer threshold tell the design effect.
            stops = np.minimum(np.append(start[1:], rows_a.size), np.maximum(stops, start + _LEAST_WALKED))
            walked = self._walked = self._found_in_walk((rows_a, rows_b, start, stops), stratum, stratum_size)
        return walked


def require_room(n_lists: int, n_units: int) -> None:
    """Refuse more lists and units than sums over their pairs have room for."""
    memory.require(
        _BYTES_OF_A_UNIT * n_lists * n_units,
        f"sums over the pairs of {n_units:,} subjects in {n_lists:,} groups and pairs of groups",
        "use fewer groups",
    )


def _finished(
    walked: Walked, k: int, stops: Integers, stratum: Integers, stratum_size: Integers
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


class Totals(NamedTuple):
    """Sums over all comparisons in replicates."""

    weights: tuple[NDArray[np.int64], NDArray[np.int64]]  # (blocks, lists, 64) each: of mated and of non-mated lists
    costs: tuple[Floats, Floats]  # (blocks, lists, 64) each: weight times cost in nats, of lists that need them

    def of_block(self, block: int) -> Totals:
        """Return those of one block."""
        return Totals(*((mated[block], nonmated[block]) for mated, nonmated in self))


def totals_of_replicates(
    partners: tuple[CountedPartners, CountedPartners],
    units: ComparisonUnits,
    replicates: range,
    key: NDArray[np.uint32],
    n_costs: int,
    progress: Callable[[int, int], None] | None,
) -> Totals:
    """Sum the weights, and the weighted costs, of all comparisons of each list in replicates.

    Parameters
    ----------
    partners : tuple of CountedPartners
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
