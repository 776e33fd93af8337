"""Identification in plain loops: counts of errors, people left out one by one, and all smaller galleries."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

Scores = Sequence[Sequence[float]]


def is_error(
    scores: Sequence[float], own: int | None, threshold: float, rank: int | None, gallery: Sequence[int]
) -> int:
    """Tell whether a search of some columns is wrong: someone at the threshold, or not the mate among the first few."""
    if own is None:
        return int(any(scores[e] >= threshold for e in gallery))
    ahead = sum(scores[e] >= scores[own] for e in gallery if e != own)
    return int(scores[own] < threshold or (rank is not None and ahead >= rank))


def mates(probe: Sequence[Any], enrolled: Sequence[Any]) -> list[int | None]:
    """Return the column of each search's mate."""
    return [list(enrolled).index(person) if person in enrolled else None for person in probe]


def rate(
    scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], mated: bool, threshold: float, rank: int | None,
    size: int | None = None,
) -> float:  # fmt: skip
    """Return the rate of errors, over all galleries of a size; the mate is in each."""
    errors = []
    for row, own in zip(scores, mates(probe, enrolled), strict=True):
        if (own is not None) != mated:
            continue
        others = [e for e in range(len(enrolled)) if e != own]
        n = (len(enrolled) if size is None else size) - mated
        found = [is_error(row, own, threshold, rank, chosen) for chosen in itertools.combinations(others, n)]
        errors.append(sum(found) / len(found))
    return sum(errors) / len(errors)


def selectivity(scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], threshold: float) -> float:
    """Return the mean number of candidates of searches without a mate."""
    rows = [row for row, own in zip(scores, mates(probe, enrolled), strict=True) if own is None]
    return sum(sum(score >= threshold for score in row) for row in rows) / len(rows)


def lost_without(
    scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], mated: bool, threshold: float, rank: int | None
) -> list[list[int]]:
    """Return for each search of a kind, and each enrolled person, whether its error goes with the person."""
    found = []
    for row, own in zip(scores, mates(probe, enrolled), strict=True):
        if (own is not None) != mated:
            continue
        everyone = list(range(len(enrolled)))
        error = is_error(row, own, threshold, rank, everyone)
        found.append([
            0 if e == own else error - is_error(row, own, threshold, rank, [f for f in everyone if f != e])
            for e in everyone
        ])  # fmt: skip
    return found


def variance(
    scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], mated: bool, threshold: float, rank: int | None,
    drawn: bool,
) -> float:  # fmt: skip
    """Return the variance of a rate from the influence of each person, as a probe and as an enrolled one."""
    whose = [p for p, own in zip(probe, mates(probe, enrolled), strict=True) if (own is not None) == mated]
    errors = [
        is_error(row, own, threshold, rank, range(len(enrolled)))
        for row, own in zip(scores, mates(probe, enrolled), strict=True)
        if (own is not None) == mated
    ]
    n, mean = len(errors), sum(errors) / len(errors)
    lost = lost_without(scores, probe, enrolled, mated, threshold, rank)
    probed, people = sorted(set(whose)), sorted({*whose, *enrolled})
    own_part = {k: sum(e - mean for e, p in zip(errors, whose, strict=True) if p == k) / n for k in people}
    fixed = sum(part**2 for part in own_part.values()) * len(probed) / max(len(probed) - 1, 1)
    least = sum((e - mean) ** 2 for e in errors) / n**2
    if not drawn:
        return max(fixed, least)
    received = {e: sum(row[list(enrolled).index(e)] for row in lost) / n for e in enrolled}
    average = sum(received.values()) / len(enrolled)
    whole = {k: own_part[k] + (received[k] - average if k in received else 0.0) for k in people}
    pairs: dict[tuple[Any, Any], float] = {}
    for p, row in zip(whose, lost, strict=True):
        for e, one in zip(enrolled, row, strict=True):
            pair = (min(p, e), max(p, e))
            pairs[pair] = pairs.get(pair, 0.0) + one / n
    beyond = (
        sum(v**2 for v in whole.values()) - sum(v**2 for v in own_part.values()) - sum(v**2 for v in pairs.values())
    )
    return max(fixed + max(beyond, 0.0), least)


def returns_someone_of(
    scores: Sequence[float], threshold: float, is_of_group: Sequence[bool], gallery: Sequence[int]
) -> int:
    """Tell whether the best candidate is of a group; of equal scores that of the earlier column."""
    best = max(gallery, key=lambda e: (scores[e], -e), default=None)
    return int(best is not None and scores[best] >= threshold and is_of_group[best])


def returned_without(
    scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], threshold: float, is_of_group: Sequence[bool]
) -> tuple[list[int], list[list[int]]]:
    """Return which non-mated searches return someone of a group, and what changes without each enrolled person."""
    everyone = list(range(len(enrolled)))
    rows = [row for row, own in zip(scores, mates(probe, enrolled), strict=True) if own is None]
    found = [returns_someone_of(row, threshold, is_of_group, everyone) for row in rows]
    lost = [
        [one - returns_someone_of(row, threshold, is_of_group, [f for f in everyone if f != e]) for e in everyone]
        for row, one in zip(rows, found, strict=True)
    ]
    return found, lost
