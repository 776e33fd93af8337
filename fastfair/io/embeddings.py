"""`read_embeddings`: read `Embeddings` from files of vectors, subjects and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import argument_kinds, side_columns, validation
from fastfair._lib.arguments import checked
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import gathered
from fastfair.data.embeddings import Embeddings
from fastfair.errors import DroppedWarning, FileFormatError, InputError

from . import array_files, hdf5_files, reading, tables
from .metadata import MISSING_METADATA, Metadata
from .subject_patterns import cut_out, take

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

# The first bytes of files with each suffix.
_BEGINNINGS = {
    ".npy": b"\x93NUMPY",
    ".npz": b"PK",
    ".parquet": b"PAR1",
    ".h5": b"\x89HDF\r\n\x1a\n",
    ".hdf5": b"\x89HDF\r\n\x1a\n",
}


@checked(
    path=argument_kinds.source,
    vectors=argument_kinds.text,
    subject=argument_kinds.text_or_labels,
    groups=argument_kinds.texts_or_groups,
    role=argument_kinds.text_or_labels,
    template=argument_kinds.text_or_labels_or_count,
)
def read_embeddings(
    path: str | Path | IntoDataFrame,
    vectors: str | None = None,
    subject: str | validation.Labels | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    metadata_id: str | None = None,
    groups: str | Sequence[str] | Mapping[str, validation.Labels] | None = None,
    *,
    samples: str | Path | IntoDataFrame | None = None,
    role: str | validation.Labels | None = None,
    template: str | validation.Labels | int | None = None,
    similarity: str = "cosine",
    missing_metadata: str = "raise",
) -> Embeddings:
    r"""Read a file of embeddings, and optionally a table with the subjects' metadata.

    Parameters
    ----------
    path : path or data frame
        ``.npy`` (memory-mapped, not read whole), ``.npz``, ``.parquet`` with a column of lists, or HDF5 (``.h5``,
        ``.hdf5``). A data frame is taken as Parquet.
    vectors : str, optional
        The array or column with one vector for each sample; by default the one called "vectors". A ``.npy`` has no
        names.
    subject : str or (n,) array_like, optional
        The array or column with the subject of each vector, by default the one called "subject"; or the labels
        themselves.
    subject_pattern : str, optional
        Regular expression (Rust syntax) that finds the subject id in `subject` if that holds paths: its first group, or
        else the whole match, is the subject id.
    metadata : path or data frame, optional
        One row for each subject: CSV, TSV or Parquet, or any data frame.
    metadata_id : str, optional
        The column of `metadata` with subject ids.
    groups : str, sequence of str, or dict of str to (n,) array_like, optional
        Attributes that make the groups: columns of `metadata` if it is given, else arrays or columns of the file. A
        dict holds the labels themselves. Several make intersections; `Embeddings.by` chooses among them later.
    samples : path or data frame, optional
        A table with one row for each vector, in the same order, if the file itself does not hold the subjects (and
        groups).
    role : str or (n,) array_like, optional
        The array or column that says of each vector whether it is a "reference" or a "probe", which are then compared
        with one another alone; or the roles themselves.
    template : str, (n,) array_like or int, optional
        The array or column that says which template each reference is part of, such as that of the subjects; or what
        `Embeddings.enrolled` takes. By default references are compared as they are.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        As in `Embeddings`.
    missing_metadata : {"raise", "drop"}
        What to do with vectors of subjects that have no metadata, or an empty label: raise an error, or leave them out
        with a warning that says how many, which copies the other vectors.

    Returns
    -------
    Embeddings

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, or not what its suffix says, and for pickled objects, which are never loaded.
    InputError
        For arrays or columns that do not exist (the message suggests the nearest names), subjects without metadata, and
        as `Embeddings` does.
    MissingDependencyError
        Where the package that reads the file is not installed.

    Warns
    -----
    DroppedWarning
        Under ``missing_metadata="drop"``.

    Examples
    --------
    >>> import fastfair as ff
    >>> import numpy as np
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.save(folder / "v.npy", np.float32([[1, 0], [2, 1], [0, 1], [1, 3]]))
    >>> _ = (folder / "images.csv").write_text("file,camera\nann/1,x\nann/2,x\nbob/1,y\nbob/2,y\n")
    >>> _ = (folder / "who.csv").write_text("name,sex\nann,f\nbob,m\n")
    >>> ff.read_embeddings(
    ...     folder / "v.npy", samples=folder / "images.csv", subject="file", subject_pattern="^([^/]+)/",
    ...     metadata=folder / "who.csv", metadata_id="name", groups="sex",
    ... )
    Embeddings(4 x 2 float32, cosine, 2 subjects, 2 mated, 4 non-mated, 2 groups)
    """
    validation.choice("missing_metadata", missing_metadata, MISSING_METADATA)
    if metadata is None and metadata_id is not None:
        raise InputError("metadata_id is given without metadata=")
    if metadata is not None and isinstance(groups, Mapping):
        raise InputError("with metadata= groups are names of its columns, not labels")
    names = list(groups) if isinstance(groups, Mapping) else side_columns.named(groups)
    table_of_subjects = None if metadata is None else Metadata(metadata, metadata_id, names)
    wanted = [vectors or "vectors"]
    if samples is None:
        wanted += [subject] if isinstance(subject, str) else ["subject"] if subject is None else []
        wanted += [] if isinstance(groups, Mapping) or metadata is not None else names
        wanted += [role] if isinstance(role, str) else []
    with _opened(path, wanted) as file:
        fields = file if samples is None else _of_table(tables.table(samples, "samples", "samples"))
        if subject is None or isinstance(subject, str):
            who = fields.labels("subject", subject)
        else:
            who = validation.encode("subject", subject)
        if subject_pattern is not None:
            who = cut_out([("subject", who)], subject_pattern)[0]
        labels: dict[str, Any] = {}
        if isinstance(groups, Mapping):
            labels = dict(groups)
        elif table_of_subjects is None:
            labels = {name: fields.labels("groups", name) for name in names}
        roles = None
        if role is not None:
            roles = fields.labels("role", role) if isinstance(role, str) else validation.encode("role", role)
        templates = template
        if isinstance(template, str):
            templates = fields.labels("template", template)
        elif template is not None and not isinstance(template, int):
            templates = validation.encode("template", template)
        array = file.vectors(vectors)
    keep, left_out = None, []
    if table_of_subjects is not None:
        validation.same_length({"vectors": len(array), "subject": who.codes.size}, "vector")
        found = table_of_subjects.look_up(who.labels)
        labels = {name: validation.Coded(c.labels, c.codes[who.codes]) for name, c in found.items()}
        with gathered(DroppedWarning) as left_out:
            keep = table_of_subjects.find([who], missing_metadata, "vectors")
    if keep is not None:
        array, who, labels, roles = array[keep], take(who, keep), take(labels, keep), take(roles, keep)
        templates = templates if isinstance(templates, int) else take(templates, keep)
    try:
        made = Embeddings(array, who, labels or None, similarity, roles)._without(left_out)
        return made if templates is None else made.enrolled(templates)
    except InputError as error:
        among = "" if keep is None else " (of those with metadata)"
        raise type(error)(f"{file.place}: {error}{among}", error.row) from None


@dataclass(frozen=True)
class _Fields:
    """The named arrays of a file, or the columns of a table; each is read when it is needed.

    Attributes
    ----------
    place : path or str
        The file or data frame, for messages.
    kind : str
        "array", "dataset" or "column", for messages.
    names : list of str, or None
        Their names; None if the file holds one array without a name.
    take_vectors, take_labels : callable
        Return the field of a name as an array of two dimensions, or as labels.
    table : Table, or None
        The table, if the fields are columns.
    """

    place: Path | str
    kind: str
    names: list[str] | None
    take_vectors: Callable[[str], np.ndarray[Any, Any]]
    take_labels: Callable[[str], validation.Labels]
    table: tables.Table | None = None

    def vectors(self, name: str | None) -> np.ndarray[Any, Any]:
        """Return the vectors: the field named, or the one called "vectors"."""
        if self.names is not None:
            return self.take_vectors(_named(self, self.names, "vectors", name))
        if name is not None:
            raise InputError(f"{self.place} holds one array without a name, so leave vectors= out")
        return self.take_vectors("")

    def labels(self, role: str, name: str | None) -> validation.Coded:
        """Return the labels of a role: the field named, or the one with the name of the role."""
        if self.names is None:
            raise InputError(
                f"{self.place} holds nothing but vectors: give the {role} of each as an array, or a table with one row "
                "for each vector as samples="
            )
        name = _named(self, self.names, role, name)
        try:
            return validation.encode(name, self.take_labels(name))
        except FileFormatError:
            raise
        except InputError as error:
            line = "" if self.table is None or error.row is None else f"{self.table.where(error.row)}: "
            raise InputError(f"{self.place}: {line}{error}", error.row) from None


def _named(fields: _Fields, names: list[str], role: str, name: str | None) -> str:
    """Return the name of the field for a role."""
    wanted = role if name is None else name
    if wanted in names:
        return wanted
    raise InputError(validation.not_there(fields.place, wanted, names, role=role, kind=fields.kind))


@contextmanager
def _opened(source: Any, wanted: list[str]) -> Iterator[_Fields]:
    """Open a file of vectors, from which some fields are wanted, or take a data frame."""
    if not isinstance(source, str | Path):
        yield _of_table(tables.of_frame(source, "path", "the data frame"))
        return
    path = reading.check_file(source)
    suffix = path.suffix.lower()
    if suffix not in _BEGINNINGS:
        raise FileFormatError(f"{path}: vectors are read from {', '.join(_BEGINNINGS)}, not from {suffix!r}")
    _check_beginning(path, suffix)
    if suffix == ".npy":
        array = array_files.read_npy(path)
        yield _Fields(path, "array", None, lambda name: array, lambda name: array)
    elif suffix == ".npz":
        with array_files.opened(path) as arrays:
            yield _of_arrays(path, "array", arrays.names, arrays.__getitem__)
    elif suffix == ".parquet":
        yield _of_table(tables.of_parquet(path))
    else:
        with hdf5_files.opened(path, wanted) as datasets:
            yield _of_arrays(path, "dataset", datasets.names, datasets.__getitem__)


def _check_beginning(path: Path, suffix: str) -> None:
    with path.open("rb") as file:
        head = file.read(8)
    if not head.startswith(_BEGINNINGS[suffix]):
        found = next(
            (f"as {other} files do" for other, b in _BEGINNINGS.items() if head.startswith(b)), f"with {head!r}"
        )
        raise FileFormatError(f"{path} is no {suffix} file: it begins {found}")


def _of_arrays(path: Path, kind: str, names: list[str], take: Callable[[str], np.ndarray[Any, Any]]) -> _Fields:
    def take_labels(name: str) -> validation.Labels:
        array = take(name)
        if array.dtype.kind == "S":
            with reading.reading(f"{path}: {kind} {name!r}"):
                return np.char.decode(array, "utf-8")
        return array

    return _Fields(path, kind, names, take, take_labels)


def _of_table(table: tables.Table) -> _Fields:
    def take_labels(name: str) -> validation.Labels:
        return FrameColumns(table.columns([table.require("labels", name)])).labels(name)

    def take_vectors(name: str) -> np.ndarray[Any, Any]:
        pl = reading.polars()
        place = f"{table.place}: column {name!r}"
        column = table.columns([table.require("vectors", name)])[name]
        if isinstance(column.dtype, pl.List):
            sizes = column.list.len().fill_null(0)
            size = int(np.max(sizes.to_numpy(), initial=0))
            wrong = (sizes != size).arg_true()
            if len(wrong):
                row = int(wrong[0])
                raise FileFormatError(
                    f"{place} holds {int(sizes[row])} numbers in row {row} (counted from 0), but {size} in others; "
                    f"{len(wrong)} such rows"
                )
            with reading.reading(place):
                column = column.list.to_array(size)
        with reading.reading(place):
            return np.asarray(column.to_numpy())

    return _Fields(table.place, "column", table.names, take_vectors, take_labels, table)
