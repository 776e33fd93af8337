"""Identification in plain loops: counts of errors, people left out one by one, and all smaller
galleries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

Scores = Sequence[Sequence[float]]


def is_error(
    scores: Sequence[float],
    own: int | None,
    threshold: float,
    rank: int | None,
    gallery: Sequence[int],
) -> int:
    """Tell whether a search of some columns is wrong: someone at the threshold, or not the mate
    among the first few."""
    if own is None:
        return int(any(scores[e] >= threshold for e in gallery))
    ahead = sum(scores[e] >= scores[own] for e in gallery if e != own)
    return int(scores[own] < threshold or (rank is not None and ahead >= rank))


def mates(probe: Sequence[Any], enrolled: Sequence[Any]) -> list[int | None]:
    """Return the column of each search's mate."""
    return [list(enrolled).index(person) if person in enrolled else None for person in probe]


def rate(
    scores: Scores,
    probe: Sequence[Any],
    enrolled: Sequence[Any],
    mated: bool,
    threshold: float,
    rank: int | None,
    size: int | None = None,
) -> float:
    """Return the rate of errors, over all galleries of a size; the mate is in each."""
    errors = []
    for row, own in zip(scores, mates(probe, enrolled), strict=True):
        if (own is not None) != mated:
            continue
        others = [e for e in range(len(enrolled)) if e != own]
        n = (len(enrolled) if size is None else size) - mated
        found = [
            is_error(row, own, threshold, rank, chosen)
            for chosen in itertools.combinations(others, n)
        ]
        errors.append(sum(found) / len(found))
    return sum(errors) / len(errors)


def selectivity(
    scores: Scores, probe: Sequence[Any], enrolled: Sequence[Any], threshold: float
) -> float:
    """Return the mean number of candidates of searches without a mate."""
    rows = [row for row, own in zip(scores, mates(probe, enrolled), strict=True) if own is None]
    return sum(sum(score >= threshold for score in row) for row in rows) / len(rows)


def lost_without(
    scores: Scores,
    probe: Sequence[Any],
    enrolled: Sequence[Any],
    mated: bool,
    threshold: float,
    rank: int | None,
) -> list[list[int]]:
    """Return for each search of a kind, and each enrolled person, whether its error goes with the
    person."""
    found = []
    for row, own in zip(scores, mates(probe, enrolled), strict=True):
        if (own is not None) != mated:
            continue
        everyone = list(range(len(enrolled)))
        error = is_error(row, own, threshold, rank, everyone)
        found.append(
            [
                0
                if e == own
                else error - is_error(row, own, threshold, rank, [f for f in everyone if f != e])
                for e in everyone
            ]
        )
    return found


def variance(
    scores: Scores,
    probe: Sequence[Any],
    enrolled: Sequence[Any],
    mated: bool,
    threshold: float,
    rank: int | None,
    drawn: bool,
) -> float:
    """Return the variance of a rate from the influence of each person, as a probe and as an
    enrolled one."""
    whose = [
        p
        for p, own in zip(probe, mates(probe, enrolled), strict=True)
        if (own is not None) == mated
    ]
    errors = [
        is_error(row, own, threshold, rank, range(len(enrolled)))
        for row, own in zip(scores, mates(probe, enrolled), strict=True)
        if (own is not None) == mated
    ]
    n, mean = len(errors), sum(errors) / len(errors)
    lost = lost_without(scores, probe, enrolled, mated, threshold, rank)
    probed, people = sorted(set(whose)), sorted({*whose, *enrolled})
    own_part = {
        k: sum(e - mean for e, p in zip(errors, whose, strict=True) if p == k) / n for k in people
    }
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
        sum(v**2 for v in whole.values())
        - sum(v**2 for v in own_part.values())
        - sum(v**2 for v in pairs.values())
    )
    return max(fixed + max(beyond, 0.0), least)


def returns_someone_of(
    scores: Sequence[float], threshold: float, is_of_group: Sequence[bool], gallery: Sequence[int]
) -> int:
    """Tell whether the best candidate is of a group; of equal scores that of the earlier column."""
    best = max(gallery, key=lambda e: (scores[e], -e), default=None)
    return int(best is not None and scores[best] >= threshold and is_of_group[best])


