"""Comparisons collapsed to cells: how many there are, and how many errors, of each combination of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import GroupedSide
from fastfair.errors import DroppedWarning, InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNITS = ("subject", "comparison")


@dataclass(frozen=True, eq=False)
class Cells:
    """The mated, or the non-mated, comparisons, counted by the values of attributes on both sides.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        The rate of their errors.
    labels : tuple of tuple of str
        The values of each attribute that occur.
    first, second : (cells, attributes) ndarray of int64
        The values of either side, as positions in `labels`; which side is the reference does not matter.
    n, errors : (cells,) ndarray of int64
        Numbers of comparisons and of errors.
    n_of, errors_of : (subjects, cells) ndarray of int64, or None
        The numbers of each subject; None where every comparison stands for itself.
    products, squares : (3, cells, cells) and (3, subjects, cells) ndarray, or None
        Of non-mated comparisons, sums over pairs of subjects; see `kernels.cell_scores.multiply_pairs`.
    """

    rate: str
    labels: tuple[tuple[str, ...], ...]
    first: Integers
    second: Integers
    n: Integers
    errors: Integers
    n_of: Integers | None
    errors_of: Integers | None
    products: Floats | None
    squares: Floats | None
    _source: _Source = field(repr=False)

    @property
    def n_subjects(self) -> int | None:
        """The number of subjects; None where they are not looked at."""
        return None if self.n_of is None else int(np.count_nonzero(self.n_of.any(axis=1)))

    def only(self, kept: NDArray[np.bool_]) -> Cells:
        """Keep some of the cells."""
        position = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # -1 stays -1
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            n=self.n[kept],
            errors=self.errors[kept],
            n_of=None if self.n_of is None else self.n_of[:, kept],
            errors_of=None if self.errors_of is None else self.errors_of[:, kept],
            products=None if self.products is None else self.products[:, kept][:, :, kept],
            squares=None if self.squares is None else self.squares[..., kept],
            _source=replace(self._source, cell=position[self._source.cell]),
        )

    def with_errors(self, wanted: int) -> Cells:
        """Return the same at the strictest threshold at which so many pairs of subjects err, or all comparisons do."""
        from fastfair.kernels import dyadic as kernels

        source, side = self._source, self._source.by_group.side
        inside = np.flatnonzero(source.cell[source.by_group.reference_group, source.by_group.probe_group] >= 0)
        if self.rate == "fmr":
            inside = inside[::-1]  # errors first
        units = (np.arange(inside.size, dtype=np.int32),) * 2  # each comparison is a pair of its own
        if side.reference is not None and side.probe is not None:
            units = side.reference[inside], side.probe[inside]
        n = kernels.errors_of_pairs(side.keys[inside], *units, wanted)
        last = side.keys[inside[n - 1]]
        if self.rate == "fmr":
            edge = int(np.searchsorted(side.keys, last))
        else:
            edge = int(np.searchsorted(side.keys, last, side="right"))
        return _count(source.with_edge(edge, self.rate), self.rate, self.labels, (self.first, self.second))

    def pair_residuals(self, chances: Floats) -> tuple[Floats, Floats]:
        """Add up the residuals of comparisons of two subjects, times each other.

        Parameters
        ----------
        chances : (cells,) ndarray
            The chance of an error.

        Returns
        -------
        products : (cells, cells) ndarray
            Over pairs of subjects, the sum of the residuals of one cell times that of another.
        squares : (subjects, cells) ndarray
            The squared sums of residuals of the pairs that a subject is in.
        """
        assert self.products is not None
        assert self.squares is not None
        (ee, em, mm), own = self.products, self.squares
        mixed = em * chances
        products = ee - mixed - mixed.T + mm * np.outer(chances, chances)
        return products, own[0] - 2 * chances * own[1] + chances**2 * own[2]


@dataclass(frozen=True, eq=False)
class _Source:
    """What cells are counted from.

    Attributes
    ----------
    by_group : GroupedSide
        The comparisons, grouped by the combination of values on each side.
    cell : (groups, groups) ndarray of int64
        The cell of two groups; -1 for those left out.
    errors_at : tuple of int
        The position of the first error, and that after the last.
    n_subjects : int
        The number of all subjects; 0 where every comparison stands for itself.
    """

    by_group: GroupedSide
    cell: Integers
    errors_at: tuple[int, int]
    n_subjects: int

    @property
    def columns(self) -> tuple[Any, ...]:
        """Both subjects and both groups of the comparisons."""
        by_group = self.by_group
        return by_group.side.reference, by_group.side.probe, by_group.reference_group, by_group.probe_group

    def with_edge(self, edge: int, rate: str) -> _Source:
        """Return the same with errors from a position on, or up to it."""
        return replace(self, errors_at=(edge, len(self.by_group.side)) if rate == "fmr" else (0, edge))


def count_cells(comparisons: Comparisons, attributes: Sequence[str], key: Any, rate: str, unit: str) -> Cells:
    """Count comparisons and errors by the values of attributes.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    attributes : sequence of str
        Names in `comparisons.attributes`.
    key : int
        The lowest key that is accepted.
    rate : {"fmr", "fnmr"}
        Whether non-mated, or mated, comparisons are counted.
    unit : {"subject", "comparison"}
        What is independent.

    Returns
    -------
    Cells
    """
    grouped = comparisons if comparisons.grouping == tuple(attributes) else comparisons.by(*attributes)
    by_group = grouped.nonmated_by_group if rate == "fmr" else grouped.mated_by_group
    values = _values_of_groups(by_group, attributes)
    counts = by_group.cells
    if rate == "fnmr":
        counts = _of_one_subject(by_group)
    g, h = np.nonzero(np.triu(counts + counts.T))
    if not g.size:
        raise InputError("no mated comparison has the same values on both sides, so there is nothing to count")
    cell = np.full(counts.shape, -1, np.int64)
    cell[g, h] = cell[h, g] = np.arange(g.size)
    used = [sorted({int(values[k, a]) for k in (*g, *h)}) for a in range(len(attributes))]
    labels = tuple(
        tuple(comparisons.attributes[name][k] for k in positions)
        for name, positions in zip(attributes, used, strict=True)
    )
    first, second = (
        np.stack([np.searchsorted(used[a], values[side, a]) for a in range(len(attributes))], axis=1) for side in (g, h)
    )
    n_subjects = 0
    if unit == "subject":
        if comparisons.subjects is None:
            raise InputError(
                "the comparisons have no subjects: give reference and probe, or take every comparison for independent "
                'with unit="comparison"'
            )
        n_subjects = comparisons.subjects.size
    edge = int(np.searchsorted(by_group.side.keys, key))
    source = _Source(by_group, cell, (0, 0), n_subjects).with_edge(edge, rate)
    return _count(source, rate, labels, (first.astype(np.int64), second.astype(np.int64)))


def _of_one_subject(by_group: GroupedSide) -> Integers:
    """Return the numbers of mated comparisons whose sides have the same values, by group."""
    reference, probe = by_group.side.reference, by_group.side.probe
    if reference is not None and probe is not None and not np.array_equal(reference, probe):
        raise InputError("some mated comparisons are of two subjects and cannot be attempts of one: leave them out")
    counts = np.diag(np.diag(by_group.cells))
    between = int(by_group.cells.sum() - counts.sum())
    if between:
        n = len(by_group.side)
        warn(f"{between} of {n} mated comparisons have other values on either side: left out", DroppedWarning)
    return counts


def _values_of_groups(by_group: GroupedSide, attributes: Sequence[str]) -> Integers:
    """Return the (groups, attributes) positions of each group's values in the labels of the attributes."""
    from fastfair.kernels import cell_scores as kernels

    found, side = np.zeros((len(attributes), by_group.n_groups), np.int64), by_group.side
    for name, values in zip(attributes, found, strict=True):
        kernels.find_values(by_group.reference_group, side.reference_attributes[name], values)
        kernels.find_values(by_group.probe_group, side.probe_attributes[name], values)
    return found.T


