"""The pairs that statistics over embeddings need: all mated ones and the most similar non-mated ones.

Similarities are made a panel at a time and forgotten, but for these. Every panel has the same shape, padded at the
edges, and is one product on one thread, so that two vectors' similarity has the same bits however the work is dealt.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from . import _keys
from ._blocks import run_blocks
from .embeddings import Embeddings
from .errors import InputError

Floats = NDArray[np.floating[Any]]
Positions = NDArray[np.int32]
Parts = list[tuple[_keys.Keys, Positions, Positions]]
_PANEL = 512  # rows and columns of a panel: its similarities are scanned before they leave the cache
_TILE = 4  # panels a side of what a thread does at a time, some 0.05 s
_MOST_BYTES = 8 * 2**30
_FEW = 200_000  # non-mated pairs that are all kept
_LEAST_SEEN, _MOST_SEEN = 500_000, 3_000_000  # non-mated pairs that the bound is guessed from
_BEHIND_BOUND = 5000  # of those at or above it, enough for an error of a few per cent
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of one class, sorted; vectors are positions in `Embeddings.order`, the first before the second.

    Attributes
    ----------
    keys : (pairs,) int32 or int64
        Ascending with errors first: similarities for mated pairs, inverted ones for non-mated pairs.
    first, second : (pairs,) int32
        The vectors.
    complete : bool
        Whether all pairs of the class are there, and not the most similar ones alone.
    """

    keys: _keys.Keys
    first: Positions
    second: Positions
    complete: bool


