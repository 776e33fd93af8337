"""The words that pages explain: terms, and how intervals are made."""

from __future__ import annotations

import re

from fastfair.measures._registry import MEASURES, METRICS

_TERMS = (
    ("mated, non-mated", "A comparison of two samples of the same person; of two people."),
    ("FTA and FTE", "Failure-to-acquire and failure-to-enrol rate: shares of samples, and of references, that failed."),
    ("operating point", "What fixes the threshold, such as an FMR of 0.1 % over all comparisons."),
    ("DET curve", "FNMR over FMR at all thresholds, on scales of normal deviates. Lower is better."),
    ("interval", "The plausible range for similar people: in about 95 of 100 studies it holds the true value."),
    ("simultaneous intervals", "Wider ones that hold for all groups together in about 95 of 100 studies."),
    ("effective sample size", "The number of independent comparisons that would be as informative."),
    ("fewer than 30 errors", "The rule of 30: so few errors say little about a rate. Such rates are in italics."),
    ("undecided", "The data show neither that a requirement is met nor that it is not."),
    ("fair value", "The value of a measure for a system whose groups have equal rates."),
)
METHOD = (
    "Intervals tell how far numbers may be off because other people could have been in the data. They allow for "
    "comparisons that share people, but not for wrong labels, for errors that are alike on one day or device, or for "
    "use under other conditions.",
    "Groups are those of the labels given. Rates may differ within a group.",
    "This page states differences and how certain they are. It does not judge fairness.",
)


def glossary(numbers: str) -> list[tuple[str, str]]:
    """Return terms with their meanings, and the rates, costs and measures that numbers, as JSON, name."""
    named = set(re.findall(r'"(\w+)', numbers))
    found = [one for one in (METRICS | MEASURES).values() if one.name in named and one.question]
    return [*_TERMS, *((one.title, ": ".join(filter(None, (one.long_title, one.question)))) for one in found)]
