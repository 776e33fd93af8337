"""Bootstrap replicates of subjects, and the loop that they are made of against NumPy's."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from fastfair.kernels import sweep

import fastfair as ff

from ._data import comparisons_of_subjects, labelled_columns

_ROUNDS = 15
_LANES = 64
_POINTS = tuple(ff.at_fmr(fmr) for fmr in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2))
_ASKED: dict[str, dict[str, Any]] = {
    "EER": {"at": [], "metrics": ["eer"], "measures": []},
    "5 points": {"at": _POINTS, "metrics": [], "measures": []},
    "everything": {"at": _POINTS},
}


class Bootstrap:
    """500,000 comparisons of 1,188 subjects; all but the EER alone with 18 groups."""

    params = [list(_ASKED), [64, 1024]]
    param_names = ["asked", "replicates"]

    def setup(self, asked: str, replicates: int) -> None:
        columns = labelled_columns(500_000)
        if asked == "EER":
            del columns["reference_group"]
        self.comparisons = ff.Comparisons(**columns)
        self.time_evaluate(asked, 64)  # compiles

    def time_evaluate(self, asked: str, replicates: int) -> None:
        ff.evaluate(self.comparisons, n_resamples=replicates, rng=0, **_ASKED[asked])

    def peakmem_evaluate(self, asked: str, replicates: int) -> None:
        self.time_evaluate(asked, replicates)


class Growth:
    """The EER and one operating point, with comparisons."""

    params = [100_000, 1_000_000]
    param_names = ["comparisons"]

    def setup(self, size: int) -> None:
        self.comparisons = comparisons_of_subjects(size)
        self.time_evaluate(size)  # compiles

    def time_evaluate(self, size: int) -> None:
        ff.evaluate(self.comparisons, metrics=["eer"], measures=[], n_resamples=1024, rng=0)


class AgainstMultiplyAdd:
    """Adding up the weights of pairs in 64 replicates, in units of NumPy's product and sum of as many bytes."""

    unit = "np.multiply + np.add"

    def setup(self) -> None:
        rng = np.random.default_rng(0)
        n_subjects, n_pairs = 1190, 262_144
        self.weights = rng.poisson(1, (n_subjects, _LANES)).astype(np.uint8)
        self.a, self.b = rng.integers(n_subjects, size=(2, n_pairs), dtype=np.int32)
        self.largest, self.totals = sweep.largest_weight(self.weights), np.zeros(_LANES, np.int64)
        # Rows of 64 KiB, which the processor's second cache holds.
        self.x, self.y, self.product, self.added = np.ones((4, 65_536), np.uint8)
        self._sweep()  # compiles

    def _sweep(self) -> None:
        sweep.add_many_pairs(self.a, self.b, self.weights, self.largest, 0, self.a.size, self.totals)

    def _multiply_and_add(self) -> None:
        for _ in range(self.a.size * _LANES // self.x.size):
            np.multiply(self.x, self.y, out=self.product)
            np.add(self.added, self.product, out=self.added)

    def track_sweep(self) -> float:
        ours, theirs = [], []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            self._multiply_and_add()
            added_at = time.perf_counter()
            self._sweep()
            theirs.append(added_at - start)
            ours.append(time.perf_counter() - added_at)
        return min(ours) / min(theirs)
