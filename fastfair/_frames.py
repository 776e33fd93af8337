"""Columns out of any data frame, and any data frame out of columns, through narwhals."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import narwhals as nw
import numpy as np

from . import _validation
from .errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

BACKENDS = ("pandas", "polars", "pyarrow")


class FrameColumns:
    """Columns of a data frame by name, with errors that offer the nearest names."""

    def __init__(self, frame: IntoDataFrame) -> None:
        try:
            self._frame = nw.from_native(frame, eager_only=True)
        except TypeError as error:
            raise InputError(
                f"frame must be a data frame (pandas, polars, pyarrow, ...), not {type(frame).__name__}"
            ) from error

    def __getitem__(self, name: str) -> nw.Series[Any]:
        known = self._frame.columns
        if name not in known:
            raise InputError(
                f"there is no column {name!r}{_validation.did_you_mean(name, known)}; "
                f"the columns are {', '.join(known)}"
            )
        return self._frame[name]

    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column of numbers; missing ones become NaN, which is refused where the row can be named."""
        series = self[name]
        if not series.dtype.is_numeric():
            raise InputError(f"column {name!r} must hold numbers, but its type is {series.dtype}")
        if series.dtype.is_integer() and not series.is_null().any():
            return series.to_numpy()
        return series.cast(nw.Float32 if series.dtype == nw.Float32 else nw.Float64).to_numpy()

    def values(self, name: str) -> Any:
        """Return a column as it is, text as codes."""
        series = self[name]
        return self.labels(name) if series.dtype in (nw.String, nw.Categorical, nw.Enum) else series.to_numpy()

    def labels(self, name: str) -> _validation.Coded | np.ndarray[Any, Any]:
        """Code a column of labels in the data frame library, which is faster than in Python."""
        series = self[name]
        if series.is_null().any():
            missing = series.is_null().to_numpy()
            row = int(np.argmax(missing))
            raise InputError(
                f"column {name!r} is missing in row {row} (counted from 0) and {int(missing.sum())} in all; "
                "give a label, or leave those rows out",
                row=row,
            )
        if series.dtype not in (nw.String, nw.Categorical, nw.Enum):
            return series.to_numpy()
        series = series.cast(nw.String)
        distinct = sorted(series.unique().to_list())
        if distinct and distinct[0] == "":
            row = int(np.argmax((series == "").to_numpy()))
            raise InputError(f"column {name!r} is empty in row {row} (counted from 0); give a label", row=row)
        labels = np.empty(len(distinct), object)
        labels[:] = distinct
        if series.implementation.is_polars():  # which codes text itself, in a fraction of the time
            codes = series.cast(nw.Enum(distinct)).to_native().to_physical().to_numpy()
        else:
            codes = series.replace_strict(distinct, list(range(len(distinct))), return_dtype=nw.Int32).to_numpy()
        return _validation.Coded(labels, codes)

    def labels_of(self, names: str | Sequence[str] | None, named_as: Any = None) -> Any:
        """Return one column's labels, or several columns' by attribute name."""
        if names is None:
            return None
        columns = [names] if isinstance(names, str) else list(names)
        given = columns if named_as is None else [named_as] if isinstance(named_as, str) else list(named_as)
        if len(given) != len(columns):
            raise InputError(f"reference_group has {len(given)} columns and probe_group {len(columns)}")
        attributes = [name.removeprefix("reference_").removeprefix("bio_ref_") for name in given]
        return {attribute: self.labels(name) for attribute, name in zip(attributes, columns, strict=True)}


def build(columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]], backend: str | None) -> Any:
    """Make a data frame of columns with the library named, or the first one installed."""
    if backend is None:
        installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
        if not installed:
            raise MissingDependencyError(f"a data frame needs one of {', '.join(BACKENDS)}; pip install one of them")
        backend = installed[0]
    else:
        _validation.choice("backend", backend, BACKENDS)
        _validation.require(backend, "test", f"a {backend} data frame")
    return nw.from_dict(
        {name: list(column) for name, column in columns.items()},
        backend=cast("Literal['pandas', 'polars', 'pyarrow']", backend),
    ).to_native()
