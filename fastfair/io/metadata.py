"""Look labels up in a table of metadata, with one row for each subject or for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import sample_names, side_columns, validation
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import warn
from fastfair.data.look_alikes import plain_label
from fastfair.errors import DroppedWarning, InputError

from . import tables

MISSING_LABELS = ("error", "drop", "unknown")
METADATA_PER = ("subject", "sample")
UNKNOWN = "unknown"  # label of entries without one, unless they are left out


class Metadata:
    """Attributes of subjects or of samples, from a table with one row for each.

    Parameters
    ----------
    source : path or data frame
        The table.
    id_column : str or None
        Its column of ids.
    attributes : list of str
        Its columns that make the groups.
    per : {"subject", "sample"}
        What the ids are of.
    subject_column : str, optional
        The column with the subject of each sample.
    """

    def __init__(
        self,
        source: Any,
        id_column: str | None,
        attributes: list[str],
        per: str = "subject",
        subject_column: str | None = None,
    ) -> None:
        if not attributes and subject_column is None:
            raise InputError("metadata is given without groups: name the columns that make the groups with groups=")
        if id_column is None:
            raise InputError(f"metadata is given without the column of its {per} ids: name it with metadata_id=")
        table = tables.table(source, "metadata", "metadata")
        named = [("metadata_id", id_column), *(("groups", name) for name in attributes)]
        if subject_column is not None:
            named.append(("metadata_subject", subject_column))
        for role, name in named:
            pair = side_columns.present(name, table.names) if role == "groups" else None
            if pair is not None and pair[0] != pair[1]:
                raise InputError(
                    f"{table.place}: {pair[0]!r} and {pair[1]!r} hold the labels of the two sides of a pair: name both "
                    "columns of ids with metadata_id=, that of references first"
                )
            table.require(role, name)
        frame = FrameColumns(table.columns([name for _, name in named]))
        ids = _entries(*frame.texts(id_column))
        rows: dict[str, int] = {}
        for row, entry in enumerate(ids):
            if entry is None:
                raise InputError(f"{table.place}: {table.where(row)}: there is no {per} id in column {id_column!r}")
            before = rows.setdefault(entry, row)
            if before != row:
                raise InputError(
                    f"{table.place}: there is more than one row for {per} {entry!r} in column {id_column!r}: "
                    f"{table.where(before)} and {table.where(row)}"
                )
        self.per = per
        self.attributes = attributes
        self.labels = {name: _by_id(rows, frame, name) for name in attributes}
        self.subjects = None if subject_column is None else _by_id(rows, frame, subject_column)
        needed = [*self.labels.values(), *([] if self.subjects is None else [self.subjects])]
        self.complete = {i for i in rows if all(i in labels for labels in needed)}

    def look_up(self, ids: NDArray[Any], missing: str = UNKNOWN) -> dict[str, validation.Coded]:
        """Return the label of each id, by attribute; missing: that of those without."""
        return {name: _found(name, labels, ids, missing) for name, labels in self.labels.items()}

    def groups_of(
        self, sides: tuple[validation.Coded, validation.Coded], missing: str = UNKNOWN
    ) -> dict[str, dict[str, validation.Coded]]:
        """Return the labels of each comparison's reference and probe, by attribute; the sides share their labels."""
        found = self.look_up(sides[0].labels, missing)
        return {
            side: {name: validation.Coded(c.labels, c.codes[coded.codes]) for name, c in found.items()}
            for side, coded in zip(("reference_group", "probe_group"), sides, strict=True)
        }

    def subjects_of(
        self, sides: tuple[validation.Coded, validation.Coded]
    ) -> tuple[validation.Coded, validation.Coded]:
        """Return the subjects of each comparison's reference and probe samples."""
        assert self.subjects is not None
        found = _found("metadata_subject", self.subjects, sides[0].labels)
        reference, probe = (validation.Coded(found.labels, found.codes[coded.codes]) for coded in sides)
        return reference, probe

    def find(
        self,
        columns: Sequence[validation.Coded],
        policy: str,
        entries: str,
        others: NDArray[Any] | None = None,
        *,
        any_label: bool = False,
    ) -> NDArray[np.bool_] | None:
        """Find the entries whose ids all have metadata.

        Parameters
        ----------
        columns : sequence of Coded
            The ids of the entries, with the same labels.
        policy : {"error", "drop", "unknown"}
            What to do with the other entries: raise an error, warn, or nothing where their subjects are known.
        entries : str
            Name of the entries in messages.
        others : ndarray, optional
            Labels that the ids of the table may be instead: samples if they should be subjects, and the other way.
        any_label : bool
            Whether the label of one attribute is enough.

        Returns
        -------
        (n,) ndarray of bool, or None
            Whether to keep each entry; None if all are kept.
        """
        labels = columns[0].labels
        if policy == "unknown" and (self.subjects is None or all(str(label) in self.subjects for label in labels)):
            return None
        complete = self.complete
        if any_label:
            complete = set().union(*self.labels.values())
            complete = complete if self.subjects is None else complete & set(self.subjects)
        known = np.array([str(label) in complete for label in labels])
        if known.all():
            return None
        unknown = [str(label) for label in labels[~known]]
        keep = np.logical_and.reduce([known[coded.codes] for coded in columns])
        return left(
            policy,
            f"{len(unknown)} of {len(labels)} {self.per}s",
            unknown,
            keep,
            self.attributes,
            entries,
            self._hint(unknown, others),
        )

    def _hint(self, unknown: list[str], others: NDArray[Any] | None) -> str:
        """Return why the table may lack ids, or ""."""
        if others is not None and any(str(label) in self.complete for label in others):
            other = METADATA_PER[self.per == "subject"]
            return f'The table has ids of {other}s: pass metadata_per="{other}"'
        by_look = {plain_label(label): label for label in self.complete}
        for label in unknown:
            if plain_label(label) in by_look:
                return f"{label!a} is written {by_look[plain_label(label)]!a} in the metadata: write both alike"
        return sample_names.advice(unknown) if self.per == "subject" else ""


