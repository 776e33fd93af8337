"""Find the pairs of vectors that error rates of embeddings need: all mated and the most similar non-mated ones.

Similarities are computed in panels, and only those of these pairs are kept. Every panel has the same shape, padded at
the edges, and is one matrix product on one thread, so the similarity of two vectors has the same bits however the work
is divided among threads.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.jobs import Arrays, do_job
from fastfair._lib.progress import Report
from fastfair._lib.threads import count_threads, one_blas_thread, run_blocks
from fastfair._lib.workers import Workers
from fastfair.kernels._aside import aside

from . import score_keys
from .pair_store import FoundPairs, Packing, Pairs, PairStore, Positions
from .pairing import Pairing
from .temporary_files import room

Floats = NDArray[np.floating[Any]]
_Room = tuple[Floats, tuple[Floats, NDArray[np.int64]]]  # a panel, and the similarities and codes of pairs of it
_PANEL = 512  # rows and columns of a panel: its similarities are scanned before they leave the cache
_TILE = 4  # panels a side of what a thread does at a time, some 0.05 s
_FEW = 200_000  # non-mated pairs that are all kept
_LEAST_SEEN, _MOST_SEEN = 500_000, 3_000_000  # pairs that the bound is guessed from,
_BEHIND_BOUND = 20_000  # so that as many reach it, where data sets are large enough
_ROWS_AT_ONCE = 1024
_MATED = 24  # bytes of a mated pair: its similarity, its vectors, and both packed
_LISTED = 28  # bytes of a pair in `Comparisons`: its key, its number, who is compared, and their subjects


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
    """

    finder: PairFinder
    bound: float
    packing: Packing
    wanted: int

    @property
    def size(self) -> int:
        """Number of tiles."""
        return len(self.finder.panels_of_tiles())

    def first_mated(self, steps: range) -> int:
        """Return the position of the first mated pair that these tiles may have."""
        return self.finder.first_mated_after(self.finder.panels_of_tiles()[steps.start][0])

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        tiles = self.finder.panels_of_tiles()
        start = self.first_mated(steps)
        stop = self.finder.first_mated_after(tiles[steps.stop - 1][0] + self.finder.tile)
        mated = np.full(stop - start, np.nan, self.finder.dtype)  # those of the other tiles in these rows stay NaN
        store = PairStore(self.wanted * len(steps) // len(tiles), self.packing)
        local = threading.local()

        @one_blas_thread()
        def search(k: int) -> None:
            if not hasattr(local, "room"):
                local.room = self.finder.new_room()
            self.finder.search_tile(tiles[k], self.bound, local.room, (mated, start), store)

        run_blocks(search, steps, len(steps), 1, n_threads, told)
        return {"mated": mated, **store.taken()}


class PairFinder:
    """Computes the similarities of all pairs and keeps the mated and the most similar non-mated ones.

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
        How many panels wide and high the tile is that a thread works on; the result does not depend on it.

    Attributes
    ----------
    dtype : dtype
        Type of similarities, or of squares of distances.

    Raises
    ------
    InputError
        Where the mated pairs would take too much memory.
    """

    def __init__(
        self,
        vectors: Floats,
        similarity: str,
        pairing: Pairing,
        workers: Workers = Workers(),  # noqa: B008 - frozen
        tile: int = _TILE,
    ) -> None:
        self._vectors, self._pairing = vectors, pairing
        self._workers, self.tile = workers, tile
        n, order = len(vectors), pairing.order
        self._n = n
        self._columns = pairing.columns
        self._n_mated_of_row = self._columns[:, 2] - self._columns[:, 1]
        self._mated_start = np.cumsum(self._n_mated_of_row) - self._n_mated_of_row
        self._n_mated = int(self._n_mated_of_row.sum())
        self._panel = min(_PANEL, -(-n // 64) * 64)
        self._n_panels = -(-n // self._panel)
        self._euclidean = similarity == "negative_euclidean"
        self.dtype = np.dtype(np.float64) if self._euclidean else vectors.dtype
        self._rows = room((self._n_panels * self._panel, vectors.shape[1]), self.dtype)
        self._rows[n:] = 0

        def prepare(start: int) -> None:
            stop = min(start + _ROWS_AT_ONCE, n)
            self._rows[start:stop] = ready_for_products(vectors[order[start:stop]], similarity)

        run_blocks(prepare, range(0, n, _ROWS_AT_ONCE), n, _ROWS_AT_ONCE, workers.n_threads, None)
        if self._euclidean:
            self._rows[:n] -= self._rows[:n].mean(axis=0)  # so that less is lost to rounding
            self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
            self._rounding = 1e-12 * max(float(self._squares.max()), 1e-300)

    def find(self, share: float) -> tuple[Pairs, Pairs]:
        """Find all mated pairs and about the given share of the non-mated ones, the most similar.

        Parameters
        ----------
        share : float
            Share of the non-mated pairs to keep; 1 or more keeps all.

        Returns
        -------
        mated, nonmated : Pairs
        """
        mated, nonmated = self.find_unsorted(share)
        return mated, nonmated.sorted(count_threads(self._workers.n_threads))

    def find_unsorted(self, share: float) -> tuple[Pairs, FoundPairs]:
        """Do the same, but leave the non-mated pairs in the order in which they are found.

        Parameters
        ----------
        share : float
            As in `find`.

        Returns
        -------
        mated : Pairs
        nonmated : FoundPairs
        """
        n_nonmated = int((len(self._vectors) - self._columns[:, 0]).sum()) - self._n_mated
        everything = share >= 1 or n_nonmated <= _FEW
        wanted = n_nonmated if everything else int(share * n_nonmated)
        bound = -math.inf if everything else self._guess_bound(share)
        packing, of_mated = self._packing(bound), self._packing(-math.inf)
        self._require_memory("mated", self._n_mated, _MATED + of_mated.bytes_sorting, "use fewer vectors of a subject")
        listed = _LISTED if share >= 1 else 0
        would_do = "`scanned` and bands keep fewer pairs" if listed else "use lower FMRs"
        self._require_memory("non-mated", wanted, listed + packing.bytes_sorting, would_do)
        tiles = _Tiles(self, bound, packing, wanted + (0 if everything else wanted // 4))
        mated, nonmated = self._compute(tiles)
        first, second = self._mated_positions()
        if self._euclidean:
            mated = self._distances(first, second)
        codes = (first.astype(np.int64) << packing.places) + second
        mated_store = PairStore(mated.size, of_mated)
        mated_store.add(mated, codes, inverted=False)
        found = FoundPairs([mated_store.taken()], of_mated, True)
        return found.sorted(count_threads(self._workers.n_threads)), FoundPairs(nonmated, packing, everything)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others do not need to compute similarities."""
        left_out = ("_workers",) if self._euclidean else ("_workers", "_vectors", "_pairing")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def _require_memory(self, kind: str, n: int, n_bytes: int, would_do: str) -> None:
        """Refuse pairs that take more memory than is free; n_bytes: of each, besides what goes to files."""
        fit = memory.available() // max(n_bytes, 1)
        n_vectors = int(len(self._vectors) * min(1, fit / max(n, 1)) ** 0.5)
        memory.require(
            n * n_bytes,
            f"the {n:,} {kind} pairs to be kept",
            f"{fit:,} pairs would fit; {would_do}, or {n_vectors:,} of the {len(self._vectors):,} vectors",
        )

    def _packing(self, bound: float) -> Packing:
        """Choose how to pack the keys, inverted or not, of similarities from a bound on with their two vectors."""
        kind = self._vectors.dtype
        if self._euclidean:
            most, least = 0.0, -math.inf
        else:
            most = float(np.einsum("ij,ij->i", self._rows, self._rows).max()) * 1.001
            least = -most
        with np.errstate(over="ignore"):
            ends = score_keys.encode(np.array([most, -most, max(bound, least)], kind)).astype(np.int64)
        if bound > -math.inf:
            lowest, highest = int(~ends[0]), int(~ends[2])
        else:  # mated pairs are kept whole, too, without inversion
            lowest = int(min(~ends[0], ends[2]))
            highest = int(max(~ends[2], ends[0]))
        return Packing(kind, lowest, (highest - lowest).bit_length(), (len(self._vectors) - 1).bit_length())

    def _compute(self, tiles: _Tiles) -> tuple[Floats, list[Arrays]]:
        """Return the mated similarities in order of vectors, and the non-mated pairs that reach the bound, in parts."""
        mated, nonmated = np.empty(0, self.dtype), []

        def take(steps: range, found: Arrays) -> None:
            nonlocal mated
            nonmated.append(found)
            some = found.pop("mated")
            if len(steps) == tiles.size:
                mated = some
                return
            if not mated.size:
                mated = np.empty(self._n_mated, some.dtype)
            start = tiles.first_mated(steps)
            here = ~np.isnan(some)
            mated[start : start + some.size][here] = some[here]

        do_job(tiles, tiles.size, 1, self._workers, "similarities", take)
        return mated, nonmated

    def panels_of_tiles(self) -> list[tuple[int, int]]:
        """Return the first panel of each tile, by its row and its column."""
        starts = range(0, self._n_panels, self.tile)
        return [(p, q) for p in starts for q in starts if self._has_pairs(p, q + self.tile - 1)]

    def first_mated_after(self, panel: int) -> int:
        """Return the position of the first mated pair whose first vector is in a row of panels, or after it."""
        row = panel * self._panel
        return int(self._mated_start[row]) if row < self._mated_start.size else self._n_mated

    def new_room(self) -> _Room:
        """Return the working memory of one thread."""
        size, dtype = self._panel, self.dtype
        return np.empty((size, size), dtype), (np.empty(size * size + 1, dtype), np.empty(size * size + 1, np.int64))

    def search_tile(
        self, at: tuple[int, int], bound: float, room: _Room, mated: tuple[Floats, int], store: PairStore
    ) -> None:
        """Store the non-mated pairs of a tile that reach the bound, and write its mated similarities.

        mated: similarities in order of vectors, and the position of the first of them among all.
        """
        from fastfair.kernels import pairs as kernels

        panel, dtype = self._panel, self.dtype
        limit = dtype.type(-(bound**2) - self._rounding if self._euclidean and bound > -math.inf else bound)
        places = store.packing.places
        product, kept = room
        mated_start = self._mated_start - mated[1]
        for p in range(at[0], min(at[0] + self.tile, self._n_panels)):
            for q in range(at[1], min(at[1] + self.tile, self._n_panels)):
                if not self._has_pairs(p, q):
                    continue
                self._fill(p, q, product)
                corner = p * panel, q * panel
                kernels.take_mated(product, *corner, self._columns, mated_start, mated[0])
                size = kernels.take_nonmated(product, *corner, self._columns, self._n, limit, places, kept)
                similarity, codes = kept[0][:size], kept[1][:size]
                if self._euclidean:
                    similarity = self._distances(codes >> places, codes & ((1 << places) - 1))
                    near = similarity >= bound
                    similarity, codes = similarity[near], codes[near]
                store.add(similarity, codes, inverted=True)

    def _has_pairs(self, p: int, q: int) -> bool:
        """Whether any row of panel p has a partner in the columns up to those of panel q."""
        first_row = p * self._panel  # later rows have no earlier partners
        return first_row < len(self._columns) and int(self._columns[first_row, 0]) < (q + 1) * self._panel

    def _fill(self, p: int, q: int, panel: Floats) -> None:
        """Write a panel of similarities; for "negative_euclidean", of negative squared distances, up to rounding."""
        rows, columns = (slice(k * self._panel, (k + 1) * self._panel) for k in (p, q))
        np.matmul(self._rows[rows], self._rows[columns].T, out=panel)
        if self._euclidean:
            panel *= 2
            panel -= self._squares[rows, None]
            panel -= self._squares[columns]

    def _guess_bound(self, share: float) -> float:
        """Estimate the similarity that a share of the non-mated pairs reaches from a part of them."""
        wanted = math.isqrt(int(np.clip(_BEHIND_BOUND / share, _LEAST_SEEN, _MOST_SEEN)))
        rng = np.random.default_rng(0)  # results do not depend on the bound
        n = self._pairing.n_references
        sets = (slice(None),) * 2 if n is None else (slice(n), slice(n, None))
        rows, columns = (
            rng.choice(some, min(some.size, wanted, max(512, some.size // 4)), replace=False)  # a small part
            for some in (np.arange(len(self._vectors))[vectors] for vectors in sets)
        )
        seen = aside(one_blas_thread()(lambda: self._rows[rows] @ self._rows[columns].T))
        if self._euclidean:
            seen = -np.sqrt(np.maximum(self._squares[rows, None] + self._squares[columns] - 2 * seen, 0))
        values = seen[self._pairing.subject[rows][:, None] != self._pairing.subject[columns]]
        k = min(values.size - 1, math.ceil(share * values.size))
        return float(np.partition(values, values.size - 1 - k)[values.size - 1 - k])

    def _mated_positions(self) -> tuple[Positions, Positions]:
        n_mated, start = self._n_mated_of_row, self._mated_start
        first = np.repeat(np.arange(n_mated.size, dtype=np.int32), n_mated)
        second = np.arange(first.size) + np.repeat(self._columns[:, 1] - start, n_mated)
        return first, second.astype(np.int32)

    def _distances(self, first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> Floats:
        """Compute distances from differences of vectors, as small distances lose their digits in matrix products."""
        from fastfair.kernels import pairs as kernels

        out = np.empty(first.size, np.float64)
        kernels.distances(self._vectors, self._pairing.order[first], self._pairing.order[second], out)
        return out.astype(self._vectors.dtype)
