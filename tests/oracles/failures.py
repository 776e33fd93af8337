"""Rates where comparisons failed, as loops from the definitions of ISO/IEC 19795-1. None is the score of a failed one.

A failed comparison is accepted at no threshold: thresholds are scores, and the next float above the highest.
"""

from __future__ import annotations

import math
from fractions import Fraction

Scores = list[float | None]


def failure_rate(scores: Scores) -> float:
    """The share of comparisons without a score."""
    return sum(score is None for score in scores) / len(scores) if scores else math.nan


def frr(mated: Scores, t: float) -> Fraction:
    """The share of all mated comparisons that failed or were rejected."""
    return Fraction(sum(score is None or score < t for score in mated), len(mated))


def far(nonmated: Scores, t: float) -> Fraction:
    """The share of all non-mated comparisons that have a score and were accepted."""
    return Fraction(sum(score is not None and score >= t for score in nonmated), len(nonmated))


def thresholds(mated: Scores, nonmated: Scores) -> list[float]:
    """The distinct scores, ascending, and a threshold above all of them."""
    known = sorted({score for score in (*mated, *nonmated) if score is not None})
    return [*known, math.nextafter(known[-1], math.inf)]


def roc(mated: Scores, nonmated: Scores) -> list[tuple[float, Fraction, Fraction]]:
    """Threshold, FAR and FRR at every threshold."""
    return [(t, far(nonmated, t), frr(mated, t)) for t in thresholds(mated, nonmated)]


def at_far(mated: Scores, nonmated: Scores, rate: float) -> tuple[Fraction, Fraction]:
    """FAR and FRR at the least strict threshold whose FAR does not exceed a rate."""
    return next((x, y) for _, x, y in roc(mated, nonmated) if float(x) <= rate)


def at_frr(mated: Scores, nonmated: Scores, rate: float) -> tuple[Fraction, Fraction] | None:
    """FAR and FRR at the strictest threshold whose FRR does not exceed a rate; None where there is none."""
    held = [(x, y) for _, x, y in roc(mated, nonmated) if float(y) <= rate]
    return held[-1] if held else None


def eer(mated: Scores, nonmated: Scores) -> Fraction:
    """The mean of FAR and FRR at the least strict threshold at which they are nearest."""
    points = roc(mated, nonmated)
    least = min(abs(x - y) for _, x, y in points)
    return next((x + y) / 2 for _, x, y in points if abs(x - y) == least)


def min_dcf(mated: Scores, nonmated: Scores, miss: float, false_match: float) -> float:
    """The least of miss * FRR + false_match * FAR."""
    return min(miss * float(y) + false_match * float(x) for _, x, y in roc(mated, nonmated))


def failed_samples(pairs: list[tuple[str, str, bool]]) -> tuple[dict[str, bool | None], dict[str, bool | None]]:
    """Whether each reference failed to be enrolled, and each probe to be acquired; None where it cannot be told.

    pairs: the reference and the probe of each comparison, and whether it failed. A reference failed if all of its
    comparisons did, one of them with a probe that has a score elsewhere. One whose comparisons all failed, each with a
    probe all of whose comparisons failed, cannot be told from its probes. So it is with probes.
    """
    found = []
    for own, other in ((0, 1), (1, 0)):
        states: dict[str, bool | None] = {}
        for name in sorted({pair[own] for pair in pairs}):
            mine = [pair for pair in pairs if pair[own] == name]
            if not all(pair[2] for pair in mine):
                states[name] = False
                continue
            scored = any(not pair[2] for one in mine for pair in pairs if pair[other] == one[other])
            states[name] = True if scored else None
        found.append(states)
    return found[0], found[1]
