"""Bands over embeddings, and what they take beside the bare product of the same matrices."""

from __future__ import annotations

import time

import numpy as np

import fastfair as ff

from ._data import embeddings_of_subjects
from .versus.embeddings import bare_product

_LEVELS = np.geomspace(1e-5, 1e-2, 24)
_ROUNDS = 5


class Bands:
    """Vectors of 512 numbers, 10 a subject, in 4 groups; 24 FMRs."""

    params = [[2_000, 10_000], [64, 1024]]
    param_names = ["vectors", "replicates"]

    def setup(self, vectors: int, replicates: int) -> None:
        self.embeddings = embeddings_of_subjects(vectors, 10, 512, groups=4)
        ff.roc_band(self.embeddings, [1e-2], n_resamples=64, rng=0)  # compiles

    def time_roc_band(self, vectors: int, replicates: int) -> None:
        ff.roc_band(self.embeddings, _LEVELS, n_resamples=replicates, rng=0)

    def peakmem_roc_band(self, vectors: int, replicates: int) -> None:
        self.time_roc_band(vectors, replicates)

    def time_fairness_band(self, vectors: int, replicates: int) -> None:
        ff.fairness_band(self.embeddings, "max_geomean_ratio", "fmr", _LEVELS, n_resamples=replicates, rng=0)


class AgainstProduct:
    """A band with 1,000 replicates over 10,000 vectors, in units of the product that makes all similarities."""

    unit = "products"

    def setup(self) -> None:
        self.embeddings = embeddings_of_subjects(10_000, 10, 512)
        self.product = bare_product(self.embeddings.vectors)
        self._band()  # compiles

    def _band(self) -> None:
        ff.roc_band(self.embeddings, _LEVELS, n_resamples=1000, rng=0, n_threads=2)

    def track_roc_band(self) -> float:
        ours, theirs = [], []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            self.product()
            made = time.perf_counter()
            self._band()
            theirs.append(made - start)
            ours.append(time.perf_counter() - made)
        return min(ours) / min(theirs)
