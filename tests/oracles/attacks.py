"""Rates of attacks in plain loops."""

from __future__ import annotations


def share_passed(attacks, threshold, species=None, people=None, *, distance=False):
    """Return the share of attacks that pass: rows are (species, person, score)."""
    n = passed = 0
    for of, person, score in attacks:
        if species is not None and of != species:
            continue
        if people is not None and person not in people:
            continue
        n += 1
        passed += score <= threshold if distance else score >= threshold
    return passed / n
