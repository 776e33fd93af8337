"""The pairs of vectors near the errors, with the numbers of all, as `scan_comparisons` has them of score files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory

from .all_pairs import side_of_pairs
from .pair_store import Pairs
from .pairing import Pairing
from .scanned_comparisons import KeptComparisons, Read, Reader, ScannedComparisons, Subjects
from .sorted_scores import NotKept

Codes = NDArray[np.int32]
_PAIRS_OF_A_BUCKET = 2**20
_SHARE_OF_MEMORY = 8  # of what is free, a share may hold what is made of pairs


@dataclass(eq=False)
class PairsOfVectors:
    """The subjects of all mated, or of all non-mated, pairs, bucket by bucket; made anew whenever they are read.

    All pairs of two subjects lie in one bucket.

    Attributes
    ----------
    subject : (n,) int32
        The subject of each vector.
    is_probe : (n,) bool or None
        As in `Embeddings`.
    mated : bool
        Whether the pairs are mated.
    folder, most_bytes, has_keys
        As in `Buckets`.
    """

    subject: Codes
    is_probe: NDArray[np.bool_] | None
    mated: bool

    folder: None = field(default=None, init=False)
    has_keys: bool = field(default=False, init=False)
    most_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.most_bytes = memory.available() // _SHARE_OF_MEMORY

    def share(self) -> None:
        """As in `Buckets`: pairs are made of subjects, which are pickled."""

    def buckets(self, n_threads: int) -> tuple[list[Reader], int]:
        """As in `Buckets`."""
        order = np.argsort(self.subject, kind="stable").astype(np.int32)
        of_set = [order, order] if self.is_probe is None else [order[self.is_probe[order] == k] for k in (False, True)]
        n_subjects = int(self.subject.max()) + 1
        n_vectors = [np.bincount(self.subject[rows], minlength=n_subjects) for rows in of_set]
        end = [np.cumsum(n) for n in n_vectors]
        products = [(0, 1)] if self.is_probe is None else [(0, 1), (1, 0)]  # of each subject with those of later ones
        if self.mated:
            n_pairs = n_vectors[0] * (n_vectors[1] - 1) // 2 if self.is_probe is None else n_vectors[0] * n_vectors[1]
        else:
            n_pairs = np.sum([n_vectors[a] * (of_set[b].size - end[b]) for a, b in products], axis=0)
        no_keys = np.empty(0, np.int64)
        running = np.cumsum(n_pairs)
        cuts = np.searchsorted(running, np.arange(_PAIRS_OF_A_BUCKET, int(running[-1]), _PAIRS_OF_A_BUCKET)) + 1

        def read(first: int, last: int) -> Read:
            subjects = np.repeat(np.arange(first, last, dtype=np.int32), n_pairs[first:last])
            if self.mated:
                return subjects, subjects, no_keys
            pairs = []
            for a, b in products:
                own = of_set[a][end[a][first] - n_vectors[a][first] : end[a][last - 1]]
                pairs.append(_with_later(own, end[b][self.subject[own]], of_set[b])[:: 1 if a == 0 else -1])
            rows = [np.concatenate(side) for side in zip(*pairs, strict=True)]
            if self.is_probe is None:  # the lower row is the reference
                rows = [np.minimum(*rows), np.maximum(*rows)]
            return self.subject[rows[0]], self.subject[rows[1]], no_keys

        ends = itertools.pairwise(sorted({0, *cuts.tolist(), n_subjects}))
        return [partial(read, *both_ends) for both_ends in ends], n_threads


def _with_later(own: Codes, begin: NDArray[np.int64], others: Codes) -> tuple[Codes, Codes]:
    """Pair each of some vectors with all others from a position on."""
    n = others.size - begin
    start = np.cumsum(n) - n
    return np.repeat(own, n), others[np.arange(int(n.sum())) + np.repeat(begin - start, n)]


def scanned_pairs(
    found: tuple[Pairs, Pairs],
    pairing: Pairing,
    vectors: tuple[Codes, NDArray[np.bool_] | None],
    subjects: NDArray[Any],
    attributes: Mapping[str, tuple[str, ...]],
    subject_codes: Mapping[str, NDArray[np.uint16]],
    grouping: tuple[str, ...],
    left_out: tuple[str, ...],
) -> ScannedComparisons:
    """Take all mated and the most similar non-mated pairs of vectors as a scan.

    Parameters
    ----------
    found : tuple of Pairs
        The pairs.
    pairing : Pairing
        Whose order positions in them refer to.
    vectors : tuple
        The subject of each vector, and whether it is a probe, or None.
    subjects, attributes, grouping, left_out
        As in `Embeddings`.
    subject_codes : dict of (k,) ndarray
        The label of each subject under each attribute.

    Returns
    -------
    ScannedComparisons
    """
    n_nonmated = int(pairing.nonmated(np.ones((1, subjects.size), bool))[0])
    sides = []
    for pairs, mated in zip(found, (True, False), strict=True):
        side = side_of_pairs(pairs, mated, pairing, vectors[0], subject_codes)
        not_kept = None
        if not mated and not pairs.complete:
            not_kept = NotKept(n_nonmated - side.keys.size, int(side.keys[0]))
        sides.append(replace(side, rows=None, reference_sample=None, probe_sample=None, not_kept=not_kept))
    of_subjects = Subjects(subjects, np.arange(subjects.size, dtype=np.int32), attributes, subject_codes)
    all_pairs = PairsOfVectors(*vectors, True), PairsOfVectors(*vectors, False)
    return ScannedComparisons(
        KeptComparisons(sides[0], sides[1], of_subjects, "similarity", left_out, all_pairs, grouping)
    )
