"""What the engine asks of comparisons, wherever they lie: in memory, in files, or as numbers of
vectors.

A source has two sides, the mated and the non-mated comparisons. Of a side, comparisons near the
errors are listed, that is kept one by one in `ErrorLists`; all others are counted, that is only
sums over them are kept. There is a list of all comparisons of the side, and one of each group or
pair of groups. `side_of` makes one from what `Comparisons.pairs` holds of a class; a new kind of
source registers its own. What a kind of data cannot do stands in `Comparisons.lacks`, in words, and
is asked for by `Comparisons._require`.

The promises of a side: what it sums are whole numbers, so that no order, number of threads or
partition changes a bit; rows of weights are those of `Units`, in the order in which these are
drawn; and it can be pickled with all that replicates need of it, unless `totals` sums that
beforehand.

Comparisons that are listed, in memory, are grouped by one of their units. Pairs of vectors are not:
two subjects with n and m vectors have n m pairs, so that sums over pairs are products of sums over
subjects. Only pairs of two groups in which one group is that of the references depend on the order
of the vectors. Those of a scan, in buckets, stand in `scanned_pairs`.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, singledispatch
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import (
    AnyArray,
    AnyIntegers,
    Bytes,
    Codes,
    Flags,
    Floats,
    Groups,
    Integers,
    RandomKey,
    Words,
)
from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.error_rates.score_metrics import ExactCosts

from .units import BLOCK, SessionUnits, Units

if TYPE_CHECKING:
    from fastfair.kernels.cost_sums import CostSums
    from fastfair.kernels.pair_walk import Sums
    from fastfair.kernels.partners import Runs

_ROUNDING = 1e-14  # of a mean: a standard error below it is what rounding leaves of 0
_BYTES_OF_A_UNIT = 48  # in a list: two sums, twice, and where its errors begin and end
_LEAST_WALKED = 2**12  # comparisons of each list
_PIECE = 2**18  # comparisons whose rows of weights are written at a time


_T = TypeVar("_T")


class Classes(NamedTuple, Generic[_T]):
    """What the two sides, the mated and the non-mated comparisons, have."""

    mated: _T
    nonmated: _T

    def of(self, mated: bool) -> _T:
        """Return that of one class."""
        return self.mated if mated else self.nonmated


class TooFewKeptError(Exception):
    """A block needs comparisons that were not sent along with those kept."""


class Totals(Protocol):
    """Sums over all comparisons of each list in blocks of 64 replicates."""

    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """Write the total weights into `totals`, (lists, 64); weights: (rows, 64) of that block, up
        to `largest`.
        """

    def cost(self, block: int, weights: Bytes, n_lists: int) -> Floats:
        """Return (n_lists, 64) sums of weight times cost in nats, of the first lists; of sides with
        costs.
        """


class Errors(NamedTuple):
    """The rows of both units of comparisons, and where errors are among them."""

    a: AnyIntegers  # (n,) those of all lists, one behind the other, errors first
    b: AnyIntegers  # (n,)
    start: Any  # (lists,) where each list begins; of one list alone a number
    # (points, lists) where its errors end; (lists,), or (points,) of one list alone
    stops: AnyIntegers

    def of_list(self, k: int) -> Errors:
        """Return those of one list at all points."""
        return Errors(self.a, self.b, self.start[k], self.stops[:, k])


class GroupedErrors(NamedTuple):
    """The errors of a list, grouped by their smaller unit, as `kernels.pair_walk` takes them."""

    a: AnyIntegers  # (n,) as in `Errors`
    b: AnyIntegers  # (n,)
    begin: Integers  # (2, units) where the errors of each unit begin and end in `at`
    at: Integers  # (errors,) their positions
    first: Any  # where the list begins
    repeats: Codes  # (errors,) the number of comparisons of each error's pair

    @classmethod
    def of(
        cls, a: AnyIntegers, b: AnyIntegers, first: Any, stop: Any, n_units: int
    ) -> GroupedErrors:
        """Group the errors from one position to another, without the numbers of comparisons."""
        from fastfair.kernels import pair_walk

        begin = np.zeros((2, n_units), np.int64)
        at = np.empty(stop - first, np.int64)
        pair_walk.group_errors(a, b, first, stop, begin, at)
        return cls(a, b, begin, at, first, np.empty(at.size, np.int32))


class PairSide(ABC):
    """The mated, or the non-mated, comparisons of a source, in lists: list 0 of all, others of
    groups or two groups.

    Attributes
    ----------
    sizes : (lists,) ndarray of int64
        Number of comparisons in each list.
    stratum, stratum_size : (rows,) ndarray of int32, (strata,) ndarray of int64
        The stratum of each row of weights, and the number of units in each stratum.
    n_threads : int or None
        Number of threads that sum; all processors by default.
    in_passes : bool
        Whether `totals` reads all comparisons for all replicates at once.
    total_type : type
        Of total weights in replicates.
    """

    in_passes = False
    total_type: type = np.int64

    def __init__(self, sizes: Integers, units: Units, n_threads: int | None) -> None:
        self.sizes, self.n_threads = sizes, n_threads
        self.stratum, self.stratum_size = units.stratum, units.stratum_size

    @cached_property
    def varies(self) -> Flags:
        """(rows,) whether the weights of a unit vary."""
        return self.stratum_size[self.stratum] > 1

    @property
    def mean_weight(self) -> Floats:
        """(lists,) mean weight in replicates; below 1 where pairs of a sample with itself take the
        rest.
        """
        return np.ones(self.sizes.size)

    @property
    def kinds(self) -> Sequence[PairSide]:
        """The same comparisons where each kind of unit that is drawn is drawn alone, people first:
        here there is one.
        """
        return (self,)

    def rows_of_kinds(
        self, a: AnyIntegers, b: AnyIntegers
    ) -> Sequence[tuple[AnyIntegers, AnyIntegers]]:
        """Return the rows of comparisons in `kinds` from their rows of weights."""
        return ((a, b),)

    def errors_of_kinds(self, errors: Errors) -> Sequence[Errors]:
        """Return errors with the rows that they have in `kinds`; others than errors have none."""
        return (errors,)

    @property
    def few_units(self) -> Floats | None:
        """(kinds, lists) factors of variances in lists that have fewer units than all; None where
        there is one kind of unit.
        """
        return None

    def combined(self, of_kinds: Sequence[Floats], lists: slice = slice(None)) -> Floats:
        """Return the variances of some lists, as `variances` does, from (..., lists, 3) ones of
        `kinds`.
        """
        return of_kinds[0]

    @cached_property
    @abstractmethod
    def two_way(self) -> bool:
        """Whether any comparison has two units whose weights vary; without one, no weights are
        shrunk.
        """

    @abstractmethod
    def totals(
        self,
        units: Units,
        starts: range,
        key: RandomKey,
        n_costs: int,
        report: Callable[[int], None],
    ) -> Totals:
        """Return what weighs blocks that begin at some replicates; costs are asked of the first
        lists alone.
        """

    @abstractmethod
    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """Compute the variances of the rates of all lists, and sums over their pairs of units.

        Returns (points, lists, 3), the variances times n^2 and their degrees of freedom as
        `kernels.dyadic` writes them, and (points, lists, sums), as `kernels.pair_walk` names them.
        In sessions there are two variances more, as `session_sides` names them.
        """


class SideInMemory(PairSide):
    """A side that weighs its comparisons itself."""

    @abstractmethod
    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """As in `Totals`."""

    def totals(
        self,
        units: Units,
        starts: range,
        key: RandomKey,
        n_costs: int,
        report: Callable[[int], None],
    ) -> Any:
        """As in `PairSide`."""
        return self


class SummedSide(PairSide):
    """A side that sums over the pairs of units of each list.

    Attributes
    ----------
    n_shared : int
        How many lists, the first ones, all threads sum over together.
    """

    n_shared = 0

    @abstractmethod
    def unit_counts(self, k: int) -> Integers:
        """Return the number of comparisons of each unit in list k, (rows,)."""

    @abstractmethod
    def _sums_of_list(self, k: int, errors: GroupedErrors, stops: AnyIntegers) -> Sums:
        """Sum over the pairs of list k; stops: (points,) where its errors end, ascending."""

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
        from fastfair.kernels import pair_walk

        shape = errors.stops.shape
        variances = np.empty((*shape, 3))
        of_pairs = np.empty((*shape, pair_walk.N_SUMS))

        def compute(k: int) -> None:
            variances[:, k], of_pairs[:, k] = self.variances_of_list(k, errors.of_list(k))

        if errors.stops.size:
            for k in range(self.n_shared):
                compute(k)
            in_threads(
                int(self.sizes[0]), compute, range(self.n_shared, self.sizes.size), self.n_threads
            )
        return variances, of_pairs

    def variances_of_list(self, k: int, errors: Errors) -> tuple[Floats, Floats]:
        """Compute (points, 3) and (points, sums) of list k alone, as `variances` does of all."""
        from fastfair.kernels import pair_walk

        order = np.argsort(errors.stops, kind="stable")
        ascending = errors.stops[order]
        grouped = GroupedErrors.of(
            errors.a, errors.b, errors.start, ascending[-1], self.stratum.size
        )
        sums = self._sums_of_list(k, grouped, ascending)
        variances = np.empty((order.size, 3))
        of_pairs = np.empty((order.size, pair_walk.N_SUMS))
        strata = (self.stratum, self.stratum_size)
        units = np.flatnonzero(sums.comparisons)
        pair_walk.finish_list(
            sums, units, (errors.start, ascending, order), strata, variances, of_pairs
        )
        return variances, of_pairs


class CostedSide(PairSide):
    """A side that has the scores of all comparisons, and so what they cost in Cllr.

    Attributes
    ----------
    exact : ExactCosts or None
        What comparisons cost, where that is asked.
    """

    exact: ExactCosts | None = None

    @abstractmethod
    def cost_words(self, n_lists: int) -> Integers:
        """Return the total costs of the first lists in words of 32 bits, (words, n_lists),
        carried.
        """

    @abstractmethod
    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """Compute the (lists, 3) variances of the mean costs of the first lists, of costs times a
        scale.
        """

    def mean_costs(self, n_lists: int) -> Floats:
        """Compute what comparisons of the first lists cost in Cllr in the mean, in nats."""
        assert self.exact is not None
        return self.exact.nats(self.cost_words(n_lists)) / np.maximum(self.sizes[:n_lists], 1)

    def variances_of_mean_costs(self, mean_costs: Floats) -> Floats:
        """Compute the (lists, 3) variances of the mean costs as `kernels.dyadic` does, on a scale
        of their own.
        """
        assert self.exact is not None
        # As multiples of what costs are multiples of; a pair's residual is less than the largest
        # cost of all.
        means = np.ldexp(mean_costs, -self.exact.exponent)
        scale = 0.5 ** (1 + self.exact.bits + int(self.sizes[0]).bit_length())
        variances = self.cost_variances(means, scale)
        variances[variances < (_ROUNDING * means * scale)[:, None] ** 2] = (
            0  # as of a list with a single pair
        )
        return variances


@dataclass(frozen=True, eq=False)
class ListedComparisons:
    """Comparisons of a class with the rows of weights of each, and the list that it is in besides
    that of all.

    Attributes
    ----------
    first, second : (n,) ndarray of int
        Numbers of the two units that are compared; without `rows_of` the rows of their weights.
    keys : (n,) ndarray of int32 or int64
        Score keys; empty where they are not kept.
    rows_of : callable, optional
        Returns the rows of the weights of units from both numbers of some comparisons.
    n_lists : int
        Number of lists.
    groups_of : callable, optional
        Returns the groups of the first and of the second units of a slice of comparisons.
    list_of_cell : (groups, groups) ndarray of int32, optional
        The list that comparisons of two groups are in besides list 0, or 0 for none; None where
        list 0 is alone.
    """

    first: AnyIntegers
    second: AnyIntegers
    keys: score_keys.Keys
    rows_of: Callable[[Any, Any], tuple[Codes, Codes]] | None
    n_lists: int = 1
    groups_of: Callable[[slice], tuple[Groups, Groups]] | None = None
    list_of_cell: Codes | None = None

    def rows(self, part: slice) -> tuple[AnyIntegers, AnyIntegers]:
        """Return the rows of the weights of both units of some comparisons."""
        numbers = self.first[part], self.second[part]
        return numbers if self.rows_of is None else self.rows_of(*numbers)

    def lists(self, part: slice) -> AnyArray:
        """Return the list that each of some comparisons is in besides list 0, or 0; nothing where
        list 0 is alone.
        """
        from fastfair.kernels import partners as kernels

        dtype = np.uint16 if self.n_lists <= 2**16 else np.int32
        if self.groups_of is None or self.list_of_cell is None:
            return np.empty(0, dtype)
        groups = self.groups_of(part)
        lists = np.empty(groups[0].size, dtype)
        kernels.lists_of_cells(*groups, self.list_of_cell, lists)
        return lists


@dataclass(frozen=True, eq=False)
class SortedComparisons:
    """The comparisons of a class that are kept, as `ListedComparisons`.

    Attributes
    ----------
    comparisons : Comparisons
        Those of both classes.
    mated : bool
        Whether these are the mated ones.
    units : Units
        The units that are drawn with replacement.
    list_of_cell : (groups, groups) ndarray of int32, or None
        The list that comparisons of two groups are in besides list 0, or 0 for none; numbers ascend
        from 1.
    """

    comparisons: Comparisons
    mated: bool
    units: Units
    list_of_cell: Codes | None

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
    def sizes(self) -> Integers:
        """(lists,) number of comparisons in each list."""
        if self.list_of_cell is None:
            return np.array([len(self)])
        sizes = np.zeros(1 + int(self.list_of_cell.max()), np.int64)
        np.add.at(sizes, self.list_of_cell, self.by_group.cells)
        sizes[0] = len(self)
        return sizes

    @cached_property
    def listed(self) -> ListedComparisons:
        """The comparisons with their rows and lists."""
        side, unit = self.side, self.units.unit
        first, second = side.reference_sample, side.probe_sample
        rows_of: Callable[..., Any] | None = partial(self.units.rows_of, self.mated)
        if isinstance(self.units, SessionUnits):
            first, second = np.empty((2, len(side)), np.int32)
            for part in pieces(slice(0, len(side))):
                rows = self.units.rows_of_part(side, self.mated, part)
                first[part], second[part] = rows
            rows_of = None
        elif unit == "subject":
            first, second = side.reference, side.probe
        elif unit == "comparison":  # by their numbers among those of both classes
            start = 0 if self.mated else len(self.comparisons.mated)
            first = second = np.arange(start, start + len(self), dtype=np.int32)
            if side.rows is not None:  # in the caller's order, which two systems share
                first[np.argsort(side.rows)] = first.copy()
        assert first is not None
        assert second is not None

        def groups_of(part: slice) -> tuple[Groups, Groups]:
            return self.by_group.reference_group[part], self.by_group.probe_group[part]

        return ListedComparisons(
            first, second, side.keys, rows_of, self.sizes.size, groups_of, self.list_of_cell
        )


def pieces(part: slice) -> list[slice]:
    """Cut comparisons into pieces that are worked on one after another, so that what is written of
    them is small.
    """
    cuts = [*range(part.start, part.stop, _PIECE), part.stop]
    return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]


@singledispatch
def side_of(
    pairs: Any, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None
) -> PairSide:
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


@dataclass(eq=False)
class Walked:
    """Sums over all pairs of units of lists, and the numbers of comparisons of their errors'
    pairs.
    """

    errors: Errors  # with (lists,) ends
    comparisons: Floats  # (lists, rows), as in `kernels.pair_walk.Sums`, and so are the next three
    repeats_squared: Floats
    inside: Floats  # (lists, strata)
    of_pairs: Floats  # (lists, 1, sums)
    repeats: list[Codes]  # for each list the number of comparisons of each error's pair

    def has(self, k: int, errors: GroupedErrors, stop: Any) -> bool:
        """Return whether all errors of list k up to a position are among these."""
        a, _, start, stops = self.errors
        return a is errors.a and bool(start[k] == errors.first and stops[k] >= stop)


class CountedSide(SummedSide):
    """Comparisons that are counted, but not listed: sums over their pairs are found in a walk over
    all of them.
    """

    _walked: Walked | None = None

    @abstractmethod
    def _walk(self, errors: Errors) -> Walked:
        """Sum over all pairs of units of each list, and count the comparisons of each error's
        pair.
        """

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`."""
        walked, (a, b, start, stops) = self._walked, errors
        if stops.size and (
            walked is None or walked.errors.a is not a or (stops > walked.errors.stops).any()
        ):
            # Further ones, for rates without errors, whose design effect is that at a laxer
            # threshold.
            most = np.minimum(
                np.append(start[1:], a.size), np.maximum(stops.max(axis=0), start + _LEAST_WALKED)
            )
            self._walked = self._walk(Errors(a, b, start, most))
        return super().variances(errors)

    def unit_counts(self, k: int) -> Integers:
        """As in `SummedSide`."""
        if self._walked is None:
            none = np.empty(0, np.int32)
            zeros = np.zeros(self.sizes.size, np.int64)
            self._walked = self._walk(Errors(none, none, zeros, zeros))
        return self._walked.comparisons[k].astype(np.int64)

    def _sums_of_list(self, k: int, errors: GroupedErrors, stops: AnyIntegers) -> Sums:
        """As in `SummedSide`, of what was walked over, or in a walk for the errors of this list
        alone.
        """
        from fastfair.kernels import pair_walk

        walked, n_rows = self._walked, self.stratum.size
        if walked is None or not walked.has(k, errors, stops[-1]):
            start, ends = np.zeros((2, self.sizes.size), np.int64)
            start[k] = errors.first
            ends[k] = stops[-1]
            walked = self._walk(Errors(errors.a, errors.b, start, ends))
        sums = pair_walk.new_sums(stops.size, n_rows, self.stratum_size.size)
        sums.comparisons[:] = walked.comparisons[k]
        sums.repeats_squared[:] = walked.repeats_squared[k]
        sums.inside[:], sums.of_pairs[:1] = walked.inside[k], walked.of_pairs[k]
        counted = errors._replace(repeats=walked.repeats[k])
        pair_walk.add_errors(
            np.int64(0), np.int64(n_rows), tuple(counted), stops, self.varies, sums
        )
        return sums


