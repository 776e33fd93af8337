"""The row of growth with distinct pairs: time and memory of evaluations up to a hundred million
comparisons."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from .common import scratch_folder, versions
from .growth import slope
from .many_pairs import REPLICATES
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtMost, in_units

# Subjects by comparisons: of every size, one pair of subjects in fifty is compared.
SIZES = {1_000_000: 10_000, 10_000_000: 31_623, 100_000_000: 100_000}
ROUNDS = {1_000_000: 5, 10_000_000: 3, 100_000_000: 1}
_LARGEST, _MOST_SUBJECTS = [*SIZES.items()][-1]
_SLOPE = 1.05
_BYTES = 30  # of memory a comparison, above the input
_LARGEST_BYTES = 4e9


def growth() -> Measurement:
    found = {size: _in_a_process(size) for size in SIZES}
    built, evaluated, passed, grown = ({size: found[size][k] for size in SIZES} for k in range(4))
    in_all = [built[size] + evaluated[size] for size in SIZES]
    steepest = slope([*SIZES], in_all)
    peak = grown[_LARGEST]
    header = (
        "comparisons",
        "subjects",
        "`Comparisons`",
        "`evaluate`",
        "bare passes",
        "memory above the input",
    )
    body = [
        (
            f"{size:,}",
            f"{n:,}",
            *(in_units(seconds[size]) for seconds in (built, evaluated, passed)),
            f"{grown[size] / 1e6:,.0f} MB, {grown[size] / size:.0f} bytes each",
        )
        for size, n in SIZES.items()
    ]
    return Measurement(
        [evaluated[_LARGEST]],
        [passed[_LARGEST]],
        "",
        versions(),
        also_met=steepest <= _SLOPE and peak <= min(_LARGEST_BYTES, _BYTES * _LARGEST),
        remarks=(
            f"construction takes {in_units(built[_LARGEST])} more; log-log slope of both from"
            f" {min(SIZES):,} comparisons on {steepest:.2f}, aim: {_SLOPE}; memory above the input"
            f" {peak / 1e9:.2f} GB, {peak / _LARGEST:.1f} bytes a comparison, aim:"
            f" {_LARGEST_BYTES / 1e9:.0f} GB and {_BYTES} bytes"
        ),
        details={
            "comparisons": [*SIZES],
            "subjects": [*SIZES.values()],
            "construction_seconds": [*built.values()],
            "evaluation_seconds": [*evaluated.values()],
            "passes_seconds": [*passed.values()],
            "grown_bytes": [*grown.values()],
            "slope": steepest,
        },
        table=(header, *body),
    )


def _in_a_process(size: int) -> tuple[float, float, float, int]:
    """Return seconds of construction, of the first evaluation and of the bare passes, and the
    growth of the peak."""
    with (
        scratch_folder() as folder,
        Worker(Path(sys.executable), "many_pairs_growth.py", folder) as worker,
    ):
        worker.save(f"{size}")
        built, evaluated, passed, grown = np.load(folder / f"{size}.npy").tolist()
    return built, evaluated, passed, int(grown)


ROWS = (
    Row(
        "evaluation-growth",
        f"first evaluation of {_LARGEST:,} comparisons of {_MOST_SUBJECTS:,} subjects in four"
        f" groups, two FMRs, EER and two measures, {REPLICATES:,} replicates, 2 threads",
        "the weights of all comparisons summed in all replicates, 2 threads",
        Against.LIMIT,
        AtMost(3),
        growth,
    ),
)
