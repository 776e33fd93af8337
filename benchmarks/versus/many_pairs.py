"""The row of many comparisons of distinct pairs: an evaluation against the weighted passes that
none can avoid."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import fastfair as ff
from fastfair.evaluation.result import Evaluation

from .clock import clocked, take_turns
from .common import scratch_folder, versions
from .construction import N_SUBJECTS, SIZE, columns
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtMost

REPLICATES = 2000
_BLOCK = 64
_BYTES = 30  # of memory a comparison, above the input


def evaluate(comparisons: ff.Comparisons, n_resamples: int = REPLICATES) -> Evaluation:
    points = [ff.at_fmr(1e-3), ff.at_fmr(1e-4)]
    return ff.evaluate(
        comparisons,
        at=points,
        metrics=["eer"],
        measures=["garbe", "fdr"],
        n_resamples=n_resamples,
        rng=0,
    )


class Passes:
    """The weights of all non-mated comparisons, summed for blocks of 64 replicates in two
    threads."""

    def __init__(self, reference: np.ndarray, probe: np.ndarray) -> None:
        from fastfair.kernels.partners import Runs

        low, high = np.minimum(reference, probe), np.maximum(reference, probe)
        order = np.argsort(low, kind="stable")
        partners, low = (
            high[order].astype(np.uint16 if high.max() < 2**16 else np.int32),
            low[order],
        )
        begin = np.flatnonzero(np.diff(low, prepend=-1))
        self._runs = Runs(
            low[begin],
            np.zeros(begin.size, np.int32),
            np.append(begin[1:], low.size),
            partners,
            np.empty(0, np.int32),
        )
        self._weights = (
            np.random.default_rng(0).poisson(1, (int(high.max()) + 1, _BLOCK)).astype(np.uint8)
        )

    def one(self, _: int) -> int:
        from fastfair.kernels import row_sums

        totals = np.empty((1, _BLOCK), np.int64)
        row_sums.total_weights(self._runs, self._weights, int(self._weights.max()), totals)
        return int(totals.sum())

    def all(self) -> list[int]:
        with ThreadPoolExecutor(2) as pool:
            return [*pool.map(self.one, range(-(-REPLICATES // _BLOCK)))]


def of_many_pairs() -> Measurement:
    given = columns(SIZE)
    nonmated = ~given["mated"]
    passes = Passes(given["reference"][nonmated], given["probe"][nonmated])
    comparisons = ff.Comparisons(**given)
    del given, nonmated
    sides = {"ours": clocked(partial(evaluate, comparisons)), "theirs": clocked(passes.all)}
    seconds = take_turns(sides, rounds=3)
    del comparisons, passes, sides
    with (
        scratch_folder() as folder,
        Worker(Path(sys.executable), "memory_of_many_pairs.py", folder) as worker,
    ):
        worker.save("bytes")
        taken, grown = np.load(folder / "bytes.npy").tolist()
    a_comparison = grown / SIZE
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "",
        versions(),
        also_met=a_comparison <= _BYTES,
        remarks=(
            f"construction and evaluation take {a_comparison:.0f} bytes a comparison above the"
            f" {taken / SIZE:.0f} of the input, of which at most {_BYTES} are aimed at"
        ),
        details={"comparisons": SIZE, "input_bytes": taken, "grown_bytes": grown},
    )


ROWS = (
    Row(
        "evaluation-of-many-pairs",
        f"evaluate {SIZE:,} comparisons of {N_SUBJECTS:,} subjects in four groups, two FMRs, EER"
        f" and two measures, {REPLICATES:,} replicates, 2 threads",
        "the weights of all comparisons summed in all replicates, 2 threads",
        Against.LIMIT,
        AtMost(5),
        of_many_pairs,
        "besides the passes comparisons are grouped by subjects, pairs of these walked over, and"
        " lists swept",
    ),
)
