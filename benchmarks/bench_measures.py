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
        self.arguments = {
            "both rates": (fmr, fnmr),
            "one metric": (fmr,),
            "metric and average": (fmr, fmr.mean(axis=-1)),
            "both rates and averages": (fmr, fnmr, fmr.mean(axis=-1), fnmr.mean(axis=-1)),
        }[MEASURES[name].inputs]

    def time_measure(self, name: str) -> None:
        MEASURES[name].function(*self.arguments)