def require_room(n_lists: int, n_units: int) -> None:
    """Refuse more lists and units than sums over their pairs have room for."""
    memory.require(
        _BYTES_OF_A_UNIT * n_lists * n_units,
        f"sums over the pairs of {n_units:,} subjects in {n_lists:,} groups and pairs of groups",
        "use fewer groups",
    )


# comparisons of a pair, from which on multiplying a pair's weight is faster than adding it as often
_REPEATED = 5
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
    words : (n, 2 or 3) ndarray of uint32
        Costs of partners in words of 32 bits, the lowest first; (0, 2) where comparisons were
        grouped without.
    """

    runs: Runs
    sizes: Integers
    words: Words

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons that are grouped."""
        return int(self.runs.repeats.sum() or self.runs.partner.size)

    def runs_of_list(self, k: int) -> AnyIntegers:
        """Return the runs of a list, in the order of units."""
        if k == 0:
            return np.arange(self.runs.stop.size, dtype=np.int32)
        chosen, begin, end = self.runs_of_lists
        return chosen[begin[k] : end[k]]

    @cached_property
    def runs_of_lists(self) -> tuple[AnyIntegers, AnyIntegers, AnyIntegers]:
        """The runs in the order of their lists, and where those of each list begin and end."""
        n = np.bincount(self.runs.list, minlength=self.sizes.size)
        end = np.cumsum(n)
        return np.argsort(self.runs.list, kind="stable").astype(np.int32), end - n, end

    def parts(self, n_threads: int) -> list[slice]:
        """Cut the runs into parts with about as many comparisons, each with all runs of its
        units.
        """
        runs = self.runs
        if runs.stop.size == 0:
            return [slice(0, 0)]
        ends = [part.stop for part in slices(int(runs.stop[-1]), n_threads)]
        units = runs.unit[np.searchsorted(runs.stop, ends[:-1])]
        cuts = sorted({0, *np.searchsorted(runs.unit, units).tolist(), runs.stop.size})
        return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]


