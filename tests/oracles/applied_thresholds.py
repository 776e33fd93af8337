"""Slow, obvious oracles of thresholds that are found on other data."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from scipy import stats

Row = tuple[float, bool, Hashable, Hashable]  # score, mated, reference, probe
Residual = tuple[float, Hashable, Hashable]  # error minus rate over n, reference, probe


def law_of_rate(rate: float, spread: float, freedom: float, level: float) -> tuple[float, float]:
    """Return quantiles of a gamma law with a mean and a standard error of so many degrees of
    freedom.

    The upper one is the highest of all laws that are not wider, and the mean is between the two.
    """
    tail = (1 - level) / 2
    wider = (
        spread
        * stats.t.ppf(1 - tail, freedom)
        / stats.norm.ppf(1 - tail)
        * math.sqrt(1 + 1 / freedom)
    )
    shapes = (rate / wider) ** 2 * np.append(
        1.0, np.geomspace(1, max(1.0, 100 * wider / rate), 4_000)
    )
    highest = float(stats.gamma.ppf(1 - tail, shapes, scale=rate / shapes).max())
    lowest = float(stats.gamma.ppf(tail, shapes[0], scale=rate / shapes[0]))
    return min(lowest, rate), min(1.0, max(highest, rate))


def possible(rows: Sequence[Row], kind: str, rates: tuple[float, float]) -> list[float]:
    """Return the scores that the threshold may be at, or for an FMR next above, of those in the
    data.

    The rate there is at most what is held, and just beyond it is more, if both are as far off as
    chance takes them.
    """
    scores = [score for score, mated, _, _ in rows if mated == (kind == "fnmr")]
    few, many = (
        max(e for e in range(len(scores) + 1) if e / len(scores) <= rate) for rate in rates
    )
    found = []
    for s in sorted(set(scores)):
        if kind == "fmr":
            at, beyond = sum(one > s for one in scores), sum(one >= s for one in scores)
        else:
            at, beyond = sum(one < s for one in scores), sum(one <= s for one in scores)
        if at <= many and beyond >= few:
            found.append(s)
    if many >= len(scores):  # a laxer, or of an FNMR a stricter, one may do as well
        found.append(-math.inf if kind == "fmr" else math.inf)
    if few == 0:
        found.append(math.inf if kind == "fmr" else -math.inf)
    return found


def correlation(
    one: Sequence[Row], at: float, mated: bool, other: Sequence[Row], at_other: float, fnmr: bool
) -> float:
    """Return the correlation of two rates of two sets: over the subjects of both, less the pairs of
    both."""

    def residuals(rows: Sequence[Row], threshold: float, of_mated: bool) -> list[Residual]:
        inside = [row for row in rows if row[1] == of_mated]
        wrong = [(score < threshold) == of_mated for score, _, _, _ in inside]
        rate = sum(wrong) / len(wrong)
        return [
            ((w - rate) / len(wrong), a, b) for w, (_, _, a, b) in zip(wrong, inside, strict=True)
        ]

    def parts(first: list[Residual], second: list[Residual]) -> tuple[float, float]:
        pairs = several = 0.0
        for value, a, b in first:
            for another, c, d in second:
                if a != b and {a, b} == {c, d}:
                    pairs += value * another
                else:
                    several += value * another * len({a, b} & {c, d})
        return pairs, several

    first, second = residuals(one, at, mated), residuals(other, at_other, fnmr)
    (pairs, several), own, another = (
        parts(first, second),
        parts(first, first),
        parts(second, second),
    )
    least = max(0.0, own[1]), max(0.0, another[1])
    if not mated and not fnmr:
        most = math.sqrt(least[0] * least[1])
        several = min(most, max(-most, several))
    scale = math.sqrt((own[0] + least[0]) * (another[0] + least[1]))
    return min(1.0, max(-1.0, (pairs + several) / scale)) if scale > 0 else 0.0


def share_of_errors(rows: Sequence[Row], name: str, threshold: float) -> float:
    """Return the FMR or the FNMR at a threshold."""
    scores = [score for score, mated, _, _ in rows if mated == (name == "fnmr")]
    return sum((score < threshold) == (name == "fnmr") for score in scores) / len(scores)
