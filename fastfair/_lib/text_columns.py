"""Columns of text of pandas, polars and pyarrow as codes, which these libraries hold, or find faster than Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
from numpy.typing import NDArray

from .distinct_entries import Numbers, number_entries


class TextColumn(NamedTuple):
    """A column of text. distinct: texts in use, None if missing; numbers: the position in `distinct` of each row's."""

    distinct: list[str | None]
    numbers: Numbers


def text_column(values: object) -> TextColumn | None:
    """Return the texts of a column of pandas, polars or pyarrow; None where it holds other labels, or is no such."""
    series = _series(values)
    if series is None or series.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    native = series.to_native()
    if series.implementation.is_polars():
        texts, codes = _of_polars(native)
    elif series.implementation.is_pyarrow():
        texts, codes = _of_pyarrow(native)
    else:
        texts, codes = _of_pandas(native, coded=series.dtype != nw.String)
    used, numbers = number_entries(codes)
    distinct = [None if code < 0 else texts[code] for code in used.tolist()]
    return TextColumn(distinct, numbers) if all(text is None or isinstance(text, str) for text in distinct) else None


def _series(values: object) -> nw.Series[Any] | None:
    if isinstance(values, nw.Series):
        return values
    if type(values).__module__.startswith("pyarrow"):
        import pyarrow as pa

        values = pa.chunked_array([values]) if isinstance(values, pa.Array) else values
    found = nw.from_native(values, series_only=True, pass_through=True)
    return found if isinstance(found, nw.Series) else None


def _of_pandas(native: Any, *, coded: bool) -> tuple[Mapping[int, Any], NDArray[Any]]:
    codes, texts = (native.cat.codes.to_numpy(), native.cat.categories) if coded else native.factorize()
    return dict(enumerate(texts.tolist())), codes


def _of_polars(native: Any) -> tuple[Mapping[int, Any], NDArray[Any]]:
    import polars as pl

    column = native.cast(pl.Categorical) if native.dtype == pl.String else native
    distinct = column.drop_nulls().unique()
    codes = column.to_physical()
    if codes.null_count():
        codes = codes.cast(pl.Int64).fill_null(-1)
    texts = dict(zip(distinct.to_physical().to_list(), distinct.cast(pl.String).to_list(), strict=True))
    return texts, codes.to_numpy()


def _of_pyarrow(native: Any) -> tuple[Mapping[int, Any], NDArray[Any]]:
    import pyarrow as pa

    coded = native if pa.types.is_dictionary(native.type) else native.dictionary_encode()
    column = coded.unify_dictionaries().combine_chunks()
    indices = column.indices.cast(pa.int64()).fill_null(-1) if column.null_count else column.indices
    return dict(enumerate(column.dictionary.to_pylist())), indices.to_numpy(zero_copy_only=False)
