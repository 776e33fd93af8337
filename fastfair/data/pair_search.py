"""Find the pairs of vectors that error rates of embeddings need: all mated and the most similar non-mated ones.

Similarities are computed in panels, and only those of these pairs are kept. Sums over the elements of two float32
vectors have one order of our own where the processor is quick at it, so that their similarity depends on nothing else;
where few pairs are kept, it is computed for the pairs alone that a prefilter finds. Elsewhere a panel, which always has
the same shape, padded at the edges, is one matrix product on one thread. So the similarity of two vectors has the same
bits however the work is divided among threads.
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

from . import score_keys
from .pair_prefilter import Limits, Prefilter
from .pair_store import FoundPairs, Packing, Pairs, PairStore, Positions
from .pairing import Pairing
from .panel_search import ByPrefilter, ByProducts, Sought
from .prepared_vectors import PreparedVectors

Floats = NDArray[np.floating[Any]]
Search = ByProducts | ByPrefilter
Filtered = tuple[Prefilter, Limits]
_TILE = 4  # panels a side of what a thread does at a time, some 0.05 s
_FEW = 200_000  # non-mated pairs that are all kept
_LEAST_SEEN, _MOST_SEEN = 500_000, 3_000_000  # pairs that the bound is guessed from,
_BEHIND_BOUND = 20_000  # so that as many reach it, where data sets are large enough
_LEAST_FILTERED = 5_000_000  # pairs: of fewer, all similarities are computed,
_MOST_MARKED = 0.1  # as where more than a share of the pairs may reach the bound, or
_MOST_MATED = 0.1  # are mated
_MATED = 24  # bytes of a mated pair: its similarity, its vectors, and both packed
_LISTED = 28  # bytes of a pair in `Comparisons`: its key, its number, who is compared, and their subjects


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

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        tiles = self.finder.panels_of_tiles()
        start = self.first_mated(steps)
        stop = self.finder.first_mated_after(tiles[steps.stop - 1][0] + self.finder.tile)
        mated = np.full(stop - start, np.nan, self.finder.dtype)  # those of the other tiles in these rows stay NaN
        store = PairStore(self.wanted * len(steps) // len(tiles), self.packing)
        filtered = self.finder.filtered(self.bound, n_threads) if self.filtered else None
        local = threading.local()

        @one_blas_thread()
        def search(k: int) -> None:
            if not hasattr(local, "search"):
                local.search = self.finder.new_search(self.bound, store.packing.places, filtered)
            self.finder.search_tile(tiles[k], local.search, self.bound, (mated, start), store)

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
    number : (n,) int32 or None
        Where several vectors count as one, what each is part of, in the order of the pairing: pairs are then of these
        numbers, and have the highest similarity of their vectors.

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
        number: Positions | None = None,
    ) -> None:
        self._vectors, self._pairing = vectors, pairing
        self._workers, self.tile, self._number = workers, tile, number
        self._columns = pairing.columns
        self._n_mated_of_row = self._columns[:, 2] - self._columns[:, 1]
        self._mated_start = np.cumsum(self._n_mated_of_row) - self._n_mated_of_row
        self._n_mated = int(self._n_mated_of_row.sum())
        self._n_nonmated = int((len(vectors) - self._columns[:, 0]).sum()) - self._n_mated
        self._prepared = PreparedVectors(vectors, similarity, pairing.order, workers.n_threads)
        self._euclidean = self._prepared.euclidean
        self.dtype = self._prepared.rows.dtype

    def find(self, share: float) -> tuple[Pairs, Pairs]:
        """Find all mated pairs and about the given share of the non-mated ones, the most similar.

        Parameters
        ----------
        share : float
            Share of the non-mated pairs of vectors to keep; 1 or more keeps all.

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
        n_nonmated = self._n_nonmated
        everything = share >= 1 or n_nonmated <= _FEW
        wanted = n_nonmated if everything else int(share * n_nonmated)
        bound, filtered = (-math.inf, False) if everything else self._guess_bound(share)
        packing, of_mated = self._packing(bound), self._packing(-math.inf)
        self._require_memory("mated", self._n_mated, _MATED + of_mated.bytes_sorting, "use fewer vectors of a subject")
        listed = _LISTED if share >= 1 else 0
        would_do = "`scanned` and bands keep fewer pairs" if listed else "use lower FMRs"
        self._require_memory("non-mated", wanted, listed + packing.bytes_sorting, would_do)
        tiles = _Tiles(self, bound, packing, wanted + (0 if everything else wanted // 4), filtered)
        mated, nonmated = self._compute(tiles)
        first, second = self._mated_positions()
        if self._euclidean:
            mated = self._distances(first, second)
        codes = (first.astype(np.int64) << packing.places) + second
        mated_store = PairStore(mated.size, of_mated)
        mated_store.add(mated, codes, inverted=False)
        found = FoundPairs([mated_store.taken()], of_mated, True)
        others = FoundPairs(nonmated, packing, everything)
        if self._number is not None:
            found, others = found.best(self._number, inverted=False), others.best(self._number, inverted=True)
        return found.sorted(count_threads(self._workers.n_threads)), others

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others do not need to compute similarities."""
        left_out = ("_workers", "_number") if self._euclidean else ("_workers", "_number", "_vectors", "_pairing")
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
            most = float(np.einsum("ij,ij->i", self._prepared.rows, self._prepared.rows).max()) * 1.001
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
        starts = range(0, self._prepared.n_panels, self.tile)
        return [(p, q) for p in starts for q in starts if self._has_pairs(p, q + self.tile - 1)]

    def first_mated_after(self, panel: int) -> int:
        """Return the position of the first mated pair whose first vector is in a row of panels, or after it."""
        row = panel * self._prepared.panel
        return int(self._mated_start[row]) if row < self._mated_start.size else self._n_mated

    def new_search(self, bound: float, places: int, filtered: Filtered | None) -> Search:
        """Return what one thread finds the non-mated pairs with that reach a bound."""
        sought = Sought(self._prepared, self._columns, bound, places)
        return ByProducts(sought) if filtered is None else ByPrefilter(sought, *filtered)

    def filtered(self, bound: float, n_threads: int | None) -> Filtered | None:
        """Return a prefilter and what it marks, or None where this processor has none or it would mark all pairs."""
        prefilter = self._prepared.prefilter(n_threads)
        limits = None if prefilter is None else prefilter.limits(self._prepared.reach(bound))
        return None if prefilter is None or limits is None else (prefilter, limits)

    def search_tile(
        self, at: tuple[int, int], search: Search, bound: float, mated: tuple[Floats, int], store: PairStore
    ) -> None:
        """Store the non-mated pairs of a tile that reach the bound, and write its mated similarities.

        mated: similarities in order of vectors, and the position of the first of them among all.
        """
        places, n_panels = store.packing.places, self._prepared.n_panels
        mated_start = self._mated_start - mated[1]
        for p in range(at[0], min(at[0] + self.tile, n_panels)):
            for q in range(at[1], min(at[1] + self.tile, n_panels)):
                if not self._has_pairs(p, q):
                    continue
                similarity, codes = search.search(p, q, mated_start, mated[0])
                if self._euclidean:
                    similarity = self._distances(codes >> places, codes & ((1 << places) - 1))
                    near = similarity >= bound
                    similarity, codes = similarity[near], codes[near]
                store.add(similarity, codes, inverted=True)

    def _has_pairs(self, p: int, q: int) -> bool:
        """Whether any row of panel p has a partner in the columns up to those of panel q."""
        panel = self._prepared.panel
        first_row = p * panel  # later rows have no earlier partners
        return first_row < len(self._columns) and int(self._columns[first_row, 0]) < (q + 1) * panel

    def _guess_bound(self, share: float) -> tuple[float, bool]:
        """Estimate the similarity that a share of the non-mated pairs reaches, and tell whether a prefilter saves time.

        Both from a part of the pairs.
        """
        wanted = math.isqrt(int(np.clip(_BEHIND_BOUND / share, _LEAST_SEEN, _MOST_SEEN)))
        rng = np.random.default_rng(0)  # results do not depend on the bound
        n = self._pairing.n_references
        sets = (slice(None),) * 2 if n is None else (slice(n), slice(n, None))
        rows, columns = (
            rng.choice(some, min(some.size, wanted, max(512, some.size // 4)), replace=False)  # a small part
            for some in (np.arange(len(self._vectors))[vectors] for vectors in sets)
        )
        seen = self._prepared.some_similarities(rows, columns)
        values = seen[self._pairing.subject[rows][:, None] != self._pairing.subject[columns]]
        k = min(values.size - 1, math.ceil(share * values.size))
        bound = float(np.partition(values, values.size - 1 - k)[values.size - 1 - k])
        prepared, n_pairs = self._prepared, self._n_nonmated + self._n_mated
        if n_pairs < _LEAST_FILTERED or not prepared.may_be_filtered or self._n_mated > _MOST_MATED * n_pairs:
            return bound, False
        marked = np.count_nonzero(values >= prepared.lowest_marked(bound)) / values.size
        return bound, marked <= _MOST_MARKED

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
