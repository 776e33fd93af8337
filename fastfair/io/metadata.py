"""Look labels up in a table of metadata, with one row for each subject, for each sample or for each pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import Coded, encode, in_use
from fastfair._lib.warnings import warn
from fastfair.data import checks, side_columns
from fastfair.data.columns import plain_label
from fastfair.errors import DroppedWarning, InputError

from . import tables

MetadataPer = Literal["subject", "sample"]
METADATA_PER: tuple[MetadataPer, ...] = get_args(MetadataPer)
UNKNOWN = "unknown"  # label of entries without one, unless they are left out

_Column = tuple[list[str | None], NDArray[np.intp]]  # distinct texts, None if missing, and the place of each row's


class Metadata:
    """Labels of subjects, of samples, or of the references and probes of pairs.

    Parameters
    ----------
    source : path or data frame
        The table. A pair may be there several times with the same labels.
    ids : list of str
        Its column of ids, by default the first, or its columns with the names of references and of probes.
    attributes : list of str or of tuple of str
        Its columns that make the groups, for pairs as `side_columns.chosen` takes them.
    per : {"subject", "sample"}
        What the ids are of.
    subject : str, optional
        The column with the subject of each sample.
    """

    def __init__(
        self, source: Any, ids: list[str], attributes: list[Any], per: str = "subject", subject: str | None = None
    ) -> None:
        if not attributes and subject is None:
            raise InputError("metadata is given without groups: name the columns that make the groups with groups=")
        table = tables.of_source(source, "metadata", "metadata")
        ids = ids or table.names[:1]
        self.per, self.of_pairs, self._ids = per, len(ids) == 2, ids
        columns = (
            side_columns.chosen(table.place, attributes, table.names)
            if self.of_pairs
            else {name: _of_both_sides(table, name) for name in attributes}
        )
        self.attributes = list(columns)
        of_groups = [name for pair in columns.values() for name in pair]
        named = [*(("metadata_id", name) for name in ids), *(("groups", name) for name in of_groups)]
        named += [] if subject is None else [("metadata_subject", subject)]
        frame = FrameColumns(table.columns([table.require(role, name) for role, name in named]))
        known = {name: frame.texts(name) for _, name in named}
        self._labels = {name: [known[column] for column in pair] for name, pair in columns.items()}
        self._subject = None if subject is None else known[subject]
        self._n_rows = known[ids[0]][1].size
        self._row_of: dict[tuple[str, ...], int] = {}
        self._find_rows(table, [known[name] for name in ids])

    def _find_rows(self, table: tables.Table, ids: list[_Column]) -> None:
        """Number the rows by their ids; refuse missing ones, and a second row that is not needed or says otherwise."""
        kind = "" if self.of_pairs else f"{self.per} "
        for name, (texts, codes) in zip(self._ids, ids, strict=True):
            if None in texts:
                row = int(np.argmax(codes == texts.index(None)))
                raise InputError(f"{table.place}: {table.where(row)}: there is no {kind}id in column {name!r}")
        for row, key in enumerate(zip(*(map(texts.__getitem__, codes) for texts, codes in ids), strict=True)):
            first = self._row_of.setdefault(key, row)
            if first == row or (
                self.of_pairs and all(codes[first] == codes[row] for pair in self._labels.values() for _, codes in pair)
            ):
                continue
            places = f"{table.where(first)} and {table.where(row)}"
            raise InputError(
                f"{table.place}: the pair {' with '.join(map(repr, key))} has different labels in {places}"
                if self.of_pairs
                else f"{table.place}: there is more than one row for {self.per} {key[0]!r} in column {self._ids[0]!r}: "
                f"{places}"
            )

    def _rows(self, sides: Sequence[Coded]) -> list[NDArray[np.int64]]:
        """Return for each side the table's row of each entry, -1 where there is none; the same for both of a pair."""
        texts = [list(map(str, side.labels)) for side in sides]
        if not self.of_pairs:
            of_labels = [np.array([self._row_of.get((text,), -1) for text in of_side], np.int64) for of_side in texts]
            return [rows[side.codes] for rows, side in zip(of_labels, sides, strict=True)]
        reference, probe = sides
        pairs, of_entry = np.unique(reference.codes.astype(np.int64) * len(texts[1]) + probe.codes, return_inverse=True)
        found = [self._row_of.get((texts[0][k // len(texts[1])], texts[1][k % len(texts[1])]), -1) for k in pairs]
        return [np.array(found, np.int64)[of_entry]] * 2

    def groups_of(self, sides: Sequence[Coded]) -> list[dict[str, Coded]]:
        """Return for each side the label of each entry, by attribute."""
        rows = self._rows(sides)
        used, _ = in_use(self._n_rows + 1, *rows)
        found: list[dict[str, Coded]] = [{} for _ in sides]
        for name, pair in self._labels.items():
            columns = {id(column): _labels(name, column, used) for column in pair}
            for k, of_side in enumerate(found):
                labels, places = columns[id(pair[k])]
                of_side[name] = Coded(labels, places[rows[k]])
        return found

    def subjects_of(self, samples: Sequence[Coded]) -> tuple[Coded, Coded]:
        """Return the subjects of each comparison's reference and probe samples."""
        assert self._subject is not None
        rows = self._rows(samples)
        labels, places = _labels("metadata_subject", self._subject, in_use(self._n_rows + 1, *rows)[0])
        reference, probe = (Coded(labels, places[of_side]) for of_side in rows)
        return reference, probe

    def kept(
        self,
        sides: Sequence[Coded],
        policy: str,
        entries: str,
        others: NDArray[Any] | None = None,
    ) -> NDArray[np.bool_]:
        """Find the entries that have metadata.

        Parameters
        ----------
        sides : sequence of Coded
            The ids of the entries: of vectors, or of references and probes.
        policy : {"error", "drop", "unknown"}
            What to do with the other entries: raise an error, warn, or nothing where their subjects are known.
        entries : str
            Name of the entries in messages.
        others : ndarray, optional
            Labels that the ids of the table may be instead: samples if they should be subjects, and the other way.

        Returns
        -------
        (n,) ndarray of bool
            Whether to keep each entry.
        """
        of_groups = [column for pair in self._labels.values() for column in pair]
        labelled = [_are_given(column) for column in of_groups]
        complete = np.ones(self._n_rows, np.bool_)
        if labelled and policy != "unknown":
            complete = np.logical_and.reduce(labelled)
        if self._subject is not None:
            complete &= _are_given(self._subject)
        elif policy == "unknown":
            return np.ones(sides[0].codes.size, np.bool_)
        known = [(rows >= 0) & complete[rows] for rows in self._rows(sides)]
        keep: NDArray[np.bool_] = np.logical_and.reduce(known)
        if keep.all():
            return keep
        if self.of_pairs:
            names = [side.labels[side.codes[~keep]].tolist() for side in sides]
            lost = list(dict.fromkeys(f"{reference} with {probe}" for reference, probe in zip(*names, strict=True)))
            who = f"{len(lost)} pair{'s' if len(lost) > 1 else ''}"
        else:  # sides have the same labels
            codes = [side.codes[~of_side] for side, of_side in zip(sides, known, strict=True)]
            lost = list(map(str, sides[0].labels[np.unique(np.concatenate(codes))]))
            who = f"{len(lost)} of {sides[0].labels.size} {self.per}s"
        named = ", ".join(map(repr, lost[:5])) + (", ..." if len(lost) > 5 else "")
        gone = f"{who} have no metadata for {' and '.join(self.attributes) or 'their subjects'}: {named}"
        counted = f"{int((~keep).sum())} of {keep.size} {entries}"
        hint = self._hint(sides, keep, lost, others)
        if policy != "drop":
            would_do = 'missing_labels="drop" to leave them out, or missing_labels="unknown" to make them a group'
            raise InputError(f"{gone}; {counted} are theirs. {hint or f'Complete the metadata, or pass {would_do}'}")
        warn(f"{gone}; {counted} left out" + (f". {hint}" if hint else ""), DroppedWarning)
        return keep

    def _hint(
        self, sides: Sequence[Coded], keep: NDArray[np.bool_], lost: list[str], others: NDArray[Any] | None
    ) -> str:
        """Return why the table may lack ids, or ""."""
        if self.of_pairs and (self._rows(sides[::-1])[0][~keep] >= 0).any():
            return (
                "The table has some of these pairs the other way round: name the columns of metadata_id= in that order"
            )
        ids = {text for key in self._row_of for text in key}
        if others is not None and not (self.of_pairs and keep.any()) and any(str(label) in ids for label in others):
            other = METADATA_PER[self.per == "subject"]
            return f'The table has {"pairs" if self.of_pairs else "ids"} of {other}s: pass metadata_per="{other}"'
        if self.of_pairs:
            return ""
        by_look = {plain_label(label): label for label in ids}
        for label in lost:
            if plain_label(label) in by_look and label not in ids:
                return f"{label!a} is written {by_look[plain_label(label)]!a} in the metadata: write both alike"
        return checks.advice_on_samples(lost) if self.per == "subject" else ""

    def agreeing(
        self,
        policy: str,
        columns: FrameColumns,
        told: dict[str, tuple[str, str]],
        sides: Sequence[Coded],
        keep: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Find the comparisons whose labels in the score file do not contradict the metadata.

        Parameters
        ----------
        policy : {"raise", "drop", "keep"}
            What to do with the others: raise an error, warn so that the caller leaves them out, or nothing.
        columns : FrameColumns
            The score file.
        told : dict of str to pair of str
            Its columns that hold each attribute of references and of probes; missing labels contradict nothing.
        sides : sequence of Coded
            What the metadata tells the labels of: references and probes.
        keep : (n,) ndarray of bool
            Which comparisons have metadata, and are looked at.

        Returns
        -------
        (n,) ndarray of bool
            Which of these to keep.
        """
        if policy == "keep" or not told:
            return keep
        found = self.groups_of(sides)
        contradicted = np.zeros(sides[0].codes.size, np.bool_)
        for name, pair in told.items():
            for column, side, by_name in zip(pair, sides, found, strict=True):
                texts, codes = columns.texts(column)
                own, known = (
                    np.array(labels, object)[of_rows]
                    for labels, of_rows in ((texts, codes), (list(map(str, by_name[name].labels)), by_name[name].codes))
                )
                wrong = (own != known) & np.array([text is not None for text in texts])[codes] & keep
                if policy == "raise" and wrong.any():
                    row = int(wrong.argmax())
                    raise InputError(
                        f"column {column!r} has {own[row]!r} for {str(side.labels[side.codes[row]])!r} in row {row} "
                        f"(counted from 0), but {name!r} of the metadata is {known[row]!r} ({int(wrong.sum())} such "
                        'rows); correct one of them, or pass label_conflicts="drop" to leave these comparisons out, or '
                        'label_conflicts="keep" to take the metadata\'s labels',
                        row=row,
                    )
                contradicted |= wrong
        if not contradicted.any():
            return keep
        rows = np.flatnonzero(contradicted)
        named = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
        warn(
            f"{rows.size} of {contradicted.size} comparisons left out, as their labels of {' and '.join(told)} "
            f"contradict the metadata: rows {named} (counted from 0)",
            DroppedWarning,
        )
        return np.asarray(keep & ~contradicted)


def _of_both_sides(table: tables.Table, name: str) -> tuple[str, str]:
    """Return the column of an attribute; refuse one that is in two columns, of the two sides of a pair."""
    pair = side_columns.present(name, table.names)
    if pair is not None and pair[0] != pair[1]:
        raise InputError(
            f"{table.place}: {pair[0]!r} and {pair[1]!r} hold the labels of the two sides of a pair: name both "
            "columns of ids with metadata_id=, that of references first"
        )
    return name, name


def _labels(name: str, column: _Column, used: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of the rows of the table that are used, and their places; last is the row of what it lacks."""
    texts, codes = column
    coded = encode(name, [UNKNOWN if text is None else text for text in texts] + [UNKNOWN])
    places = coded.codes[np.append(codes, len(texts))]
    known, position = in_use(coded.labels.size, places[used])
    return coded.labels[known], position.astype(places.dtype)[places]


def _are_given(column: _Column) -> NDArray[np.bool_]:
    """Return which rows of the table have a text."""
    texts, codes = column
    return np.array([text is not None for text in texts])[codes]
