"""Comparisons of random pairs of subjects, and the same as rows for oracles."""

from __future__ import annotations

import numpy as np
from oracles import applied_thresholds as oracle

import fastfair as ff


def drawn(
    seed: int,
    first: int = 0,
    n_subjects: int = 40,
    n: int = 400,
    kind: str = "similarity",
    digits: int = 3,
) -> ff.Comparisons:
    """Draw comparisons of random pairs of subjects, numbered from `first`, in two groups."""
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, n_subjects, n)
    mated = np.arange(n) % 3 == 0
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    scores = (rng.normal(size=n) + 2 * mated).round(digits)
    groups = [(side % 2).tolist() for side in (reference, probe)]
    return ff.Comparisons(
        -scores if kind == "distance" else scores,
        mated,
        reference + first,
        probe + first,
        *groups,
        kind,
    )


def rows_of(c: ff.Comparisons) -> list[oracle.Row]:
    return [
        (float(score), mated, int(a), int(b))
        for mated, side in ((True, c.mated), (False, c.nonmated))
        for score, a, b in zip(
            side.similarities, c.subjects[side.reference], c.subjects[side.probe], strict=True
        )
    ]
