"""Read datasets of HDF5 files, after another process has checked them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fastfair._lib import memory, validation
from fastfair.errors import FileFormatError

from .other_process import check_in_other_process
from .reading import reading

_PROGRAM = Path(__file__).with_name("hdf5_check.py")
_OF_VECTORS = ["vectors", "name"]  # what a file has where each of its datasets is a vector


class Datasets:
    """The datasets of a file by path; where each is one vector, all of them as "vectors" and their paths as "name"."""

    def __init__(self, path: Path, file: Any, found: dict[str, Any]) -> None:
        self._each = found["names"] if found["each_a_vector"] else []
        self.names: list[str] = _OF_VECTORS if self._each else found["names"]
        self._path, self._file = path, file

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        h5py = validation.require("h5py", "hdf5", "reading HDF5")
        if self._each and name == "name":
            return np.array(self._each)
        with reading(f"{self._path}: dataset {name!r}"):
            if self._each:
                return np.stack([self._file[path][...].ravel() for path in self._each])
            dataset = self._file[name]
            return dataset.asstr()[...] if h5py.check_string_dtype(dataset.dtype) else dataset[...]


@contextmanager
def opened(path: Path, wanted: Sequence[str]) -> Iterator[Datasets]:
    """Open a file, after another process has read all datasets wanted.

    libhdf5 crashes on some damaged files, or never returns. The other process costs a few tenths of a second, and the
    datasets are read twice.

    Parameters
    ----------
    path : path
        The file.
    wanted : sequence of str
        Paths of datasets, which need not exist: first that of the vectors.

    Yields
    ------
    Datasets

    Raises
    ------
    FileFormatError
        For damaged files, and for datasets whose numbers are in other files.
    """
    h5py = validation.require("h5py", "hdf5", "reading HDF5")
    found = check_in_other_process(_PROGRAM, path, wanted, "libhdf5")
    for name, why in found["refused"].items():
        raise FileFormatError(f"{path}: {name!r} {why}")
    sizes = found["sizes"]
    if found["each_a_vector"]:
        sizes = {"vectors": 2 * sum(sizes.values())}  # as they are joined
    for name, size in sizes.items():
        memory.require(size, f"the numbers of {path}: {name!r}", "save them as .npy, which is not read whole")
    with reading(path):
        file = h5py.File(path, "r")
    with file:
        yield Datasets(path, file, found)
