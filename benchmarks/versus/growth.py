"""The row of growth: time and memory over comparisons and replicates."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import fastfair as ff
from benchmarks._data import comparisons_of_subjects
from fastfair.evaluation.result import Evaluation

from .clock import clocked, take_turns
from .common import scratch_folder, versions
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import Stated, in_units

SIZES = (100_000, 1_000_000, 10_000_000)
REPLICATES = (64, 1024, 16_384)
_SLOPE = 1.1
_MEMORY = 3


def evaluate(comparisons: ff.Comparisons, n_resamples: int) -> Evaluation:
    return ff.evaluate(
        comparisons,
        at=[ff.at_fmr(1e-3)],
        metrics=["eer"],
        measures=[],
        n_resamples=n_resamples,
        rng=0,
    )


def growth() -> Measurement:
    comparisons = {size: comparisons_of_subjects(size) for size in SIZES}
    cells = [*itertools.product(SIZES, REPLICATES)]
    sides = {(size, n): clocked(partial(evaluate, comparisons[size], n)) for size, n in cells}
    seconds = take_turns(sides, rounds=3)
    del comparisons, sides
    best = {cell: min(taken) for cell, taken in seconds.items()}
    last, most = SIZES[-1], REPLICATES[-1]
    slopes = {
        "comparisons": slope(SIZES, [best[size, most] for size in SIZES]),
        "replicates": slope(REPLICATES, [best[last, n] for n in REPLICATES]),
        # What is done once weighs less there.
        "many replicates": slope(REPLICATES[1:], [best[last, n] for n in REPLICATES[1:]]),
    }
    memory = {cell: _memory(*cell) for cell in cells}
    sorted_input, grown, returned = memory[last, most]
    header = ("comparisons", *(f"{n:,} replicates" for n in REPLICATES))
    body = [
        (
            f"{size:,}",
            *(f"{in_units(best[size, n])}, {memory[size, n][1] / 1e6:.0f} MB" for n in REPLICATES),
        )
        for size in SIZES
    ]
    return Measurement(
        seconds[last, most],
        [],
        "",
        versions(),
        also_met=max(slopes.values()) <= _SLOPE and grown - returned <= _MEMORY * sorted_input,
        remarks=(
            f"log-log slope in comparisons {slopes['comparisons']:.2f}, in replicates"
            f" {slopes['replicates']:.2f}, {slopes['many replicates']:.2f} from {REPLICATES[1]:,}"
            f" on; memory grows by {grown / 1e6:.0f} MB, {returned / 1e6:.1f} MB of them"
            f" replicates, over {sorted_input / 1e6:.0f} MB of sorted input:"
            f" {(grown - returned) / sorted_input:.2f} x"
        ),
        details={
            "comparisons": SIZES,
            "replicates": REPLICATES,
            "seconds": [[best[size, n] for n in REPLICATES] for size in SIZES],
            "sorted_input_bytes": [memory[size, most][0] for size in SIZES],
            "grown_bytes": [[memory[size, n][1] for n in REPLICATES] for size in SIZES],
            "returned_bytes": [[memory[size, n][2] for n in REPLICATES] for size in SIZES],
            "slopes": slopes,
        },
        table=(header, *body),
    )


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _memory(size: int, n_resamples: int) -> tuple[int, int, int]:
    """Return bytes: the sorted input, the growth of the peak above it, and of it the replicates
    returned."""
    variant = f"{size}x{n_resamples}"
    with (
        scratch_folder() as folder,
        Worker(Path(sys.executable), "peak_memory.py", folder) as worker,
    ):
        worker.save(variant)
        sorted_input, grown, returned = np.load(folder / f"{variant}.npy").tolist()
    return sorted_input, grown, returned


ROWS = (
    Row(
        "bootstrap-growth",
        f"EER and FMR 0.001 of {SIZES[-1]:,} comparisons of 2,000 subjects, {REPLICATES[-1]:,}"
        " replicates, 2 threads",
        "",
        Against.NOTHING,
        Stated(
            f"log-log slopes <= {_SLOPE}; memory grows by <= {_MEMORY} x the sorted input +"
            " replicates"
        ),
        growth,
    ),
)
