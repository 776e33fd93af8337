"""The subjects of comparisons in buckets, which are kept in files where they are too large for memory."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.distinct_entries import smallest_integers

from .scanned_comparisons import Reader
from .temporary_files import ArrayFile, Folder

Codes = NDArray[np.int32]
N_BUCKETS = 128  # a power of 2


def in_buckets(reference: Codes, probe: Codes, n_subjects: int) -> list[NDArray[Any]]:
    """Divide comparisons among buckets, so that all comparisons of two subjects lie in one.

    Parameters
    ----------
    reference, probe : (n,) ndarray of int32
        Subjects, numbered below `n_subjects`.
    n_subjects : int
        As said.

    Returns
    -------
    list of (2, m) ndarray of uint16 or int32
        The references and the probes of each bucket.
    """
    from fastfair.kernels import scan as kernels

    counts = np.zeros(N_BUCKETS, np.int64)
    kernels.count_buckets(reference, probe, counts)
    end = np.cumsum(counts)
    of_buckets = np.empty((2, reference.size), smallest_integers(n_subjects))
    kernels.fill_buckets(reference, probe, end - counts, of_buckets)
    cuts = itertools.pairwise([0, *end.tolist()])
    return [of_buckets[:, slice(*ends)] for ends in cuts]


class SpilledPairs:
    """The reference and the probe of comparisons, in any order; all comparisons of two subjects lie in one bucket.

    Parameters
    ----------
    folder : Folder
        Where they are written when `spill` is called.
    name : str
        What files are called.
    at_once : int
        About how many comparisons to read together, so that small buckets are not read one by one.
    most_bytes : int
        How much memory may hold what is made of them.

    Attributes
    ----------
    folder, most_bytes
        As given.
    n_bytes : int
        Memory that those take that are not in files.
    """

    def __init__(self, folder: Folder, name: str, at_once: int, most_bytes: int) -> None:
        self.folder, self.most_bytes, self._at_once = folder, most_bytes, at_once
        self._in_memory: list[list[NDArray[Any]]] = [[] for _ in range(N_BUCKETS)]
        self._in_files = [ArrayFile(folder, f"{name}-{bucket}") for bucket in range(N_BUCKETS)]
        self._sizes = np.zeros(N_BUCKETS, np.int64)
        self.n_bytes = 0

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return int(self._sizes.sum())

    def add(self, of_buckets: list[NDArray[Any]]) -> None:
        """Add comparisons, as `in_buckets` divides them."""
        for bucket, part in enumerate(of_buckets):
            if part.size:
                self._in_memory[bucket].append(part)
                self._sizes[bucket] += part.shape[1]
                self.n_bytes += part.nbytes

    def spill(self) -> None:
        """Write all comparisons to files."""
        for parts, file in zip(self._in_memory, self._in_files, strict=True):
            if parts:
                file.append(np.concatenate(parts, axis=1))
                parts.clear()
        self.n_bytes = 0

    def buckets(self, n_threads: int) -> tuple[list[Reader], int]:
        """Return what reads some buckets after another, and how many of them may be read at once."""
        largest = max(1, int(self._sizes.max()))
        n_threads = max(1, min(n_threads, self._at_once // largest))
        cuts, n = [0], 0
        for bucket, size in enumerate(self._sizes.tolist()):
            if n and n + size > self._at_once // n_threads:
                cuts.append(bucket)
                n = 0
            n += size
        readers: list[Reader] = [
            partial(self._read, range(*ends))
            for ends in itertools.pairwise([*cuts, N_BUCKETS])
            if self._sizes[slice(*ends)].any()
        ]
        return readers, n_threads

    def _read(self, buckets: range) -> tuple[NDArray[Any], NDArray[Any]]:
        parts = [*itertools.chain.from_iterable([*self._in_memory[k], *self._in_files[k]] for k in buckets)]
        reference, probe = np.concatenate(parts, axis=1)
        return reference, probe
