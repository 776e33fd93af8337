"""Scans of Parquet files and their evaluation, by threads and by workers of Dask."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .versus import scans


class Scan:
    """2 million comparisons of 20,000 subjects in 8 groups, 256 replicates."""

    params = [0, 1, 2]
    param_names = ["workers"]  # of one thread; 0: threads of this process

    def setup(self, workers: int) -> None:
        self._executor, self._cluster = None, None
        if workers:
            try:
                import distributed
            except ImportError:
                raise NotImplementedError from None  # asv skips it
            self._cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            )
            self._executor = distributed.Client(self._cluster)
        self._folder = tempfile.TemporaryDirectory(prefix="fastfair-bench-")
        scans.write(Path(self._folder.name), 2_000_000)
        self.time_evaluation(workers)  # compiles

    def teardown(self, workers: int) -> None:
        if self._executor is not None:
            self._executor.close()
            self._cluster.close()
        self._folder.cleanup()

    def time_evaluation(self, workers: int) -> None:
        scans.evaluate(Path(self._folder.name), 256, self._executor)

    def peakmem_evaluation(self, workers: int) -> None:
        self.time_evaluation(workers)
