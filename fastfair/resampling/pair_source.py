"""What the engine asks of comparisons, wherever they lie: in memory, in files, or as numbers of vectors.

A source has two sides, the mated and the non-mated comparisons. `side_of` makes one from what `Comparisons.pairs` holds
of a class; a new kind of source registers its own. What a kind of data cannot do stands in `Comparisons.lacks`, in
words, and is asked for by `Comparisons._require`.

The promises of a side: what it sums are whole numbers, so that no order, number of threads or partition changes a bit;
rows of weights are those of `Units`, in the order in which these are drawn; and it can be pickled with all that
replicates need of it, unless `totals` sums that beforehand.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.threads import in_threads
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import KeptComparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.error_rates.score_metrics import ExactCosts

from .units import ComparisonUnits, Rows, Units

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
# The rows of both units of the comparisons of all lists, (n,), errors first; where each list begins, (lists,); and
# where its errors end, (lists,) or (points, lists).
Errors = tuple[Integers, Integers, Integers, Integers]
_ROUNDING = 1e-14  # of a mean: a standard error below it is what rounding leaves of 0
_BYTES_OF_A_UNIT = 48  # in a list: two sums, twice, and where its errors begin and end
_LEAST_WALKED = 2**12  # comparisons of each list
_PIECE = 2**18  # comparisons whose rows of weights are written at a time
Groups = NDArray[np.uint16]


class TooFewKeptError(Exception):
    """A block needs comparisons that were not sent along with those kept."""


class Totals(Protocol):
    """Sums over all comparisons of each list in blocks of 64 replicates."""

    def weigh(self, block: int, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """Write the total weights into `totals`, (lists, 64); weights: (rows, 64) of that block, up to `largest`."""

    def cost(self, block: int, weights: NDArray[np.uint8], n_lists: int) -> Floats:
        """Return (n_lists, 64) sums of weight times cost in nats, of the first lists."""


class PairSide(ABC):
    """The mated, or the non-mated, comparisons of a source, in lists: list 0 of all, others of groups or two groups.

    Attributes
    ----------
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list.
    stratum, stratum_size : (rows,) ndarray of int32, (strata,) ndarray of int64
        The stratum of each row of weights, and the number of units in each stratum.
    n_threads : int or None
        Number of threads that sum; all processors by default.
    exact : ExactCosts or None
        What comparisons cost in Cllr, where that is asked.
    in_passes : bool
        Whether `totals` reads all comparisons for all replicates at once.
    """

    in_passes = False

    def __init__(
        self, sizes: NDArray[np.int64], units: Units, n_threads: int | None, exact: ExactCosts | None = None
    ) -> None:
        self.sizes, self.n_threads, self.exact = sizes, n_threads, exact
        self.stratum, self.stratum_size = units.stratum, units.stratum_size

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """(rows,) whether the weights of a unit vary."""
        return self.stratum_size[self.stratum] > 1

    @cached_property
    @abstractmethod
    def two_way(self) -> bool:
        """Whether any comparison has two units whose weights vary; without one, no weights are shrunk."""

    @abstractmethod
    def weigh(self, block: int, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """As in `Totals`."""

    def unit_counts(self, k: int) -> NDArray[np.int64]:
        """Return the number of comparisons of each unit in list k, (rows,)."""
        raise NotImplementedError

    @abstractmethod
    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """Compute the variances of the rates of all lists, and sums over their pairs of units.

        errors: with (points, lists) ends. Returns (points, lists, 3), the variances times n^2 and their degrees of
        freedom as `kernels.dyadic` writes them, and (points, lists, sums), as `kernels.pair_walk` names them.
        """

    def variance(self, k: int, rows: tuple[Integers, Integers], part: slice) -> tuple[Floats, Floats]:
        """Compute (3,) and (sums,) of the rate of list k alone, whose errors are that part of the rows."""
        raise NotImplementedError

    def totals(
        self, units: Units, starts: range, key: NDArray[np.uint32], n_costs: int, told: Callable[[int], None]
    ) -> Totals:
        """Return what weighs blocks that begin at some replicates; costs are asked of the first lists alone."""
        return self

    def cost(self, block: int, weights: NDArray[np.uint8], n_lists: int) -> Floats:
        """As in `Totals`."""
        raise NotImplementedError

    def cost_words(self, n_lists: int) -> NDArray[np.int64]:
        """Return the total costs of the first lists in words of 32 bits, (words, n_lists), carried."""
        raise NotImplementedError

    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """Compute the (lists, 3) variances of the mean costs of the first lists, of costs times a scale."""
        raise NotImplementedError


class ListedComparisons(Protocol):
    """Comparisons of a class with the rows of weights of each, and the list that it is in besides that of all."""

    def __len__(self) -> int: ...

    def rows(self, part: slice) -> tuple[Rows, Rows]:
        """Return the rows of the weights of both units of some comparisons."""

    def keys_of(self, part: slice) -> score_keys.Keys:
        """Return the score keys of some comparisons."""

    def lists(self, part: slice) -> NDArray[Any]:
        """Return the list that each of some comparisons is in besides list 0, or 0; nothing where list 0 is alone."""


@dataclass(frozen=True, eq=False)
class SortedComparisons:
    """The comparisons of a class that are kept, as `ListedComparisons`.

    Attributes
    ----------
    comparisons : Comparisons
        Those of both classes.
    mated : bool
        Whether these are the mated ones.
    units : ComparisonUnits
        The units that are drawn with replacement.
    list_of_cell : (groups, groups) ndarray of int32, or None
        The list that comparisons of two groups are in besides list 0, or 0 for none; numbers ascend from 1.
    """

    comparisons: Comparisons
    mated: bool
    units: ComparisonUnits
    list_of_cell: NDArray[np.int32] | None

    @property
    def side(self) -> SortedSide:
        """The comparisons."""
        return self.comparisons.mated if self.mated else self.comparisons.nonmated

    @property
    def by_group(self) -> GroupedSide:
        """The comparisons with their groups."""
        return self.comparisons.mated_by_group if self.mated else self.comparisons.nonmated_by_group

    def __len__(self) -> int:
        return len(self.side)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(lists,) number of comparisons in each list."""
        if self.list_of_cell is None:
            return np.array([len(self)])
        sizes = np.zeros(1 + int(self.list_of_cell.max()), np.int64)
        np.add.at(sizes, self.list_of_cell, self.by_group.cells)
        sizes[0] = len(self)
        return sizes

    def rows(self, part: slice) -> tuple[Rows, Rows]:
        """As in `ListedComparisons`."""
        return self.units.rows(self.mated, part)

    def keys_of(self, part: slice) -> score_keys.Keys:
        """As in `ListedComparisons`."""
        return self.side.keys[part]

    def lists(self, part: slice) -> NDArray[Any]:
        """As in `ListedComparisons`."""
        if self.list_of_cell is None:
            return lists_of_groups(None, None, self.sizes.size)
        groups = self.by_group.reference_group[part], self.by_group.probe_group[part]
        return lists_of_groups(groups, self.list_of_cell, self.sizes.size)


