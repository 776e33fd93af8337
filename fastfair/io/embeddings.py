"""`read_embeddings`: read `Embeddings` from files of vectors, subjects and metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import argument_kinds, side_columns, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import gathered
from fastfair.data.embeddings import Embeddings, rows_of_vectors
from fastfair.data.templates import TEMPLATE_SCORES
from fastfair.errors import DroppedWarning, InputError

from . import reading, tables, vector_files, vector_parts
from .metadata import MISSING_LABELS, Metadata
from .subject_patterns import cut_out, take

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@reading.from_unchanged_files
@checked(
    path=argument_kinds.sources,
    vectors=argument_kinds.text,
    subject=argument_kinds.text_or_labels,
    groups=argument_kinds.texts_or_groups,
    role=argument_kinds.text_or_labels,
    template=argument_kinds.text_or_labels_or_count,
)
def read_embeddings(
    path: str | Path | Sequence[str | Path] | IntoDataFrame,
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
    template_score: str = "mean",
    similarity: str = "cosine",
    missing_labels: str = "error",
    failures: str = "error",
) -> Embeddings:
    r"""Read embeddings, and optionally a table with the subjects' metadata.

    Parameters
    ----------
    path : path, sequence of paths, or data frame
        ``.npy`` (in a temporary file if large), ``.npz``, ``.parquet`` with a column of lists, or HDF5 (``.h5``,
        ``.hdf5``); where each dataset of the latter is one vector, these are its "vectors", and their paths its "name".
        A data frame is taken as Parquet. Several files, or a pattern such as ``"vectors/*.npy"`` whose
        files are taken by name, are parts of one set: read one after another into a temporary file, memory-mapped.
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
    template_score : {"mean", "max"}
        The score of a template with a probe: that of the mean of its vectors, or the highest that one of them has.
    similarity : {"cosine", "inner_product", "negative_euclidean"}
        As in `Embeddings`.
    missing_labels : {"error", "drop", "unknown"}
        What to do with vectors of subjects that have no metadata, or an empty label: raise an error, or leave them out
        with a warning that says how many, which copies the other vectors; "unknown" is a label.
    failures : {"error", "exclude"}
        As in `Embeddings`.

    Returns
    -------
    Embeddings

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, or not what its suffix says, and for pickled objects, which are never loaded.
    OutputError
        Where parts cannot be written to a temporary file.
    InputError
        For arrays or columns that do not exist (the message suggests the nearest names), subjects without metadata,
        parts whose vectors differ in type or length, and as `Embeddings` does.
    MissingDependencyError
        Where the package that reads the file is not installed.

    Warns
    -----
    DroppedWarning
        Under ``missing_labels="drop"`` and ``failures="exclude"``.

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
    validation.choice("missing_labels", missing_labels, MISSING_LABELS)
    validation.choice("template_score", template_score, TEMPLATE_SCORES)
    if template is None and template_score != "mean":
        raise InputError(f"template_score={template_score!r} is given without template=, which says what templates are")
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
    with vector_parts.opened(path, wanted) as file:
        fields = file if samples is None else vector_files.of_table(tables.table(samples, "samples", "samples"))
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
            keep = table_of_subjects.find([who], missing_labels, "vectors")
    with gathered(DroppedWarning) as of_failures:
        usable = rows_of_vectors(array, similarity, failures)
    left_out = [*left_out, *of_failures]
    if usable is not None:
        keep = usable if keep is None else keep & usable
    if keep is not None:
        array, who, labels, roles = array[keep], take(who, keep), take(labels, keep), take(roles, keep)
        templates = templates if isinstance(templates, int) else take(templates, keep)
    try:
        made = Embeddings(array, who, labels or None, similarity, roles)._without(left_out)
    except InputError as error:
        raise file.told(error, keep) from None
    try:
        return made if templates is None else made.enrolled(templates, template_score)
    except InputError as error:
        raise type(error)(f"{file.place}: {error}", error.row) from None
