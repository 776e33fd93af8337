"""Which vectors are compared with which, and how many pairs of them each two subjects have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from fastfair._lib.arrays import AnyArray, Codes, Flags, Groups, Indices, Integers

from .sorted_scores import read_only


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which vectors are compared with which.

    Attributes
    ----------
    order : (n,) intp
        The order in which pairs number the vectors: references before probes, and in either those
        of each subject together.
    subject : (n,) int32
        The subject of each vector, in that order.
    n_references : int or None
        How many vectors are references, all others being probes; None where every two vectors are
        compared.
    """

    order: Indices
    subject: Codes
    n_references: int | None

    @classmethod
    def of(cls, subject: Codes, group: Codes, is_probe: Flags | None) -> Pairing:
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
        by = (subject, group[subject])
        order = np.lexsort(by if is_probe is None else (*by, is_probe))
        n_references = None if is_probe is None else int(np.count_nonzero(~is_probe))
        return cls(read_only(order), read_only(subject[order]), n_references)

    @property
    def two_sets(self) -> bool:
        """Whether references and probes are different vectors."""
        return self.n_references is not None

    @property
    def is_probe(self) -> Flags:
        """(n,) whether each vector is a probe, in that order; none is where every two are
        compared.
        """
        n = self.subject.size
        return np.arange(n) >= (n if self.n_references is None else self.n_references)

    @cached_property
    def columns(self) -> Integers:
        """(rows, 3) for each first vector of pairs, where its partners, and mated partners, begin,
        and the latter end.

        Partners go on to the last vector.
        """
        n = self.subject.size
        if self.n_references is None:
            last = np.flatnonzero(np.diff(self.subject, append=-1)) + 1
            begin = np.arange(1, n + 1)
            return np.stack((begin, begin, np.repeat(last, np.diff(last, prepend=0))), axis=1)
        probe = self.subject[self.n_references :]
        row = self.subject[: self.n_references]
        probes = np.bincount(probe, minlength=int(self.subject.max()) + 1)
        seen = probe[np.diff(probe, prepend=-1) != 0]
        # of subjects, in the order in which probes have them; of those without, the end
        rank = np.full(probes.size, n)
        rank[seen] = np.cumsum(probes[seen]) - probes[seen] + self.n_references
        begin = rank[row]
        return np.stack((np.full(row.size, self.n_references), begin, begin + probes[row]), axis=1)


def pairs_of_two_subjects(references: AnyArray, probes: AnyArray, two_sets: bool) -> Integers:
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


NO_COSTS = (
    "Cllr needs the scores of all comparisons: scan files with cllr=True, take comparisons() of"
    " vectors, or leave it out"
)


def subjects_by_group(as_reference: Flags, as_probe: Flags, group: Groups) -> Integers:
    """Count the distinct subjects of comparisons by groups of reference and probe.

    as_reference, as_probe: (subjects, groups) whether each is the reference, or probe, with such a
    partner; group: (subjects,) their own.
    """
    n_groups = as_reference.shape[1]
    subjects = np.zeros((n_groups, n_groups), np.int64)
    for k in range(n_groups):
        of_group = group == k
        subjects[k] += as_reference[of_group].sum(axis=0)
        subjects[:, k] += as_probe[of_group].sum(axis=0)
        subjects[k, k] = (as_reference[of_group, k] | as_probe[of_group, k]).sum()
    return subjects


