"""Look labels up in a table of metadata with one row for each pair of reference and probe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import side_columns, validation
from fastfair._lib.frames import FrameColumns
from fastfair.errors import InputError

from . import tables
from .metadata import UNKNOWN, left

_Sides = tuple[validation.Coded, validation.Coded]


class PairMetadata:
    """Attributes of the references and probes of comparisons, from a table with one row for each pair.

    Parameters
    ----------
    source : path or data frame
        The table; a pair may be there several times with the same labels.
    id_columns : tuple of str
        Its columns with the names of references and of probes.
    attributes : list of str or of tuple of str
        Its columns that make the groups, as `side_columns.chosen` takes them.
    """

    def __init__(self, source: Any, id_columns: tuple[str, str], attributes: list[Any]) -> None:
        if not attributes:
            raise InputError("metadata is given without groups: name the columns that make the groups with groups=")
        table = tables.table(source, "metadata", "metadata")
        for name in id_columns:
            table.require("metadata_id", name)
        columns = side_columns.chosen(table.place, attributes, table.names)
        wanted = [*id_columns, *(name for pair in columns.values() for name in pair)]
        for name in wanted:
            table.require("groups", name)
        frame = FrameColumns(table.columns(wanted))
        self.attributes = list(columns)
        self._ids = [_coded(frame, name) for name in id_columns]
        for name, (texts, codes) in zip(id_columns, self._ids, strict=True):
            if None in texts:
                row = int(np.argmax(codes == texts.index(None)))
                raise InputError(f"{table.place}: {table.where(row)}: there is no id in column {name!r}")
        self._labels = {name: [_coded(frame, column) for column in pair] for name, pair in columns.items()}
        keys = self._keys([codes for _, codes in self._ids])
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        self._refuse_contradictions(table)
        self._complete = np.ones(keys.size, np.bool_)
        for texts, codes in self._columns():
            self._complete &= np.array([text is not None for text in texts])[codes]

    def groups_of(self, sides: _Sides, missing: str = UNKNOWN) -> dict[str, dict[str, validation.Coded]]:
        """Return the labels of each comparison's reference and probe, by attribute; the sides share their labels."""
        rows = self._rows(sides)
        made: dict[str, dict[str, validation.Coded]] = {"reference_group": {}, "probe_group": {}}
        for name, columns in self._labels.items():
            for side, (texts, codes) in zip(made, columns, strict=True):
                coded = validation.encode(name, [text or missing for text in texts] + [missing])
                places = np.where(rows < 0, len(texts), codes[rows])
                made[side][name] = validation.Coded(coded.labels, coded.codes[places])
        return made

    def find(
        self,
        columns: _Sides,
        policy: str,
        entries: str,
        others: NDArray[Any] | None = None,
        *,
        any_label: bool = False,
    ) -> NDArray[np.bool_] | None:
        """Find the comparisons whose pairs have metadata; `others` are labels that the table may have instead."""
        rows = self._rows(columns)
        keep = (rows >= 0) & (any_label | self._complete[rows])
        if policy == "unknown":
            return None
        if keep.all():
            return None
        reference, probe = columns
        lost = np.flatnonzero(~keep)
        pairs = list(
            dict.fromkeys(
                f"{reference.labels[reference.codes[row]]} with {probe.labels[probe.codes[row]]}" for row in lost
            )
        )
        hint = ""
        if (self._rows((probe, reference))[lost] >= 0).any():
            hint = (
                "The table has some of these pairs the other way round: name the columns of metadata_id= in that order"
            )
        elif others is not None and not keep.any():
            known = {text for texts, _ in self._ids for text in texts}
            if any(str(label) in known for label in others):
                hint = 'The table has pairs of samples: pass metadata_per="sample"'
        who = f"{len(pairs)} pair{'s' if len(pairs) > 1 else ''}"
        return left(policy, who, pairs, keep, self.attributes, entries, hint)

    def _columns(self) -> list[Any]:
        return [column for columns in self._labels.values() for column in columns]

    def _keys(self, codes: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Return one number for each pair of a reference and a probe; -1 where the table lacks one of them."""
        keys = codes[0].astype(np.int64) * len(self._ids[1][0]) + codes[1]
        return np.where((codes[0] < 0) | (codes[1] < 0), -1, keys)

    def _rows(self, sides: _Sides) -> NDArray[np.intp]:
        """Return the table's row of each comparison, or -1."""
        codes = []
        for (texts, _), coded in zip(self._ids, sides, strict=True):
            position = {text: k for k, text in enumerate(texts)}
            codes.append(np.array([position.get(str(label), -1) for label in coded.labels], np.int64)[coded.codes])
        keys = self._keys(codes)
        places = np.minimum(np.searchsorted(self._sorted, keys), self._sorted.size - 1)
        return np.where(self._sorted[places] == keys, self._order[places], -1)

    def _refuse_contradictions(self, table: tables.Table) -> None:
        """Refuse a pair that is there twice with different labels."""
        before, after = self._order[:-1], self._order[1:]
        same = self._sorted[:-1] == self._sorted[1:]
        for _, codes in self._columns():
            wrong = np.flatnonzero(same & (codes[before] != codes[after]))
            if wrong.size:
                rows = sorted((int(before[wrong[0]]), int(after[wrong[0]])))
                reference, probe = (texts[codes[rows[0]]] for texts, codes in self._ids)
                raise InputError(
                    f"{table.place}: the pair {reference!r} with {probe!r} has different labels in "
                    f"{table.where(rows[0])} and {table.where(rows[1])}"
                )


def _coded(frame: FrameColumns, name: str) -> tuple[list[str | None], NDArray[np.intp]]:
    """Return the distinct labels of a column, None if missing, and the position of each row's label."""
    texts, codes = frame.texts(name)
    known: dict[str | None, int] = {}  # blanks about labels do not count, so that some texts are equal
    places = np.array([known.setdefault(text, len(known)) for text in texts], np.intp)
    return list(known), places[codes]
