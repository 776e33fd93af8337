"""The slow, obvious oracle of intervals of rates without errors: the design effect of the nearest
laxer threshold."""

from __future__ import annotations

from collections.abc import Hashable

from oracles.resampling import Dyad, dyadic_variance

Scored = tuple[
    float, Hashable, Hashable
]  # a similarity, and the subjects: the second is None where mated


def _one_way_variance(
    dyads: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> float:
    """sum_s K_s / (K_s - 1) sum_k (T_k - mean T)^2 / n^2."""
    rate = sum(error for error, _, _ in dyads) / len(dyads)
    total = 0.0
    for stratum, size in sizes.items():
        sums = [
            sum(e - rate for e, a, _ in dyads if a == k) for k in strata if strata[k] == stratum
        ]
        if size > 1:
            mean = sum(sums) / size
            total += size / (size - 1) * sum((t - mean) ** 2 for t in sums)
    return total / len(dyads) ** 2


def independent_comparisons(
    scored: list[Scored],
    mated: bool,
    ones: bool,
    strata: dict[Hashable, Hashable],
    sizes: dict[Hashable, int],
) -> float:
    """n over the design effect, at the nearest threshold with comparisons of five pairs (subjects)
    in error."""
    n = len(scored)
    errors_are_low = mated != ones  # the rare ones: errors, or where the rate is 1 what is none
    for threshold in sorted({score for score, _, _ in scored}, reverse=not errors_are_low):
        rare = [s <= threshold if errors_are_low else s >= threshold for s, _, _ in scored]
        pairs = {
            frozenset((a, b)) for is_rare, (_, a, b) in zip(rare, scored, strict=True) if is_rare
        }
        if len(pairs) >= 5 and not all(rare):
            dyads = [(int(is_rare), a, b) for is_rare, (_, a, b) in zip(rare, scored, strict=True)]
            two_way = any(
                b is not None and sizes[strata[a]] > 1 and sizes[strata[b]] > 1 for _, a, b in dyads
            )
            variance = (dyadic_variance if two_way else _one_way_variance)(dyads, strata, sizes)
            rate = sum(rare) / n
            effect = variance / (rate * (1 - rate) / n)
            return min(n, max(1, n / effect)) if effect > 1 else n
    subjects = {k for _, a, b in scored for k in (a, b) if k is not None and sizes[strata[k]] > 1}
    return min(n, max(1, len(subjects) if mated else len(subjects) // 2))
