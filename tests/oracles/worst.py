"""The errors at a threshold, found by looking at every comparison in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


def worst(
    scores: Sequence[float],
    mated: Sequence[bool],
    threshold: float,
    is_distance: bool,
    inside: Sequence[bool],
    n: int,
) -> list[tuple[str, int]]:
    """List the worst false non-matches and then the worst false matches, each with its row."""
    found = []
    for wanted, name in ((True, "false non-match"), (False, "false match")):
        errors = []
        for row, score in enumerate(scores):
            accepted = score <= threshold if is_distance else score >= threshold
            if bool(mated[row]) == wanted and accepted != wanted and inside[row]:
                errors.append((abs(score - threshold), row))
        errors.sort(key=lambda one: (-one[0], one[1]))
        found += [(name, row) for _, row in errors[:n]]
    return found


def involved(reference: Sequence[Any], probe: Sequence[Any], rows: Sequence[int]) -> Counter[Any]:
    """Count for each subject the comparisons of these rows that he takes part in."""
    counts: Counter[Any] = Counter()
    for row in rows:
        for subject in {reference[row], probe[row]}:
            counts[subject] += 1
    return counts
