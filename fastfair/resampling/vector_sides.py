"""The sides of a source of vectors: pairs that are counted as products of numbers of references and
of probes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fastfair._lib.arrays import AnyArray, AnyIntegers, Bytes, Codes, Flags, Floats, Integers
from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair._lib.workers import Workers
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import KeptComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.score_metrics import ExactCosts

from .error_lists import Ranges, Scale, number_pairs
from .pair_source import (
    CountedSide,
    Errors,
    SideInMemory,
    SortedComparisons,
    Walked,
    require_room,
    side_of,
)
from .units import Units

if TYPE_CHECKING:
    from fastfair.kernels.partners import Runs


@dataclass(frozen=True, eq=False)
class Products:
    """The numbers of pairs of any two units: those of references of one times those of probes of
    the other.

    Mated pairs are of a subject and of what never varies, which is the last unit.

    Attributes
    ----------
    references, probes : (units,) ndarray of int64
        Numbers of references and of probes of each subject, in the order in which these are drawn,
        and of the last unit.
    halved : bool
        Whether each pair is counted twice, as every two vectors are compared.
    """

    references: AnyArray
    probes: AnyArray
    halved: bool

    @classmethod
    def of(cls, pairs: PairsOfVectors, row: AnyIntegers) -> Products:
        """Count pairs; row: that of the weights of each subject."""
        order = np.argsort(row)
        two_sets = pairs.is_probe is not None
        if pairs.mated:
            of_subjects = pairs.of_subjects()[order]
            return cls(np.append(of_subjects, 0), np.append(np.zeros_like(of_subjects), 1), False)
        references, probes = (np.append(counts[order], 0) for counts in pairs.vectors)
        return cls(references, probes, not two_sets)

    def between(self, of_references: Any, of_probes: Any) -> Products:
        """Leave references to some units, and probes to some; (units,) 0 or 1."""
        return Products(self.references * of_references, self.probes * of_probes, self.halved)

    def _once(self, counts: Any, power: int = 1) -> Any:
        return counts // 2**power if self.halved else counts

    def of_two(self, first: AnyIntegers, second: AnyIntegers) -> AnyArray:
        """Count the pairs of two units."""
        of_first = self.references[first] * self.probes[second]
        return self._once(of_first + self.references[second] * self.probes[first])

    def of_units(self) -> AnyArray:
        """Count the pairs of each unit."""
        r, p = self.references, self.probes
        return self._once(r * (p.sum() - p) + p * (r.sum() - r))

    def squares(self, partners: Any = 1) -> AnyArray:
        """Sum the squared numbers of pairs of each unit with its partners, which are 1, and others
        0.
        """
        r, p = self.references, self.probes
        r_others = partners * r**2
        p_others = partners * p**2
        both = partners * r * p
        squares = r**2 * (p_others.sum() - p_others) + p**2 * (r_others.sum() - r_others)
        return self._once(squares + 2 * r * p * (both.sum() - both), 2)

    def inside(self, stratum: Codes, n_strata: int) -> Floats:
        """Count the ends of pairs inside each stratum."""
        r, p, both = (
            np.bincount(stratum, numbers, n_strata)
            for numbers in (self.references, self.probes, self.references * self.probes)
        )
        return np.asarray(r * p - both if self.halved else 2 * (r * p - both), np.float64)

    def weigh(
        self, weights: Integers, members: dict[int, tuple[Any, Any]], totals: AnyArray
    ) -> None:
        """Sum the weights of the pairs of lists.

        weights: (units, r); members: for each list the positions of units whose references, and
        whose probes, it has; totals: (lists, r), out.
        """
        references, probes = (
            counts[:, None] * weights for counts in (self.references, self.probes)
        )
        for k, (of_references, of_probes) in members.items():
            r, p = references[of_references], probes[of_probes]
            pairs = r.sum(axis=0) * p.sum(axis=0)
            totals[k] = self._once(
                pairs - (r * p).sum(axis=0) if of_references is of_probes else pairs
            )


_EVERYBODY = slice(None)


class VectorSide(SideInMemory, CountedSide):
    """The mated, or the non-mated, pairs of vectors.

    Without roles, the list of two groups of which one is that of the references is ordered: whether
    a pair is on it depends on which vector is the reference.
    """

    def __init__(self, pairs: PairsOfVectors, kept: SortedComparisons, workers: Workers) -> None:
        super().__init__(kept.sizes, kept.units, workers.n_threads)
        row = kept.units.row
        self._products = Products.of(pairs, row)
        self._pairs = replace(pairs, subject=row[pairs.subject])  # numbered as rows of weights are
        self.group = np.empty(row.size, np.uint16)
        self.group[row] = cast(KeptComparisons, kept.comparisons).group_of_number
        cells = np.zeros((1, 1), np.int32) if kept.list_of_cell is None else kept.list_of_cell
        self._cells = cells
        crossed = cells.copy()
        np.fill_diagonal(crossed, 0)
        self._is_ordered = pairs.is_probe is None and bool(crossed.any())

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the sums over pairs."""
        return vars(self) | {"_walked": None}

    @cached_property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        return bool(self._products.between(self.varies, self.varies).of_units().any())

    def _unordered_lists(self) -> Iterator[tuple[int, int, int]]:
        """Yield the lists of groups that are not ordered, with the groups of references and of
        probes.
        """
        for g, h in np.argwhere(self._cells).tolist():
            if g == h or not self._is_ordered:
                yield int(self._cells[g, h]), g, h

    def _members(self, g: int) -> Flags:
        """Return who is in a group, (rows,), and what never varies."""
        return np.append(self.group == g, True)

    @cached_property
    def _positions(self) -> dict[int, tuple[Any, Any]]:
        """For each list that does not depend on an order, its units, as `Products.weigh` takes
        them.
        """
        of_groups = [np.flatnonzero(self._members(g)) for g in range(self._cells.shape[0])]
        return {0: (_EVERYBODY, _EVERYBODY)} | {
            k: (of_groups[g], of_groups[h]) for k, g, h in self._unordered_lists()
        }

    def _lists_with_products(self) -> Iterator[tuple[int, Products]]:
        """Yield each list that is not ordered, with its numbers of pairs."""
        yield 0, self._products
        for k, g, h in self._unordered_lists():
            yield k, self._products.between(self._members(g), self._members(h))

    def weigh(self, block: int, weights: Bytes, largest: int, totals: Integers) -> None:
        """As in `Totals`."""
        from fastfair.kernels import vector_pairs as kernels

        totals[:] = 0
        self._products.weigh(weights.astype(np.int64), self._positions, totals)
        if self._is_ordered:
            kernels.weigh_by_order(
                self._pairs.subject, self.group, self._cells, weights[:-1], totals
            )

    def _walk(self, errors: Errors) -> Walked:
        from fastfair.kernels import pair_walk

        n_lists = self.sizes.size
        n_rows = self.stratum.size
        n_strata = self.stratum_size.size
        require_room(n_lists, n_rows)
        comparisons, squares = np.zeros((2, n_lists, n_rows), np.int64)
        inside = np.zeros((n_lists, n_strata))
        of_all, of_ends = np.zeros((2, n_lists), np.int64)
        repeats = [
            np.zeros(stop - start, np.int32)
            for start, stop in zip(errors.start, errors.stops, strict=True)
        ]
        for k, products in self._lists_with_products():
            squared = products.squares()
            comparisons[k] = products.of_units()
            squares[k] = self.varies * products.squares(self.varies)
            inside[k] = products.inside(self.stratum, n_strata)
            of_all[k] = squared.sum() // 2
            of_ends[k] = squared[self.varies].sum()
            part = slice(errors.start[k], errors.stops[k])
            repeats[k][:] = products.of_two(errors.a[part], errors.b[part])
        if self._is_ordered:
            self._add_ordered((comparisons, squares, of_all, of_ends))
            self._count_ordered(errors, repeats)
        of_pairs = np.zeros((n_lists, 1, pair_walk.N_SUMS))
        of_pairs[:, 0, pair_walk.REPEATS_SQUARED] = of_all
        of_pairs[:, 0, pair_walk.REPEATS_SQUARED_OF_ENDS] = of_ends
        return Walked(
            errors,
            comparisons.astype(np.float64),
            squares.astype(np.float64),
            inside,
            of_pairs,
            repeats,
        )

    def _ordered_lists(self) -> Iterator[tuple[int, int, int]]:
        """Yield the ordered lists, with the groups of references and of probes."""
        for g, h in np.argwhere(self._cells).tolist():
            if g != h:
                yield int(self._cells[g, h]), g, h

    def _add_ordered(self, sums: tuple[Integers, Integers, Integers, Integers]) -> None:
        """Add the numbers of pairs of each unit, their squares, and these of all pairs and of ends
        that vary.
        """
        from fastfair.kernels import vector_pairs as kernels

        pairs = self._pairs
        group = self.group
        comparisons, squares, of_all, of_ends = sums
        as_reference, as_probe = pairs.with_groups(group, self._cells.shape[0])
        for k, g, h in self._ordered_lists():
            comparisons[k, :-1] = np.where(
                group == g, as_reference[:, h], np.where(group == h, as_probe[:, g], 0)
            )
        lock = Lock()
        parts = slices(group.size, count_threads(self.n_threads))
        totals = squares[:, :-1], of_all, of_ends

        def add(part: slice) -> None:
            of_part = tuple(np.zeros_like(total) for total in totals)
            kernels.square_by_order(
                part.start, part.stop, pairs.subject, group, self._cells, self.varies[:-1], of_part
            )
            with lock:
                for total, more in zip(totals, of_part, strict=True):
                    total += more

        in_threads(pairs.subject.size * group.size, add, parts, self.n_threads)

    def _count_ordered(self, errors: Errors, repeats: list[Codes]) -> None:
        """Count the pairs of the two subjects of each error, of which the one in the first group is
        the reference.
        """
        from fastfair.kernels import vector_pairs as kernels

        vectors = np.argsort(self._pairs.subject, kind="stable").astype(np.int32)
        begin = np.append(0, np.cumsum(self._pairs.vectors[0]))
        for k, g, _ in self._ordered_lists():
            part = slice(errors.start[k], errors.stops[k])
            a, b = errors.a[part], errors.b[part]
            swapped = self.group[a] != g
            kernels.count_ordered(
                begin, vectors, np.where(swapped, b, a), np.where(swapped, a, b), repeats[k]
            )


