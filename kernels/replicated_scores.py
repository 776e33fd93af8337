"""Compute the area under the ROC, and the moments of scores, of each replicate from all
comparisons.

Lists and weights are those of `sweep`. The area is the share of pairs of a mated and a non-mated
comparison in which the mated one is more similar, ties counted half. Mated comparisons between
which there is no non-mated one are a run; they have the same part of the area each.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit
from .philox import BLOCK
from .sweep import add_many_pairs, list_of


@helper
def _share_of_one(part):
    """Return the share that each comparison of a list adds whatever its weight. part: an
    `ErrorList`.
    """
    return (1 - part.shrinkage) / (part.a.size if part.a.size > 0 else 1)


@jit
def areas(nonmated, mated, start, above, at_least, run_end, values):
    """Compute the area under the ROC of each of the first lists of both sides in each replicate.

    nonmated, mated: each a `Side`; start: (runs,) int64 position in its list of the first mated
    comparison of each run, of all lists, the most similar run of each first; above, at_least:
    (runs,) int64 numbers of non-mated comparisons more similar, and at least as similar; run_end:
    (lists,) int64; values: (lists, 64) float64, out, NaN where a class has no weight
    """
    x_sums, y_sums, half = (
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK, np.int64),
    )
    run = np.int64(0)
    for k in range(run_end.size):
        x, y = list_of(nonmated, k), list_of(mated, k)
        x_base, y_base = _share_of_one(x), _share_of_one(y)
        position, stop = np.int64(0), np.int64(y.a.size)
        for r in range(BLOCK):
            values[k, r] = 1.0
            x_sums[r] = 0
        while run < run_end[k]:
            add_many_pairs(x.a, x.b, x.weights, x.largest, position, above[run], x_sums)
            for r in range(BLOCK):
                half[r] = x_sums[r]
                y_sums[r] = 0
            add_many_pairs(x.a, x.b, x.weights, x.largest, above[run], at_least[run], x_sums)
            add_many_pairs(y.a, y.b, y.weights, y.largest, start[run], stop, y_sums)
            x_part, y_part = x_base * (above[run] + at_least[run]), y_base * (stop - start[run])
            for r in range(BLOCK):
                if x.totals[r] > 0 and y.totals[r] > 0:
                    # Twice the share of non-mated comparisons above, those as similar counted half.
                    lost = x_part + x.shrinkage * (half[r] + x_sums[r]) / x.totals[r]
                    share = y_part + y.shrinkage * y_sums[r] / y.totals[r]
                    values[k, r] -= share * lost / 2
                else:
                    values[k, r] = np.nan
            position, stop = at_least[run], start[run]
            run += 1
        if y.a.size == 0:
            for r in range(BLOCK):
                values[k, r] = np.nan


@jit
def moments(side, scores, values):
    """Compute the mean and the mean square of the scores of each of the first lists in each
    replicate.

    side: a `Side`; scores: (n,) float64, of all lists; values: (2, lists, 64) float64, out, NaN
    where the class has no weight
    """
    weighted = np.empty((2, BLOCK))
    first = np.int64(0)
    for k in range(values.shape[1]):
        part = list_of(side, k)
        base, plain, squared = _share_of_one(part), 0.0, 0.0
        for r in range(BLOCK):
            weighted[0, r] = weighted[1, r] = 0.0
        for p in range(part.a.size):
            score = scores[first + p]
            plain += score
            squared += score * score
            a, b = part.weights[part.a[p]], part.weights[part.b[p]]
            for r in range(BLOCK):
                of_score = np.float64(np.int64(a[r]) * np.int64(b[r])) * score
                weighted[0, r] += of_score
                weighted[1, r] += of_score * score
        first += part.a.size
        for r in range(BLOCK):
            if part.totals[r] > 0:
                scale = part.shrinkage / part.totals[r]
                values[0, k, r] = base * plain + scale * weighted[0, r]
                values[1, k, r] = base * squared + scale * weighted[1, r]
            else:
                values[0, k, r] = values[1, k, r] = np.nan
