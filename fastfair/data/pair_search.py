"""Find the pairs of vectors that error rates of embeddings need: all mated and the most similar
non-mated ones.

Similarities are computed in panels, and only those of these pairs are kept. What is kept is always
computed by `kernels.dot_products`, whose sums have one order, so that the similarity of two vectors
depends on nothing else: not on where they stand, nor on how the work is divided. Float32 panels are
filled by it where the processor is quick at that. Elsewhere a matrix product, whose last bits
depend on where a vector stands, or a prefilter finds the pairs that may reach the bound, and their
similarity is computed again.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fastfair._lib import memory
from fastfair._lib.arrays import AnyFloats, AnyIntegers, Bytes, Codes, Floats, Indices, Integers
from fastfair._lib.rounding import divide_up, round_up
from fastfair._lib.threads import count_threads, in_threads, one_blas_thread, run_blocks, slices
from fastfair._lib.workers import Arrays, Report, Workers, do_job
from fastfair.errors import InputError
from fastfair.kernels._aside import run_aside

from . import score_keys
from .sorted_scores import sort_by_bits
from .temporary_files import join_arrays, room
from .vector_pairs import Pairing

Limits = tuple[Codes, Codes]
_ASKED = "FASTFAIR_PREFILTER"  # an environment variable: one of the ways, or "none"
MOST_ELEMENTS = 8192  # of a vector: sums of products of 8 bits stay below 2**30
_MOST_ADDED = 2**30  # to a whole product, so that sums stay in 32 bits
# float64 has the parts of a limit to less than 1, in units of products of whole numbers
_MOST_STEPS = 2.0**48
_ROUNDING = 1 + 1e-9  # more than float64 loses in a sum of squares of so many elements
_FLOAT32 = 2.0**-24  # what rounding to float32 changes at most, as a part
_SEEN = 32  # vectors that the scale is chosen by
_SHARES = np.linspace(0.3, 1, 10)  # of the largest element; larger ones are cut off
_ROWS_AT_ONCE = 1024  # vectors, at a time


def product_way() -> str | None:
    """Return how this processor multiplies small whole numbers, or None where it had better not.

    Raises
    ------
    InputError
        Where the environment asks for what there is not.
    """
    from fastfair.kernels import int8_products as kernels

    ways = kernels.known_ways()
    asked = os.environ.get(_ASKED)
    if asked == "none":
        return None
    if asked:
        if asked not in ways:
            there = ", ".join((*ways, "none"))
            raise InputError(
                f"the environment variable {_ASKED} is {asked!r}, but of this machine there are:"
                f" {there}"
            )
        return asked
    return ways[0] if ways and kernels.is_compiled() else None


def choose_scale(vectors: AnyFloats, largest: int = 127) -> tuple[float, float]:
    """Choose what a whole number stands for, by some of the vectors.

    Parameters
    ----------
    vectors : (m, d) ndarray
        The vectors.
    largest : int
        The largest whole number.

    Returns
    -------
    scale : float
        That of a few which leaves least of the vectors; a float32. 0 where there is none.
    margin : float
        About how far products of whole numbers lie from those of the vectors at most.
    """
    some = np.linspace(0, len(vectors) - 1, _SEEN).astype(np.intp)
    wide = vectors[some].astype(np.float64)
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


class Prefilter:
    """Vectors as small whole numbers, packed as the processor takes them.

    Parameters
    ----------
    rows : (m, d) ndarray of float32 or float64
        The vectors, and zeros behind them; m is a multiple of `PANEL`, d one of `ELEMENTS` of the
        kernels.
    n : int
        Number of vectors.
    name : str
        The way.
    n_threads : int or None
        As in `count_threads`.
    """

    def __init__(self, rows: AnyFloats, n: int, name: str, n_threads: int | None) -> None:
        from fastfair.kernels import int8_products as kernels

        self._mark = kernels.mark_by(name)
        chosen = kernels.WAYS[name]
        self._n = n
        self._d = rows.shape[1]
        self._largest = chosen.largest
        self._scale, _ = choose_scale(rows[:n], chosen.largest)
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

    def limits(self, base: float, shifts: Floats | None = None) -> Limits | None:
        """Return what the products of whole numbers must reach.

        Parameters
        ----------
        base : float
            Pairs reach the bound where the product of their vectors, as `kernels.dot_products` has
            it, does this.
        shifts : (m,) ndarray of float64, optional
            Of each vector, and as many more as there are rows, to be added to `base`; products are
            then exact.

        Returns
        -------
        least, added : (m,) ndarray of int32
            The product of the whole numbers of i and j and added[j] is at least least[i] for every
            pair that reaches the bound. None where whole numbers are too coarse, or too small, to
            tell.
        """
        if not self._scale:
            return None
        lost, length = (np.sqrt(self._sizes[:, k]) * _ROUNDING for k in (0, 1))
        longest = float(length.max())
        longest_whole = self._scale * math.sqrt(self._sizes[:, 2].max()) * _ROUNDING
        if shifts is None:
            shifts = np.zeros(1)
            base -= float32_error(self._d) * longest * longest + self._d * 2.0**-148
        unit = self._scale * self._scale  # exact, as the scale is a float32
        if max(abs(base), float(np.abs(shifts).max()), longest * longest) > _MOST_STEPS * unit:
            return None
        added = np.ceil((longest_whole * lost - shifts) / unit) + 1
        least = np.floor((base + shifts - longest * lost) / unit) - 1
        if added[: self._n].max() > _MOST_ADDED:
            return None
        least += (self._largest + 1) * self._sizes[:, 3]  # as columns' elements are made positive
        # there are no such vectors
        added[self._n :] = -_MOST_ADDED
        least[self._n :] = np.inf
        return (
            np.clip(least, -(2**31), 2**31 - 1).astype(np.int32),
            np.maximum(added, -_MOST_ADDED).astype(np.int32),
        )

    def mark(self, limits: Limits, corner: tuple[int, int], bits: Bytes) -> None:
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
    """Return how far a product of `kernels.dot_products` may lie from the exact one, in lengths of
    the two vectors.

    Each of d / 16 products is rounded into one of 16 sums, and each of these in four additions;
    Higham (2002), Accuracy and Stability of Numerical Algorithms, lemma 3.1. What is lost below the
    least float32 comes besides.
    """
    roundings = (d / 16 + 4) * _FLOAT32
    return roundings / (1 - roundings)


def products_apart(vectors: AnyFloats, length: Any) -> Any:
    """Return how far two products of the same two vectors may be apart, whatever the orders of
    their sums.

    Each lies within d roundings of the exact one; Higham (2002), as above, section 3.1. What is
    lost below the least float comes besides.

    Parameters
    ----------
    vectors : (m, d) ndarray of float
        Of this type, and with so many elements.
    length : float or ndarray
        The length of one vector times that of the other.
    """
    kind = np.finfo(vectors.dtype)
    d = vectors.shape[1]
    roundings = d * float(kind.eps) / 2
    return 2 * roundings / (1 - roundings) * length * _ROUNDING + 2 * d * float(
        kind.smallest_subnormal
    )


def lengths(vectors: AnyFloats) -> Floats:
    """Return the length of each vector, summed in float64, some at a time."""
    starts = range(0, len(vectors), _ROWS_AT_ONCE)
    wide = (vectors[start : start + _ROWS_AT_ONCE].astype(np.float64) for start in starts)
    return np.sqrt(np.concatenate([np.einsum("ij,ij->i", part, part) for part in wide]))


# rows and columns of a panel: its similarities are scanned before they leave the cache
_PANEL = 480
_PARTS = 96  # rows and columns of smaller ones are multiples of it
_ELEMENTS = 16  # elements of vectors whose products have an order of their own are multiples of it
_LINE = 64  # bytes of a line of the processor's cache, where vectors begin
# more than rounding to float32 changes the square of a distance, as a part
_FLOAT32_SQUARE = 2.0**-22
_preparing = threading.Lock()


def ready_for_products(vectors: AnyFloats, similarity: str) -> AnyFloats:
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
        Contiguous; with the cosine of length 1, computed in float64 and rounded to the type of
        `vectors`.
    """
    dtype = vectors.dtype
    if similarity != "cosine":
        return np.ascontiguousarray(vectors)
    wide = vectors.astype(np.float64, order="C")
    if dtype == np.float64:  # squares of very long and very short vectors would leave its range
        wide = np.ldexp(wide, -np.frexp(np.abs(wide).max(axis=1, keepdims=True))[1])
    wide /= np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    return wide.astype(dtype, copy=False)


