"""Compute the similarities of listed pairs of vectors, each by itself, summed in the order of
coordinates.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit
from .pairs import squared_distance


@helper
def inner_product(a, b):
    """Sum the products of the coordinates of two vectors in float64. a, b: (d,) floats."""
    total = 0.0
    for k in range(a.size):
        total += np.float64(a[k]) * np.float64(b[k])
    return total


@jit
def highest_similarities(vectors, scale, members, first, second, euclidean, out):
    """Compute the highest similarity of any vector of one name with any vector of another.

    vectors: (n, d) floats; scale: (n,) float64, factors of inner products; members: where the
    vectors of each name begin, (names + 1,) int64, and their rows, (n,) int64; first, second:
    (pairs,) int64, the two names of each pair; euclidean: bool, whether similarities are negative
    distances; out: (pairs,) float64
    """
    begin, rows = members
    for p in range(out.size):
        best = -np.inf
        for x in range(begin[first[p]], begin[first[p] + 1]):
            i = rows[x]
            for y in range(begin[second[p]], begin[second[p] + 1]):
                j = rows[y]
                if euclidean:
                    similarity = -np.sqrt(squared_distance(vectors[i], vectors[j]))
                else:
                    similarity = inner_product(vectors[i], vectors[j]) * (scale[i] * scale[j])
                best = max(best, similarity)
        out[p] = best
