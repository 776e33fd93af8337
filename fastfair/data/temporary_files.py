"""Arrays in temporary files, where memory cannot hold them."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import DTypeLike

from fastfair._lib import memory, whole_files
from fastfair._lib.arrays import AnyArray
from fastfair._lib.whole_files import explained
from fastfair.errors import FileFormatError, MissingFileError

_SCAN_AGAIN = (
    "scan again, with ⟦folder=⟧ where files stay until the scan is done with, and where all workers"
    " of an executor find them"
)
_SHARE_OF_MEMORY = 8  # of what is free, a share may hold an array
_ALWAYS_IN_MEMORY = 2**24  # bytes


def room(shape: int | tuple[int, ...], dtype: DTypeLike) -> AnyArray:
    """Return an array to write to, in memory, or in a temporary file where it would take much of
    what is free.

    The file has no name, and ends with the array, or with the process.

    Parameters
    ----------
    shape, dtype
        As `numpy.empty` takes them.

    Returns
    -------
    ndarray
        Its values are arbitrary.

    Raises
    ------
    OutputError
        Where the disk has no room for it.
    """
    sizes = (shape,) if isinstance(shape, int) else shape
    n_bytes = math.prod(sizes) * np.dtype(dtype).itemsize
    if n_bytes <= _ALWAYS_IN_MEMORY or n_bytes <= memory.available() // _SHARE_OF_MEMORY:
        return np.empty(shape, dtype)
    with (
        explained(whole_files.temporary_root()),
        tempfile.TemporaryFile(prefix="fastfair-") as file,
    ):
        _take_up(file, n_bytes)
        return np.asarray(np.memmap(file, dtype, "r+", shape=sizes))


def join_arrays(arrays: list[AnyArray]) -> AnyArray:
    """Return arrays of one dimension, one behind the other; the list is empty afterwards, so that
    memory is freed.
    """
    if len(arrays) == 1:
        return arrays.pop()
    whole = room(sum(array.size for array in arrays), arrays[0].dtype)
    start = 0
    while arrays:
        array = arrays.pop(0)
        whole[start : start + array.size] = array
        start += array.size
    return whole


def _take_up(file: IO[bytes], n_bytes: int) -> None:
    """Take up room on the disk: a process that writes to mapped memory without it ends."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(_ALWAYS_IN_MEMORY)
    for start in range(0, n_bytes, len(zeros)):
        file.write(zeros[: n_bytes - start])
    file.flush()


class Folder:
    """A folder that is made when it is first needed, and removed with its owner or at the end of
    the process.

    Parameters
    ----------
    inside : path or Folder, optional
        The folder to make it in; a path is tried at once. By default that of the system for
        temporary files.

    Raises
    ------
    OutputError
        Where no folder can be made.
    """

    def __init__(self, inside: str | Path | Folder | None = None) -> None:
        self._inside = inside
        self._path = ""
        self._lock = threading.Lock()
        if isinstance(inside, str | Path):
            self.path  # noqa: B018 - rather an error now than after hours of reading

    def __getstate__(self) -> str:
        """Other processes find the folder, which stays this one's to remove."""
        return str(self.path)

    def __setstate__(self, path: str) -> None:
        self._inside = None
        self._path = path
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """The folder."""
        with self._lock:
            if not self._path:
                inside = self._inside
                inside = (
                    inside.path
                    if isinstance(inside, Folder)
                    else inside or whole_files.temporary_root()
                )
                with explained(inside):
                    path = whole_files.make_folder(inside)
                self._path = str(path)
                weakref.finalize(self, whole_files.remove_folder, path)
            return Path(self._path)


class ArrayFile:
    """Arrays, one after another in a file.

    Parameters
    ----------
    folder : Folder
        Where the file is made when something is first written.
    name : str
        What it is called.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder, self._name = folder, name
        self._written: list[
            tuple[str, tuple[int, ...], int]
        ] = []  # type, shape and checksum of each array

    def append(self, *arrays: AnyArray) -> None:
        """Write arrays behind those that are there.

        Raises
        ------
        OutputError
            Where that cannot be done.
        """
        path = self._folder.path / self._name
        with explained(path), path.open("ab") as file:
            for array in arrays:
                content = np.ascontiguousarray(array)
                file.write(content.data)
                self._written.append((array.dtype.str, array.shape, zlib.crc32(content.data)))

    def __iter__(self) -> Iterator[AnyArray]:
        """Read all arrays.

        Raises
        ------
        MissingFileError, FileFormatError
            Where somebody removed or changed the file.
        """
        if not self._written:
            return
        path = self._folder.path / self._name
        try:
            file = path.open("rb")
        except FileNotFoundError:
            raise MissingFileError(
                f"{path}, a temporary file of the scan, was removed: {_SCAN_AGAIN}"
            ) from None
        with file:
            for kind, shape, checksum in self._written:
                size = int(np.prod(shape))
                array = np.fromfile(file, kind, size)
                if array.size < size or zlib.crc32(array.data) != checksum:
                    what = "shortened" if array.size < size else "changed"
                    raise FileFormatError(
                        f"{path}, a temporary file of the scan, was {what}: {_SCAN_AGAIN}"
                    )
                yield array.reshape(shape)
