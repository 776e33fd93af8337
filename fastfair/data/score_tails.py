"""The comparisons nearest to being errors, collected from parts of which memory cannot hold all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import score_keys
from .sorted_scores import NotKept
from .sorting import order_of_keys

Codes = NDArray[np.int32]
Limit = np.signedinteger | None  # keys with errors first, as in `ErrorLists`, are kept below it; None for all


def near(keys: score_keys.Keys, mated: bool, limit: Limit) -> NDArray[np.intp] | None:
    """Find those of some mated, or non-mated, comparisons that lie below a limit; None for all."""
    if limit is None or limit.dtype != keys.dtype:
        return None
    return np.flatnonzero((keys if mated else ~keys) < limit)


class ScoreTail:
    """The lowest mated, or the highest non-mated, scores with their subjects.

    Parameters
    ----------
    mated : bool
        Whether the comparisons are mated.

    Attributes
    ----------
    n : int
        Number of comparisons seen.
    limit : Limit
        Those kept are below it.
    """

    def __init__(self, mated: bool) -> None:
        self._mated = mated
        self._parts: list[tuple[score_keys.Keys, Codes, Codes]] = []  # keys with errors first: as in `ErrorLists`
        self.limit: Limit = None
        self.n = self._n_kept = 0

    def add(self, keys: score_keys.Keys, reference: Codes, probe: Codes, most: int, n: int | None = None) -> None:
        """Add comparisons, and keep about `most` of all, or up to twice as many.

        n: how many they were before those that are not `near` were left out.
        """
        self.n += keys.size if n is None else n
        close = near(keys, self._mated, self.limit)
        if close is not None:
            keys, reference, probe = keys[close], reference[close], probe[close]
        keys = keys if self._mated else ~keys
        self._parts.append((keys, reference, probe))
        self._n_kept += keys.size
        if self._n_kept > 2 * most:
            keys, reference, probe = self._together()
            self.limit = np.partition(keys, most)[most]
            keep = np.flatnonzero(keys < self.limit)
            self._parts = [(keys[keep], reference[keep], probe[keep])]
            self._n_kept = keep.size

    def widen(self) -> None:
        """Turn the keys of float32 scores into those of the same scores as float64."""
        self._parts = [(_wide(keys, self._mated), reference, probe) for keys, reference, probe in self._parts]
        if self.limit is not None:
            self.limit = _wide(np.array([self.limit]), self._mated)[0]

    def finish(self) -> tuple[score_keys.Keys, Codes, Codes, NotKept | None]:
        """Return the keys kept in ascending order, their references and probes, and what is not kept; forget all."""
        keys, reference, probe = self._together()
        self._parts = []
        order = order_of_keys((keys if self._mated else ~keys).astype(np.int64, copy=False))
        keys = (keys if self._mated else ~keys)[order]
        left = None
        if self.limit is not None:
            # Non-mated keys not kept are at least the limit when inverted, so below its negative.
            limit = int(self.limit)
            left = NotKept(self.n - keys.size, limit if self._mated else -limit)
        return keys, reference[order], probe[order], left

    def _together(self) -> tuple[score_keys.Keys, Codes, Codes]:
        keys, reference, probe = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        return keys, reference, probe


def wide(keys: score_keys.Keys) -> score_keys.Keys:
    """Turn keys of float32 scores into those of the same scores as float64."""
    return score_keys.encode(score_keys.decode(keys).astype(np.float64))


def _wide(keys: score_keys.Keys, mated: bool) -> score_keys.Keys:
    return wide(keys) if mated else ~wide(~keys)
