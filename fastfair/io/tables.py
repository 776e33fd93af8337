"""Tables: the columns of text, Parquet, NumPy and HDF5 files and of data frames by name, each read
when asked for.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from fastfair._lib import memory, validation, whole_files
from fastfair._lib.arrays import AnyArray, Flags, Integers
from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import Coded, as_categories
from fastfair._lib.text import not_there, shown
from fastfair._lib.warnings import raise_as, require, warn
from fastfair.data import checks, group_labels
from fastfair.data.group_labels import MissingLabels
from fastfair.data.temporary_files import Folder, room
from fastfair.errors import FastfairWarning, FileFormatError, InputError

from . import files, text

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ("\t", ",", ";")
_PARQUET = b"PAR1"  # what Parquet files begin with
_END = 8  # bytes behind their footer
_PROGRAM = Path(__file__).with_name("hdf5_program.py")
_SECONDS = 10.0  # time limit of that program
# the limit grows with the size of the file; datasets of one vector each take long
_BYTES_A_SECOND = 1e6


@dataclass
class Rows:
    """The place that rows come from, for messages.

    Attributes
    ----------
    place : path or str
        The file, or a name for a data frame.
    lines : (n,) ndarray of int, or None
        The line of each row in a text file; else None.
    first : int
        The number of the first row, where these are a part of a file.
    numbers : (n,) ndarray of int, or None
        The number of each row, where others stand between them.
    row_called : str
        What each row is called, where it is none of a table.
    """

    place: Path | str
    lines: Integers | None = field(default=None, kw_only=True)
    first: int = field(default=0, kw_only=True)
    numbers: Integers | None = field(default=None, kw_only=True)
    row_called: str = field(default="", kw_only=True)

    def where(self, row: int) -> str:
        """Return the line or the number of a row, for messages."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        if self.row_called:
            return self.row_called
        number = row if self.numbers is None else self.numbers[row]
        return f"row {self.first + number} (counted from 0)"

    @contextmanager
    def placed(self, keep: Any = None) -> Iterator[None]:
        """Add place and row to errors that know a row; `keep` says which rows were kept, if some
        were left out.
        """
        try:
            yield
        except InputError as error:
            if error.row is None:
                raise
            row = error.row if keep is None else int(np.flatnonzero(keep)[error.row])
            raise type(error)(f"{self.place}: {self.where(row)}: {error.marked}", row) from None


