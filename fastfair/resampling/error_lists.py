"""Lists of comparisons, each sorted with errors first, and what shrinks their weights to the dyadic-robust variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair.data import score_keys
from fastfair.data.temporary_files import room

from .listed_pairs import shares_of_lists
from .pair_source import ListedComparisons, PairSide, pieces
from .ranges import Ranges

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
OfBoth = tuple[Floats, Floats]  # of the mated lists, of the non-mated ones
Scale = tuple[()] | tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class DistinctPairs:
    """The distinct pairs of units behind each list.

    Attributes
    ----------
    first, second : (pairs,) int32
        Rows of weights of the two units, the smaller one first; those with the same first unit lie together.
    repeats : (pairs,) int32
        Number of comparisons of each pair.
    end : (lists,) int64
        Position after the last pair of each list.
    of_comparison : (n,) int32
        The pair of every comparison of every list, as a position.
    """

    first: Rows
    second: Rows
    repeats: Rows
    end: NDArray[np.int64]
    of_comparison: Rows


@dataclass(frozen=True, eq=False)
class ErrorLists:
    """Lists of comparisons, one after another: list 0 is of all, the others are of groups or of pairs of groups.

    Attributes
    ----------
    keys : (n,) int32 or int64
        Ascending in each list, errors first: non-mated keys are inverted. Lists may be kept up to some key only.
    a, b : (n,) int32
        For each comparison, the rows of the weights of its two units, whose product is the comparison's weight.
    end : (lists,) int64
        Position after the last comparison kept of each list.
    mated : bool
        Whether the comparisons are mated.
    source : PairSide
        All comparisons.
    complete : bool
        Whether all comparisons are kept.
    scale : tuple of (rows,) ndarray, or ()
        Two arrays: a comparison counts in a rate as much as the product of the first one's value at `a` and the second
        one's at `b`. () where all count alike.
    ranges : Ranges or None
        Comparisons that are counted, but not listed.
    """

    keys: score_keys.Keys
    a: Rows
    b: Rows
    end: NDArray[np.int64]
    mated: bool
    source: PairSide
    complete: bool
    scale: Scale = ()
    ranges: Ranges | None = None

    @property
    def start(self) -> NDArray[np.int64]:
        """(lists,) position of the first comparison of each list."""
        return np.concatenate(([0], self.end[:-1]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(lists,) number of comparisons in each list, including those that are not kept."""
        return self.source.sizes

    @property
    def stratum(self) -> Rows:
        """(rows,) the stratum of each row of weights."""
        return self.source.stratum

    @property
    def stratum_size(self) -> NDArray[np.int64]:
        """(strata,) the number of units in each."""
        return self.source.stratum_size

    def keys_of(self, k: int) -> score_keys.Keys:
        """Return the keys of list k."""
        return self.keys[self.start[k] : self.end[k]]

    def reach(self, limits: NDArray[np.int64]) -> bool:
        """Tell whether all comparisons with keys below each limit are kept."""
        return self.complete or bool((limits <= self.keys[self.end[0] - 1]).all())

    def side(self, weights: NDArray[np.uint8], totals: NDArray[np.int64], shrinkage: NDArray[np.float64]) -> Side:
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

        return sweep.Side(self.keys, self.a, self.b, self.scale, self.end, self.sizes, weights, 1, totals, shrinkage)

    def limits(self, thresholds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Turn threshold keys into the keys below which comparisons are errors."""
        return thresholds if self.mated else -thresholds

    def count_errors(self, thresholds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the errors in the first lists, each at its own threshold key.

        thresholds: (..., n) ndarray for the first n lists. Returns (..., n).
        """
        from fastfair.kernels import curves as kernels

        limits = np.atleast_2d(self.limits(thresholds))
        found = np.empty(limits.shape, np.int64)
        kernels.count_below_in_lists(self.keys, self.start, self.end, limits, found)
        return found.reshape(thresholds.shape)

    def variances(self, errors: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute the variances of each list's rate with so many errors, and sums over its pairs of units.

        errors: (points, lists) ndarray. Returns (points, lists, 3), the variances times n^2 and their degrees of
        freedom as `kernels.dyadic` writes them, and (points, lists, sums), as `kernels.pair_walk` names them.
        """
        return self.source.variances((self.a, self.b, self.start, self.start + errors))

    def variance(self, k: int, n_errors: int, *, from_the_end: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute what `variances` does for list k alone with so many errors: (3,) and (sums,).

        With `from_the_end` the last comparisons of the list are taken for errors.
        """
        first = int(self.end[k]) - n_errors if from_the_end else int(self.start[k])
        return self.source.variance(k, (self.a, self.b), slice(first, first + n_errors))

    def shrinkage_of_sums(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """Compute the shrinkage of each list's weights for the mean of a quantity, from its sum over each pair."""
        from fastfair.kernels import dyadic as kernels

        if not self.two_way:
            return np.ones(self.end.size)
        pairs = self.pairs
        found = np.empty((self.end.size, 3))
        kernels.variances(
            pairs.first, pairs.second, pairs.repeats, pairs.end, sums, self.stratum, self.stratum_size, found
        )
        return shrinkage_of(found)

    def sum_pairs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the values of comparisons over each distinct pair."""
        pairs = self.pairs
        return np.bincount(pairs.of_comparison, weights=values, minlength=pairs.first.size).astype(np.float64)

    @property
    def two_way(self) -> bool:
        """Whether any comparison has two units whose weights vary; without one, no weights are shrunk."""
        return self.source.two_way

    @cached_property
    def pairs(self) -> DistinctPairs:
        """The distinct pairs of units of each list."""
        from fastfair.kernels import comparison_lists as kernels

        n, start = self.a.size, self.start
        first, second, repeats, pair = (np.empty(n, np.int32) for _ in range(4))
        found = np.empty(self.end.size, np.int64)

        def number(lists: slice) -> None:
            kernels.number_pairs(
                self.a, self.b, start[lists], self.end[lists], self.stratum.size, pair, (first, second, repeats),
                found[lists],
            )  # fmt: skip

        n_threads = self.source.n_threads
        # List 0 holds about as much as the other lists together.
        shares = [slice(0, 1), *shares_of_lists(self.sizes, max(1, count_threads(n_threads) - 1))]
        in_threads(n, number, shares, n_threads)
        end = np.cumsum(found)
        for k in range(1, end.size):
            for column in (first, second, repeats):
                column[end[k - 1] : end[k]] = column[start[k] : start[k] + found[k]]
            pair[start[k] : self.end[k]] += np.int32(end[k - 1])
        return DistinctPairs(first[: end[-1]], second[: end[-1]], repeats[: end[-1]], end, pair)


def shrinkage_of(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what weights must be shrunk by so that product weights give the dyadic-robust variance.

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
        return np.where((product > 0) & (robust > 0), np.minimum(1.0, np.sqrt(robust / product)), 1.0)


def make_lists(
    kept: ListedComparisons,
    source: PairSide,
    mated: bool,
    n_kept: int | None = None,
    *,
    errors_first: bool | None = None,
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
        Number of comparisons to keep, from the first error on; all by default, or all that a scan has kept.
    errors_first : bool, optional
        Whether errors come first. By default those of mated comparisons do, and keys of non-mated ones are inverted.

    Returns
    -------
    ErrorLists
    """
    from fastfair.kernels import comparison_lists as kernels

    keys, n_threads = kept.keys_of(slice(None)), source.n_threads  # of scans fewer than there are comparisons
    n, forward = keys.size, mated if errors_first is None else errors_first
    n_kept = n if n_kept is None else min(n, n_kept)
    first = 0 if forward else n - n_kept
    of_threads = slices(n_kept, count_threads(n_threads))
    # Where errors come last, comparisons are taken from the last one on.
    parts = [slice(first + part.start, first + part.stop) for part in of_threads][:: 1 if forward else -1]
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
    metrics : dict of pairs of (metrics' lists,) ndarray
        For each metric, the factors of the mated and of the non-mated lists.
    freedom : (lists, points) ndarray
        Degrees of freedom of the dyadic-robust variance of each FMR; infinite where it is not computed.
    """

    mated: Floats
    nonmated: Floats
    metrics: dict[str, OfBoth]
    freedom: Floats


def find_shrinkage(
    y: ErrorLists,
    x: ErrorLists,
    thresholds: NDArray[np.int64],
    keys: Mapping[str, NDArray[np.int64]],
    of_costs: Mapping[str, OfBoth],
    n_metrics: int,
    *,
    dyadic: bool,
) -> Shrinkage:
    """Compute the shrinkage that gives replicates the dyadic-robust variance; see `fastfair.kernels.dyadic`.

    Parameters
    ----------
    y, x : ErrorLists
        Mated and non-mated comparisons.
    thresholds : (points,) ndarray of int64
        Threshold keys of the operating points.
    keys : mapping of (n_metrics,) ndarray of int64
        For each metric that has a threshold, the threshold keys of the lists.
    of_costs : mapping of pairs of (n_metrics,) ndarray
        For each metric that is a mean of costs, the factors of the mated and of the non-mated lists.
    n_metrics : int
        Number of lists that have metrics; they come first.
    dyadic : bool
        Whether to shrink weights at all.

    Returns
    -------
    Shrinkage
    """
    from fastfair.kernels import dyadic as kernels

    n_points, found = thresholds.size, []
    for lists in (y, x):
        shape = n_points + len(keys), lists.end.size
        if not (dyadic and lists.two_way):
            found.append((np.ones(shape), np.full(shape, np.inf)))
            continue
        errors = np.zeros(shape, np.int64)
        errors[:n_points] = lists.count_errors(np.repeat(thresholds[:, None], lists.end.size, axis=1))
        for row, of_lists in enumerate(keys.values(), n_points):
            errors[row, :n_metrics] = lists.count_errors(of_lists)
        variances, _ = lists.variances(errors)
        found.append((shrinkage_of(variances), variances[..., kernels.FREEDOM]))
    (mated, _), (nonmated, freedom) = found
    metrics = {name: (mated[k, :n_metrics], nonmated[k, :n_metrics]) for k, name in enumerate(keys, n_points)}
    of_points = [factors[:n_points].T.copy() for factors in (mated, nonmated, freedom)]
    return Shrinkage(of_points[0], of_points[1], {**metrics, **of_costs}, of_points[2])
