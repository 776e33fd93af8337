"""Keep of each search what identification needs: the mate's score, its rank, and the best few other
candidates.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit
from .bit_masks import TOGETHER, lowest, reaching
from .dot_products import multiply_row


@helper
def _insert(best, who, score, column):
    """Put a score among the best, descending, behind those that equal it; the last leaves. best,
    who: (k,), out.
    """
    p = best.size - 1
    while p > 0 and best[p - 1] < score:
        best[p], who[p] = best[p - 1], who[p - 1]
        p -= 1
    best[p], who[p] = score, column


@jit
def keep_candidates(scores, mate, mate_score, rank, best, who):
    """Find the mate's score and rank, and the best other candidates, of some searches.

    scores: (searches, enrolled) float32 or float64; mate: (searches,) int32, the mate's column, -1
    for none; mate_score: (searches,) float64, rank: (searches,) int64, best: (searches, k) float64,
    who: (searches, k) int32, out

    Of equal scores the mate's comes last, and of others that of the earlier column first. Where no
    mate is enrolled, its score is -inf and its rank 0; where there are fewer than k others, they
    have the score -inf and the column -1. Returns the first search with a score that is NaN or
    infinite, -1 where there is none.
    """
    k = best.shape[1]
    for s in range(scores.shape[0]):
        row, mate_of_search = scores[s], mate[s]
        mate_score[s] = row[mate_of_search] if mate_of_search >= 0 else -np.inf
        if not mate_score[s] < np.inf:
            return s
        limit = mate_score[s] if mate_of_search >= 0 else np.inf
        best[s, :] = -np.inf
        who[s, :] = -1
        outranking, worst, cut = 0, -np.inf, -np.inf
        for j in range(row.size):
            score = row[j]
            if score < cut or j == mate_of_search:  # as nearly all; what is not a number goes on
                continue
            if not score < np.inf:
                return s
            if score >= limit:
                outranking += 1
            if score > worst:
                _insert(best[s], who[s], score, j)
                worst = best[s, k - 1]
                cut = min(limit, worst)
        rank[s] = 1 + outranking if mate_of_search >= 0 else 0
    return -1


@jit
def keep_by_products(scores, vectors, apart, mate, kept):
    """Do what `keep_candidates` does, for scores of vectors, by products whose sums have one order.

    scores: (searches, enrolled) float32 or float64, finite, products whose sums have any order;
    vectors: probes (searches, d), templates (templates, d) sorted by person, and begin (enrolled +
    1,) int64, where each person's templates begin; apart: (searches,) float64, how far two products
    of the same vectors may be apart; mate: as in `keep_candidates`; kept: the mate's score, rank,
    best and who, as there, out

    Only scores that may be among the best, or as high as the mate's, are computed again: for all
    others any order of sums gives the same rank and the same candidates.
    """
    (probes, templates, begin), (mate_score, rank, best, who) = vectors, kept
    width, k = scores.shape[1], best.shape[1]
    listed, bound = np.empty(width, np.int64), np.empty(1, scores.dtype)
    chosen, product = (
        np.empty(templates.shape[0] + 3, np.int64),
        np.empty(templates.shape[0] + 3, scores.dtype),
    )
    for s in range(scores.shape[0]):
        row, mate_of_search, slack = scores[s], mate[s], 2 * apart[s]
        limit = np.inf
        if mate_of_search >= 0:
            size = begin[mate_of_search + 1] - begin[mate_of_search]
            for t in range(size):
                chosen[t] = begin[mate_of_search] + t
            multiply_row(probes, s, templates, chosen, size, product)
            limit = np.float64(_largest(product, 0, size))
        mate_score[s] = limit if mate_of_search >= 0 else -np.inf

        # List who may be among the best, or outrank the mate.
        best[s, :] = -np.inf
        worst, n_listed, start = -np.inf, 0, 0
        bound[0] = -np.inf
        while start < width:
            mask = np.int64(0)
            if start + TOGETHER <= width:
                mask = reaching(row, start, bound[0])
            else:
                for j in range(start, width):
                    mask |= np.int64(row[j] >= bound[0]) << np.int64(j - start)
            while mask != 0:  # hardly any, once the best are at hand
                j = start + lowest(mask)
                mask &= mask - 1  # without its lowest bit
                if j == mate_of_search:
                    continue
                listed[n_listed] = j
                n_listed += 1
                if row[j] > worst:
                    _insert(best[s], who[s], np.float64(row[j]), j)
                    worst = best[s, k - 1]
                    bound[0] = min(limit, worst) - slack
            start += TOGETHER

        # Compute again what decides; of all others, count those above the mate.
        n_deciding, n_chosen, outranking = 0, 0, 0
        for p in range(n_listed):
            j = listed[p]
            score = np.float64(row[j])
            if score >= worst - slack or abs(score - limit) <= slack:
                listed[n_deciding] = j
                n_deciding += 1
                for t in range(begin[j], begin[j + 1]):
                    chosen[n_chosen] = t
                    n_chosen += 1
            elif score > limit:
                outranking += 1
        multiply_row(probes, s, templates, chosen, n_chosen, product)

        best[s, :] = -np.inf
        who[s, :] = -1
        start = 0
        for p in range(n_deciding):
            j = listed[p]
            stop = start + begin[j + 1] - begin[j]
            score = np.float64(_largest(product, start, stop))
            start = stop
            if score >= limit:
                outranking += 1
            if score > best[s, k - 1]:
                _insert(best[s], who[s], score, j)
        rank[s] = 1 + outranking if mate_of_search >= 0 else 0


@helper
def _largest(values, start, stop):
    """Return the largest of some values, at least one."""
    largest = values[start]
    for t in range(start + 1, stop):
        largest = max(largest, values[t])
    return largest
