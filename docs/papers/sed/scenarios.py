"""The 44 systems of paper 1's tables IV to VIII, whose sets are shared."""

from __future__ import annotations

from typing import Literal

import numpy as np

from fastfair.synthesis import synthesize_each
from fastfair.synthesis.hill_climbing import BiasedSystem, Synthesis

from .printed import OVERALL_FMR, SET_SIZE, TABLES

KINDS: tuple[Literal["fmr", "fnmr"], ...] = ("fmr", "fnmr")


def make_systems(
    seed: np.random.SeedSequence, overall_mated: int = 12_000, overall_nonmated: int = 600_000
) -> list[tuple[str, BiasedSystem]]:
    """Make all systems, in the order of the tables, each with the name of its table.

    Groups of one ratio and kind share a set, and all systems the one for the overall performance.
    """
    seeds = [
        np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))
        for k in range(len(KINDS) + 1)
    ]
    sets: dict[tuple[str, int], Synthesis] = {}
    for number, kind in enumerate(KINDS):
        ratios = [one for of_kind, systems in TABLES.values() if of_kind == kind for one in systems]
        factors = sorted({int(factor) for one in ratios for factor in one.split(":")})
        targets = [factor * 1e-3 for factor in factors]
        made = synthesize_each(SET_SIZE, SET_SIZE, kind, targets, rng=seeds[number])
        sets |= {(kind, factor): one for factor, one in zip(factors, made, strict=True)}
    overall = synthesize_each(overall_mated, overall_nonmated, "fmr", [OVERALL_FMR], rng=seeds[-1])[
        0
    ].comparisons()
    return [
        (
            table,
            BiasedSystem(
                ratios, kind, tuple(sets[kind, int(one)] for one in ratios.split(":")), overall
            ),
        )
        for table, (kind, systems) in TABLES.items()
        for ratios in systems
    ]
