"""What all readers share: whether a file can be read and stays as it is, and errors that name it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from fastfair._lib import validation
from fastfair._lib.file_stamps import Stamp, refuse_changed
from fastfair._lib.foreign_errors import told_as
from fastfair.errors import FileFormatError, InputError, MissingFileError

_SHOWN = 200  # characters of a path in a message
_Reader = TypeVar("_Reader", bound=Callable[..., Any])
_seen: ContextVar[dict[Path, Stamp] | None] = ContextVar("_seen", default=None)


@contextmanager
def unchanged(known: Mapping[Path, Stamp] | None = None) -> Iterator[None]:
    """Raise an error where a file that is read inside changes meanwhile, or has changed since it was `known`.

    Raises
    ------
    FileFormatError, MissingFileError
        As `refuse_changed` does.
    """
    if _seen.get() is not None:  # who called this looks at the end
        yield
        return
    seen = dict(known or {})
    refuse_changed(seen)
    token = _seen.set(seen)
    try:
        yield
    except Exception:
        refuse_changed(seen)
        raise
    finally:
        _seen.reset(token)
    refuse_changed(seen)


def from_unchanged_files(reader: _Reader) -> _Reader:
    """Let a function raise an error where a file that it reads changes meanwhile."""

    @wraps(reader)
    def checking(*args: Any, **kwargs: Any) -> Any:
        with unchanged():
            return reader(*args, **kwargs)

    return cast(_Reader, checking)


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
    if (seen := _seen.get()) is not None and path not in seen:
        seen[path] = Stamp.of(path)
    return path


def _beside(path: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path.parent) if entry.is_file()]
    except OSError:
        return []
