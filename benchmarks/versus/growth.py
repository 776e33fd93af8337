"""The row of growth: time over comparisons and replicates, and the memory of the largest."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import fastfair as ff
from benchmarks._data import comparisons_of_subjects

from .clock import clocked, take_turns
from .common import scratch_folder, versions
from .processes import Worker
from .rows import Measurement, Row, Stated, in_units

_SIZES = (100_000, 1_000_000, 10_000_000)
_REPLICATES = (64, 1024, 16_384)
_SLOPE = 1.1
_MEMORY = 3


def growth() -> Measurement:
    comparisons = {size: comparisons_of_subjects(size) for size in _SIZES}
    sides = {
        (size, replicates): clocked(partial(_evaluate, comparisons[size], replicates))
        for size, replicates in itertools.product(_SIZES, _REPLICATES)
    }
    seconds = take_turns(sides, rounds=3)
    best = {cell: min(taken) for cell, taken in seconds.items()}
    last, most = _SIZES[-1], _REPLICATES[-1]
    slopes = {
        "comparisons": _slope(_SIZES, [best[size, most] for size in _SIZES]),
        "replicates": _slope(_REPLICATES, [best[last, replicates] for replicates in _REPLICATES]),
        # What is done once weighs less there.
        "many replicates": _slope(_REPLICATES[1:], [best[last, replicates] for replicates in _REPLICATES[1:]]),
    }
    memory, returned, sorted_input = _memory()
    header = ("comparisons", *(f"{replicates:,} replicates" for replicates in _REPLICATES))
    body = [(f"{size:,}", *(in_units(best[size, replicates]) for replicates in _REPLICATES)) for size in _SIZES]
    return Measurement(
        seconds[last, most],
        [],
        "",
        versions(),
        also_met=max(slopes.values()) <= _SLOPE and memory - returned <= _MEMORY * sorted_input,
        remarks=(
            f"log-log slope in comparisons {slopes['comparisons']:.2f}, in replicates {slopes['replicates']:.2f}, "
            f"{slopes['many replicates']:.2f} from {_REPLICATES[1]:,} on; memory grows by {memory / 1e6:.0f} MB, "
            f"{returned / 1e6:.1f} MB of them replicates, over {sorted_input / 1e6:.0f} MB: "
            f"{(memory - returned) / sorted_input:.2f} x"
        ),
        details={
            "seconds": {f"{size} x {replicates}": taken for (size, replicates), taken in seconds.items()},
            "slopes": slopes,
            "memory_bytes": {"growth": memory, "replicates": returned, "sorted input": sorted_input},
        },
        table=(header, *body),
    )


def _evaluate(comparisons: ff.Comparisons, n_resamples: int) -> ff.Evaluation:
    return ff.evaluate(comparisons, at=[ff.at_fmr(1e-3)], metrics=["eer"], measures=[], n_resamples=n_resamples, rng=0)


def _slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _memory() -> tuple[float, float, float]:
    """Return bytes: the growth of the peak, of it the replicates returned, and the sorted input."""
    with scratch_folder() as folder, Worker(Path(sys.executable), "peak_memory.py", folder) as worker:
        worker.save("growth")
        sorted_input, growth, returned = np.load(folder / "growth.npy").tolist()
    return growth, returned, sorted_input


ROWS = (
    Row(
        "bootstrap-growth",
        f"EER and FMR 0.001 of {_SIZES[-1]:,} comparisons of 2,000 subjects, {_REPLICATES[-1]:,} replicates, 2 threads",
        "",
        Stated(f"log-log slopes <= {_SLOPE}; memory grows by <= {_MEMORY} x the sorted input + replicates"),
        growth,
    ),
)
