"""Slow, obvious oracles of error rates after discarding comparisons of low quality."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def cut(quality: Sequence[float], share: float) -> float:
    """Return the largest quality that at most a share of the values is below."""
    found = min(quality)
    for level in sorted(set(quality)):
        if sum(one < level for one in quality) / len(quality) <= share:
            found = level
    return found


def rate_above(quality: Sequence[float], wrong: Sequence[bool], at_least: float) -> tuple[int, int]:
    """Return the numbers of errors and of comparisons of at least a quality."""
    kept = [bad for one, bad in zip(quality, wrong, strict=True) if one >= at_least]
    return sum(kept), len(kept)


def area(
    quality: Sequence[float],
    wrong: Sequence[bool],
    inside: Sequence[bool],
    limit: Fraction,
    weights: Sequence[Fraction] | None = None,
) -> Fraction | None:
    """Integrate the rate of those inside over the share discarded of all, level by level.

    Comparisons may weigh more or less than one. Returns None where nothing of the group is left.
    """
    weights = [Fraction(1)] * len(quality) if weights is None else weights
    rows = list(zip(quality, wrong, inside, weights, strict=True))
    total, found, start = sum(weights), Fraction(0), Fraction(0)
    for level in sorted(set(quality)):
        end = min(sum((w for q, _, _, w in rows if q <= level), Fraction(0)) / total, limit)
        if end > start:
            kept = sum((w for q, _, here, w in rows if q >= level and here), Fraction(0))
            if not kept:
                return None
            errors = sum(
                (w for q, bad, here, w in rows if q >= level and here and bad), Fraction(0)
            )
            found += (end - start) * errors / kept
            start = end
    return found


def added(
    quality: Sequence[float], wrong: Sequence[bool], inside: Sequence[bool], limit: Fraction, c: int
) -> float:
    """Return what comparison c adds to the area: how it changes with the comparison's weight."""
    step = Fraction(1, 10**7)
    ends = []
    for sign in (1, -1):
        weights = [Fraction(1)] * len(quality)
        weights[c] += sign * step
        value = area(quality, wrong, inside, limit, weights)
        assert value is not None
        ends.append(value)
    return float((ends[0] - ends[1]) / (2 * step))
