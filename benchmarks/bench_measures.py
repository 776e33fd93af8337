"""Every fairness measure over 1,000 replicates of 5 operating points and 20 groups at once."""

from __future__ import annotations

import numpy as np

from fastfair.measures import MEASURES


class Measures:
    params = sorted(MEASURES)
    param_names = ["measure"]

    def setup(self, name: str) -> None:
        rng = np.random.default_rng(0)
        fmr, fnmr = rng.uniform(1e-4, 1e-1, (2, 1000, 5, 20))
        rates = (fmr,) if MEASURES[name].of else (fmr, fnmr)
        averages = [x.mean(axis=-1) for x in rates] if MEASURES[name].global_reference else []
        self.arguments = (*rates, *averages)

    def time_measure(self, name: str) -> None:
        MEASURES[name].function(*self.arguments)
