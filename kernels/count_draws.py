"""Numbers of errors of groups, drawn by inversion from beta-binomial distributions at the same
uniform numbers for all.

A gamma-Poisson distribution is the limit of a beta-binomial one of infinitely many comparisons.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit

_NOTHING = 1e-18  # of the largest probability, below which no other counts


@helper
def _ratio(k, n, a, b):
    """Divide the probability of k + 1 errors by that of k."""
    return (n - k) * (k + a) / ((k + 1.0) * (n - k - 1.0 + b))


@jit
def draw_counts(uniform, order, trials, a, b, out):
    """Draw numbers of errors that increase with the uniform numbers.

    uniform: (g, r), sorted in each group; order: (g, r) int64, the replicates of them; trials:
    (g,), of comparisons; a, b: (g, m), the parameters of the beta distributions, above 0; out: (g,
    m, r)
    """
    for g in range(a.shape[0]):
        n = trials[g]
        for m in range(a.shape[1]):
            alpha, beta = a[g, m], b[g, m]
            start = np.floor(n * (alpha / (alpha + beta)))
            # From the mean down and up to where probabilities, as multiples of that of the mean, no
            # longer count.
            low, share, total, largest = start, 1.0, 1.0, 1.0
            while low > 0.0 and share > _NOTHING * largest:
                low -= 1.0
                share /= _ratio(low, n, alpha, beta)
                total += share
                if share > largest:
                    largest = share
            lowest, high, share = share, start, 1.0
            while high < n and share > _NOTHING * largest:
                share *= _ratio(high, n, alpha, beta)
                high += 1.0
                total += share
                if share > largest:
                    largest = share
            count, share, below = low, lowest, lowest
            for r in range(uniform.shape[1]):
                while below < uniform[g, r] * total and count < high:
                    share *= _ratio(count, n, alpha, beta)
                    count += 1.0
                    below += share
                out[g, m, order[g, r]] = count
