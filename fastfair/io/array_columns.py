"""Score files of NumPy arrays: columns that are the arrays of a .npz file, or .npy files of one array each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import arrays, validation
from fastfair.errors import FileFormatError, InputError

from . import array_files, reading
from .tables import Table

if TYPE_CHECKING:
    import polars as pl


def chosen(
    path: Path, names: Mapping[str, str | None], groups_of: Mapping[str, Any]
) -> tuple[Table, str, dict[str, str | None], list[Any], list[str]]:
    """Return the arguments of `formats.choose` for the arrays of a file.

    Parameters
    ----------
    path : path
        A .npz, or a .npy with the scores.
    names : dict
        For each role the name of its array; next to a .npy, the .npy that holds it.
    groups_of : dict
        Names of arrays with groups, or pairs of them, and of attributes of the metadata.
    """
    groups, of_metadata = groups_of["groups"], groups_of["of_metadata"]
    if path.suffix != ".npy":
        with array_files.opened(path) as found:
            known = list(found.names)
        return (
            Table(path, known, lambda wanted, numbers: _of_npz(path, wanted)),
            "arrays",
            {**names},
            groups,
            of_metadata,
        )
    if names["score"] is not None:
        raise InputError(f"{path} holds one array without a name, so leave score= out")
    files = {"score": path}

    def column_of(name: str) -> str:
        """Return the name of the column for a .npy file: that of the file, without the suffix."""
        if not name.endswith(".npy"):
            raise InputError(
                f"{path} holds one array without a name, so what goes with it is in .npy files, too: name one, not "
                f"{name!r}"
            )
        file = reading.check_file(name)
        column = file.stem if files.get(file.stem, file) == file else name
        files[column] = file
        return column

    roles = {role: None if name is None else column_of(name) for role, name in names.items()}
    labels = [tuple(map(column_of, one)) if isinstance(one, tuple) else column_of(one) for one in groups]
    table = Table(
        path, list(files), lambda wanted, numbers: _columns({n: array_files.read_npy(files[n]) for n in wanted})
    )
    return table, "arrays", roles, labels, of_metadata


def _of_npz(path: Path, wanted: Sequence[str]) -> pl.DataFrame:
    with array_files.opened(path) as found:
        return _columns({name: found[name] for name in wanted})


def _columns(found: Mapping[str, np.ndarray[Any, Any]]) -> pl.DataFrame:
    """Make a data frame of arrays of one dimension, which must have the same length."""
    pl = reading.polars()
    columns = {name: arrays.column(name, array) for name, array in found.items()}
    validation.same_length({name: array.size for name, array in columns.items()})
    return pl.DataFrame([_series(name, array) for name, array in columns.items()])


def _series(name: str, array: np.ndarray[Any, Any]) -> pl.Series:
    pl = reading.polars()
    if array.dtype.kind in "SU":
        try:
            return pl.Series(name, (np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array).tolist())
        except UnicodeDecodeError:
            raise FileFormatError(f"array {name!r} holds bytes that are not UTF-8 text") from None
    if array.dtype.kind not in "biuf":
        raise FileFormatError(f"array {name!r} must hold numbers or text, but its type is {array.dtype}")
    return pl.Series(name, array.astype(np.float32) if array.dtype == np.float16 else array)
