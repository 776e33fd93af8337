"""Read arrays from NumPy's files; their headers are compared with the files' sizes before memory is allocated."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from fastfair._lib import memory, validation
from fastfair.data.temporary_files import room
from fastfair.errors import FileFormatError, InputError

from .reading import reading

Array = np.ndarray[Any, Any]
_AT_ONCE = 2**24  # bytes


def read_npy(path: Path) -> Array:
    """Return the array of a .npy file, in memory, or in a temporary file where it would take much of what is free.

    An array that is mapped to the file itself would change with it, and end the process where the file is cut off.
    """
    with reading(path), path.open("rb") as stream:
        shape, is_fortran, dtype = _check_header(path, stream, path.stat().st_size)
        array = room(math.prod(shape), dtype)
        left = array.view(np.uint8).data if array.size else memoryview(b"")
        while left:
            n = stream.readinto(left[:_AT_ONCE])
            if not n:
                raise FileFormatError(f"{path} ends before its array does")
            left = left[n:]
    return array.reshape(shape[::-1]).T if is_fortran else array.reshape(shape)


class Archive:
    """The arrays of a .npz file by name."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path, self._file = path, file
        members = [info.filename for info in file.infolist()]
        self.names = [member.removesuffix(".npy") for member in members]
        name, times = next(iter(Counter(self.names).most_common(1)), ("", 0))
        if times > 1:
            raise FileFormatError(f"{path} has {times} arrays called {name!r}")

    def __getitem__(self, name: str) -> Array:
        info = self._file.infolist()[self.names.index(name)]
        place = f"{self._path}: array {name!r}"
        memory.require(info.file_size, f"the numbers of {place}", "save it as .npy, which is not read whole")
        with reading(place):
            with self._file.open(info) as stream:
                _check_header(place, stream, info.file_size)
            with self._file.open(info) as stream:
                array: Array = npy.read_array(stream, allow_pickle=False)
                if stream.read(1):
                    raise FileFormatError(f"{place} has more bytes than its header says")
            return array


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a .npz file."""
    with reading(path):
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(path, file)


def read_matrix(path: Path, name: str | None) -> Array:
    """Read the array of a .npy file, or the named or only array of a .npz file."""
    if path.suffix == ".npy":
        return read_npy(path)
    with opened(path) as arrays:
        if name is None and len(arrays.names) != 1:
            raise InputError(f"{path} holds the arrays {', '.join(arrays.names)}: say which with score=")
        name = arrays.names[0] if name is None else name
        if name not in arrays.names:
            raise InputError(validation.not_there(path, name, arrays.names, kind="array"))
        return arrays[name]


def recognise(path: Path, name: str | None) -> str:
    """Return "matrix" for a file whose scores have two dimensions, or "arrays" for one array a column."""
    if path.suffix == ".npy":
        return "arrays" if read_npy(path).ndim == 1 else "matrix"
    with opened(path) as arrays:
        wanted = name or ("score" if len(arrays.names) != 1 else arrays.names[0])
        return "arrays" if wanted in arrays.names and arrays[wanted].ndim == 1 else "matrix"


def _check_header(place: object, stream: BinaryIO | Any, size: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Refuse Python objects, and a header that says another size than the file has; return what the header says."""
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise FileFormatError(f"{place} cannot be read: format version {version} is for arrays with named fields")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(stream)
    if dtype.hasobject:
        raise FileFormatError(
            f"{place} cannot be read: it holds pickled Python objects, which are never loaded; save numbers as floats, "
            "and names as text, as in np.array(names, dtype=str)"
        )
    count: int = math.prod(map(int, shape))  # as Python's int, since NumPy's would overflow
    said, held = count * dtype.itemsize, size - stream.tell()
    if said != held or min(shape, default=0) < 0 or (dtype.itemsize == 0 and count):
        raise FileFormatError(
            f"{place} cannot be read: its header says {said:,} bytes, an array of shape {shape} and type {dtype}, but "
            f"{held:,} follow"
        )
    return shape, is_fortran, dtype
