"""The slow, obvious oracle of hill climbing to an error rate: Algorithm 1 of paper 1, Elobaid et
al., SEDG.

Nothing of fastfair is imported and nothing is clever.

Data
----
One class is `held` at the threshold that a given share of it does not exceed, the other is `free`
and its share at or below that threshold is the error rate sought. To climb to an FMR the mated
distances are held and the non-mated ones free; to climb to an FNMR, its mirror image, 1 - non-mated
distances are held and 1 - mated ones free.

Conventions
-----------
- Held values begin in [0, 0.5] and free ones in [0.5, 1]; none ever leaves [0, 1].
- Random changes are passed in: `changes[step][score]`, held scores first, inside (-1, 1).
- The algorithm does not name its threshold. Here it is the q-th smallest held value, q = ceil(share
  * n_held), so that the other error rate is as wanted, and part of the fitness that does not
  change.
"""

import math
from typing import NamedTuple

import numpy as np

EQUAL = 1e-12  # fitnesses that differ by no more are the same but for rounding


class Climbed(NamedTuple):
    """A whole climb."""

    held: np.ndarray
    free: np.ndarray
    history: list[float]  # n_steps + 1 fitnesses, of the start and after each step
    accepted: list[bool]  # one a step


def to_classes(mated, nonmated, kind):
    """Return the held and the free class of distances."""
    if kind == "fmr":
        return np.array(mated), np.array(nonmated)
    return 1 - np.array(nonmated), 1 - np.array(mated)


def to_distances(held, free, kind):
    """Return mated and non-mated distances."""
    return (held, free) if kind == "fmr" else (1 - free, 1 - held)


def rank(n_held, share):
    """q, the held values at or below the threshold: at least the share of all, up to rounding."""
    return max(1, math.ceil(n_held * share - 1e-9))


def threshold(held, share):
    """The q-th smallest held value."""
    return sorted(held)[rank(len(held), share) - 1]


def rate(held, free, share):
    """The share of free values at or below the threshold."""
    limit, errors = threshold(held, share), 0
    for value in free:
        if value <= limit:
            errors += 1
    return errors / len(free)


def fitness(held, free, target, share):
    """|FMR - target| + |TMR - share|, or the same of FNMR and TNMR."""
    return abs(rate(held, free, share) - target) + abs(rank(len(held), share) / len(held) - share)


def reflect(value):
    """Bring back what left [0, 1], as far inside as it went outside."""
    if value < 0:
        return -value
    if value > 1:
        return 2 - value
    return value


def propose(held, free, changes, step):
    """Change every value by at most the step."""
    moved = [
        reflect(value + step * change)
        for value, change in zip([*held, *free], changes, strict=True)
    ]
    return np.array(moved[: len(held)]), np.array(moved[len(held) :])


def is_accepted(new, now, rule):
    """Compare the fitness of a proposal with the present one: the paper's rule "improving", or
    "plateau"."""
    if rule == "improving":
        return new < now - EQUAL
    return new <= now + EQUAL


def step_once(held, free, changes, step, *, target, share=0.95, rule="improving"):
    """One step: the classes after it, and whether the proposal was accepted."""
    new_held, new_free = propose(held, free, changes, step)
    if is_accepted(
        fitness(new_held, new_free, target, share), fitness(held, free, target, share), rule
    ):
        return new_held, new_free, True
    return held, free, False


def climb(held, free, changes, *, target, share=0.95, step, rule="improving"):
    """All steps, as many as there are rows of changes."""
    history, accepted = [fitness(held, free, target, share)], []
    for row in changes:
        held, free, taken = step_once(held, free, row, step, target=target, share=share, rule=rule)
        history.append(fitness(held, free, target, share))
        accepted.append(taken)
    return Climbed(held, free, history, accepted)
