"""Find subjects in the names of samples by a pattern, and keep some entries of what was found."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair.errors import InputError

from . import reading

# Of a VoxCeleb list, whose names begin with the folder of a speaker.
VOXCELEB_SUBJECT = r"^([^/]+)/"
_DEEPEST = 5  # folder in which subjects are looked for
WITHOUT_SUBJECTS = "pass subject_pattern='' to take the list without subjects"


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
                f"subject_pattern '{pattern}' finds no subject in {names[int(coded.codes[row])]!r} "
                f"({wrong.size} of {coded.codes.size} values of {what!r}): say how to find it with subject_pattern=, "
                f"or {WITHOUT_SUBJECTS}",
                row=row,
            )
    subjects = validation.encode("subject", FrameColumns(found.to_frame("subject")).labels("subject"))
    return [validation.Coded(subjects.labels, subjects.codes[coded.codes]) for _, coded in columns]


def folder_of_subjects(samples: tuple[validation.Coded, validation.Coded], mated: NDArray[np.bool_]) -> str:
    """Return a pattern that takes a folder of the names for the subject, as labels say; "" where none does."""
    for depth in range(1, _DEEPEST):
        pattern = f"^(?:[^/]+/){{{depth}}}([^/]+)/"
        with contextlib.suppress(InputError):
            reference, probe = cut_out(list(zip(("reference", "probe"), samples, strict=True)), pattern)
            if ((reference.codes == probe.codes) == mated).all():
                return pattern
    return ""


def take(column: Any, keep: Any) -> Any:
    """Keep some entries of a column, or of each column in a dict; of labels, keep those still used; of None, None."""
    if column is None:
        return None
    if isinstance(column, dict):
        return {name: take(part, keep) for name, part in column.items()}
    if isinstance(column, validation.Coded):
        return column.take(keep)
    return column[keep]
