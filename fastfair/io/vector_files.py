"""Files of vectors, one record for each kind: what they hold, and how they are read.

The documentation takes its table from `VECTOR_FILES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fastfair._lib.arrays import AnyArray
from fastfair.errors import FileFormatError

from . import files, json_tables, kaldi_archives, safetensors_files, tables, text
from .tables import Table

_EACH = ["vectors", "name"]
_MOST = 0.5  # of arrays have one length where they are vectors


@dataclass(frozen=True)
class VectorFile:
    """A kind of files of vectors.

    Attributes
    ----------
    suffixes : tuple of str
        How their names end.
    vectors, labels : str
        Where vectors, and subjects and groups are, for the documentation.
    read : callable
        Makes a table of a file, of which some columns are wanted, that of the vectors first.
    """

    suffixes: tuple[str, ...]
    vectors: str
    labels: str
    read: Callable[[Path, Sequence[str]], Table]


def open_vectors(source: Any, wanted: Sequence[str]) -> Table:
    """Make a table of a file of vectors, of which some columns are wanted, that of the vectors
    first, or of a frame.
    """
    if not isinstance(source, str | Path):
        return tables.read_frame(source, "path", "the data frame")
    path = files.check_file(source)
    suffix = path.suffix.lower()
    kind = next((kind for kind in VECTOR_FILES if suffix in kind.suffixes), None)
    return _of_text(path) if kind is None else kind.read(path, wanted)


def _of_text(path: Path) -> Table:
    """Make a table of a text file of vectors, with a header, and a column for each of their
    numbers.
    """
    suffixes = ", ".join(suffix for kind in VECTOR_FILES for suffix in kind.suffixes)
    would_do = (
        f"vectors are read from {suffixes}, and from CSV with a column for each number; save arrays"
        " with numpy.savez(path, vectors=..., subject=...), or pass them to Embeddings(vectors,"
        " subject)"
    )
    with path.open("rb") as file:
        start = file.read(files.LOOKED_AT)
    if what := files.kind_of(start):
        raise FileFormatError(f"{path} is {what}; {would_do}")
    content = text.read(path, failures=True)  # rows of missing numbers are vectors that failed
    separator = tables.separator_of(content)
    if separator is None or all(map(text.is_number, content.first.split(separator))):
        raise FileFormatError(
            f"{path} has no header that names columns: {content.first[:120]!r}; {would_do}"
        )
    return tables.read_text(content, separator)


def _are_vectors(
    path: Path, shapes: Mapping[str, tuple[tuple[int, ...], str]], wanted: Sequence[str]
) -> bool:
    """Return whether each of several arrays is a vector, so that their names are those of samples;
    refused are vectors of which a few have another length than most.

    shapes: shape and kind of type of each.
    """
    sizes = {
        name: max(shape)
        if max(shape, default=0) == np.prod(shape) and kind in "fiu" and kind
        else 0
        for name, (shape, kind) in shapes.items()
    }
    if wanted[0] in shapes or not sizes or min(sizes.values()) < 2:
        return False
    ((usual, n_usual), *others) = Counter(sizes.values()).most_common()
    if others and n_usual > _MOST * len(sizes):
        name = next(name for name, size in sizes.items() if size != usual)
        raise FileFormatError(
            f"{path}: {name!r} has {sizes[name]} numbers, and most others have {usual}: vectors have"
            " the same length"
        )
    return not others


def _of_each(path: Path, names: list[str], take: Callable[[], AnyArray]) -> Table:
    """Make a table of vectors that have a name each; `take` returns them."""
    pl = files.polars()
    return Table(path, _EACH, lambda *_: pl.DataFrame({"name": names}), lambda _: take(), "array")


def _of_npz(path: Path, wanted: Sequence[str]) -> Table:
    """Make a table of arrays, or of vectors where each is one."""
    arrays = tables.read_arrays(path)
    if wanted[0] not in arrays.names and len(set(arrays.names)) == len(arrays.names):
        headers = tables.headers_of_arrays(path)
        shapes = {name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}
        if _are_vectors(path, shapes, wanted):
            return _of_each(path, arrays.names, lambda: tables.stack_arrays(path, headers))
    return arrays


def _of_json(path: Path, wanted: Sequence[str]) -> Table:
    """Make a table of rows, or of an object whose entries are vectors by name."""
    columns = json_tables.read_columns(path)
    if columns.by_name and _are_vectors(
        path, {name: ((len(values),), "f") for name, values in columns.values.items()}, wanted
    ):
        rows = [json_tables.numbers(path, name, row) for name, row in columns.values.items()]
        return _of_each(path, list(columns.values), lambda: np.array(rows))
    return json_tables.table_of(path, columns)


def _of_safetensors(path: Path, wanted: Sequence[str]) -> Table:
    """Make a table of tensors, or of vectors where each is one."""
    tensors = safetensors_files.read_header(path)
    shapes = {name: (t.shape, safetensors_files.kind_of(t)) for name, t in tensors.items()}

    def take(name: str) -> AnyArray:
        return safetensors_files.read_tensor(path, name, tensors[name])

    if _are_vectors(path, shapes, wanted):
        return _of_each(
            path, list(tensors), lambda: np.stack([take(name).ravel() for name in tensors])
        )
    return tables.of_arrays(path, list(tensors), take)


def _of_kaldi(path: Path, _: Sequence[str]) -> Table:
    names, vectors = kaldi_archives.read_vectors(path)
    return _of_each(path, names, lambda: vectors)


_BY_NAME = "arrays by name, or the names of the vectors"
VECTOR_FILES = (
    VectorFile(
        (".npy",),
        "the array",
        "arrays, or a table of samples",
        lambda path, _: tables.read_arrays(path),
    ),
    VectorFile((".npz",), "an array by name, or an array for each vector", _BY_NAME, _of_npz),
    VectorFile(
        (".parquet",),
        "a column of lists, or one for each number",
        "columns",
        lambda path, _: tables.of_parquet(path),
    ),
    VectorFile(
        json_tables.SUFFIXES,
        "lists in a list of objects or an object on each line; or an object of lists by name",
        "columns, or the names of the vectors",
        _of_json,
    ),
    VectorFile(
        (".ark", ".scp"),
        "Kaldi's vectors or matrices with one row, binary or text",
        "the names of the vectors",
        _of_kaldi,
    ),
    VectorFile(
        (".safetensors",), "a tensor by name, or one for each vector", _BY_NAME, _of_safetensors
    ),
    VectorFile(
        (".h5", ".hdf5"),
        "a dataset by path, or one for each vector (extra `hdf5`)",
        "datasets by path, or the paths of the vectors",
        tables.read_hdf5,
    ),
)
