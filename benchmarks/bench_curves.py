"""Curves and the figures read off them, on comparisons already sorted."""

from __future__ import annotations

import fastfair as ff

from ._data import scores_and_flags


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
