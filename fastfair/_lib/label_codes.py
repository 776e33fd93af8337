"""Labels of subjects, samples and groups: which ones are equal, and their codes."""

from __future__ import annotations

import enum
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import InputError

from . import arrays
from .distinct_entries import Numbers, number_entries, smallest_integers
from .foreign_errors import told_as

if TYPE_CHECKING:
    from .text_columns import TextColumn

# Texts that NumPy and pandas write for a missing label; blank text is missing, too.
MISSING_TEXTS = ("nan", "NaN", "<NA>", "NaT")
_MISSING = frozenset(["", *MISSING_TEXTS])
_LARGEST = 1e300  # largest number allowed as a label


@dataclass(frozen=True)
class Coded:
    """A column of labels: the distinct labels, sorted, and for each row the position of its label."""

    labels: NDArray[Any]
    codes: NDArray[np.integer[Any]]

    def take(self, keep: NDArray[Any] | slice) -> Coded:
        """Keep some rows, and the labels that they still have."""
        codes = self.codes[keep]
        used = np.bincount(codes, minlength=self.labels.size) > 0
        return Coded(self.labels[used], (np.cumsum(used) - 1).astype(codes.dtype)[codes])


def _column(name: str, values: Any) -> Any:
    return values if type(values) is Coded else arrays.listed(name, values, "an array or a list of labels")


Labels = Annotated[ArrayLike | Coded, _column]


def clean(label: Any) -> Any:
    """Return the standard form of a label, so that equal labels of arrays, data frames and files compare equal.

    Text is stripped of white space as by `str.strip`; bytes become UTF-8 text; a whole number of any type becomes an
    int, so that 1.0 and 1 are one label; members of an enumeration become their values.

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
        For bytes that are not UTF-8, text that cannot be written as such, and numbers that are too large.
    """
    if isinstance(label, enum.Enum):
        return clean(label.value)
    if isinstance(label, bytes):
        return label.decode().strip()
    if isinstance(label, str):
        text = str.__str__(label).strip()
        text.encode()  # raises for lone surrogates, which cannot be written
        return text
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, numbers.Real | Decimal):
        number = _without_numpy(label)
        if abs(number) > _LARGEST:
            raise ValueError("too large a number")
        return int(number) if number == int(number) else number
    return label


