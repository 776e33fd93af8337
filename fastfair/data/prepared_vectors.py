"""Vectors ready for products, and a prefilter of the pairs that may reach a bound."""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastfair._lib.threads import one_blas_thread, run_blocks
from fastfair.errors import InputError
from fastfair.kernels._aside import aside

from .temporary_files import room

Floats = NDArray[np.floating[Any]]
Limits = tuple[NDArray[np.int32], NDArray[np.int32]]
_ASKED = "FASTFAIR_PREFILTER"  # an environment variable: one of the ways, or "none"
MOST_ELEMENTS = 8192  # of a vector: sums of products of 8 bits stay below 2**30
_MOST_ADDED = 2**30
_MOST_STEPS = 2.0**48  # float64 has the parts of a limit to less than 1, in units of products of whole numbers
_ROUNDING = 1 + 1e-9  # more than float64 loses in a sum of squares of so many elements
_FLOAT32 = 2.0**-24  # what rounding to float32 changes at most, as a part
_SEEN = 32  # vectors that the scale is chosen by
_SHARES = np.linspace(0.3, 1, 10)  # of the largest element; larger ones are cut off
_ROWS_AT_ONCE = 1024


def way() -> str | None:
    """Return how this processor multiplies small whole numbers, or None where it had better not.

    Raises
    ------
    InputError
        Where the environment asks for what there is not.
    """
    from fastfair.kernels import int8_products as kernels

    known = kernels.known_ways()
    asked = os.environ.get(_ASKED)
    if asked == "none":
        return None
    if asked:
        if asked not in known:
            there = ", ".join((*known, "none"))
            raise InputError(f"the environment variable {_ASKED} is {asked!r}, but of this machine there are: {there}")
        return asked
    return known[0] if known and kernels.is_compiled() else None


@dataclass(frozen=True)
class Reach:
    """When a pair reaches a bound: where the product of its vectors is at least a sum of three numbers.

    Attributes
    ----------
    base : float
        Of all pairs.
    own : (m,) ndarray of float64 or None
        Of each of the two vectors, and as many more as `Prefilter` has rows; None for zeros.
    in_float32 : bool
        Whether the product is that of `kernels.dot_products`, and not the exact one.
    """

    base: float
    own: NDArray[np.float64] | None
    in_float32: bool


def choose_scale(vectors: Floats, largest: int = 127) -> tuple[float, float]:
    """Choose what a whole number stands for.

    Parameters
    ----------
    vectors : (m, d) ndarray
        Some of the vectors.
    largest : int
        The largest whole number.

    Returns
    -------
    scale : float
        That of a few which leaves least of the vectors; a float32. 0 where there is none.
    margin : float
        About how far products of whole numbers lie from those of the vectors at most.
    """
    wide = vectors.astype(np.float64)
    highest = float(np.abs(wide).max())
    if not 1e-30 < highest < 1e30:  # squares would leave the range of float32
        return 0.0, math.inf
    best, scale = math.inf, 0.0
    for share in _SHARES:
        tried = float(np.float32(share * highest / largest))
        left = wide - tried * np.clip(np.rint(wide / tried), -largest, largest)
        lost = float(np.sqrt(np.einsum("ij,ij->i", left, left)).mean())
        if lost < best:
            best, scale = lost, tried
    return scale, 2 * best * float(np.sqrt(np.einsum("ij,ij->i", wide, wide).max()))


def some_of(vectors: Floats) -> Floats:
    """Return the vectors that the scale is chosen by."""
    return vectors[np.linspace(0, len(vectors) - 1, _SEEN).astype(np.intp)]


