"""Bands over embeddings, and searches of a gallery; vectors of 512 numbers, 10 a subject; 24
FMRs."""

from __future__ import annotations

import numpy as np

import fastfair as ff

from ._data import embeddings_of_subjects
from .ratios import LEVELS


class RocBand:
    params = [[2_000, 10_000], [64, 1024], [1, 2]]
    param_names = ["vectors", "replicates", "threads"]

    def setup(self, vectors: int, replicates: int, threads: int) -> None:
        self.embeddings = embeddings_of_subjects(vectors, 10, 512)
        ff.roc_band(self.embeddings, [1e-2], n_resamples=64, rng=0)  # compiles

    def time_roc_band(self, vectors: int, replicates: int, threads: int) -> None:
        ff.roc_band(self.embeddings, LEVELS, n_resamples=replicates, rng=0, n_threads=threads)


class FairnessBand:
    """10,000 vectors, 1,024 replicates."""

    params = [[2, 8], [1, 2]]
    param_names = ["groups", "threads"]

    def setup(self, groups: int, threads: int) -> None:
        self.embeddings = embeddings_of_subjects(10_000, 10, 512, groups=groups)
        self._band(64, threads)  # compiles

    def _band(self, replicates: int, threads: int) -> None:
        ff.fairness_band(
            self.embeddings,
            "max_geomean_ratio",
            "fmr",
            LEVELS,
            n_resamples=replicates,
            rng=0,
            n_threads=threads,
        )

    def time_fairness_band(self, groups: int, threads: int) -> None:
        self._band(1024, threads)


class Identification:
    """9,000 searches of a gallery of 500 people; 500 others search it as well."""

    def setup(self) -> None:
        embeddings = embeddings_of_subjects(10_000, 10, 512)
        is_probe = np.arange(10_000) % 10 > 0
        self.probes, self.who = embeddings.vectors[is_probe], embeddings.subject[is_probe]
        self.templates, self.enrolled = embeddings.vectors[~is_probe][:500], np.arange(500)
        self.searches = self._search()  # compiles
        self.time_rates()

    def _search(self) -> ff.Searches:
        return ff.Searches.from_vectors(
            self.probes, self.who, self.templates, self.enrolled, group=self.who % 8
        )

    def time_searches(self) -> None:
        self._search()

    def time_rates(self) -> None:
        ff.identify(self.searches, [ff.at_fpir(0.01), ff.at_rank(1)])

    def time_requirements(self) -> None:
        ff.identify(self.searches, ff.at_rank(1), gallery="fixed").check(
            ["fnir[*] <= 5 %", "fpir[*]@threshold=0.4 <= 5 %"]
        )


class Memory:
    params = [2_000, 10_000]
    param_names = ["vectors"]

    def setup(self, vectors: int) -> None:
        self.embeddings = embeddings_of_subjects(vectors, 10, 512, groups=4)

    def peakmem_roc_band(self, vectors: int) -> None:
        ff.roc_band(self.embeddings, LEVELS, n_resamples=1024, rng=0)

    def peakmem_comparisons(self, vectors: int) -> None:
        self.embeddings.comparisons()
