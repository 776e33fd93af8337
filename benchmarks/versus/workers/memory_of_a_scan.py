"""Our memory for a scan of many comparisons and its evaluation, above the library and its
kernels."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from memory import in_bytes, restart_peak
from serve import serve

from benchmarks.versus.scans import evaluate, write


def grown() -> int:
    """Return the growth of the peak."""
    with tempfile.TemporaryDirectory() as few:
        write(Path(few), 1_000_000)
        evaluate(Path(few), 64)  # kernels stay in memory
    before = in_bytes("VmRSS")
    restart_peak()
    evaluate(Path.cwd())
    return in_bytes("VmHWM") - before


serve({"bytes": grown}, ["fastfair", "numpy", "polars"])