class Prefilter:
    """Vectors as small whole numbers, packed as the processor takes them.

    Parameters
    ----------
    rows : (m, d) ndarray of float32 or float64
        The vectors, and zeros behind them; m is a multiple of `PANEL`, d one of `ELEMENTS` of the kernels.
    n : int
        Number of vectors.
    name : str
        The way.
    n_threads : int or None
        As in `count_threads`.
    """

    def __init__(self, rows: Floats, n: int, name: str, n_threads: int | None) -> None:
        from fastfair.kernels import int8_products as kernels

        self._mark, chosen = kernels.mark_by(name), kernels.WAYS[name]
        self._n, self._d, self._largest = n, rows.shape[1], chosen.largest
        self._scale, _ = choose_scale(some_of(rows[:n]), chosen.largest)
        if not self._scale:
            return
        m, d = rows.shape
        self._rows = room((m // chosen.rows, d // 4, chosen.rows), np.int32)
        self._columns = room((m // chosen.columns, d // 4, chosen.columns), np.int32)
        self._sizes = np.empty((m, 4))

        def quantise(start: int) -> None:
            some = slice(start, min(start + _ROWS_AT_ONCE, m))
            packed = self._rows, self._columns, start
            kernels.quantise(rows[some], self._scale, chosen.largest, packed, self._sizes[some])

        run_blocks(quantise, range(0, m, _ROWS_AT_ONCE), m, _ROWS_AT_ONCE, n_threads, None)

    def limits(self, reach: Reach) -> Limits | None:
        """Return what the products of whole numbers must reach.

        Parameters
        ----------
        reach : Reach
            Which pairs must not be missed.

        Returns
        -------
        least, added : (m,) ndarray of int32
            The product of the whole numbers of i and j and added[j] is at least least[i] for every pair that reaches
            the bound. None where whole numbers are too coarse, or too small, to tell.
        """
        if not self._scale:
            return None
        lost, length = (np.sqrt(self._sizes[:, k]) * _ROUNDING for k in (0, 1))
        longest, longest_whole = float(length.max()), self._scale * math.sqrt(self._sizes[:, 2].max()) * _ROUNDING
        base, own = reach.base, 0.0 if reach.own is None else reach.own
        if reach.in_float32:
            base -= float32_error(self._d) * longest * longest + self._d * 2.0**-148
        unit = self._scale * self._scale  # exact, as the scale is a float32
        if max(abs(base), float(np.abs(own).max()), longest * longest) > _MOST_STEPS * unit:
            return None
        added = np.ceil((longest_whole * lost - own) / unit) + 1
        least = np.floor((base + own - longest * lost) / unit) - 1
        if added[: self._n].max() > _MOST_ADDED:
            return None
        least += (self._largest + 1) * self._sizes[:, 3]  # as columns' elements are made positive
        added[self._n :], least[self._n :] = -_MOST_ADDED, np.inf  # there are no such vectors
        return (
            np.clip(least, -(2**31), 2**31 - 1).astype(np.int32),
            np.maximum(added, -_MOST_ADDED).astype(np.int32),
        )

    def mark(self, limits: Limits, corner: tuple[int, int], bits: NDArray[np.uint8]) -> None:
        """Mark the pairs of a panel that may reach the bound.

        Parameters
        ----------
        limits : tuple of ndarray
            What `limits` returned.
        corner : tuple of int
            The first row and column of the panel.
        bits : (height, width / 8) ndarray of uint8
            A bit for each pair; written to.
        """
        self._mark(self._rows, self._columns, limits, corner, bits)


def float32_error(d: int) -> float:
    """Return how far a product of `kernels.dot_products` may lie from the exact one, in lengths of the two vectors.

    Each of d / 16 products is rounded into one of 16 sums, and each of these in four additions; Higham (2002), Accuracy
    and Stability of Numerical Algorithms, lemma 3.1. What is lost below the least float32 comes besides.
    """
    roundings = (d / 16 + 4) * _FLOAT32
    return roundings / (1 - roundings)


_PANEL = 480  # rows and columns of a panel: its similarities are scanned before they leave the cache
_PARTS = 96  # rows and columns of smaller ones are multiples of it
_ELEMENTS = 16  # elements of vectors whose products have an order of their own are multiples of it
_LINE = 64  # bytes of a line of the processor's cache, where vectors begin
_FLOAT32_SQUARE = 2.0**-22  # more than rounding to float32 changes the square of a distance, as a part
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
        return (self.ordered or self.euclidean) and self.rows.shape[1] <= MOST_ELEMENTS

    def prefilter(self, n_threads: int | None) -> Prefilter | None:
        """Return a prefilter of these vectors, made where there was none; None where this processor has none."""
        name = way()
        with _preparing:
            if self._prefilter is None and name is not None:
                self._prefilter = Prefilter(self.rows, self.n, name, n_threads)
        return self._prefilter

    def lowest(self, bound: float) -> float:
        """Return what products of pairs reach that reach a bound; for distances, negative squares up to rounding."""
        if not self.euclidean or bound == -math.inf:
            return bound
        return -(bound * bound) * (1 + _FLOAT32_SQUARE) - self._rounding

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
        _, margin = choose_scale(some_of(self.rows[: self.n]))
        return -math.sqrt(bound * bound + 2 * margin) if self.euclidean else bound - margin


def _in_lines(shape: tuple[int, int], dtype: DTypeLike) -> Floats:
    """Return an array to write to that begins at a line of the cache."""
    size, n_bytes = shape[0] * shape[1], np.dtype(dtype).itemsize
    found = room(size + _LINE // n_bytes, dtype)
    start = -found.ctypes.data % _LINE // n_bytes
    return np.asarray(found[start : start + size].reshape(shape))