@dataclass(frozen=True, eq=False)
class PairsOfVectors:
    """All mated, or all non-mated, pairs of vectors, as numbers of them: no list of pairs is made.

    Attributes
    ----------
    subject : (n,) int32
        The subject of each vector; all numbers from 0 on occur.
    is_probe : (n,) bool or None
        As in `Embeddings`; None where every two vectors are compared, and the earlier one is the
        reference.
    mated : bool
        Whether the pairs are mated.
    """

    subject: Codes
    is_probe: Flags | None
    mated: bool

    lacks = MappingProxyType({"costs": NO_COSTS})

    @cached_property
    def vectors(self) -> tuple[Integers, Integers]:
        """(subjects,) numbers of references and of probes of each subject; both of all vectors
        without roles.
        """
        n_subjects = int(self.subject.max()) + 1
        if self.is_probe is None:
            n = np.bincount(self.subject, minlength=n_subjects)
            return n, n
        references, probes = (
            np.bincount(self.subject[self.is_probe == k], minlength=n_subjects) for k in (0, 1)
        )
        return references, probes

    def of_two(self, first: AnyArray, second: AnyArray) -> Integers:
        """Count the pairs of vectors of two subjects; mated ones are of one subject, which is
        `first`.
        """
        references, probes = self.vectors
        if self.mated:
            return self.of_subjects()[first]
        if self.is_probe is None:
            return references[first] * references[second]
        return references[first] * probes[second] + references[second] * probes[first]

    def of_subjects(self, inside: Flags | None = None) -> Integers:
        """Count the pairs of each subject.

        Parameters
        ----------
        inside : (subjects,) ndarray of bool, optional
            The subjects whose pairs are counted, both of them; by default all.

        Returns
        -------
        (subjects,) ndarray of int64
        """
        references, probes = self._inside(inside)
        if self.mated:
            return (
                references * (references - 1) // 2 if self.is_probe is None else references * probes
            )
        if self.is_probe is None:
            return references * (references.sum() - references)
        return references * (probes.sum() - probes) + probes * (references.sum() - references)

    def squares(self, inside: Flags | None = None, partners: Flags | None = None) -> Integers:
        """Sum the squared numbers of pairs of each subject with each other one; mated pairs are of
        the subject alone.

        Parameters
        ----------
        inside : (subjects,) ndarray of bool, optional
            As in `of_subjects`.
        partners : (subjects,) ndarray of bool, optional
            Those of them that are summed over; by default all.

        Returns
        -------
        (subjects,) ndarray of int64
        """
        if self.mated:
            return self.of_subjects(inside) ** 2
        (r, p), others = self._inside(inside), self._inside(inside)
        if partners is not None:
            others = others[0] * partners, others[1] * partners
        r_others, p_others = others
        if self.is_probe is None:
            return r**2 * ((r_others**2).sum() - r_others**2)
        return (
            r**2 * ((p_others**2).sum() - p_others**2)
            + p**2 * ((r_others**2).sum() - r_others**2)
            + 2 * r * p * ((r_others * p_others).sum() - r_others * p_others)
        )

    @property
    def sum_of_squares(self) -> int:
        """The squared numbers of pairs of two subjects, summed over all pairs of them; of non-mated
        ones.
        """
        return int(self.squares().sum() // 2)

    def with_groups(self, group: Groups, n_groups: int) -> tuple[Integers, Integers]:
        """Count the non-mated pairs of each subject with every group of others.

        Parameters
        ----------
        group : (subjects,) ndarray of uint16
            The group of each subject.
        n_groups : int
            Number of groups.

        Returns
        -------
        as_reference, as_probe : (subjects, groups) ndarray of int64
            Pairs of which the subject is the reference, or the probe, by the other's group.
        """
        from fastfair.kernels import vector_pairs as kernels

        references, probes = self.vectors
        if self.is_probe is None:
            as_reference, as_probe = np.zeros((2, group.size, n_groups), np.int64)
            kernels.count_by_order(self.subject, group, as_reference, as_probe)
            of_same_subject = references * (references - 1) // 2
        else:
            of_groups = (
                np.bincount(group, n, n_groups).astype(np.int64) for n in (probes, references)
            )
            as_reference, as_probe = (
                n[:, None] * of for n, of in zip((references, probes), of_groups, strict=True)
            )
            of_same_subject = references * probes
        for counts in (as_reference, as_probe):
            counts[np.arange(group.size), group] -= of_same_subject
        return as_reference, as_probe

    def count(self, group: Groups, n_groups: int) -> tuple[Integers, Integers, int]:
        """Count the pairs and their distinct subjects by groups.

        Parameters
        ----------
        group, n_groups
            As in `with_groups`.

        Returns
        -------
        cells, subjects : (groups, groups) ndarray of int64
            Numbers of pairs, and of their subjects, by group of the reference and of the probe.
        n_subjects : int
            Number of subjects of all pairs.
        """
        cells, subjects = np.zeros((2, n_groups, n_groups), np.int64)
        n_of_subject = self.of_subjects()
        if self.mated:
            diagonal = np.arange(n_groups)
            cells[diagonal, diagonal] = np.bincount(group, n_of_subject, n_groups)
            subjects[diagonal, diagonal] = np.bincount(group[n_of_subject > 0], minlength=n_groups)
            return cells, subjects, int(np.count_nonzero(n_of_subject))
        as_reference, as_probe = self.with_groups(group, n_groups)
        np.add.at(cells, group, as_reference)
        return (
            cells,
            subjects_by_group(as_reference > 0, as_probe > 0, group),
            int(np.count_nonzero(n_of_subject)),
        )

    def _inside(self, inside: Flags | None) -> tuple[Integers, Integers]:
        references, probes = self.vectors
        return (references, probes) if inside is None else (references * inside, probes * inside)
