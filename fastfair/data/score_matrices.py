"""Lay a full score matrix out as one row for each comparison."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import arrays, memory, validation
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning, InputError


def columns_of(
    scores: ArrayLike,
    reference: validation.Labels | None,
    probe: validation.Labels | None,
    reference_group: validation.Labels | None,
    probe_group: validation.Labels | None,
) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return the scores of a matrix, row after row, and the labels of both sides of each comparison by argument.

    See `Comparisons.from_matrix` for the arguments.
    """
    matrix = arrays.numbers_in("scores", scores)
    if matrix.ndim != 2:
        raise InputError(f"a score matrix has two dimensions, but the shape of scores is {matrix.shape}")
    n_rows, n_columns = matrix.shape
    if reference is None and probe is None:
        if n_rows != n_columns:
            raise InputError(
                f"scores is {n_rows} x {n_columns}: give the subjects of rows (reference) and columns (probe), as "
                "only in a square matrix row i and column i can be taken for one subject"
            )
        reference = probe = np.arange(n_rows)
    sides = {"reference": (reference, n_rows), "probe": (probe, n_columns)}
    sides |= {"reference_group": (reference_group, n_rows), "probe_group": (probe_group, n_columns)}
    memory.require(
        n_rows * n_columns * (matrix.itemsize + 8 * sum(labels is not None for labels, _ in sides.values())),
        f"the comparisons of {n_rows:,} x {n_columns:,} scores",
        "give fewer rows or columns",
    )
    spread: dict[str, Any] = {}
    for name, (labels, size) in sides.items():
        if labels is None:
            continue
        coded = validation.encode(name, labels)
        validation.same_length({name: coded.codes.size, "scores along that side": size})
        codes = np.repeat(coded.codes, n_columns) if name.startswith("reference") else np.tile(coded.codes, n_rows)
        spread[name] = validation.Coded(coded.labels, codes)
    return matrix.ravel(), spread


def without_diagonal(
    values: NDArray[Any], sides: dict[str, Any], score_kind: str, policy: str
) -> NDArray[np.bool_] | None:
    """Find the scores beside the diagonal of a symmetric matrix whose diagonal has nothing but the best scores.

    Parameters
    ----------
    values : (n * n,) ndarray
        The scores, row after row.
    sides : dict of Coded
        The labels of both sides.
    score_kind, policy : str
        As `score_kind` and `self_comparisons` of `Comparisons.from_matrix`.

    Returns
    -------
    (n * n,) ndarray of bool, or None
        Which scores to keep; None for all.

    Raises
    ------
    InputError
        Where the diagonal has the only mated comparisons.
    """
    n = math.isqrt(values.size)
    if policy == "keep" or n * n != values.size or n < 2:
        return None
    matrix = values.reshape(n, n)
    best = matrix.min() if score_kind == "distance" else matrix.max()
    if not (np.diagonal(matrix) == best).all() or not np.array_equal(matrix, matrix.T):
        return None
    same = sides["reference"].codes.reshape(n, n) == sides["probe"].codes.reshape(n, n)
    if not np.diagonal(same).all():
        return None
    if same.sum() == n:
        raise InputError(
            "the only mated comparisons are on the diagonal of a symmetric matrix, all of whose entries are the best "
            'scores: they compare samples with themselves. Give a matrix of two sets, or pass self_comparisons="keep"'
        )
    warn(
        f"{n} of {n * n} comparisons left out: the diagonal of the symmetric matrix has nothing but the best scores, "
        'as samples compared with themselves do; self_comparisons="keep" keeps them',
        DroppedWarning,
    )
    return np.asarray(~np.eye(n, dtype=bool).ravel())
