"""The slow, obvious oracle of dot products of float32 vectors, and of the pairs that reach a bound.

Nothing of fastfair is imported. Numbers are fractions, and rounding to float32 is done by its
definition.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

Vectors = Sequence[Sequence[float]]


def to_float32(value: Fraction) -> np.float32:
    """The float32 nearest to a fraction; of two as near the one whose last bit is 0."""
    near = np.float32(float(value))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(np.int32)) & 1))


def dot(x: Sequence[float], y: Sequence[float]) -> np.float32:
    """16 sums, of which each takes every 16th product and is rounded once a product; then their
    halves are added."""
    sums = [Fraction(0)] * 16
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        sums[k % 16] = Fraction(
            float(to_float32(sums[k % 16] + Fraction(float(a)) * Fraction(float(b))))
        )
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [Fraction(float(to_float32(sums[k] + sums[k + half]))) for k in range(half)]
    return np.float32(float(sums[0]))


def wide_dot(x: Sequence[float], y: Sequence[float]) -> float:
    """Of float64: eight sums, each of every eighth product; all is rounded, and halves are
    added."""
    sums = [0.0] * 8
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        sums[k % 8] += float(a) * float(b)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [sums[k] + sums[k + half] for k in range(half)]
    return sums[0]


def exact(x: Sequence[float], y: Sequence[float]) -> Fraction:
    """The product without rounding."""
    return sum(
        (Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)), Fraction(0)
    )


def reaching(vectors: Vectors, bound: float) -> set[tuple[int, int]]:
    """The ordered pairs of two vectors whose product is at least a bound."""
    n = range(len(vectors))
    return {(i, j) for i in n for j in n if dot(vectors[i], vectors[j]) >= bound}
