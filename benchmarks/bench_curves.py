"""Curves and the figures read off them, on comparisons already sorted; and the whole way against a bare sort."""

from __future__ import annotations

import time

import numpy as np

import fastfair as ff

from ._data import scores_and_flags

_ROUNDS = 15


class Curves:
    params = [100_000, 1_000_000]
    param_names = ["comparisons"]

    def setup(self, size: int) -> None:
        self.comparisons = ff.Comparisons(*scores_and_flags(size))
        ff.roc(self.comparisons)  # compiles
        ff.min_dcf(self.comparisons)
        ff.min_cllr(self.comparisons)

    def time_roc(self, size: int) -> None:
        ff.roc(self.comparisons)

    def time_min_dcf(self, size: int) -> None:
        ff.min_dcf(self.comparisons)

    def time_min_cllr(self, size: int) -> None:
        ff.min_cllr(self.comparisons)


class EqualErrorRate:
    params = [[100_000, 1_000_000], ["nearest", "nearest-max", "interpolated", "convex-hull"]]
    param_names = ["comparisons", "method"]

    def setup(self, size: int, method: str) -> None:
        self.comparisons = ff.Comparisons(*scores_and_flags(size))
        ff.eer(self.comparisons, method)  # compiles

    def time_eer(self, size: int, method: str) -> None:
        ff.eer(self.comparisons, method)


class AgainstSort:
    """Unsorted scores to EER and full ROC, in units of `np.sort` of the same scores: what hardware cannot blur."""

    params = [100_000, 1_000_000]
    param_names = ["comparisons"]
    unit = "np.sort"

    def setup(self, size: int) -> None:
        self.scores, self.mated = scores_and_flags(size)
        self._all_from_raw()  # compiles

    def _all_from_raw(self) -> None:
        comparisons = ff.Comparisons(self.scores, self.mated)
        ff.eer(comparisons)
        ff.roc(comparisons)

    def track_raw_to_roc(self, size: int) -> float:
        ours, sort = [], []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            np.sort(self.scores)
            sorted_at = time.perf_counter()
            self._all_from_raw()
            sort.append(sorted_at - start)
            ours.append(time.perf_counter() - sorted_at)
        return min(ours) / min(sort)
