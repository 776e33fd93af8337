"""`ScannedComparisons`: comparisons that were read in parts, as memory cannot hold all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.notebook import Shown

from . import group_labels
from .comparisons import Comparisons
from .sorted_scores import GroupedSide, SortedSide, read_only


class AllPairs(Protocol):
    """All mated, or all non-mated, comparisons, most of them without their scores.

    `resampling.pair_source.side_of` tells how replicates weigh them.
    """

    @property
    def lacks(self) -> Mapping[str, str]:
        """What is not possible without a list of them, and why."""

    def count(self, group: NDArray[np.uint16], n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Count them, and their distinct subjects, by groups of reference and probe, and all subjects.

        group: (subjects,) the group of each subject, in the order of their numbers.
        """


_LACKS = {  # all scans
    "other units": "a scan draws subjects, and has no other units: leave unit out",
    "all scores": 'eer_method="convex-hull" needs all scores, which a scan does not keep',
    "closed forms": "a scan has no intervals without replicates: give n_resamples of at least 2",
}


class Subjects(NamedTuple):
    """The subjects of a scan, with one label of each attribute."""

    labels: NDArray[Any]  # (k,) sorted
    numbers: NDArray[np.int32]  # (k,) the numbers that they have in `SpilledPairs`
    attributes: Mapping[str, tuple[str, ...]]  # the labels of each attribute, sorted
    of_subject: Mapping[str, NDArray[np.uint16]]  # (k,) the label of each subject, by attribute


@dataclass(frozen=True, eq=False)
class _CountedSide(GroupedSide):
    """Comparisons of which not all are kept, with the numbers of all.

    Attributes
    ----------
    of_all, subjects_of_all : (groups, groups) ndarray of int64
        Numbers of comparisons, and of their distinct subjects, by group of reference and of probe.
    """

    of_all: NDArray[np.int64]
    subjects_of_all: NDArray[np.int64]

    @property
    def cells(self) -> NDArray[np.int64]:
        """As in `GroupedSide`."""
        return self.of_all

    @property
    def subjects(self) -> NDArray[np.int64]:
        """As in `GroupedSide`."""
        return self.subjects_of_all

    @cached_property
    def within(self) -> list[Any]:
        """For each group the sorted keys of its own comparisons that are kept."""
        groups = range(self.n_groups)
        inside = [np.flatnonzero((self.reference_group == k) & (self.probe_group == k)) for k in groups]
        return [self.side.keys[positions] for positions in inside]


class KeptComparisons(Comparisons):
    """The comparisons near the errors, with the numbers of all.

    Parameters
    ----------
    mated, nonmated : SortedSide
        The comparisons that are kept.
    subjects : Subjects
        All subjects.
    score_kind, left_out
        As in `Comparisons`.
    pairs : tuple of AllPairs
        The subjects of all mated, and of all non-mated, comparisons: in buckets, with their scores where those were
        kept, or by the numbers of vectors that subjects have.
    grouping : tuple of str
        The attributes that make groups.

    Attributes
    ----------
    may_keep_more : bool
        Whether whoever asks scans again where too few are kept, so that no limit need be wider for that.
    lacks : dict of str
        Why a scan cannot do something.
    """

    def __init__(
        self,
        mated: SortedSide,
        nonmated: SortedSide,
        subjects: Subjects,
        score_kind: str,
        left_out: tuple[str, ...],
        pairs: tuple[AllPairs, AllPairs],
        grouping: tuple[str, ...],
    ) -> None:
        self.mated, self.nonmated = mated, nonmated
        self.score_kind, self.left_out = score_kind, left_out
        self.subjects, self.samples, self.sample_subject = read_only(subjects.labels), None, None
        self.attributes = dict(subjects.attributes)
        self.of_subjects, self.pairs = subjects, pairs
        self.lacks = {**_LACKS, **pairs[0].lacks, **pairs[1].lacks}
        self._choose_groups(grouping)

    def by(self, *attributes: str) -> KeptComparisons:
        """Make groups from other attributes."""
        names = group_labels.chosen(attributes, self.attributes)
        made = KeptComparisons(
            self.mated, self.nonmated, self.of_subjects, self.score_kind, self.left_out, self.pairs, names
        )
        made.may_keep_more = self.may_keep_more
        return made

    @cached_property
    def group_of_number(self) -> NDArray[np.uint16]:
        """(k,) group of each subject, in the order of their numbers in `pairs`; 0 without groups."""
        found = np.zeros(self.of_subjects.numbers.size, np.uint16)
        if self.groups:
            found[self.of_subjects.numbers] = self._group_codes[0]
        return found

    @cached_property
    def _counted(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        """For mated and for non-mated comparisons: their numbers and those of subjects by groups, and of subjects."""
        return [pairs.count(self.group_of_number, max(1, len(self.groups))) for pairs in self.pairs]

    @cached_property
    def subject_counts(self) -> tuple[int | None, int | None]:
        """Numbers of distinct subjects in mated and in non-mated comparisons."""
        return self._counted[0][2], self._counted[1][2]

    def _by_group(self, side: SortedSide, first: int) -> GroupedSide:
        found = super()._by_group(side, first)
        cells, subjects, _ = self._counted[0 if side is self.mated else 1]
        return _CountedSide(
            side, found.reference_group, found.probe_group, found.n_groups, found.n_subjects, cells, subjects
        )


class ScannedComparisons(Shown):
    """Comparisons of which few are kept, those near the errors.

    `evaluate`, `claim`, `fnmr_test` and `margin_of_error` take them; `compare` and `fmr_test` those of vectors.

    All comparisons are counted. The scores of those nearest to being errors are kept in memory, the lowest mated and
    the highest non-mated ones, and of all others who was compared, in memory or in temporary files; with
    ``cllr=True`` beside it their scores.

    Attributes
    ----------
    subjects : (k,) ndarray
        The distinct subject ids, sorted.
    attributes : dict of str to tuple of str
        The labels of each attribute, sorted. A subject has one label of each.
    groups, grouping : tuple of str
        The groups in use, and the attributes that they are made of.
    score_kind : str
        As in `Comparisons`.
    n_mated, n_nonmated : int
        Numbers of comparisons.
    left_out : tuple of str
        What was left out of the data, how much and why, as warnings said it.

    See Also
    --------
    scan_comparisons : Makes them from files.
    Embeddings.scanned : Makes them from vectors.
    """

    def __init__(self, kept: KeptComparisons) -> None:
        self.kept = kept
        self.subjects = kept.subjects
        self.attributes: Mapping[str, tuple[str, ...]] = kept.attributes
        self.groups, self.grouping = kept.groups, kept.grouping
        self.score_kind, self.left_out = kept.score_kind, kept.left_out
        self.n_mated, self.n_nonmated = len(kept.mated), len(kept.nonmated)

    @checked
    def by(self, *attributes: str) -> ScannedComparisons:
        """Make groups from other attributes.

        Parameters
        ----------
        *attributes : str
            Names in `attributes`; several make intersections, labelled in the order given.

        Returns
        -------
        ScannedComparisons
            Of the same scan, which is not read again.
        """
        return ScannedComparisons(self.kept.by(*attributes))

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        sentences, columns = self.kept._shown()
        kept = f"kept: the {self.kept.mated.keys.size:,} lowest mated and the {self.kept.nonmated.keys.size:,} highest "
        return [repr(self), f"{kept}non-mated scores", *sentences[1:]], columns

    def __repr__(self) -> str:
        return f"Scanned{self.kept!r}"
