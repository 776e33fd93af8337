"""Files before they are read: found by name or pattern, told by their first bytes, and held to stay
as they are.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from fastfair._lib.text import did_you_mean
from fastfair._lib.warnings import raise_as, require
from fastfair.errors import FileFormatError, InputError, MissingFileError

LOOKED_AT = 4096  # first bytes that tell what a file is
_HDF5 = rb"(?:.{512}|.{1024}|.{2048})?\x89HDF\r\n\x1a\n"  # others' bytes may stand before
_FOR_PICKLES = "save scores as CSV, Parquet or .npy, and vectors with numpy.savez"

# How files that are no score files begin, as patterns, what they are, and what would do.
_BEGINNINGS = (
    (rb"PAR1", "a Parquet file", 'give it a name that ends in ".parquet"'),
    (
        _HDF5,
        "an HDF5 file",
        'give scores of sidekit, and vectors, a name that ends in ".h5"',
    ),
    (rb"\x93NUMPY", "a NumPy array", 'give it a name that ends in ".npy"'),
    (
        rb"PK\x03\x04.{26}[^/]*?\.npy",
        "an archive of NumPy arrays",
        'give it a name that ends in ".npz"',
    ),
    (
        rb"PK\x03\x04.{26}[^/]*/(?:data\.pkl|version)",
        "a file of PyTorch with pickled objects, which are never loaded",
        _FOR_PICKLES,
    ),
    (
        rb"PK\x03\x04.{26}(?:\[Content_|_rels/|docProps/|xl/)",
        "an Excel workbook",
        "save the sheet as CSV",
    ),
    (rb"PK\x03\x04.{26}mimetype", "an OpenDocument file", "save the sheet as CSV"),
    (rb"PK[\x03\x05]", "a zip archive", "unpack it, and name a file in it"),
    (rb".{257}ustar", "a tar archive", "unpack it, and name a file in it"),
    (rb"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it, or compress it with gzip"),
    (rb"ARROW1|FEA1", "an Arrow file", "save it as Parquet"),
    (
        rb"\x80[\x02-\x05]|\((?:lp|dp)0\n|ccopy_reg\n|cnumpy|[\]}]q\0",
        "a pickle of Python objects, which are never loaded",
        _FOR_PICKLES,
    ),
    (rb"RDX[23]\n|[XA]\n\0\0\0|RDA[23]\n", "a file of R's own", "save the table with write.csv"),
    (rb"MATLAB 5", "a MATLAB file", "save a table as CSV, and vectors as HDF5"),
    (
        rb"Ix[0-9A-Za-z]{2}..\0\0",
        "an index of FAISS",
        "save its vectors, index.reconstruct_n(), with numpy.save",
    ),
    (rb"%PDF", "a PDF document", "save the table in it as CSV"),
    (
        rb"\s*<(?i:!doctype|html|\?xml|head|body)",
        "a web page (HTML) or XML",
        "it may be the error of a download; save tables as CSV",
    ),
    (
        rb"\s*(?:\{\s*\"|\[\s*[\[{])",
        "JSON",
        'give it a name that ends in ".json" or ".jsonl"',
    ),
)
# What files with these suffixes begin with.
_OF_SUFFIXES = {
    ".parquet": ("Parquet", rb"PAR1"),
    ".npy": ("NumPy", rb"\x93NUMPY"),
    ".npz": ("NumPy", rb"PK[\x03\x05]"),
    ".h5": ("HDF5", _HDF5),
}
_SURE = 0.3  # confidence of `puremagic` below which a kind is a guess from two bytes
_COMPRESSED: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip),
    (b"BZh", bz2),
    (b"\xfd7zXZ\x00", lzma),
)
_COMPRESSIONS = (".gz", ".bz2", ".xz")
# size and time of change, which tell whether a file is still the one that it was
_Stamp = tuple[int, int]


def stamp_of(path: Path) -> _Stamp:
    """Return the size of a file and the time of its last change, in nanoseconds."""
    try:
        status = path.stat()
    except OSError:
        raise MissingFileError(f"{path} was removed while it was in use") from None
    return status.st_size, status.st_mtime_ns


_seen: ContextVar[dict[Path, _Stamp] | None] = ContextVar("_seen", default=None)


@contextmanager
def refuse_changes(stamps: Mapping[Path, _Stamp] | None = None) -> Iterator[None]:
    """Raise an error where a file that is read inside changes meanwhile, or has changed since it
    was in `stamps`.
    """
    if _seen.get() is not None:  # who called this looks at the end
        yield
        return
    seen = dict(stamps or {})
    _refuse_changed(seen)
    token = _seen.set(seen)
    try:
        yield
    finally:
        _seen.reset(token)
        _refuse_changed(seen)


def _refuse_changed(stamps: Mapping[Path, _Stamp]) -> None:
    for path, before in stamps.items():
        if stamp_of(path) != before:
            raise FileFormatError(
                f"{path} changed while it was in use: wait until it is written, and read it again"
            )


def polars() -> Any:
    """Import polars, or raise an error that says how to install it."""
    return require("polars", "cli", "reading files")


def explain_reading(source: Path | str) -> AbstractContextManager[None]:
    """Turn the errors that other libraries raise for a damaged file into errors that name the
    file.
    """
    return raise_as(FileFormatError, f"{source} cannot be read")


@contextmanager
def name_file(file: Path | str) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except InputError as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error.marked}", error.row) from None


def check_file(path: str | Path) -> Path:
    """Refuse a file that is missing, empty, or not a regular file on a disk."""
    path = Path(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(
            f"there is no file {path}{did_you_mean(path.name, _beside(path))}"
        ) from None
    except (
        OSError,
        ValueError,
    ) as error:  # names that no file can have: too long, with NULs or lone surrogates
        raise InputError(
            f"there can be no file {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if stat.S_ISDIR(status.st_mode):
        raise FileFormatError(f"{path} is a folder: name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FileFormatError(
            f"{path} is a pipe or a device: save what it gives as a file, and name that"
        )
    if status.st_size == 0:
        raise FileFormatError(f"{path} is empty")
    if (seen := _seen.get()) is not None and path not in seen:
        seen[path] = stamp_of(path)
    return path


def _beside(path: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path.parent) if entry.is_file()]
    except OSError:
        return []


def files_of(paths: str | Path | Sequence[str | Path], entries: str) -> list[Path]:
    """Find the files that are named, in their order, and those that patterns such as
    "scores/*.parquet" match, by name.

    entries: what a file holds, in the plural, for messages. A file that is named twice, also by
    links, is refused.
    """
    if not paths:
        raise InputError("path names no files")
    matched: list[Path] = []
    for name in [paths] if isinstance(paths, str | Path) else paths:
        matching = [Path(name)]
        if is_pattern(name):
            # Folders that exist by their names, such as "run[1]", are no patterns.
            folder = next(parent for parent in Path(name).parents if parent.exists())
            pattern = Path(glob.escape(str(folder)), Path(name).relative_to(folder))
            matching = sorted(map(Path, glob.glob(str(pattern), recursive=True)))  # noqa: PTH207 - can be absolute
            if not matching:
                raise MissingFileError(f"no file matches {str(name)!r}")
        matched += matching
    files: dict[object, Path] = {}
    for file in map(check_file, matched):
        status = file.stat()  # links lead to the same file
        if (same := (status.st_dev, status.st_ino) if status.st_ino else file.resolve()) in files:
            raise InputError(
                f"path names the file {file} twice, so that its {entries} would count twice"
            )
        files[same] = file
    return list(files.values())


def is_pattern(path: str | Path) -> bool:
    """Whether a name is a pattern, and not that of a file with such characters."""
    return glob.has_magic(str(path)) and not Path(path).exists()


def open_file(path: Path) -> IO[bytes]:
    """Open a file of text, which may be compressed with gzip, bzip2 or xz, whatever its name."""
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    library = next(
        (library for beginning, library in _COMPRESSED if start.startswith(beginning)), None
    )
    content: IO[bytes] = path.open("rb") if library is None else library.open(path)
    return content


def suffix_of(path: Path) -> str:
    """Return the suffix of a name in lower case, where ".gz" and the like do not count."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return (
        suffixes[0]
        if len(suffixes) == 2 and suffixes[1] in _COMPRESSIONS
        else "".join(suffixes[-1:])
    )


