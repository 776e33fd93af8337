"""Our seconds and memory for comparisons of distinct pairs, each size in a process of its own."""

import gc
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from memory import in_bytes, restart_peak
from serve import serve

import fastfair as ff
from benchmarks.versus.construction import columns
from benchmarks.versus.many_pairs import Passes, evaluate
from benchmarks.versus.many_pairs_growth import ROUNDS, SIZES


def measured(size: int) -> list[float]:
    """Return the least seconds of construction, evaluation and bare passes, and the most that
    memory grew by."""
    n_subjects = SIZES[size]
    evaluate(ff.Comparisons(**columns(200_000, n_subjects)), 64)  # kernels stay in memory
    given = columns(size, n_subjects)
    rounds = []
    for _ in range(ROUNDS[size]):
        gc.collect()
        before = in_bytes("VmRSS")
        restart_peak()
        start = time.perf_counter()
        comparisons = ff.Comparisons(**given)
        built = time.perf_counter()
        evaluate(comparisons)
        ended = time.perf_counter()
        rounds.append((built - start, ended - built, in_bytes("VmHWM") - before))
        del comparisons
    building, evaluating, grown = zip(*rounds, strict=True)
    nonmated = ~given["mated"]
    passes = Passes(given["reference"][nonmated], given["probe"][nonmated])
    del given, nonmated
    passes.one(0)
    passing = []
    for _ in range(ROUNDS[size]):
        start = time.perf_counter()
        passes.all()
        passing.append(time.perf_counter() - start)
    return [min(building), min(evaluating), min(passing), max(grown)]


serve({f"{size}": partial(measured, size) for size in SIZES}, ["fastfair", "numpy"])
