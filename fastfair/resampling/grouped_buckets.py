"""The comparisons of a scan, bucket by bucket, grouped by units once and kept for the next pass."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import packing, whole_files
from fastfair._lib.distinct_entries import look_up
from fastfair._lib.jobs import Arrays, do_job
from fastfair._lib.progress import Report
from fastfair._lib.threads import count_threads, in_order
from fastfair._lib.workers import Workers
from fastfair.data.scanned_comparisons import Buckets, Reader
from fastfair.data.score_keys import Keys
from fastfair.data.temporary_files import ArrayFile, Folder
from fastfair.error_rates.exact_costs import ExactCosts

from .partners import Partners, group_comparisons
from .sorted_comparisons import SortedComparisons, lists_of_groups

# Tasks that a pass is cut into for an executor: each returns sums over all units.
_MOST_TASKS = 16
_NUMBER, _TYPES = "comparisons done", "types"  # beside the arrays of a task


class Sums(Protocol):
    """Sums over some buckets."""

    @property
    def arrays(self) -> Arrays:
        """What is summed, so that those of other buckets can be added; whole numbers, whatever their type."""

    def add(self, partners: Partners) -> None:
        """Add the comparisons of a bucket; several threads may do so at once."""


class Pass(Protocol):
    """What is summed over the comparisons of all buckets. It can be pickled."""

    def start(self, n_threads: int | None) -> Sums:
        """Return sums of nothing, which a number of threads add to."""


@dataclass(frozen=True, eq=False)
class _Bucket:
    """The comparisons of a bucket as `ListedComparisons`; their units are numbered as in `SpilledPairs`."""

    reference: NDArray[Any]
    probe: NDArray[Any]
    keys: Keys  # none where they are not kept
    lists_of: _Lists

    def __len__(self) -> int:
        return self.reference.size

    @property
    def n_rows(self) -> int:
        return self.lists_of.n_rows

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.lists_of.sizes

    @property
    def has_groups(self) -> bool:
        return self.lists_of.list_of_cell is not None

    def rows(self, part: slice) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        from fastfair.kernels import scan as kernels

        reference, probe = self.reference[part], self.probe[part]
        a, b = np.empty((2, reference.size), np.int32)
        kernels.rows_of_pairs(reference, probe, np.int32(self.n_rows - 1), a, b)
        return a, b

    def keys_of(self, part: slice) -> Keys:
        return self.keys[part]

    def lists(self, part: slice) -> NDArray[Any]:
        group = self.lists_of.group
        groups = look_up(self.reference[part], group), look_up(self.probe[part], group)
        return lists_of_groups(groups, self.lists_of.list_of_cell, self.sizes.size)


@dataclass(frozen=True, eq=False)
class _Lists:
    """Which list the comparisons of two subjects are in."""

    group: NDArray[np.uint16]  # (subjects,)
    list_of_cell: NDArray[np.int32] | None  # as in `lists_of_groups`
    sizes: NDArray[np.int64]  # (lists,) number of comparisons in each
    n_rows: int  # number of rows of weights


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Reads and groups buckets, in this process or in others."""

    readers: Sequence[Reader]
    lists: _Lists
    exact: ExactCosts | None

    def group(self, k: int, n_threads: int | None) -> Partners:
        return group_comparisons(_Bucket(*self.readers[k](), self.lists), n_threads, self.exact)


