"""The sorted mated, or non-mated, comparisons with the rows of weights and the list of each, part by part."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.sorted_scores import GroupedSide, SortedSide

from .units import ComparisonUnits, Rows

Groups = NDArray[np.uint16]
_PIECE = 2**18  # comparisons whose rows of weights are written at a time


class ListedComparisons(Protocol):
    """Comparisons of a class with the rows of weights of each, and the list that it is in besides that of all."""

    @property
    def n_rows(self) -> int:
        """Number of rows of weights."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(lists,) number of comparisons in each list; list 0 holds all."""

    @property
    def has_groups(self) -> bool:
        """Whether there are lists besides list 0."""

    def __len__(self) -> int: ...

    def rows(self, part: slice) -> tuple[Rows, Rows]:
        """Return the rows of the weights of both units of some comparisons."""

    def keys_of(self, part: slice) -> score_keys.Keys:
        """Return the score keys of some comparisons."""

    def lists(self, part: slice) -> NDArray[Any]:
        """Return the list that each of some comparisons is in besides list 0, or 0; nothing where list 0 is alone."""


@dataclass(frozen=True, eq=False)
class SortedComparisons:
    """What lists are made of, as `ListedComparisons`.

    Attributes
    ----------
    side : SortedSide
        The comparisons.
    mated : bool
        Whether they are mated.
    units : ComparisonUnits
        The units that are drawn with replacement.
    of_groups : GroupedSide and (groups, groups) ndarray of int32, or None
        The comparisons with their groups, and the list that those of two groups are in besides list 0, or 0 for none;
        numbers ascend from 1.
    """

    side: SortedSide
    mated: bool
    units: ComparisonUnits
    of_groups: tuple[GroupedSide, NDArray[np.int32]] | None

    def __len__(self) -> int:
        return len(self.side)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(lists,) number of comparisons in each list."""
        if self.of_groups is None:
            return np.array([len(self)])
        by_group, lists = self.of_groups
        sizes = np.zeros(1 + int(lists.max()), np.int64)
        np.add.at(sizes, lists, by_group.cells)
        sizes[0] = len(self)
        return sizes

    @property
    def n_rows(self) -> int:
        """As in `ListedComparisons`."""
        return self.units.n_rows

    @property
    def has_groups(self) -> bool:
        """As in `ListedComparisons`."""
        return self.of_groups is not None

    def rows(self, part: slice) -> tuple[Rows, Rows]:
        """As in `ListedComparisons`."""
        return self.units.rows(self.mated, part)

    def keys_of(self, part: slice) -> score_keys.Keys:
        """As in `ListedComparisons`."""
        return self.side.keys[part]

    def lists(self, part: slice) -> NDArray[Any]:
        """As in `ListedComparisons`."""
        if self.of_groups is None:
            return lists_of_groups(None, None, self.sizes.size)
        by_group, lists = self.of_groups
        return lists_of_groups((by_group.reference_group[part], by_group.probe_group[part]), lists, self.sizes.size)


def lists_of_groups(
    groups: tuple[Groups, Groups] | None, list_of_cell: NDArray[np.int32] | None, n_lists: int
) -> NDArray[Any]:
    """Return the list that comparisons of references and probes of some groups are in besides list 0.

    Parameters
    ----------
    groups : tuple of (n,) ndarray of uint16, or None
        The groups of the references and of the probes.
    list_of_cell : (groups, groups) ndarray of int32, or None
        The list of those of two groups, or 0 for none; None where there is only list 0.
    n_lists : int
        Number of lists.

    Returns
    -------
    (n,) ndarray of uint16 or int32
        Empty where there is only list 0.
    """
    from fastfair.kernels import partners as kernels

    dtype = np.uint16 if n_lists <= 2**16 else np.int32
    if groups is None or list_of_cell is None:
        return np.empty(0, dtype)
    found = np.empty(groups[0].size, dtype)
    kernels.lists_of_cells(*groups, list_of_cell, found)
    return found


def pieces(part: slice) -> list[slice]:
    """Cut comparisons into pieces that are worked on one after another, so that what is written of them is small."""
    cuts = [*range(part.start, part.stop, _PIECE), part.stop]
    return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]
