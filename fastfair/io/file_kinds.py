"""What a file is, by its first bytes: text that may be compressed, or something that is no text."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

# What files that are no text begin with, and what would do.
_BEGINNINGS = (
    (b"PAR1", "a Parquet file", 'give it a name that ends in ".parquet"'),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", 'scores are read from text, Parquet and NumPy files; name vectors "x.h5"'),
    (b"\x93NUMPY", "a NumPy array", 'give it a name that ends in ".npy"'),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it, or compress it with gzip"),
    (b"%PDF", "a PDF file", "save the table in it as CSV"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, and name a file in it"),
    (b"Rar!", "a RAR archive", "unpack it, and name a file in it"),
    (b"SQLite format 3", "an SQLite database", "save the table in it as CSV or Parquet"),
    (b"ARROW1", "an Arrow file", "save it as Parquet"),
    (b"\x89PNG", "a PNG image", "name a file with scores"),
    (b"\xff\xd8\xff", "a JPEG image", "name a file with scores"),
)
_READERS: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open),
)  # fmt: skip
_PAGES = (b"<!doctype html", b"<html")
_LOOKED_AT = 512


def opened(path: Path) -> IO[bytes]:
    """Open a file of text, which may be compressed with gzip, bzip2 or xz, whatever its name."""
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
    reader = next((reader for beginning, reader in _READERS if start.startswith(beginning)), None)
    content: IO[bytes] = path.open("rb") if reader is None else reader(path)
    return content


def no_text(path: Path, start: bytes) -> str:
    """Say what a file that begins so is, and what would do, if it is not text; "" where it may be."""
    for beginning, kind, would_do in _BEGINNINGS:
        if start.startswith(beginning):
            return f"{kind}: {would_do}"
    if start.startswith(b"PK\x03\x04"):
        return _kind_of_zip(path)
    if start[257:262] == b"ustar":
        return "a tar archive: unpack it, and name a file in it"
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05":
        return "a pickle of Python objects, which are never loaded: save scores as CSV, Parquet or .npy"
    if start.lstrip().lower().startswith(_PAGES):
        return "an HTML page: it may be an error of a download; save the table as CSV"
    return ""


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
    except (OSError, zipfile.BadZipFile):
        names = []
    if any(name.startswith("xl/") for name in names) or path.suffix.lower() in (".xlsx", ".xlsm"):
        return "an Excel workbook: save the sheet as CSV"
    if names and all(name.endswith(".npy") for name in names):
        return 'NumPy arrays: give it a name that ends in ".npz"'
    return "a zip archive: unpack it, and name a file in it"
