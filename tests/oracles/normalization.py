"""Score normalisation, comparison by comparison, with lists of the cohort's scores that each is
seen among."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

Row = tuple[float, bool, Any, Any, Any, Any]  # score, mated, reference, probe and their groups


def normalised(rows: Sequence[Row], cohort: Sequence[Row], method: str, by: str) -> list[float]:
    """Return the scores in standard deviations of the cohort's non-mated scores of the subject, or
    within the group."""

    def one(score: float, own: Any, group: Any) -> float:
        among = []
        for value, mated, first, second, group_1, group_2 in cohort:
            belongs = own in (first, second) if by == "subject" else group_1 == group_2 == group
            if belongs and not mated:
                among.append(value)
        return (score - statistics.mean(among)) / statistics.stdev(among)

    found = []
    for score, _, reference, probe, group_1, group_2 in rows:
        z, t = one(score, reference, group_1), one(score, probe, group_2)
        found.append({"z": z, "t": t, "s": (z + t) / 2}[method])
    return found