def _count(source: _Source, rate: str, labels: tuple[tuple[str, ...], ...], values: tuple[Integers, Integers]) -> Cells:
    """Count what is in the cells of a source. values: the values of either side of each cell."""
    from fastfair.kernels import cell_scores as kernels
    from fastfair.kernels import groups

    n_cells, n_subjects, by_group = len(values[0]), source.n_subjects, source.by_group
    wrong = np.zeros_like(by_group.cells)
    groups.count_cells(by_group.reference_group, by_group.probe_group, *source.errors_at, wrong)
    inside = source.cell >= 0
    n, errors = (
        np.bincount(source.cell[inside], counts[inside], n_cells).astype(np.int64) for counts in (by_group.cells, wrong)
    )
    if not n_subjects:
        return Cells(rate, labels, *values, n, errors, None, None, None, None, source)
    memory.require(
        60 * n_subjects * n_cells,
        f"counts of {n_subjects:,} subjects in {n_cells:,} combinations of values",
        "use fewer attributes, or merge values",
    )
    n_of, errors_of = np.zeros((2, n_subjects, n_cells), np.int64)
    kernels.count_by_subject(*source.columns, source.cell, 0, len(by_group.side), n_of)
    kernels.count_by_subject(*source.columns, source.cell, *source.errors_at, errors_of)
    products, squares = None, None
    if rate == "fmr":
        products, squares = np.zeros((3, n_cells, n_cells)), np.zeros((3, n_subjects, n_cells))
        kernels.multiply_pairs(*source.columns, source.cell, source.errors_at, products, squares)
    return Cells(rate, labels, *values, n, errors, n_of, errors_of, products, squares, source)
