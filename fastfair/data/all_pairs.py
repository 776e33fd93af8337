"""Embeddings as comparisons: every pair of vectors, sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.progress import reporting

from .comparisons import Comparisons
from .embeddings import Embeddings
from .pair_search import PairFinder, Pairs
from .sorted_scores import SortedSide


def to_comparisons(
    embeddings: Embeddings,
    subject_codes: Mapping[str, NDArray[np.uint16]],
    n_threads: int | None,
    progress: bool | Callable[[int, int], None],
) -> Comparisons:
    """Make every pair a comparison.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    subject_codes : dict of (k,) ndarray
        The label of each subject under each attribute, as a position in `Embeddings.attributes`.
    n_threads, progress
        As in `Embeddings.comparisons`.
    """
    e, n = embeddings, len(embeddings)

    def side(pairs: Pairs, *, mated: bool) -> SortedSide:
        keys = pairs.keys if mated else ~pairs.keys[::-1]
        direction = slice(None, None, 1 if mated else -1)
        i, j = e.order[pairs.first[direction]], e.order[pairs.second[direction]]
        reference, probe = np.minimum(i, j), np.maximum(i, j)
        rows = reference * n - reference * (reference + 1) // 2 + probe - reference - 1
        of_reference, of_probe = e.subject[reference], e.subject[probe]
        kind = np.uint32 if n * (n - 1) // 2 < 2**32 else np.int64
        return SortedSide(
            keys=np.ascontiguousarray(keys),
            rows=rows.astype(kind),
            reference=of_reference,
            probe=of_probe,
            reference_attributes={name: codes[of_reference] for name, codes in subject_codes.items()},
            probe_attributes={name: codes[of_probe] for name, codes in subject_codes.items()},
            reference_sample=reference.astype(np.int32),
            probe_sample=probe.astype(np.int32),
        )

    with reporting(progress, "similarities") as report:
        mated, nonmated = PairFinder(e, n_threads).find(1.0, report)
    samples = np.arange(n)
    return Comparisons._of_parts(
        side(mated, mated=True), side(nonmated, mated=False), "similarity", e.subjects, samples, e.subject,
        e.attributes, e.grouping,
    )  # fmt: skip
