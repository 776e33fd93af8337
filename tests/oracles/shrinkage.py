"""The slow, obvious oracle of shrunken rates: every law weighed on its own, quantiles by a root of
the mixture."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from scipy.optimize import brentq

N_MEANS, N_SHARES = 49, 24


def shrink(
    errors: list[int], n: list[int], level: float
) -> list[tuple[float, float, float, float]]:
    """Return shrunken rate, low, high and the share borrowed for each group of whole numbers of
    errors and trials."""
    about = [(x + 0.5) / (m + 1) for x, m in zip(errors, n, strict=True)]
    low, high = (math.log(p / (1 - p)) for p in (min(about), max(about)))
    low, high = low - math.log(4), high + math.log(4)
    harmonic = len(n) / sum(1 / m for m in n)
    laws, roots = [], []
    for i in range(N_MEANS):
        mean = 1 / (1 + math.exp(-(low + (high - low) * i / (N_MEANS - 1))))
        for j in range(N_SHARES):
            share = ((j + 0.5) / N_SHARES) ** 2
            size = share / (1 - share) * harmonic
            a, b = mean * size, (1 - mean) * size
            laws.append((a, b))
            roots.append(0.5 * math.log(share))
    chances = [
        stats.betabinom.logpmf(x, m, *np.array(laws).T) for x, m in zip(errors, n, strict=True)
    ]
    logs = (np.array(roots) + sum(chances)).tolist()
    weights = [math.exp(one - max(logs)) for one in logs]
    total = sum(weights)
    kept = [(w / total, *law) for w, law in zip(weights, laws, strict=True) if w / total > 1e-5]
    found = []
    weight, a, b = (np.array(values) for values in zip(*kept, strict=True))
    weight /= weight.sum()
    for x, m in zip(errors, n, strict=True):
        law = stats.beta(a + x, b + m - x)
        ends = [
            brentq(
                lambda rate, law=law, share=share: float(weight @ law.cdf(rate)) - share,
                0,
                1,
                xtol=1e-9,
            )
            for share in ((1 - level) / 2, (1 + level) / 2)
        ]
        found.append((float(weight @ law.mean()), *ends, float(weight @ ((a + b) / (a + b + m)))))
    return found
