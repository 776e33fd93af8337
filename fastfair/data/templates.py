"""Enrol several vectors of a subject as one template."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair.errors import InputError

from .prepared_vectors import ready_for_products

TemplateScore = Literal["mean", "max"]
TEMPLATE_SCORES: tuple[TemplateScore, ...] = get_args(TemplateScore)
_ROWS_AT_ONCE = 4096


def templates_of(
    template: validation.Labels | int | None, subject: NDArray[np.int32], is_probe: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Number the templates that references are part of, in the order of their first references.

    Parameters
    ----------
    template : (n,) array_like, int or None
        Labels of templates, those of probes playing no part; or how many references of a subject make one; or None
        where all do.
    subject, is_probe : (n,) ndarray
        The subject of each vector, and whether it is a probe.

    Returns
    -------
    (references,) intp

    Raises
    ------
    InputError
        For a template of two subjects.
    """
    references = np.flatnonzero(~is_probe)
    of = subject[references].astype(np.int64)
    if template is None or isinstance(template, int):
        which = np.zeros(of.size, np.int64)
        if template is not None:
            order = np.argsort(of, kind="stable")
            start = np.flatnonzero(np.diff(of[order], prepend=-1))
            which[order] = np.arange(of.size) - np.repeat(start, np.diff(start, append=of.size))
            which //= validation.count("template", template, 1)
        code = of * (which.max() + 1) + which
    else:
        coded = validation.encode("template", template)
        validation.same_length({"vectors": subject.size, "template": coded.codes.size}, "vector")
        code = coded.codes[references].astype(np.int64)
        first = np.full(coded.labels.size, -1, np.int64)
        first[code[::-1]] = of[::-1]
        if (first[code] != of).any():
            row = references[np.flatnonzero(first[code] != of)[0]]
            raise InputError(
                f"template {coded.labels[coded.codes[row]]!r} has references of two subjects, the second in row {row}: "
                "a template is of one subject",
                row,
            )
    _, at, number = np.unique(code, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(at))[number]


def mean_vectors(
    vectors: NDArray[np.floating[Any]], similarity: str, rows: NDArray[np.intp], template: NDArray[np.intp]
) -> NDArray[np.floating[Any]]:
    """Average the vectors of each template.

    Parameters
    ----------
    vectors : (n, d) ndarray
        All vectors; memory-mapped ones are read in parts.
    similarity : str
        As in `Embeddings`: with the cosine, vectors are scaled to length 1 before.
    rows, template : (m,) ndarray
        The row of each reference, and the number of its template, from 0.

    Returns
    -------
    (templates, d) ndarray
        Sums are taken in float64, in the order of `rows`, and rounded to the type of `vectors`.
    """
    sums = np.zeros((int(template.max()) + 1, vectors.shape[1]))
    for start in range(0, rows.size, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        np.add.at(sums, template[part], ready_for_products(vectors[rows[part]], similarity).astype(np.float64))
    return (sums / np.bincount(template)[:, None]).astype(vectors.dtype)
