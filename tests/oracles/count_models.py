"""The slow, obvious oracle of how numbers of errors of groups vary, and of where the way from fair
to unfair starts."""

from __future__ import annotations

import math
from collections.abc import Hashable

Compared = tuple[int, Hashable, Hashable]  # 1 for an error, and the two subjects


def _by_pair(group: list[Compared]) -> dict[frozenset[Hashable], list[int]]:
    pairs: dict[frozenset[Hashable], list[int]] = {}
    for error, a, b in group:
        pairs.setdefault(frozenset((a, b)), []).append(error)
    return pairs


def of_false_matches(groups: list[list[Compared]]) -> tuple[list[float], list[float]]:
    """Linear terms c sum m (m - 1) / n and quadratic terms kappa M; c and kappa are those of all
    groups.

    M and the covariance behind kappa run over ordered two comparisons that share one subject, c
    over those of a pair.
    """
    covariance = relative = 0.0
    both = either = 0
    sharing = []
    for group in groups:
        rate = sum(error for error, _, _ in group) / len(group)
        alike = 0
        for one, (e, a, b) in enumerate(group):
            for other, (f, c, d) in enumerate(group):
                shared = len({a, b} & {c, d})
                if one != other and shared == 1:
                    alike += 1
                    covariance += (e - rate) * (f - rate)
                if one != other and shared == 2:
                    both += e * f
                    either += e
        sharing.append(alike)
        relative += rate**2 * alike
    kappa = max(0.0, covariance / relative) if relative > 0 else 0.0
    again = both / either if either else 0.0
    linear = [
        again
        * sum(len(errors) * (len(errors) - 1) for errors in _by_pair(group).values())
        / len(group)
        for group in groups
    ]
    return linear, [kappa * alike for alike in sharing]


def of_false_nonmatches(groups: list[list[Compared]]) -> list[float]:
    """(sum m^2 / n - 1) times the intra-class correlation of all groups, that of two attempts of a
    subject."""
    products = largest = 0.0
    for group in groups:
        rate = sum(error for error, _, _ in group) / len(group)
        for attempts in _by_pair(group).values():
            for one, e in enumerate(attempts):
                for other, f in enumerate(attempts):
                    if one != other:
                        products += (e - rate) * (f - rate)
                        largest += rate * (1 - rate)
    correlation = min(1.0, max(0.0, products / largest)) if largest > 0 else 0.0
    return [
        (sum(len(attempts) ** 2 for attempts in _by_pair(group).values()) / len(group) - 1)
        * correlation
        for group in groups
    ]


def start(errors: list[int], comparisons: list[int]) -> list[float]:
    """(x + 1/2) / (n + 1 / (2 p)), at most 1."""
    p = sum(errors) / sum(comparisons)
    return [min(1.0, (x + 0.5) / (n + 0.5 / p)) for x, n in zip(errors, comparisons, strict=True)]


def along(
    rates: list[float], power: float, errors: list[int], comparisons: list[int]
) -> list[float]:
    """Raise the ratios to the geometric mean to a power, with as many errors expected in all as
    there are."""
    m = math.prod(rates) ** (1 / len(rates))
    moved = [m * (x / m) ** power for x in rates]
    expected = sum(x * n for x, n in zip(moved, comparisons, strict=True))
    return [min(1.0, x * sum(errors) / expected) for x in moved]
