"""Find subjects in the names of samples by a pattern, and look them up in a table of metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning, InputError

from . import reading, tables

MISSING_METADATA = ("raise", "drop")


class Metadata:
    """Attributes of subjects, from a table with one row for each subject."""

    def __init__(self, source: Any, id_column: str | None, attributes: list[str]) -> None:
        if not attributes:
            raise InputError("metadata is given without groups: name the columns that make the groups with groups=")
        if id_column is None:
            raise InputError("metadata is given without the column of its subject ids: name it with metadata_id=")
        table = tables.table(source, "metadata", "metadata")
        for role, name in [("metadata_id", id_column), *(("groups", name) for name in attributes)]:
            table.require(role, name)
        frame = FrameColumns(table.columns([id_column, *attributes]))
        ids = _entries(*frame.texts(id_column))
        rows: dict[str, int] = {}
        for row, subject in enumerate(ids):
            if subject is None:
                raise InputError(f"{table.place}: {table.where(row)}: there is no subject id in column {id_column!r}")
            before = rows.setdefault(subject, row)
            if before != row:
                raise InputError(
                    f"{table.place}: there is more than one row for subject {subject!r} in column {id_column!r}: "
                    f"{table.where(before)} and {table.where(row)}"
                )
        self.attributes = attributes
        self.labels = {
            name: {i: label for i, label in zip(rows, _entries(*frame.texts(name)), strict=True) if label is not None}
            for name in attributes
        }
        self.complete = {i for i in rows if all(i in labels for labels in self.labels.values())}

    def look_up(self, subjects: NDArray[Any]) -> dict[str, validation.Coded]:
        """Return the label of each subject, by attribute."""
        return {
            name: validation.encode(name, [labels.get(str(subject), "?") for subject in subjects])
            for name, labels in self.labels.items()
        }

    def require_agreement(self, columns: FrameColumns, pairs: dict[str, tuple[str, str]], sides: Sequence[Any]) -> None:
        """Refuse labels in a score file that contradict the metadata.

        Parameters
        ----------
        columns : FrameColumns
            One row for each comparison.
        pairs : dict of str to tuple of str
            The columns of references and of probes, by attribute; missing labels contradict nothing.
        sides : sequence of Coded
            The subjects of references and of probes.
        """
        for name, pair in pairs.items():
            for column, side in zip(pair, sides, strict=True):
                told, codes = columns.texts(column)
                known = [self.labels[name].get(str(subject)) for subject in side.labels]
                position = {label: k for k, label in enumerate(dict.fromkeys([*told, *known]))}
                first = np.array([position[label] for label in told])[codes]
                second = np.array([position[label] for label in known])[side.codes]
                nothing = position.get(None, -1)
                wrong = np.flatnonzero((first != second) & (first != nothing) & (second != nothing))
                if wrong.size:
                    row = int(wrong[0])
                    raise InputError(
                        f"column {column!r} has {told[codes[row]]!r} for subject "
                        f"{str(side.labels[side.codes[row]])!r} in row {row} (counted from 0), but {name!r} of the "
                        f"metadata is {known[side.codes[row]]!r} ({wrong.size} such rows); correct one of them, or "
                        "pass allow_label_conflicts=True to take the metadata's",
                        row=row,
                    )

    def find(
        self, subjects: NDArray[Any], columns: Sequence[NDArray[Any]], policy: str, entries: str
    ) -> NDArray[np.bool_] | None:
        """Find the entries whose subjects all have metadata.

        Parameters
        ----------
        subjects : (k,) ndarray
            Labels.
        columns : sequence of (n,) ndarray of int
            The subjects of the entries, as positions.
        policy : {"raise", "drop"}
            What to do with the other entries: raise an error, or warn.
        entries : str
            Name of the entries in messages.

        Returns
        -------
        (n,) ndarray of bool, or None
            Whether to keep each entry; None if all are kept.
        """
        known = np.array([str(subject) in self.complete for subject in subjects])
        if known.all():
            return None
        unknown = [str(subject) for subject in subjects[~known]]
        named = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
        keep = np.logical_and.reduce([known[codes] for codes in columns])
        attributes = " and ".join(self.attributes)
        gone = f"{len(unknown)} of {len(subjects)} subjects have no metadata for {attributes}: {named}"
        lost = f"{int((~keep).sum())} of {keep.size} {entries}"
        if policy == "raise":
            raise InputError(
                f'{gone}; {lost} are theirs. Complete the metadata, or pass missing_metadata="drop" to leave them out'
            )
        warn(f"{gone}; {lost} left out", DroppedWarning)
        return keep


def _entries(texts: list[str | None], codes: NDArray[Any]) -> list[str | None]:
    return [texts[code] for code in codes.tolist()]


def cut_out(columns: Sequence[tuple[str, validation.Coded]], pattern: str) -> list[validation.Coded]:
    """Find the subjects in the names of samples, by a pattern. columns: name for messages and samples of each side."""
    pl = reading.polars()
    names = pl.Series(list(map(str, columns[0][1].labels)), dtype=pl.String)
    if not isinstance(pattern, str):
        raise InputError(f"subject_pattern must be a regular expression, text, not {pattern!r}")
    try:
        found = names.str.extract(pattern, 1)
        if found.is_null().all():  # the pattern has no group
            found = names.str.extract(pattern, 0)
    except Exception as error:
        raise InputError(
            f"subject_pattern {pattern!r} is not a regular expression: {str(error).splitlines()[0]}"
        ) from error
    found = found.str.strip_chars()
    missing = (found.fill_null("") == "").to_numpy()
    for what, coded in columns:
        wrong = np.flatnonzero(missing[coded.codes])
        if wrong.size:
            row = int(wrong[0])
            raise InputError(
                f"subject_pattern {pattern!r} finds no subject in {names[int(coded.codes[row])]!r} "
                f"({wrong.size} of {coded.codes.size} values of {what!r})",
                row=row,
            )
    subjects = validation.encode("subject", FrameColumns(found.to_frame("subject")).labels("subject"))
    return [validation.Coded(subjects.labels, subjects.codes[coded.codes]) for _, coded in columns]


def take(column: Any, keep: Any) -> Any:
    """Keep some entries of a column, or of each column in a dict; of labels, keep those still used."""
    if isinstance(column, dict):
        return {name: take(part, keep) for name, part in column.items()}
    if isinstance(column, validation.Coded):
        used, codes = np.unique(column.codes[keep], return_inverse=True)
        return validation.Coded(column.labels[used], codes)
    return column[keep]