def lists_of_groups(
    groups: tuple[Groups, Groups] | None, list_of_cell: NDArray[np.int32] | None, n_lists: int
) -> NDArray[Any]:
    """Return the list that comparisons of references and probes of some groups are in besides list 0.

    Parameters
    ----------
    groups : tuple of (n,) ndarray of uint16, or None
        The groups of the references and of the probes.
    list_of_cell : (groups, groups) ndarray of int32, or None
        The list of those of two groups, or 0 for none; None where there is only list 0.
    n_lists : int
        Number of lists.

    Returns
    -------
    (n,) ndarray of uint16 or int32
        Empty where there is only list 0.
    """
    from fastfair.kernels import partners as kernels

    dtype = np.uint16 if n_lists <= 2**16 else np.int32
    if groups is None or list_of_cell is None:
        return np.empty(0, dtype)
    found = np.empty(groups[0].size, dtype)
    kernels.lists_of_cells(*groups, list_of_cell, found)
    return found


def pieces(part: slice) -> list[slice]:
    """Cut comparisons into pieces that are worked on one after another, so that what is written of them is small."""
    cuts = [*range(part.start, part.stop, _PIECE), part.stop]
    return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]


@singledispatch
def side_of(pairs: Any, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None) -> PairSide:
    """Make a side from one of `Comparisons.pairs`.

    Parameters
    ----------
    pairs : object
        All comparisons of a class, as that kind of data has them.
    kept : SortedComparisons
        Those of them that are kept, with the lists that they are in, and the units drawn.
    workers : Workers
        Who groups and sums.
    exact : ExactCosts, optional
        What comparisons cost, if that is asked.
    """
    raise TypeError(type(pairs))


class RatioCosts:
    """What the mated, or the non-mated, comparisons cost in Cllr, of the first lists of a side."""

    def __init__(self, side: PairSide, n_lists: int) -> None:
        assert side.exact is not None
        words = side.cost_words(n_lists)
        self.means: Floats = np.asarray(side.exact.nats(words) / np.maximum(side.sizes[:n_lists], 1))  # in nats

    def variances(self, side: PairSide) -> Floats:
        """Compute the (lists, 3) variances of the mean costs as `kernels.dyadic` does, on a scale of their own."""
        assert side.exact is not None
        # As multiples of what costs are multiples of; a pair's residual is less than the largest cost of all.
        means = np.ldexp(self.means, -side.exact.exponent)
        scale = 0.5 ** (1 + side.exact.bits + int(side.sizes[0]).bit_length())
        found = side.cost_variances(means, scale)
        found[found < (_ROUNDING * means * scale)[:, None] ** 2] = 0  # as of a list with a single pair
        return found


@dataclass(eq=False)
class Walked:
    """What was found in a walk over all pairs for the errors of lists."""

    errors: Errors  # with (lists,) ends
    comparisons: Floats  # (lists, rows), as in `kernels.pair_walk.Sums`, and so are the next three
    repeats_squared: Floats
    inside: Floats  # (lists, strata)
    of_pairs: Floats  # (lists, 1, sums)
    repeats: list[NDArray[np.int32]]  # for each list the number of comparisons of each error's pair