@dataclass(frozen=True, eq=False)
class _Passing:
    """A pass over buckets as a job, whose workers keep what they group in files that all of them read."""

    grouping: _Grouping
    folder: str
    work: Pass

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        """Sum over some buckets; as in `Job`."""
        sums, n = self.work.start(n_threads), 0
        for k in steps:
            partners = replace(self._grouped(k, n_threads), n_threads=n_threads)
            sums.add(partners)
            n += partners.n_comparisons
        arrays = sums.arrays
        types = np.array([array.dtype.str for array in arrays.values()])
        return {**{name: _narrow(array) for name, array in arrays.items()}, _NUMBER: np.array(n), _TYPES: types}

    def _grouped(self, k: int, n_threads: int | None) -> Partners:
        path = Path(self.folder) / f"shared-{k}"
        if path.exists():
            found: Partners = packing.opened(path)
            return found
        found = self.grouping.group(k, n_threads)
        with whole_files.explained(path):
            # Another worker may be writing the same.
            part = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
            packing.save(found, part)
            part.replace(path)
        return found


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in fewer bytes, where these hold them, as handing over many takes time."""
    largest = array.max(initial=0)
    if array.min(initial=0) < 0 or largest >= 2**32:
        return array
    return array.astype(np.uint16 if largest < 2**16 else np.uint32)


class GroupedBuckets:
    """Comparisons in buckets, each grouped by one of their units; units are numbered as in `SpilledPairs`.

    Parameters
    ----------
    pairs : Buckets
        The comparisons.
    source : SortedComparisons
        Those that are kept, with the lists that they are in.
    group : (subjects,) ndarray of uint16
        The group of each subject.
    workers : Workers
        Who groups and sums: threads of this process, or the workers of an executor.
    exact : ExactCosts, optional
        What comparisons cost, to be grouped with them.
    """

    def __init__(
        self,
        pairs: Buckets,
        source: SortedComparisons,
        group: NDArray[np.uint16],
        workers: Workers,
        exact: ExactCosts | None = None,
    ) -> None:
        if workers.executor is not None:
            pairs.share()
        readers, self._n_threads = pairs.buckets(count_threads(workers.n_threads))
        lists = _Lists(group, None if source.of_groups is None else source.of_groups[1], source.sizes, source.n_rows)
        self._grouping, self._workers = _Grouping(readers, lists, exact), workers
        self._most_bytes, self._n_bytes, self._lock = pairs.most_bytes, 0, threading.Lock()
        # Files that are removed with this object.
        self._folder = Folder(pairs.folder)
        self._grouped: dict[int, Partners | ArrayFile] = {}
        # Where a thread works on a bucket alone, it groups it alone.
        self._inner = 1 if self._n_threads > 1 and len(readers) > 1 else workers.n_threads

    def sum(self, work: Pass, told: Callable[[int], None] = lambda _: None) -> Arrays:
        """Sum over the comparisons of all buckets.

        Parameters
        ----------
        work : Pass
            What is summed.
        told : callable, optional
            Called with how many comparisons more are done.

        Returns
        -------
        dict of ndarray
            As `Sums.arrays`.
        """
        n = len(self._grouping.readers)
        if self._workers.executor is not None:
            return self._sum_in_tasks(work, n, told)
        sums = work.start(self._workers.n_threads)

        def done(k: int) -> int:
            partners = self._get(k)
            sums.add(partners)
            return partners.n_comparisons

        for n_more in in_order(done, range(n), self._n_threads):
            told(n_more)
        return sums.arrays

    def _sum_in_tasks(self, work: Pass, n: int, told: Callable[[int], None]) -> Arrays:
        arrays: Arrays = {}

        def take(_: range, found: Arrays) -> None:
            told(int(found.pop(_NUMBER)))
            types = found.pop(_TYPES)
            if not arrays:
                arrays.update(
                    {name: np.zeros(of.shape, kind) for (name, of), kind in zip(found.items(), types, strict=True)}
                )
            for name, array in found.items():
                arrays[name] += array

        job = _Passing(self._grouping, str(self._folder.path), work)
        # Parts of sums are not worth a checkpoint: replicates, which take longer, have theirs.
        workers = replace(self._workers, progress=False, checkpoint=None)
        do_job(job, n, -(-n // _MOST_TASKS), workers, "comparisons", take)
        return arrays

    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """Tell whether any comparison has two units that vary."""
        return any(self._get(k).any_varies(varies) for k in range(len(self._grouping.readers)))

    def _get(self, k: int) -> Partners:
        kept, lists = self._grouped.get(k), self._grouping.lists
        if isinstance(kept, Partners):
            return kept
        if kept is not None:
            from fastfair.kernels.partners import Runs

            *runs, words = kept
            return Partners(Runs(*runs), lists.sizes, lists.n_rows, words, self._inner)
        found = self._grouping.group(k, self._inner)
        arrays = *found.runs, found.words
        n_bytes = sum(array.nbytes for array in arrays)
        with self._lock:
            in_memory = self._n_bytes + n_bytes <= self._most_bytes
            self._n_bytes += n_bytes if in_memory else 0
        if in_memory:
            self._grouped[k] = found
        else:
            file = ArrayFile(self._folder, f"grouped-{k}")
            file.append(*arrays)
            self._grouped[k] = file
        return found
