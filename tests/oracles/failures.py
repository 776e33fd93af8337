"""Rates where comparisons failed, as loops from the definitions of ISO/IEC 19795-1. None is the
score of a failed one.

A failed comparison is accepted at no threshold: thresholds are scores, and the next float above the
highest.
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
    """FAR and FRR at the strictest threshold whose FRR does not exceed a rate; None where there is
    none."""
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


def failures_and_attempts(rows: list[tuple[bool, str]], rate: str) -> dict[str, tuple[int, int]]:
    """The failed and all attempts of each subject, of rows that tell whether an attempt failed, and
    whose it was.

    rate: "fta", where every row is one acquisition; "fte", where a subject has one enrolment, which
    fails if no row of the subject is without failure.
    """
    found = {}
    for name in sorted({who for _, who in rows}):
        mine = [failed for failed, who in rows if who == name]
        found[name] = (sum(mine), len(mine)) if rate == "fta" else (int(False not in mine), 1)
    return found
