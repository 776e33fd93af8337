"""Turn any seed that NumPy accepts into the key of a random stream."""

from __future__ import annotations

from enum import IntEnum, unique
from typing import Annotated, Any

import numpy as np

from fastfair._lib.arrays import RandomKey
from fastfair.errors import InputError

from .text import shown

_SEEDS = 2**1024  # a larger seed is of no use, and Python may refuse to print it


@unique
class Purpose(IntEnum):
    """What random numbers of one key are for: a part of their counter, so that no two purposes
    share any.

    Values never change, as the same seed would give other numbers. `kernels.climb`, whose numbers
    no other function uses together with its own, has purposes 5 and 6 of synthesis.
    """

    SUBJECTS = 0
    SAMPLES = 1
    COMPARISONS = 2
    SUBJECTS_OF_GROUP_TESTS = 3
    SUBJECTS_OF_FAILURE_TESTS = 4
    FRAILTIES = 5
    COUNTED_SYSTEMS = 6  # of test inversion
    GROUPS_OF_PLANNED_STUDIES = 7
    REPLICATES_OF_PLANNED_STUDIES = 8
    SESSIONS = 9


def fix_seed(rng: Seed) -> int | np.random.SeedSequence:
    """Return a seed that gives the same stream every time; None and a Generator give a random
    one.
    """
    rng = checked_seed("rng", rng)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**53))
    if rng is None:
        # 53 bits, which JSON holds exactly
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(11))
    return rng


def child(seed: int | np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """Return a seed of its own for each number, the same whatever other children there are."""
    parent = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, number))


def checked_seed(name: str, rng: Any) -> Seed:
    """Check a seed without drawing from it."""
    if rng is None or isinstance(rng, np.random.Generator | np.random.SeedSequence):
        return rng
    plain = rng[()] if isinstance(rng, np.ndarray) and rng.ndim == 0 else rng
    if isinstance(plain, int | np.integer) and not isinstance(plain, bool) and 0 <= plain < _SEEDS:
        return int(plain)
    raise InputError(
        f"{name} must be None, a whole number of at least 0 (and below 2^1024), a SeedSequence or a"
        f" Generator, not {shown(rng)}"
    )


Seed = Annotated[int | np.random.SeedSequence | np.random.Generator | None, checked_seed]


def stream(rng: Seed) -> tuple[RandomKey, Any]:
    """Return the key of a random stream, and a record of the seed: an int to pass as `rng` again,
    or text.
    """
    rng = fix_seed(rng)
    sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    record = (
        f"SeedSequence(entropy={rng.entropy}, spawn_key={rng.spawn_key})"
        if rng is sequence
        else rng
    )
    return sequence.generate_state(2).astype(np.uint32), record
