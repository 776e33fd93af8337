"""Write files whole or not at all, and make folders for the time of some work.

A file is written into a temporary one in the same folder, which is then renamed. What is temporary
is removed with its owner, also where the process is interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fastfair.errors import FastfairError, OutputError

if TYPE_CHECKING:
    import polars as pl

_PATIENCE = 0.2  # seconds that an interrupt waits for a file that is being renamed
_REMEDIES = {
    errno.ENOSPC: "no space is left there; free some, or write elsewhere",
    errno.EACCES: "there is no permission to write there; write elsewhere",
    errno.EPERM: "there is no permission to write there; write elsewhere",
    errno.EROFS: "that file system is read-only; write elsewhere",
    errno.EISDIR: "it is a folder; name a file in it",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.ENOENT: "there is no such folder; make it first",
}

# A process that is interrupted removes its unfinished files. The lock is reentrant, as a signal
# handler may run in the main thread while that thread holds the lock.
_lock = threading.RLock()
# What is to be removed, and the process that made it: one that is forked from it leaves it alone.
_unfinished: dict[Path, int] = {}
_folders: dict[Path, int] = {}
_abandoned = False


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to, which gets its name when it is finished without an error.

    Parameters
    ----------
    path : path
        Its folder is made if there is none. An existing file is replaced and its permissions are
        kept; a link is followed; a path that is not a file on a disk, such as ``/dev/stdout``, is
        written to directly.

    Yields
    ------
    binary file

    Raises
    ------
    OutputError
        If it cannot be written; an existing file is then unchanged.
    """
    with explained(path):
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            status = None
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if status is not None and not stat.S_ISREG(status.st_mode):
            with Path(path).open("wb") as stream:
                yield stream
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary(target.parent) as (temporary, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            with _lock:
                _refuse_what_is_late()
                if status is not None:
                    temporary.chmod(stat.S_IMODE(status.st_mode))
                temporary.replace(target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8.

    Parameters
    ----------
    path : path
        As in `written`.
    text : str
        The content of the file.
    """
    with written(path) as file:
        file.write(text.encode())


def ready_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder and its parents, and check that files can be written to it.

    Parameters
    ----------
    path : path
        A folder, which may exist.

    Returns
    -------
    Path

    Raises
    ------
    OutputError
        If it cannot be made, or nothing can be written to it.
    """
    with explained(path):
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        with _temporary(folder):
            return folder


def abandon() -> None:
    """Remove unfinished files and write no more, as the process is about to end."""
    global _abandoned
    waited = _lock.acquire(timeout=_PATIENCE)
    _abandoned = True
    for temporary in list(_unfinished):
        _remove(temporary)
    if waited:
        _lock.release()


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a temporary file, and remove it at the end or at an interrupt unless it was renamed."""
    temporary = folder / f".fastfair-{secrets.token_hex(8)}.tmp"
    try:
        with _lock:
            _refuse_what_is_late()
            _unfinished[temporary] = os.getpid()
            file = temporary.open("xb")
        with file:
            yield temporary, file
    finally:
        _remove(temporary)


def _remove(temporary: Path) -> None:
    if _unfinished.pop(temporary, None) == os.getpid():
        with suppress(OSError):  # it was renamed, or its folder is gone
            temporary.unlink()


def _refuse_what_is_late() -> None:
    if _abandoned:
        raise OutputError("nothing is written after an interrupt")


@contextmanager
def explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the system into one that names the file and says what to do."""
    text = os.fspath(path)
    try:
        os.fsencode(text)
        if "\0" in text:
            raise ValueError
    except ValueError:
        raise OutputError(
            f"{text} cannot be written: no file can have such characters in its name"
        ) from None
    try:
        yield
    except FastfairError:
        raise
    except Exception as error:
        code = _code(error)
        if code is None:
            raise
        explained = OutputError(
            f"{text} cannot be written: {_REMEDIES.get(code, os.strerror(code))}"
        )
        explained.errno = code
        raise explained from error


def _code(error: Exception) -> int | None:
    """Return the system's number of an error, which libraries written in Rust give only in the
    text.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    match = re.search(r"\(os error (\d+)\)", str(error))
    return int(match.group(1)) if match else None


def make_folder(inside: str | Path | None = None) -> Path:
    """Make a folder, by default where the system has temporary files."""
    path = Path(inside or temporary_root()).absolute() / f"fastfair-{secrets.token_hex(8)}.tmp"
    with _lock:
        _refuse_what_is_late()
        path.mkdir(0o700)
        _folders[path] = os.getpid()
    return path


def remove_folder(path: Path) -> None:
    """Remove a folder that this process made, with everything in it."""
    if _folders.pop(path, None) == os.getpid():
        shutil.rmtree(path, ignore_errors=True)


def abandon_folders() -> None:
    """Remove the folders of this process, which is about to end, although other threads may write
    to them.
    """
    global _abandoned
    _abandoned = True
    for path, owner in list(_folders.items()):
        if owner == os.getpid():
            with suppress(OSError):
                shutil.rmtree(path.rename(path.with_suffix(".removed")), ignore_errors=True)


def temporary_root() -> str:
    """Return where the system has temporary files."""
    try:
        return tempfile.gettempdir()
    except OSError:
        raise OutputError(
            "there is no folder for temporary files that can be written to: free some space, or set"
            " TMPDIR"
        ) from None


# Spreadsheets take text that begins so for a formula, unless an apostrophe precedes it. Text that
# has apostrophes there already gets one more, so that removing one restores every text.
_FORMULA = r"'*[=+\-@\t\r]"


def neutralise(column: Any) -> Any:
    """Put an apostrophe before text, a series or expression of polars, that a spreadsheet would
    compute.
    """
    return column.str.replace(f"^({_FORMULA})", "'$1")


def restore(column: Any) -> Any:
    """Remove the apostrophe that `neutralise` puts before text."""
    return column.str.replace(f"^'({_FORMULA})", "$1")


def write_csv(frame: pl.DataFrame, path: str | os.PathLike[str], separator: str = ",") -> None:
    """Write a data frame as CSV, with its text neutralised.

    Parameters
    ----------
    frame : polars data frame
        The data frame.
    path : path
        As in `whole_files.written`.
    separator : str, default ","
        The character between cells.
    """
    import polars as pl

    with written(path) as file:
        frame.with_columns(neutralise(pl.col(pl.String))).write_csv(file, separator=separator)
