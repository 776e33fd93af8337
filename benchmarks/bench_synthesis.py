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
        ff.synthesis.synthesize_each(
            3000, 3000, "fmr", [0.01] * sets, stop=stop, rng=1, n_threads=threads
        )


class Systems:
    """A biased system of four groups, and all measures of it."""

    def setup(self) -> None:
        self.system = ff.biased_system("1:1:3:5", rng=0)

    def time_biased_system(self) -> None:
        ff.biased_system("1:1:3:5", rng=0)

    def peakmem_biased_system(self) -> None:
        self.time_biased_system()

    def time_measures(self) -> None:
        self.system.measures()
