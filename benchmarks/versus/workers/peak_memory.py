"""Our memory at 10,000,000 comparisons, and what it is held against: bytes. Linux alone tells the peak of a stretch."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from serve import serve

import fastfair as ff
from benchmarks._data import comparisons_of_subjects

_SIDE = ("keys", "rows", "reference", "probe")


def kilobytes(name: str) -> int:
    """Read a line of the process's status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def evaluate(comparisons: ff.Comparisons, n_resamples: int) -> ff.Evaluation:
    return ff.evaluate(comparisons, at=[ff.at_fmr(1e-3)], metrics=["eer"], measures=[], n_resamples=n_resamples, rng=0)


def growth() -> list[float]:
    """Return what the sorted input takes, the growth of the peak above it, and what the replicates take."""
    evaluate(comparisons_of_subjects(10_000), 64)  # kernels stay in memory
    comparisons = comparisons_of_subjects(10_000_000)
    sides = comparisons.mated, comparisons.nonmated
    sorted_input = sum(getattr(side, name).nbytes for side in sides for name in _SIDE)
    gc.collect()
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    found = evaluate(comparisons, 16_384)
    peak = kilobytes("VmHWM")
    assert found.uncertainty is not None
    return [sorted_input, 1024 * (peak - before), found.uncertainty.replicates.nbytes]


serve({"growth": growth}, ["fastfair", "numpy"])
