"""Files of vectors: their arrays, datasets or columns, each read when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair.errors import FileFormatError, InputError

from . import array_files, hdf5_files, reading, tables
from .other_process import check_in_other_process

_PARQUET_CHECK = Path(__file__).with_name("parquet_check.py")
# The first bytes of files with each suffix.
_BEGINNINGS = {
    ".npy": b"\x93NUMPY",
    ".npz": b"PK",
    ".parquet": b"PAR1",
    ".h5": b"\x89HDF\r\n\x1a\n",
    ".hdf5": b"\x89HDF\r\n\x1a\n",
}


@dataclass(frozen=True)
class Fields:
    """The named arrays of a file, or the columns of a table; each is read when it is needed.

    Attributes
    ----------
    place : path or str
        The file or data frame, for messages.
    kind : str
        "array", "dataset" or "column", for messages.
    names : list of str, or None
        Their names; None if the file holds one array without a name.
    take_vectors, take_labels : callable
        Return the field of a name as an array of two dimensions, or as labels.
    table : Table, or None
        The table, if the fields are columns.
    """

    place: Path | str
    kind: str
    names: list[str] | None
    take_vectors: Callable[[str], np.ndarray[Any, Any]]
    take_labels: Callable[[str], validation.Labels]
    table: tables.Table | None = None

    def vectors(self, name: str | None) -> np.ndarray[Any, Any]:
        """Return the vectors: the field named, or the one called "vectors"."""
        if self.names is not None:
            return self.take_vectors(_named(self, self.names, "vectors", name))
        if name is not None:
            raise InputError(f"{self.place} holds one array without a name, so leave vectors= out")
        return self.take_vectors("")

    def labels(self, role: str, name: str | None) -> validation.Coded:
        """Return the labels of a role: the field named, or the one with the name of the role."""
        if self.names is None:
            raise InputError(
                f"{self.place} holds nothing but vectors: give the {role} of each as an array, or a table with one row "
                "for each vector as samples="
            )
        name = _named(self, self.names, role, name)
        try:
            return validation.encode(name, self.take_labels(name))
        except FileFormatError:
            raise
        except InputError as error:
            line = "" if self.table is None or error.row is None else f"{self.table.where(error.row)}: "
            raise InputError(f"{self.place}: {line}{error}", error.row) from None

    def told(self, error: InputError, keep: NDArray[np.bool_] | None = None) -> InputError:
        """Return an error about vectors, of which only those of `keep` may have been taken, with the file's name."""
        among = "" if keep is None else " (of those with metadata)"
        return type(error)(f"{self.place}: {error}{among}", error.row)


def _named(fields: Fields, names: list[str], role: str, name: str | None) -> str:
    """Return the name of the field for a role."""
    wanted = role if name is None else name
    if wanted in names:
        return wanted
    raise InputError(validation.not_there(fields.place, wanted, names, role=role, kind=fields.kind))


@contextmanager
def opened(source: Any, wanted: list[str]) -> Iterator[Fields]:
    """Open a file of vectors, from which some fields are wanted, or take a data frame."""
    if not isinstance(source, str | Path):
        yield of_table(tables.of_frame(source, "path", "the data frame"))
        return
    path = reading.check_file(source)
    suffix = path.suffix.lower()
    if suffix not in _BEGINNINGS:
        raise FileFormatError(f"{path}: vectors are read from {', '.join(_BEGINNINGS)}, not from {suffix!r}")
    _check_beginning(path, suffix)
    if suffix == ".npy":
        array = array_files.read_npy(path)
        yield Fields(path, "array", None, lambda name: array, lambda name: array)
    elif suffix == ".npz":
        with array_files.opened(path) as arrays:
            yield _of_arrays(path, "array", arrays.names, arrays.__getitem__)
    elif suffix == ".parquet":
        check_in_other_process(_PARQUET_CHECK, path, wanted, "polars")
        yield of_table(tables.of_parquet(path))
    else:
        with hdf5_files.opened(path, wanted) as datasets:
            yield _of_arrays(path, "dataset", datasets.names, datasets.__getitem__)


def _check_beginning(path: Path, suffix: str) -> None:
    with path.open("rb") as file:
        head = file.read(8)
    if not head.startswith(_BEGINNINGS[suffix]):
        found = next(
            (f"as {other} files do" for other, b in _BEGINNINGS.items() if head.startswith(b)), f"with {head!r}"
        )
        raise FileFormatError(f"{path} is no {suffix} file: it begins {found}")


def _of_arrays(path: Path, kind: str, names: list[str], take: Callable[[str], np.ndarray[Any, Any]]) -> Fields:
    def take_labels(name: str) -> validation.Labels:
        array = take(name)
        if array.dtype.kind == "S":
            with reading.reading(f"{path}: {kind} {name!r}"):
                return np.char.decode(array, "utf-8")
        return array

    return Fields(path, kind, names, take, take_labels)


def of_table(table: tables.Table) -> Fields:
    """Take the columns of a table as fields."""

    def take_labels(name: str) -> validation.Labels:
        return FrameColumns(table.columns([table.require("labels", name)])).labels(name)

    def take_vectors(name: str) -> np.ndarray[Any, Any]:
        pl = reading.polars()
        place = f"{table.place}: column {name!r}"
        column = table.columns([table.require("vectors", name)])[name]
        if isinstance(column.dtype, pl.List):
            sizes = column.list.len().fill_null(0)
            size = int(np.max(sizes.to_numpy(), initial=0))
            wrong = (sizes != size).arg_true()
            if len(wrong):
                row = int(wrong[0])
                raise FileFormatError(
                    f"{place} holds {int(sizes[row])} numbers in row {row} (counted from 0), but {size} in others; "
                    f"{len(wrong)} such rows"
                )
            with reading.reading(place):
                column = column.list.to_array(size)
        with reading.reading(place):
            return np.asarray(column.to_numpy())

    return Fields(table.place, "column", table.names, take_vectors, take_labels, table)
