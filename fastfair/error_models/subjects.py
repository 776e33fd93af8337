"""Who is behind the comparisons in cells: what robust variances add up over subjects and over pairs
of them.

Where cells are few, each subject's counts of them say all there is to say, and comparisons need not
be looked at again. Where a number, such as an age, makes nearly every comparison a cell of its own,
the comparisons themselves are gone through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastfair._lib.arrays import Codes, Flags, Floats, Indices, Integers

_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class CountedSubjects:
    """Counts of each subject in each cell.

    Attributes
    ----------
    n_of, errors_of : (subjects, cells) ndarray of int64
        Numbers of comparisons and of errors.
    products, squares : (3, cells, cells) and (3, subjects, cells) ndarray, or None
        Of non-mated comparisons, sums over pairs of subjects; see
        `kernels.cell_scores.multiply_pairs`.
    """

    n_of: Integers
    errors_of: Integers
    products: Floats | None
    squares: Floats | None

    @property
    def n_used(self) -> int:
        """The number of subjects with comparisons."""
        return int(np.count_nonzero(self.n_of.any(axis=1)))

    def __len__(self) -> int:
        return len(self.n_of)

    def only(self, kept: Flags) -> CountedSubjects:
        """Keep some of the cells."""
        return CountedSubjects(
            self.n_of[:, kept],
            self.errors_of[:, kept],
            None if self.products is None else self.products[:, kept][:, :, kept],
            None if self.squares is None else self.squares[..., kept],
        )

    def add_up(self, values: Floats, kept: Flags, some: slice = _ALL) -> Floats:
        """Add up (cells kept, k) values over the comparisons of some of the subjects."""
        return np.asarray(self.n_of[some, kept] @ values)

    def scores(self, rows: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up each subject's residuals times (cells kept, r) rows; chances: (cells,)."""
        p = chances[kept]
        return np.asarray(self.errors_of[:, kept] @ rows - self.n_of[:, kept] @ (p[:, None] * rows))

    def products_of_pairs(self, rows: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up the outer products of the scores of two subjects over all pairs of them."""
        assert self.products is not None
        ee, em, mm = self.products
        mixed = em * chances
        products = ee - mixed - mixed.T + mm * np.outer(chances, chances)
        return np.asarray(rows.T @ products[np.ix_(kept, kept)] @ rows)

    def squares_along(self, along: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up, over the pairs that a subject is in, the squared sums of residuals times (cells
        kept,) `along`, of one cell at a time.
        """
        assert self.squares is not None
        ee, em, mm = self.squares
        squares = ee - 2 * chances * em + chances**2 * mm
        return np.asarray(squares[:, kept] @ along**2)


@dataclass(frozen=True, eq=False)
class ListedSubjects:
    """The subjects of each comparison, listed by pair and within it by cell.

    Attributes
    ----------
    first, second : (n,) int32
        The two subjects, the lower one first; those of mated comparisons are the same.
    cell : (n,) ndarray of int64
        The cell.
    is_error : (n,) ndarray of bool
        Whether it is an error.
    n_subjects : int
        Number of subjects, with and without comparisons.
    """

    first: Codes
    second: Codes
    cell: Indices
    is_error: Flags
    n_subjects: int

    @property
    def n_used(self) -> int:
        """The number of subjects with comparisons."""
        return int(np.unique(np.append(self.first, self.second)).size)

    def __len__(self) -> int:
        return self.n_subjects

    def only(self, kept: Flags) -> ListedSubjects:
        """Keep some of the cells."""
        inside = kept[self.cell]
        cell = (np.cumsum(kept) - 1)[self.cell[inside]]
        columns = self.first[inside], self.second[inside], cell, self.is_error[inside]
        return ListedSubjects(*columns, self.n_subjects)

    def add_up(self, values: Floats, kept: Flags, some: slice = _ALL) -> Floats:
        """Add up (cells kept, k) values over the comparisons of some of the subjects."""
        from fastfair.kernels import cell_lists as kernels

        start, stop, _ = some.indices(self.n_subjects)
        columns = values.reshape(len(values), -1)
        sums = np.zeros((stop - start, columns.shape[1]))
        kernels.add_up(*self._columns, _of_all(columns, kept), start, sums)
        return sums.reshape(stop - start, *values.shape[1:])

    def scores(self, rows: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up each subject's residuals times (cells kept, r) rows; chances: (cells,)."""
        from fastfair.kernels import cell_lists as kernels

        sums = np.zeros((self.n_subjects, rows.shape[1]))
        kernels.add_residuals(*self._columns, self.is_error, _of_all(rows, kept), chances, sums)
        return sums

    def products_of_pairs(self, rows: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up the outer products of the scores of two subjects over all pairs of them."""
        from fastfair.kernels import cell_lists as kernels

        products = np.zeros((rows.shape[1],) * 2)
        kernels.multiply_pairs(
            *self._columns, self.is_error, _of_all(rows, kept), chances, products
        )
        return products

    def squares_along(self, along: Floats, chances: Floats, kept: Flags) -> Floats:
        """Add up, over the pairs that a subject is in, the squared sums of residuals times (cells
        kept,) `along`, of one cell at a time.
        """
        from fastfair.kernels import cell_lists as kernels

        squares = np.zeros(self.n_subjects)
        along_all = _of_all(along[:, None], kept)[:, 0]
        kernels.square_pairs(*self._columns, self.is_error, along_all, chances, squares)
        return squares

    @property
    def _columns(self) -> tuple[Codes, Codes, Indices]:
        return self.first, self.second, self.cell


def _of_all(values: Floats, kept: Flags) -> Floats:
    """Return the values of all cells: 0 for those that are not kept, whose residuals are 0."""
    of_all = np.zeros((kept.size, values.shape[1]))
    of_all[kept] = values
    return of_all


Subjects = CountedSubjects | ListedSubjects
