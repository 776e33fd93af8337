"""Comparisons that failed: a sample could not be acquired or enrolled, so they have no score.

Where they count as non-matches they lie among the others, with a key below those of all scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning, InputError

from . import score_keys
from .sorted_scores import SortedSide


@dataclass(frozen=True, eq=False)
class FailedComparisons:
    """The comparisons that failed.

    Attributes
    ----------
    mated, nonmated : SortedSide
        Who was compared in them; all keys are that of no score.
    policy : {"exclude", "non-match"}
        Whether they are left out of `Comparisons.mated` and `Comparisons.nonmated`, or are among them.
    reported : bool
        Whether evaluations report how often comparisons failed.
    """

    mated: SortedSide
    nonmated: SortedSide
    policy: str
    reported: bool = True

    @property
    def sides(self) -> tuple[SortedSide, SortedSide]:
        """Those of mated and those of non-mated comparisons."""
        return self.mated, self.nonmated

    @property
    def n(self) -> int:
        """Their number."""
        return len(self.mated) + len(self.nonmated)

    def __str__(self) -> str:
        treated = "left out" if self.policy == "exclude" else "counted as non-matches"
        return f"{self.n} failed and {treated}"


def parted(sides: list[SortedSide], policy: str) -> tuple[list[SortedSide], FailedComparisons]:
    """Find the failed comparisons, which lie before all others, and take them out where they are to be left out."""
    numbers = [score_keys.count_failed(side.keys) for side in sides]
    failed = [side.take(np.arange(n)) for side, n in zip(sides, numbers, strict=True)]
    if policy == "exclude":
        if any(numbers):
            warn(
                f"{sum(numbers)} of {sum(map(len, sides))} comparisons left out, as they failed: {numbers[0]} mated "
                f"and {numbers[1]} non-mated",
                DroppedWarning,
            )
        sides = [side.take(np.arange(n, len(side))) for side, n in zip(sides, numbers, strict=True)]
    return sides, FailedComparisons(failed[0], failed[1], policy)


def require_scores(failed: FailedComparisons | None, what: str, instead: str) -> None:
    """Refuse what needs the score of every comparison where failed ones count as non-matches."""
    if failed is not None and failed.policy == "non-match" and failed.n:
        raise InputError(
            f"{what} needs the score of every comparison, but {failed.n} failed and count as non-matches: {instead}"
        )
