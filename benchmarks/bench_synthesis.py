"""Synthesis by hill climbing."""

from __future__ import annotations

import fastfair as ff


class Sets:
    """Data sets of 3,000 + 3,000 comparisons, all 1,000 steps made or until the rate is reached."""

    params = [[1, 64], [False, True], [1, 2]]
    param_names = ["sets", "stop", "threads"]

    def setup(self, sets: int, stop: bool, threads: int) -> None:
        self.time_synthesize_each(1, True, 1)  # compiles

    def time_synthesize_each(self, sets: int, stop: bool, threads: int) -> None:
        ff.synthesize_each(3000, 3000, "fmr", [0.01] * sets, stop=stop, rng=1, n_threads=threads)


class Families:
    """All 44 systems of paper 1, and all measures of them."""

    def setup(self) -> None:
        self.family = ff.scenario_family(rng=0)

    def time_scenario_family(self) -> None:
        ff.scenario_family(rng=0)

    def peakmem_scenario_family(self) -> None:
        self.time_scenario_family()

    def time_measures(self) -> None:
        self.family.measures()
