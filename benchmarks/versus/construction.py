"""The row of construction: checking, coding and sorting raw columns beside the sort that NumPy
makes of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .clock import clocked, take_turns
from .common import must_agree, scratch_folder, versions
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtMost

SIZE = 20_000_000
N_SUBJECTS = 20_000


def columns(size: int, n_subjects: int = N_SUBJECTS) -> dict[str, Any]:
    """Return the columns of comparisons, nearly all of pairs of their own, of subjects in four
    groups given as text."""
    rng = np.random.default_rng(0)
    reference = rng.integers(0, n_subjects, size, dtype=np.int32)
    probe = (reference + rng.integers(1, n_subjects, size, dtype=np.int32)) % n_subjects
    mated = rng.random(size, dtype=np.float32) < 0.03
    probe[mated] = reference[mated]
    scores = rng.standard_normal(size, dtype=np.float32) + 4 * mated.astype(np.float32)
    group = np.array(list("ABCD"))[np.arange(n_subjects) % 4]
    return {
        "scores": scores,
        "mated": mated,
        "reference": reference,
        "probe": probe,
        "reference_group": group[reference],
        "probe_group": group[probe],
    }


def _sorted_and_gathered(given: dict[str, Any]) -> tuple[NDArray[np.intp], list[NDArray[Any]]]:
    order = np.argsort(given["scores"])
    return order, [given[name][order] for name in ("scores", "reference", "probe")]


def against_argsort() -> Measurement:
    given = columns(SIZE)
    comparisons = ff.Comparisons(**given)
    for side, wanted in ((comparisons.mated, True), (comparisons.nonmated, False)):
        rows = side.rows
        assert rows is not None
        must_agree(bool((given["mated"][rows] == wanted).all()), "classes")
        must_agree(
            np.array_equal(side.similarities, np.sort(given["scores"][given["mated"] == wanted])),
            "scores",
        )
        must_agree(np.array_equal(side.reference, given["reference"][rows]), "references")
        must_agree(np.array_equal(side.probe, given["probe"][rows]), "probes")
    del comparisons, side, rows
    seconds = take_turns(
        {
            "ours": clocked(lambda: ff.Comparisons(**given)),
            "theirs": clocked(lambda: _sorted_and_gathered(given)),
        },
        rounds=5,
    )
    size_of_input = sum(column.nbytes for column in given.values())
    with (
        scratch_folder() as folder,
        Worker(Path(sys.executable), "peak_memory.py", folder) as worker,
    ):
        worker.save("construction")
        kept, grown = np.load(folder / "construction.npy").tolist()
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "scores, references and probes in the order of the scores",
        versions(),
        remarks=(
            f"bytes a comparison: {size_of_input / SIZE:.0f} of columns; memory grows by"
            f" {grown / SIZE:.0f}, of which {kept / SIZE:.0f} are kept"
        ),
        details={"input_bytes": size_of_input, "grown_bytes": grown, "kept_bytes": kept},
    )


ROWS = (
    Row(
        "construction",
        f"`Comparisons` of {SIZE:,} unsorted float32 scores of {N_SUBJECTS:,} subjects in 4 groups,"
        " 2 threads",
        "np.argsort of the scores and 3 gathers, 1 thread",
        Against.NUMPY,
        AtMost(0.6),
        against_argsort,
    ),
)
