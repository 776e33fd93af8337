"""The whole evaluation in one call, intervals in closed form; `bench_resampling` has those of
replicates."""

from __future__ import annotations

import fastfair as ff

from ._data import labelled_columns


class Evaluation:
    """500,000 comparisons of 1,188 subjects."""

    params = [2, 18, 66]
    param_names = ["groups"]

    def setup(self, groups: int) -> None:
        self.comparisons = ff.Comparisons(
            **labelled_columns(500_000, n_groups=groups, subjects_per_group=1188 // groups)
        )
        self.points = [ff.at_fmr(1e-3), ff.at_eer()]
        self.time_evaluate(groups)  # compiles

    def time_evaluate(self, groups: int) -> None:
        # `by` leaves the cached split into groups behind, so that every call pays for it.
        ff.evaluate(self.comparisons.by("group"), at=self.points, metrics="all", n_resamples=0)

    def time_rates(self, groups: int) -> None:
        ff.rates(self.comparisons.by("group"), self.points[0])

    def peakmem_evaluate(self, groups: int) -> None:
        self.time_evaluate(groups)
