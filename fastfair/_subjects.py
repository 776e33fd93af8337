"""Who is who: subjects cut out of the names of samples, and looked up in a table of metadata."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _formats, _validation
from ._frames import FrameColumns
from ._warning import warn
from .errors import DroppedWarning, FileFormatError, InputError

if TYPE_CHECKING:
    import polars as pl

MISSING_METADATA = ("raise", "drop")


class Metadata:
    """Attributes of subjects, out of a table with one row each."""

    def __init__(self, source: Any, id_column: str | None, attributes: list[str]) -> None:
        if not attributes:
            raise InputError("metadata is given without groups: name the columns that make the groups with groups=")
        frame = read_table(Path(source)) if isinstance(source, str | Path) else source
        self.columns = FrameColumns(frame)
        if id_column is None:
            raise InputError("metadata is given without the column of its subject ids: name it with metadata_id=")
        self.attributes = attributes
        ids = self.columns[id_column].to_list()
        if any(map(_validation.is_missing, ids)):
            row = next(k for k, i in enumerate(ids) if _validation.is_missing(i))
            raise InputError(f"metadata has no subject id in row {row} (counted from 0) of column {id_column!r}")
        ids = [str(i) for i in ids]
        known = set(ids)
        if len(known) < len(ids):
            twice = next(i for k, i in enumerate(ids) if i in ids[:k])
            raise InputError(f"metadata has more than one row for subject {twice!r} in column {id_column!r}")
        values = [self.columns[name].to_list() for name in attributes]
        self.labels = {
            name: {i: str(v) for i, v in zip(ids, column, strict=True) if not _validation.is_missing(v)}
            for name, column in zip(attributes, values, strict=True)
        }
        self.complete = {i for i in ids if all(i in labels for labels in self.labels.values())}

    def look_up(self, subjects: NDArray[Any]) -> dict[str, _validation.Coded]:
        """Give each subject its label of every attribute."""
        return {
            name: _validation.encode(name, [labels.get(str(subject), "?") for subject in subjects])
            for name, labels in self.labels.items()
        }

    def find(
        self, subjects: NDArray[Any], columns: Sequence[NDArray[Any]], policy: str, entries: str
    ) -> NDArray[np.bool_] | None:
        """Tell which entries have metadata of all their subjects.

        Parameters
        ----------
        subjects : (k,) ndarray
            Labels.
        columns : sequence of (n,) ndarray of int
            The subjects of the entries, as positions.
        policy : {"raise", "drop"}
            What becomes of the others.
        entries : str
            What messages call them.

        Returns
        -------
        (n,) ndarray of bool, or None
            None where all have.
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


def read_table(path: Path) -> pl.DataFrame:
    """Read a Parquet file, or named columns of text."""
    pl = _formats.polars()
    _formats.check_file(path)
    if path.suffix == ".parquet":
        with _formats.reading(path):
            return pl.read_parquet(path)
    header = _formats.first_line(path)
    separator = next((s for s in ("\t", ",", ";") if s in header), None)
    if separator is None:
        raise FileFormatError(f"{path}: the header has neither tab, comma nor semicolon: {header[:120]!r}")
    with _formats.reading(path):
        frame = pl.read_csv(path, separator=separator, infer_schema=False, comment_prefix="#")
    return frame.rename({name: name.strip() for name in frame.columns}).with_columns(pl.all().str.strip_chars())


def cut_out(columns: Sequence[tuple[str, _validation.Coded]], pattern: str) -> list[_validation.Coded]:
    """Cut the subjects out of the names of samples: columns of one list of labels, each with what it is called."""
    pl = _formats.polars()
    names = pl.Series(list(map(str, columns[0][1].labels)), dtype=pl.String)
    try:
        found = names.str.extract(pattern, 1)
        if found.is_null().all():  # the pattern has no group in it
            found = names.str.extract(pattern, 0)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"subject_pattern {pattern!r} is not a regular expression: {str(error).splitlines()[0]}"
        ) from error
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
    subjects = _validation.encode("subject", FrameColumns(found.to_frame("subject")).labels("subject"))
    return [_validation.Coded(subjects.labels, subjects.codes[coded.codes]) for _, coded in columns]


def take(column: Any, keep: Any) -> Any:
    """Keep some entries of a column, of labels the ones still used, or of each column of a dict."""
    if isinstance(column, dict):
        return {name: take(part, keep) for name, part in column.items()}
    if isinstance(column, _validation.Coded):
        used, codes = np.unique(column.codes[keep], return_inverse=True)
        return _validation.Coded(column.labels[used], codes)
    return column[keep]
