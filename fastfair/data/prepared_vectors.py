"""Vectors ready for products, which give their similarities, or distances up to rounding."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastfair._lib.threads import one_blas_thread, run_blocks
from fastfair.kernels._aside import aside

from . import pair_prefilter
from .pair_prefilter import Prefilter, Reach
from .temporary_files import room

Floats = NDArray[np.floating[Any]]
_PANEL = 480  # rows and columns of a panel: its similarities are scanned before they leave the cache
_PARTS = 96  # rows and columns of smaller ones are multiples of it
_ELEMENTS = 16  # elements of vectors whose products have an order of their own are multiples of it
_LINE = 64  # bytes of a line of the processor's cache, where vectors begin
_ROWS_AT_ONCE = 1024
_FLOAT32 = 2.0**-22  # more than rounding to float32 changes the square of a distance, as a part
_preparing = threading.Lock()


def ready_for_products(vectors: Floats, similarity: str) -> Floats:
    """Prepare vectors so that matrix products give their similarities.

    Parameters
    ----------
    vectors : (m, d) ndarray of float
        The vectors as the caller gave them.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.

    Returns
    -------
    (m, d) ndarray
        Contiguous; with the cosine of length 1, computed in float64 and rounded to the type of `vectors`.
    """
    dtype = vectors.dtype
    if similarity != "cosine":
        return np.ascontiguousarray(vectors)
    wide = vectors.astype(np.float64, order="C")
    if dtype == np.float64:  # squares of very long and very short vectors would leave its range
        wide = np.ldexp(wide, -np.frexp(np.abs(wide).max(axis=1, keepdims=True))[1])
    wide /= np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    return wide.astype(dtype, copy=False)


class PreparedVectors:
    """Vectors in the order in which pairs number them, padded with zeros to whole panels.

    Parameters
    ----------
    vectors : (n, d) ndarray of float
        One vector for each sample.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.
    order : (n,) ndarray of int
        The vectors' order in pairs.
    n_threads : int or None
        As in `count_threads`.

    Attributes
    ----------
    rows : (n_panels * panel, elements) ndarray
        The vectors; moved to the middle of all where distances are wanted, so that less is lost to rounding.
    n : int
        Number of vectors.
    panel, n_panels : int
        Rows, and columns, of a panel, and number of panels that all vectors take.
    euclidean : bool
        Whether distances are wanted.
    ordered : bool
        Whether products are those of `kernels.dot_products`, whose sums have one order, and not those of NumPy.
    """

    def __init__(self, vectors: Floats, similarity: str, order: NDArray[np.intp], n_threads: int | None) -> None:
        from fastfair.kernels import dot_products

        n, d = vectors.shape
        self.n = n
        self.panel = min(_PANEL, -(-n // _PARTS) * _PARTS)
        self.n_panels = -(-n // self.panel)
        self.euclidean = similarity == "negative_euclidean"
        self.ordered = not self.euclidean and vectors.dtype == np.float32 and dot_products.is_quick()
        width = -(-d // _ELEMENTS) * _ELEMENTS if self.ordered or self.euclidean else d
        self.rows = _in_lines(
            (self.n_panels * self.panel, width), np.dtype(np.float64) if self.euclidean else vectors.dtype
        )
        self.rows[n:] = 0
        self.rows[:, d:] = 0
        self._prefilter: Prefilter | None = None

        def prepare(start: int) -> None:
            stop = min(start + _ROWS_AT_ONCE, n)
            self.rows[start:stop, :d] = ready_for_products(vectors[order[start:stop]], similarity)

        run_blocks(prepare, range(0, n, _ROWS_AT_ONCE), n, _ROWS_AT_ONCE, n_threads, None)
        if self.euclidean:
            self.rows[:n] -= self.rows[:n].mean(axis=0)
            self.squares = np.einsum("ij,ij->i", self.rows, self.rows)
            self._rounding = 1e-12 * max(float(self.squares.max()), 1e-300)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others make anew, as their processors do it in their own way."""
        return {**vars(self), "_prefilter": None}

    @property
    def may_be_filtered(self) -> bool:
        """Whether there can be a prefilter of these vectors."""
        return (self.ordered or self.euclidean) and self.rows.shape[1] <= pair_prefilter.MOST_ELEMENTS

    def prefilter(self, n_threads: int | None) -> Prefilter | None:
        """Return a prefilter of these vectors, made where there was none; None where this processor has none."""
        way = pair_prefilter.way()
        with _preparing:
            if self._prefilter is None and way is not None:
                self._prefilter = Prefilter(self.rows, self.n, way, n_threads)
        return self._prefilter

    def lowest(self, bound: float) -> float:
        """Return what products of pairs reach that reach a bound; for distances, negative squares up to rounding."""
        if not self.euclidean or bound == -math.inf:
            return bound
        return -(bound * bound) * (1 + _FLOAT32) - self._rounding

    def reach(self, bound: float) -> Reach:
        """Return which products reach a bound, as sums of a part of each pair, and of each vector."""
        if self.euclidean:  # -|x - y|² = 2 x y - |x|² - |y|²
            return Reach(self.lowest(bound) / 2, self.squares / 2, in_float32=False)
        return Reach(bound, None, in_float32=True)

    def fill(self, p: int, q: int, out: Floats) -> None:
        """Write a panel of similarities; of negative squared distances, up to rounding, where distances are wanted."""
        from fastfair.kernels import dot_products

        rows, columns = (slice(k * self.panel, (k + 1) * self.panel) for k in (p, q))
        if self.ordered:
            dot_products.fill(self.rows[rows], self.rows[columns], out)
            return
        np.matmul(self.rows[rows], self.rows[columns].T, out=out)
        if self.euclidean:
            out *= 2
            out -= self.squares[rows, None]
            out -= self.squares[columns]

    def some_similarities(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Compute the similarities of some vectors with others, up to rounding; in a thread of its own."""
        seen = aside(one_blas_thread()(lambda: self.rows[rows] @ self.rows[columns].T))
        if self.euclidean:
            seen = -np.sqrt(np.maximum(self.squares[rows, None] + self.squares[columns] - 2 * seen, 0))
        return np.asarray(seen)

    def lowest_marked(self, bound: float) -> float:
        """Return about the lowest similarity that whole numbers do not tell from a bound."""
        _, margin = pair_prefilter.choose_scale(pair_prefilter.some_of(self.rows[: self.n]))
        return -math.sqrt(bound * bound + 2 * margin) if self.euclidean else bound - margin


def _in_lines(shape: tuple[int, int], dtype: DTypeLike) -> Floats:
    """Return an array to write to that begins at a line of the cache."""
    size, n_bytes = shape[0] * shape[1], np.dtype(dtype).itemsize
    found = room(size + _LINE // n_bytes, dtype)
    start = -found.ctypes.data % _LINE // n_bytes
    return np.asarray(found[start : start + size].reshape(shape))
