"""Look labels up in a table of metadata, with one row for each subject or for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from fastfair._lib.arrays import AnyArray, Flags, Floats, Indices, Integers
from fastfair._lib.frames import FrameColumns
from fastfair._lib.label_codes import Coded, encode, in_use
from fastfair._lib.text import joined_by_or, list_some
from fastfair.data import sample_names
from fastfair.data.columns import AS_IF_MISSING, plain_label, row_of_arrays
from fastfair.data.exclusions import leave_out
from fastfair.data.group_labels import UNKNOWN
from fastfair.data.label_bands import numbers_of
from fastfair.errors import InputError

from . import tables

MetadataPer = Literal["subject", "sample"]

# distinct texts, None if missing, and the place of each row's
_Column = tuple[list[str | None], Indices]


def _failure_codes(names: Sequence[str], quality: str) -> tuple[str, tuple[float, ...]] | None:
    """Return the column, and its numbers, that say which samples failed; None where none does.

    OFIQ writes -1 as the scalar of what failed, and 0 beside it; NFIQ 2, which has a column of
    errors, 255.
    """
    scalar = f"{quality.removesuffix('.scalar')}.scalar"
    if scalar in names:
        return scalar, (-1.0,)
    of_nfiq = "OptionalError" in names or "nfiq" in quality.lower()
    return (quality, (255.0, -1.0)) if of_nfiq else None


class QualityColumn(NamedTuple):
    """A column with the quality of samples.

    Attributes
    ----------
    name : str
        Its name.
    called : str
        The argument that holds the table.
    has_failures : bool
        Whether quality may be missing, as that of samples that failed.
    """

    name: str
    called: str
    has_failures: bool


class Metadata:
    """Labels of subjects or of samples.

    Parameters
    ----------
    source : path or data frame
        The table.
    ids : str, optional
        Its column of ids, by default the first.
    attributes : list of str
        Its columns that make the groups.
    per : {"subject", "sample"}
        What the ids are of.
    subject : str, optional
        The column with the subject of each sample.
    quality : QualityColumn, optional
        The column with the quality of each sample.
    session : str, optional
        The column with what attempts share.
    """

    def __init__(
        self,
        source: Any,
        ids: str | None,
        attributes: list[str],
        per: str = "subject",
        subject: str | None = None,
        quality: QualityColumn | None = None,
        session: str | None = None,
    ) -> None:
        if not attributes and subject is None and quality is None and session is None:
            raise InputError(
                "metadata is given without groups: name the columns that make the groups with"
                " ⟦groups=⟧"
            )
        called = "metadata" if quality is None else quality.called
        has_failures = None if quality is None else quality.has_failures
        table = tables.read_source(source, called, called, has_failures)
        self.place = table.place
        ids = table.names[0] if ids is None else ids
        self.per, self.attributes, self.session = per, attributes, session
        named = [("metadata_id", ids), *(("groups", name) for name in attributes)]
        named += [] if subject is None else [("metadata_subject", subject)]
        named += [] if session is None else [("session", session)]
        coded = None if quality is None else _failure_codes(table.names, quality.name)
        numbers = [] if quality is None else [quality.name]
        numbers += [] if coded is None else [coded[0]]
        named += [("quality", name) for name in numbers]
        frame = FrameColumns(
            table.columns([table.require(role, name) for role, name in named], [*set(numbers)])
        )
        self._labels = {name: _blank_among_numbers(frame.texts(name)) for name in attributes}
        self._subject = None if subject is None else frame.texts(subject)
        self._session = None if session is None else frame.texts(session)
        self._quality = None if quality is None else frame.numbers(quality.name).astype(np.float64)
        if coded is not None and self._quality is not None:
            failed = np.isin(frame.numbers(coded[0]), coded[1])
            if failed.any() and not has_failures:
                row = int(np.argmax(failed))
                code = f"{frame.numbers(coded[0])[row]:g}"
                raise InputError(
                    f"{table.place}: {table.where(row)}: {code} in column {coded[0]!r} says that the"
                    f" sample failed, as do {int(failed.sum()):,} in all: say what becomes of these"
                    ' with ⟦failures="exclude"⟧'
                )
            self._quality[failed] = np.nan
        texts, codes = frame.texts(ids)
        if None in texts:
            row = int(np.argmax(codes == texts.index(None)))
            raise InputError(
                f"{table.place}: {table.where(row)}: there is no {per} id in column {ids!r}"
            )
        self._n_rows = codes.size
        self._row_of: dict[str | None, int] = {}
        for row, code in enumerate(codes.tolist()):
            first = self._row_of.setdefault(texts[code], row)
            if first != row:
                raise InputError(
                    f"{table.place}: there is more than one row for {per} {texts[code]!r} in column"
                    f" {ids!r}: {table.where(first)} and {table.where(row)}"
                )

    def _rows(self, sides: Sequence[Coded]) -> list[Integers]:
        """Return for each side the table's row of each entry, -1 where there is none."""
        of_labels = [
            np.array([self._row_of.get(str(label), -1) for label in side.labels], np.int64)
            for side in sides
        ]
        return [rows[side.codes] for rows, side in zip(of_labels, sides, strict=True)]

    def groups_of(self, sides: Sequence[Coded]) -> list[dict[str, Coded]]:
        """Return for each side the label of each entry, by attribute."""
        rows = self._rows(sides)
        columns = {name: _of_rows(name, column, rows) for name, column in self._labels.items()}
        return [
            {name: of_sides[k] for name, of_sides in columns.items()} for k in range(len(sides))
        ]

    def subjects_of(self, samples: Sequence[Coded]) -> tuple[Coded, Coded]:
        """Return the subjects of each comparison's reference and probe samples."""
        assert self._subject is not None
        reference, probe = _of_rows("metadata_subject", self._subject, self._rows(samples))
        return reference, probe

    def sessions_of(self, sides: Sequence[Coded]) -> tuple[Coded, Coded]:
        """Return what each comparison's reference and probe share with others."""
        assert self._session is not None
        reference, probe = _of_rows("session", self._session, self._rows(sides))
        return reference, probe

    def quality_of(self, samples: Sequence[Coded]) -> list[Floats]:
        """Return the quality of each comparison's reference and probe samples; NaN where the table
        has none.
        """
        assert self._quality is not None
        of_row = np.append(self._quality, np.nan)  # -1 stands for no row
        return [of_row[rows] for rows in self._rows(samples)]

    def kept(
        self, sides: Sequence[Coded], policy: str, entries: str, others: AnyArray | None = None
    ) -> Flags:
        """Find the entries that have metadata.

        Parameters
        ----------
        sides : sequence of Coded
            The ids of the entries: of vectors, or of references and probes.
        policy : {"error", "drop", "unknown"}
            What to do with the other entries: raise an error, warn, or nothing where their subjects
            are known.
        entries : str
            Name of the entries in messages.
        others : ndarray, optional
            Labels that the ids of the table may be instead: samples if they should be subjects, and
            the other way.

        Returns
        -------
        (n,) ndarray of bool
            Whether to keep each entry.
        """
        labelled = list(map(_are_given, self._labels.values()))
        labelled += [] if self._session is None else [_are_given(self._session)]
        complete = np.ones(self._n_rows, np.bool_)
        if labelled and policy != "unknown":
            complete = np.logical_and.reduce(labelled)
        if self._subject is not None:
            complete &= _are_given(self._subject)
        elif policy == "unknown":
            return np.ones(sides[0].codes.size, np.bool_)
        has_metadata = [(rows >= 0) & complete[rows] for rows in self._rows(sides)]
        keep: Flags = np.logical_and.reduce(has_metadata)
        if keep.all():
            return keep
        # sides have the same labels
        codes = [side.codes[~of_side] for side, of_side in zip(sides, has_metadata, strict=True)]
        lost = list(map(str, sides[0].labels[np.unique(np.concatenate(codes))]))
        who = f"{len(lost)} of {sides[0].labels.size} {self.per}s"
        columns = [*self.attributes, *([] if self.session is None else [self.session])]
        lacking = f"have no metadata for {joined_by_or(columns or ['their subjects'])}"
        counted = f"{int((~keep).sum())} of {keep.size} {entries}"
        hint = self._hint(lost, others)
        if policy != "drop":
            would_do = (
                '⟦missing_labels="drop"⟧ to leave them out, or ⟦missing_labels="unknown"⟧ to make'
                " them a group"
            )
            advice = hint or f"Complete the metadata, or pass {would_do}"
            raise InputError(f"{who} {lacking}: {list_some(lost)}; {counted} are theirs. {advice}")
        because = f"as their {self.per}s {lacking}"
        leave_out(
            keep,
            entries,
            "missing label",
            because,
            'missing_labels="drop"',
            examples=map(repr, lost),
            hint=hint,
        )
        return keep

    def _hint(self, lost: list[str], others: AnyArray | None) -> str:
        """Return why the table may lack ids, or ""."""
        ids = set(map(str, self._row_of))
        if others is not None and any(str(label) in ids for label in others):
            other = "sample" if self.per == "subject" else "subject"
            return f'The table has ids of {other}s: pass ⟦metadata_per="{other}"⟧'
        by_look = {plain_label(label): label for label in ids}
        for label in lost:
            if plain_label(label) in by_look and label not in ids:
                return (
                    f"{label!a} is written {by_look[plain_label(label)]!a} in the metadata: write"
                    " both alike"
                )
        return (
            sample_names.advice_on_samples(lost, sample_names.fits_among(ids))
            if self.per == "subject"
            else ""
        )

    def agreeing(
        self,
        policy: str,
        columns: FrameColumns,
        columns_of: dict[str, tuple[str, str]],
        sides: Sequence[Coded],
        keep: Flags,
    ) -> Flags:
        """Find the comparisons whose labels in the score file do not contradict the metadata.

        Parameters
        ----------
        policy : {"raise", "drop", "keep"}
            What to do with the others: raise an error, warn so that the caller leaves them out, or
            nothing.
        columns : FrameColumns
            The score file.
        columns_of : dict of str to pair of str
            Its columns that hold each attribute of references and of probes; missing labels
            contradict nothing.
        sides : sequence of Coded
            What the metadata tells the labels of: references and probes.
        keep : (n,) ndarray of bool
            Which comparisons have metadata, and are looked at.

        Returns
        -------
        (n,) ndarray of bool
            Which of these to keep.
        """
        if policy == "keep" or not columns_of:
            return keep
        labels = self.groups_of(sides)
        contradicted = np.zeros(sides[0].codes.size, np.bool_)
        for name, pair in columns_of.items():
            for column, side, by_name in zip(pair, sides, labels, strict=True):
                (texts, codes) = columns.texts(column)
                coded = by_name[name]
                given = np.array(texts, object)[codes]
                expected = np.array(list(map(str, coded.labels)), object)[coded.codes]
                wrong = (given != expected) & _are_given((texts, codes)) & keep
                if policy == "raise" and wrong.any():
                    row = int(wrong.argmax())
                    raise InputError(
                        f"column {column!r} has {given[row]!r} for"
                        f" {str(side.at(row))!r} in row {row} (counted from 0), but"
                        f" {name!r} of the metadata is {expected[row]!r} ({int(wrong.sum())} such"
                        ' rows); correct one of them, or pass ⟦label_conflicts="drop"⟧ to leave'
                        ' these comparisons out, or ⟦label_conflicts="keep"⟧ to take the'
                        " metadata's labels",
                        row=row,
                    )
                contradicted |= wrong
        if not contradicted.any():
            return keep
        because = f"as their labels of {' and '.join(columns_of)} contradict the metadata"
        rows = map(row_of_arrays, np.flatnonzero(contradicted).tolist())
        leave_out(
            ~contradicted,
            "comparisons",
            "label conflict",
            because,
            'label_conflicts="drop"',
            examples=rows,
        )
        return np.asarray(keep & ~contradicted)


def _of_rows(name: str, column: _Column, rows: Sequence[AnyArray]) -> list[Coded]:
    """Return the labels of rows of the table; "unknown" where there is none, or no row."""
    texts, codes = column
    used, _ = in_use(codes.size + 1, *rows)
    coded = encode(name, [UNKNOWN if text is None else text for text in texts] + [UNKNOWN])
    places = coded.codes[np.append(codes, len(texts))]
    in_table, position = in_use(coded.labels.size, places[used])
    places = position.astype(places.dtype)[places]
    return [Coded(coded.labels[in_table], places[of_side]) for of_side in rows]


def _blank_among_numbers(column: _Column) -> _Column:
    """Return a column in which NA and the like are blank, where all else in it is numbers."""
    texts, codes = column
    given = [text for text in texts if text and plain_label(text) not in AS_IF_MISSING]
    if not given or numbers_of(given) is None:
        return column
    return [text if text in given else None for text in texts], codes


def _are_given(column: _Column) -> Flags:
    """Return which rows of the table have a text."""
    texts, codes = column
    return np.array([text is not None for text in texts])[codes]
