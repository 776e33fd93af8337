"""The slow, obvious oracle of rates of references compared with probes: pair by pair, with the
weight of each.

As in `embeddings`: `similarity` is an (n, n) array of which [reference, probe] is read, `subject`
has one label per vector, and a `Draw` says which bootstrap replicate is meant, with the number of
times that each subject and each vector was drawn. Vectors are drawn among the references, and among
the probes, of their subject. No vector meets itself.

By "comparison" every pair has the same weight. By "identity" the r_k p_k mated pairs of subject k
share a weight of 1, and so do the r_k p_l pairs of the references of k with the probes of l, which
are others than those of l with k.
"""

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from oracles.embeddings import Draw

Matrix = np.ndarray[Any, np.dtype[np.floating[Any]]]
Pairs = list[tuple[float, Fraction, int, int]]  # similarity, weight, reference, probe


def pairs(
    similarity: Matrix,
    subject: Sequence[Hashable],
    is_probe: Sequence[bool],
    weighting: str,
    of: set[Hashable] | None = None,
    draw: Draw | None = None,
) -> tuple[Pairs, Pairs]:
    """Mated and non-mated pairs; `of` are the subjects to keep."""
    n = len(subject)
    mated, nonmated = [], []
    for i in range(n):
        for j in range(n):
            if (
                is_probe[i]
                or not is_probe[j]
                or (of is not None and not {subject[i], subject[j]} <= of)
            ):
                continue
            weight = Fraction(1)
            if weighting == "identity":
                references = sum(subject[m] == subject[i] and not is_probe[m] for m in range(n))
                probes = sum(subject[m] == subject[j] and is_probe[m] for m in range(n))
                weight = Fraction(1, references * probes)
            if draw is not None and draw.vectors is not None:
                weight *= int(draw.vectors[i]) * int(draw.vectors[j])
            if draw is not None and draw.subjects is not None:
                for k in {subject[i], subject[j]}:
                    weight *= int(draw.subjects[k])
            pair = float(similarity[i, j]), weight, i, j
            (mated if subject[i] == subject[j] else nonmated).append(pair)
    return mated, nonmated


def of_templates(similarity: Matrix, template: Sequence[int]) -> Matrix:
    """[k, m]: the highest similarity of a vector of template k with one of m; a probe is a template
    of its own."""
    rows = range(max(template) + 1)
    members = [[i for i, own in enumerate(template) if own == k] for k in rows]
    return np.array(
        [
            [max(float(similarity[i, j]) for i in members[k] for j in members[m]) for m in rows]
            for k in rows
        ]
    )


def share(some: Pairs, t: float, *, below: bool) -> float:
    """The weight of the pairs below, or not below, a threshold over that of all; NaN where there is
    none."""
    total = sum(weight for _, weight, _, _ in some)
    if total == 0 or math.isnan(t):
        return math.nan
    return float(sum(weight for s, weight, _, _ in some if (s < t) == below) / total)


def threshold_at_fmr(level: float, nonmated: Pairs, kind: type) -> float:
    """The float above the highest similarity that must be rejected for an FMR of at most the
    level."""
    total = sum(weight for _, weight, _, _ in nonmated)
    if total == 0:
        return math.nan
    allowed = Fraction(level) * (1 + Fraction(1, 10**9))
    accepted = Fraction(0)
    ordered = sorted(nonmated, reverse=True)
    rejected = ordered[-1][0]
    for s, tied in groupby(ordered, key=lambda pair: pair[0]):
        accepted += sum(weight for _, weight, _, _ in tied)
        if accepted / total > allowed:
            rejected = s
            break
    return float(np.nextafter(kind(rejected), kind(math.inf)))
