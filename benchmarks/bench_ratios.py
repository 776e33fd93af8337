"""Ratios of `ratios.py`, and two of them again with two threads."""

from __future__ import annotations

import fastfair as ff

from . import ratios
from ._data import embeddings_of_subjects
from .versus.clock import clocked
from .versus.embeddings import bare_product


class OneThread:
    params = list(ratios.RATIOS)
    param_names = ["work"]
    unit = "baseline"

    def setup(self, work: str) -> None:
        self.sides = ratios.RATIOS[work]()
        self.sides.ours()  # compiles

    def track_ratio(self, work: str) -> float:
        return ratios.ratio(ratios.measure(self.sides, rounds=15))


class TwoThreads:
    """A million scores to EER and ROC against a sort, and a band over 10,000 vectors against their
    bare product."""

    params = ["raw-to-roc", "band"]
    param_names = ["work"]
    unit = "baseline"

    def setup(self, work: str) -> None:
        self.sides = ratios.raw_to_roc(1_000_000) if work == "raw-to-roc" else self._band()
        self.sides.ours()  # compiles

    @staticmethod
    def _band() -> ratios.Sides:
        e = embeddings_of_subjects(10_000, 10, 512)
        return ratios.Sides(
            lambda: ff.roc_band(e, ratios.LEVELS, n_resamples=1000, rng=0, n_threads=2),
            bare_product(e.vectors),
        )

    def track_ratio(self, work: str) -> float:
        return ratios.ratio(ratios.measure(self.sides, 7, clocked))
