"""Find the few pairs of vectors that may reach a bound by products of small whole numbers, and miss none.

A vector x is s q + e: a scale s that all share times whole numbers q of 8 bits, and what these leave. The product of
two vectors is

    x y = s² p q + s q f + e y,    with y = s p + f,

and the last two terms are at most |s q| |f| and |e| |y| in size, whose factors are known. So x y can reach a bound only
where the whole number p q, a sum that processors are quick at, reaches another one.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import run_blocks
from fastfair.errors import InputError

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
