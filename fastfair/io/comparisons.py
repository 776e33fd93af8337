"""`read_comparisons`: read `Comparisons` from a score file and a metadata table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import gathered, warn
from fastfair.data import score_matrices
from fastfair.data.comparisons import Comparisons
from fastfair.data.failed_comparisons import FailurePolicy
from fastfair.data.group_labels import MISSING
from fastfair.data.named_vectors import NamedVectors
from fastfair.errors import DroppedWarning, FileFormatError, InputError

from . import array_files, field_files, formats, reading, tables, text_files
from .how_to_read import HowToRead, vectors_of
from .metadata import Metadata
from .score_columns import columns_of
from .score_files import opened, read_table
from .subject_patterns import take

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@reading.from_unchanged_files
@checked(
    path=argument_kinds.source,
    groups=argument_kinds.texts_or_pairs,
    metadata_id=argument_kinds.texts,
    embeddings=argument_kinds.source_of_vectors,
    keep=argument_kinds.texts,
    quality=argument_kinds.optional(argument_kinds.text_or_pair),
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
    missing_labels: str = "error",
    label_conflicts: str = "raise",
    failures: str = "error",
    failure_score: float | None = None,
    quality: str | tuple[str, str] | None = None,
    mated_value: str | float | None = None,
    look_alikes: str = "warn",
    self_comparisons: str = "drop",
    keep: str | Sequence[str] = (),
    unmatched: str = "error",
    impostor: str | Path | None = None,
) -> Comparisons:
    r"""Read a score file, and optionally a table with metadata of its subjects, samples or pairs.

    Parameters
    ----------
    path : path or data frame
        The score file; text files may be compressed with gzip, bzip2 or xz. A data frame (pandas, polars, pyarrow, ...)
        is taken as a file with named columns.
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
        scores in a fourth column or in `path` with the list in `trials`), "enrol-test-score-label",
        "enrol-test-label-score", "enrol-test-score" (with a `subject_pattern`), "kaldi" (enrol test target in
        `trials`), "lfw" (pairs.txt, with `embeddings`), "matrix" (.npy, .npz or numbers as text; row i and column i are
        one subject). "auto" looks at all rows, and recognises a format or raises; it never guesses between two.
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
    missing_labels : {"error", "drop", "unknown"}
        What to do with comparisons that lack a label, in the score file or in `metadata`: raise an error, leave them
        out of those attributes whose label they lack, with warnings that say how many, or take "unknown" for it.
    label_conflicts : {"raise", "drop", "keep"}
        As in `Comparisons`, and the same for labels in the score file that contradict `metadata`, whose labels are used
        where such comparisons are kept.
    failures : {"error", "exclude", "non-match"}
        As in `Comparisons`: what to do with comparisons that failed. Their score is an empty field, NaN or
        `failure_score`.
    failure_score : float, optional
        The score that stands for a failed comparison, such as -1.
    quality : str or pair of str, optional
        Columns of the score file with the quality of samples, for `discard_curve`: the name of one column for the whole
        comparison; what the names of two columns share, as "quality" for "reference_quality" and "probe_quality"; or a
        pair of columns, that of the references first.
    mated_value : str or float, optional
        Which of the two values of the labels means mated, where they are no common words for it such as 1 and 0,
        target and nontarget, or yes and no.
    look_alikes : {"warn", "unite"}
        As in `Comparisons`.
    self_comparisons : {"drop", "keep"}
        As in `Comparisons` and, for score matrices, `Comparisons.from_matrix`.
    keep : str or sequence of str
        Columns of the score file to keep, such as your own ids of comparisons; `worst_comparisons` shows them.
    unmatched : {"error", "drop"}
        What to do with trials of `trials` that have no score, and scores that have no trial: raise an error, or leave
        them out with a warning that counts them.
    impostor : path, optional
        The scores of non-mated comparisons, one on each line or a one-dimensional ``.npy``, where `path` has nothing
        but those of mated ones.

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
        Under ``missing_labels="drop"``, ``label_conflicts="drop"`` and ``failures="exclude"``.

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
    vectors = None if embeddings is None else vectors_of(embeddings, score, trials, score_kind, failures)
    how = HowToRead(
        score, mated, reference, probe, subject_pattern, metadata, metadata_id, groups, format,
        trials, metadata_per, metadata_subject, missing_labels, label_conflicts, vectors,
        FailurePolicy(failures, failure_score), quality, mated_value, look_alikes, self_comparisons,
        (keep,) if isinstance(keep, str) else tuple(keep), unmatched,
    )  # fmt: skip
    if impostor is not None:
        return _of_two_files(path, impostor, how, score_kind)
    if isinstance(path, str | Path):
        path = reading.check_file(path)
        kind, text, listed = opened(path, how)
        if kind == "matrix":
            if quality is not None:
                raise InputError("a score matrix has no columns of quality: give it to discard_curve(quality=...)")
            matrix = array_files.read_matrix(path, score) if text is None else field_files.read_matrix(text)
            return _from_matrix(path, matrix, how, score_kind)
        table = read_table(path, kind, (text, listed), how)
    else:
        table = formats.choose(tables.of_frame(path, "path", "the data frame"), "frame", how.names, **how.groups_of)
        kind = "frame"
    columns = columns_of(table, kind, how)
    with table.placed(columns.keep):
        comparisons = Comparisons(
            score_kind=score_kind, label_conflicts="keep", failures=failures, failure_score=failure_score,
            look_alikes=look_alikes,
            self_comparisons="keep", **columns.arguments,
        )  # fmt: skip
    comparisons.left_out = (*columns.left_out, *comparisons.left_out)
    comparisons.quality = _quality_of(table, columns.keep)
    comparisons.origin = _origin_of(table, columns.keep)
    lacking = [name for name, labels in comparisons.attributes.items() if MISSING in labels]
    if not lacking:
        return comparisons
    for name in lacking:  # they are in all others
        warn(comparisons.by(name).left_out[-1], DroppedWarning)
    return comparisons.by(*comparisons.attributes)


