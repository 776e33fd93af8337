"""Lists of pairs of vectors for `fastfair.kernels.sweep`, and the total weights of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import in_threads, slices
from fastfair.data import score_keys
from fastfair.data.embeddings import Embeddings
from fastfair.data.pair_store import Pairs
from fastfair.data.pairing import pairs_of_two_subjects
from fastfair.data.temporary_files import room

from .units import BLOCK, SUBJECTS, Draw, Rows, Units

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

Floats = NDArray[np.float64]
Scale = tuple[()] | tuple[Floats, Floats]
VECTOR_UNITS = ("sample", "subject", "subject+sample")
WEIGHTINGS = ("identity", "comparison")


class VectorUnits(Units):
    """The units that are drawn for replicates of embeddings.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement. Samples are drawn within each subject, and references apart from probes.

    Attributes
    ----------
    subject : (n,) int32
        The subject of each vector, in the order of the pairing; subjects are numbered by group.
    group : (k,) int32
        The group of each subject; -1 without groups.
    references, probes : (k,) int64
        Number of references and of probes of each subject; of all its vectors where every two are compared.
    two_sets : bool
        Whether references and probes are different vectors.
    """

    def __init__(self, embeddings: Embeddings, unit: str) -> None:
        pairing = embeddings.pairing
        self.unit, self.two_sets = unit, pairing.two_sets
        order = np.argsort(embeddings.subject_group, kind="stable")
        number = np.empty(order.size, np.int32)
        number[order] = np.arange(order.size, dtype=np.int32)
        self.subject = number[pairing.subject]
        self.group = embeddings.subject_group[order]
        self.references, self.probes = pairing.references[order], pairing.probes[order]
        self._n_samples = embeddings.n_samples[order]
        subjects = Draw.of(SUBJECTS, np.unique(self.group, return_inverse=True)[1])
        if unit == "subject":
            self._of_subjects(subjects)
        else:
            is_probe = np.arange(self.subject.size) >= pairing.n_references if pairing.n_references else None
            self._of_samples(self.subject, subjects, is_probe)

    def rows_of(self, mated: bool, first: Rows, second: Rows) -> tuple[Rows, Rows]:
        """Return, for pairs of vectors, the two rows of weights whose product is the weight of the pair."""
        if self.unit == "subject":
            a = self._subjects_of(first)
            return a, np.full(a.size, self.n_rows - 1, np.int32) if mated else self._subjects_of(second)
        if self.two_sets:  # else a vector's number is its row
            first, second = (self._draws[-1].row[vectors] for vectors in (first, second))
        if self.unit == "subject+sample" and mated:
            return first, second + np.int32(self.subject.size)
        return first, second

    def _subjects_of(self, vectors: Rows) -> Rows:
        return np.take(self.subject, vectors, mode="clip", out=room(vectors.size, np.int32))

    def per_row(self, of_subject: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each row of weights the value of its subject, and 1 for the row of ones."""
        if self.unit != "subject":
            of_subject = np.tile(of_subject[self._owner], 2 if self.unit == "subject+sample" else 1)
        return np.append(of_subject, 1.0)

    def spread(self, errors: Floats) -> Floats:
        """Return the variance, in replicates, of sums over units, from the part of each row of weights in them.

        Parameters
        ----------
        errors : (levels, rows) ndarray
            What each row, but that of ones, adds to each sum.

        Returns
        -------
        (levels,) ndarray
        """
        if self.unit != "subject+sample":
            return _within(errors, self.stratum[:-1])
        of_samples = errors[:, : self.subject.size]
        of_subjects: Floats = np.array([np.bincount(self._owner, of_level) for of_level in of_samples], np.float64)
        stratum = np.unique(self.group, return_inverse=True)[1]
        return _within(of_samples, self._owner) + _within(of_subjects, stratum)

    def subject_weights(self, weights: NDArray[np.uint8]) -> NDArray[np.int64]:
        """(k, 64) number of times that each subject was drawn; (k, 1) where subjects are not drawn."""
        if self.unit == "sample":
            return np.ones((self._n_samples.size, 1), np.int64)
        if self.unit == "subject":
            return weights[:-1].astype(np.int64)
        start = np.cumsum(self._n_samples) - self._n_samples  # its samples are drawn as often as it has some
        sums = np.add.reduceat(weights[: self.subject.size], start, axis=0, dtype=np.int64)
        return np.asarray(sums // self._n_samples[:, None])


def _within(parts: Floats, stratum: NDArray[np.integer[Any]]) -> Floats:
    """Sum the squared deviations of parts from the means of their strata. parts: (levels, n). Returns (levels,)."""
    size = np.maximum(np.bincount(stratum), 1)
    sums = np.stack([np.bincount(stratum, of_level) for of_level in parts])
    return np.asarray((parts**2).sum(axis=1) - (sums**2 / size).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of keys whose pairs are left out of lists, and counted instead.

    Attributes
    ----------
    key : (ranges,) int64
        Ascending: the keys of a range's pairs are below it, and those of all further pairs are not.
    counts : (lists, ranges) int64
        Number of pairs.
    """

    key: NDArray[np.int64]
    counts: NDArray[np.int64]

    def below(self, limit: int) -> NDArray[np.int64]:
        """Return the number of pairs of each list that lie in ranges below a key: (lists,)."""
        return np.asarray(self.counts[:, self.key <= limit].sum(axis=1))

    def positions(self, positions: NDArray[np.int64], keys: score_keys.Keys) -> NDArray[np.int64]:
        """Turn positions among all pairs of list 0 into positions among those that are listed.

        Parameters
        ----------
        positions : (n,) ndarray
            Positions, counted from 0.
        keys : (listed,) ndarray
            The keys of the pairs listed.

        Returns
        -------
        (n,) ndarray
            -1 for pairs of ranges.
        """
        counts = self.counts[0]
        listed_before = np.searchsorted(keys, self.key)
        end = listed_before + np.cumsum(counts)
        passed = (end <= positions[:, None]).sum(axis=1)
        found = positions - np.append(0, np.cumsum(counts))[passed]
        inside = (positions[:, None] < end) & (positions[:, None] >= end - counts)
        return np.where(inside.any(axis=1), -1, found)


NO_RANGES = Ranges(np.empty(0, np.int64), np.empty((1, 0), np.int64))


@dataclass(frozen=True, eq=False)
class PairLists:
    """Lists of mated, or non-mated, pairs, errors first: one list of all pairs, or one for each group.

    Attributes
    ----------
    keys, a, b, end
        As in `comparison_lists.ErrorLists`.
    scale : tuple of (rows,) ndarray, or ()
        Two arrays: the weight of a pair in a rate is the product of the first one's value at `a` and the second one's
        at `b`. () where all pairs have the same weight.
    of_subject : (k,) or (2, k) ndarray
        For mated pairs, the total weight of each subject's pairs; for non-mated pairs, numbers whose products, that of
        a reference's subject times that of a probe's, are the total weights of two subjects' pairs.
    two_sets : bool
        Whether references and probes are different vectors.
    members : tuple of (...) ndarray
        The subjects of each list.
    mated, complete : bool
        Whether the pairs are mated, and whether all such pairs are kept.
    ranges : Ranges
        Pairs that are counted, but not listed.
    """

    keys: score_keys.Keys
    a: Rows
    b: Rows
    end: NDArray[np.int64]
    scale: Scale
    of_subject: NDArray[np.int64]
    two_sets: bool
    members: tuple[slice | NDArray[np.intp], ...]
    mated: bool
    complete: bool
    ranges: Ranges = NO_RANGES

    @cached_property
    def sizes(self) -> NDArray[np.int64] | Floats:
        """(lists,) total weight of all pairs of each list in the data, including those that are not kept."""
        return self.totals(np.ones((self.of_subject.shape[-1], 1), np.int64))[:, 0]

    def totals(self, subject_weights: NDArray[np.int64]) -> NDArray[np.int64] | Floats:
        """Return the total weight of all pairs of each list in every replicate, including those that are not kept.

        Parameters
        ----------
        subject_weights : (k, r) ndarray
            Number of times that each subject was drawn; r may be 1 where subjects are not drawn.

        Returns
        -------
        (lists, 64) or (lists, r) ndarray
            Integers where all pairs have the same weight.
        """
        weights = subject_weights * self.of_subject[..., None]
        lists = [weights[..., members, :] for members in self.members]
        if self.mated:
            sums = np.array([part.sum(axis=0) for part in lists])
        else:
            sums = np.array([pairs_of_two_subjects(part[0], part[1], self.two_sets) for part in lists])
        return sums.astype(np.float64) if self.scale else sums

    def side(self, weights: NDArray[np.uint8], largest: int, totals: NDArray[Any], shrinkage: Floats) -> Side:
        """Return the lists as kernels take them.

        Parameters
        ----------
        weights, largest, shrinkage
            As in `kernels.sweep.Side`.
        totals : (lists, 64) or (lists, 1) ndarray
            Total weights, as the method `totals` returns them.

        Returns
        -------
        Side
        """
        from fastfair.kernels import sweep

        totals = np.ascontiguousarray(np.broadcast_to(totals, (totals.shape[0], BLOCK)))
        return sweep.Side(
            self.keys, self.a, self.b, self.scale, self.end, self.sizes, weights, largest, totals, shrinkage
        )


def weights_in_rates(units: VectorUnits, *, mated: bool, weighting: str) -> tuple[Scale, NDArray[np.int64]]:
    """Return `scale` and `of_subject` of lists; parameters as in `make_lists`."""
    references, probes = units.references, units.probes
    if not mated:
        of_subject = np.stack((references, probes))
    elif units.two_sets:
        of_subject = references * probes
    else:
        of_subject = references * (references - 1) // 2
    sides = np.atleast_2d(of_subject)
    if weighting != "identity" or all(np.unique(side[side > 0]).size <= 1 for side in sides):
        return (), of_subject
    with np.errstate(divide="ignore"):
        rows = [units.per_row(np.where(side > 0, 1 / side, 0)) for side in sides]
    scale = rows[0], np.ones_like(rows[0]) if mated else rows[1]
    return scale, (of_subject > 0).astype(np.int64)


def make_lists(pairs: Pairs, units: VectorUnits, *, mated: bool, weighting: str) -> PairLists:
    """Make one list of all pairs.

    Parameters
    ----------
    pairs : Pairs
        The pairs, sorted.
    units : VectorUnits
        The units that are drawn with replacement.
    mated : bool
        Whether the pairs are mated.
    weighting : {"identity", "comparison"}
        Whether all subjects, and all pairs of them, have the same weight, or all pairs of vectors.

    Returns
    -------
    PairLists
    """
    scale, of_subject = weights_in_rates(units, mated=mated, weighting=weighting)
    rows_of_pairs = units.rows_of(mated, pairs.first, pairs.second)
    end = np.array([pairs.keys.size])
    return PairLists(
        pairs.keys, *rows_of_pairs, end, scale, of_subject, units.two_sets, (slice(None),), mated, pairs.complete
    )


def lists_of_groups(pairs: Pairs, units: VectorUnits, of_all: PairLists, n_groups: int, n_threads: int) -> PairLists:
    """Make a list of the pairs inside each group.

    Parameters
    ----------
    pairs, units : Pairs, VectorUnits
        As in `make_lists`.
    of_all : PairLists
        The list that `make_lists` made of them.
    n_groups : int
        Number of groups.
    n_threads : int
        Number of threads.

    Returns
    -------
    PairLists
    """
    from fastfair.kernels import pairs as kernels

    group = units.group[units.subject]
    parts = slices(pairs.keys.size, n_threads)
    sizes = np.zeros((len(parts), n_groups), np.int64)

    def count(k: int) -> None:
        kernels.count_within_groups(pairs.first[parts[k]], pairs.second[parts[k]], group, sizes[k])

    in_threads(pairs.keys.size, count, range(len(parts)))
    end = np.cumsum(sizes.sum(axis=0))
    position = (np.cumsum(sizes.T) - sizes.T.ravel()).reshape(sizes.T.shape).T.copy()  # of a group part by part
    within = tuple(room(int(end[-1]), array.dtype) for array in (pairs.keys, pairs.first, pairs.second))

    def split(k: int) -> None:
        of_part = (array[parts[k]] for array in (pairs.keys, pairs.first, pairs.second))
        kernels.split_within_groups(*of_part, group, position[k], *within)

    in_threads(pairs.keys.size, split, range(len(parts)))
    rows = units.rows_of(of_all.mated, within[1], within[2])
    members = tuple(np.flatnonzero(units.group == k) for k in range(n_groups))
    return replace(of_all, keys=within[0], a=rows[0], b=rows[1], end=end, members=members)
