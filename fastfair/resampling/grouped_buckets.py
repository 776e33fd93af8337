"""The comparisons of a scan, bucket by bucket, grouped by units once and kept for the next pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.distinct_entries import look_up
from fastfair._lib.threads import count_threads, in_order
from fastfair.data.scanned_comparisons import Buckets
from fastfair.data.score_keys import Keys
from fastfair.data.temporary_files import ArrayFile, Folder
from fastfair.error_rates.exact_costs import ExactCosts

from .partners import Partners, group_comparisons
from .sorted_comparisons import SortedComparisons


@dataclass(frozen=True, eq=False)
class _Bucket(SortedComparisons):
    """The comparisons of a bucket, whose units are numbered as in `SpilledPairs`."""

    reference: NDArray[Any]
    probe: NDArray[Any]
    keys: Keys  # none where they are not kept
    group: NDArray[np.uint16]

    def __len__(self) -> int:
        return self.reference.size

    def rows(self, part: slice) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """As in `SortedComparisons`."""
        from fastfair.kernels import scan as kernels

        reference, probe = self.reference[part], self.probe[part]
        a, b = np.empty((2, reference.size), np.int32)
        kernels.rows_of_pairs(reference, probe, np.int32(self.units.n_rows - 1), a, b)
        return a, b

    def keys_of(self, part: slice) -> Keys:
        """As in `SortedComparisons`."""
        return self.keys[part]

    def groups(self, part: slice) -> tuple[Any, Any]:
        """As in `SortedComparisons`."""
        return look_up(self.reference[part], self.group), look_up(self.probe[part], self.group)


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
    n_threads : int, optional
        All processors by default.
    exact : ExactCosts, optional
        What comparisons cost, to be grouped with them.
    """

    def __init__(
        self,
        pairs: Buckets,
        source: SortedComparisons,
        group: NDArray[np.uint16],
        n_threads: int | None,
        exact: ExactCosts | None = None,
    ) -> None:
        self._source, self._group, self._exact = source, group, exact
        self._readers, self._n_threads = pairs.buckets(count_threads(n_threads))
        self._most_bytes, self._n_bytes, self._lock = pairs.most_bytes, 0, threading.Lock()
        # Files that are removed with this object.
        self._folder = None if pairs.folder is None else Folder(pairs.folder)
        self._grouped: dict[int, Partners | ArrayFile] = {}
        # Where a thread works on a bucket alone, it groups it alone.
        self._inner = 1 if self._n_threads > 1 and len(self._readers) > 1 else n_threads

    def each(self, work: Callable[[Partners], None]) -> Iterator[int]:
        """Call a function for each bucket, in several threads, and yield the number of comparisons that are done."""

        def done(k: int) -> int:
            partners = self._get(k)
            work(partners)
            return int(partners.runs.repeats.sum() or partners.runs.partner.size)

        return in_order(done, range(len(self._readers)), self._n_threads)

    def any_varies(self, varies: NDArray[np.bool_]) -> bool:
        """Tell whether any comparison has two units that vary."""
        return any(self._get(k).any_varies(varies) for k in range(len(self._readers)))

    def _get(self, k: int) -> Partners:
        kept, source = self._grouped.get(k), self._source
        if isinstance(kept, Partners):
            return kept
        if kept is not None:
            from fastfair.kernels.partners import Runs

            *runs, words = kept
            return Partners(Runs(*runs), source.sizes, source.units.n_rows, words, self._inner)
        bucket = _Bucket(source.side, source.mated, source.units, source.of_groups, *self._readers[k](), self._group)
        found = group_comparisons(bucket, self._inner, self._exact)
        arrays = *found.runs, found.words
        n_bytes = sum(array.nbytes for array in arrays)
        with self._lock:
            in_memory = self._n_bytes + n_bytes <= self._most_bytes
            self._n_bytes += n_bytes if in_memory else 0
        if in_memory:
            self._grouped[k] = found
        elif self._folder is not None:
            file = ArrayFile(self._folder, f"grouped-{k}")
            file.append(*arrays)
            self._grouped[k] = file
        return found
