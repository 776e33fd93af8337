"""Bands over a mapped file of vectors: seconds, those of the bare product, and the peak memory of
the process."""

import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np
from memory import in_bytes
from serve import serve

import fastfair as ff
from benchmarks.versus.embeddings import REPLICATES, SAMPLES, THREADS, bare_product

_FOLDER = Path(sys.argv[1])


def band(n_resamples: int, highest: float) -> float:
    vectors = np.load(_FOLDER / "vectors.npy", mmap_mode="r")
    e = ff.Embeddings(vectors, np.arange(len(vectors)) // SAMPLES)
    start = time.perf_counter()
    ff.roc_band(
        e, np.geomspace(1e-6, highest, 24), n_resamples=n_resamples, rng=0, n_threads=THREADS
    )
    return time.perf_counter() - start


def compile_all() -> None:
    e = ff.von_mises_fisher_embeddings(600, SAMPLES, 16, concentration=10, rng=0)
    ff.roc_band(e, [1e-3], n_resamples=64, rng=0, n_threads=THREADS)


def against_product(highest: float) -> list[float]:
    compile_all()
    ours = band(1000, highest)
    peak = in_bytes("VmHWM")
    product = bare_product(np.load(_FOLDER / "vectors.npy"))
    start = time.perf_counter()
    product()
    return [ours, time.perf_counter() - start, peak]


def replicates() -> list[list[float]]:
    """Return seconds, and the peaks of the process up to each: the more replicates the higher."""
    compile_all()
    found = [(min(band(n, 1e-3) for _ in range(3)), in_bytes("VmHWM")) for n in REPLICATES]
    return [list(column) for column in zip(*found, strict=True)]


ANSWERS = {
    "vectors": partial(against_product, 1e-3),
    "mapped": partial(against_product, 1e-4),
    "replicates": replicates,
}
serve(ANSWERS, ["fastfair", "numpy"])
