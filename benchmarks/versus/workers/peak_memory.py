"""Our memory by comparisons and replicates and in construction, and what it is held against:
bytes."""

import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from memory import in_bytes, restart_peak
from serve import serve

import fastfair as ff
from benchmarks._data import comparisons_of_subjects
from benchmarks.versus.construction import SIZE, columns
from benchmarks.versus.growth import REPLICATES, SIZES, evaluate

_SIDE = ("keys", "rows", "reference", "probe")


def growth(size: int, n_resamples: int) -> list[int]:
    """Return what the sorted input takes, the growth of the peak above it, and what the replicates
    take."""
    evaluate(comparisons_of_subjects(10_000), 64)  # kernels stay in memory
    comparisons = comparisons_of_subjects(size)
    sides = comparisons.mated, comparisons.nonmated
    sorted_input = sum(getattr(side, name).nbytes for side in sides for name in _SIDE)
    gc.collect()
    before = in_bytes("VmRSS")
    restart_peak()
    found = evaluate(comparisons, n_resamples)
    peak = in_bytes("VmHWM")
    assert found.uncertainty is not None
    return [sorted_input, peak - before, found.uncertainty.replicates.nbytes]


def construction() -> list[int]:
    """Return what comparisons keep, and the growth of the peak while they are made."""
    ff.Comparisons(**columns(200_000))  # kernels stay in memory
    given = columns(SIZE)
    gc.collect()
    before = in_bytes("VmRSS")
    restart_peak()
    comparisons = ff.Comparisons(**given)
    peak = in_bytes("VmHWM")
    gc.collect()
    kept = in_bytes("VmRSS") - before
    assert len(comparisons.mated) + len(comparisons.nonmated) == SIZE
    return [kept, peak - before]


variants: dict[str, Callable[[], list[int]]] = {"construction": construction}
variants |= {f"{size}x{n}": partial(growth, size, n) for size in SIZES for n in REPLICATES}
serve(variants, ["fastfair", "numpy"])
