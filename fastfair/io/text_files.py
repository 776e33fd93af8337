"""Split text files into rows and fields, and read the numbers in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory, validation
from fastfair._lib.threads import in_threads
from fastfair.errors import FileFormatError

from . import file_kinds, reading

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 2**22
_BOM = b"\xef\xbb\xbf"
_QUOTE, _FEED, _RETURN, _BLANK = b'"\n\r '
_EXACT = 2**53  # float64 holds whole numbers exactly up to here
_START = 512  # bytes that tell what a file is
_DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"
_PERHAPS_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_COPIES = 3  # copies of the text in memory while it is split
_SHOWN = 120  # characters of a line in a message


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


def read(path: Path) -> Text:
    """Read a text file, which may be compressed with gzip, bzip2 or xz.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Text

    Raises
    ------
    FileFormatError
        For files that are no text, for text that is not UTF-8 (the line is named), and for files of only blank lines
        and comments.
    """
    _require_memory(path, path.stat().st_size)
    with reading.reading(path):
        data = _content(path)
    if what := file_kinds.no_text(path, data[:_START]):
        raise FileFormatError(f"{path} is {what}")
    data = data.removeprefix(_BOM)
    _require_text(path, data)
    comments: list[tuple[int, str]] = []
    position = number = 0
    while position < len(data):
        end = min((k for k in (data.find(b"\n", position), data.find(b"\r", position)) if k >= 0), default=len(data))
        line, number = data[position:end].decode(), number + 1
        if line.strip() and not line.startswith("#"):
            return Text(path, data[position:], line, number, comments)
        if line.startswith("#"):
            comments.append((number, line))
        position = end + (2 if data[end : end + 2] == b"\r\n" else 1)
    raise FileFormatError(f"{path} holds nothing but blank lines and comments")


def split(
    text: Text,
    separator: str | None,
    fields: str | None = None,
    *,
    flat: bool = False,
    columns: list[int] | None = None,
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Split text into rows with as many fields as the first line has.

    Parameters
    ----------
    text : Text
        The text.
    separator : str or None
        The character between fields, which may then be in quotes. None means any number of blanks and tabs, and no
        quotes.
    fields : str, optional
        Names of the fields that each row must have, with blanks between them.
    flat : bool, default False
        Return one column of all fields, row after row.
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
    pl = reading.polars()
    quoted = separator is not None and b'"' in text.data
    data = _with_line_feeds(text.data, quoted)
    if separator is None:
        data, separator = _with_single_blanks(data), " "
    if not data.endswith(b"\n"):
        data += b"\n"
    if quoted:
        _require_quotes(text, data, separator)
    ends = _ends(data, separator, quoted)
    n = int(ends.argmax()) + 1 if fields is None else len(fields.split())
    data, lines = _rows(text, data, ends, n, separator, quoted, fields)
    if flat:
        data, n_columns = data.replace(separator.encode(), b"\n"), 1
    else:
        n_columns = n
    with reading.reading(text.path):
        frame = pl.read_csv(
            data,
            separator=separator,
            quote_char='"' if quoted else None,
            has_header=False,
            infer_schema=False,
            schema={f"column_{k + 1}": pl.String for k in range(n_columns)},
            columns=columns,
        ).fill_null("")
    if frame.height != lines.size * (n if flat else 1):
        raise FileFormatError(f"{text.path} has {lines.size} rows, but {frame.height} could be read")
    return frame, lines


def fields_of(line: str) -> list[str]:
    """Split a line at blanks and tabs; `str.split` would know more of them, and find other fields than `split`."""
    return [field for field in re.split("[ \t]+", line) if field]


def numbers(
    path: Path | str, what: str, text: pl.Series, lines: NDArray[np.int64] | None, failures: bool | None = None
) -> NDArray[np.float64]:
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
        For scores: whether empty fields and NaN stand for comparisons that failed, and become NaN.

    Returns
    -------
    (n,) ndarray of float64

    Raises
    ------
    FileFormatError
        For text that is no finite number, and whole numbers that would be rounded; the line is named.
    """
    pl = reading.polars()

    def where(row: int) -> str:
        return f"{path}: row {row} (counted from 0)" if lines is None else f"{path}: line {lines[row]}"

    text = text.str.strip_chars()
    made = text.cast(pl.Float64, strict=False)
    if made.null_count():
        made = _with_decimal_commas(path, what, text, made)
    values = made.fill_null(np.nan if failures else 0.0).to_numpy()
    wrong = (made.is_null() & (text != "")).to_numpy() if failures else made.is_null().to_numpy()
    would_do = "" if failures is None else f"; {validation.FAILURES_DO}"
    if wrong.any():
        row = int(wrong.argmax())
        if text[row] == "":
            raise FileFormatError(f"{where(row)}: {what} is empty ({int(wrong.sum())} such rows){would_do}")
        raise FileFormatError(
            f"{where(row)}: {what} must be a number, not {text[row]!r} ({int(wrong.sum())} such rows)"
        )
    infinite = np.isinf(values) if failures else ~np.isfinite(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise FileFormatError(
            f"{where(row)}: {what} must be finite, not {text[row]!r} ({int(infinite.sum())} such rows)"
            + (would_do if np.isnan(values[row]) else "")
        )
    for row in map(int, np.flatnonzero(np.abs(values) > _EXACT - 1)):
        if re.fullmatch(r"[+-]?[0-9]+", text[row]) and int(text[row]) != int(values[row]):
            raise FileFormatError(
                f"{where(row)}: {what} is {text[row]}, a whole number above 2^53 that float64 rounds; "
                "scale such numbers down"
            )
    return values


def _with_decimal_commas(path: Path | str, what: str, text: pl.Series, made: pl.Series) -> pl.Series:
    """Read numbers with decimal commas; refuse them where the commas may stand between thousands."""
    pl = reading.polars()
    known = made.is_null() & (text != "")
    with_commas = text.filter(known)
    if (
        not known.any()
        or not with_commas.str.contains(_DECIMAL_COMMA).all()
        or text.str.contains(".", literal=True).any()
    ):
        return made
    if with_commas.str.contains(_PERHAPS_THOUSANDS).all():
        raise FileFormatError(
            f"{path}: {what} is {with_commas[0]!r}: the comma may be that of a decimal or stand between thousands; "
            "write decimals with points"
        )
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def is_number(field: str) -> bool:
    """Return whether a field is a number, finite or not."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.isascii()


def header(text: Text, separator: str) -> list[str]:
    """Return the names in the first row, which may span lines if a quoted name contains a line end."""
    lines = io.TextIOWrapper(io.BytesIO(text.data), encoding="utf-8", newline="")
    try:
        return next(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        raise FileFormatError(f"{text.path}: line {text.number}: the header cannot be read: {error}") from None


def _content(path: Path) -> bytes:
    parts: list[bytes] = []
    with file_kinds.opened(path) as file:
        while part := file.read(_BLOCK):
            parts.append(part)
            _require_memory(path, sum(map(len, parts)))
    return b"".join(parts)


def _require_memory(path: Path, size: int) -> None:
    memory.require(_COPIES * size, f"{size:,} bytes of text in {path}", "split the file, or convert it to Parquet")


def _require_text(path: Path, data: bytes) -> None:
    """Refuse bytes that are not UTF-8 text, and invisible marks inside the text."""
    is_ascii = data.isascii()
    for mark, what in ((b"\0", "a NUL byte"), (_BOM, "a byte order mark")):
        place = -1 if is_ascii and mark == _BOM else data.find(mark)
        if place >= 0 and not _utf16(data):
            raise FileFormatError(
                f"{path}: line {_line(data, place)}: there is {what} in the text; save it as plain UTF-8"
            )
    if is_ascii:
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        known = "UTF-16" if _utf16(data) else "of another encoding"
        raise FileFormatError(
            f"{path} cannot be read: line {_line(data, error.start)} is not UTF-8 text but {known}; save it as UTF-8"
        ) from None


def _utf16(data: bytes) -> bool:
    return data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _line(data: bytes, place: int) -> int:
    before = data[:place]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _with_line_feeds(data: bytes, quoted: bool) -> bytes:
    """Replace line ends by line feeds: carriage return and line feed, or carriage return alone."""
    if b"\r" not in data:
        return data
    if not quoted:
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    characters = np.frombuffer(data, np.uint8).copy()
    returns = np.flatnonzero((characters == _RETURN) & ~np.bitwise_xor.accumulate(characters == _QUOTE))
    doubled = returns[characters[np.minimum(returns + 1, characters.size - 1)] == _FEED]
    characters[returns] = _FEED
    return np.delete(characters, doubled).tobytes()


def _with_single_blanks(data: bytes) -> bytes:
    """Separate fields by single blanks, remove blanks at the ends of lines, and keep every line."""

    def touches(start: int) -> bool:
        """Tell whether two blanks, or a blank and a line end, stand side by side; some other characters count, too."""
        low = np.frombuffer(data, np.uint8, min(_BLOCK + 1, len(data) - start), start) <= _BLANK
        return bool((low[1:] & low[:-1]).any())

    data = data.replace(b"\t", b" ")
    if data.strip(b" ") == data and not any(in_threads(len(data), touches, range(0, len(data), _BLOCK))):
        return data
    characters = np.frombuffer(data, np.uint8)
    blank, feed = characters == _BLANK, characters == _FEED
    after = np.concatenate([[True], (blank | feed)[:-1]])
    characters = characters[~(blank & after)]  # leaves the first blank of each run between fields, or one at the end
    blank, feed = characters == _BLANK, characters == _FEED
    before_end = np.concatenate([feed[1:], [True]])
    return characters[~(blank & before_end)].tobytes()


def _require_quotes(text: Text, data: bytes, separator: str) -> None:
    """Refuse quotes that neither begin nor end a field, as programs read them in different ways."""
    characters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(characters == _QUOTE)
    opening, closing = quotes[0::2], quotes[1::2]
    at_ends = np.array([_FEED, ord(separator)], np.uint8)
    begins = np.isin(characters[opening - 1], at_ends) | (opening == 0)
    begins[1:] |= opening[1:] == closing[: opening.size - 1] + 1  # two quotes inside a field mean one
    ends = np.isin(characters[closing + 1], at_ends)
    ends[: opening.size - 1] |= opening[1:] == closing[: opening.size - 1] + 1
    stray = np.concatenate([opening[~begins], closing[~ends]])
    hint = "put the whole field into quotes, with each quote in it doubled"
    if stray.size:
        line = text.number + _line(data, int(stray.min())) - 1
        raise FileFormatError(f"{text.path}: line {line}: a quote stands inside a field; {hint}")
    if quotes.size % 2:
        line = text.number + _line(data, int(quotes[-1])) - 1
        raise FileFormatError(f"{text.path}: line {line}: a field in quotes does not end; {hint}")


def _blocks(data: bytes, quoted: bool) -> Iterator[tuple[NDArray[np.uint8], Any]]:
    """Yield blocks of characters, each with a mask of those outside quotes."""
    inside = False
    for start in range(0, len(data), _BLOCK):
        block = np.frombuffer(data, np.uint8, min(_BLOCK, len(data) - start), start)
        outside: Any = True
        if quoted:
            masked = np.bitwise_xor.accumulate(block == _QUOTE) ^ inside
            inside, outside = bool(masked[-1]), ~masked
        yield block, outside


def _ends(data: bytes, separator: str, quoted: bool) -> NDArray[np.bool_]:
    """Return for each field whether it is the last one of its row."""
    mark = ord(separator)

    def ends(found: tuple[NDArray[np.uint8], Any]) -> NDArray[np.bool_]:
        block, outside = found
        feed = block == _FEED
        return np.asarray(feed[(feed | (block == mark)) & outside])

    blocks = _blocks(data, quoted)
    if quoted:  # whose masks are found one after another
        return np.concatenate([ends(found) for found in blocks])
    return np.concatenate(in_threads(len(data), ends, list(blocks)))


def _feeds(data: bytes, quoted: bool) -> NDArray[np.int64]:
    """Return the positions of the line feeds that end rows."""
    found = [np.flatnonzero((block == _FEED) & outside) for block, outside in _blocks(data, quoted)]
    return np.concatenate([_BLOCK * k + places for k, places in enumerate(found)])


def _rows(
    text: Text, data: bytes, ends: NDArray[np.bool_], n: int, separator: str, quoted: bool, fields: str | None
) -> tuple[bytes, NDArray[np.int64]]:
    """Remove blank lines, refuse rows with another number of fields, and return the line of each row."""
    n_rows = int(np.count_nonzero(ends))
    table = ends.reshape(-1, n) if ends.size == n_rows * n else None
    if n > 1 and table is not None and table[:, -1].all() and not (quoted and data.count(b"\n") > n_rows):
        return data, text.number + np.arange(n_rows)
    feeds = _feeds(data, quoted)
    starts = np.concatenate([[0], feeds[:-1] + 1])
    lines = text.number + (np.searchsorted(_feeds(data, quoted=False), starts) if quoted else np.arange(n_rows))
    sizes = np.diff(np.flatnonzero(ends), prepend=-1)
    blank = starts == feeds
    for row in np.flatnonzero((sizes == 1) & (n > 1)).tolist():
        blank[row] = not data[starts[row] : feeds[row]].strip()
    wrong = np.flatnonzero((sizes != n) & ~blank)
    if wrong.size:
        row = int(wrong[0])
        expected = f"{n} fields" + (f" ({fields})" if fields else ", as in the header")
        line = data[starts[row] : feeds[row]].decode()
        comment = "; comments stand before the first row only" if line.startswith("#") else ""
        raise FileFormatError(
            f"{text.path}: line {lines[row]}: expected {expected}, found {line[:_SHOWN]!r} "
            f"({wrong.size} such rows){comment}"
        )
    if blank.any():
        data = np.frombuffer(data, np.uint8)[np.repeat(~blank, feeds - starts + 1)].tobytes()
    return data, lines[~blank]