class CountedSide(PairSide):
    """Comparisons that are counted, but not listed: sums over their pairs are found in a walk over all of them."""

    def __init__(self, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None) -> None:
        super().__init__(kept.sizes, kept.units, workers.n_threads, exact)
        comparisons = cast(KeptComparisons, kept.comparisons)
        self.group = comparisons.group_of_number  # of each subject, as scans number subjects
        of_number = np.argsort(comparisons.of_subjects.numbers)
        # The row of weights of each subject, as scans number subjects, and after them the row of ones.
        self._row = np.append(kept.units.rows_of_subjects[of_number], kept.units.n_rows - 1)
        self._walked: Walked | None = None

    @abstractmethod
    def _walk(self, errors: Errors) -> Walked:
        """Sum over all pairs of units of each list, and count the comparisons of each error's pair."""

    def in_order_of_rows(self, of_numbers: NDArray[Any]) -> NDArray[Any]:
        """Return for each row of weights what each unit has in the order of numbers."""
        found = np.empty_like(of_numbers)
        found[self._row] = of_numbers
        return found

    @property
    def stratum_of_numbers(self) -> Integers:
        """(units,) the stratum of each unit in the order of numbers."""
        return self.stratum[self._row]

    @property
    def numbers(self) -> NDArray[np.int32]:
        """(rows,) the number of each unit."""
        found = np.empty(self._row.size, np.int32)
        found[self._row] = np.arange(self._row.size)
        return found

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
        from fastfair.kernels import pair_walk

        a, b, start, stops = errors
        found = np.empty((*stops.shape, 3)), np.empty((*stops.shape, pair_walk.N_SUMS))
        if stops.shape[0] == 0:
            return found
        walked = self._walked_for((a, b, start, stops.max(axis=0)))

        def compute(k: int) -> None:
            found[0][:, k], found[1][:, k] = self._finished(walked, k, stops[:, k])

        in_threads(int(self.sizes[0]), compute, range(start.size), self.n_threads)
        return found

    def variance(self, k: int, rows: tuple[Integers, Integers], part: slice) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
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
            walked = self._walk((*rows, start, stops))
        of_rate, of_pairs = self._finished(walked, k, np.array([part.stop]))
        return of_rate[0], of_pairs[0]

    def unit_counts(self, k: int) -> NDArray[np.int64]:
        """As in `PairSide`."""
        if self._walked is None:
            none, zeros = np.empty(0, np.int32), np.zeros(self.sizes.size, np.int64)
            self._walked = self._walk((none, none, zeros, zeros))
        return self._walked.comparisons[k].astype(np.int64)

    def _walked_for(self, errors: Errors) -> Walked:
        """Walk, unless that was done for as many errors of the same lists."""
        walked, (a, b, start, stops) = self._walked, errors
        if walked is None or walked.errors[0] is not a or (stops > walked.errors[3]).any():
            # Further ones, for rates without errors, of which those at a laxer threshold tell the design effect.
            stops = np.minimum(np.append(start[1:], a.size), np.maximum(stops, start + _LEAST_WALKED))
            walked = self._walked = self._walk((a, b, start, stops))
        return walked

    def _finished(self, walked: Walked, k: int, stops: Integers) -> tuple[Floats, Floats]:
        """Compute the variances of list k, (points, 3), and its sums over pairs, with errors up to each of some."""
        from fastfair.kernels import pair_walk

        a, b, start, _ = walked.errors
        n_rows, strata = self.stratum.size, (self.stratum, self.stratum_size)
        order = np.argsort(stops, kind="stable")
        ascending = stops[order]
        begin, at = np.zeros((2, n_rows), np.int64), np.empty(ascending[-1] - start[k], np.int64)
        pair_walk.group_errors(a, b, start[k], ascending[-1], begin, at)
        sums = pair_walk.new_sums(stops.size, n_rows, self.stratum_size.size)
        sums.comparisons[:], sums.repeats_squared[:] = walked.comparisons[k], walked.repeats_squared[k]
        sums.inside[:], sums.of_pairs[:1] = walked.inside[k], walked.of_pairs[k]
        grouped = a, b, begin, at, start[k], walked.repeats[k]
        pair_walk.add_errors(np.int64(0), np.int64(n_rows), grouped, ascending, self.varies, sums)
        found = np.empty((stops.size, 3)), np.empty((stops.size, pair_walk.N_SUMS))
        pair_walk.finish_list(sums, np.flatnonzero(sums.comparisons), (start[k], ascending, order), strata, *found)
        return found


def require_room(n_lists: int, n_units: int) -> None:
    """Refuse more lists and units than sums over their pairs have room for."""
    memory.require(
        _BYTES_OF_A_UNIT * n_lists * n_units,
        f"sums over the pairs of {n_units:,} subjects in {n_lists:,} groups and pairs of groups",
        "use fewer groups",
    )
