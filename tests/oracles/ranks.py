"""Slow and plain: which ranks tests of all pairs of systems leave possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import permutations

from .resampling import holm

Pair = tuple[int, int]


def adjusted(pvalues: Mapping[object, float]) -> dict[object, float]:
    """Holm's adjustment of what is not NaN."""
    known = {key: p for key, p in pvalues.items() if not math.isnan(p)}
    return dict.fromkeys(pvalues, math.nan) | dict(
        zip(known, holm(list(known.values())), strict=True)
    )


def is_shown_better(
    estimates: list[float], pvalues: Mapping[Pair, float], level: float, one: int, other: int
) -> bool:
    p = pvalues.get((one, other), pvalues.get((other, one), math.nan))
    return estimates[one] < estimates[other] and p <= level


def ranks(
    estimates: list[float], pvalues: Mapping[Pair, float], level: float
) -> list[tuple[int, int, int]]:
    """Rank, best rank and worst rank of each system; lower estimates are better."""
    found = []
    for k in range(len(estimates)):
        others = [n for n in range(len(estimates)) if n != k]
        rank = 1 + sum(estimates[n] < estimates[k] for n in others)
        best = 1 + sum(is_shown_better(estimates, pvalues, level, n, k) for n in others)
        worst = len(estimates) - sum(
            is_shown_better(estimates, pvalues, level, k, n) for n in others
        )
        found.append((rank, best, worst))
    return found


def orders(
    estimates: list[float], pvalues: Mapping[Pair, float], level: float
) -> Iterator[tuple[int, ...]]:
    """All orders of the systems, best first, that contradict nothing that is shown."""
    n = len(estimates)
    for order in permutations(range(n)):
        pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
        if not any(
            is_shown_better(estimates, pvalues, level, later, earlier) for earlier, later in pairs
        ):
            yield order
