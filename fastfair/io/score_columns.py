"""The columns of a score file as `Comparisons` takes them, with what a table of metadata says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import gathered, warn
from fastfair.data.group_labels import MISSING
from fastfair.data.label_conflicts import rows_of_two_samples, rows_without_conflicts
from fastfair.data.look_alikes import without_look_alikes
from fastfair.data.named_vectors import NamedVectors
from fastfair.errors import DroppedWarning, InputError

from . import formats
from .compared import BothSides, names_of, subjects_and_samples
from .how_to_read import HowToRead
from .metadata import UNKNOWN, agreeing
from .named_vectors import as_text
from .pair_metadata import PairMetadata
from .subject_patterns import folder_of_subjects, take


@dataclass(frozen=True)
class ScoreColumns:
    """Arguments of `Comparisons`.

    Attributes
    ----------
    arguments : dict
        The columns by name.
    left_out : tuple of str
        What was left out, and why.
    keep : (rows,) ndarray of bool, or None
        Which rows of the file are in the columns; None for all.
    """

    arguments: dict[str, Any]
    left_out: tuple[str, ...]
    keep: NDArray[np.bool_] | None


def columns_of(table: formats.ScoreTable, kind: str, how: HowToRead) -> ScoreColumns:
    """Find subjects, samples and groups of the rows of a score file.

    Parameters
    ----------
    table : ScoreTable
        The score file.
    kind : str
        Its format.
    how : HowToRead
        What the caller said of it.

    Returns
    -------
    ScoreColumns
    """
    if how.subject_pattern and (table.reference is None or table.probe is None):
        raise InputError("subject_pattern= needs columns to cut: name them with reference= and probe=")
    described, subjects_of = how.described, how.metadata_subject
    if how.subject_pattern is not None:  # "" says that there are no subjects to find
        table.subject_pattern = how.subject_pattern or None
    sides: dict[str, Any] = {}
    keep = None
    with gathered(DroppedWarning) as without_labels, table.placed():
        subjects, samples = subjects_and_samples(kind, table, looked_up=subjects_of is not None)
        if subjects_of is not None:
            subjects, samples = _subjects_by_sample(described, table, subjects, samples)
        if subjects is not None:
            if how.look_alikes == "unite":  # before labels are held against subjects
                labels, *codes = without_look_alikes(
                    "subject", (subjects[0].labels, subjects[0].codes, subjects[1].codes), "unite"
                )
                subjects = validation.Coded(labels, codes[0]), validation.Coded(labels, codes[1])
            sides = {"reference": subjects[0], "probe": subjects[1]}
        if samples is not None:
            sides |= {"reference_sample": samples[0], "probe_sample": samples[1]}
        columns = FrameColumns(table.frame)
        if described is not None:
            per_sample = how.metadata_per == "sample" or subjects_of is not None
            if isinstance(described, PairMetadata):
                per_sample |= table.subject_pattern is not None
            ids, others = (samples, subjects) if per_sample else (subjects, samples)
            ids = _known(ids, per_sample)
            by_attribute = how.drops_by_attribute
            found = described.groups_of(ids, MISSING if by_attribute else UNKNOWN)
            other_labels = None if others is None else others[0].labels
            keep = described.find(ids, how.missing_labels, "comparisons", other_labels, any_label=by_attribute)
            keep = agreeing(how.label_conflicts, (columns, table.told), found, ids, keep)
            sides |= found if described.attributes else {}
        elif table.attributes:
            names = dict.fromkeys(name for pair in table.attributes.values() for name in pair)
            of_columns = {
                name: _labels(columns, name, how.missing_labels, MISSING if how.drops_by_attribute else UNKNOWN)
                for name in names
            }
            sides["reference_group"] = {name: of_columns[pair[0]][0] for name, pair in table.attributes.items()}
            sides["probe_group"] = {name: of_columns[pair[1]][0] for name, pair in table.attributes.items()}
            keep = None if how.drops_by_attribute else _without_missing(of_columns, how.missing_labels)
        if (
            samples is not None
            and subjects is not None
            and samples[0].labels is samples[1].labels
            and samples[0].labels.size > subjects[0].labels.size  # known apart
        ):
            apart = rows_of_two_samples(how.self_comparisons, samples[0].codes, samples[1].codes)
            keep = apart if keep is None else keep if apart is None else keep & apart
        if table.attack is not None:
            keep = _without_attacks(columns, table.attack, keep)
        flags = None if table.mated is None else _flags(columns.values(table.mated), how.mated_value)
        scores = None if table.score is None else columns.numbers(table.score)
    if how.vectors is not None:
        scores = _scored(how.vectors, table, samples or subjects, keep)
    elif keep is not None and scores is not None:
        scores = scores[keep]
    assert scores is not None  # of a table or of vectors
    if keep is not None:
        flags = None if flags is None else flags[keep]
        sides = {name: take(side, keep) for name, side in sides.items()}
    with gathered(DroppedWarning) as conflicting, table.placed(keep):
        if flags is not None and subjects is not None:
            rows = np.arange(scores.size) if keep is None else np.flatnonzero(keep)
            marked = (subjects[0].labels, subjects[0].codes[rows], subjects[1].codes[rows])

            def advice() -> str:
                if flags is None or samples is None or not table.subject_pattern or how.subject_pattern is not None:
                    return ""
                reference, probe = (validation.Coded(side.labels, side.codes[rows]) for side in samples)
                pattern = folder_of_subjects((reference, probe), flags)
                hint = f", here perhaps '{pattern}'" if pattern else ""
                return f"Say which part of the names is the subject with subject_pattern={hint}"

            agreed = rows_without_conflicts(
                how.label_conflicts, flags, marked, lambda row: table.where(int(rows[row])), advice
            )
            if agreed is not None:
                scores, flags = scores[agreed], flags[agreed]
                keep = np.isin(np.arange(table.frame.height), rows[agreed])
                sides = {name: take(side, agreed) for name, side in sides.items()}
    arguments = {"scores": scores, "mated": flags, **sides}
    return ScoreColumns(arguments, (*without_labels, *conflicting), keep)


def _labels(columns: FrameColumns, name: str, policy: str, unknown: str) -> tuple[Any, NDArray[np.bool_] | None]:
    """Return the labels of a column, and which are missing; None for none. Missing ones are refused, or get another."""
    texts, codes = columns.texts(name)
    missing = np.array([text is None for text in texts], np.bool_)[codes]
    if not missing.any():
        return columns.labels(name), None
    if policy == "error":
        row = int(missing.argmax())
        raise InputError(
            f"column {name!r} has no label in row {row} (counted from 0) and {int(missing.sum())} in all: complete it, "
            'or pass missing_labels="drop" to leave these rows out, or missing_labels="unknown" to make them a group',
            row=row,
        )
    coded = validation.encode(name, [unknown if text is None else text for text in texts])
    return validation.Coded(coded.labels, coded.codes[codes]), missing


def _without_missing(labels: dict[str, tuple[Any, Any]], policy: str) -> NDArray[np.bool_] | None:
    """Leave out the rows that lack a label, if these are to be left out."""
    lacking = {name: missing for name, (_, missing) in labels.items() if missing is not None}
    if policy != "drop" or not lacking:
        return None
    keep = ~np.logical_or.reduce(list(lacking.values()))
    warn(
        f"{int((~keep).sum())} of {keep.size} comparisons left out, as they lack a label in "
        f"{' or '.join(map(repr, lacking))}",
        DroppedWarning,
    )
    return keep


def _without_attacks(columns: FrameColumns, name: str, keep: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Leave out the rows of presentation attacks, which are neither mated nor non-mated comparisons."""
    texts, codes = columns.texts(name)
    attacks = np.array([text is not None for text in texts])[codes]
    if not attacks.any():
        return keep
    kinds = ", ".join(repr(text) for text in texts if text is not None)
    warn(
        f"{int(attacks.sum())} of {attacks.size} comparisons left out, as they are attacks by {name!r} ({kinds}), and "
        "so neither mated nor non-mated",
        DroppedWarning,
    )
    return ~attacks if keep is None else keep & ~attacks


def _flags(values: Any, mated_value: object) -> NDArray[np.bool_]:
    """Return which comparisons are mated; lists of trials say so as truth values."""
    is_known = isinstance(values, np.ndarray) and values.dtype == np.bool_
    return validation.mated_flags(values, None if is_known else mated_value)


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


def _scored(
    vectors: NamedVectors, table: formats.ScoreTable, named: BothSides | None, keep: NDArray[np.bool_] | None
) -> NDArray[np.floating[Any]]:
    """Score the rows of a list of trials that are kept. named: what the list calls both sides, if it is known."""
    if table.reference is None or table.probe is None:
        raise InputError("embeddings= needs the names of vectors: name their columns with reference= and probe=")
    sides = [as_text(take(side, keep) if keep is not None else side) for side in named or names_of(table)]
    with table.placed(keep):
        return vectors.scores(*sides)