def _origin_of(table: formats.ScoreTable, keep: NDArray[np.bool_] | None) -> dict[str, NDArray[Any]]:
    """Return the line of each comparison kept, in a text file, and its fields in columns to keep."""
    columns = {} if table.lines is None else {"line": np.asarray(table.lines, np.uint32)}
    columns |= {name: table.frame[name].to_numpy() for name in table.kept}
    return columns if keep is None else {name: column[keep] for name, column in columns.items()}


def _of_two_files(genuine: Any, impostor: str | Path, how: HowToRead, score_kind: str) -> Comparisons:
    """Read the scores of mated comparisons from a file, and those of non-mated ones from another."""
    given = [f"{name}=" for name, value in how.names.items() if value is not None]
    given += [
        f"{name}="
        for name in ("metadata", "trials", "groups", "subject_pattern", "quality", "keep", "mated_value")
        if getattr(how, name)
    ]
    if given or not isinstance(genuine, str | Path) or how.vectors is not None:
        raise InputError(f"with impostor=, path is a file of scores alone: leave {' and '.join(given) or 'others'} out")
    scores = []
    for name in (genuine, impostor):
        file = reading.check_file(name)
        if file.suffix in (".npy", ".npz"):
            values = array_files.read_matrix(file, None)
            if values.ndim != 1:
                raise FileFormatError(
                    f"{file} must have one score for each comparison, but its shape is {values.shape}"
                )
            scores.append(values)
        else:
            text = replace(text_files.read(file), failures=how.failures.policy != "error")
            scores.append(field_files.read_scores(text))
    mated = np.repeat([True, False], [one.size for one in scores])
    return Comparisons(
        np.concatenate(scores), mated, score_kind=score_kind, failures=how.failures.policy,
        failure_score=how.failures.score,
    )  # fmt: skip


def _quality_of(table: formats.ScoreTable, keep: NDArray[np.bool_] | None) -> Any:
    """Return the quality of the comparisons kept, or of their references and probes; None where there is none."""
    if table.quality is None:
        return None
    columns = FrameColumns(table.frame)
    found = tuple(columns.numbers(name)[slice(None) if keep is None else keep] for name in table.quality)
    return found[0] if table.quality[0] == table.quality[1] else found


def _from_matrix(path: Path, matrix: np.ndarray[Any, Any], how: HowToRead, score_kind: str) -> Comparisons:
    metadata, attributes = how.described, how.attributes
    failing: dict[str, Any] = {"failures": how.failures.policy, "failure_score": how.failures.score}
    if metadata is None:
        if attributes:
            raise InputError(
                f"a score matrix has no columns of labels: give metadata= and metadata_id= for groups={attributes}"
            )
        return Comparisons.from_matrix(matrix, score_kind=score_kind, self_comparisons=how.self_comparisons, **failing)
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
    score_matrices.without_diagonal(
        matrix.ravel(), {"reference": sides[0], "probe": sides[1]}, score_kind, how.self_comparisons
    )
    groups = metadata.groups_of((sides[0], sides[1]))
    with gathered(DroppedWarning) as left_out:
        keep = metadata.find((sides[0], sides[1]), how.missing_labels, "comparisons")
    columns: dict[str, Any] = {"scores": matrix.ravel(), "reference": sides[0], "probe": sides[1], **groups}
    if keep is not None:
        columns = {name: take(column, keep) for name, column in columns.items()}
    comparisons = Comparisons(mated=None, score_kind=score_kind, **failing, **columns)
    comparisons.left_out = (*left_out, *comparisons.left_out)
    return comparisons
