"""Count the attempts, and the failed ones, of each subject in lists of attempts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import arrays, validation
from fastfair.data import group_labels
from fastfair.errors import InputError

Counts = NDArray[np.int64]
GroupLabels = validation.Labels | Mapping[str, validation.Labels]


def of_attempts(
    failed: validation.Labels, subject: validation.Labels, group: GroupLabels, failed_value: str | None = None
) -> tuple[Counts, Counts, dict[str, validation.Coded]]:
    """Count the failed and all attempts of each subject, and find its group; see `FailureCounts.from_failures`."""
    decisions = _decisions(failed) if failed_value is None else _with_value(failed, failed_value)
    who = validation.encode("subject", subject)
    columns = group_labels.columns_of("group", group)
    coded = {name: validation.encode(f"group {name!r}", column) for name, column in columns.items()}
    sizes = {"failed": decisions.size, "subject": who.codes.size}
    sizes |= {f"group {name!r}": column.codes.size for name, column in coded.items()}
    validation.same_length(sizes, "attempt")
    of_subject = {
        name: validation.Coded(column.labels, group_labels.one_for_each(who, name, column))
        for name, column in coded.items()
    }
    n = who.labels.size
    failures = np.bincount(who.codes[decisions == 1], minlength=n)
    return failures, np.bincount(who.codes, minlength=n), of_subject


def _decisions(failed: object) -> Counts:
    """Require 0 and 1, or truth values."""
    decisions = whole_numbers("failed", failed)
    if decisions.size and decisions.max() > 1:
        row = int(decisions.argmax())
        raise InputError(f"failed must be 0 or 1, but row {row} (counted from 0) is {decisions[row]}", row=row)
    return decisions


def _with_value(failed: validation.Labels, value: str) -> Counts:
    """Return 1 where a label is that of failed attempts, and 0 elsewhere."""
    column = validation.encode("failed", failed)
    labels = [str(label) for label in column.labels]
    if value not in labels:
        raise InputError(
            f"no row of failed is {value!r}, which failed_value declares to be that of failed attempts"
            f"{validation.did_you_mean(value, labels)}; if none failed, give zeros"
        )
    return (column.codes == labels.index(value)).astype(np.int64)


def whole_numbers(name: str, values: object) -> Counts:
    """Turn integers of at least 0, of any number type, into int64."""
    array = arrays.column(name, values)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    array = arrays.numbers_in(name, array)
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array == np.floor(array)) & (array < 2**31))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be whole numbers of at least 0, but row {row} (counted from 0) is {array[row]}", row=row
        )
    return array.astype(np.int64)
