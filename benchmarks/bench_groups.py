"""Tests across groups, and planning."""

from __future__ import annotations

import numpy as np

import fastfair as ff

from ._data import counted, decisions, labelled_columns


class Tests:
    """10 attempts a subject."""

    params = [[4, 20], [800, 20_000], [1, 2]]
    param_names = ["groups", "subjects", "threads"]

    def setup(self, groups: int, subjects: int, threads: int) -> None:
        self.counts = counted(decisions(groups, subjects))
        ff.fnmr_test(self.counts, n_resamples=64, rng=0)  # compiles

    def time_fnmr_test(self, groups: int, subjects: int, threads: int) -> None:
        # `without` leaves what is known of the counts behind.
        ff.fnmr_test(self.counts.without([]), rng=0, n_threads=threads)


class FalseMatches:
    """18 groups of 66 subjects, at an FMR of 0.001, with 2,000 replicates."""

    params = [[100_000, 1_000_000], [1, 2]]
    param_names = ["comparisons", "threads"]

    def setup(self, comparisons: int, threads: int) -> None:
        self.comparisons = ff.Comparisons(**labelled_columns(comparisons))
        self.time_fmr_test(comparisons, threads)  # compiles

    def time_fmr_test(self, comparisons: int, threads: int) -> None:
        ff.fmr_test(self.comparisons, ff.at_fmr(1e-3), rng=0, n_threads=threads)

    def peakmem_fmr_test(self, comparisons: int, threads: int) -> None:
        self.time_fmr_test(comparisons, threads)


class Margins:
    """20 groups of 800 subjects."""

    params = [1, 2]
    param_names = ["threads"]

    def setup(self, threads: int) -> None:
        self.counts = counted(decisions(20, 800))
        ff.margin_of_error(self.counts, n_resamples=64, rng=0)  # compiles

    def time_margin_of_error(self, threads: int) -> None:
        ff.margin_of_error(self.counts.without([]), rng=0, n_threads=threads)

    def peakmem_margin_of_error(self, threads: int) -> None:
        self.time_margin_of_error(threads)


class Planning:
    """The paper's settings of one number of groups."""

    params = ["simulation", "exact"]
    param_names = ["method"]

    def setup(self, method: str) -> None:
        self.settings = {
            "n_subjects": np.array([100, 200, 400, 800]),
            "n_attempts": np.array([[2], [10]]),
        }
        self.time_plan_margin(method)  # compiles

    def time_plan_margin(self, method: str) -> None:
        ff.plan_margin(
            n_groups=10, fnmr=0.1, correlation=0.05, method=method, rng=0, **self.settings
        )
