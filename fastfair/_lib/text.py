"""How numbers, values and labels are written: in messages, sentences, tables of terminal and page,
and plots.
"""

from __future__ import annotations

import difflib
import math
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastfair.errors import visible

NONE = "–"  # where there is no number
_MOST_DIGITS = 17  # that tell two floats apart
_ROUNDING = 1e-12  # what rounding makes of 0
_MOST_DECIMALS = 8  # of a rate in per cent, at most
_LEAST_P = 1e-4  # about the least that 9,999 replicates can give
_LISTED = 20  # names in a message
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


def shown(value: object) -> str:
    """Format any value for a message: short, and even if its own methods raise."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape} and type {value.dtype}"
    library = type(value).__module__.partition(".")[0]
    if library in ("fastfair", "pandas", "polars", "pyarrow"):
        return f"{kind}" if library == "fastfair" else f"a {library} {kind}"
    try:
        return _short.repr(value)
    except Exception:  # raised by the value, or by a number with too many digits
        return f"a value of type {kind}"


def counted(n: int, what: str) -> str:
    """Write a number of things: "1 group", "2 groups"."""
    return f"{n} {what}{'s' if n > 1 else ''}"


def with_article(rate: str) -> str:
    """Write the name of a rate after a or an, as its letters are read: an FMR, a BPCER."""
    return f"{'an' if rate[0].upper() in 'AEFHILMNORSX' else 'a'} {rate.upper()}"


def list_some(values: Sequence[object], most: int = 5) -> str:
    """Name the first of some values, for a message."""
    return ", ".join(map(repr, values[:most])) + (", ..." if len(values) > most else "")


def joined_by_or(words: Iterable[str]) -> str:
    """Join different words with commas, and the last with "or"."""
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most).replace(' or ', ', ')} or {last}" if most else last


def did_you_mean(value: object, names: Iterable[str]) -> str:
    """Return a hint with the nearest known names, or "" if none is near."""
    by_lower = {str(name).lower(): name for name in names}
    word = str(value).lower()
    near = [name for name in by_lower if word and name.startswith(word)][:5]
    near = near or difflib.get_close_matches(word, by_lower, n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(by_lower[name]) for name in near)}?)" if near else ""


def not_there(
    source: object, name: object, names: Iterable[str], *, role: str = "", kind: str = "column"
) -> str:
    """Return the message that a file or data frame lacks a name, with the nearest names, and all
    where they are few.
    """
    names = list(names)
    would_do = f": name one with ⟦{role}=⟧" if role else ""
    others = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED + 1 else ""
    listed = ", ".join(names[:_LISTED] if others else names) or "none"
    return (
        f"{source} has no {kind} {name!r}{did_you_mean(name, names)}{would_do}; its {kind}s are"
        f" {listed}{others}"
    )


def typed(threshold: float) -> str:
    """Format a threshold with all its digits, as it is typed."""
    return repr(float(threshold)).removesuffix(".0")


def per_cent(rate: float, digits: int = 3) -> str:
    """Format a rate in per cent, in significant digits: for rates that stand without an
    interval.
    """
    return NONE if math.isnan(rate) else f"{100 * rate:.{3 if rate >= 0.995 else digits}g} %"


def written_level(level: float, digits: int = 4) -> str:
    """Format a confidence level in per cent, with so many digits that it is below 100 %."""
    if math.isnan(level):
        return NONE
    texts = (f"{100 * level:.{more}g}" for more in range(digits, _MOST_DIGITS + 1))
    return f"{next((text for text in texts if text != '100'), '100')} %"


def rate_with_interval(value: float, low: float | None = None, high: float | None = None) -> str:
    """Format a rate in per cent, with its interval where there is one, as in "16.6 % [15.0,
    18.3]".
    """
    text, interval = value_and_interval(value, low, high, is_rate=True)
    return text if text == NONE else f"{text} % {interval}".rstrip()


def number_with_interval(value: float, low: float | None = None, high: float | None = None) -> str:
    """Format a number that is no rate, with its interval where there is one, as in "2.02 [1.22,
    3.31]".
    """
    return " ".join(filter(None, value_and_interval(value, low, high)))


def interval_of_rate(low: float | None, high: float | None) -> str:
    """Format the interval of a rate in per cent, or say that there is none."""
    if low is None or high is None or math.isnan(low):
        return NONE
    return f"{value_and_interval((low + high) / 2, low, high, is_rate=True)[1]} %"


def value_and_interval(
    value: float, low: float | None, high: float | None, *, is_rate: bool = False
) -> tuple[str, str]:
    """Write a value and its interval, as `value_and_ends` does; the second text is empty without an
    interval.
    """
    text, *ends = value_and_ends(value, low, high, is_rate=is_rate)
    return text, f"[{ends[0]}, {ends[1]}]" if all(ends) else ""


def value_and_ends(
    value: float, low: float | None, high: float | None, *, is_rate: bool = False
) -> tuple[str, str, str]:
    """Write a value and the ends of its interval with as many digits as these support; rates in per
    cent, without sign.

    The shorter arm of the interval has two significant digits. Per cent have at most three
    decimals, and two from 1 % on, unless a smaller upper end needs more; what decimals would
    round to 100 % is more than the last one tells. Without an interval there
    are three significant digits, or four of what is no rate, and the ends are empty.
    """
    low, high = (math.nan if end is None else end for end in (low, high))
    if math.isnan(value):
        return NONE, "", ""
    value, low, high = (100 * x if is_rate else x for x in (value, low, high))
    arms = [
        abs(value - end)
        for end in (low, high)
        if math.isfinite(value - end) and abs(value - end) > _ROUNDING
    ]
    if not arms:
        text = _simple(value, 3 if is_rate else 4)
        return (
            (text, "", "")
            if math.isnan(low) or low == high
            else (text, _simple(low, 3), _simple(high, 3))
        )
    decimals = 1 - math.floor(math.log10(min(arms)))
    if is_rate and math.isfinite(high):
        decimals = min(
            decimals, 2 if high >= 1 else max(3, 1 - math.floor(math.log10(max(high, 1e-12))))
        )
    decimals = min(max(decimals, 0), _MOST_DECIMALS)
    least = -math.inf if low < 0 else 0.0  # differences are not known to be above 0
    most = 100.0 if is_rate else math.inf
    text, *ends = (
        "" if math.isnan(x) else _fixed(x, decimals, least, most) for x in (value, low, high)
    )
    return text, ends[0], ends[1]


def _fixed(value: float, decimals: int, least: float, most: float) -> str:
    step = 10.0**-decimals
    if not math.isfinite(value):
        return _simple(value, 3)
    if least < value < least + step / 2:
        return f"<{step:.{decimals}f}"
    if decimals and most - step / 2 < value < most:
        return f">{most - step:.{decimals}f}"
    text = f"{value:,.{decimals}f}"
    return "0" if not float(text.replace(",", "")) and abs(value) <= _ROUNDING else text


def _simple(value: float, digits: int) -> str:
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return "0" if abs(value) < _ROUNDING else f"{value:.{digits}g}"


def p_value(value: float | None) -> str:
    """Write a p-value, if there is one, in two significant digits, unless it is very small."""
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.2g}" if value >= _LEAST_P else f"<{_LEAST_P:.4f}"


def p_in_words(value: float) -> str:
    """Write a p-value in a sentence; how small one below 0.0001 is, nobody can tell."""
    return "p < 0.0001" if value < 1e-4 else f"p = {p_value(value)}"


def cell(value: Any) -> str:
    """Write a value of any kind as the cell of a table."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_with_interval(value)
    if isinstance(value, int):
        return f"{value:,}"
    return visible(str(value))


def in_lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table as lines of text: the first column and words to the left, numbers to the
    right.
    """
    shown = [[visible(cell) for cell in row] for row in (headings, *rows)]
    columns = list(zip(*shown, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_left = [not k or not any(map(_is_number, column[1:])) for k, column in enumerate(columns)]
    return [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_left, strict=True)
        ).rstrip()
        for row in shown
    ]


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in ("-", "<", NONE)


def shortened(label: str, most: int) -> str:
    """Cut the middle out of a label that is longer than `most` characters: labels often share their
    beginnings.
    """
    kept = (most - 1) // 2
    return label if len(label) <= most else f"{label[:kept].rstrip()}…{label[-kept:].lstrip()}"


def drawn(label: str) -> str:
    """Format a label for matplotlib, which would read $ as a formula and hide labels that begin
    with "_".
    """
    text = visible(label).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