class ListedSide(SideInMemory, SummedSide, CostedSide):
    """Comparisons in memory, or of any source that lists them.

    Unlike `CountedSide` it walks over pairs and errors of all lists together, with several threads
    and without sums for each unit of each list, which many units and lists would have no room for.
    """

    n_shared = 1

    def __init__(
        self,
        listed: ListedComparisons,
        sizes: Integers,
        units: Units,
        n_threads: int | None = None,
        exact: ExactCosts | None = None,
    ) -> None:
        super().__init__(sizes, units, n_threads)
        self.exact = exact
        self.grouped = group_comparisons(listed, sizes, units.n_rows, n_threads, exact)

    @cached_property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        from fastfair.kernels import partners as kernels

        return bool(kernels.any_varies(self.grouped.runs, self.varies))

    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """As in `Totals`."""
        from fastfair.kernels import row_sums

        row_sums.total_weights(self.grouped.runs, weights, largest, totals)

    def cost(self, block: int, weights: Bytes, n_lists: int) -> Floats:
        """As in `Totals`."""
        from fastfair.kernels import cost_sums

        assert self.exact is not None
        words = np.empty((n_lists, cost_sums.WORDS, BLOCK), np.int64)
        cost_sums.total_costs(self.grouped.runs, self.grouped.words, weights, words)
        return self.exact.nats(words.swapaxes(0, 1))

    def unit_counts(self, k: int) -> Integers:
        """As in `SummedSide`."""
        from fastfair.kernels import unit_sums

        counts = np.zeros(self.stratum.size, np.int64)
        unit_sums.count_comparisons(self.grouped.runs, self.grouped.runs_of_list(k), counts)
        return counts

    def _sums_of_list(self, k: int, errors: GroupedErrors, stops: AnyIntegers) -> Sums:
        """As in `SummedSide`."""
        from fastfair.kernels import pair_walk

        runs = self.grouped.runs
        n_rows = self.stratum.size
        of_errors = tuple(errors)

        def add(chosen: AnyIntegers) -> Sums:
            sums = pair_walk.new_sums(stops.size, n_rows, self.stratum_size.size)
            pair_walk.add_runs(runs, chosen, of_errors, self.stratum, self.varies, sums)
            if chosen.size:
                first, last = runs.unit[chosen[[0, -1]]].astype(np.int64)
                pair_walk.add_errors(first, last + 1, of_errors, stops, self.varies, sums)
            return sums

        if k > 0:
            return add(self.grouped.runs_of_list(k))
        return self._added(
            lambda part: add(np.arange(part.start, part.stop, dtype=np.int32)), int(self.sizes[0])
        )

    def _added(self, add: Callable[[slice], Any], n: int) -> Any:
        """Add up, array by array, the sums over as many parts of the runs as there are threads."""
        sums, *others = in_threads(
            n, add, self.grouped.parts(count_threads(self.n_threads)), self.n_threads
        )
        for other in others:
            for array, more in zip(sums, other, strict=True):
                array += more
        return sums

    def cost_words(self, n_lists: int) -> Integers:
        """As in `CostedSide`."""
        from fastfair.kernels import cost_sums

        words = np.empty((cost_sums.WORDS, n_lists), np.int64)
        cost_sums.sum_costs(self.grouped.runs, self.grouped.words, words)
        return words

    def cost_variances(self, means: Floats, scale: float) -> Floats:
        """As in `CostedSide`."""
        from fastfair.kernels import cost_sums, pair_walk

        n_rows = self.stratum.size
        variances = np.empty((means.size, 3))
        for k, mean in enumerate(means.tolist()):
            of_list = mean, scale

            def add(part: slice, k: int = k, of_list: tuple[float, float] = of_list) -> list[Any]:
                chosen = np.arange(part.start, part.stop, dtype=np.int32)
                if k > 0:
                    chosen = chosen[self.grouped.runs.list[part] == k]
                counts = pair_walk.new_sums(1, n_rows, self.stratum_size.size)
                costs = cost_sums.new_costs(n_rows)
                add_pair_costs(
                    self.grouped, chosen, of_list, self.stratum, self.varies, (counts, costs)
                )
                return [*counts, *costs]

            counts, costs = pair_and_cost_sums(self._added(add, int(self.sizes[k])))
            cost_sums.finish_costs(
                counts, costs, of_list, (self.stratum, self.stratum_size), variances[k]
            )
        return variances


