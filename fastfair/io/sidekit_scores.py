"""Scores and keys of sidekit and BOSARIS: a matrix in HDF5, with names of models and segments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arrays import AnyArray
from fastfair._lib.warnings import warn
from fastfair.errors import FastfairWarning, FileFormatError

from . import files, tables

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".h5", ".hdf5")
_SIDEKIT = ("modelset", "segset")
_BOSARIS = ("ID/row_ids", "ID/column_ids")
_SCORES = ("scores", "score_mask")
_KEY = "trial_mask"  # 1 for targets, -1 for others, 0 for no trial


def read_scores(path: Path) -> pl.DataFrame:
    """Return `enrol`, `test` and `score` of the pairs that have a score."""
    table, models, segments = _opened(path, _SCORES)
    scores, mask = (_matrix(table, name, models, segments) for name in _SCORES)
    if not set(np.unique(mask).tolist()) <= {0, 1}:
        raise FileFormatError(f"{path}: 'score_mask' holds something else than 0 and 1")
    return _pairs(path, models, segments, mask != 0, scores, "score")


def read_key(path: Path) -> pl.DataFrame:
    """Return `enrol`, `test` and `label` of the trials."""
    table, models, segments = _opened(path, (_KEY,))
    mask = _matrix(table, _KEY, models, segments)
    if not set(np.unique(mask).tolist()) <= {-1, 0, 1}:
        raise FileFormatError(f"{path}: {_KEY!r} holds something else than 1, 0 and -1")
    return _pairs(path, models, segments, mask != 0, mask > 0, "label")


def _opened(path: Path, matrices: tuple[str, ...]) -> tuple[tables.Table, AnyArray, AnyArray]:
    """Open a file; return the names of its rows and columns, too."""
    table = tables.read_hdf5(path, [*matrices, *_SIDEKIT, *_BOSARIS])
    names = next((pair for pair in (_SIDEKIT, _BOSARIS) if {*pair} <= {*table.names}), None)
    if names is None or not {*matrices} <= {*table.names}:
        raise FileFormatError(
            f"{path} is no file of sidekit or BOSARIS: it has the datasets {', '.join(table.names)},"
            f" not {', '.join([*_SIDEKIT, *matrices])}"
        )
    assert table.take is not None
    models, segments = (validation.column(name, table.take(name)) for name in names)
    for name, labels in zip(names, (models, segments), strict=True):
        if len({*labels.tolist()}) < labels.size:
            raise FileFormatError(f"{path}: {name!r} has a name twice")
    if names == _BOSARIS and models.size == segments.size:
        warn(
            f"{path}: its matrix is square: its rows are taken for models; MATLAB exchanges rows and"
            " columns, so that these may be its columns",
            FastfairWarning,
        )
    return table, models, segments


def _matrix(table: tables.Table, name: str, models: AnyArray, segments: AnyArray) -> AnyArray:
    assert table.take is not None
    matrix = table.take(name)
    shape = (models.size, segments.size)
    if matrix.shape != shape:
        exchanged = matrix.shape == shape[::-1]
        raise FileFormatError(
            f"{table.place}: {name!r} has the shape {matrix.shape}, but there are {shape[0]:,} models"
            f" and {shape[1]:,} segments"
            + ("; MATLAB exchanges rows and columns: write the transpose" if exchanged else "")
        )
    return matrix


def _pairs(
    path: Path, models: AnyArray, segments: AnyArray, mask: AnyArray, values: AnyArray, what: str
) -> pl.DataFrame:
    pl = files.polars()
    if not mask.any():
        raise FileFormatError(f"{path} has no {what}s: its mask has nothing but 0")
    rows, columns = np.nonzero(mask)
    sides = {
        side: pl.Series(names.astype(str).tolist(), dtype=pl.String).cast(pl.Categorical)[places]
        for side, names, places in (("enrol", models, rows), ("test", segments, columns))
    }
    return pl.DataFrame({**sides, what: values[rows, columns]})
