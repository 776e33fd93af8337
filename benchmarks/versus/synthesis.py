"""Rows of synthesis against Algorithm 1 of paper 1 in NumPy, step for step."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .clock import clocked, take_turns
from .common import must_agree, versions
from .rows import Against, Measurement, Row
from .targets import AtLeast, AtMost, in_units

_RATES = tuple(factor / 1000 for factor in (1, 2, 3, 5, 10, 20, 50))
_SIZE, _OVERALL = (3000, 3000), (12_000, 600_000)
_STEP, _N_STEPS = 0.03, 1000  # large enough to get from one class to the other


def climb(
    n_mated: int, n_nonmated: int, fmr: float, seed: int
) -> tuple[NDArray[np.float64], float]:
    """Run all steps, and return the distances and how far FMR and TMR are from what is wanted."""
    rng = np.random.default_rng(seed)
    rank = int(np.ceil(0.95 * n_mated * (1 - 1e-12))) - 1
    best = np.concatenate((rng.uniform(0, 0.5, n_mated), rng.uniform(0.5, 1, n_nonmated)))

    def distance(distances: NDArray[np.float64]) -> float:
        threshold = np.partition(distances[:n_mated], rank)[rank]
        return float(abs(np.count_nonzero(distances[n_mated:] <= threshold) / n_nonmated - fmr))

    fitness = distance(best)
    for _ in range(_N_STEPS):
        proposed = np.abs(best + rng.uniform(-_STEP, _STEP, best.size))
        proposed = np.where(proposed > 1, 2 - proposed, proposed)
        new = distance(proposed)
        if new < fitness:
            best, fitness = proposed, new
    return best, fitness


def _theirs() -> float:
    missed = [climb(*_SIZE, rate, seed)[1] for seed, rate in enumerate(_RATES)]
    return max(*missed, climb(*_OVERALL, 1e-4, len(_RATES))[1])


def _ours(**options: object) -> float:
    made = [*ff.synthesis.synthesize_each(*_SIZE, "fmr", _RATES, rng=0, **options)]
    made += ff.synthesis.synthesize_each(*_OVERALL, "fmr", [1e-4], rng=0, **options)
    return max(abs(one.fmr - one.target) for one in made)


_LIKE_THEIRS = {"step": _STEP, "stop": False, "n_steps": _N_STEPS}


def against_numpy() -> Measurement:
    missed = {"ours": _quietly(_LIKE_THEIRS), "theirs": _theirs()}
    must_agree(max(missed.values()) < 0.002, f"rates are missed by {missed}")
    ladder = clocked(_ours)
    ladder()
    seconds = take_turns(
        {"ours": clocked(lambda: _quietly(_LIKE_THEIRS)), "theirs": clocked(_theirs)}, rounds=2
    )
    steps = min(ladder() for _ in range(3))
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"rates within 0.002 of what is wanted: {missed['ours']:.2g} and {missed['theirs']:.2g} at"
        " most",
        versions(),
        remarks=(
            "both make all steps, of one size; as it comes ours reaches every rate in"
            f" {in_units(steps)}"
        ),
    )


def _quietly(options: dict[str, object]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ff.errors.TargetMissedWarning
        )  # steps of one size often miss
        return _ours(**options)


def against_fewer_sets() -> Measurement:
    def sets(n: int, n_threads: int | None = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ff.errors.TargetMissedWarning
            )  # one of some thousand sets
            ff.synthesis.synthesize_each(
                *_SIZE, "fmr", [0.01] * n, stop=False, rng=0, n_threads=n_threads
            )

    seconds = take_turns(
        {
            "ours": clocked(lambda: sets(1000)),
            "theirs": lambda: 10 * clocked(lambda: sets(100))(),
            "one thread": clocked(lambda: sets(1000, 1)),
        },
        rounds=2,
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "nothing to agree on",
        versions(),
        remarks=(
            f"one thread takes {min(seconds['one thread']) / min(seconds['ours']):.2f} times as"
            " long"
        ),
    )


ROWS = (
    Row(
        "synthesis",
        "the data sets of paper 1's tables II and III, 1,000 steps each",
        "Algorithm 1 in NumPy, the same steps",
        Against.NUMPY,
        AtLeast(10),
        against_numpy,
    ),
    Row(
        "synthesis-growth",
        "1,000 data sets of 3,000 + 3,000, 1,000 steps each",
        "ours with 100 of them, ten times over",
        Against.OURS,
        AtMost(1.3),
        against_fewer_sets,
    ),
)