@dataclass
class Table(Rows):
    """Named columns of a file or a data frame, read when asked for.

    Attributes
    ----------
    names : list of str
        The columns, without the blanks that may surround their names in a text file; "" for an
        array without a name.
    read : callable
        Returns some columns as a data frame, those of a second list as numbers, and text of a third
        list perhaps as categories.
    take : callable, optional
        Returns one column as an array, where the columns are arrays.
    kind : {"column", "array", "dataset"}
        What columns are called in messages.
    exchanged : sequence of str
        Columns of two dimensions that a program wrote which exchanges rows and columns.
    """

    names: list[str]
    read: Callable[[list[str], Sequence[str], Sequence[str]], pl.DataFrame]
    take: Callable[[str], AnyArray] | None = None
    kind: str = "column"
    exchanged: Sequence[str] = ()

    def columns(
        self, names: Sequence[str], numbers: Sequence[str] = (), coded: Sequence[str] = ()
    ) -> pl.DataFrame:
        """Read columns; in text files, those in `numbers` are converted to numbers.

        coded: columns in which few labels have many rows, so that text may be Categorical, which
        takes less memory.
        """
        frame = self.read(list(dict.fromkeys(names)), numbers, coded)
        if frame.height == 0:
            raise FileFormatError(f"{self.place} has a header but no rows")
        return frame

    def require(self, role: str, name: str) -> str:
        """Check that exactly one column has this name; role: the argument that names it."""
        if name not in self.names:
            raise InputError(not_there(self.place, name, self.names, role=role, kind=self.kind))
        if self.names.count(name) > 1:
            raise FileFormatError(
                f"{self.place} has {self.names.count(name)} {self.kind}s called {name!r}"
            )
        return name

    def labels(self, role: str, name: str | None = None) -> Coded:
        """Return the labels of a role: the column named, or the one with the name of the role."""
        name = self._holding(role, name)
        with files.name_file(self.place), self.placed():
            return FrameColumns(self.columns([name])).labels(name)

    def labels_by_policy(
        self, role: str, name: str, policy: MissingLabels
    ) -> tuple[Coded, Flags | None]:
        """Return the labels of a column some of which may be missing, and which are, if some
        are.
        """
        name = self._holding(role, name)
        called = f"column {name!r}"
        with files.name_file(self.place), self.placed():
            entries = FrameColumns(self.columns([name])).entries(name)
            coded, lacking = group_labels.labels_by_policy({called: entries}, policy)
        return coded[called], lacking.get(called)

    def _holding(self, role: str, name: str | None) -> str:
        """Return the column that holds the labels of a role."""
        if self.names == [""]:
            raise InputError(
                f"{self.place} holds nothing but vectors: give the {role} of each as an array, or a"
                " table with one row for each vector as ⟦samples=⟧"
            )
        return self.require(role, role if name is None else name)

    def vectors(self, name: str | None = None) -> AnyArray:
        """Return the vectors, an array of two dimensions: the column named, or the one called
        "vectors".

        Numbered columns hold a number of each vector, such as v0, v1, ..., of which `name` is then
        "v".
        """
        if self.names == [""] and name is not None:
            raise InputError(
                f"{self.place} holds one array without a name, so leave ⟦vectors=⟧ out"
            )
        if self.take is None and (name or "vectors") not in self.names:
            return self._of_numbered_columns(name)
        name = "" if self.names == [""] else self.require("vectors", name or "vectors")
        if self.take is not None:
            array = self.take(name)
            if self.kind == "dataset" and array.ndim == 2 and array.shape[0] == array.shape[1]:
                self._doubt_square(name, array)
            return array
        pl = files.polars()
        described = f"{self.place}: column {name!r}"
        column = self.columns([name])[name]
        if column.dtype == pl.String:
            raise FileFormatError(
                f"{described} holds text, as {shown(column[0])}: write a column for each number of a"
                " vector, such as v0, v1, ..., or a column of lists as Parquet"
            )
        with files.explain_reading(described):
            if isinstance(column.dtype, pl.List):
                sizes = column.list.len().fill_null(0)
                size = int(np.max(sizes.to_numpy(), initial=0))
                wrong = ((sizes != size) & (sizes > 0)).arg_true()
                if len(wrong):
                    row = int(wrong[0])
                    raise FileFormatError(
                        f"{described} holds {int(sizes[row])} numbers in row {row} (counted from 0),"
                        f" but {size} in others; {len(wrong)} such rows"
                    )
                # Samples that failed have no list, or an empty one: they have no number.
                column = column.to_frame().select(pl.when(sizes > 0).then(pl.col(name)))[name]
                column = column.list.to_array(size)
            return np.asarray(column.to_numpy())

    def _of_numbered_columns(self, name: str | None) -> AnyArray:
        """Return the vectors whose numbers have a column each; name: what the names of these begin
        with.
        """
        numbered = _numbered(self.names)
        chosen = [name] if name is not None else list(numbered)
        if len(chosen) > 1:
            begin = " or ".join(map(repr, chosen))
            raise InputError(
                f"{self.place} has several sets of numbered columns: say which with"
                f" ⟦vectors={begin}⟧"
            )
        if not chosen or chosen[0] not in numbered:
            raise InputError(
                f"{not_there(self.place, name or 'vectors', self.names, role='vectors', kind=self.kind)};"
                " vectors are a column of lists, as in Parquet, or numbered columns, such as v0,"
                " v1, ...; or pass arrays to Embeddings(vectors, subject)"
            )
        wanted = numbered[chosen[0]]
        with self.placed():
            columns = FrameColumns(self.columns(wanted, numbers=wanted))
            return np.column_stack([columns.numbers(column) for column in wanted])

    def _doubt_square(self, name: str, array: AnyArray) -> None:
        """Refuse or doubt a square dataset, whose rows may be the columns of R or MATLAB."""
        what = f"{self.place}: {name!r} is square, {len(array):,} x {len(array):,}"
        if name in self.exchanged:
            raise FileFormatError(
                f"{what}, and R or MATLAB wrote it, which exchange rows and columns unless the"
                " matrix was transposed: read it with h5py, and give Embeddings its rows or"
                " columns as vectors"
            )
        warn(
            f"{what}: its rows are taken for vectors; R and MATLAB exchange rows and columns, so"
            " that these may be its columns",
            FastfairWarning,
        )

    def require_vectors_of(self, array: AnyArray, sizes: Mapping[str, int]) -> None:
        """Refuse vectors that are not as many as their labels, and say where rows and columns are
        exchanged.
        """
        role, n = next(iter(sizes.items()))
        if array.ndim == 2 and len(array) != n == array.shape[1]:
            raise FileFormatError(
                f"{self.place} has {len(array):,} rows and {n:,} columns, but {role} has {n:,}"
                " labels: each row must be a vector; R and MATLAB exchange rows and columns in"
                " HDF5, so that they write t(x)"
            )
        with files.name_file(self.place):
            checks.same_length({"vectors": len(array), **sizes}, "vector")


