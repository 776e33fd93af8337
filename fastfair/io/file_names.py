"""Files that are named one by one, or by a pattern."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fastfair.errors import InputError, MissingFileError

from . import reading


def files_of(paths: str | Path | Sequence[str | Path], entries: str) -> list[Path]:
    """Find the files that are named, in their order, and those that a pattern matches, by name.

    Parameters
    ----------
    paths : path or sequence of paths
        Names of files, and patterns such as ``"scores/*.parquet"``.
    entries : str
        What a file holds, in the plural, for messages.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        For no names, and for a file that is named twice, also by links.
    MissingFileError, FileFormatError
        For a file that is missing, and a pattern that none matches; for what is no file, or empty.
    """
    if not paths:
        raise InputError("path names no files")
    found: list[Path] = []
    for one in [paths] if isinstance(paths, str | Path) else paths:
        if is_pattern(one):
            matching = sorted(map(Path, glob.glob(_pattern(Path(one)), recursive=True)))  # noqa: PTH207 - can be absolute
            if not matching:
                raise MissingFileError(f"no file matches {str(one)!r}")
            found += matching
        else:
            found.append(Path(one))
    files: dict[object, Path] = {}
    for file in map(reading.check_file, found):
        known = file.stat()  # links lead to the same file
        if (same := (known.st_dev, known.st_ino) if known.st_ino else file.resolve()) in files:
            raise InputError(f"path names the file {file} twice, so that its {entries} would count twice")
        files[same] = file
    return list(files.values())


def _pattern(path: Path) -> str:
    """Return a pattern in which folders that exist by their names are no patterns, such as "run[1]"."""
    folder = next(parent for parent in path.parents if parent.exists())
    return str(Path(glob.escape(str(folder)), path.relative_to(folder)))


def is_pattern(path: str | Path) -> bool:
    """Whether a name is a pattern, and not that of a file with such characters."""
    return glob.has_magic(str(path)) and not Path(path).exists()


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except InputError as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error}", error.row) from None