class VectorsWithThemselves(ListedSide):
    """Mated pairs of one set of vectors whose samples are drawn, some of them twice: paired with
    themselves, too.

    Pairs of a vector with itself are not listed and never fail. Of a subject with n vectors they
    have 1 / n of the weight, so that the mean weight of other pairs is w = 1 - 1 / n. The
    V-statistic E / N, with errors of weight E among N pairs, varies around w times the rate r of
    the data. Replicates are (1 - w) r + E / N, which varies as much, but around r: weights are
    shrunk by w, and their total is its mean, w N.
    """

    total_type = np.float64

    def __init__(
        self, kept: SortedComparisons, n_threads: int | None, exact: ExactCosts | None
    ) -> None:
        super().__init__(kept.listed, kept.sizes, kept.units, n_threads, exact)
        self._units = units = kept.units
        mean = 1 - 1 / np.bincount(units.subject)
        pairs = [units.of_subjects(self.unit_counts(k)) / 2 for k in range(self.sizes.size)]
        members = [np.flatnonzero(of_list) for of_list in pairs]
        self._mean_of_members = [
            (rows, (of_list * mean)[rows]) for rows, of_list in zip(members, pairs, strict=True)
        ]

    @property
    def mean_weight(self) -> Floats:
        """As in `PairSide`."""
        return np.array([means.sum() for _, means in self._mean_of_members]) / np.maximum(
            self.sizes, 1
        )

    def weigh(self, block: int, weights: Bytes, largest: int, totals: AnyArray) -> None:
        """As in `Totals`, with the mean weights of pairs of subjects that are drawn so often."""
        of_subjects = self._units.subject_weights(weights)
        for k, (members, means) in enumerate(self._mean_of_members):
            totals[k] = (means[:, None] * of_subjects[members]).sum(axis=0)


