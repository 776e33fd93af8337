"""Folders and files for the time of some work: removed with their owner, or, where it was killed, by who comes next.

An owner holds a lock of the system on what it made, which ends with the process. So what has our name and can be locked
belongs to nobody.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from fastfair.errors import OutputError

try:
    import fcntl
except ImportError:  # on Windows, where nothing is removed of processes that were killed
    fcntl = None  # type: ignore[assignment]

_OURS = re.compile(r"\.?fastfair-[0-9]+-[0-9a-f]{16}\.tmp")
_AGE = 60  # seconds after which whoever made something has locked it
_folders: dict[Path, int | None] = {}  # those of this process, opened and locked
_ended = False
_swept: set[Path] = set()


def new_name(prefix: str) -> str:
    """Return a name that nobody has, and by which we know it."""
    return f"{prefix}fastfair-{os.getpid()}-{secrets.token_hex(8)}.tmp"


def make(inside: str | Path | None = None) -> Path:
    """Make a folder, by default where the system has temporary files."""
    path = Path(inside or root()).absolute() / new_name("")
    sweep(path.parent)
    path.mkdir(0o700)
    _folders[path] = None
    if _ended:
        abandon()
        raise OutputError("nothing is written after the process was told to end")
    if fcntl is not None:
        with suppress(OSError):  # not every file system has locks
            _folders[path] = descriptor = os.open(path, os.O_RDONLY)
            lock(descriptor)
    return path


def remove(path: Path) -> None:
    """Remove a folder with everything in it."""
    shutil.rmtree(path, ignore_errors=True)
    if (descriptor := _folders.pop(path, None)) is not None:
        with suppress(OSError):
            os.close(descriptor)


def abandon() -> None:
    """Remove the folders of this process, which is about to end, although other threads may write to them."""
    global _ended
    _ended = True
    for path in list(_folders):
        with suppress(OSError):
            remove(path.rename(path.with_name(new_name(""))))


def root() -> str:
    """Return where the system has temporary files."""
    try:
        return tempfile.gettempdir()
    except OSError:
        raise OutputError(
            "there is no folder for temporary files that can be written to: free some space, or set TMPDIR"
        ) from None


def lock(descriptor: int) -> None:
    """Lock an open file or folder until it is closed, or the process ends; OSError where another process has it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sweep(folder: Path) -> None:
    """Remove what processes left in a folder that have ended; looked for once."""
    if fcntl is None or folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _OURS.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_of_nobody(Path(entry))


def _remove_of_nobody(path: Path) -> None:
    found = path.lstat()
    if found.st_uid != os.getuid() or time.time() - found.st_mtime < _AGE:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        lock(descriptor)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(descriptor)
