"""Reading scores and vectors from files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import fastfair as ff

from ._data import labelled_columns, vectors_of_subjects


class Files:
    """200,000 comparisons with text ids, and 20,000 vectors of 512 numbers."""

    def setup(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fastfair-bench-")
        self.scores, self.vectors = (
            Path(self._folder.name) / name for name in ("scores.csv", "vectors.npy")
        )
        columns = labelled_columns(200_000)
        del columns["reference_group"]
        pl.DataFrame(columns | {"mated": columns["mated"].astype(np.int8)}).write_csv(self.scores)
        np.save(self.vectors, vectors_of_subjects(20_000, 10, 512))
        self.subject = np.arange(20_000) // 10
        self.time_read_comparisons()  # compiles

    def teardown(self) -> None:
        self._folder.cleanup()

    def time_read_comparisons(self) -> None:
        ff.read_comparisons(
            self.scores, score="scores", mated="mated", reference="reference", probe="probe"
        )

    def peakmem_read_comparisons(self) -> None:
        self.time_read_comparisons()

    def time_read_embeddings(self) -> None:
        ff.read_embeddings(self.vectors, subject=self.subject)

    def peakmem_read_embeddings(self) -> None:
        self.time_read_embeddings()
