"""Logs of searches: 1 million candidates of 10,000 searches, beside their bare reading."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from .versus.search_logs import identified, write


class SearchLog:
    params = ["csv", "parquet"]
    param_names = ["format"]

    def setup(self, suffix: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fastfair-bench-")
        self.log = write(Path(self._folder.name), suffix, 10_000)
        self.time_read_and_identify(suffix)  # compiles

    def teardown(self, suffix: str) -> None:
        self._folder.cleanup()

    def time_read_and_identify(self, suffix: str) -> None:
        identified(self.log)

    def time_bare_reading(self, suffix: str) -> None:
        pl.read_csv(self.log) if suffix == "csv" else pl.read_parquet(self.log)

    def peakmem_read_and_identify(self, suffix: str) -> None:
        identified(self.log)
