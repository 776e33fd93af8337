"""Rules that verdicts of several pages are decided by."""

from __future__ import annotations

from typing import Literal

Outcome = Literal["holds", "in part", "fails", "open"]


def by_count(n_true: int, total: int) -> Outcome:
    """Decide by how many of some statements are true: all, some or none."""
    if n_true in (0, total):
        return "holds" if n_true else "fails"
    return "in part"
