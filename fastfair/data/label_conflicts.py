"""Find comparisons whose mated label contradicts their subjects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import sample_names
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning, InputError

from .look_alikes import plain_label

LabelConflicts = Literal["raise", "drop", "keep"]
LABEL_CONFLICTS: tuple[LabelConflicts, ...] = get_args(LabelConflicts)
SelfComparisons = Literal["drop", "keep"]
SELF_COMPARISONS: tuple[SelfComparisons, ...] = get_args(SelfComparisons)
_NAMED = 5  # rows that a warning names


def row_of_arrays(row: int) -> str:
    """Return the name of a row of arrays, for messages."""
    return f"row {row} (counted from 0)"


def rows_without_conflicts(
    policy: str,
    flags: NDArray[np.bool_],
    subjects: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    where: Callable[[int], str] = row_of_arrays,
    advice: Callable[[], str] = str,
) -> NDArray[np.bool_] | None:
    """Find the comparisons whose mated label does not contradict their subjects.

    Parameters
    ----------
    policy : {"raise", "drop", "keep"}
        What to do with the others: raise an error, warn so that the caller leaves them out, or keep them.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.
    subjects : tuple of ndarray
        Labels, and for each comparison the positions of its two subjects.
    where : callable
        Returns the name of a row in messages.
    advice : callable
        Returns what would do, or "".

    Returns
    -------
    (n,) ndarray of bool, or None
        Whether to keep each comparison; None if all are kept.
    """
    labels, reference, probe = subjects
    same = reference == probe
    conflicts = np.flatnonzero(flags != same)
    if policy == "keep" or conflicts.size == 0:
        return None
    n_nonmated = int(same[conflicts].sum())
    kinds = f"{n_nonmated} of one subject marked non-mated, {conflicts.size - n_nonmated} of two subjects marked mated"
    if policy == "drop":
        named = ", ".join(map(where, conflicts[:_NAMED].tolist())) + (", ..." if conflicts.size > _NAMED else "")
        warn(
            f"{conflicts.size} of {flags.size} comparisons left out, as mated contradicts their subjects ({kinds}): "
            f"{named}",
            DroppedWarning,
        )
        keep = np.ones(flags.size, np.bool_)
        keep[conflicts] = False
        return keep
    row = int(conflicts[0])
    pair = [labels.item(side[row]) for side in (reference, probe)]
    one, other = map(str, pair)
    by_case = flags[row] and plain_label(one) == plain_label(other)
    raise InputError(
        f"mated contradicts the subjects in {conflicts.size} comparisons ({kinds}); the first is {where(row)}: "
        f"{pair[0]!r} with {pair[1]!r} marked {'mated' if flags[row] else 'non-mated'}. "
        + (
            f'{one!a} and {other!a} look alike: write both alike, or pass look_alikes="unite" where they differ in '
            "forms of Unicode or invisible characters"
            if by_case
            else advice()
            or sample_names.advice(labels)
            or 'Correct the labels or the subjects, or pass label_conflicts="drop" to leave these comparisons out, or '
            'label_conflicts="keep" to keep them as they are marked'
        ),
        row=row,
    )


def rows_of_two_samples(
    policy: str, reference: NDArray[np.integer[Any]], probe: NDArray[np.integer[Any]]
) -> NDArray[np.bool_] | None:
    """Find the comparisons of two samples: one compared with itself says nothing of recognition.

    Parameters
    ----------
    policy : {"drop", "keep"}
        What to do with the others: warn so that the caller leaves them out, or keep them.
    reference, probe : (n,) ndarray of int
        The samples of each comparison.

    Returns
    -------
    (n,) ndarray of bool, or None
        Whether to keep each comparison; None if all are kept.
    """
    keep = reference != probe
    if policy == "keep" or keep.all():
        return None
    warn(
        f"{int((~keep).sum())} of {keep.size} comparisons left out, as they compare a sample with itself; "
        'self_comparisons="keep" keeps them',
        DroppedWarning,
    )
    return keep
