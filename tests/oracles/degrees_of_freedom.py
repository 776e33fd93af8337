"""The slow, obvious oracle of how certain a dyadic-robust variance is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

from oracles.resampling import (
    Dyad,
    _lost_share,
    _node_squares,
    _node_sum,
    _pair_sums,
    _residuals,
    _stratum_sums,
)


def degrees_of_freedom(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> float:
    """2 / (sum c^2 / (sum c)^2 - 1 / K - 1 / (2 x)), c_k = (T_k - mean T)^2 - q_k / 2, or q_k / 2
    at the floor of V.

    K nodes with comparisons that vary, x errors or, if they are fewer, comparisons without.
    Infinite where the denominator is not above 0, and where no pair varies twice.
    """
    pairs, residuals = _pair_sums(comparisons, strata, sizes), _residuals(comparisons)
    if not pairs:
        return math.inf
    robust = Fraction(0)
    names = [stratum for stratum, size in sizes.items() if size >= 2]
    for stratum, (_, spread, squares) in zip(
        names, _stratum_sums(comparisons, strata, sizes), strict=True
    ):
        left = 1 - _lost_share(comparisons, strata, sizes, stratum)
        if left > 0:
            robust += (spread - squares / 2) / left
    at_floor = robust <= sum((e**2 for e in pairs.values()), Fraction(0))
    contributions = []
    for stratum in names:
        inside = [k for k in strata if strata[k] == stratum]
        mean = (
            sum((_node_sum(comparisons, residuals, k) for k in inside), Fraction(0))
            / sizes[stratum]
        )
        for k in inside:
            if any(k in dyad[1:] for dyad in comparisons):
                own = _node_squares(pairs, k) / 2
                contributions.append(
                    own if at_floor else (_node_sum(comparisons, residuals, k) - mean) ** 2 - own
                )
    n_errors = sum(error for error, _, _ in comparisons)
    rarer = max(1, min(n_errors, len(comparisons) - n_errors))
    total = sum(contributions, Fraction(0))
    if total == 0:
        return math.inf
    ratio = sum((c**2 for c in contributions), Fraction(0)) / total**2
    left = ratio - Fraction(1, len(contributions)) - Fraction(1, 2 * rarer)
    return float(2 / left) if left > 0 else math.inf