def padded_for_products(vectors: AnyFloats, similarity: str) -> AnyFloats:
    """Prepare vectors as `ready_for_products` does, with zeros behind them for
    `kernels.dot_products`.
    """
    ready = ready_for_products(vectors, similarity)
    return np.pad(ready, ((0, 0), (0, round_up(ready.shape[1], _ELEMENTS) - ready.shape[1])))


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
        The vectors; moved to the middle of all where distances are wanted, so that less is lost to
        rounding.
    n : int
        Number of vectors.
    panel, n_panels : int
        Rows, and columns, of a panel, and number of panels that all vectors take.
    euclidean : bool
        Whether distances are wanted.
    ordered : bool
        Whether panels are filled by `kernels.dot_products`, and not by NumPy, whose products find
        pairs alone.
    """

    def __init__(
        self, vectors: AnyFloats, similarity: str, order: Indices, n_threads: int | None
    ) -> None:
        from fastfair.kernels import dot_products

        n, d = vectors.shape
        self.n = n
        self.panel = min(_PANEL, round_up(n, _PARTS))
        self.n_panels = divide_up(n, self.panel)
        self.euclidean = similarity == "negative_euclidean"
        self.ordered = (
            not self.euclidean and vectors.dtype == np.float32 and dot_products.is_quick()
        )
        self.rows = _in_lines(
            (self.n_panels * self.panel, round_up(d, _ELEMENTS)),
            np.dtype(np.float64) if self.euclidean else vectors.dtype,
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
        elif not self.ordered:
            self._rounding = products_apart(self.rows, lengths(self.rows).max() ** 2)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others make anew, as their processors do it in their own way."""
        return {**vars(self), "_prefilter": None}

    def prefilter(self, n_threads: int | None) -> Prefilter | None:
        """Return a prefilter of these vectors, made where there was none; None where this processor
        has none.
        """
        name = product_way()
        with _preparing:
            if self._prefilter is None and name is not None:
                self._prefilter = Prefilter(self.rows, self.n, name, n_threads)
        return self._prefilter

    def lowest(self, bound: float) -> float:
        """Return what is reached in panels by pairs that reach a bound: their products, or negative
        squares.
        """
        if self.ordered or bound == -math.inf:
            return bound
        if self.euclidean:
            return -(bound * bound) * (1 + _FLOAT32_SQUARE) - self._rounding
        return bound - self._rounding

    def reach(self, bound: float) -> tuple[float, Floats | None]:
        """Return which products reach a bound, as `Prefilter.limits` takes them."""
        if self.euclidean:  # -|x - y|² = 2 x y - |x|² - |y|²
            return self.lowest(bound) / 2, self.squares / 2
        return bound, None

    def fill(self, p: int, q: int, out: AnyFloats) -> None:
        """Write a panel of similarities; of negative squared distances, up to rounding, where
        distances are wanted.
        """
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

    def some_similarities(self, rows: Indices, columns: Indices) -> AnyFloats:
        """Compute the similarities of some vectors with others, up to rounding; in a thread of its
        own.
        """
        seen = run_aside(one_blas_thread()(lambda: self.rows[rows] @ self.rows[columns].T))
        if self.euclidean:
            seen = -np.sqrt(
                np.maximum(self.squares[rows, None] + self.squares[columns] - 2 * seen, 0)
            )
        return seen

    def may_be_filtered(self, values: AnyFloats, bound: float) -> bool:
        """Whether there can be a prefilter of these vectors, and marks few where similarities are
        such as some are.
        """
        if self.rows.shape[1] > MOST_ELEMENTS:
            return False
        _, margin = choose_scale(self.rows[: self.n])  # by which whole numbers may be wrong
        lowest = -math.sqrt(bound * bound + 2 * margin) if self.euclidean else bound - margin
        return bool(np.count_nonzero(values >= lowest) <= _MOST_MARKED * values.size)


