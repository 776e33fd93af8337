"""The subjects, and the keys, of comparisons in buckets, which go to files where they are too large for memory."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.distinct_entries import smallest_integers
from fastfair._lib.threads import count_threads, in_order

from . import score_keys
from .scanned_comparisons import Read, Reader
from .score_tails import wide
from .sorted_scores import read_only
from .temporary_files import ArrayFile, Folder
from .vector_pairs import NO_COSTS

Codes = NDArray[np.int32]
N_BUCKETS = 128  # a power of 2

_LACKS = {
    "units left out": 'method="bca" leaves out subjects one at a time, which a scan cannot: use another one',
    "lists of pairs": "data is a scan of score files, which does not list who was compared with whom: read them with "
    "read_comparisons",
}


class InBucket(NamedTuple):
    """Some comparisons of a bucket."""

    subjects: NDArray[Any]  # (2, m) uint16 or int32, the references and the probes
    keys: score_keys.Keys | None  # (m,) of their scores, where those are kept


def in_buckets(reference: Codes, probe: Codes, n_subjects: int, keys: score_keys.Keys | None = None) -> list[InBucket]:
    """Divide comparisons among buckets, so that all comparisons of two subjects lie in one.

    Parameters
    ----------
    reference, probe : (n,) ndarray of int32
        Subjects, numbered below `n_subjects`.
    n_subjects : int
        As said.
    keys : (n,) ndarray of int32 or int64, optional
        The keys of their scores.

    Returns
    -------
    list of InBucket
        The comparisons of each bucket.
    """
    from fastfair.kernels import scan as kernels

    counts = np.zeros(N_BUCKETS, np.int64)
    kernels.count_buckets(reference, probe, counts)
    end = np.cumsum(counts)
    of_buckets = np.empty((2, reference.size), smallest_integers(n_subjects))
    kernels.fill_buckets(reference, probe, end - counts, of_buckets)
    cuts = [slice(*ends) for ends in itertools.pairwise([0, *end.tolist()])]
    if keys is None:
        return [InBucket(of_buckets[:, cut], None) for cut in cuts]
    keys_of_buckets = np.empty_like(keys)
    kernels.fill_keys(reference, probe, keys, end - counts, keys_of_buckets)
    return [InBucket(of_buckets[:, cut], keys_of_buckets[cut]) for cut in cuts]


class SpilledPairs:
    """The reference, the probe and the key of comparisons, in any order; those of two subjects lie in one bucket.

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
    has_keys : bool
        Whether comparisons have the keys of their scores.

    Attributes
    ----------
    folder, most_bytes, has_keys
        As given.
    n_bytes : int
        Memory that those take that are not in files.
    """

    def __init__(self, folder: Folder, name: str, at_once: int, most_bytes: int, has_keys: bool = False) -> None:
        self.folder, self.most_bytes, self.has_keys, self._at_once = folder, most_bytes, has_keys, at_once
        self._in_memory: list[list[InBucket]] = [[] for _ in range(N_BUCKETS)]
        self._in_files = [ArrayFile(folder, f"{name}-{bucket}") for bucket in range(N_BUCKETS)]
        self._keys_in_files = [ArrayFile(folder, f"{name}-{bucket}-keys") for bucket in range(N_BUCKETS)]
        self._sizes = np.zeros(N_BUCKETS, np.int64)
        self._wide = False
        self.n_bytes = 0

    @property
    def lacks(self) -> Mapping[str, str]:
        """As in `Buckets`."""
        return _LACKS if self.has_keys else {**_LACKS, "costs": NO_COSTS}

    def count(self, group: NDArray[np.uint16], n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """As in `AllPairs`."""
        from fastfair.kernels import scan as kernels

        seen = np.zeros((2, group.size, n_groups), np.bool_)

        def count(read: Reader) -> NDArray[np.int64]:
            cells = np.zeros((n_groups, n_groups), np.int64)
            # Threads may mark the same place, but only ever with the same value.
            reference, probe, _ = read()
            kernels.count_by_group(reference, probe, group, cells, seen)
            return cells

        cells = sum(in_order(count, *self.buckets(count_threads(None))), np.zeros((n_groups, n_groups), np.int64))
        as_reference, as_probe = seen
        subjects = np.zeros((n_groups, n_groups), np.int64)
        for k in range(n_groups):
            own = group == k
            subjects[k] += as_reference[own].sum(axis=0)
            subjects[:, k] += as_probe[own].sum(axis=0)
            subjects[k, k] -= int((as_reference[own, k] & as_probe[own, k]).sum())
        return read_only(cells), read_only(subjects), int(seen.any(axis=(0, 2)).sum())

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return int(self._sizes.sum())

    def add(self, of_buckets: list[InBucket]) -> None:
        """Add comparisons, as `in_buckets` divides them."""
        for bucket, part in enumerate(of_buckets):
            if part.subjects.size:
                self._in_memory[bucket].append(part)
                self._sizes[bucket] += part.subjects.shape[1]
                self.n_bytes += sum(array.nbytes for array in part if array is not None)

    def widen(self) -> None:
        """Give all keys of float32 scores, also those added later, as those of the same scores as float64."""
        self._wide = True

    def spill(self) -> None:
        """Write all comparisons to files."""
        for parts, file, file_of_keys in zip(self._in_memory, self._in_files, self._keys_in_files, strict=True):
            if parts:
                file.append(np.concatenate([part.subjects for part in parts], axis=1))
                if self.has_keys:
                    file_of_keys.append(self._joined([part.keys for part in parts if part.keys is not None]))
                parts.clear()
        self.n_bytes = 0

    def share(self) -> None:
        """As in `Buckets`."""
        self.spill()

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

    def _read(self, buckets: range) -> Read:
        parts, keys = [], []
        for k in buckets:
            in_memory = self._in_memory[k]
            parts += [*(part.subjects for part in in_memory), *self._in_files[k]]
            keys += [*(part.keys for part in in_memory if part.keys is not None), *self._keys_in_files[k]]
        reference, probe = np.concatenate(parts, axis=1)
        if not self.has_keys:
            return reference, probe, np.empty(0, np.int64)
        return reference, probe, self._joined(keys)

    def _joined(self, keys: list[score_keys.Keys]) -> score_keys.Keys:
        return np.concatenate([wide(some) if self._wide and some.dtype == np.int32 else some for some in keys])
