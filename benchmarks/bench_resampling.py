"""Bootstrap replicates of subjects."""

from __future__ import annotations

from typing import Any

import fastfair as ff

from ._data import comparisons_of_subjects, labelled_columns

_POINTS = tuple(ff.at_fmr(fmr) for fmr in (1e-3, 3e-3, 1e-2))
_ASKED: dict[str, dict[str, Any]] = {
    "EER": {"at": [], "metrics": ["eer"], "measures": []},
    "3 points": {"at": _POINTS, "metrics": [], "measures": []},
    "everything": {"at": _POINTS},
}


def _comparisons(groups: int) -> ff.Comparisons:
    columns = labelled_columns(500_000, n_groups=groups, subjects_per_group=1188 // groups)
    if groups == 1:
        del columns["reference_group"]
    return ff.Comparisons(**columns)


class Bootstrap:
    """500,000 comparisons of 1,188 subjects; all but the EER alone with 18 groups."""

    params = [list(_ASKED), [64, 1024], [1, 2]]
    param_names = ["asked", "replicates", "threads"]

    def setup(self, asked: str, replicates: int, threads: int) -> None:
        self.comparisons = _comparisons(1 if asked == "EER" else 18)
        self.time_evaluate(asked, 64, threads)  # compiles

    def time_evaluate(self, asked: str, replicates: int, threads: int) -> None:
        ff.evaluate(
            self.comparisons, n_resamples=replicates, rng=0, n_threads=threads, **_ASKED[asked]
        )


class Groups:
    """256 replicates of all measures with groups."""

    params = [2, 18, 40, 66]
    param_names = ["groups"]

    def setup(self, groups: int) -> None:
        self.comparisons = _comparisons(groups)
        self._evaluate(64)  # compiles

    def _evaluate(self, n_resamples: int) -> None:
        ff.evaluate(self.comparisons, ff.at_fmr(1e-2), n_resamples=n_resamples, rng=0, n_threads=1)

    def time_evaluate(self, groups: int) -> None:
        self._evaluate(256)

    def peakmem_evaluate(self, groups: int) -> None:
        self._evaluate(256)


class Growth:
    """1,024 replicates of the EER, with comparisons."""

    params = [100_000, 1_000_000]
    param_names = ["comparisons"]

    def setup(self, size: int) -> None:
        self.comparisons = comparisons_of_subjects(size)
        self.time_evaluate(size)  # compiles

    def time_evaluate(self, size: int) -> None:
        ff.evaluate(self.comparisons, at=[], metrics=["eer"], measures=[], n_resamples=1024, rng=0)

    def peakmem_evaluate(self, size: int) -> None:
        self.time_evaluate(size)


class Sessions:
    """1,024 replicates of people and of the days that they share, beside those of people alone."""

    params = ["none", "3 of 20", "40 of 40"]
    param_names = ["days of each"]

    def setup(self, days: str) -> None:
        each, _, n_days = days.partition(" of ")
        kinds = {"n_days": int(n_days), "days_of_each": int(each)} if n_days else {}
        self.comparisons = comparisons_of_subjects(100_000, **kinds)
        self.time_evaluate(days)  # compiles

    def time_evaluate(self, days: str) -> None:
        ff.evaluate(self.comparisons, _POINTS, [], metrics=["eer"], n_resamples=1024, rng=0)


class Intervals:
    """Intervals of all quantities at 5 operating points, from 1,024 replicates that stand."""

    params = [[2, 18, 40], ["two-sided", "less", "simultaneous"]]
    param_names = ["groups", "kind"]

    def setup(self, groups: int, kind: str) -> None:
        points = [ff.at_fmr(fmr) for fmr in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)]
        self.evaluation = ff.evaluate(
            _comparisons(groups), points, n_resamples=1024, rng=0, n_threads=1
        )
        self.time_with_intervals(groups, kind)  # compiles

    def time_with_intervals(self, groups: int, kind: str) -> None:
        if kind == "simultaneous":
            self.evaluation.with_intervals(simultaneous=True)
        else:
            self.evaluation.with_intervals(alternative=kind)