def _in_lines(shape: tuple[int, int], dtype: DTypeLike) -> AnyFloats:
    """Return an array to write to that begins at a line of the cache."""
    size = shape[0] * shape[1]
    n_bytes = np.dtype(dtype).itemsize
    aligned = room(size + _LINE // n_bytes, dtype)
    start = -aligned.ctypes.data % _LINE // n_bytes
    return aligned[start : start + size].reshape(shape)


_PACKED_AT_ONCE = 2**16  # pairs
# bytes of a pair while it is sorted: keys, codes, their order, and what is made of them
_NOT_PACKED = 48


@dataclass(frozen=True, eq=False)
class Pairs:
    """Mated, or non-mated, pairs, sorted; vectors are positions in `Pairing.order`, the first
    before the second.

    Attributes
    ----------
    keys : (pairs,) int32 or int64
        Ascending, so that errors come first: similarities of mated pairs, inverted similarities of
        non-mated pairs.
    first, second : (pairs,) int32
        The two vectors of each pair.
    complete : bool
        Whether these are all such pairs, and not only the most similar ones.
    """

    keys: score_keys.Keys
    first: Codes
    second: Codes
    complete: bool


@dataclass(frozen=True)
class Packing:
    """How the key of a pair and its two vectors are packed into one integer.

    Attributes
    ----------
    kind : dtype
        Float type of the similarities.
    lowest, span : int
        The lowest possible key, and the number of bits that the keys' range takes.
    places : int
        The number of bits that the position of a vector takes.
    """

    kind: np.dtype[Any]
    lowest: int
    span: int
    places: int

    @property
    def fits(self) -> bool:
        """Whether a key and two vectors fit into an int64 that is not negative."""
        return self.kind == np.float32 and 2 * self.places + self.span < 64

    @property
    def bytes_sorting(self) -> int:
        """Bytes of memory that a pair takes while it is sorted; where it fits, `room` may take them
        from the disk.
        """
        return 0 if self.fits else _NOT_PACKED


class PairStore:
    """Collects pairs in the order in which threads find them.

    It uses the same memory again where it can, as the first access to a page may cost more than all
    work on it.
    """

    def __init__(self, capacity: int, packing: Packing) -> None:
        self.packing = packing
        self._packed = room(capacity if packing.fits else 0, np.int64)
        self._used = 0
        self._lock = threading.Lock()
        self._overflow: list[Integers] = []
        self._wide: list[tuple[score_keys.Keys, Integers]] = []

    def add(self, similarity: AnyFloats, codes: Integers, *, inverted: bool) -> None:
        """Add pairs: their similarities, whose keys may be inverted, and the codes of their two
        vectors.
        """
        from fastfair.kernels import pairs as kernels

        invert = -1 if inverted else 0
        if not self.packing.fits:
            self._wide.append((score_keys.encode(similarity) ^ invert, codes.copy()))
            return
        with self._lock:
            start = self._used
            fits = start + codes.size <= self._packed.size
            if fits:
                self._used += codes.size
        out = self._packed[start : start + codes.size] if fits else np.empty(codes.size, np.int64)
        bits = similarity.view(np.int32)
        kernels.pack(bits, codes, invert, self.packing.lowest, 2 * self.packing.places, out)
        if not fits:
            self._overflow.append(out)

    def taken(self) -> Arrays:
        """Return the pairs as arrays; none can be added afterwards."""
        if not self.packing.fits:
            keys, codes = zip(*self._wide, strict=True)
            return {"keys": np.concatenate(keys), "codes": np.concatenate(codes)}
        return {"packed": join_arrays([self._packed[: self._used], *self._overflow])}


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """Pairs in the order in which they were found.

    Attributes
    ----------
    columns : dict of ndarray
        As `PairStore.taken` returns them.
    packing : Packing
        How they are packed.
    complete : bool
        As in `Pairs`.
    """

    columns: Arrays
    packing: Packing
    complete: bool

    @property
    def packed(self) -> Integers:
        """(pairs,) the pairs, packed, where they fit."""
        return self.columns["packed"]

    def best(self, number: Codes, *, inverted: bool) -> FoundPairs:
        """Give vectors other numbers, and keep of pairs that are then the same the most similar
        one.

        Parameters
        ----------
        number : (n,) int32
            The new number of each vector, below n.
        inverted : bool
            Whether keys fall as similarities rise.

        Returns
        -------
        FoundPairs
            These cannot be used afterwards.
        """
        packing = self.packing
        places, span = packing.places, packing.span
        of_vector = (1 << places) - 1
        number = number.astype(np.int64)

        def numbered(codes: Integers) -> Integers:
            return (number[(codes >> places) & of_vector] << places) + number[codes & of_vector]

        if not packing.fits:
            keys, codes = self.columns["keys"], numbered(self.columns["codes"])
            order = np.lexsort((keys if inverted else ~keys, codes))
            order = order[np.diff(codes[order], prepend=-1) != 0]
            kept = {"keys": keys[order], "codes": codes[order]}
            return replace(self, columns=kept)
        packed = self.columns.pop("packed")
        starts = range(0, packed.size, _PACKED_AT_ONCE)
        parts = [slice(start, start + _PACKED_AT_ONCE) for start in starts]
        of_key = (1 << span) - 1
        turned = 0 if inverted else of_key  # so that the best comes first
        for part in parts:  # vectors before keys
            some = packed[part]
            code = numbered(some)
            packed[part] = (code << span) + ((some >> 2 * places) ^ turned)
        packed.sort()
        size = 0
        last = -1
        for part in parts:
            some = packed[part].copy()
            code = some >> span
            some = some[np.diff(code, prepend=last) != 0]
            last = int(code[-1])
            packed[size : size + some.size] = (((some & of_key) ^ turned) << 2 * places) + (
                some >> span
            )
            size += some.size
        return replace(self, columns={"packed": packed[:size]})

    def sorted(self, n_threads: int) -> Pairs:
        """Return the pairs, sorted by key and then by vectors; these cannot be used afterwards."""
        from fastfair.kernels import pairs as kernels

        packing = self.packing
        places, span = packing.places, packing.span
        if not packing.fits:
            keys, codes = self.columns["keys"], self.columns["codes"]
            order = np.lexsort((codes, keys))
            first, second = np.divmod(codes[order], 1 << places)
            return Pairs(
                keys[order], first.astype(np.int32), second.astype(np.int32), self.complete
            )
        packed = self.columns.pop("packed")
        shift = 2 * places
        spare = room(packed.size, np.int64)
        ordered = sort_by_bits(packed, spare, shift, shift + span, n_threads)
        free = spare if np.shares_memory(ordered, packed) else packed
        first, second = np.split(free.view(np.int32), 2)

        def unpack(part: slice) -> None:
            kernels.order_ties(ordered[part], shift)
            kernels.unpack_codes(ordered[part], places, first[part], second[part])

        starts = [part.start for part in slices(ordered.size, n_threads)[1:]]
        # pairs with equal keys stay together
        cuts = [int(ordered.searchsorted(ordered[start] >> shift << shift)) for start in starts]
        together = [slice(*ends) for ends in itertools.pairwise([0, *cuts, ordered.size])]
        in_threads(ordered.size, unpack, together)
        keys = ordered.view(np.int32)[: ordered.size]
        kernels.unpack_keys(ordered, packing.lowest, shift, keys)
        return Pairs(keys, first, second, self.complete)


Filtered = tuple[Prefilter, Limits]


class PanelSearch:
    """Searches the panels of tiles: stores non-mated pairs that reach a bound, and writes mated
    similarities.

    For one thread. Without a prefilter all similarities of a panel are computed, else only those of
    mated pairs and of marked ones.

    Parameters
    ----------
    finder : PairFinder
        Has the vectors.
    bound : float
        The lowest similarity.
    store : PairStore
        Takes the non-mated pairs.
    filtered : tuple, optional
        A prefilter of the vectors, and what it marks.
    """

    def __init__(
        self, finder: PairFinder, bound: float, store: PairStore, filtered: Filtered | None
    ) -> None:
        self._finder = finder
        self._bound = bound
        self._store = store
        self._filtered = filtered
        size = finder.prepared.panel
        dtype = finder.dtype
        prepared = finder.prepared
        if filtered is None:
            self._product = np.empty((size, size), dtype)
            self._lowest = dtype.type(prepared.lowest(bound))
        else:
            self._bits = np.empty((size, size // 8), np.uint8)
        self._least = dtype.type(bound)
        # Whether panels do not have the similarities that are kept, but find pairs that may be.
        self._only_found = not prepared.euclidean and not (prepared.ordered and filtered is None)
        self._kept = np.empty(size * size + 1, dtype), np.empty(size * size + 1, np.int64)

    def search(self, at: tuple[int, int], mated: AnyFloats, mated_start: Integers) -> None:
        """Search a tile.

        Parameters
        ----------
        at : tuple of int
            Its first panel.
        mated : (pairs,) ndarray
            The similarities of mated pairs; written to, unless distances are wanted.
        mated_start : (rows,) ndarray of int64
            Where the mated pairs of each row begin in `mated`.
        """
        from fastfair.kernels import dot_products, int8_products, pairs

        finder = self._finder
        places = self._store.packing.places
        similarity, codes = self._kept
        prepared, columns = finder.prepared, finder.columns
        for p, q in itertools.product(
            *(range(k, min(k + finder.tile, prepared.n_panels)) for k in at)
        ):
            if not finder.has_pairs(p, q):
                continue
            corner = (p * prepared.panel, q * prepared.panel)
            n = prepared.n
            if self._filtered is None:
                prepared.fill(p, q, self._product)
                if prepared.ordered:
                    pairs.take_mated(self._product, *corner, columns, mated_start, mated)
                size = pairs.take_nonmated(
                    self._product, *corner, columns, n, self._lowest, places, self._kept
                )
            else:
                prefilter, limits = self._filtered
                prefilter.mark(limits, corner, self._bits)
                size = int8_products.list_marked(
                    self._bits.view(np.uint32), corner, columns, n, places, codes
                )
            if self._only_found:
                dot_products.multiply_mated(
                    prepared.rows, corner, prepared.panel, columns, mated_start, places, mated
                )
                size = dot_products.take_reaching(
                    prepared.rows, codes[:size], places, self._least, similarity
                )
            similarities, of = similarity[:size], codes[:size]
            if prepared.euclidean:  # these may reach the bound
                similarities = finder.distances(of >> places, of & ((1 << places) - 1))
                near = similarities >= self._bound
                similarities, of = similarities[near], of[near]
            self._store.add(similarities, of, inverted=True)


_TILE = 4  # panels a side of what a thread does at a time, some 0.05 s
_FEW = 200_000  # non-mated pairs that are all kept
_LEAST_SEEN = 500_000  # pairs, at the least and
_MOST_SEEN = 3_000_000  # at the most, that the bound is guessed from,
_BEHIND_BOUND = 20_000  # so that as many reach it, where data sets are large enough
_LEAST_FILTERED = 5_000_000  # pairs: of fewer, all similarities are computed,
_MOST_MARKED = 0.1  # as where more than a share of the pairs may reach the bound, or
_MOST_MATED = 0.1  # are mated
_MATED = 24  # bytes of a mated pair: its similarity, its vectors, and both packed
# bytes of a pair in `Comparisons`: its key, its number, who is compared, and their subjects
_LISTED = 28


@dataclass(frozen=True, eq=False)
class _Tiles:
    """The similarities of all pairs as a job, whose steps are tiles of panels.

    Attributes
    ----------
    finder : PairFinder
        Has the vectors.
    bound : float
        The non-mated pairs that reach it are kept.
    packing : Packing
        How they are.
    wanted : int
        About how many they are.
    filtered : bool
        Whether so few are kept that a prefilter of the vectors saves time.
    """

    finder: PairFinder
    bound: float
    packing: Packing
    wanted: int
    filtered: bool

    @property
    def size(self) -> int:
        """Number of tiles."""
        return len(self.finder.panels_of_tiles())

    def first_mated(self, steps: range) -> int:
        """Return the position of the first mated pair that these tiles may have."""
        return self.finder.first_mated_after(self.finder.panels_of_tiles()[steps.start][0])

    def run(self, steps: range, n_threads: int | None, report: Report | None) -> Arrays:
        tiles = self.finder.panels_of_tiles()
        start = self.first_mated(steps)
        stop = self.finder.first_mated_after(tiles[steps.stop - 1][0] + self.finder.tile)
        # those of the other tiles in these rows stay NaN
        mated = np.full(stop - start, np.nan, self.finder.dtype)
        store = PairStore(self.wanted * len(steps) // len(tiles), self.packing)
        filtered = self.finder.filtered(self.bound, n_threads) if self.filtered else None
        mated_start = self.finder.mated_start - start
        local = threading.local()

        @one_blas_thread()
        def search(k: int) -> None:
            if not hasattr(local, "search"):
                local.search = PanelSearch(self.finder, self.bound, store, filtered)
            local.search.search(tiles[k], mated, mated_start)

        run_blocks(search, steps, len(steps), 1, n_threads, report)
        return {"mated": mated, **store.taken()}


class PairFinder:
    """Computes the similarities of all pairs and keeps the mated and the most similar non-mated
    ones.

    Parameters
    ----------
    vectors : (n, d) ndarray of float
        One vector for each sample.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        The score of two vectors.
    pairing : Pairing
        Which of them are compared.
    workers : Workers
        Who computes the similarities.
    tile : int
        How many panels wide and high the tile is that a thread works on; the result does not depend
        on it.
    number : (n,) int32 or None
        Where several vectors count as one, what each is part of, in the order of the pairing: pairs
        are then of these numbers, and have the highest similarity of their vectors.

    Attributes
    ----------
    prepared : PreparedVectors
        The vectors as similarities are computed from them.
    columns : (rows, 3) ndarray of int64
        As in `Pairing`.
    dtype : dtype
        Type of similarities, or of squares of distances.

    Raises
    ------
    InputError
        Where the mated pairs would take too much memory.
    """

    def __init__(
        self,
        vectors: AnyFloats,
        similarity: str,
        pairing: Pairing,
        workers: Workers = Workers(),  # noqa: B008 - frozen
        tile: int = _TILE,
        number: Codes | None = None,
    ) -> None:
        self._vectors, self._pairing = vectors, pairing
        self._workers = workers
        self.tile = tile
        self._number = number
        self.columns = pairing.columns
        self._n_mated_of_row = self.columns[:, 2] - self.columns[:, 1]
        self.mated_start = np.cumsum(self._n_mated_of_row) - self._n_mated_of_row
        self._n_mated = int(self._n_mated_of_row.sum())
        self._n_nonmated = int((len(vectors) - self.columns[:, 0]).sum()) - self._n_mated
        self.prepared = PreparedVectors(vectors, similarity, pairing.order, workers.n_threads)
        self._euclidean = self.prepared.euclidean
        self.dtype = self.prepared.rows.dtype

    def find(self, share: float) -> tuple[Pairs, Pairs]:
        """Find all mated pairs and about a share of the non-mated ones, the most similar, both
        sorted.
        """
        mated, nonmated = self.find_unsorted(share)
        return mated, nonmated.sorted(count_threads(self._workers.n_threads))

    def find_unsorted(self, share: float) -> tuple[Pairs, FoundPairs]:
        """Do the same, but leave the non-mated pairs in the order in which they are found; a share
        of 1 keeps all.
        """
        n_nonmated = self._n_nonmated
        everything = share >= 1 or n_nonmated <= _FEW
        wanted = n_nonmated if everything else int(share * n_nonmated)
        bound, filtered = (-math.inf, False) if everything else self._guess_bound(share)
        packing = self._packing(bound)
        of_mated = self._packing(-math.inf)
        self._require_memory(
            "mated",
            self._n_mated,
            _MATED + of_mated.bytes_sorting,
            "use fewer vectors of a subject",
        )
        listed = _LISTED if share >= 1 else 0
        would_do = "`scanned` and bands keep fewer pairs" if listed else "use lower FMRs"
        self._require_memory("non-mated", wanted, listed + packing.bytes_sorting, would_do)
        tiles = _Tiles(self, bound, packing, wanted + (0 if everything else wanted // 4), filtered)
        mated, nonmated = self._compute(tiles)
        first, second = self._mated_positions()
        if self._euclidean:
            mated = self.distances(first, second)
        codes = (first.astype(np.int64) << packing.places) + second
        mated_store = PairStore(mated.size, of_mated)
        mated_store.add(mated, codes, inverted=False)
        mated_pairs = FoundPairs(mated_store.taken(), of_mated, True)
        nonmated_pairs = FoundPairs(nonmated, packing, everything)
        if self._number is not None:
            mated_pairs = mated_pairs.best(self._number, inverted=False)
            nonmated_pairs = nonmated_pairs.best(self._number, inverted=True)
        return mated_pairs.sorted(count_threads(self._workers.n_threads)), nonmated_pairs

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others do not need to compute similarities."""
        left_out = (
            ("_workers", "_number")
            if self._euclidean
            else ("_workers", "_number", "_vectors", "_pairing")
        )
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def _require_memory(self, kind: str, n: int, n_bytes: int, would_do: str) -> None:
        """Refuse pairs that take more memory than is free; n_bytes: of each, besides what goes to
        files.
        """
        fit = memory.available() // max(n_bytes, 1)
        n_vectors = int(len(self._vectors) * min(1, fit / max(n, 1)) ** 0.5)
        memory.require(
            n * n_bytes,
            f"the {n:,} {kind} pairs to be kept",
            f"{fit:,} pairs would fit; {would_do}, or {n_vectors:,} of the {len(self._vectors):,}"
            " vectors",
        )

    def _packing(self, bound: float) -> Packing:
        """Choose how to pack the keys, inverted or not, of similarities from a bound on with their
        two vectors.
        """
        kind = self._vectors.dtype
        if self._euclidean:
            most = 0.0
            least = -math.inf
        else:
            most = (
                float(np.einsum("ij,ij->i", self.prepared.rows, self.prepared.rows).max()) * 1.001
            )
            least = -most
        with np.errstate(over="ignore"):
            ends = score_keys.encode(np.array([most, -most, max(bound, least)], kind)).astype(
                np.int64
            )
        if bound > -math.inf:
            lowest, highest = int(~ends[0]), int(~ends[2])
        else:  # mated pairs are kept whole, too, without inversion
            lowest = int(min(~ends[0], ends[2]))
            highest = int(max(~ends[2], ends[0]))
        return Packing(
            kind, lowest, (highest - lowest).bit_length(), (len(self._vectors) - 1).bit_length()
        )

    def _compute(self, tiles: _Tiles) -> tuple[AnyFloats, Arrays]:
        """Return the mated similarities in order of vectors, and the non-mated pairs that reach the
        bound.
        """
        mated = np.empty(0, self.dtype)
        nonmated: list[Arrays] = []

        def take(steps: range, arrays: Arrays) -> None:
            nonlocal mated
            nonmated.append(arrays)
            some = arrays.pop("mated")
            if len(steps) == tiles.size:
                mated = some
                return
            if not mated.size:
                mated = np.empty(self._n_mated, some.dtype)
            start = tiles.first_mated(steps)
            here = ~np.isnan(some)
            mated[start : start + some.size][here] = some[here]

        do_job(tiles, tiles.size, 1, self._workers, "similarities", take)
        names = tuple(nonmated[0])
        return mated, {name: join_arrays([part.pop(name) for part in nonmated]) for name in names}

    def panels_of_tiles(self) -> list[tuple[int, int]]:
        """Return the first panel of each tile, by its row and its column."""
        starts = range(0, self.prepared.n_panels, self.tile)
        return [(p, q) for p in starts for q in starts if self.has_pairs(p, q + self.tile - 1)]

    def first_mated_after(self, panel: int) -> int:
        """Return the position of the first mated pair whose first vector is in a row of panels, or
        after it.
        """
        row = panel * self.prepared.panel
        return int(self.mated_start[row]) if row < self.mated_start.size else self._n_mated

    def filtered(self, bound: float, n_threads: int | None) -> Filtered | None:
        """Return a prefilter and what it marks, or None where this processor has none or it would
        mark all pairs.
        """
        prefilter = self.prepared.prefilter(n_threads)
        limits = None if prefilter is None else prefilter.limits(*self.prepared.reach(bound))
        return None if prefilter is None or limits is None else (prefilter, limits)

    def has_pairs(self, p: int, q: int) -> bool:
        """Whether any row of panel p has a partner in the columns up to those of panel q."""
        panel = self.prepared.panel
        first_row = p * panel  # later rows have no earlier partners
        return first_row < len(self.columns) and int(self.columns[first_row, 0]) < (q + 1) * panel

    def _guess_bound(self, share: float) -> tuple[float, bool]:
        """Estimate the similarity that a share of the non-mated pairs reaches, and tell whether a
        prefilter saves time.

        Both from a part of the pairs.
        """
        wanted = math.isqrt(int(np.clip(_BEHIND_BOUND / share, _LEAST_SEEN, _MOST_SEEN)))
        rng = np.random.default_rng(0)  # results do not depend on the bound
        n = self._pairing.n_references
        sets = (slice(None),) * 2 if n is None else (slice(n), slice(n, None))
        rows, columns = (
            rng.choice(
                some, min(some.size, wanted, max(512, some.size // 4)), replace=False
            )  # a small part
            for some in (np.arange(len(self._vectors))[vectors] for vectors in sets)
        )
        seen = self.prepared.some_similarities(rows, columns)
        values = seen[self._pairing.subject[rows][:, None] != self._pairing.subject[columns]]
        k = min(values.size - 1, math.ceil(share * values.size))
        bound = float(np.partition(values, values.size - 1 - k)[values.size - 1 - k])
        n_pairs = self._n_nonmated + self._n_mated
        is_worth_it = n_pairs >= _LEAST_FILTERED and self._n_mated <= _MOST_MATED * n_pairs
        return bound, is_worth_it and self.prepared.may_be_filtered(values, bound)

    def _mated_positions(self) -> tuple[Codes, Codes]:
        n_mated, start = self._n_mated_of_row, self.mated_start
        first = np.repeat(np.arange(n_mated.size, dtype=np.int32), n_mated)
        second = np.arange(first.size) + np.repeat(self.columns[:, 1] - start, n_mated)
        return first, second.astype(np.int32)

    def distances(self, first: AnyIntegers, second: AnyIntegers) -> AnyFloats:
        """Compute distances from differences of vectors, as small distances lose their digits in
        matrix products.
        """
        from fastfair.kernels import pairs as kernels

        out = np.empty(first.size, np.float64)
        kernels.distances(
            self._vectors, self._pairing.order[first], self._pairing.order[second], out
        )
        return out.astype(self._vectors.dtype)
