"""`read_embeddings` and `read_named_vectors`: vectors, one for each sample, and what is known of
them, out of files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.arguments import checked
from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import Coded, Labels, encode
from fastfair.data import group_labels, sample_names, side_columns
from fastfair.data.checks import Similarity
from fastfair.data.embeddings import (
    Embeddings,
    FailedVectors,
    FailuresOfVectors,
    NamedVectors,
    PairKinds,
    SameName,
    TemplateScore,
    rows_of_vectors,
)
from fastfair.data.exclusions import gathering
from fastfair.data.group_labels import MissingLabels
from fastfair.errors import InputError

from . import files, tables, vector_files
from .metadata import Metadata

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@checked
@dataclass(frozen=True)
class VectorLayout:
    """What else files of vectors, and tables beside them, have.

    Attributes
    ----------
    metadata_id : str, optional
        The column of `metadata` with subject ids, by default the first.
    template : str, (n,) array_like or int, optional
        The array or column that says which template each reference is part of, such as that of the
        subjects. By default references are compared as they are.

        Or what `Embeddings.enrolled` takes.
    template_score : {"mean", "max"}
        The score of a template with a probe: that of the mean of its vectors, or the highest that
        one of them has.
    session : str or (n,) array_like, optional
        The array or column with what vectors of several people share: their day, device, site or
        operator.

        Or the sessions themselves.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.VectorLayout(template="subject", template_score="max").template_score
    'max'
    """

    metadata_id: str | None = None
    template: str | Labels | int | None = None
    template_score: TemplateScore = "mean"
    session: str | Labels | None = None


USUAL_VECTOR_LAYOUT = VectorLayout()


@files.refuse_changes()
@checked
def read_embeddings(
    path: str | Path | IntoDataFrame,
    vectors: str | None = None,
    subject: str | Labels | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    groups: str | Sequence[str] | Mapping[str, Labels] | None = None,
    *,
    samples: str | Path | IntoDataFrame | None = None,
    role: str | Labels | None = None,
    similarity: Similarity = "cosine",
    layout: VectorLayout = USUAL_VECTOR_LAYOUT,
    missing_labels: MissingLabels = "error",
    failures: FailuresOfVectors = "error",
    pair_kinds: PairKinds = "both",
) -> Embeddings:
    r"""Read embeddings, and optionally a table with the subjects' metadata.

    Parameters
    ----------
    path : path or data frame
        ``.npy`` (in a temporary file if large), ``.npz``, ``.parquet`` with a column of lists,
        ``.json`` or ``.jsonl``, Kaldi's ``.ark`` or ``.scp``, ``.safetensors``, or HDF5 (``.h5``,
        ``.hdf5``). Where each array, dataset or entry is one vector, these are its "vectors", and
        their names its "name". CSV and other tables may have a column for each number, such as v0,
        v1, .... A data frame is taken as Parquet.
    vectors : str, optional
        The array or column with one vector for each sample; by default the one called "vectors". Of
        numbered columns what their names begin with, if there are several sets. A ``.npy`` has no
        names.
    subject : str or (n,) array_like, optional
        The array or column with the subject of each vector, by default the one called "subject".

        Or the labels themselves.
    subject_pattern : str, optional
        Regular expression (Rust syntax) that finds the subject id in `subject` if that holds paths:
        its first group, or else the whole match, is the subject id.
    metadata : path or data frame, optional
        Table with one row for each subject: CSV, TSV or Parquet.

        Or any data frame.
    groups : str, sequence of str, or dict of str to (n,) array_like, optional
        Attributes that make the groups: columns of `metadata` if it is given, else arrays or
        columns of the file. Several make intersections.

        A dict holds the labels themselves. `Embeddings.by` chooses among several attributes later.
    samples : path or data frame, optional
        A table with one row for each vector, in the same order, if the file itself does not hold
        the subjects (and groups).
    role : str or (n,) array_like, optional
        The array or column that says of each vector whether it is a "reference" or a "probe", which
        are then compared with one another alone.

        Or the roles themselves.
    similarity
        As in `Embeddings`.
    layout : VectorLayout
        Further columns: of templates, of sessions, and of ids in `metadata`.
    missing_labels : {"error", "drop", "unknown"}
        What to do with vectors of subjects that have no metadata, or with an empty label in these,
        in the file, in `samples` or in `groups`: raise an error; leave them out with a warning that
        says how many, which copies the other vectors; or take "unknown" for it.
    failures, pair_kinds
        As in `Embeddings`.

    Returns
    -------
    Embeddings

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, or not what its suffix says, and for pickled objects,
        which are never loaded.
    InputError
        For arrays or columns that do not exist (the message suggests the nearest names), subjects
        without metadata, and as `Embeddings` does.
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
    ...     metadata=folder / "who.csv", groups="sex", layout=ff.VectorLayout(metadata_id="name"),
    ... )
    Embeddings(4 x 2 float32, cosine, 2 subjects, 2 mated, 4 non-mated, 2 groups)
    """
    template = layout.template
    if template is None and layout.template_score != "mean":
        raise InputError(
            f"⟦template_score={layout.template_score!r}⟧ is given without ⟦template=⟧, which says"
            " what templates are"
        )
    if metadata is None and layout.metadata_id is not None:
        raise InputError("⟦metadata_id⟧ is given without ⟦metadata=⟧")
    if metadata is not None and isinstance(groups, Mapping):
        raise InputError("with ⟦metadata=⟧ groups are names of its columns, not labels")
    names = list(groups) if isinstance(groups, Mapping) else side_columns.names_of_groups(groups)
    described = None if metadata is None else Metadata(metadata, layout.metadata_id, names)
    of_file = [] if isinstance(groups, Mapping) or described is not None else names
    given = {
        "subject": "subject" if subject is None else subject,
        "role": role,
        "template": template,
        "session": layout.session,
    }
    file, table = _opened(path, vectors, [*given.values(), *of_file], samples)
    columns = {
        name: _labels(table, name, labels)
        for name, labels in given.items()
        if labels is not None and not isinstance(labels, int)
    }
    if subject_pattern is not None:
        (columns["subject"],) = cut_subjects([("subject", columns["subject"])], subject_pattern)
    labels, lacking = group_labels.attributes_by_policy(
        groups if isinstance(groups, Mapping) else {}, missing_labels
    )
    for name in of_file:
        labels[name], without = table.labels_by_policy("groups", name, missing_labels)
        lacking |= {} if without is None else {f"column {name!r}": without}
    array = file.vectors(vectors)
    sizes = {name: column.codes.size for name, column in columns.items()}
    sizes |= {f"group {name!r}": column.codes.size for name, column in labels.items()}
    file.require_vectors_of(array, sizes)
    with gathering() as left_out:
        keep = group_labels.flag_labelled(lacking, missing_labels, len(array), "vectors")
        if described is not None:
            (labels,) = described.groups_of([columns["subject"]])
            keep = described.kept([columns["subject"]], missing_labels, "vectors")
        keep &= rows_of_vectors(array, similarity, failures)
    if not keep.any():
        raise InputError(f"{file.place}: no vectors are left: {' and '.join(map(str, left_out))}")
    if not keep.all():
        array = array[keep]
        columns, labels = take(columns, keep), take(labels, keep)
    with files.name_file(file.place):
        with file.placed(keep):
            made = Embeddings(
                array,
                columns["subject"],
                labels or None,
                similarity,
                columns.get("role"),
                "non-match" if failures == "non-match" else "error",
                pair_kinds=pair_kinds,
                session=columns.get("session"),
            )
        made = made._changed(made.grouping, left_out=tuple(left_out)) if left_out else made
        if template is None:
            return made
        return made.enrolled(columns.get("template", template), layout.template_score)


@files.refuse_changes()
@checked
def read_named_vectors(
    path: str | Path | IntoDataFrame,
    vectors: str | None = None,
    name: str | Labels | None = None,
    *,
    samples: str | Path | IntoDataFrame | None = None,
    similarity: Similarity = "cosine",
    same_name: SameName = "raise",
    failures: FailedVectors = "error",
) -> NamedVectors:
    """Read a file of vectors and the names by which lists of trials ask for them.

    Parameters
    ----------
    path : path or data frame
        As in `read_embeddings`.
    vectors : str, optional
        The array or column with one vector for each sample; by default the one called "vectors". A
        ``.npy`` has no names.
    name : str or (n,) array_like, optional
        The array or column with the name of each vector, by default the one called "name".

        Or the names themselves.
    samples : path or data frame, optional
        A table with one row for each vector, in the same order, if the file itself does not hold
        the names.
    similarity, same_name, failures
        As in `NamedVectors`.

    Returns
    -------
    NamedVectors
        Names are text, as they are in lists of trials.

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, or not what its suffix says, for vectors of different
        lengths, and for pickled objects, which are never loaded.
    InputError
        For arrays or columns that do not exist (the message suggests the nearest names), and as
        `NamedVectors` does.
    MissingDependencyError
        Where the package that reads the file is not installed.

    Examples
    --------
    >>> import fastfair as ff
    >>> import numpy as np
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "faces.npz"
    >>> np.savez(path, vectors=np.float32([[3, 4], [0, 1], [1, 0]]), name=["ann/1", "ann/2", "bob/1"])
    >>> ff.read_named_vectors(path)
    NamedVectors(3 x 2 float32, cosine, 3 names)
    """
    file, table = _opened(path, vectors, ["name" if name is None else name], samples)
    coded = _labels(table, "name", name)
    array = file.vectors(vectors)
    file.require_vectors_of(array, {"name": coded.codes.size})
    with files.name_file(file.place):
        return NamedVectors(array, as_text(coded), similarity, same_name, failures)


def as_text(names: Coded) -> Coded:
    """Return names as text, so that those of files that know numbers equal those of files that do
    not.
    """
    if set(map(type, names.labels.tolist())) <= {str}:
        return names
    texts, codes = np.unique([str(label) for label in names.labels.tolist()], return_inverse=True)
    return Coded(texts.astype(object), codes[names.codes])


def _labels(table: tables.Table, role: str, labels: Any) -> Coded:
    """Return the labels of a role, which a caller gives, or names a column of, by default that of
    the role's name.
    """
    if labels is None or isinstance(labels, str):
        return table.labels(role, labels)
    return encode(role, labels)


def _opened(
    source: Any, vectors: str | None, others: Sequence[Any], samples: Any
) -> tuple[tables.Table, tables.Table]:
    """Open a file or frame of vectors, and where its other columns are; others: those wanted, if
    they are names.
    """
    wanted = [
        vectors or "vectors",
        *(name for name in others if isinstance(name, str) and samples is None),
    ]
    file = vector_files.open_vectors(source, list(dict.fromkeys(wanted)))
    return file, file if samples is None else tables.read_source(samples, "samples", "samples")


def cut_subjects(columns: Sequence[tuple[str, Coded]], pattern: str) -> list[Coded]:
    """Find the subjects in the names of samples, by a pattern. columns: name for messages and
    samples of each side.
    """
    pl = files.polars()
    names = pl.Series(list(map(str, columns[0][1].labels)), dtype=pl.String)
    try:
        subject_parts = names.str.extract(pattern, 1)
        if subject_parts.is_null().all():  # the pattern has no group
            subject_parts = names.str.extract(pattern, 0)
    except Exception as error:
        raise InputError(
            f"⟦subject_pattern⟧ {pattern!r} is not a regular expression:"
            f" {str(error).splitlines()[0]}"
        ) from error
    subject_parts = subject_parts.str.strip_chars()
    missing = (subject_parts.fill_null("") == "").to_numpy()
    for what, coded in columns if missing.any() else ():
        wrong = np.flatnonzero(missing[coded.codes])
        if wrong.size:
            row = int(wrong[0])
            raise InputError(
                f"⟦subject_pattern⟧ '{pattern}' finds no subject in"
                f" {names[int(coded.codes[row])]!r} ({wrong.size} of {coded.codes.size} values of"
                f" {what!r}): say how to find it with"
                f" ⟦subject_pattern=⟧{sample_names.hint_at_pattern(names.to_list())}, or pass"
                " ⟦subject_pattern=''⟧ to take the list without subjects",
                row=row,
            )
    subjects = encode("subject", FrameColumns(subject_parts.to_frame("subject")).labels("subject"))
    return [Coded(subjects.labels, subjects.codes[coded.codes]) for _, coded in columns]


def take(column: Any, keep: Any) -> Any:
    """Keep some entries of a column of labels, or of each in a dict, and the labels still used; of
    None, None.
    """
    if isinstance(column, dict):
        return {name: take(part, keep) for name, part in column.items()}
    return None if column is None else column.take(keep)
