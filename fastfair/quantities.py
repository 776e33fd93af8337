"""`Quantity`, one number of an evaluation, and what can be done with a list of such rows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from . import _files, _validation
from ._version import __version__
from .errors import InputError
from .operating_points import OperatingPoint

HELD = "held by the operating point"


@dataclass(frozen=True)
class Quantity:
    """One number of an evaluation.

    Attributes
    ----------
    name : str
        "threshold", "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", or a measure, its base metric in parentheses.
    group : str or None
        The group; None for all comparisons or for a measure over all groups. For `name` "fmr_matrix" the reference's
        and the probe's group, parted by " / ".
    operating_point : str or None
        Where it was taken; None where it needs none.
    estimate : float
        The value; NaN or infinite where it is not computable, and `note` says why.
    low, high : float or None
        Confidence interval; None without replicates, NaN where there is none, and `note` says why.
    method : str or None
        How the interval was made: a method of `intervals.confidence_interval`, "inversion", or "clopper-pearson".
    standard_error : float or None
        Standard deviation of the finite replicates.
    not_computable : float or None
        Share of replicates in which the quantity was not computable: NaN or infinite.
    n_comparisons, n_errors, n_subjects : int or None
        What stands behind a rate.
    note : str
        What to beware of; empty where nothing.
    """

    name: str
    group: str | None
    operating_point: str | None
    estimate: float
    low: float | None = None
    high: float | None = None
    method: str | None = None
    standard_error: float | None = None
    not_computable: float | None = None
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    note: str = ""


class _Row(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str | None: ...
    @property
    def operating_point(self) -> str | None: ...


_AnyRow = TypeVar("_AnyRow", bound=_Row)


def find(rows: Sequence[_AnyRow], name: str, group: str | None, at: OperatingPoint | None) -> _AnyRow:
    """Find the one row of a name, a group (None for all comparisons) and an operating point where there are several.

    Parameters
    ----------
    rows : sequence
        Quantities, or other rows with a name, group and operating point.
    name, group, at
        As in `Evaluation.quantity`.

    Returns
    -------
    row

    Raises
    ------
    InputError
        Where there is no such row, or several.
    """
    named = [row for row in rows if row.name == name]
    if not named:
        names = sorted({row.name for row in rows})
        raise InputError(f"there is no quantity {name!r}{_validation.did_you_mean(name, names)}")
    found = [row for row in named if row.group == group]
    if not found:
        known = ", ".join(sorted({"all comparisons" if row.group is None else repr(row.group) for row in named}))
        raise InputError(f"{name} is not there for {repr(group) if group else 'all comparisons'}, but for {known}")
    points = ", ".join(sorted({str(row.operating_point) for row in found}))
    if at is not None:
        found = [row for row in found if row.operating_point == str(at)]
    if not found:
        raise InputError(f"{name} was not taken at {at}, but at {points}")
    if len(found) > 1:
        raise InputError(f"{name} was taken at {points}: say which with at=")
    return found[0]


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn rows that are dataclasses into columns.

    Parameters
    ----------
    rows : sequence of dataclass
        Of one kind, not empty.

    Returns
    -------
    dict of list
    """
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(rows[0])}


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows.

    Parameters
    ----------
    columns : dict of list
        Of one length.

    Returns
    -------
    list of dict
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_json(content: dict[str, Any], path: str | Path | None) -> str:
    """Write strict JSON, with the version of fastfair; what is not finite becomes null.

    Parameters
    ----------
    content : dict
        What to write.
    path : path, optional
        A file to write to as well.

    Returns
    -------
    str

    Raises
    ------
    OutputError
        Where the file cannot be written.
    """
    text = json.dumps({"fastfair": __version__} | _finite(content), indent=1, allow_nan=False, default=float)
    if path is not None:
        _files.write_text(path, text + "\n")
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
