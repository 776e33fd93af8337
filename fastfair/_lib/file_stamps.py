"""Whether a file is still what it was when it was opened."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
        """Return the stamp of a file as it is now.

        Raises
        ------
        MissingFileError
            Where it is gone.
        """
        try:
            found = path.stat()
        except OSError:
            raise MissingFileError(f"{path} was removed while it was in use") from None
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
        now = Stamp.of(path)
        if before.differs(now):
            sizes = "" if before.size == now.size else f", from {before.size:,} to {now.size:,} bytes"
            raise FileFormatError(
                f"{path} changed while it was in use{sizes}: wait until it is written, and read it again"
            )
