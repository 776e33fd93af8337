"""Kaldi's archives of vectors (`.ark`), and lists of where vectors are in these (`.scp`).

An archive may hold pickles, and a list commands of a shell; neither is ever run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import AnyArray
from fastfair.data.temporary_files import room
from fastfair.errors import FileFormatError

from . import files

_BLOCK = 2**20  # bytes read at once
_LONGEST = 1000  # characters of a name
_ALWAYS_TAKEN = 2**30  # bytes of vectors, however small their archives are
_TIMES_AS_LARGE = 100  # as their archives vectors may be
_BINARY = b"\0B"
_INTEGER = b"\4"  # the size of the integer behind it
_NUMBERS: dict[bytes, np.dtype[Any]] = {b"F": np.dtype("<f4"), b"D": np.dtype("<f8")}
_TEXT = np.dtype(np.float32)  # of text, as Kaldi's programs take it by default
_COMPRESSED = (b"CM ", b"CM2", b"CM3")
_OTHERS = (
    (b"RIFF", "sound"),
    (b"fLaC", "sound"),
    (b"AUDIO", "sound"),
    (b"NPY", "an array in NumPy's format"),
    (b"PKL", "a pickle of a Python object, which is never loaded"),
)
_WOULD_DO = "vectors, and matrices with one row, are read, of float or double, binary or text"
_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<offset>[0-9]{1,18}))?(?:\[(?P<range>[0-9:,]*)\])?")


class _Source:
    """The bytes of a file from some place on, a block at a time."""

    def __init__(self, file: IO[bytes], place: str) -> None:
        self.file = file
        self.place = place
        self.size = os.fstat(file.fileno()).st_size
        self.data = b""
        self.at = 0
        self.begin = 0  # where the data are in the file

    def seek(self, offset: int) -> None:
        if not self.begin <= offset <= self.begin + len(self.data):
            self.file.seek(offset)
            self.data, self.begin = b"", offset
        self.at = offset - self.begin

    def look(self, n: int) -> bytes:
        """Return the next bytes, fewer where the file ends, and stay where they begin."""
        if len(self.data) - self.at < n:
            self.begin += self.at
            self.data = self.data[self.at :] + self.file.read(max(n, _BLOCK))
            self.at = 0
        return self.data[self.at : self.at + n]

    def take(self, n: int) -> bytes:
        """Return the next bytes, all of which must be there."""
        taken = self.look(n) if self.begin + self.at + n <= self.size else b""
        if len(taken) < n:
            raise FileFormatError(f"{self.place} ends in the middle of a vector")
        self.at += n
        return taken

    def integer(self) -> int:
        """Return the next integer, which cannot be below zero."""
        taken = self.take(5)
        number = int.from_bytes(taken[1:], "little", signed=True)
        if taken[:1] != _INTEGER or number < 0:
            raise FileFormatError(f"{self.place} has no size where one belongs")
        return number

    def name(self) -> str | None:
        """Return the name of the next vector, and go behind the blank after it; None at the end."""
        while self.look(1) in (b"\n", b"\r"):
            self.at += 1
        start = self.look(_LONGEST + 1)
        if not start:
            return None
        end = start.find(b" ")
        if end < 1 or b"\n" in start[:end]:
            raise FileFormatError(
                f"{self.place} is no archive of Kaldi: it has no name and blank before a vector,"
                f" but {start[:40]!r}"
            )
        self.at += end + 1
        try:
            return start[:end].decode()
        except UnicodeDecodeError:
            raise FileFormatError(f"{self.place}: a name is not UTF-8: {start[:end]!r}") from None

    def numbers(self, called: str) -> AnyArray:
        """Return the next vector, of one dimension, or matrix, of two."""
        start = self.look(5)
        if not start.startswith(_BINARY):
            what = next((what for mark, what in _OTHERS if start.startswith(mark)), None)
            if what is not None:
                raise FileFormatError(f"{self.place}: {called} is {what}: {_WOULD_DO}")
            return self._in_text(called)
        if start[2:5] in _COMPRESSED:
            raise FileFormatError(
                f"{self.place}: {called} is a compressed matrix: write it with copy-feats"
                " --compress=false"
            )
        dtype = _NUMBERS.get(start[2:3])
        if dtype is None or start[3:5] not in (b"V ", b"M "):
            raise FileFormatError(f"{self.place}: {called} is no vector of numbers: {_WOULD_DO}")
        self.take(5)
        shape = [self.integer() for _ in range(2 if start[3:4] == b"M" else 1)]
        n_bytes = prod(shape) * dtype.itemsize
        memory.require(n_bytes, f"the numbers of {called} in {self.place}", "is it damaged?")
        return np.frombuffer(self.take(n_bytes), dtype).reshape(shape)

    def _in_text(self, called: str) -> AnyArray:
        """Return the numbers between brackets; those of a matrix begin on a line of their own."""
        parts: list[bytes] = []
        while (end := self.look(_BLOCK).find(b"]")) < 0:
            part = self.look(_BLOCK)
            if not part or (not parts and not part.lstrip().startswith(b"[")):
                raise FileFormatError(
                    f"{self.place}: {called} has no numbers between [ and ]: {_WOULD_DO}"
                )
            parts.append(self.take(len(part)))
        body = b"".join([*parts, self.take(end + 1)])[:-1].lstrip(b" \t")
        if not body.startswith(b"["):
            raise FileFormatError(f"{self.place}: {called} has no [ before its numbers")
        rows = [row for line in body[1:].split(b"\n") if (row := line.split())]
        if len({len(row) for row in rows}) > 1:
            raise FileFormatError(f"{self.place}: rows of {called} have different lengths")
        if b"_" in body:  # Python reads 1_0 as 10
            raise FileFormatError(f"{self.place}: {called} has a number with '_' in it")
        try:
            with np.errstate(over="ignore"):
                numbers = np.array([[float(field) for field in row] for row in rows], _TEXT)
        except ValueError as error:
            raise FileFormatError(f"{self.place}: {called}: {error}") from None
        is_matrix = body[1:].lstrip(b" \t\r").startswith(b"\n")
        return numbers if is_matrix else numbers.ravel()


def _vector(place: str, called: str, numbers: AnyArray) -> AnyArray:
    """Return a vector, or the row of a matrix that has one."""
    if numbers.ndim == 2 and len(numbers) != 1 and numbers.size:
        raise FileFormatError(
            f"{place}: {called} is a matrix of {len(numbers):,} rows: a sample has one vector, such"
            " as the mean of its rows"
        )
    return numbers.ravel()


def read_vectors(path: Path) -> tuple[list[str], AnyArray]:
    """Read the names and vectors of an archive, or of a list of places in archives.

    An empty vector, as of a sample that failed, has NaN for its numbers.

    Raises
    ------
    FileFormatError
        For what is no archive, or has something else than vectors of one length and type.
    """
    if path.suffix.lower() == ".ark":
        with files.explain_reading(path), path.open("rb") as file:
            source = _Source(file, str(path))
            # Text may take two bytes for a number of four.
            return _joined(
                path,
                _of_archive(source),
                lambda n_bytes: 2 * source.size // n_bytes,
                lambda: source.size,
            )
    with files.explain_reading(path), ExitStack() as opened:
        lines = path.read_bytes().splitlines()
        sources: dict[str, _Source] = {}
        return _joined(
            path,
            _of_list(path, lines, sources, opened),
            lambda _: len(lines),
            lambda: sum(source.size for source in sources.values()),
        )


def _of_archive(source: _Source) -> Iterator[tuple[str, AnyArray]]:
    while (name := source.name()) is not None:
        yield name, _vector(source.place, repr(name), source.numbers(repr(name)))


def _joined(
    path: Path,
    entries: Iterator[tuple[str, AnyArray]],
    most: Callable[[int], int],
    size: Callable[[], int],
) -> tuple[list[str], AnyArray]:
    """Return names, and vectors as the rows of one array.

    most: says how many vectors of some bytes there may be.
    size: returns the bytes of all archives opened so far.
    """
    names: list[str] = []
    array: AnyArray | None = None
    row_bytes = 0
    for name, vector in entries:
        row_bytes = row_bytes or vector.nbytes
        if (len(names) + 1) * row_bytes > max(_ALWAYS_TAKEN, _TIMES_AS_LARGE * size()):
            raise FileFormatError(
                f"{path}: with {name!r} its vectors are {_TIMES_AS_LARGE} times as large as the"
                " archives that they are in: most are empty, or listed again and again"
            )
        if vector.size and array is None:
            array = room((len(names) + most(vector.nbytes), vector.size), vector.dtype)
            array[: len(names)] = np.nan
        if array is not None:
            if vector.size and (vector.size != array.shape[1] or vector.dtype != array.dtype):
                raise FileFormatError(
                    f"{path}: {name!r} has {vector.size:,} numbers of {vector.dtype}, but vectors"
                    f" before it {array.shape[1]:,} of {array.dtype}"
                )
            array[len(names)] = vector if vector.size else np.nan
        names.append(name)
    if array is None:
        raise FileFormatError(f"{path} has no vectors")
    return names, array[: len(names)]


def _of_list(
    path: Path, lines: list[bytes], sources: dict[str, _Source], opened: ExitStack
) -> Iterator[tuple[str, AnyArray]]:
    """Read the vectors of the lines `name file:offset[range]`; files that are opened for them join
    the sources, and are closed with `opened`.
    """
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        try:
            fields = line.decode().split(maxsplit=1)
        except UnicodeDecodeError:
            raise FileFormatError(f"{where} is not UTF-8") from None
        if not fields:
            continue
        place = fields[1].strip() if len(fields) == 2 else ""
        if place.endswith("|") or place.startswith("|"):
            raise FileFormatError(
                f"{where} has a command, which is never run: write what it gives to an archive"
            )
        match = _PLACE.fullmatch(place)
        if match is None:
            raise FileFormatError(
                f"{where} must have a name and a place, such as 'ann xvector.ark:4'"
            )
        if match["path"] not in sources:
            file = opened.enter_context(_file_of(path, match["path"]).open("rb"))
            sources[match["path"]] = _Source(file, match["path"])
        source = sources[match["path"]]
        source.seek(int(match["offset"] or 0))
        numbers = source.numbers(repr(fields[0]))
        if match["range"] is not None:
            numbers = _ranged(where, numbers, match["range"])
        yield fields[0], _vector(where, repr(fields[0]), numbers)


def _file_of(listing: Path, name: str) -> Path:
    """Return a file of a list: named from the working folder, as Kaldi has it, or from that of the
    list.
    """
    beside = listing.parent / name
    return files.check_file(beside if not Path(name).exists() and beside.exists() else name)


def _ranged(where: str, numbers: AnyArray, chosen: str) -> AnyArray:
    """Return rows, or rows and columns, whose ends count; or the numbers of a vector."""
    parts = chosen.split(",")
    slices = []
    for part, size in zip(parts, numbers.shape, strict=False):
        match = re.fullmatch("([0-9]{1,9}):([0-9]{1,9})|(:?)", part)
        if match is None or len(parts) > numbers.ndim:
            raise FileFormatError(f"{where}: [{chosen}] is no range, such as [0:9] or [0:9,0:4]")
        first, last = (0, size - 1) if match[1] is None else (int(match[1]), int(match[2]))
        if not first <= last < size:
            raise FileFormatError(
                f"{where}: the range [{chosen}] does not fit, as there are {size:,}: both of its"
                " ends count"
            )
        slices.append(slice(first, last + 1))
    return numbers[tuple(slices)]
