"""Find subjects in the names of samples by a pattern, and keep some entries of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair.errors import InputError

from . import reading


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
    """Keep some entries of a column, or of each column in a dict; of labels, keep those still used; of None, None."""
    if column is None:
        return None
    if isinstance(column, dict):
        return {name: take(part, keep) for name, part in column.items()}
    if isinstance(column, validation.Coded):
        used, codes = np.unique(column.codes[keep], return_inverse=True)
        return validation.Coded(column.labels[used], codes)
    return column[keep]
