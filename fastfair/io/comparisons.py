"""`read_comparisons`: read `Comparisons` from a score file and a metadata table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import argument_kinds, side_columns, validation
from fastfair._lib.arguments import checked
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import gathered
from fastfair.data.comparisons import Comparisons
from fastfair.data.label_conflicts import LABEL_CONFLICTS, rows_without_conflicts
from fastfair.data.named_vectors import NamedVectors
from fastfair.errors import DroppedWarning, FileFormatError, InputError

from . import array_columns, array_files, field_files, formats, reading, tables, text_files
from .compared import BothSides, names_of, subjects_and_samples
from .metadata import METADATA_PER, MISSING_METADATA, Metadata, agreeing
from .named_vectors import as_text, read_named_vectors
from .pair_metadata import PairMetadata
from .subject_patterns import take
from .text_files import Text

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_WHAT = "comparisons"


@checked(
    path=argument_kinds.source,
    groups=argument_kinds.texts_or_pairs,
    metadata_id=argument_kinds.texts,
    embeddings=argument_kinds.source_of_vectors,
)
def read_comparisons(
    path: str | Path | IntoDataFrame,
    score: str | None = None,
    mated: str | None = None,
    reference: str | None = None,
    probe: str | None = None,
    subject_pattern: str | None = None,
    metadata: str | Path | IntoDataFrame | None = None,
    metadata_id: str | Sequence[str] | None = None,
    groups: str | Sequence[str | tuple[str, str]] | None = None,
    format: str = "auto",
    *,
    trials: str | Path | None = None,
    embeddings: str | Path | IntoDataFrame | NamedVectors | None = None,
    score_kind: str = "similarity",
    metadata_per: str = "subject",
    metadata_subject: str | None = None,
    missing_metadata: str = "raise",
    label_conflicts: str = "raise",
) -> Comparisons:
    r"""Read a score file, and optionally a table with metadata of its subjects, samples or pairs.

    Parameters
    ----------
    path : path or data frame
        The score file; text files may be compressed with gzip. A data frame (pandas, polars, pyarrow, ...) is taken as
        a file with named columns.
    score, mated, reference, probe : str, optional
        Columns of files with named columns; by default those of the same names where they exist, and
        "reference_sample" and "probe_sample" for the samples. Without `mated`, comparisons of a subject with itself are
        mated. For a ``.npz`` of score matrices, `score` names the array.
    subject_pattern : str, optional
        Regular expression (Rust syntax) that finds the subject id in `reference` and `probe`, such as
        ``r"^([^/]+)/"`` for "id10001/Y8hIVOBuels/00001.wav": its first group, or else the whole match, is the subject
        id. The full text is then the id of the sample.
    metadata : path or data frame, optional
        One row for each subject, sample or pair: CSV, TSV or Parquet, or any data frame.
    metadata_id : str or pair of str, optional
        The column of `metadata` with the ids of subjects or of samples. A pair of columns says that each row is about
        one pair: what the score file names in `reference`, and in `probe`.
    groups : str or sequence of str or of pairs of str, optional
        Attributes that make the groups: columns of `metadata` if it is given, else of the score file. An attribute x of
        the score file is one column x for reference and probe, or two columns "reference_x" and "probe_x" (bob:
        "bio_ref_x" and "probe_x"). Columns with other names are given as pairs, that of the references first:
        ``[("race_1", "race_2")]`` makes the attribute "race", the part that the names share. Several attributes make
        intersections; `Comparisons.by` chooses among them later.
    format : str
        "auto", or "csv", "tsv", "parquet" (named columns), "bob-4", "bob-5", "bob-csv", "voxceleb" (label enrol test,
        scores in a fourth column or in `path` with the list in `trials`), "kaldi" (enrol test target in `trials`),
        "matrix" (.npy, .npz or numbers as text; row i and column i are one subject). "auto" recognises a format or
        raises; it never guesses between two.
    trials : path, optional
        The trial list, if `path` holds only scores: one on each line in the list's order, or lines "enrol test score".
    embeddings : path, data frame or NamedVectors, optional
        Vectors with names, to score the pairs with that `path` lists without scores: a file of named columns, a
        VoxCeleb list (label enrol test) or a Kaldi list (enrol test target). A pair's names are in columns
        "reference_sample" and "probe_sample", or else in `reference` and `probe`; a column of scores is not read. A
        file is read by `read_named_vectors`.
    score_kind : {"similarity", "distance", "log-likelihood-ratio"}
        Whether high or low scores indicate the same subject, or scores are logarithms of likelihood ratios.
    metadata_per : {"subject", "sample"}
        Whether `metadata_id` has ids of subjects or of samples, such as names of files.
    metadata_subject : str, optional
        The column of `metadata` with the subject of each sample, where no pattern can find it; `reference` and `probe`
        then name samples.
    missing_metadata : {"raise", "drop"}
        What to do with comparisons of subjects that have no metadata, or an empty label: raise an error, or leave them
        out with a warning that says how many.
    label_conflicts : {"raise", "drop", "keep"}
        As in `Comparisons`, and the same for labels in the score file that contradict `metadata`, whose labels are used
        where such comparisons are kept.

    Returns
    -------
    Comparisons

    Raises
    ------
    FileFormatError
        For a file that is missing, empty, of another format or ambiguous, and for text where a number belongs (the
        line is named).
    InputError
        For columns that do not exist (the message suggests the nearest names), names without a vector, a column of
        references or probes alone given for both, subjects without metadata, labels that contradict the metadata, and
        as `Comparisons` does.

    Warns
    -----
    DroppedWarning
        Under ``missing_metadata="drop"`` and ``label_conflicts="drop"``.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "s.csv").write_text("a,b,s\nann/1,ann/2,0.9\nann/1,bob/1,0.2\nbob/1,bob/2,0.8\n")
    >>> _ = (folder / "who.csv").write_text("name,sex\nann,f\nbob,m\n")
    >>> ff.read_comparisons(
    ...     folder / "s.csv", score="s", reference="a", probe="b", subject_pattern="^([^/]+)/",
    ...     metadata=folder / "who.csv", metadata_id="name", groups="sex",
    ... )
    Comparisons(2 mated, 1 non-mated, similarity, 2 subjects, 2 groups)
    """
    attributes = side_columns.named(groups)
    validation.choice("missing_metadata", missing_metadata, MISSING_METADATA)
    validation.choice("label_conflicts", label_conflicts, LABEL_CONFLICTS)
    validation.choice("metadata_per", metadata_per, METADATA_PER)
    validation.choice("format", format, ("auto", *formats.FORMATS))
    described = _metadata(metadata, metadata_id, metadata_per, metadata_subject, attributes)
    names = {"score": score, "mated": mated, "reference": reference, "probe": probe}
    vectors = None if embeddings is None else _vectors(embeddings, score, trials, score_kind)
    groups_of: dict[str, Any] = {
        "groups": [] if described else attributes,
        "of_metadata": described.attributes if described else [],
        "scored": vectors is None,
    }
    if isinstance(path, str | Path):
        path = reading.check_file(path)
        kind, text, listed = _opened(path, trials, format, score, scored=vectors is None)
        if kind == "matrix":
            matrix = array_files.read_matrix(path, score) if text is None else field_files.read_matrix(text)
            return _from_matrix(path, matrix, attributes, described, missing_metadata, score_kind)
        table = _read_table(path, kind, text, listed, names, groups_of)
    else:
        table = formats.choose(tables.of_frame(path, "path", "the data frame"), "frame", names, **groups_of)
        kind = "frame"
    if subject_pattern is not None and (table.reference is None or table.probe is None):
        raise InputError("subject_pattern= needs columns to cut: name them with reference= and probe=")
    table.subject_pattern = subject_pattern or table.subject_pattern
    sides: dict[str, Any] = {}
    keep = None
    with gathered(DroppedWarning) as without_labels, table.placed():
        subjects, samples = subjects_and_samples(kind, table, looked_up=metadata_subject is not None)
        if metadata_subject is not None:
            subjects, samples = _subjects_by_sample(described, table, subjects, samples)
        if subjects is not None:
            sides = {"reference": subjects[0], "probe": subjects[1]}
        if samples is not None:
            sides |= {"reference_sample": samples[0], "probe_sample": samples[1]}
        columns = FrameColumns(table.frame)
        if described is not None:
            per_sample = metadata_per == "sample" or metadata_subject is not None
            if isinstance(described, PairMetadata):
                per_sample |= table.subject_pattern is not None
            ids, others = (samples, subjects) if per_sample else (subjects, samples)
            ids = _known(ids, per_sample)
            found = described.groups_of(ids)
            keep = described.find(ids, missing_metadata, _WHAT, None if others is None else others[0].labels)
            keep = agreeing(label_conflicts, (columns, table.told), found, ids, keep)
            sides |= found
        elif table.attributes:
            sides["reference_group"] = {name: columns.labels(pair[0]) for name, pair in table.attributes.items()}
            sides["probe_group"] = {
                name: sides["reference_group"][name] if pair[0] == pair[1] else columns.labels(pair[1])
                for name, pair in table.attributes.items()
            }
        flags = None if table.mated is None else validation.mated_flags(columns.values(table.mated))
        scores = None if table.score is None else columns.numbers(table.score)
    rows = np.arange(table.frame.height) if keep is None else np.flatnonzero(keep)
    if vectors is not None:
        scores = _scored(vectors, table, samples or subjects, keep)
    elif keep is not None and scores is not None:
        scores = scores[keep]
    assert scores is not None  # of a table or of vectors
    if keep is not None:
        flags = None if flags is None else flags[keep]
        sides = {name: take(side, keep) for name, side in sides.items()}
    with gathered(DroppedWarning) as conflicting, table.placed(keep):
        if flags is not None and subjects is not None:
            marked = (subjects[0].labels, subjects[0].codes[rows], subjects[1].codes[rows])
            agreed = rows_without_conflicts(label_conflicts, flags, marked, lambda row: table.where(int(rows[row])))
            if agreed is not None:
                scores, flags = scores[agreed], flags[agreed]
                keep = np.isin(np.arange(table.frame.height), rows[agreed])
                sides = {name: take(side, agreed) for name, side in sides.items()}
    with table.placed(keep):
        comparisons = Comparisons(scores, flags, score_kind=score_kind, label_conflicts="keep", **sides)
    comparisons.left_out = (*without_labels, *conflicting)
    return comparisons


def _metadata(
    source: Any, id_columns: str | Sequence[str] | None, per: str, subject: str | None, attributes: list[Any]
) -> Metadata | PairMetadata | None:
    """Read the table of metadata, if there is one."""
    named = [id_columns] if isinstance(id_columns, str) else list(id_columns or [])
    if source is None:
        for name, value in (("metadata_id", named), ("metadata_subject", subject)):
            if value:
                raise InputError(f"{name} is given without metadata=")
        return None
    if len(named) > 2:
        raise InputError(f"metadata_id has {len(named)} columns: name one with ids, or two with those of pairs")
    if len(named) == 2:
        if subject is not None:
            raise InputError(
                "metadata_subject= goes with a table of samples, but the two columns of metadata_id= say that "
                "each row is about a pair"
            )
        return PairMetadata(source, (named[0], named[1]), attributes)
    paired = next((name for name in attributes if isinstance(name, tuple)), None)
    if paired is not None:
        raise InputError(
            f"with metadata= groups are names of its columns, not pairs such as {paired}; in a table with one row for "
            "each pair of samples, name both columns of ids with metadata_id="
        )
    per = per if subject is None else "sample"
    return Metadata(source, named[0] if named else None, attributes, per, subject)


def _known(ids: BothSides | None, of_samples: bool) -> BothSides:
    """Refuse metadata where the score file does not name what it is about."""
    if ids is not None:
        return ids
    if of_samples:
        raise InputError(
            "metadata= needs the samples of the comparisons: name them with reference= and probe= and say how to find "
            "their subjects, with subject_pattern= or metadata_subject=; or give columns called reference_sample and "
            "probe_sample"
        )
    raise InputError("metadata= needs the subjects of the comparisons: name their columns with reference= and probe=")


def _subjects_by_sample(
    metadata: Any, table: formats.ScoreTable, subjects: BothSides | None, samples: BothSides | None
) -> tuple[BothSides, BothSides]:
    """Look the subjects of samples up; without columns of samples, those of references and probes name them."""
    if table.subject_pattern is not None:
        raise InputError("both subject_pattern= and metadata_subject= say whose the samples are: give one of them")
    samples = _known(samples or subjects, True)
    return metadata.subjects_of(samples), samples


def _vectors(embeddings: Any, score: str | None, trials: str | Path | None, score_kind: str) -> NamedVectors:
    """Return the vectors that trials are scored with."""
    for name, value, why in (
        ("score", score, "scores are those of the vectors"),
        ("trials", trials, "the list of trials is path itself"),
        ("score_kind", None if score_kind == "similarity" else score_kind, "the scores of vectors are similarities"),
    ):
        if value is not None:
            raise InputError(f"with embeddings=, leave {name}= out: {why}")
    return embeddings if isinstance(embeddings, NamedVectors) else read_named_vectors(embeddings)


def _scored(
    vectors: NamedVectors, table: formats.ScoreTable, named: BothSides | None, keep: NDArray[np.bool_] | None
) -> NDArray[np.floating[Any]]:
    """Score the rows of a list of trials that are kept. named: what the list calls both sides, if it is known."""
    if table.reference is None or table.probe is None:
        raise InputError("embeddings= needs the names of vectors: name their columns with reference= and probe=")
    sides = [as_text(take(side, keep) if keep is not None else side) for side in named or names_of(table)]
    with table.placed(keep):
        return vectors.scores(*sides)


def _opened(
    path: Path, trials: str | Path | None, format: str, score: str | None, *, scored: bool
) -> tuple[str, Text | None, Text | None]:
    """Return the format, and the texts of the file and of the trial list, or None if they are not text."""
    kind = formats.recognise_suffix(path) if format == "auto" else format
    of_numpy = path.suffix in (".npy", ".npz")
    if format == "auto" and path.suffix == ".npz" and not scored:
        kind = "arrays"
    elif format == "auto" and of_numpy:
        kind = array_files.recognise(path, score)
    is_text = kind not in ("parquet", "arrays") and not (kind == "matrix" and of_numpy)
    text = text_files.read(path) if is_text else None
    listed = None if trials is None else text_files.read(reading.check_file(trials))
    if kind is None and text is not None:
        kind = formats.recognise(text, listed) if scored else formats.recognise_trials(text)
    if not scored and (kind in ("matrix", "bob-4", "bob-5") or path.suffix == ".npy"):
        raise InputError(f"{path} holds scores and no list of trials, so leave embeddings= out")
    return str(kind), text, listed


def _read_table(
    path: Path,
    kind: str,
    text: Text | None,
    listed: Text | None,
    names: dict[str, str | None],
    groups_of: dict[str, Any],
) -> formats.ScoreTable:
    if text is None or kind in ("csv", "tsv", "bob-csv"):
        if listed is not None:
            raise InputError(f"a {kind} file has its own labels: trials= goes with scores alone")
        if kind == "arrays":
            return formats.choose(*array_columns.chosen(path, names, groups_of), scored=groups_of["scored"])
        if text is None:
            return formats.choose(tables.of_parquet(path), kind, names, **groups_of)
        separator = "\t" if kind == "tsv" else ";" if ";" in text.first and "," not in text.first else ","
        return formats.choose(tables.of_text(text, separator), kind, names, **groups_of)
    named = [f"{role}=" for role, name in names.items() if name is not None]
    if named:
        raise InputError(f"a {kind} file has no named columns, so leave {' and '.join(named)} out")
    if groups_of["groups"]:
        raise InputError(
            f"a {kind} file has no columns of labels: give metadata= and metadata_id= for {groups_of['groups']}"
        )
    if kind in ("bob-4", "bob-5"):
        return field_files.read_bob_columns(text, int(kind[-1]))
    return field_files.read_trials(text, kind, listed, scored=groups_of["scored"])


def _from_matrix(
    path: Path,
    matrix: np.ndarray[Any, Any],
    attributes: list[Any],
    metadata: Metadata | PairMetadata | None,
    missing_metadata: str,
    score_kind: str,
) -> Comparisons:
    if metadata is None:
        if attributes:
            raise InputError(
                f"a score matrix has no columns of labels: give metadata= and metadata_id= for groups={attributes}"
            )
        return Comparisons.from_matrix(matrix, score_kind=score_kind)
    if not isinstance(metadata, Metadata) or metadata.subjects is not None:
        raise InputError(
            "rows and columns of a score matrix are subjects: with metadata= give metadata_id= the column that counts "
            "them, and give matrices of samples to Comparisons.from_matrix"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise FileFormatError(f"{path}: a score matrix is square, but this array's shape is {matrix.shape}")
    n = matrix.shape[0]
    subjects = np.arange(n)
    sides = tuple(validation.Coded(subjects, codes) for codes in (np.repeat(subjects, n), np.tile(subjects, n)))
    groups = metadata.groups_of((sides[0], sides[1]))
    with gathered(DroppedWarning) as left_out:
        keep = metadata.find((sides[0], sides[1]), missing_metadata, _WHAT)
    columns: dict[str, Any] = {"scores": matrix.ravel(), "reference": sides[0], "probe": sides[1], **groups}
    if keep is not None:
        columns = {name: take(column, keep) for name, column in columns.items()}
    comparisons = Comparisons(mated=None, score_kind=score_kind, **columns)
    comparisons.left_out = tuple(left_out)
    return comparisons
