"""The pairs of vectors near the errors, with the numbers of all, as `scan_comparisons` has them of score files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .all_pairs import side_of_pairs
from .pair_store import Pairs
from .pairing import Pairing
from .scanned_comparisons import KeptComparisons, ScannedComparisons, Subjects
from .sorted_scores import NotKept
from .vector_pairs import PairsOfVectors

Codes = NDArray[np.int32]


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
