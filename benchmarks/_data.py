"""Synthetic comparisons, the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import fastfair as ff

ATTEMPTS = 10  # of each subject


def scores_and_flags(
    size: int, dtype: DTypeLike = np.float32, separation: float = 2
) -> tuple[NDArray[np.floating[Any]], NDArray[np.bool_]]:
    """Return normal scores in random order and who is mated: one half, some standard deviations
    higher."""
    rng = np.random.default_rng(0)
    mated = rng.permutation(size) < size // 2
    return (rng.normal(size=size) + separation * mated).astype(dtype), mated


def labelled_columns(
    size: int, dtype: DTypeLike = np.float32, *, n_groups: int = 18, subjects_per_group: int = 66
) -> dict[str, Any]:
    """Return the columns of `Comparisons` with text ids and groups; no comparison crosses
    groups."""
    rng = np.random.default_rng(1)
    n_subjects = n_groups * subjects_per_group
    scores, mated = scores_and_flags(size, dtype)
    reference = rng.integers(n_subjects, size=size)
    # Subjects of a group are n_groups apart, so such a step leads to another subject of the same
    # group.
    other = (reference + n_groups * rng.integers(1, subjects_per_group, size=size)) % n_subjects
    ids = np.array([f"id{k:05}" for k in range(n_subjects)])
    groups = np.array([f"group {k:02}" for k in range(n_groups)])
    return {
        "scores": scores,
        "mated": mated,
        "reference": ids[reference],
        "probe": ids[np.where(mated, reference, other)],
        "reference_group": groups[reference % n_groups],
    }


def comparisons_of_subjects(
    size: int, n_subjects: int = 2000, *, n_days: int = 0, days_of_each: int = 3
) -> ff.Comparisons:
    """Return comparisons of subjects drawn at random, with an EER of about 2.3 %; with days, each
    subject is probed on some of them."""
    rng = np.random.default_rng(1)
    scores, mated = scores_and_flags(size, separation=4)
    reference = rng.integers(n_subjects, size=size, dtype=np.int32)
    other = (reference + rng.integers(1, n_subjects, size=size, dtype=np.int32)) % n_subjects
    probe = np.where(mated, reference, other)
    session = None
    if n_days:
        days = rng.permuted(np.tile(np.arange(n_days), (n_subjects, 1)), axis=1)
        session = days[probe, rng.integers(days_of_each, size=size)]
    return ff.Comparisons(scores, mated, reference, probe, session=session)


def vectors_of_subjects(n: int, n_samples: int, dim: int) -> NDArray[np.float32]:
    """Return vectors of length 1 about a centre for each subject, a subject's side by side."""
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((n, dim), np.float32)
    vectors += (
        0.35
        * np.repeat(rng.standard_normal((-(-n // n_samples), dim), np.float32), n_samples, axis=0)[
            :n
        ]
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def embeddings_of_subjects(n: int, n_samples: int, dim: int, *, groups: int = 0) -> ff.Embeddings:
    """Return the same as `Embeddings`, subjects dealt to groups in turn."""
    subject = np.arange(n) // n_samples
    return ff.Embeddings(
        vectors_of_subjects(n, n_samples, dim), subject, group=subject % groups if groups else None
    )


def decisions(n_groups: int, n_subjects: int) -> NDArray[np.bool_]:
    """Return who failed, (groups, subjects, attempts), in one attempt of ten and more alike within
    subjects."""
    return np.array(
        [ff.correlated_decisions(n_subjects, ATTEMPTS, 0.1, 0.2, rng=g) for g in range(n_groups)]
    )


def counted(failed: NDArray[np.bool_]) -> ff.FailureCounts:
    """Count what failed, subject by subject."""
    n_groups, n, m = failed.shape
    return ff.FailureCounts(
        failed.sum(axis=2).ravel(), np.full(n_groups * n, m), np.repeat(np.arange(n_groups), n)
    )
