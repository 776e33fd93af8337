"""Turn all mated, or all non-mated, pairs of vectors into comparisons sorted by similarity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .pair_store import Pairs
from .pairing import Pairing
from .sorted_scores import LabelsOfSubjects, SortedSide

_PAIRS_AT_ONCE = 2**16


def side_of_pairs(
    pairs: Pairs,
    mated: bool,
    pairing: Pairing,
    subject: NDArray[np.int32],
    subject_codes: Mapping[str, NDArray[np.uint16]],
) -> SortedSide:
    """Turn every mated, or every non-mated, pair into a comparison.

    Parameters
    ----------
    pairs : Pairs
        All mated, or all non-mated, pairs.
    mated : bool
        Whether they are mated.
    pairing : Pairing
        Whose order positions in `pairs` refer to.
    subject : (n,) ndarray of int
        The subject of each vector.
    subject_codes : dict of (k,) ndarray
        The label of each subject under each attribute.

    Returns
    -------
    SortedSide
        Each vector is a sample; without roles the one with the lower row is the reference.
    """
    order = pairing.order.astype(np.int32)
    n, size = order.size, pairs.keys.size
    keys = pairs.keys if mated else ~pairs.keys[::-1]
    n_rows = n * n if pairing.two_sets else n * (n - 1) // 2
    rows = np.empty(size, np.uint32 if n_rows < 2**32 else np.int64)
    reference, probe, of_reference, of_probe = np.empty((4, size), np.int32)
    for start in range(0, size, _PAIRS_AT_ONCE):  # what is written along the way stays in the processor's cache
        stop = min(start + _PAIRS_AT_ONCE, size)
        part = slice(start, stop)
        source = part if mated else slice(size - stop, size - start)
        first, second = (order[vectors[source]][:: 1 if mated else -1] for vectors in (pairs.first, pairs.second))
        if not pairing.two_sets:
            first, second = np.minimum(first, second), np.maximum(first, second)
        i, j = first.astype(np.int64), second.astype(np.int64)
        rows[part] = i * n + j if pairing.two_sets else i * n - i * (i + 1) // 2 + j - i - 1
        reference[part], probe[part] = first, second
        of_reference[part], of_probe[part] = subject[first], subject[second]
    return SortedSide(
        keys=np.ascontiguousarray(keys),
        rows=rows,
        reference=of_reference,
        probe=of_probe,
        reference_attributes=LabelsOfSubjects({}, subject_codes, of_reference),
        probe_attributes=LabelsOfSubjects({}, subject_codes, of_probe),
        reference_sample=reference,
        probe_sample=probe,
    )
