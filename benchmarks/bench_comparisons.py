"""Validating and sorting comparisons, with and without subjects and groups."""

from __future__ import annotations

from typing import Any

import fastfair as ff

from ._data import labelled_columns


class Construction:
    params = [["scores", "subjects and groups"], ["float32", "float64"]]
    param_names = ["columns", "dtype"]

    def setup(self, columns: str, dtype: str) -> None:
        everything = labelled_columns(500_000, dtype)
        wanted = everything if columns == "subjects and groups" else ("scores", "mated")
        self.columns: dict[str, Any] = {name: everything[name] for name in wanted}
        ff.Comparisons(**{name: column[:1000] for name, column in self.columns.items()})  # compiles

    def time_construct(self, columns: str, dtype: str) -> None:
        ff.Comparisons(**self.columns)

    def peakmem_construct(self, columns: str, dtype: str) -> None:
        ff.Comparisons(**self.columns)
