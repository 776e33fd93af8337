"""Labels of subjects, samples and groups: which ones are equal, and their codes."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib.arrays import AnyArray, AnyIntegers, Codes, Flags, Indices
from fastfair._lib.rounding import round_up
from fastfair.errors import InputError

from . import validation
from .threads import count_threads, in_threads, slices
from .warnings import raise_as

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


# Texts that NumPy and pandas write for a missing label; blank text is missing, too.
MISSING_TEXTS = ("nan", "NaN", "<NA>", "NaT")
_MISSING = frozenset(["", *MISSING_TEXTS])
_LARGEST = 1e300  # largest number allowed as a label


@dataclass(frozen=True)
class Coded:
    """A column of labels: the distinct labels, sorted, and for each row the position of its
    label.
    """

    labels: AnyArray
    codes: AnyIntegers

    def at(self, row: int) -> Any:
        """Return the label of a row."""
        return self.labels.item(self.codes[row])

    def take(self, keep: AnyArray | slice) -> Coded:
        """Keep some rows, and the labels that they still have."""
        codes = self.codes[keep]
        used, position = in_use(self.labels.size, codes)
        return Coded(self.labels[used], position.astype(codes.dtype)[codes])


def in_use(n: int, *columns: AnyIntegers) -> tuple[Flags, Indices]:
    """Tell which of n labels columns of codes use, and the position of each among these."""
    used = np.zeros(n, np.bool_)
    for codes in columns:
        used[codes] = True
    return used, np.cumsum(used) - 1


def column_of_labels(name: str, values: Any) -> Any:
    """Return a column of labels as it is, once it can become an array."""
    return (
        values
        if type(values) is Coded
        else validation.listed(name, values, "an array or a list of labels")
    )


Labels = Annotated[ArrayLike | Coded, column_of_labels]


def clean(label: Any) -> Any:
    """Return the standard form of a label, so that equal labels of arrays, data frames and files
    compare equal.

    Text is stripped of white space as by `str.strip`; bytes become UTF-8 text; a whole number of
    any type becomes an int, so that 1.0 and 1 are one label; members of an enumeration become their
    values.

    Parameters
    ----------
    label : object
        A label that is not missing; see `is_missing`.

    Returns
    -------
    object
        Python's own str, bool, int or float, or the label as it is.

    Raises
    ------
    ValueError
        For bytes that are not UTF-8, text that cannot be written as such, and numbers that are too
        large.
    """
    if isinstance(label, bytes):
        return label.decode().strip()
    if isinstance(label, str):
        text = str.__str__(label).strip()
        text.encode()  # raises for lone surrogates, which cannot be written
        return text
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, numbers.Real | Decimal):
        number: Any = label.item() if hasattr(label, "item") else label  # NumPy's numbers have it
        if abs(number) > _LARGEST:
            raise ValueError("too large a number")
        return int(number) if number == int(number) else number
    return label


def is_missing(value: object) -> bool:
    """Return whether a label is missing: None, NaN, pandas' NA and NaT, blank text, and texts such
    as "nan".
    """
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        text = str.strip(value)
        return not text or text in MISSING_TEXTS
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Number | Decimal | np.datetime64) and bool(value != value)


COMPLETE = "give a label, or leave those rows out"


def encode(name: str, values: Labels, advice: str = COMPLETE) -> Coded:
    """Turn a column of labels into codes; refuse missing ones. Labels with the same `clean` form
    are equal.

    advice: what the error of a missing label says would help.
    """
    if isinstance(values, Coded):
        return values
    entries, codes = _entries(name, values)
    if isinstance(entries, np.ndarray):
        kind = smallest_integers(entries.size)
        # as numbers of a short range are
        if codes.dtype == kind and bool((entries[1:] > entries[:-1]).all()):
            return Coded(entries, codes)
        labels, places = np.unique(entries, return_inverse=True)
    else:
        labels, places = _code_entries(name, entries, codes, advice)
    return Coded(labels, look_up(codes, places.astype(smallest_integers(labels.size))))


def _entries(name: str, values: Any) -> tuple[list[Any] | AnyArray, AnyArray]:
    """Return the entries of a column, nearly distinct, and that of each row; an array of numbers
    that cannot miss.
    """
    text = None
    if not isinstance(values, list | tuple | np.ndarray):
        with raise_as(InputError, f"{name} cannot be converted to labels"):
            text = text_column(values)
    if text is not None:
        return text
    # NumPy would make ["f", nan] an array of text, with a label "nan".
    array = validation.column(name, values, object if isinstance(values, list | tuple) else None)
    if array.dtype.kind in "cV":
        raise InputError(f"{name} must be labels, text or numbers, but their type is {array.dtype}")
    distinct, codes = number_entries(array)
    if array.dtype.kind in "iub":
        return distinct, codes
    return (distinct.astype(str) if array.dtype.kind in "mM" else distinct).tolist(), codes


def encode_with_missing(
    names: Sequence[str], columns: Sequence[Labels], unknown: str | None = None
) -> list[tuple[Coded, Flags]]:
    """Turn columns of labels of one kind into codes, and tell which rows have no label.

    Such rows get the label `unknown`, and labels are then text; or, where it is None, that of some
    other row.
    """
    coded, lacking = [], []
    for name, values in zip(names, columns, strict=True):
        entries, codes = (
            (values.labels, values.codes) if isinstance(values, Coded) else _entries(name, values)
        )
        missing = np.zeros(len(entries), np.bool_)
        if isinstance(entries, list):
            missing = np.array([is_missing(entry) for entry in entries], np.bool_)
        rows = np.asarray(look_up(codes, missing), np.bool_)
        if not missing.any():
            coded.append(encode(name, values))
        elif missing.all():
            coded.append(Coded(np.array([unknown or ""], object), np.zeros(codes.size, np.uint16)))
        else:
            some = next(entry for entry, lacks in zip(entries, missing, strict=True) if not lacks)
            filled = [
                some if lacks else entry for entry, lacks in zip(entries, missing, strict=True)
            ]
            labels, places = _code_entries(name, filled, codes)
            coded.append(Coded(labels, look_up(codes, places)))
        lacking.append(rows)
    if unknown is not None and any(rows.any() for rows in lacking):
        coded = [
            _with_unknown(*column, unknown) for column in zip(names, coded, lacking, strict=True)
        ]
    return list(zip(coded, lacking, strict=True))


def _with_unknown(name: str, coded: Coded, rows: Flags, unknown: str) -> Coded:
    """Return labels as text, and `unknown` in some rows."""
    codes = np.where(rows, coded.labels.size, coded.codes)
    labels, places = _code_entries(name, [*map(str, coded.labels.tolist()), unknown], codes)
    return Coded(labels, places[codes]).take(slice(None))


def encode_together(
    names: Sequence[str], columns: Sequence[Labels], advice: str = COMPLETE
) -> tuple[AnyArray, list[AnyArray]]:
    """Turn several columns into codes of one common list of labels, of the type of
    `smallest_integers`.
    """
    if (of_text := _encode_polars(columns)) is not None:
        return of_text
    coded = [encode(name, values, advice) for name, values in zip(names, columns, strict=True)]
    labels = [of_column.labels for of_column in coded]
    common = labels[0]
    places = [np.arange(labels[0].size)] * len(coded)
    if any(of_column is not common for of_column in labels):
        # As objects if types differ: NumPy would turn int64 and uint64 into floats, and merge two
        # subjects.
        if len({of_column.dtype for of_column in labels}) > 1:
            labels = [of_column.astype(object) for of_column in labels]
        together = encode(" and ".join(names), np.concatenate(labels))
        common = together.labels
        places = np.split(together.codes, np.cumsum([of_column.size for of_column in labels])[:-1])
    kind = smallest_integers(common.size)
    return common, [
        look_up(of_column.codes, of_labels.astype(kind))
        if of_labels.size < common.size or of_column.codes.dtype != kind
        else of_column.codes
        for of_column, of_labels in zip(coded, places, strict=True)
    ]


def _encode_polars(columns: Sequence[Any]) -> tuple[AnyArray, list[AnyArray]] | None:
    """Encode columns of text of polars, fast even if nearly all labels differ; None for others, and
    if some miss.
    """
    if not all(type(column).__module__.startswith(("narwhals", "polars")) for column in columns):
        return None
    import narwhals as nw

    series = [nw.from_native(column, series_only=True) for column in columns]
    text = (nw.String, nw.Categorical, nw.Enum)
    if not all(
        labels_of.implementation.is_polars() and labels_of.dtype in text for labels_of in series
    ):
        return None
    import polars as pl

    natives = [labels_of.to_native().rename("") for labels_of in series]
    together = pl.concat(
        [
            native if native.dtype == pl.Categorical() else as_categories(native.cast(pl.String))
            for native in natives
        ]
    )
    if together.null_count():
        return None
    physical = together.to_physical().to_numpy().view(np.int32)
    rows = np.full(int(physical.max(initial=0)) + 1, -1, np.int32)  # one of each category
    rows[physical] = np.arange(physical.size, dtype=np.int32)
    used = np.flatnonzero(rows >= 0)
    names = together.gather(rows[used]).cast(pl.String).str.strip_chars()
    # a Categorical's codes may differ between two readings, so labels are sorted
    order = names.arg_sort()
    numbers = names.gather(order).rle_id().to_numpy().astype(np.int64)
    labels = names.gather(order).to_numpy()[np.diff(numbers, prepend=-1) > 0]
    listed = labels.tolist()
    if not _MISSING.isdisjoint(listed) or listed != list(map(str.strip, listed)):
        return None
    position = np.empty(rows.size, smallest_integers(labels.size))
    position[used[order.to_numpy()]] = numbers
    return labels, np.split(look_up(physical, position), np.cumsum(list(map(len, series)))[:-1])


def as_categories(column: pl.Series) -> pl.Series:
    """Return text as categories, which all processors look up."""
    import polars as pl

    return pl.concat(read_in_parts(len(column), lambda part: column[part].cast(pl.Categorical)))


def _code_entries(
    name: str, entries: list[Any], codes: AnyArray, advice: str = COMPLETE
) -> tuple[AnyArray, AnyArray]:
    """Find the labels among entries, sorted, and the place of each entry among them. codes: the
    entry of each row.
    """

    def first(wrong: Callable[[Any], bool]) -> tuple[int, int]:
        """Return the first row whose entry is wrong, and how many there are."""
        rows = np.flatnonzero(
            look_up(codes, np.array([wrong(entry) for entry in entries], np.bool_))
        )
        return int(rows[0]), rows.size

    try:
        forms: dict[Any, Any] = dict.fromkeys(entries)
    except Exception:  # labels without a hash, or whose hash raises
        raise InputError(
            f"{name} must be labels, text or numbers, but some cannot be compared"
        ) from None
    missing = {entry for entry in forms if is_missing(entry)}
    if missing:
        row, n = first(missing.__contains__)
        raise InputError(
            f"{name} is missing in row {row} (counted from 0) and {n} in all; {advice}",
            row=row,
        )
    types = set(map(type, entries))
    if len(set(map(_kind, types))) > 1:  # 1 and "1" may or may not be the same label
        listed = ", ".join(sorted(kind.__name__ for kind in types))
        raise InputError(f"{name} mixes labels of the types {listed}; use one type")
    wrong = {}
    for entry in forms:
        try:
            forms[entry] = clean(entry)
        except ValueError as error:
            wrong[entry] = (
                f"not UTF-8 text: {entry!r}" if isinstance(error, UnicodeError) else str(error)
            )
    if wrong:
        row, _ = first(wrong.__contains__)
        raise InputError(
            f"{name} is {wrong[entries[codes[row]]]} in row {row} (counted from 0)", row=row
        )
    try:
        ordered = sorted(set(forms.values()))
    except Exception:
        kind = type(forms[entries[0]]).__name__
        raise InputError(
            f"{name} holds labels of the type {kind}, which cannot be sorted; give text or numbers"
        ) from None
    position = {label: k for k, label in enumerate(ordered)}
    labels = np.empty(len(ordered), object)
    labels[:] = ordered
    return labels, np.fromiter(
        (position[forms[entry]] for entry in entries), smallest_integers(len(ordered)), len(entries)
    )


def _kind(of_label: type) -> str:
    kinds = (
        ((str, bytes), "text"),
        ((bool, np.bool_), "truth value"),
        ((numbers.Real, Decimal), "number"),
    )
    return next(
        (kind for supertypes, kind in kinds if issubclass(of_label, supertypes)), of_label.__name__
    )


FEW = 1 << 15  # up to so many rows NumPy is quick enough, and no kernel needs to be compiled
# NumPy reads tables sooner than a kernel is called for up to so many rows, and sooner than it is
# compiled for up to so many in a call, and in all calls of more than the former.
_ROWS_AT_ONCE = FEW // 8
_ROWS_OF_A_CALL = 32 * FEW
_ROWS_IN_ALL = 1024 * FEW
# of the first hash table; the next have 8 times as many, so that trying again costs little
_SLOTS = 1 << 16
_WIDTHS = (1, 2, 4, 8)  # bytes of integers


def number_entries(array: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Find the distinct entries of a column, or nearly so, and the position of each row's entry
    among them.

    Entries that are equal as objects, but not the same object, are not joined, nor are numbers that
    differ in their bits; with few rows, all are kept.
    """
    kind, width = array.dtype.kind, array.dtype.itemsize
    small = array.size <= FEW
    if kind == "O" and not small:
        pointers = np.frombuffer(np.ascontiguousarray(array), np.intp)
        # with more, each row may have an object of its own
        return _by_hash(array, pointers, most=array.size // 4)
    whole = width in _WIDTHS
    if kind in "biufmMSU" and whole:
        values = np.ascontiguousarray(array)
        # Numbers keep their order, which makes short ranges; of all other types only the bits
        # count.
        values = values.view(
            values.dtype if kind in "iu" and values.dtype != np.uint64 else f"i{width}"
        )
        entries_and_codes = _by_range(values)
        if entries_and_codes is not None:
            return entries_and_codes[0].view(array.dtype), entries_and_codes[1]
    if small or kind not in "biufmMSU" or width == 0 or not (whole or kind in "SU"):
        return array, np.arange(array.size)
    return _by_hash(array, array, most=array.size)


def look_up(values: AnyArray, table: AnyArray, lowest: int = 0, dtype: Any = None) -> AnyArray:
    """Return ``table[values - lowest]``, as `dtype` if given, with all processors where there are
    many values.
    """
    kind = table.dtype if dtype is None else np.dtype(dtype)
    if _are_few(values.size):
        places = np.subtract(values, lowest, dtype=np.intp) if lowest else values
        return table.take(places).astype(kind, copy=False)
    from fastfair.kernels import labels as kernels

    out = np.empty(values.size, kind)
    read_in_parts(values.size, lambda part: kernels.look_up(values[part], lowest, table, out[part]))
    return out


def mark(values: AnyArray, used: Flags, lowest: int = 0) -> None:
    """Mark which integers occur in a column; `used` begins with `lowest`."""
    if _are_few(values.size):
        used[np.subtract(values, lowest, dtype=np.intp)] = True
        return
    from fastfair.kernels import labels as kernels

    # Threads may mark the same place, but only ever with the same value.
    read_in_parts(values.size, lambda part: kernels.mark_used(values[part], lowest, used))


def fill_table(places: AnyArray, entries: AnyArray, table: Codes) -> bool:
    """Write entries where a table is negative, and tell whether all others are there already."""
    if _are_few(places.size):
        empty = table[places] < 0
        table[places[empty]] = entries[empty]
        return bool((table[places] == entries).all())
    from fastfair.kernels import labels as kernels

    return bool(kernels.fill_table(places, entries, table))


_n_rows = 0  # that tables were read for so far


def _are_few(size: int) -> bool:
    """Tell whether a kernel, which may have to be compiled, would not be quicker."""
    global _n_rows
    if size <= _ROWS_AT_ONCE:
        return True
    _n_rows += size
    return size <= _ROWS_OF_A_CALL and _n_rows <= _ROWS_IN_ALL


def read_in_parts(size: int, work: Any) -> list[Any]:
    """Call a function for one slice of the rows for each processor."""
    return in_threads(size, work, slices(size, count_threads(None)))


def smallest_integers(n: int) -> type[np.uint16] | type[np.int32]:
    """Return the smaller type of codes that holds all numbers below n."""
    return np.uint16 if n <= 2**16 else np.int32


def _by_range(values: AnyArray) -> tuple[AnyArray, AnyArray] | None:
    """Number integers by their values; None where their range is too wide for a table."""
    if values.size == 0:
        return None
    ends = read_in_parts(values.size, lambda part: (values[part].min(), values[part].max()))
    lowest = min(int(low) for low, _ in ends)
    highest = max(int(high) for _, high in ends)
    size = highest - lowest + 1
    if size > max(2 * values.size, 2**16):
        return None
    used = np.zeros(size, np.bool_)
    mark(values, used, lowest)
    entries = (np.flatnonzero(used) + lowest).astype(values.dtype)
    if entries.size == size:  # all numbers occur, and each lies as far from the lowest as its place
        kind = smallest_integers(size)
        # of the last bits, which are all that differences need
        return entries, np.subtract(values.astype(kind), np.array(lowest).astype(kind))
    places = (np.cumsum(used) - 1).astype(smallest_integers(entries.size))
    return entries, look_up(values, places, lowest)


def _by_hash(array: AnyArray, keys: AnyArray, most: int) -> tuple[AnyArray, AnyArray]:
    """Number rows by the bits of their keys; where more than `most` differ, every row is an entry
    of its own.
    """
    if keys.dtype.itemsize % 4:
        keys = keys.astype(f"S{round_up(keys.dtype.itemsize, 4)}")  # the spare bytes are zero
    words = np.ascontiguousarray(keys).view(np.uint32).reshape(keys.size, -1)
    numbers = np.empty(keys.size, np.int32)
    firsts = read_in_parts(keys.size, partial(_hash_part, words, numbers, most))
    if any(first is None for _, first in firsts) or sum(first.size for _, first in firsts) > most:
        return array, np.arange(array.size)
    before = 0
    for part, first in firsts:
        numbers[part] += before
        before += first.size
    return array[np.concatenate([part.start + first for part, first in firsts])], numbers


def _hash_part(
    words: AnyArray, numbers: AnyArray, most: int, part: slice
) -> tuple[slice, AnyArray | None]:
    from fastfair.kernels import labels as kernels

    size = _SLOTS
    while True:
        first = np.empty(min(size // 2, most), np.int64)
        first_rows = np.empty((first.size, words.shape[1]), np.uint32)
        n = kernels.number_rows(
            words[part], first, first_rows, np.full(size, -1, np.int32), numbers[part]
        )
        if n >= 0:
            return part, first[:n].copy()
        if first.size == most:
            return part, None
        size *= 8


# the texts in use, None if missing, and the position of each row's text
TextColumn = tuple[list[str | None], AnyArray]


def text_column(values: object) -> TextColumn | None:
    """Return the texts of a column of pandas, polars or pyarrow; None where it holds other labels,
    or is no such.
    """
    import narwhals as nw

    series = _series(values)
    if series is None or series.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    native = series.to_native()
    texts: Mapping[int, Any]
    if series.implementation.is_polars():
        texts, codes = _of_polars(native)
    elif series.implementation.is_pyarrow():
        texts, codes = _of_pyarrow(native)
    else:  # pandas
        is_categorical = series.dtype != nw.String
        codes, categories = (
            (native.cat.codes.to_numpy(), native.cat.categories)
            if is_categorical
            else native.factorize()
        )
        texts = dict(enumerate(categories.tolist()))
    used, codes = number_entries(codes)
    distinct = [None if code < 0 else texts[code] for code in used.tolist()]
    return (
        (distinct, codes)
        if all(text is None or isinstance(text, str) for text in distinct)
        else None
    )


def _series(values: object) -> nw.Series[Any] | None:
    import narwhals as nw  # which arrays do not need

    if isinstance(values, nw.Series):
        return values
    if type(values).__module__.startswith("pyarrow"):
        import pyarrow as pa

        values = pa.chunked_array([values]) if isinstance(values, pa.Array) else values
    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def _of_polars(native: Any) -> tuple[Mapping[int, Any], AnyArray]:
    import polars as pl

    column = native.cast(pl.Categorical) if native.dtype == pl.String else native
    distinct = column.drop_nulls().unique()
    codes = column.to_physical()
    if codes.null_count():
        codes = codes.cast(pl.Int64).fill_null(-1)
    texts = dict(
        zip(distinct.to_physical().to_list(), distinct.cast(pl.String).to_list(), strict=True)
    )
    return texts, codes.to_numpy()


def _of_pyarrow(native: Any) -> tuple[Mapping[int, Any], AnyArray]:
    import pyarrow as pa

    coded = native if pa.types.is_dictionary(native.type) else native.dictionary_encode()
    column = coded.unify_dictionaries().combine_chunks()
    indices = column.indices.cast(pa.int64()).fill_null(-1) if column.null_count else column.indices
    return dict(enumerate(column.dictionary.to_pylist())), indices.to_numpy(zero_copy_only=False)