def returned_without(
    scores: Scores,
    probe: Sequence[Any],
    enrolled: Sequence[Any],
    threshold: float,
    is_of_group: Sequence[bool],
) -> tuple[list[int], list[list[int]]]:
    """Return which non-mated searches return someone of a group, and what changes without each
    enrolled person."""
    everyone = list(range(len(enrolled)))
    rows = [row for row, own in zip(scores, mates(probe, enrolled), strict=True) if own is None]
    found = [returns_someone_of(row, threshold, is_of_group, everyone) for row in rows]
    lost = [
        [
            one - returns_someone_of(row, threshold, is_of_group, [f for f in everyone if f != e])
            for e in everyone
        ]
        for row, one in zip(rows, found, strict=True)
    ]
    return found, lost


def paired_score(
    of_systems: Sequence[Scores],
    probe: Sequence[Any],
    enrolled: Sequence[Any],
    mated: bool,
    threshold: float,
    rank: int | None,
    drawn: bool,
    critical: Callable[[float], float],
) -> tuple[float, float, float, float, float]:
    """Return the difference of two systems' rates, its variance where rates are equal, and what a
    limit needs.

    The degrees of freedom, and the least and greatest difference on a fine grid that the score test
    does not reject; critical: of degrees of freedom, the number of standard errors that it takes.
    """
    kept = [k for k, own in enumerate(mates(probe, enrolled)) if (own is not None) == mated]
    own_columns, people = mates(probe, enrolled), sorted({*probe, *enrolled})
    errors = [
        [is_error(scores[k], own_columns[k], threshold, rank, range(len(enrolled))) for k in kept]
        for scores in of_systems
    ]
    n, difference = len(kept), (sum(errors[0]) - sum(errors[1])) / len(kept)
    share = {p: sum(probe[k] == p for k in kept) / n for p in people}
    own = {
        p: sum(a - b for k, a, b in zip(kept, *errors, strict=True) if probe[k] == p) / n
        for p in people
    }
    whole, of_pairs = dict(own), 0.0
    if drawn:
        lost = [
            lost_without(scores, probe, enrolled, mated, threshold, rank) for scores in of_systems
        ]
        pairs: dict[tuple[Any, Any], float] = {}
        for row, (first, second) in enumerate(zip(*lost, strict=True)):
            for e, a, b in zip(enrolled, first, second, strict=True):
                pair = min(probe[kept[row]], e), max(probe[kept[row]], e)
                pairs[pair] = pairs.get(pair, 0.0) + (a - b) / n
                whole[e] += (a - b) / n
        mean = (sum(whole.values()) - sum(own.values())) / len(enrolled)
        for e in enrolled:
            whole[e] -= mean
        of_pairs = sum(v**2 for v in pairs.values())
        if sum(v**2 for v in whole.values()) - of_pairs <= sum(v**2 for v in own.values()) + 1e-12:
            whole, of_pairs = dict(own), 0.0
    squares = sum(v**2 for v in whole.values())
    fourth = sum(v**4 for v in whole.values())
    freedom = max(squares**2 / fourth - 1, 1.0) if fourth else 1.0

    def variance(d: float) -> float:
        return sum((whole[p] - d * share[p]) ** 2 for p in people) - of_pairs

    grid = [k / 2000 for k in range(-2000, 2001)]
    inside = [
        d for d in grid if (difference - d) ** 2 <= critical(freedom) ** 2 * max(variance(d), 0.0)
    ]
    return (
        difference,
        variance(0.0),
        freedom,
        min(inside, default=difference),
        max(inside, default=difference),
    )


def share_of_signs(added: Sequence[float]) -> float:
    """Return the share of all changes of signs after which a sum is at least as far from 0."""
    signs = list(itertools.product((-1, 1), repeat=len(added)))
    return sum(
        abs(sum(s * x for s, x in zip(one, added, strict=True))) >= abs(sum(added)) - 1e-12
        for one in signs
    ) / len(signs)
