"""Comparisons of two systems by vectors of faces, and from lists of all pairs: seconds and peak
memory."""

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np
from memory import in_bytes
from serve import serve

import fastfair as ff
from benchmarks.versus.faces import THREADS

AT = ff.at_fmr(1e-3)


def systems() -> list[ff.Embeddings]:
    """Read the vectors of both."""
    folder = Path(sys.argv[1])
    subject, group = (np.load(folder / f"{name}.npy") for name in ("subject", "group"))
    return [
        ff.Embeddings(np.load(folder / f"{name}.npy"), subject, group)
        for name in ("first", "second")
    ]


def compared(both: list[Any], **options: Any) -> tuple[float, str]:
    start = time.perf_counter()
    found = ff.compare(*both, AT, rng=0, n_threads=THREADS, **options)
    return time.perf_counter() - start, repr(found.contrasts)


def seconds() -> list[float]:
    """Return seconds of rates and measures, those of processors, the peak by then, and both with
    EER and minDCF."""
    few = ff.von_mises_fisher_embeddings(300, 4, 16, concentration=20, rng=0)
    warm = ff.Embeddings(few.vectors, few.subject, few.subject % 2)
    compared([warm, warm])  # loads kernels
    both = systems()
    before = time.process_time()
    rates = [compared(both, metrics=[])[0] for _ in range(3)]
    of_processors = (time.process_time() - before) / len(rates)
    peak = in_bytes("VmHWM")
    everything = min(compared(both)[0] for _ in range(2))
    return [min(rates), of_processors, peak, everything, in_bytes("VmHWM")]


def listed() -> list[float]:
    """Return seconds of rates and measures, whether contrasts have the bits of those without lists,
    and the peak."""
    both = systems()
    wanted = compared(both, metrics=[])[1]
    start = time.perf_counter()
    found = compared([e.comparisons(n_threads=THREADS) for e in both], metrics=[])[1]
    return [time.perf_counter() - start, float(found == wanted), in_bytes("VmHWM")]


serve({"vectors": seconds, "listed": listed}, ["fastfair", "numpy"])
