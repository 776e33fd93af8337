"""The whole evaluation in one call, without intervals; `bench_resampling` has these."""

from __future__ import annotations

import fastfair as ff

from ._data import labelled_columns


class Evaluation:
    def setup(self) -> None:
        self.comparisons = ff.Comparisons(**labelled_columns(500_000))
        self.points = [ff.at_fmr(1e-3), ff.at_eer()]
        self.time_evaluate()  # compiles

    def time_evaluate(self) -> None:
        # `by` leaves the cached split into groups behind, so that every call pays for it.
        ff.evaluate(self.comparisons.by("group"), at=self.points, n_resamples=0)

    def time_rates(self) -> None:
        ff.rates(self.comparisons.by("group"), self.points[0])

    def peakmem_evaluate(self) -> None:
        self.time_evaluate()