def _without_numpy(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


def is_missing(value: object) -> bool:
    """Return whether a label is missing: None, NaN, pandas' NA and NaT, blank text, and texts such as "nan"."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        text = str.strip(value)
        return not text or text in MISSING_TEXTS
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Number | Decimal | np.datetime64) and bool(value != value)


def are_clean(texts: list[str]) -> bool:
    """Return whether texts are all in their `clean` form, and none is missing."""
    return _MISSING.isdisjoint(texts) and texts == list(map(str.strip, texts))


def encode(name: str, values: Labels) -> Coded:
    """Turn a column of labels into codes; refuse missing ones. Labels with the same `clean` form are equal."""
    if isinstance(values, Coded):
        return values
    labels, codes, numbers = _find_codes(name, values)
    return Coded(labels, numbers.read(codes.astype(smallest_integers(labels.size))))


def encode_together(names: Sequence[str], columns: Sequence[Labels]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Turn several columns into codes of one common list of labels, of the type of `smallest_integers`."""
    found = [_find_codes(name, values) for name, values in zip(names, columns, strict=True)]
    labels = [of_column for of_column, _, _ in found]
    common, tables = labels[0], [codes for _, codes, _ in found]
    if any(of_column is not common for of_column in labels):
        # As objects if types differ: NumPy would turn int64 and uint64 into floats, and merge two subjects.
        if len({of_column.dtype for of_column in labels}) > 1:
            labels = [of_column.astype(object) for of_column in labels]
        together = encode(" and ".join(names), np.concatenate(labels))
        parts = np.split(together.codes, np.cumsum([of_column.size for of_column in labels])[:-1])
        common, tables = together.labels, [part[table] for part, table in zip(parts, tables, strict=True)]
    kind = smallest_integers(common.size)
    return common, [numbers.read(table.astype(kind)) for (_, _, numbers), table in zip(found, tables, strict=True)]


def _find_codes(name: str, values: Labels) -> tuple[NDArray[Any], NDArray[np.integer[Any]], Numbers]:
    """Find the labels of a column, sorted, the codes of its distinct entries, and the entry of each row."""
    if isinstance(values, Coded):
        return values.labels, np.arange(values.labels.size), Numbers(values.codes)
    text = None if isinstance(values, list | tuple | np.ndarray) else _text_column(name, values)
    if text is not None:
        return *_code_entries(name, *text), text.numbers
    # NumPy would make ["f", nan] an array of text, with a label "nan".
    array = arrays.column(name, values, object if isinstance(values, list | tuple) else None)
    if array.dtype.kind in "cV":
        raise InputError(f"{name} must be labels, text or numbers, but their type is {array.dtype}")
    distinct, numbers = number_entries(array)
    if array.dtype.kind in "iub":
        if (distinct[1:] > distinct[:-1]).all():  # as numbers of a short range come
            return distinct, np.arange(distinct.size), numbers
        return *np.unique(distinct, return_inverse=True), numbers
    entries = (distinct.astype(str) if array.dtype.kind in "mM" else distinct).tolist()
    return *_code_entries(name, entries, numbers), numbers


def _text_column(name: str, values: object) -> TextColumn | None:
    from .text_columns import text_column  # imports narwhals, which arrays do not need

    with told_as(InputError, f"{name} cannot be converted to labels"):
        return text_column(values)


def _code_entries(name: str, entries: list[Any], numbers: Numbers) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Find the labels among entries, sorted, and the code of each entry."""
    try:
        known = {entry: k for k, entry in enumerate(dict.fromkeys(entries))}
        positions = np.fromiter(map(known.__getitem__, entries), np.int64, len(entries))
    except Exception:  # labels without a hash, or whose hash raises
        raise _no_label(name, entries, numbers) from None
    missing = np.array([is_missing(entry) for entry in known], np.bool_)
    if missing.any():
        rows = np.flatnonzero(numbers.read(missing[positions]))
        raise InputError(
            f"{name} is missing in row {rows[0]} (counted from 0) and {rows.size} in all; "
            "give a label, or leave those rows out",
            row=int(rows[0]),
        )
    _refuse_mixed(name, set(map(type, entries)), known)
    cleaned = _clean_all(name, known, lambda k: int(np.argmax(numbers.read(positions == k))))
    together: dict[Any, int] = {}
    merged = np.fromiter((together.setdefault(label, len(together)) for label in cleaned), np.int64, len(cleaned))
    try:
        ordered = sorted(together)
    except Exception:
        raise InputError(
            f"{name} holds labels of the type {type(cleaned[0]).__name__}, which cannot be sorted; give text or numbers"
        ) from None
    rank = np.empty(len(together), np.int64)
    rank[[together[label] for label in ordered]] = np.arange(len(together))
    labels = np.empty(len(ordered), object)
    labels[:] = ordered
    return labels, rank[merged][positions]


def _refuse_mixed(name: str, types: set[type], entries: Iterable[Any]) -> None:
    """Refuse a mix of text, numbers and truth values: 1 and "1" may or may not be the same label."""
    if any(issubclass(kind, enum.Enum) for kind in types):
        types = {type(entry.value) if isinstance(entry, enum.Enum) else type(entry) for entry in entries}
    kinds = {_kind(kind) for kind in types}
    if len(kinds) > 1:
        found = sorted({kind.__name__ for kind in types})
        raise InputError(f"{name} mixes labels of the types {', '.join(found)}; use one type")


def _kind(of_label: type) -> str:
    for kinds, kind in (
        ((str, bytes), "text"),
        ((bool, np.bool_), "truth value"),
        ((numbers.Real, Decimal), "number"),
    ):
        if issubclass(of_label, kinds):
            return kind
    return of_label.__name__


def _clean_all(name: str, entries: Iterable[Any], first_row: Callable[[int], int]) -> list[Any]:
    """Return the `clean` forms of entries; `first_row` finds the first row that holds one."""
    cleaned, wrong = [], []
    for k, entry in enumerate(entries):
        try:
            cleaned.append(clean(entry))
        except ValueError as error:
            what = f"not UTF-8 text: {entry!r}" if isinstance(error, UnicodeError) else str(error)
            wrong.append((first_row(k), what))
    if wrong:
        row, what = min(wrong)
        raise InputError(f"{name} is {what} in row {row} (counted from 0)", row=row)
    return cleaned


def _no_label(name: str, entries: Sequence[Any], numbers: Numbers) -> InputError:
    for k, entry in enumerate(entries):
        try:
            hash(entry)
        except Exception:
            row, kind = int(np.argmax(numbers.read(np.arange(len(entries)) == k))), type(entry).__name__
            return InputError(f"{name} must be labels, but row {row} (counted from 0) is of type {kind}", row=row)
    raise AssertionError(name)  # never reached: one of the labels raised
