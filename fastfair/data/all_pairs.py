"""Turn all mated, or all non-mated, pairs of vectors into comparisons sorted by similarity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .pair_store import Pairs
from .pairing import Pairing
from .sorted_scores import SortedSide


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
    order = pairing.order
    n = len(order)
    keys = pairs.keys if mated else ~pairs.keys[::-1]
    direction = slice(None, None, 1 if mated else -1)
    i, j = order[pairs.first[direction]], order[pairs.second[direction]]
    if pairing.two_sets:
        reference, probe = i, j
        rows, n_rows = reference * n + probe, n * n
    else:
        reference, probe = np.minimum(i, j), np.maximum(i, j)
        rows, n_rows = reference * n - reference * (reference + 1) // 2 + probe - reference - 1, n * (n - 1) // 2
    of_reference, of_probe = subject[reference], subject[probe]
    kind = np.uint32 if n_rows < 2**32 else np.int64
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
