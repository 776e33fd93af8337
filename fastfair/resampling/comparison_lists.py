"""Lists of the mated, or non-mated, comparisons for `fastfair.kernels.sweep`, each sorted with errors first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.radix_sort import sort_by_bits
from fastfair.data import score_keys
from fastfair.data.sorted_scores import SortedSide
from fastfair.errors import InputError

from .units import ComparisonUnits

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

Rows = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class DistinctPairs:
    """The distinct pairs of units behind each list.

    Attributes
    ----------
    first, second : (pairs,) int32
        Rows of weights of the two units, sorted within each list.
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
    """Lists of comparisons, one after another: list 0 holds all, the others those of groups or of pairs of groups.

    Attributes
    ----------
    keys : (n,) int32 or int64
        Ascending in each list, errors first: non-mated keys are inverted.
    a, b : (n,) int32
        For each comparison, the rows of the weights of its two units, whose product is the comparison's weight.
    end : (lists,) int64
        Position after the last comparison of each list.
    mated : bool
        Whether the comparisons are mated.
    stratum, stratum_size : (rows,) int32, (strata,) int64
        The stratum of each row of weights, and the number of units in each stratum.
    """

    keys: score_keys.Keys
    a: Rows
    b: Rows
    end: NDArray[np.int64]
    mated: bool
    stratum: Rows
    stratum_size: NDArray[np.int64]

    @property
    def start(self) -> NDArray[np.int64]:
        """(lists,) position of the first comparison of each list."""
        return np.concatenate(([0], self.end[:-1]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(lists,) number of comparisons in each list."""
        return np.diff(self.end, prepend=0)

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

        return sweep.Side(self.keys, self.a, self.b, (), self.end, self.sizes, weights, 1, totals, shrinkage)

    def limits(self, thresholds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Turn threshold keys into the keys below which comparisons are errors."""
        return thresholds if self.mated else -thresholds

    def total_weights(self, weights: NDArray[np.uint8], largest: int, totals: NDArray[np.int64]) -> None:
        """Write the total weight of the comparisons of each list in 64 replicates into `totals`, (lists, 64)."""
        from fastfair.kernels import sweep

        pairs = self.pairs
        if self.end.size > 1 and self.sizes[1:].sum() == self.end[0]:  # the other lists share out list 0
            begin = pairs.end[0]
            first, second, repeats = pairs.first[begin:], pairs.second[begin:], pairs.repeats[begin:]
            sweep.total_weights(first, second, repeats, pairs.end[1:] - begin, weights, largest, totals[1:])
            totals[0] = totals[1:].sum(axis=0)
        else:
            sweep.total_weights(pairs.first, pairs.second, pairs.repeats, pairs.end, weights, largest, totals)

    def count_errors(self, thresholds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the errors in the first lists, each at its own threshold key.

        thresholds: (..., n) ndarray for the first n lists. Returns (..., n).
        """
        from fastfair.kernels import curves as kernels

        limits = np.atleast_2d(self.limits(thresholds))
        found = np.empty(limits.shape, np.int64)
        kernels.count_below_in_lists(self.keys, self.start, self.end, limits, found)
        return found.reshape(thresholds.shape)

    def variances(self, errors: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute the variances of each list's rate with so many errors, times n^2, and their degrees of freedom.

        errors: (points, lists) ndarray. Returns (points, lists, 3), as `kernels.dyadic` writes them.
        """
        from fastfair.kernels import dyadic as kernels

        pairs, found = self.pairs, np.empty((*errors.shape, 3))
        of_errors = pairs.of_comparison, self.start, self.start + errors
        kernels.variances_of_rates(
            (pairs.first, pairs.second, pairs.repeats), pairs.end, of_errors, self.stratum, self.stratum_size, found
        )
        return found

    def shrinkage(self, errors: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute the shrinkage of each list's weights for rates with so many errors; see `kernels.dyadic`.

        Also return the degrees of freedom of the rates' variances.

        errors: (points, lists) ndarray. Returns two of this shape.
        """
        from fastfair.kernels import dyadic as kernels

        if not self.two_way:
            return np.ones(errors.shape), np.full(errors.shape, np.inf)
        found = self.variances(errors)
        return shrinkage_of(found), found[..., kernels.FREEDOM]

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

    @cached_property
    def two_way(self) -> bool:
        """Whether any comparison has two units whose weights vary; without one, no weights are shrunk."""
        varies = self.stratum_size[self.stratum] > 1
        return bool((varies[self.pairs.first] & varies[self.pairs.second]).any())

    @cached_property
    def pairs(self) -> DistinctPairs:
        """The distinct pairs of units of each list."""
        n_rows, n_lists = self.stratum.size, self.end.size
        if n_lists * n_rows**2 >= 2**63:
            raise InputError(f"{n_rows} units in {n_lists} lists are more than can be resampled: use fewer groups")
        codes = np.repeat(np.arange(n_lists), self.sizes)
        codes *= n_rows
        codes += np.minimum(self.a, self.b)
        high = np.maximum(self.a, self.b)
        if high.min() == n_rows - 1 and n_lists * n_rows <= codes.size:
            # One unit a comparison: few enough pairs to count them without a sort.
            repeats = np.bincount(codes, minlength=n_lists * n_rows)
            pairs = np.flatnonzero(repeats)
            position = np.cumsum(repeats > 0, dtype=np.int32) - np.int32(1)
            of_comparison, repeats = position[codes], repeats[pairs]
            first, second = pairs % n_rows, np.full(pairs.size, n_rows - 1)
            lists = pairs // n_rows
        else:
            codes *= n_rows
            codes += high
            codes, order = sorted_with_order(codes)
            new = np.concatenate(([True], codes[1:] != codes[:-1]))
            of_comparison = np.empty(codes.size, np.int32)
            of_comparison[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
            at = np.flatnonzero(new)
            pairs, repeats = codes[at], np.diff(at, append=codes.size)
            first, second = pairs // n_rows % n_rows, pairs % n_rows
            lists = pairs // n_rows**2
        end = np.searchsorted(lists, np.arange(n_lists), side="right").astype(np.int64)
        return DistinctPairs(
            first.astype(np.int32), second.astype(np.int32), repeats.astype(np.int32), end, of_comparison
        )


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


def sorted_with_order(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort codes in place, and return the position that each had before."""
    places, span = max(1, int(codes.size - 1).bit_length()), int(codes.max()).bit_length()
    if span + places < 64:
        codes <<= places  # one sort of integers is faster than one of positions
        codes |= np.arange(codes.size)
        codes = sort_by_bits(codes, np.empty_like(codes), places, places + span)
        order = codes & ((1 << places) - 1)
        codes >>= places
        return codes, order
    order = np.argsort(codes)
    return codes[order], order


def make_lists(
    side: SortedSide, mated: bool, units: ComparisonUnits, codes: NDArray[Any] | None, n_lists: int
) -> ErrorLists:
    """Divide the sorted mated, or non-mated, comparisons into lists.

    Parameters
    ----------
    side : SortedSide
        The comparisons.
    mated : bool
        Whether they are mated.
    units : ComparisonUnits
        The units that are drawn with replacement.
    codes : (n,) ndarray of int, or None
        The list that each comparison is in besides list 0, or 0 for none.
    n_lists : int
        Number of lists, including list 0.

    Returns
    -------
    ErrorLists
    """
    keys, (a, b) = side.keys, units.mated if mated else units.nonmated
    if not mated:
        keys, a, b = ~keys[::-1], a[::-1], b[::-1]
        codes = None if codes is None else codes[::-1]
    end = np.full(n_lists, keys.size, np.int64)
    if codes is not None:
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=n_lists)
        order = order[sizes[0] :]
        end[1:] += np.cumsum(sizes[1:])
        keys, a, b = (np.concatenate((column, column[order])) for column in (keys, a, b))
    keys, a, b = map(np.ascontiguousarray, (keys, a, b))
    return ErrorLists(keys, a, b, end, mated, units.stratum, units.stratum_size)