@side_of.register
def _(
    pairs: SortedSide, kept: SortedComparisons, workers: Workers, exact: ExactCosts | None = None
) -> ListedSide:
    if kept.mated and kept.units.pairs_itself:
        return VectorsWithThemselves(kept, workers.n_threads, exact)
    return ListedSide(kept.listed, kept.sizes, kept.units, workers.n_threads, exact)


def add_pair_costs(
    grouped: Grouped,
    chosen: AnyIntegers,
    of_list: tuple[float, float],
    stratum: AnyIntegers,
    varies: Flags,
    sums: tuple[Sums, CostSums],
) -> None:
    """Add up the pairs of some runs of a list, and their costs, as `kernels.cost_sums` does."""
    from fastfair.kernels import cost_sums, pair_walk

    no_rows = np.empty(0, np.int32)
    no_errors = GroupedErrors.of(no_rows, no_rows, np.int64(0), np.int64(0), stratum.size)
    pair_walk.add_runs(grouped.runs, chosen, tuple(no_errors), stratum, varies, sums[0])
    cost_sums.add_costs(grouped.runs, grouped.words, chosen, of_list, varies, sums[1])


def pair_and_cost_sums(arrays: Sequence[Any]) -> tuple[Sums, CostSums]:
    """Return the sums of a list over pairs, and of their costs, as kernels take them."""
    from fastfair.kernels import cost_sums, pair_walk

    n = len(pair_walk.Sums._fields)
    return pair_walk.Sums(*arrays[:n]), cost_sums.CostSums(*arrays[n:])


