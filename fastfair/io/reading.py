"""What all readers share: the check of the file, and errors of other libraries turned into errors that name it."""

from __future__ import annotations

import os
import stat
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from fastfair._lib import validation
from fastfair._lib.foreign_errors import told_as
from fastfair.errors import FileFormatError, InputError, MissingFileError

_SHOWN = 200  # characters of a path in a message


def polars() -> Any:
    """Import polars, or raise an error that says how to install it."""
    return validation.require("polars", "cli", "reading files")


def reading(place: Path | str) -> AbstractContextManager[None]:
    """Turn the errors that other libraries raise for a damaged file into errors that name the file."""
    return told_as(FileFormatError, f"{place} cannot be read")


def check_file(path: str | Path) -> Path:
    """Refuse a file that is missing, empty, or not a regular file on a disk."""
    if not isinstance(path, str | Path):
        raise InputError(f"a file is named by its path, not by {type(path).__name__}")
    path = Path(path)
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no file {path}{validation.did_you_mean(path.name, _beside(path))}") from None
    except (OSError, ValueError) as error:  # names that no file can have: too long, with NULs or lone surrogates
        text = str(path)
        shown = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        raise InputError(f"there can be no file {shown}: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(found.st_mode):
        raise FileFormatError(f"{path} is a folder: name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise FileFormatError(f"{path} is a pipe or a device: save what it gives as a file, and name that")
    if found.st_size == 0:
        raise FileFormatError(f"{path} is empty")
    return path


def _beside(path: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path.parent) if entry.is_file()]
    except OSError:
        return []
