"""Rules that verdicts of several pages are decided by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Outcome = Literal["holds", "in part", "fails", "open"]


def by_count(n_true: int, total: int) -> Outcome:
    """Decide by how many of some statements are true: all, some or none; nothing can be told where
    there are none.
    """
    if not total:
        return "open"
    return "holds" if n_true == total else "in part" if n_true else "fails"


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Join the outcomes of parts of a claim, or of one claim in several cases."""
    kinds = set(outcomes)
    return kinds.pop() if len(kinds) == 1 else "in part" if kinds else "open"
