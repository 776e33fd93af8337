"""Columns out of any data frame, and any data frame out of columns, through narwhals."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from fastfair._lib.arrays import AnyArray
from fastfair.errors import InputError

from . import label_codes
from .label_codes import Coded, encode, encode_together, is_missing, text_column
from .text import not_there
from .warnings import raise_as, require

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
_NARROW = (nw.Float16, nw.Float32)  # which stay as they are
_WIDE = (nw.Int128, nw.UInt128)  # NumPy lacks these


class FrameColumns:
    """Columns of a data frame by name; errors suggest the nearest names."""

    def __init__(
        self, frame: IntoDataFrame, called: str = "frame", wanted: str = "a data frame"
    ) -> None:
        self._called = called
        try:
            self._frame = nw.from_native(_with_names_of_text(frame), eager_only=True)
            self.names: list[str] = self._frame.columns
        except TypeError as error:
            raise InputError(
                f"{called} must be {wanted} (pandas, polars, pyarrow, ...), not"
                f" {type(frame).__name__}"
            ) from error
        except nw.exceptions.DuplicateError as error:
            raise InputError(
                f"{called} has two columns of the same name: {' '.join(str(error).split())}"
            ) from error
        odd = [name for name in self.names if not isinstance(name, str)]
        if odd:
            raise InputError(
                f"names of columns must be text, but {called} has {odd[0]!r}; rename it"
            )

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self._frame)

    @property
    def backend(self) -> Backend | None:
        """The library of the data frame, if `build` makes data frames of it."""
        return next((name for name in BACKENDS if name == self._frame.implementation.value), None)

    def __getitem__(self, name: str) -> nw.Series[Any]:
        if name not in self.names:
            raise InputError(not_there(self._called, name, self.names))
        return self._frame.get_column(name)

    def numbers(self, name: str) -> AnyArray:
        """Return a column of numbers; missing ones become NaN, which later checks refuse with its
        row.
        """
        series = self[name]
        dtype = series.dtype
        if not dtype.is_numeric():
            would_do = (
                "; convert it to numbers, with null where there is none"
                if dtype == nw.String
                else ""
            )
            raise InputError(
                f"column {name!r} must hold numbers, but its type is {dtype}{would_do}"
            )
        with _taking(name, dtype):
            if not series.is_null().any():
                if dtype in _WIDE:
                    return series.cast(nw.Int64).to_numpy()
                if dtype.is_integer() or dtype == nw.Decimal:
                    return series.to_numpy()
            return series.cast(dtype if dtype in _NARROW else nw.Float64).to_numpy()

    def values(self, name: str) -> Any:
        """Return a column of truth values or numbers, or a column of text as codes."""
        series = self[name]
        if self.is_text(name):
            return self.labels(name)
        with _taking(name, series.dtype):
            return series.to_numpy()

    def labels(self, name: str, advice: str = label_codes.COMPLETE) -> Coded:
        """Turn a column of labels into codes; refuse missing ones."""
        values = self.entries(name)
        with _taking(name, self[name].dtype):
            return encode(f"column {name!r}", values, advice)

    def entries(self, name: str) -> Any:
        """Return a column of labels as `encode` takes it; some may be missing."""
        is_text = self.is_text(name)
        series = self[name]
        with _taking(name, series.dtype):
            if is_text:
                return series
            if series.null_count():
                lacking = series.is_null().to_list()
                return [
                    None if lacks else entry
                    for entry, lacks in zip(series.to_list(), lacking, strict=True)
                ]
            return (series.cast(nw.Int64) if series.dtype in _WIDE else series).to_numpy()

    def texts(self, name: str) -> tuple[list[str | None], AnyArray]:
        """Return the distinct labels of a column as text, None if missing, and the position of each
        row's label.
        """
        distinct: list[Any]
        with _taking(name, self[name].dtype):
            if self.is_text(name):
                coded = text_column(self[name]) or text_column(self[name].cast(nw.String))
                assert coded is not None  # now it is text
                distinct, codes = coded
            elif (
                self[name].dtype.is_integer()
                and self[name].dtype not in _WIDE
                and not self[name].is_null().any()
            ):
                entries, codes = label_codes.number_entries(self[name].to_numpy())
                distinct = entries.tolist()
            else:
                position: dict[Any, int] = {}
                codes = np.array(
                    [position.setdefault(entry, len(position)) for entry in self[name].to_list()],
                    np.int64,
                )
                distinct = list(position)
                if self[name].dtype == nw.Object:
                    label_codes.encode(
                        name, [entry for entry in distinct if not label_codes.is_missing(entry)]
                    )
            texts = [None if is_missing(e) else str(label_codes.clean(e)) for e in distinct]
        # blanks about labels do not count
        numbered = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        return list(numbered), np.array([numbered[text] for text in texts], np.intp)[codes]

    def labels_of_both(self, reference: str, probe: str) -> tuple[Coded, Coded]:
        """Turn two columns into codes of one list of labels; refuse missing ones."""
        names = reference, probe
        columns = [self[name] if self.is_text(name) else self.labels(name) for name in names]
        labels, codes = encode_together([f"column {name!r}" for name in names], columns)
        return Coded(labels, codes[0]), Coded(labels, codes[1])

    def is_text(self, name: str) -> bool:
        """Tell whether a column holds text, be it as codes; refuse one that holds neither labels
        nor numbers.
        """
        dtype = self[name].dtype
        if dtype.is_nested():
            raise InputError(
                f"column {name!r} must hold labels, text or numbers, but its type is {dtype}"
            )
        return dtype in (nw.String, nw.Categorical, nw.Enum)

    def polars(self, names: Sequence[str]) -> pl.DataFrame:
        """Return some columns as a data frame of polars."""
        pl = require("polars", "cli", "reading data frames")
        frame = self._frame.select(names)
        if not frame.implementation.is_pandas_like():
            would_do = "cannot be read; vectors of list_view have to become lists (pyarrow.list_)"
            with raise_as(InputError, f"{self._called}: {', '.join(map(repr, names))} {would_do}"):
                return frame.to_polars()
        columns = {}
        for name in names:  # polars itself would need pyarrow for text of pandas
            series = self[name]
            with _taking(name, series.dtype):
                if series.dtype.is_numeric() and not series.is_null().any():
                    columns[name] = pl.Series(series.to_numpy())
                else:
                    columns[name] = pl.Series(
                        [None if is_missing(entry) else entry for entry in series.to_list()]
                    )
        return pl.DataFrame(columns)


def _with_names_of_text(frame: Any) -> Any:
    """Return a data frame of pandas whose columns are numbered, with the numbers as text, and any
    other as it is.
    """
    names: Any = getattr(frame, "columns", None)
    if type(names).__module__.partition(".")[0] != "pandas":
        return frame
    numbers = [
        name for name in names if isinstance(name, int | np.integer) and not isinstance(name, bool)
    ]
    renamed = {name: str(name) for name in numbers}
    return (
        frame.rename(columns=renamed)
        if numbers and not set(renamed.values()) & set(names)
        else frame
    )


def _taking(name: str, dtype: Any) -> AbstractContextManager[None]:
    return raise_as(InputError, f"column {name!r} of type {dtype} cannot be used")


def build(columns: Mapping[str, Sequence[Any] | AnyArray], backend: Backend | None) -> Any:
    """Make a data frame from columns, with the library named or the first one installed."""
    installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
    chosen: Backend = backend or (installed[0] if installed else "polars")
    require(chosen, "cli" if chosen == "polars" else "test", "a data frame")
    return nw.from_dict(
        {name: list(column) for name, column in columns.items()}, backend=chosen
    ).to_native()