@side_of.register
def _(
    pairs: PairsOfVectors,
    kept: SortedComparisons,
    workers: Workers,
    exact: ExactCosts | None = None,
) -> VectorSide:
    return VectorSide(pairs, kept, workers)


class CurveSide(SideInMemory):
    """The mated, or the non-mated, pairs of vectors, as curves over FMR need them.

    `VectorSide` walks over the errors of each list one by one, for any number of comparisons of two
    units and for sums that models of counts need, which takes six times as long for the ten million
    errors of a curve. This one sums them by unit in all lists at once, and has identity weights,
    and ranges of pairs that are not listed, which make replicates four times as fast.

    Attributes
    ----------
    scale : tuple of (rows,) ndarray, or ()
        As in `ErrorLists`.
    products : Products
        Numbers of pairs, or 1 for any number where all subjects, or pairs of them, weigh alike.
    ranges : Ranges or None
        Pairs that are counted, but not listed.
    listed_before : (ranges,) ndarray
        How many of the pairs that are listed lie below each.
    group : (k,) ndarray of int32
        The group of each subject, in the order in which these are drawn; -1 without lists of
        groups.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        units: Units,
        mated: bool,
        weighting: str,
        n_groups: int,
        n_threads: int | None,
    ) -> None:
        self._units, self._mated = units, mated
        self.ranges: Ranges | None = None
        self.listed_before = np.empty(0, np.int64)
        order = np.argsort(embeddings.subject_group, kind="stable")
        self.group: Codes = (
            embeddings.subject_group[order] if n_groups else np.full(order.size, -1, np.int32)
        )
        self.products = Products.of(embeddings.pairs[0 if mated else 1], np.argsort(order))
        self.scale: Scale = ()
        if weighting == "identity":
            self.products, self.scale = self._weigh_alike(self.products)
        self.total_type = np.float64 if self.scale else np.int64
        of_groups = [np.flatnonzero(np.append(self.group == g, mated)) for g in range(n_groups)]
        self._members: dict[int, tuple[Any, Any]] = {
            k: (units, units) for k, units in enumerate((_EVERYBODY, *of_groups))
        }
        sizes: AnyArray = np.empty((1 + n_groups, 1), self.total_type)
        self.products.weigh(np.ones((order.size + 1, 1), np.int64), self._members, sizes)
        super().__init__(sizes[:, 0].copy(), units, n_threads)

    def _weigh_alike(self, products: Products) -> tuple[Products, Scale]:
        """Return products and a scale by which all subjects, or pairs of them, weigh alike; ()
        where they do anyway.
        """
        sides = (
            [products.references[:-1]]
            if self._mated
            else [products.references[:-1], products.probes[:-1]]
        )
        if all(np.unique(side[side > 0]).size <= 1 for side in sides):
            return products, ()
        with np.errstate(divide="ignore"):
            rows = [self._units.per_row(np.where(side > 0, 1 / side, 0)) for side in sides]
        references, probes = (
            (side > 0).astype(np.int64) for side in (products.references, products.probes)
        )
        return Products(references, probes, products.halved), (
            rows[0],
            np.ones_like(rows[0]) if self._mated else rows[1],
        )

    @property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        return not self._mated

    def weigh(self, block: int, weights: Bytes, largest: int, totals: AnyArray) -> None:
        """As in `Totals`; floats with a scale."""
        self.products.weigh(self._units.subject_weights(weights), self._members, totals)

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`, of subjects and ascending ends; without sums over pairs."""
        of_lists = (
            self._variances_of_weighted(errors) if self.scale else self._variances_of_counts(errors)
        )
        return of_lists.swapaxes(0, 1).copy(), np.empty((*of_lists.shape[1::-1], 0))

    def _sizes_of_lists(self) -> Iterator[tuple[int, tuple[Floats, Floats]]]:
        """Yield each list with the numbers of references and of probes of subjects, as
        `kernels.dyadic` takes them.
        """
        references = self.products.references[:-1].astype(np.float64)
        # two subjects' pairs are counted once
        probes = self.products.probes[:-1] / (2 if self.products.halved else 1)
        for k, (members, _) in self._members.items():
            inside = np.zeros(references.size)
            inside[members] = 1
            yield k, (references * inside, probes * inside)

    def _variances_of_counts(self, errors: Errors) -> Floats:
        """Compute (lists, points, 3) where all pairs weigh alike, so that any order of them gives
        the same integers.
        """
        from fastfair.kernels import dyadic, unit_errors

        stratum, stratum_size = self.stratum[:-1], self.stratum_size[:-1]
        stops = np.ascontiguousarray(errors.stops[:, 0])
        a, b = errors.a[: stops[-1]], errors.b[: stops[-1]]
        grouped = (
            np.empty(stratum.size + 1, np.int64),
            np.empty(a.size, np.int32),
            np.empty(a.size, np.int64),
        )
        unit_errors.group_by_smaller(a, b, *grouped)
        of_lists = dict(self._sizes_of_lists())
        varies = (stratum_size[stratum] > 1).astype(np.float64)
        wrong = np.zeros((stops.size, 2, 3, stratum.size))
        unit_errors.add_errors(
            grouped, stops, *self._ranges_at(stops), (*of_lists[0], varies), self.group, wrong
        )
        wrong = np.cumsum(wrong, axis=0)
        of_all, of_groups = (
            np.ascontiguousarray(sums) for sums in (wrong.sum(axis=1), wrong[:, 1])
        )
        variances = np.empty((len(of_lists), stops.size, 3))
        for k, sizes in of_lists.items():
            dyadic.variances_of_counts(
                of_groups if k else of_all, sizes, stratum, stratum_size, variances[k]
            )
        return variances

    def _ranges_at(self, stops: AnyIntegers) -> tuple[Runs, Integers]:
        """Return the pairs of ranges, and the first point at which those of each of their lists are
        errors.
        """
        from fastfair.kernels.partners import Runs

        if self.ranges is None:
            none = np.empty(0, np.int32)
            return Runs(none, none, np.empty(0, np.int64), none, none), np.zeros(1, np.int64)
        points = np.searchsorted(stops, self.listed_before)
        return self.ranges.runs, np.append(0, np.repeat(points, self.ranges.parts.shape[1]))

    def _variances_of_weighted(self, errors: Errors) -> Floats:
        """Compute them pair by pair, in the order of scores."""
        from fastfair.kernels import dyadic

        strata = self.stratum[:-1], self.stratum_size[:-1]
        variances = np.empty((len(self._members), errors.stops.shape[0], 3))
        for k, sizes in self._sizes_of_lists():
            part = slice(errors.start[k], errors.stops[-1, k])
            a, b = errors.a[part], errors.b[part]
            pair = number_pairs(a, b, strata[0].size)[0]
            ends = np.ascontiguousarray(errors.stops[:, k] - errors.start[k])
            dyadic.variances_of_all_pairs(
                (a, b, pair, self.scale), ends, sizes, *strata, variances[k]
            )
        return variances
