"""The subjects of comparisons in buckets, which are kept in files where they are too large for memory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.distinct_entries import smallest_integers
from fastfair._lib.whole_files import explained
from fastfair.errors import FileFormatError, MissingFileError

Codes = NDArray[np.int32]
N_BUCKETS = 128  # a power of 2
_SCAN_AGAIN = "scan again, with folder= where files stay until the scan is done with"


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

    Attributes
    ----------
    n_bytes : int
        Memory that those take that are not in files.
    """

    def __init__(self, folder: Folder, name: str, at_once: int) -> None:
        self._folder, self._name, self._at_once = folder, name, at_once
        self._in_memory: list[list[NDArray[np.integer]]] = [[] for _ in range(N_BUCKETS)]
        self._in_files: list[list[tuple[str, int]]] = [[] for _ in range(N_BUCKETS)]  # type and number of comparisons
        self._sizes = np.zeros(N_BUCKETS, np.int64)
        self.n_bytes = 0

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return int(self._sizes.sum())

    def add(self, reference: Codes, probe: Codes, n_subjects: int) -> None:
        """Add comparisons of subjects that are numbered below `n_subjects`."""
        from fastfair.kernels import scan as kernels

        counts = np.zeros(N_BUCKETS, np.int64)
        kernels.count_buckets(reference, probe, counts)
        end = np.cumsum(counts)
        of_buckets = np.empty((2, reference.size), smallest_integers(n_subjects))
        kernels.fill_buckets(reference, probe, end - counts, of_buckets)
        for bucket in np.flatnonzero(counts):
            self._in_memory[bucket].append(of_buckets[:, end[bucket] - counts[bucket] : end[bucket]])
        self._sizes += counts
        self.n_bytes += of_buckets.nbytes

    def spill(self) -> None:
        """Write all comparisons to files."""
        for bucket, parts in enumerate(self._in_memory):
            path = self._path(bucket)
            with explained(path), path.open("ab") as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).data)
                    self._in_files[bucket].append((part.dtype.str, part.shape[1]))
            parts.clear()
        self.n_bytes = 0

    def __iter__(self) -> Iterator[tuple[Codes, Codes]]:
        """Read the references and the probes of some buckets after another, until all were read."""
        first = 0
        while first < N_BUCKETS:
            last, n = first + 1, int(self._sizes[first])
            while last < N_BUCKETS and n + self._sizes[last] <= self._at_once:
                n += int(self._sizes[last])
                last += 1
            if n:
                yield self._read(range(first, last), n)
            first = last

    def _read(self, buckets: range, n: int) -> tuple[Codes, Codes]:
        found, start = np.empty((2, n), np.int32), 0
        for bucket in buckets:
            for part in self._parts(bucket):
                found[:, start : start + part.shape[1]] = part
                start += part.shape[1]
        return found[0], found[1]

    def _parts(self, bucket: int) -> Iterator[NDArray[np.integer]]:
        yield from self._in_memory[bucket]
        if self._in_files[bucket]:
            path = self._path(bucket)
            try:
                file = path.open("rb")
            except FileNotFoundError:
                raise MissingFileError(f"{path}, a temporary file of the scan, was removed: {_SCAN_AGAIN}") from None
            with file:
                for kind, n in self._in_files[bucket]:
                    part = np.fromfile(file, kind, 2 * n)
                    if part.size < 2 * n:
                        raise FileFormatError(f"{path}, a temporary file of the scan, was shortened: {_SCAN_AGAIN}")
                    yield part.reshape(2, n)

    def _path(self, bucket: int) -> Path:
        return self._folder.path / f"{self._name}-{bucket}"


class Folder:
    """A folder that is made when it is first needed, and removed with its owner or at the end of the process.

    Parameters
    ----------
    inside : path, optional
        The folder to make it in, which is then tried at once; by default that of the system for temporary files.

    Raises
    ------
    OutputError
        Where no folder can be made.
    """

    def __init__(self, inside: str | Path | None = None) -> None:
        self._inside, self._path = inside, ""
        if inside is not None:
            self.path  # noqa: B018 - rather an error now than after hours of reading

    @property
    def path(self) -> Path:
        """The folder."""
        if not self._path:
            inside = tempfile.gettempdir() if self._inside is None else self._inside
            with explained(inside):
                self._path = tempfile.mkdtemp(prefix="fastfair-", dir=inside)
            weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        return Path(self._path)
