"""Which vectors are compared with which: every two of one set, or each reference with each probe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sorted_scores import read_only

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which vectors are compared with which.

    Attributes
    ----------
    order : (n,) intp
        The order in which pairs number the vectors: references before probes, and in either those of each subject
        together.
    subject : (n,) int32
        The subject of each vector, in that order.
    n_references : int or None
        How many vectors are references, all others being probes; None where every two vectors are compared.
    references, probes : (k,) int64
        Number of references, and of probes, of each subject; of all vectors where every two are compared.
    """

    order: NDArray[np.intp]
    subject: NDArray[np.int32]
    n_references: int | None
    references: Counts
    probes: Counts

    @classmethod
    def of(cls, subject: NDArray[np.int32], group: NDArray[np.int32], is_probe: NDArray[np.bool_] | None) -> Pairing:
        """Pair vectors.

        Parameters
        ----------
        subject : (n,) int32
            The subject of each vector.
        group : (k,) int32
            The group of each subject; subjects of a group are numbered together.
        is_probe : (n,) bool or None
            Whether each vector is a probe and not a reference; None to compare every two vectors.

        Returns
        -------
        Pairing
        """
        if is_probe is None:
            order = np.lexsort((subject, group[subject]))
            n_samples = np.bincount(subject, minlength=group.size)
            return cls(read_only(order), read_only(subject[order]), None, n_samples, n_samples)
        order = np.lexsort((subject, group[subject], is_probe))
        probes = np.bincount(subject[is_probe], minlength=group.size)
        references = np.bincount(subject[~is_probe], minlength=group.size)
        return cls(read_only(order), read_only(subject[order]), int(references.sum()), references, probes)

    @property
    def two_sets(self) -> bool:
        """Whether references and probes are different vectors."""
        return self.n_references is not None

    @cached_property
    def mated(self) -> Counts:
        """(k,) number of mated pairs of each subject."""
        if self.two_sets:
            return self.references * self.probes
        return self.references * (self.references - 1) // 2

    def nonmated(self, inside: NDArray[np.bool_]) -> Counts:
        """Count the non-mated pairs of sets of subjects.

        Parameters
        ----------
        inside : (sets, k) bool
            Whether each subject is in each set.

        Returns
        -------
        (sets,) int64
        """
        references, probes = (np.where(inside, n, 0).T for n in (self.references, self.probes))
        return pairs_of_two_subjects(references, probes, self.two_sets)

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """(rows, 3) for each first vector of pairs, where its partners, and mated partners, begin, and the latter end.

        Partners go on to the last vector.
        """
        n = self.subject.size
        if self.n_references is None:
            last = np.flatnonzero(np.diff(self.subject, append=-1)) + 1
            begin = np.arange(1, n + 1)
            return np.stack((begin, begin, np.repeat(last, np.diff(last, prepend=0))), axis=1)
        rank = np.empty(self.references.size, np.int64)  # of subjects, in the order in which probes have them
        probe = self.subject[self.n_references :]
        seen = probe[np.diff(probe, prepend=-1) != 0]
        rank[seen] = np.cumsum(self.probes[seen]) - self.probes[seen] + self.n_references
        row = self.subject[: self.n_references]
        begin = np.where(self.probes[row] > 0, rank[row], n)
        return np.stack((np.full(row.size, self.n_references), begin, begin + self.probes[row]), axis=1)


def pairs_of_two_subjects(references: NDArray[Any], probes: NDArray[Any], two_sets: bool) -> NDArray[np.int64]:
    """Count the pairs of vectors of two different subjects, or weigh them.

    Parameters
    ----------
    references, probes : (k, ...) ndarray of int
        The number, or weight, of the references and of the probes of each subject.
    two_sets : bool
        Whether these are different vectors; else every pair is counted once.

    Returns
    -------
    (...) ndarray of int64
    """
    both = references.sum(axis=0) * probes.sum(axis=0) - (references * probes).sum(axis=0)
    return np.asarray(both if two_sets else both // 2)
