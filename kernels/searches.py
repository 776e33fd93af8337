"""Keep of each search what identification needs: the mate's score, its rank, and the best few other candidates."""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def keep_candidates(scores, mate, mate_score, rank, best, who):
    """Find the mate's score and rank, and the best other candidates, of some searches.

    scores: (searches, enrolled) float32 or float64; mate: (searches,) int32, the mate's column, -1 for none;
    mate_score: (searches,) float64, rank: (searches,) int64, best: (searches, k) float64, who: (searches, k) int32, out

    Of equal scores the mate's comes last, and of others that of the earlier column first. Where no mate is enrolled,
    its score is -inf and its rank 0; where there are fewer than k others, they have the score -inf and the column -1.
    Returns the first search with a score that is NaN or infinite, -1 where there is none.
    """
    k = best.shape[1]
    for s in range(scores.shape[0]):
        row, own = scores[s], mate[s]
        mate_score[s] = row[own] if own >= 0 else -np.inf
        if not mate_score[s] < np.inf:
            return s
        limit = mate_score[s] if own >= 0 else np.inf
        best[s, :] = -np.inf
        who[s, :] = -1
        outranking, worst, cut = 0, -np.inf, -np.inf
        for j in range(row.size):
            score = row[j]
            if score < cut or j == own:  # as nearly all; what is not a number goes on
                continue
            if not score < np.inf:
                return s
            if score >= limit:
                outranking += 1
            if score > worst:
                p = k - 1
                while p > 0 and best[s, p - 1] < score:
                    best[s, p], who[s, p] = best[s, p - 1], who[s, p - 1]
                    p -= 1
                best[s, p], who[s, p] = score, j
                worst = best[s, k - 1]
                cut = min(limit, worst)
        rank[s] = 1 + outranking if own >= 0 else 0
    return -1
