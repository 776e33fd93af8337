"""Whether a file, or an array that lies in one, is still what it was when it was opened."""

from __future__ import annotations

import mmap
import platform
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.errors import FileFormatError, MissingFileError


@dataclass(frozen=True)
class Stamp:
    """What tells whether a file is still the one that it was, with the same content.

    Attributes
    ----------
    size : int
        Its bytes.
    modified : int
        When it was last written to, in nanoseconds.
    number : int
        The number that the file system of the computer `computer` gives it.
    """

    size: int
    modified: int
    number: int
    computer: str

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return the stamp of a file as it is now."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, platform.node())

    def differs(self, other: Stamp) -> bool:
        """Whether this is another file, or another content; copies on other computers may have other numbers."""
        known = self.number if self.computer == other.computer else other.number
        return (self.size, self.modified, known) != (other.size, other.modified, other.number)


def refuse_changed(known: Mapping[Path, Stamp]) -> None:
    """Raise an error where one of some files is no longer what it was.

    Raises
    ------
    FileFormatError
        Says which file, and whether it has another size.
    MissingFileError
        Where it is gone.
    """
    for path, before in known.items():
        try:
            now = Stamp.of(path)
        except OSError:
            raise MissingFileError(f"{path} was removed while it was in use") from None
        if before.differs(now):
            sizes = "" if before.size == now.size else f", from {before.size:,} to {now.size:,} bytes"
            raise FileFormatError(
                f"{path} changed while it was in use{sizes}: wait until it is written, and read it again"
            )


# The files of arrays that are mapped to memory. A process that reads behind the end of one is ended by the system.
_files: weakref.WeakKeyDictionary[mmap.mmap, dict[Path, Stamp]] = weakref.WeakKeyDictionary()


def mapped(path: Path, array: np.memmap[Any, Any]) -> NDArray[Any]:
    """Remember the file of an array that was mapped to memory; return the array."""
    _files[_mapping(array)] = {path.absolute(): Stamp.of(path)}  # type: ignore[index]  # a memmap has one
    return array


def require_unchanged(array: NDArray[Any]) -> None:
    """Raise an error where an array is mapped to a file that has changed since; to be called before it is read."""
    found = _mapping(array)
    for path, before in _files.get(found, {}).items() if found is not None else ():
        with suppress(OSError):  # a file that was removed or replaced stays as it was for those who have opened it
            if Stamp.of(path).number == before.number:
                refuse_changed({path: before})


def _mapping(array: Any) -> mmap.mmap | None:
    """Return the mapping behind an array and its views; None where it is in memory."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array
