"""The row of a scan: files evaluated in parts, against reading them once and the passes that none
can avoid."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import fastfair as ff
from fastfair.evaluation.result import Evaluation

from .clock import clocked, take_turns
from .common import scratch_folder, versions
from .many_pairs import REPLICATES, Passes
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtMost

SIZE, N_FILES = 100_000_000, 10
N_SUBJECTS, MANY_SUBJECTS, N_GROUPS = 20_000, 100_000, 8
LIMIT = 400_000_000  # bytes, a tenth of what a billion comparisons are given
_AT = [ff.at_fmr(10.0**-k) for k in range(3, 8)]


def write(folder: Path, size: int = SIZE, n_subjects: int = N_SUBJECTS) -> None:
    """Write comparisons of random pairs of subjects, one in a hundred of them mated."""
    group = np.arange(n_subjects) % N_GROUPS
    for k in range(N_FILES):
        rng = np.random.default_rng(k)
        n = size // N_FILES
        reference, probe = rng.integers(0, n_subjects, (2, n), dtype=np.int32)
        mated = rng.random(n, dtype=np.float32) < 0.01
        probe[mated] = reference[mated]
        scores = rng.standard_normal(n, dtype=np.float32) + np.float32(5) * (reference == probe)
        columns = {"score": scores, "reference": reference, "probe": probe}
        columns |= {
            f"{side}_group": group[columns[side]].astype(np.uint8)
            for side in ("reference", "probe")
        }
        pl.DataFrame(columns).write_parquet(folder / f"{k}.parquet", compression="lz4")


def evaluate(folder: Path, n_resamples: int = REPLICATES, executor: Any = None) -> Evaluation:
    scan = ff.scan_comparisons(
        folder / "*.parquet", storage=ff.Storage(memory_limit=LIMIT), executor=executor
    )
    measures = ["garbe", "fdr"]
    return ff.evaluate(
        scan,
        at=_AT,
        metrics=["eer"],
        measures=measures,
        n_resamples=n_resamples,
        rng=0,
        executor=executor,
    )


def of_a_scan() -> Measurement:
    with scratch_folder() as folder:
        write(folder)
        files = sorted(folder.glob("*.parquet"))
        sides = [pl.read_parquet(file, columns=["reference", "probe"]).to_numpy() for file in files]
        passes = Passes(*np.concatenate(sides).T.copy())
        del sides

        def read_and_sum() -> None:
            for file in files:
                pl.read_parquet(file)
            passes.all()

        seconds = take_turns(
            {"ours": clocked(partial(evaluate, folder)), "theirs": clocked(read_and_sum)}, rounds=1
        )
        with Worker(Path(sys.executable), "memory_of_a_scan.py", folder) as worker:
            worker.save("bytes")
            peak = int(np.load(folder / "bytes.npy"))
        write(folder, n_subjects=MANY_SUBJECTS)
        of_many = clocked(partial(evaluate, folder))()
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "",
        versions(),
        also_met=peak <= LIMIT,
        remarks=(
            f"the scan and its evaluation take {peak / 1e6:.0f} MB above the library and its"
            f" kernels, of which at most {LIMIT / 1e6:.0f} are aimed at; with {MANY_SUBJECTS:,}"
            f" subjects they take {of_many:.0f} s"
        ),
        details={"comparisons": SIZE, "peak_bytes": peak, "ours_s of many subjects": of_many},
    )


ROWS = (
    Row(
        "evaluation-of-a-scan",
        f"scan and evaluate {SIZE:,} comparisons of {N_SUBJECTS:,} subjects in {N_GROUPS} groups"
        f" from {N_FILES} Parquet files in {LIMIT / 1e6:.0f} MB, five FMRs, EER and two measures,"
        f" {REPLICATES:,} replicates, 2 threads",
        "the files read once, and the weights of all comparisons in memory summed in all"
        " replicates, 2 threads",
        Against.LIMIT,
        AtMost(2),
        of_a_scan,
        "besides, comparisons are checked, coded and put into buckets, and these grouped by"
        " subjects and walked over, and thresholds, EERs and intervals computed: reading and sums"
        " are 29 % of the processor time, and sums take longer in buckets than in memory",
    ),
)
