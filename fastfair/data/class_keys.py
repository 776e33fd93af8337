"""The sorted keys of mated and of non-mated comparisons, all of them or those near the errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair.errors import InputError

from . import score_keys

if TYPE_CHECKING:
    from .comparisons import Comparisons


class NotKeptError(InputError):
    """Something needs comparisons that a scan has counted without keeping them."""


@dataclass(frozen=True, eq=False)
class ClassKeys:
    """Sorted keys, from which errors are counted at thresholds between two limits.

    Attributes
    ----------
    mated : (m,) ndarray of int
        The lowest keys of mated comparisons, ascending.
    nonmated : (n,) ndarray of int
        The highest keys of non-mated comparisons, ascending.
    sizes : tuple of int
        Numbers of mated and of non-mated comparisons, with those whose keys are not kept.
    limits : tuple of int, or None
        The lowest and the highest threshold up to which all errors are kept; None where all comparisons are.
    """

    mated: score_keys.Keys
    nonmated: score_keys.Keys
    sizes: tuple[int, int]
    limits: tuple[int, int] | None = None

    @property
    def lowest(self) -> int | None:
        """The key of the lowest score where failed comparisons lie below it, which no threshold accepts; else None."""
        classes = self.mated, self.nonmated
        n_failed = [score_keys.count_failed(keys) for keys in classes]
        if not any(n_failed):
            return None
        return min(int(keys[n]) for keys, n in zip(classes, n_failed, strict=True) if n < keys.size)

    @property
    def all_failed(self) -> bool:
        """Whether there are comparisons and each of them failed, so that no threshold is found from them."""
        n = sum(self.sizes)
        return n > 0 and sum(map(score_keys.count_failed, (self.mated, self.nonmated))) == n

    def require(self, what: str, *thresholds: Any) -> None:
        """Raise an error where errors at a threshold are not all kept.

        Parameters
        ----------
        what : str
            What the thresholds are for, in messages.
        *thresholds : int
            Threshold keys.
        """
        if self.limits is None:
            return
        low, high = self.limits
        if all(low <= int(threshold) <= high for threshold in thresholds):
            return
        raise not_kept(what, self)

    def require_all(self, what: str) -> None:
        """Raise an error where not all comparisons are kept."""
        if self.limits is not None:
            raise not_kept(what, self)


def not_kept(what: str, keys: ClassKeys) -> NotKeptError:
    """Return the error for something that needs comparisons that a scan has not kept."""
    (m, n), kept = keys.sizes, (keys.mated.size, keys.nonmated.size)
    return NotKeptError(
        f"{what} needs more scores than the scan has kept: those of the {kept[0]:,} lowest of {m:,} mated and the "
        f"{kept[1]:,} highest of {n:,} non-mated comparisons. Scan with a larger memory_limit, or vectors with a "
        "larger fmr, or leave it out"
    )


def keys_of(comparisons: Comparisons, group: int | None = None) -> ClassKeys:
    """Return the sorted keys of all comparisons, or of those within a group.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    group : int, optional
        Position in `Comparisons.groups`.

    Returns
    -------
    ClassKeys
    """
    sides = comparisons.mated, comparisons.nonmated
    limits = None
    if any(side.not_kept is not None for side in sides):
        ends = np.iinfo(np.int64)
        high, low = (
            end if side.not_kept is None else side.not_kept.limit
            for side, end in zip(sides, (int(ends.max), int(ends.min)), strict=True)
        )
        limits = low, high
    if group is None:
        return ClassKeys(sides[0].keys, sides[1].keys, (len(sides[0]), len(sides[1])), limits)
    mated, nonmated = comparisons.mated_by_group, comparisons.nonmated_by_group
    sizes = int(mated.cells[group, group]), int(nonmated.cells[group, group])
    return ClassKeys(mated.within[group], nonmated.within[group], sizes, limits)