def left(
    policy: str,
    who: str,
    unknown: list[str],
    keep: NDArray[np.bool_],
    attributes: Sequence[str],
    entries: str,
    hint: str,
) -> NDArray[np.bool_]:
    """Return which entries have metadata with a warning, or raise an error that names some that have none."""
    named = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
    what = " and ".join(attributes) or "their subjects"
    gone = f"{who} have no metadata for {what}: {named}"
    lost = f"{int((~keep).sum())} of {keep.size} {entries}"
    if policy != "drop":
        would_do = 'missing_labels="drop" to leave them out, or missing_labels="unknown" to make them a group'
        advice = hint or f"Complete the metadata, or pass {would_do}"
        raise InputError(f"{gone}; {lost} are theirs. {advice}")
    warn(f"{gone}; {lost} left out" + (f". {hint}" if hint else ""), DroppedWarning)
    return keep


def agreeing(
    policy: str,
    told: tuple[FrameColumns, dict[str, tuple[str, str]]],
    found: dict[str, dict[str, validation.Coded]],
    sides: tuple[validation.Coded, validation.Coded],
    keep: NDArray[np.bool_] | None,
) -> NDArray[np.bool_] | None:
    """Find the comparisons whose labels in the score file do not contradict the metadata.

    Parameters
    ----------
    policy : {"raise", "drop", "keep"}
        What to do with the others: raise an error, warn so that the caller leaves them out, or nothing.
    told : tuple
        The columns of the score file, and which of them hold each attribute of references and of probes; missing
        labels contradict nothing.
    found : dict
        The labels of the metadata, as `groups_of` returns them.
    sides : tuple of Coded
        What the metadata tells the labels of: references and probes.
    keep : (n,) ndarray of bool, or None
        Which comparisons have metadata, and are looked at.

    Returns
    -------
    (n,) ndarray of bool, or None
        Whether to keep each comparison; None if all are kept.
    """
    columns, pairs = told
    if policy == "keep":
        return keep
    contradicted = np.zeros(sides[0].codes.size, np.bool_)
    for name, pair in pairs.items():
        for column, side, by_name in zip(pair, sides, found.values(), strict=True):
            texts, codes = columns.texts(column)
            known = by_name[name]
            position = {str(label): k for k, label in enumerate(known.labels)}
            told_codes = np.array([-1 if text is None else position.get(text, -2) for text in texts])[codes]
            wrong = (told_codes != known.codes) & (told_codes != -1)
            if keep is not None:
                wrong &= keep
            if policy == "raise" and wrong.any():
                row = int(wrong.argmax())
                raise InputError(
                    f"column {column!r} has {texts[codes[row]]!r} for {str(side.labels[side.codes[row]])!r} in row "
                    f"{row} (counted from 0), but {name!r} of the metadata is {str(known.labels[known.codes[row]])!r} "
                    f'({int(wrong.sum())} such rows); correct one of them, or pass label_conflicts="drop" to leave '
                    'these comparisons out, or label_conflicts="keep" to take the metadata\'s labels',
                    row=row,
                )
            contradicted |= wrong
    if not contradicted.any():
        return keep
    rows = np.flatnonzero(contradicted)
    named = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
    warn(
        f"{rows.size} of {contradicted.size} comparisons left out, as their labels of {' and '.join(pairs)} contradict "
        f"the metadata: rows {named} (counted from 0)",
        DroppedWarning,
    )
    return ~contradicted if keep is None else keep & ~contradicted


def _by_id(rows: dict[str, int], frame: FrameColumns, column: str) -> dict[str, str]:
    """Return the labels that are not missing, by id."""
    labels = _entries(*frame.texts(column))
    return {entry: label for entry, label in zip(rows, labels, strict=True) if label is not None}


def _found(name: str, labels: dict[str, str], ids: NDArray[Any], missing: str = UNKNOWN) -> validation.Coded:
    return validation.encode(name, [labels.get(str(entry), missing) for entry in ids])


def _entries(texts: list[str | None], codes: NDArray[Any]) -> list[str | None]:
    return [texts[code] for code in codes.tolist()]
