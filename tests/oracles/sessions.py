"""The slow, obvious oracle of two-way variances: every pair of comparisons is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Attempt(NamedTuple):
    """A comparison: what it adds to a sum, the persons of reference and of probe, and the session
    that each was in.
    """

    part: float
    persons: tuple[object, object]
    sessions: tuple[object, object]


def share_a_person(one: Attempt, other: Attempt) -> bool:
    """Tell whether somebody is in both comparisons, on whichever side."""
    return any(person in other.persons for person in one.persons)


def share_a_session(one: Attempt, other: Attempt) -> bool:
    """Tell whether both comparisons have a session in common, on whichever side."""
    return any(session in other.sessions for session in one.sessions)


def share_a_cell(one: Attempt, other: Attempt) -> bool:
    """Tell whether somebody is in both comparisons in the same session."""
    cells = list(zip(other.persons, other.sessions, strict=True))
    return any(cell in cells for cell in zip(one.persons, one.sessions, strict=True))


def sum_over(attempts: list[Attempt], share: Callable[[Attempt, Attempt], bool]) -> float:
    """Add up e_i e_j over all pairs of comparisons, each with itself too, that share something."""
    total = 0.0
    for one in attempts:
        for other in attempts:
            if share(one, other):
                total += one.part * other.part
    return total


def two_way_sum(attempts: list[Attempt]) -> float:
    """Add up e_i e_j over all pairs of comparisons that share a person or a session.

    Where a reference and its probe are of one session, a person and a session in common are a cell
    in common. Else what shares a person and a session, but not that person in that session, is
    counted twice, for the one and for the other.
    """
    total = 0.0
    for one in attempts:
        for other in attempts:
            times = share_a_person(one, other) + share_a_session(one, other)
            total += one.part * other.part * (times - share_a_cell(one, other))
    return total
