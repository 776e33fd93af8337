"""The sorted mated, or non-mated, comparisons with the rows of weights and the list of each, part by part."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.sorted_scores import GroupedSide, SortedSide

from .units import ComparisonUnits, Rows

Groups = NDArray[np.uint16]
_PIECE = 2**18  # comparisons whose rows of weights are written at a time


@dataclass(frozen=True, eq=False)
class SortedComparisons:
    """What lists are made of.

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

    def rows(self, part: slice) -> tuple[Rows, Rows]:
        """Return the rows of the weights of both units of some comparisons."""
        return self.units.rows(self.mated, part)

    def keys_of(self, part: slice) -> score_keys.Keys:
        """Return the score keys of some comparisons."""
        return self.side.keys[part]

    def lists(self, part: slice) -> NDArray[Any]:
        """Return the list that each of some comparisons is in besides list 0, or 0; nothing where list 0 is alone."""
        from fastfair.kernels import partners as kernels

        dtype = np.uint16 if self.sizes.size <= 2**16 else np.int32
        if self.of_groups is None:
            return np.empty(0, dtype)
        reference, probe = self.groups(part)
        found = np.empty(reference.size, dtype)
        kernels.lists_of_cells(reference, probe, self.of_groups[1], found)
        return found

    def groups(self, part: slice) -> tuple[Groups, Groups]:
        """Return the groups of the references and of the probes of some comparisons, where there are groups."""
        assert self.of_groups is not None
        by_group, _ = self.of_groups
        return by_group.reference_group[part], by_group.probe_group[part]


def pieces(part: slice) -> list[slice]:
    """Cut comparisons into pieces that are worked on one after another, so that what is written of them is small."""
    cuts = [*range(part.start, part.stop, _PIECE), part.stop]
    return [slice(*both_ends) for both_ends in itertools.pairwise(cuts)]
