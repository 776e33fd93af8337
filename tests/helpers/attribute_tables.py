"""Comparisons of subjects with a gender and a region, for tests of models and of stratified
rates."""

from __future__ import annotations

import math

import numpy as np
from helpers.quiet import quietly
from oracles import error_model as oracle

import fastfair as ff

AT = ff.at_threshold(0.5)
NAMES = ("gender", "region")
LABELS = {"gender": ("f", "m"), "region": ("A", "B", "C")}


def draw(
    seed: int, n_subjects: int, n_trials: int, rate: float, varying: bool = False
) -> list[oracle.Trial]:
    """Draw comparisons of random subjects; where values vary, a subject has others in some
    comparisons."""
    rng = np.random.default_rng(seed)
    values = [tuple(str(rng.choice(LABELS[name])) for name in NAMES) for _ in range(n_subjects)]
    effect = rng.normal(size=n_subjects)
    found = []
    for _ in range(n_trials):
        i, j = rng.choice(n_subjects, 2, replace=False)
        sides = [values[k] for k in (i, j)]
        if varying and rng.random() < 0.3:
            sides[0] = values[rng.integers(n_subjects)]
        chance = 1 / (1 + math.exp(-(math.log(rate / (1 - rate)) + effect[i] + effect[j])))
        found.append(
            oracle.Trial((f"s{i}", f"s{j}"), int(rng.random() < chance), (sides[0], sides[1]))
        )
    return found


def as_mated(trials: list[oracle.Trial]) -> list[oracle.Trial]:
    return [oracle.Trial((t.subjects[0],) * 2, t.error, (t.values[0],) * 2) for t in trials]


def comparisons(trials: list[oracle.Trial], rate: str) -> ff.Comparisons:
    """Make them comparisons, with one of the other kind for each value."""
    fillers = [(f"x{k}", (g, r)) for k, (g, r) in enumerate((g, r) for g in "fm" for r in "ABC")]
    if rate == "fmr":
        other = [((name, name), 0.9, 1, (value, value)) for name, value in fillers]
    else:
        other = [
            ((name, fillers[k - 1][0]), 0.1, 0, (value, value))
            for k, (name, value) in enumerate(fillers)
        ]
    accepted = {1: 0.9, 0: 0.1} if rate == "fmr" else {1: 0.1, 0: 0.9}
    rows = [(t.subjects, accepted[t.error], int(rate == "fnmr"), t.values) for t in trials] + other
    groups = [
        {name: [row[3][side][a] for row in rows] for a, name in enumerate(NAMES)} for side in (0, 1)
    ]
    return quietly()(ff.Comparisons)(
        [row[1] for row in rows],
        [row[2] for row in rows],
        [row[0][0] for row in rows],
        [row[0][1] for row in rows],
        *groups,
    )


def table(rates: dict[tuple[str, str], tuple[int, int]], subjects: int = 40) -> ff.Comparisons:
    """Make non-mated comparisons inside groups: errors and comparisons of each gender and
    region."""
    who, scores, values = [], [], []
    for group, (errors, n) in rates.items():
        for k in range(n):
            i, step = k % subjects, 1 + k // subjects % (subjects // 2)
            who.append((f"{group}{i}", f"{group}{(i + step) % subjects}"))
            scores.append(0.9 if k < errors else 0.1)
            values.append(group)
    mated = [(f"{group}0",) * 2 for group in rates]
    columns = {
        name: [v[a] for v in values] + [group[a] for group in rates] for a, name in enumerate(NAMES)
    }
    pairs = who + mated
    return ff.Comparisons(
        scores + [0.9] * len(mated),
        [0] * len(scores) + [1] * len(mated),
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        columns,
    )