def group_comparisons(
    source: ListedComparisons,
    sizes: Integers,
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

    n, n_lists = source.first.size, sizes.size
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
    no_costs = np.empty(0, np.int64)
    words = np.empty((0 if exact is None else n, 2), np.uint32)
    lists = np.empty(n if n_lists > 1 else 0, source.lists(slice(0, 0)).dtype)

    def scatter(k: int) -> None:
        for piece in parts[k]:
            costs = no_costs if exact is None else exact.of(source.keys[piece])
            kernels.scatter(
                *source.rows(piece), source.lists(piece), position[k], partner, lists, costs, words
            )

    in_threads(n, scatter, range(len(parts)), n_threads)
    cuts = np.searchsorted(begin, [part.stop for part in slices(n, count_threads(n_threads))][:-1])
    blocks = [*itertools.pairwise(sorted({0, *cuts.tolist(), n_units}))]
    n_runs = in_threads(
        n,
        lambda block: int(kernels.arrange(begin, *block, n_lists, partner, lists, words)),
        blocks,
        n_threads,
    )
    total = sum(n_runs)
    runs = kernels.Runs(
        np.empty(total, np.int32),
        np.empty(total, np.int32),
        np.empty(total, np.int64),
        partner,
        np.empty(0, np.int32),
    )
    first = np.cumsum(n_runs) - n_runs

    def write(k: int) -> None:
        kernels.write_runs(begin, *blocks[k], lists, first[k], runs)

    in_threads(n, write, range(len(blocks)), n_threads)
    merged, words = _merged(runs, words, n_units)
    return Grouped(merged, sizes, words)


def _merged(runs: Runs, words: Words, n_units: int) -> tuple[Runs, Words]:
    """Keep partners once, with the number and the costs of their comparisons, where they are
    repeated often.
    """
    from fastfair.kernels import cost_sums
    from fastfair.kernels import partners as kernels

    last = min(runs.stop.size, int(np.searchsorted(runs.stop, _LOOKED_AT)) + 1)
    repeated = _REPEATED_WITH_COSTS if words.size else _REPEATED
    n_pairs = int(kernels.count_pairs(runs, last, n_units)) if last else 0
    if last == 0 or n_pairs * repeated > runs.stop[last - 1]:
        return runs, words
    if last < runs.stop.size:
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