def _numbered(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns that are numbered from 0 or 1 on, by what their names begin with, in the
    order of numbers.
    """
    by_beginning: dict[str, dict[int, str]] = {}
    for name in names:
        if match := re.fullmatch(r"(.*?)[_. -]?([0-9]{1,9})", name):
            by_beginning.setdefault(match[1], {})[int(match[2])] = name
    return {
        begin: [columns[k] for k in sorted(columns)]
        for begin, columns in by_beginning.items()
        if len(columns) > 1
        and min(columns) in (0, 1)
        and max(columns) - min(columns) == len(columns) - 1
    }


def read_source(source: Any, called: str, source_name: str, failures: bool | None = None) -> Table:
    """Make a table of a text file, Parquet file or data frame; `called` is the argument that holds
    it.

    failures: as in `text.Text`, where numbers are read.
    """
    if not isinstance(source, str | Path):
        return read_frame(source, called, source_name)
    path = files.check_file(source)
    if path.suffix.lower() == ".parquet":
        return of_parquet(path)
    content = text.read(path, failures)
    of_map = re.fullmatch("([A-Za-z]+)2([A-Za-z]+)", path.name)
    if of_map is None:
        return read_text(content)
    names, by, fields = [of_map[1], of_map[2]], separator_of(content), content.first.split()
    has_two = by == "\t" and len(fields) == len(names) and fields != names
    return _of_map(content, names) if by is None or has_two else read_text(content)


def _of_map(content: text.Text, names: list[str]) -> Table:
    """Make a table of one of Kaldi's maps, whose name says what its two fields are, as in
    `spk2gender`.
    """
    cells, lines = text.split(content, None)
    if cells.width != len(names):
        raise FileFormatError(
            f"{content.path}: a row of {' and '.join(names)} has two fields, not {cells.width}"
        )
    cells.columns = names

    def read(wanted: list[str], numbers: Sequence[str], _: Sequence[str]) -> Any:
        columns = {
            name: text.numbers(
                content.path, f"column {name!r}", cells[name], lines, content.failures
            )
            if name in numbers
            else cells[name]
            for name in wanted
        }
        return files.polars().DataFrame(columns)

    return Table(content.path, names, read, lines=lines)


def read_frame(frame: Any, called: str, source_name: str) -> Table:
    """Make a table of a data frame; `called` is the argument that holds it."""
    columns = FrameColumns(frame, called, "a file's path or a data frame")
    return Table(source_name, columns.names, lambda wanted, *_: columns.polars(wanted))


def read_text(content: text.Text, separator: str | None = None) -> Table:
    """Make a table of a text file; the default separator is the one in its first line."""
    pl = files.polars()
    by = separator or separator_of(content)
    if by is None:
        raise FileFormatError(
            f"{content.path}: the header has neither tab, comma nor semicolon:"
            f" {content.first[:120]!r}"
        )
    content = text.without_last_separator(content, by)
    narrow = content
    content = text.with_names_of_rows(content, by)
    names = _restored(pl.DataFrame({"name": text.header(content, by)})).to_series().to_list()

    def read(wanted: list[str], numbers: Sequence[str], coded: Sequence[str]) -> Any:
        places = sorted(names.index(name) for name in wanted)
        numbers = [name for name in dict.fromkeys(numbers) if name in wanted]
        of_numbers = [places.index(names.index(name)) for name in numbers]
        of_codes = [places.index(names.index(name)) for name in coded if name not in numbers]
        rows = None
        if content is narrow:
            rows = text.split_plain(content, by, places, of_numbers, of_codes)
        if rows is None:
            rows = _split(content, narrow, by, places)
        frame, made.lines = rows
        frame.columns = [names[position] for position in places]
        restored = _restored(frame.select(pl.col(pl.String).exclude(numbers)))
        columns = {column.name: column for column in [*frame, *restored]}
        for name in numbers:
            if frame[name].dtype == pl.String:
                what = f"column {name!r}"
                columns[name] = text.numbers(
                    content.path, what, frame[name], made.lines, content.failures
                )
        return pl.DataFrame({name: columns[name] for name in wanted})

    made = Table(content.path, names, read)
    return made


def _split(
    content: text.Text, narrow: text.Text, separator: str, places: list[int]
) -> tuple[pl.DataFrame, Integers]:
    """Split text into rows, without the first.

    narrow: the text where `content` names a column of the names of rows.
    """
    if content is not narrow:
        first = text.split(content, separator, columns=[0])[0].to_series()[1:]
        # R writes numbers of rows by default
        if not first.str.contains("^[0-9]+$").all() or first.is_duplicated().any():
            text.split(narrow, separator)  # which refuses rows that are longer than their header
    frame, lines = text.split(content, separator, columns=places)
    return frame[1:], lines[1:]


def separator_of(content: text.Text) -> str | None:
    """Return the character between the names in a text file's header; None where there is none."""
    return next((separator for separator in SEPARATORS if separator in content.first), None)


def _restored(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of a text file without blanks and protecting apostrophes."""
    pl = files.polars()
    cells = cells.select(pl.all().str.strip_chars())
    # To look for apostrophes takes a tenth of the time that a regular expression does.
    protected = [column.name for column in cells if column.str.starts_with("'").any()]
    return cells.with_columns(whole_files.restore(pl.col(protected))) if protected else cells


def of_parquet(path: Path, first: int = 0, n: int | None = None) -> Table:
    """Make a table of a Parquet file, or of `n` rows from the row `first` on."""
    pl = files.polars()
    files.require_kind(path, ".parquet")

    def read(wanted: list[str], _: Sequence[str], coded: Sequence[str]) -> Any:
        with files.explain_reading(path):
            # polars would take some names for patterns, addresses or folders of partitions.
            rows = pl.scan_parquet(
                path.absolute(), glob=False, hive_partitioning=False, schema=schema
            )
            frame = rows.select(wanted).slice(first, n).collect()
            texts = [name for name in coded if schema[name] == pl.String]
            return frame.with_columns([as_categories(frame[name]) for name in texts])

    with files.explain_reading(path), _explain_types(path):
        schema = scan_schema(path).collect_schema()
    return Table(path, schema.names(), read, first=first)


def scan_schema(path: Path) -> pl.LazyFrame:
    """Return what the footer of a Parquet file says of it.

    polars would map the file to memory for that, and end the process where somebody cuts it off
    meanwhile.
    """
    with path.open("rb") as file:
        file.seek(-_END, os.SEEK_END)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-_END - size, os.SEEK_END)
        footer = file.read()
    lazy: pl.LazyFrame = files.polars().scan_parquet(io.BytesIO(_PARQUET + footer))
    return lazy


@contextmanager
def _explain_types(path: Path) -> Iterator[None]:
    """Turn the panic of polars about types that it does not know into an error."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(
            f"{path} cannot be read: it has a column of a type that polars does not know, such as"
            " list_view: write vectors as lists (pyarrow.list_)"
        ) from None


def of_arrays(
    path: Path, names: list[str], take: Callable[[str], AnyArray], kind: str = "array"
) -> Table:
    """Make a table of arrays by name."""
    return Table(
        path, names, lambda wanted, *_: _frame({name: take(name) for name in wanted}), take, kind
    )


def read_arrays(path: Path) -> Table:
    """Make a table of the arrays of a .npz file, or of that of a .npy file, which has no name."""
    if path.suffix.lower() == ".npy":
        files.require_kind(path, ".npy")
        with files.explain_reading(path), path.open("rb") as stream:
            _refuse_objects(str(path), stream)
        return of_arrays(path, [""], lambda _: read_npy(path))
    files.require_kind(path, ".npz")
    with files.explain_reading(path), zipfile.ZipFile(path) as file:
        names = [member.removesuffix(".npy") for member in file.namelist()]

    def take(name: str) -> AnyArray:
        described = f"{path}: array {name!r}"
        with (
            files.explain_reading(path),
            zipfile.ZipFile(path) as file,
            files.explain_reading(described),
        ):
            info = file.infolist()[names.index(name)]
            memory.require(
                info.file_size,
                f"the numbers of {described}",
                "save it as .npy, which is not read whole",
            )
            with file.open(info) as stream:
                _refuse_objects(described, stream)
            return _array_in(file, info, described)

    return of_arrays(path, names, take)


def headers_of_arrays(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and type of each array of a .npz file; refused are headers that promise other
    numbers than there are.
    """
    headers = {}
    with files.explain_reading(path), zipfile.ZipFile(path) as file:
        for info in file.infolist():
            with file.open(info) as stream:
                shape, dtype = _header(stream)
                n_bytes = info.file_size - stream.tell()
            if not dtype.hasobject and math.prod(shape) * dtype.itemsize != n_bytes:
                raise FileFormatError(
                    f"{path}: array {info.filename!r} has {n_bytes:,} bytes of numbers, but its"
                    f" header says that its shape is {shape}"
                )
            headers[info.filename.removesuffix(".npy")] = shape, dtype
    return headers


def stack_arrays(
    path: Path, headers: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
) -> AnyArray:
    """Return the arrays of a .npz file, a vector each, as the rows of one."""
    size = math.prod(next(iter(headers.values()))[0])
    stacked = room((len(headers), size), np.result_type(*(dtype for _, dtype in headers.values())))
    with files.explain_reading(path), zipfile.ZipFile(path) as file:
        for row, info in zip(stacked, file.infolist(), strict=True):
            row[...] = _array_in(file, info, f"{path}: array {info.filename!r}").ravel()
    return stacked


def _array_in(file: zipfile.ZipFile, info: zipfile.ZipInfo, described: str) -> AnyArray:
    """Read an array of an archive; refuse one with more bytes than its header says."""
    with file.open(info) as stream:
        array: AnyArray = npy.read_array(stream, allow_pickle=False)
        if stream.read(1):
            raise FileFormatError(f"{described} has more bytes than its header says")
    return array


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type in the header of an array."""
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(
        npy.read_magic(stream)
    )
    shape, _, dtype = ((), False, np.dtype(bool)) if read is None else read(stream)
    return shape, dtype


def _refuse_objects(described: str, stream: IO[bytes]) -> None:
    """Refuse an array of Python objects, which would have to be unpickled, before NumPy does in its
    own words.
    """
    shape, dtype = _header(stream)
    if not dtype.hasobject:
        return
    if shape == ():
        would_do = (
            "save a dict of vectors by name with numpy.savez(path, vectors=list(d.values()),"
            " name=list(d))"
        )
        raise FileFormatError(
            f"{described} cannot be read: it is a pickled Python object, which is never loaded;"
            f" {would_do}"
        )
    raise FileFormatError(
        f"{described} cannot be read: the array holds Python objects, which are never loaded; save"
        " text with .astype(str) and numbers with .astype(float)"
    )


def read_npy(path: Path) -> AnyArray:
    """Return the array of a .npy file, in memory, or in a temporary file where it would take much
    of what is free.

    An array that is mapped to the file itself would change with it, and end the process where the
    file is cut off.
    """
    with files.explain_reading(path), path.open("rb") as stream:
        there = npy.open_memmap(path, mode="r")  # to look at the header alone
        array = room(there.size, there.dtype)
        stream.seek(there.offset)
        if stream.readinto(array.view(np.uint8).data) < array.nbytes or stream.read(1):
            raise FileFormatError(f"{path} has more or fewer bytes than its header says")
    return array.reshape(there.shape[::-1]).T if np.isfortran(there) else array.reshape(there.shape)


def _frame(arrays: Mapping[str, AnyArray]) -> pl.DataFrame:
    """Make a data frame of arrays of one dimension, which must have the same length."""
    pl = files.polars()
    columns: dict[str, Any] = {}
    for name, given in arrays.items():
        array = validation.column(name, given)
        if array.dtype.kind not in "SUbiuf":
            raise FileFormatError(
                f"array {name!r} must hold numbers or text, but its type is {array.dtype}"
            )
        with raise_as(FileFormatError, f"array {name!r} holds bytes that are not UTF-8 text"):
            array = np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array
        columns[name] = array.tolist() if array.dtype.kind == "U" else array
    checks.same_length({name: len(column) for name, column in columns.items()})
    return pl.DataFrame([pl.Series(name, column) for name, column in columns.items()])


def read_hdf5(path: Path, wanted: Sequence[str]) -> Table:
    """Make a table of datasets by path; where each is one vector, of all as "vectors" and of their
    paths as "name".

    Another process writes those wanted to .npy files in a temporary folder. It costs a few tenths
    of a second; refused is a file with which that process ends early, takes too long, or finds an
    error.
    """
    require("h5py", "hdf5", "reading HDF5")
    files.require_kind(path, ".h5")
    folder = Folder()
    command = [sys.executable, "-P", str(_PROGRAM), str(path.absolute()), str(folder.path), *wanted]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    seconds = _SECONDS + path.stat().st_size / _BYTES_A_SECOND
    with files.explain_reading(path):
        try:
            said = subprocess.run(
                command, env=environment, capture_output=True, timeout=seconds, check=False
            ).stdout
        except subprocess.TimeoutExpired:
            raise FileFormatError(
                f"{path} cannot be read: libhdf5 does not finish reading it, so it is damaged"
            ) from None
        if not said:
            raise FileFormatError(
                f"{path} cannot be read: libhdf5 crashes with it, so it is damaged"
            )
        answer: dict[str, Any] = json.loads(said)
    if "error" in answer:
        raise FileFormatError(f"{path} cannot be read: {answer['error']}")
    names = answer["names"]
    table = of_arrays(
        path, names, lambda name: read_npy(folder.path / f"{names.index(name)}.npy"), "dataset"
    )
    table.exchanged = answer["exchanged"]
    return table
