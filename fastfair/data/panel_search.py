"""Find the pairs of a panel that reach a bound, from all of its similarities or from those that a prefilter marks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pair_prefilter import Limits, Prefilter
from .prepared_vectors import PreparedVectors

Floats = NDArray[np.floating[Any]]
Found = tuple[Floats, NDArray[np.int64]]


class Sought(NamedTuple):
    """Which pairs are sought.

    Attributes
    ----------
    prepared : PreparedVectors
        The vectors.
    columns : (rows, 3) ndarray of int64
        As in `Pairing`.
    bound : float
        The lowest similarity.
    places : int
        Bits of a vector's number in the code of a pair.
    """

    prepared: PreparedVectors
    columns: NDArray[np.int64]
    bound: float
    places: int


class ByProducts:
    """Computes all similarities of a panel; for one thread.

    Parameters
    ----------
    sought : Sought
        The pairs.
    """

    def __init__(self, sought: Sought) -> None:
        self._sought = sought
        size, dtype = sought.prepared.panel, sought.prepared.rows.dtype
        self._product = np.empty((size, size), dtype)
        self._kept = np.empty(size * size + 1, dtype), np.empty(size * size + 1, np.int64)
        self._lowest = dtype.type(sought.prepared.lowest(sought.bound))

    def search(self, p: int, q: int, mated_start: NDArray[np.int64], mated: Floats) -> Found:
        """Find the non-mated pairs of a panel, and compute the similarities of its mated pairs.

        Parameters
        ----------
        p, q : int
            Which panel of rows, and of columns.
        mated_start : (rows,) ndarray of int64
            Where the mated pairs of each row begin in `mated`.
        mated : (pairs,) ndarray
            The similarities of mated pairs; written to, unless distances are wanted.

        Returns
        -------
        similarity, codes : (pairs,) ndarray
            Of the non-mated pairs, until the next call. Where distances are wanted, pairs that may reach the bound
            are among them, and similarities are to be computed.
        """
        from fastfair.kernels import pairs as kernels

        prepared, columns, _, places = self._sought
        prepared.fill(p, q, self._product)
        corner = p * prepared.panel, q * prepared.panel
        if not prepared.euclidean:
            kernels.take_mated(self._product, *corner, columns, mated_start, mated)
        size = kernels.take_nonmated(self._product, *corner, columns, prepared.n, self._lowest, places, self._kept)
        return self._kept[0][:size], self._kept[1][:size]


class ByPrefilter:
    """Does the same, but computes only the similarities of mated pairs and of those that a prefilter marks.

    Parameters
    ----------
    sought : Sought
        The pairs.
    prefilter : Prefilter
        Of the vectors.
    limits : tuple of ndarray
        What it marks.
    """

    def __init__(self, sought: Sought, prefilter: Prefilter, limits: Limits) -> None:
        self._sought, self._prefilter, self._limits = sought, prefilter, limits
        size = sought.prepared.panel
        self._bits = np.empty((size, size // 8), np.uint8)
        self._words = self._bits.view(np.uint32)
        self._codes = np.empty(size * size + 1, np.int64)
        self._similarity = np.empty(size * size + 1, np.float32)
        self._bound = np.float32(sought.bound)

    def search(self, p: int, q: int, mated_start: NDArray[np.int64], mated: Floats) -> Found:
        """As `ByProducts.search`."""
        from fastfair.kernels import dot_products, int8_products

        prepared, columns, _, places = self._sought
        corner = p * prepared.panel, q * prepared.panel
        self._prefilter.mark(self._limits, corner, self._bits)
        size = int8_products.list_marked(self._words, corner, columns, prepared.n, places, self._codes)
        codes = self._codes[:size]
        if prepared.euclidean:
            return self._similarity[:0], codes
        dot_products.of_mated(prepared.rows, corner, prepared.panel, columns, mated_start, places, mated)
        size = dot_products.take_reaching(prepared.rows, codes, places, self._bound, self._similarity)
        return self._similarity[:size], codes[:size]