def kind_of(data: bytes) -> str:
    """Say what a file that begins so is, and what would do, if it is not text; "" where it may
    be.
    """
    start = data[:LOOKED_AT]
    for beginning, what, would_do in _BEGINNINGS:
        if re.match(beginning, start, re.DOTALL):
            return f"{what}: {would_do}"
    return ""


def kind_of_bytes(data: bytes) -> str:
    """Say what a file is that is known not to be text, also where it is of no use here; "" where
    nobody knows.
    """
    if kind := kind_of(data):
        return kind
    # of a library that names, and reads nothing
    with suppress(ImportError, LookupError, ValueError):
        import puremagic

        likely = puremagic.magic_string(data[:LOOKED_AT])[0]
        if likely.confidence >= _SURE and likely.name:
            return (
                f"no text but a file of type {likely.extension!r} ({likely.name}): save what is in"
                " it as CSV"
            )
    return ""


def require_kind(path: Path, suffix: str) -> None:
    """Refuse a file that is something else than files with this suffix are."""
    name, beginning = _OF_SUFFIXES[suffix]
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    if not re.match(beginning, start, re.DOTALL):
        what = (
            kind_of_bytes(start)
            if b"\0" in start or kind_of(start)
            else "text: a name that ends in .csv or .txt says so"
        )
        raise FileFormatError(
            f"{path} cannot be read: it is no {name} file, but {what or 'of another kind'}"
        )
