"""Tests across groups and planning, and F in replicates in units of NumPy's."""

from __future__ import annotations

import time

import numpy as np

import fastfair as ff

from .versus.groups import NumpyGroupTest

_ROUNDS = 9


def _failed(n_subjects: int) -> np.ndarray:
    return np.array([ff.correlated_decisions(n_subjects, 10, 0.1, 0.2, rng=g) for g in range(20)])


def _counts(failed: np.ndarray) -> ff.FailureCounts:
    n_groups, n, m = failed.shape
    return ff.FailureCounts(failed.sum(axis=2).ravel(), np.full(n_groups * n, m), np.repeat(np.arange(n_groups), n))


class Tests:
    """20 groups, 10 attempts a subject."""

    params = [[800, 20_000], [1, 2]]
    param_names = ["subjects", "threads"]

    def setup(self, subjects: int, threads: int) -> None:
        self.counts = _counts(_failed(subjects))
        ff.fnmr_test(self.counts, n_resamples=64, rng=0)  # compiles

    def time_fnmr_test(self, subjects: int, threads: int) -> None:
        ff.fnmr_test(self.counts.without([]), rng=0, n_threads=threads)

    def time_margin_of_error(self, subjects: int, threads: int) -> None:
        ff.margin_of_error(self.counts.without([]), rng=0, n_threads=threads)


class Planning:
    """The paper's settings of one number of groups."""

    params = ["simulation", "exact"]
    param_names = ["method"]

    def setup(self, method: str) -> None:
        self.settings = {"n_subjects": np.array([100, 200, 400, 800]), "n_attempts": np.array([[2], [10]])}
        self.time_plan_margin(method)  # compiles

    def time_plan_margin(self, method: str) -> None:
        ff.plan_margin(n_groups=10, fnmr=0.1, correlation=0.05, method=method, rng=0, **self.settings)


class AgainstNumpy:
    """How many times faster a replicate of F is than NumPy's, on one thread."""

    unit = "times"

    def setup(self) -> None:
        failed = _failed(800)
        self.counts, self.numpy = _counts(failed), NumpyGroupTest(failed)
        self._ours()  # compiles

    def _ours(self) -> None:
        ff.fnmr_test(self.counts.without([]), n_resamples=2048, follow_up=False, rng=0, n_threads=1)

    def track_replicate_of_f(self) -> float:
        ours, theirs = [], []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            for _ in range(64):
                self.numpy.from_counts()
            looped_at = time.perf_counter()
            self._ours()
            theirs.append((looped_at - start) / 64)
            ours.append((time.perf_counter() - looped_at) / 2048)
        return min(theirs) / min(ours)
