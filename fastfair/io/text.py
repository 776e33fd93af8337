"""Text files: read whole, split into rows and fields, and their numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair._lib.threads import count_threads, run_in_order
from fastfair.data import checks
from fastfair.errors import FileFormatError

from . import files

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 2**22  # bytes that are read at once
_LINES_AT_ONCE = 2**25  # bytes of lines that are split at once
_BOM = b"\xef\xbb\xbf"
_QUOTE, _FEED, _RETURN = b'"\n\r'
_BLANKS = " \t\r\x0b\x0c"  # of which blank lines are
_EXACT = 2**53  # float64 holds whole numbers exactly up to here
_DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"
_PERHAPS_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
# What R, SAS, pandas, polars, databases and spreadsheets write where there is no number, in lower
# case
_MISSING = ("", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "--", ".")
_COPIES = 3  # copies of the text in memory while it is split
_SHOWN = 120  # characters of a line in a message
_LONGEST_LINE = 2**18  # bytes of a row that shows how many fields there are


@dataclass(frozen=True)
class Text:
    """The content of a text file, from the first line that is neither blank nor a comment.

    Comments are lines that begin with ``#`` before that line; later such lines are data.

    Attributes
    ----------
    path : path
        The file.
    data : bytes
        UTF-8 without a byte order mark.
    first : str
        The first line.
    number : int
        Its number in the file, counted from 1.
    comments : list of tuple of int and str
        Numbers and text of the comments before it.
    failures : bool or None
        In score files, whether scores of comparisons that failed may be missing.
    """

    path: Path
    data: bytes
    first: str
    number: int
    comments: list[tuple[int, str]]
    failures: bool | None = None

    @cached_property
    def rows(self) -> tuple[pl.DataFrame, Integers]:
        """The fields between blanks, and the line of each row, as `split` returns them."""
        return split(self, None)


def read(path: Path, failures: bool | None = None) -> Text:
    """Read a text file, which may be compressed; refuse what is no text in UTF-8, with the line,
    and blank files.
    """
    _require_memory(path, path.stat().st_size)
    with files.explain_reading(path):
        data = _content(path)
    if what := files.kind_of(data):
        raise FileFormatError(f"{path} is {what}")
    data = data.removeprefix(_BOM)
    _require_text(path, data)
    comments: list[tuple[int, str]] = []
    position = number = 0
    while position < len(data):
        end = min(
            (k for k in (data.find(b"\n", position), data.find(b"\r", position)) if k >= 0),
            default=len(data),
        )
        line = data[position:end].decode()
        number = number + 1
        if line.strip() and not line.startswith("#"):
            return Text(path, data[position:], line, number, comments, failures)
        if line.startswith("#"):
            comments.append((number, line))
        position = end + (2 if data[end : end + 2] == b"\r\n" else 1)
    raise FileFormatError(f"{path} holds nothing but blank lines and comments")


def split(
    text: Text, separator: str | None, columns: list[int] | None = None
) -> tuple[pl.DataFrame, Integers]:
    """Split text into rows with as many fields as the first line has.

    Parameters
    ----------
    text : Text
        The text.
    separator : str or None
        The character between fields, which may then be in quotes. None means any number of blanks
        and tabs, and no quotes.
    columns : list of int, optional
        Positions of the fields to return.

    Returns
    -------
    frame : pl.DataFrame
        Columns of text, in the order of the fields; "" for empty fields. The first row is included.
    lines : (n,) ndarray of int
        The line in the file on which each row begins.

    Raises
    ------
    FileFormatError
        For rows with another number of fields, and for quotes inside fields; the line is named.
    """
    pl = files.polars()
    quoted = separator is not None and b'"' in text.data
    mark = separator or " "
    # polars takes both kinds
    is_plain = separator is not None and not quoted and _has_plain_ends(text.data)
    data = text.data if is_plain else _with_line_feeds(text.data, quoted)
    data += b"" if data.endswith(b"\n") else b"\n"
    if separator is None:
        data = data.replace(b"\t", b" ")
    if quoted:
        _require_quotes(text, data, mark)
    n = len(fields_of(text.first) if separator is None else header(text, separator))

    def parsed(data: bytes) -> Any:
        with files.explain_reading(text.path):
            return pl.read_csv(
                data,
                separator=mark,
                quote_char='"' if quoted else None,
                has_header=False,
                infer_schema=False,
                schema={f"column_{k + 1}": pl.String for k in range(n)},
                columns=columns,
            )

    def parsed_if_regular(data: bytes) -> Any:
        """Return the fields where each line is a row, and nothing needs a closer look."""
        if not _are_regular(data, mark, n, quoted):
            return None
        frame = parsed(data)
        # of blank lines, or beside doubled blanks
        blanks = any(column.null_count() for column in frame)
        return None if blanks and (n == 1 or separator is None) else frame

    frame = parsed_if_regular(data)
    if frame is None and separator is None:
        data = _with_single_blanks(data)
        frame = parsed_if_regular(data)
    if frame is not None:
        return frame.fill_null(""), text.number + np.arange(frame.height)
    data = _with_line_feeds(data, quoted)
    data, lines = _rows(text, data, mark, n, quoted)
    frame = parsed(data).fill_null("")
    if frame.height != lines.size:
        raise FileFormatError(
            f"{text.path} has {lines.size} rows, but {frame.height} could be read"
        )
    return frame, lines


def split_plain(
    text: Text,
    separator: str,
    columns: list[int],
    numbers: Collection[int],
    coded: Collection[int],
) -> tuple[pl.DataFrame, Integers] | None:
    """Split text block by block, and read its numbers at once, where each line is a row and no
    field needs a closer look.

    Parameters
    ----------
    text, separator, columns
        As in `split`.
    numbers : collection of int
        Which of these columns are numbers, by their positions in `columns`.
    coded : collection of int
        Which become Categorical, not stripped of blanks, unless some text may have an apostrophe
        that protects it.

    Returns
    -------
    tuple of pl.DataFrame and (n,) ndarray of int, or None
        The rows after the first, and their lines; None where `split` and `numbers` are to read, or
        to refuse, the text.
    """
    pl = files.polars()
    n = text.first.count(separator) + 1
    if n == 1 or b'"' in text.data or not _has_plain_ends(text.data):
        return None
    kinds = {f"column_{k + 1}": pl.String for k in range(n)}
    names = [f"column_{k + 1}" for k in columns]
    of_numbers = [names[k] for k in numbers]
    of_codes = [] if b"'" in text.data else [names[k] for k in coded]
    kinds |= dict.fromkeys(of_numbers, pl.Float64)
    about: Any = {"separator": separator, "quote_char": None, "has_header": False}

    def read_block(lines: slice) -> Any:
        block = text.data[lines]
        block += b"" if block.endswith(b"\n") else b"\n"
        if not _are_regular(block, separator, n, quoted=False):
            return None
        try:
            frame = pl.read_csv(block, schema=kinds, columns=columns, **about)
        except pl.exceptions.PolarsError:
            return None
        if any(frame[name].null_count() for name in of_numbers) or not all(
            np.abs(frame[name].to_numpy()).max() <= _EXACT - 1 for name in of_numbers
        ):
            return None
        frame = frame.with_columns(pl.col(pl.String).fill_null(""))
        return frame.with_columns(pl.col(of_codes).cast(pl.Categorical))

    frames = []
    # one block is looked at while the other one's labels are coded
    for frame in run_in_order(read_block, _blocks(text.data), min(2, count_threads(None))):
        if frame is None:
            return None
        frames.append(frame)
    if not frames:
        return None
    frame = pl.concat(frames)
    return frame, text.number + 1 + np.arange(frame.height)


def _blocks(data: bytes) -> list[slice]:
    """Return where the lines after the first are, many at a time."""
    blocks = []
    start = data.find(b"\n") + 1 or len(data)
    while start < len(data):
        end = data.rfind(b"\n", start, start + _LINES_AT_ONCE) + 1
        end = end or data.find(b"\n", start) + 1 or len(data)
        blocks.append(slice(start, end))
        start = end
    return blocks


def fields_of(line: str) -> list[str]:
    """Split a line at blanks and tabs; `str.split` would know more of them, and find other fields
    than `split`.
    """
    return [field for field in re.split("[ \t]+", line) if field]


def numbers(
    path: Path | str,
    what: str,
    text: pl.Series,
    lines: Integers | None,
    failures: bool | None = None,
) -> Floats:
    """Convert text to numbers, and refuse whole numbers that float64 would round.

    Parameters
    ----------
    path : path or str
        The file, for messages.
    what : str
        Name of a number in messages.
    text : pl.Series
        The fields.
    lines : (n,) ndarray of int, or None
        Their lines in the file; None for a data frame.
    failures : bool, optional
        For scores: whether empty fields, NaN, and what programs write in place of them, such as R's
        NA, stand for comparisons that failed, and become NaN.

    Returns
    -------
    (n,) ndarray of float64

    Raises
    ------
    FileFormatError
        For text that is no finite number, and whole numbers that would be rounded; the line is
        named.
    """
    pl = files.polars()

    def refuse(wrong: Flags, message: str, would_do: str = "") -> None:
        if wrong.any():
            row = int(wrong.argmax())
            where = f"row {row} (counted from 0)" if lines is None else f"line {lines[row]}"
            counted = f" ({int(wrong.sum())} such rows)"
            raise FileFormatError(
                f"{path}: {where}: {what} {message.format(text[row])}{counted}{would_do}"
            )

    made = text.cast(pl.Float64, strict=False)
    unread = missing = np.zeros(len(text), np.bool_)
    if made.null_count():
        text = text.str.strip_chars()
        lacks = text.str.to_lowercase().is_in(_MISSING)
        written = pl.select(pl.when(lacks).then(pl.lit("")).otherwise(text)).to_series()
        made = _with_decimal_commas(path, what, written, written.cast(pl.Float64, strict=False))
        unread = made.is_null().to_numpy()
        missing = lacks.to_numpy()
    values = made.fill_null(np.nan).to_numpy()
    would_do = "" if failures is None else f"; {checks.FAILURES_DO}"
    refuse(unread & ~missing, "must be a number, not {0!r}")
    if not failures:
        empty = (text == "").to_numpy()
        refuse(missing & empty, "is empty", would_do)
        refuse(missing, "is missing, as {0!r} says", would_do)
        refuse(np.isnan(values), "must be finite, not {0!r}", would_do)
    refuse(np.isinf(values), "must be finite, not {0!r}")
    large = np.flatnonzero(np.abs(values) > _EXACT - 1).tolist()
    rounded = [
        k for k in large if re.fullmatch(r"[+-]?[0-9]+", text[k]) and int(text[k]) != int(values[k])
    ]
    if rounded:
        message = "is {0}, a whole number above 2^53 that float64 rounds; scale such numbers down"
        refuse(np.isin(np.arange(values.size), rounded), message)
    return values


def _with_decimal_commas(
    path: Path | str, what: str, text: pl.Series, made: pl.Series
) -> pl.Series:
    """Read numbers with decimal commas; refuse them where the commas may stand between
    thousands.
    """
    pl = files.polars()
    with_commas = text.filter(made.is_null() & (text != ""))
    are_decimals = with_commas.len() and with_commas.str.contains(_DECIMAL_COMMA).all()
    if not are_decimals or text.str.contains(".", literal=True).any():
        return made
    if with_commas.str.contains(_PERHAPS_THOUSANDS).all():
        raise FileFormatError(
            f"{path}: {what} is {with_commas[0]!r}: the comma may be that of a decimal or stand"
            " between thousands; write decimals with points"
        )
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def is_missing(field: str) -> bool:
    """Return whether a field says that there is no number, as programs write it."""
    return field.strip().lower() in _MISSING


def is_number(field: str) -> bool:
    """Return whether a field is a number, finite or not."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.isascii()


