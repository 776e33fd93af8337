"""Codes of labels as one would find them by hand: sort the distinct ones, and say which each row
has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def codes_of(columns: Sequence[np.ndarray[Any, Any]]) -> tuple[list[Any], list[list[int]]]:
    """Return the distinct labels of all columns together, sorted, and for each column the positions
    of its labels."""
    if all(
        column.dtype.kind in "iuUS" and column.dtype.kind == columns[0].dtype.kind
        for column in columns
    ):
        labels, codes = np.unique(np.concatenate(columns), return_inverse=True)
        ends = np.cumsum([column.size for column in columns])[:-1]
        return labels.tolist(), [part.tolist() for part in np.split(codes, ends)]
    distinct = sorted({entry for column in columns for entry in column.tolist()})
    return distinct, [[distinct.index(entry) for entry in column.tolist()] for column in columns]


def order_of(scores: Sequence[float], mated: Sequence[bool], wanted: bool) -> list[int]:
    """Return the rows of the mated or of the non-mated comparisons by score, and of equal scores in
    their order."""
    return sorted(
        (k for k, flag in enumerate(mated) if flag == wanted), key=lambda k: (scores[k], k)
    )