class PairFinder:
    """Makes similarities and keeps what is asked for.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    n_threads : int or None
        As in `roc_band`.
    tile : int
        Panels a side of what a thread does at a time; the pairs do not depend on it.

    Attributes
    ----------
    subject_end : (n,) int64
        For each vector, in order, where those of its subject end.

    Raises
    ------
    InputError
        Where the mated pairs would take too much memory.
    """

    def __init__(self, embeddings: Embeddings, n_threads: int | None = None, tile: int = _TILE) -> None:
        e = self._embeddings = embeddings
        self._n_threads, self._tile = n_threads, tile
        _require_memory("mated pairs", e.n_mated, e.vectors.dtype)
        n = len(e)
        subject = e.subject[e.order]
        last = np.flatnonzero(np.diff(subject, append=-1)) + 1
        self.subject_end = np.repeat(last, np.diff(last, prepend=0)).astype(np.int64)
        self._subject = subject
        self._panel = min(_PANEL, -(-n // 64) * 64)
        self._n_panels = -(-n // self._panel)
        self._euclidean = e.similarity == "negative_euclidean"
        dtype = np.dtype(np.float64) if self._euclidean else e.vectors.dtype.newbyteorder("=")
        self._rows = np.zeros((self._n_panels * self._panel, e.vectors.shape[1]), dtype)
        for start in range(0, n, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, n)
            self._rows[start:stop] = e.rows(e.order[start:stop])
        if self._euclidean:
            self._rows[:n] -= self._rows[:n].mean(axis=0)  # so that less is lost to rounding
            self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
            self._rounding = 1e-12 * max(float(self._squares.max()), 1e-300)

    def find(self, share: float, progress: Callable[[int, int], None] | None = None) -> tuple[Pairs, Pairs]:
        """Find the mated pairs and about the given share of the non-mated ones, the most similar.

        Parameters
        ----------
        share : float
            Of the non-mated pairs; from 1 on all are kept.
        progress : callable or None
            Called with the rows of tiles done and wanted.

        Returns
        -------
        mated, nonmated : Pairs
        """
        e = self._embeddings
        everything = share >= 1 or e.n_nonmated <= _FEW
        _require_memory("non-mated pairs", int(e.n_nonmated * min(1.0, share)), e.vectors.dtype)
        bound = -math.inf if everything else self._guess_bound(share)
        found, mated = self._run(bound, progress)
        positions = self._mated_positions()
        if self._euclidean:
            mated = self._distances(*positions)
        return (
            _sorted([(_keys.encode(mated), *positions)], len(e), complete=True),
            _sorted(found, len(e), complete=everything),
        )

    def _run(self, bound: float, progress: Callable[[int, int], None] | None) -> tuple[Parts, Floats]:
        from .kernels import pairs as kernels

        n, panel = len(self._embeddings), self._panel
        counts = self.subject_end - np.arange(1, n + 1)
        offset = np.cumsum(counts) - counts
        dtype = self._rows.dtype
        mated = np.empty(self._embeddings.n_mated, dtype)
        limit = dtype.type(-(bound**2) - self._rounding if self._euclidean and bound > -math.inf else bound)
        found: dict[tuple[int, int], tuple[_keys.Keys, Positions, Positions]] = {}
        local = threading.local()
        tiles = range(0, self._n_panels, self._tile)
        work = [(p, q) for p in tiles for q in tiles if p <= q]

        def tile(k: int) -> None:
            if not hasattr(local, "panel"):
                local.panel = np.empty((panel, panel), dtype)
                local.kept = [np.empty(panel * panel + 1, kind) for kind in (dtype, np.int32, np.int32)]
            p0, q0 = work[k]
            for p in range(p0, min(p0 + self._tile, self._n_panels)):
                for q in range(max(p, q0), min(q0 + self._tile, self._n_panels)):
                    self._fill(p, q, local.panel)
                    at = p * panel, q * panel
                    if self.subject_end[min(at[0] + panel, n) - 1] > at[1]:
                        kernels.take_mated(local.panel, *at, self.subject_end, offset, mated)
                    size = kernels.take_nonmated(local.panel, *at, self.subject_end, limit, *local.kept)
                    similarity, first, second = (kept[:size] for kept in local.kept)
                    if self._euclidean:
                        similarity = self._distances(first, second)
                        near = similarity >= bound
                        similarity, first, second = similarity[near], first[near], second[near]
                    found[p, q] = ~_keys.encode(similarity), first.copy(), second.copy()

        with threadpool_limits(1, "blas"):
            run_blocks(tile, range(len(work)), len(work), 1, self._n_threads, progress)
        return [found[key] for key in sorted(found)], mated

    def _fill(self, p: int, q: int, panel: Floats) -> None:
        """Write a panel of similarities; of negative squared distances, up to rounding, for the Euclidean one."""
        rows, columns = (slice(k * self._panel, (k + 1) * self._panel) for k in (p, q))
        np.matmul(self._rows[rows], self._rows[columns].T, out=panel)
        if self._euclidean:
            panel *= 2
            panel -= self._squares[rows, None]
            panel -= self._squares[columns]

    def _guess_bound(self, share: float) -> float:
        """Find the similarity that a share of non-mated pairs reaches, from some of them."""
        n = len(self._embeddings)
        side = min(n, math.isqrt(int(np.clip(_BEHIND_BOUND / share, _LEAST_SEEN, _MOST_SEEN))))
        rng = np.random.default_rng(0)  # results do not depend on the bound
        rows, columns = (rng.choice(n, side, replace=False) for _ in range(2))
        with threadpool_limits(1, "blas"):
            seen = self._rows[rows] @ self._rows[columns].T
        if self._euclidean:
            seen = -np.sqrt(np.maximum(self._squares[rows, None] + self._squares[columns] - 2 * seen, 0))
        values = seen[self._subject[rows][:, None] != self._subject[columns]]
        k = min(values.size - 1, math.ceil(share * values.size))
        return float(np.partition(values, values.size - 1 - k)[values.size - 1 - k])

    def _mated_positions(self) -> tuple[Positions, Positions]:
        n = self.subject_end.size
        counts = self.subject_end - np.arange(1, n + 1)
        first = np.repeat(np.arange(n, dtype=np.int32), counts)
        offset = np.cumsum(counts) - counts
        second = np.arange(first.size) - np.repeat(offset, counts) + first + 1
        return first, second.astype(np.int32)

    def _distances(self, first: Positions, second: Positions) -> Floats:
        """Compute distances from the differences of vectors, as a product of them loses what is small."""
        from .kernels import pairs as kernels

        e = self._embeddings
        out = np.empty(first.size, np.float64)
        kernels.distances(np.asarray(e.vectors), e.order[first], e.order[second], out)
        return out.astype(e.vectors.dtype.newbyteorder("="))


def _require_memory(what: str, n: int, dtype: np.dtype[Any]) -> None:
    size = n * (4 * dtype.itemsize + 20)  # with what sorting them takes
    if size > _MOST_BYTES:
        raise InputError(
            f"the {n:,} {what} to be kept would take {size / 2**30:.0f} GiB, and {_MOST_BYTES >> 30} GiB is the most: "
            + ("use fewer vectors of a subject" if what == "mated pairs" else "use lower FMRs, or fewer vectors")
        )


def _sorted(parts: Parts, n: int, *, complete: bool) -> Pairs:
    """Sort pairs that come in the order of their vectors; ties stay in it."""
    from .kernels import pairs as kernels
    from .kernels import radix

    sizes = [keys.size for keys, _, _ in parts]
    end = np.cumsum(sizes, dtype=np.int64)
    size = int(end[-1])
    lowest = min((int(keys.min()) for keys, _, _ in parts if keys.size), default=0)
    highest = max((int(keys.max()) for keys, _, _ in parts if keys.size), default=0)
    places, span = (n - 1).bit_length(), (highest - lowest).bit_length()
    whole = np.empty(size, parts[0][0].dtype), np.empty(size, np.int32), np.empty(size, np.int32)
    if 2 * places + span < 64:
        packed = np.empty(size, np.int64)
        for part, stop in zip(parts, end, strict=True):
            kernels.pack(*part, lowest, places, packed[stop - part[0].size : stop])
        packed = radix.sort_by_bits(packed, np.empty_like(packed), 2 * places, 2 * places + span)
        kernels.unpack(packed, lowest, places, *whole)
    else:
        for out, pieces in zip(whole, zip(*parts, strict=True), strict=True):
            np.concatenate(pieces, out=out)
        order = np.argsort(whole[0], kind="stable")
        whole = whole[0][order], whole[1][order], whole[2][order]
    return Pairs(*whole, complete)