def header(text: Text, separator: str) -> list[str]:
    """Return the names in the first row, which may span lines if a quoted name contains a line
    end.
    """
    lines = io.TextIOWrapper(io.BytesIO(text.data), encoding="utf-8", newline="")
    try:
        return next(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        raise FileFormatError(
            f"{text.path}: line {text.number}: the header cannot be read: {error}"
        ) from None


def without_last_separator(text: Text, separator: str) -> Text:
    """Leave out a separator that ends the header alone, and no row, as OFIQ writes it."""
    first = text.first.rstrip(_BLANKS.replace(separator, ""))
    if not first.endswith(separator) or '"' in first:
        return text
    row = _second_line(text, "\r\n")
    if not row or '"' in row or row.count(separator) != first.count(separator) - 1:
        return text
    first = first.removesuffix(separator)
    behind = text.data[len(text.first.encode()) :]
    return replace(text, data=first.encode() + behind, first=first)


def _second_line(text: Text, blanks: str | None = None) -> str:
    """Return the line after the first, without blanks before it; "" where there is none."""
    start = len(text.first.encode())
    after = text.data[start : start + _LONGEST_LINE].decode(errors="ignore").lstrip(blanks)
    return next(iter(after.splitlines()), "")


def with_names_of_rows(text: Text, separator: str | None) -> Text:
    """Name the column of the names of rows, where the header is one field short, as R's
    `write.table` writes it.
    """
    second = _second_line(text)
    if not second or text.first.count('"') % 2:  # a header of several lines is none of these
        return text
    names, row = (_fields_of_line(line, separator) for line in (text.first, second))
    if len(row) != len(names) + 1 or not row[-1]:  # rows may end with a separator
        return text
    name = '""' + (separator or " ")
    return replace(text, data=name.encode() + text.data, first=name + text.first)


def _fields_of_line(line: str, separator: str | None) -> list[str]:
    """Return the fields of a line; none where quotes make it unclear, which is refused later."""
    if separator is None:
        return fields_of(line)
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error:
        return []


def _content(path: Path) -> bytes:
    parts: list[bytes] = []
    size = path.stat().st_size + 1  # read at once where it is not compressed
    with files.open_file(path) as file:
        while part := file.read(max(size, _BLOCK)):
            parts.append(part)
            _require_memory(path, sum(map(len, parts)))
    return b"".join(parts)


def _require_memory(path: Path, size: int) -> None:
    memory.require(
        _COPIES * size,
        f"{size:,} bytes of text in {path}",
        "split the file, or convert it to Parquet",
    )


def _require_text(path: Path, data: bytes) -> None:
    """Refuse bytes that are not UTF-8 text, and invisible marks inside the text."""
    is_ascii = data.isascii()
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for mark, what in ((b"\0", "a NUL byte"), (_BOM, "a byte order mark")):
        offset = -1 if is_ascii and mark == _BOM else data.find(mark)
        if offset >= 0 and not utf16:
            _refuse_bytes(path, data)
            raise FileFormatError(
                f"{path}: line {_line(data, offset)}: there is {what} in the text; save it as plain"
                " UTF-8"
            )
    if is_ascii:
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if not utf16:
            _refuse_bytes(path, data)
        encoding = "UTF-16" if utf16 else "of another encoding"
        raise FileFormatError(
            f"{path} cannot be read: line {_line(data, error.start)} is not UTF-8 text but {encoding};"
            " save it as UTF-8"
        ) from None


def _refuse_bytes(path: Path, data: bytes) -> None:
    """Name the kind of a file that is no text, where it is known."""
    if what := files.kind_of_bytes(data):
        raise FileFormatError(f"{path} is {what}")


def _line(data: bytes, offset: int) -> int:
    before = data[:offset]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _has_plain_ends(data: bytes) -> bool:
    """Tell whether each carriage return stands before a line feed; to replace a million takes as
    long as to read.
    """
    if b"\r" not in data:
        return True
    characters = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero(characters == _RETURN)
    return not data.endswith(b"\r") and bool((characters[returns + 1] == _FEED).all())


def _with_line_feeds(data: bytes, quoted: bool) -> bytes:
    """Replace line ends outside quotes by line feeds: carriage return and line feed, or carriage
    return alone.
    """
    if b"\r" not in data:
        return data
    parts = data.split(b'"') if quoted else [data]
    parts[::2] = [part.replace(b"\r\n", b"\n").replace(b"\r", b"\n") for part in parts[::2]]
    return b'"'.join(parts)


def _with_single_blanks(data: bytes) -> bytes:
    """Separate fields by single blanks, remove blanks at the ends of lines, and keep every line."""
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def _require_quotes(text: Text, data: bytes, separator: str) -> None:
    """Refuse quotes that neither begin nor end a field, as programs read them in different ways."""
    characters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(characters == _QUOTE)
    opening, closing = quotes[0::2], quotes[1::2]
    at_ends = np.array([_FEED, ord(separator)], np.uint8)
    begins = np.isin(characters[opening - 1], at_ends) | (opening == 0)
    # two quotes inside a field mean one
    begins[1:] |= opening[1:] == closing[: opening.size - 1] + 1
    ends = np.isin(characters[closing + 1], at_ends)
    ends[: opening.size - 1] |= opening[1:] == closing[: opening.size - 1] + 1
    hint = "put the whole field into quotes, with each quote in it doubled"
    for places, what in (
        (np.concatenate([opening[~begins], closing[~ends]]), "a quote stands inside a field"),
        (quotes[quotes.size - quotes.size % 2 :], "a field in quotes does not end"),
    ):
        if places.size:
            line = text.number + _line(data, int(places.min())) - 1
            raise FileFormatError(f"{text.path}: line {line}: {what}; {hint}")


def _are_regular(data: bytes, separator: str, n: int, quoted: bool) -> bool:
    """Tell whether each line is a row of n fields, of which one alone may be blank."""
    if quoted:
        characters = np.frombuffer(data, np.uint8)
        outside = characters[~np.bitwise_xor.accumulate(characters == _QUOTE)].tobytes()
        if outside.count(b"\n") != data.count(b"\n"):  # some rows span lines
            return False
        data = outside
    mark = separator.encode()
    marks = data.translate(None, bytes(set(range(256)) - set(mark + b"\n")))
    row = mark * (n - 1) + b"\n"
    return marks == row * (len(marks) // n)


def _rows(text: Text, data: bytes, separator: str, n: int, quoted: bool) -> tuple[bytes, Integers]:
    """Remove blank lines, refuse rows with another number of fields, and return the line of each
    row.
    """
    lines = data.decode().split("\n")[:-1]
    reader = csv.reader(
        lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    rows = []
    numbers = []
    wrong = []
    start = 0
    with files.explain_reading(text.path):
        for row in reader:
            line = "\n".join(lines[start : reader.line_num])
            if line and (n == 1 or len(row) > 1 or line.strip(_BLANKS)):
                numbers.append(text.number + start)
                rows.append(line)
                if len(row) != n:
                    wrong.append(len(rows) - 1)
            start = reader.line_num
    if wrong:
        line = rows[wrong[0]]
        comment = "; comments stand before the first row only" if line.startswith("#") else ""
        raise FileFormatError(
            f"{text.path}: line {numbers[wrong[0]]}: expected {n} fields, as in the first row,"
            f" found {line[:_SHOWN]!r} ({len(wrong)} such rows){comment}"
        )
    return "".join(f"{row}\n" for row in rows).encode(), np.array(numbers, np.int64)
