"""The row of two systems compared by the vectors of faces, in their number and their share of
subjects like LFW."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from .common import must_agree, scratch_folder, versions
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtMostSeconds, in_units

THREADS = 2
_FACES, _SEVERAL, _MOST = (
    6_298,
    881,
    109,
)  # vectors; subjects with two or more; vectors of the one with most
_DIM, _MOST_MB = 128, 500


def _save_systems(folder: Path) -> None:
    """Write vectors by two systems, the second noisier, of some 2,900 subjects, most with one
    vector."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(165 * np.arange(1, _SEVERAL + 1) ** -0.66, _MOST).round().astype(np.int64)
    sizes = np.maximum(sizes, 2)
    sizes = np.append(sizes, np.ones(_FACES - sizes.sum(), np.int64))
    subject = np.repeat(np.arange(sizes.size), sizes)
    faces = rng.standard_normal((sizes.size, _DIM), np.float32)[subject]
    np.save(folder / "subject.npy", subject)
    np.save(folder / "group.npy", np.where(subject % 4, "m", "f"))
    for name, noise in (("first", 1.2), ("second", 1.35)):
        np.save(
            folder / f"{name}.npy", faces + noise * rng.standard_normal(faces.shape, np.float32)
        )


def comparison_of_faces() -> Measurement:
    with scratch_folder() as folder:
        _save_systems(folder)
        found = {}
        for what in (
            "vectors",
            "listed",
        ):  # a process each, so that memory of the one is not the other's
            with Worker(Path(sys.executable), "compare_faces.py", folder) as worker:
                worker.save(what)
            found[what] = np.load(folder / f"{what}.npy").tolist()
    ours, of_processors, peak, everything, later_peak = found["vectors"]
    theirs, same, their_peak = found["listed"]
    must_agree(bool(same), "contrasts")
    return Measurement(
        [ours],
        [theirs],
        "contrasts to the last bit",
        versions(),
        also_met=peak < _MOST_MB * 1e6,
        remarks=(
            f"{in_units(of_processors)} of processor time; peak memory of the process"
            f" {peak / 1e6:.0f} MB, aim: {_MOST_MB} MB, against {their_peak / 1e6:.0f} MB; with EER"
            f" and minDCF of all and of groups ours takes {in_units(everything)} and"
            f" {later_peak / 1e6:.0f} MB"
        ),
        details={
            "peak_bytes": [peak, their_peak],
            "ours_s of processors": of_processors,
            "ours_s with EER and minDCF": everything,
        },
    )


ROWS = (
    Row(
        "embeddings-faces",
        "compare two systems by 6,298 faces x 128 each, 20 million pairs, 881 subjects with several"
        " faces, 2 groups: both rates at FMR 0.001 and all measures, 2,000 replicates, 2 threads",
        "the same from lists of all pairs, `Embeddings.comparisons`",
        Against.OURS,
        AtMostSeconds(2),
        comparison_of_faces,
        shortfall=(
            "more than half is the evaluation of both systems, most of it replicates; finding their"
            " pairs takes a quarter"
        ),
    ),
)
