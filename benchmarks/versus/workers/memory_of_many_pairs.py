"""Our memory for many comparisons: bytes of the input, and what construction and evaluation add to
it at most."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from memory import in_bytes, restart_peak
from serve import serve

import fastfair as ff
from benchmarks.versus.construction import SIZE, columns
from benchmarks.versus.many_pairs import evaluate


def grown() -> list[int]:
    """Return what the columns take, and the growth of the peak above them."""
    evaluate(ff.Comparisons(**columns(100_000)), 64)  # kernels stay in memory
    given = columns(SIZE)
    before = in_bytes("VmRSS")
    restart_peak()
    evaluate(ff.Comparisons(**given))
    return [sum(column.nbytes for column in given.values()), in_bytes("VmHWM") - before]


serve({"bytes": grown}, ["fastfair", "numpy"])
