"""Files of vectors, with what is known of each, in every format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars as pl


def in_lists(vectors: np.ndarray) -> list[list[float]]:
    return list(map(list, vectors))


def write_vectors(
    path: Path, fields: dict[str, Any], as_column: Callable[[Any], Any] = in_lists
) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **fields)
    elif path.suffix == ".parquet":
        pl.DataFrame(
            {k: as_column(v) if np.ndim(v) == 2 else v for k, v in fields.items()}
        ).write_parquet(path)
    else:
        with h5py.File(path, "w") as file:
            for name, values in fields.items():
                file[name] = values
    return path
