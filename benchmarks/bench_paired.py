"""Two systems compared on the same replicates."""

from __future__ import annotations

import fastfair as ff

from ._data import labelled_columns


class Compare:
    """100,000 comparisons of 1,188 subjects in 6 groups; the second system adds little noise to the
    first."""

    params = [[64, 1024], [1, 2]]
    param_names = ["replicates", "threads"]

    def setup(self, replicates: int, threads: int) -> None:
        columns = labelled_columns(100_000, n_groups=6, subjects_per_group=198)
        self.first = ff.Comparisons(**columns)
        self.second = ff.Comparisons(**columns | {"scores": columns["scores"].round(1)})
        self.time_compare(64, threads)  # compiles

    def time_compare(self, replicates: int, threads: int) -> None:
        ff.compare(
            self.first,
            self.second,
            ff.at_fmr(1e-2),
            n_resamples=replicates,
            rng=0,
            n_threads=threads,
        )
