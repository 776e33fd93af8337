"""How the terminal shows columns of a result: an interval behind its number, rates in per cent, names as words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastfair._lib.text import NONE, cell, interval_of_rate, number_with_interval, p_value, rate_with_interval, typed
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.measures._registry import measure_of, printed_name
from fastfair.uncertainty.quantities import IN_PER_CENT, Quantity, in_words

Printed = tuple[str, list[str], list[list[str]]]  # a title, which may be empty, headings, and rows
# Columns in per cent; where rows have a name, only those of rates.
_RATES = (
    "fmr", "fnmr", "fta", "fte", "limit", "limit_assured", "independent_limit", "assurance", "margin", "power",
    "estimate", "bound", "fraction", "discarded", "raw", "shrunken", "borrowed", "given", "target", "reached",
    "difference", "uncertainty", "wanted_margin", "wanted_assurance", "wanted_power", "first", "second",
)  # fmt: skip
_HEADINGS = {
    "operating_point": "at", "pvalue": "p", "group_pvalue": "p", "pvalue_adjusted": "adjusted p",
    "group_pvalue_adjusted": "adjusted p", "name": "quantity", "title": "quantity", "given": "for this very threshold",
    "independent_limit": "if independent", "fmr": "FMR", "fnmr": "FNMR", "fta": "FTA", "fte": "FTE",
}  # fmt: skip


def printed(columns: Mapping[str, Sequence[Any]], names: Iterable[str], *, of: str = "estimate") -> Printed:
    """Write columns as a table; the interval "low" to "high" is that of the column `of`."""
    n = len(next(iter(columns.values()), ()))
    kinds = columns.get("name", [None] * n)
    headings, cells = [], []
    for name in names:
        ends = ("low", "high") if name == of else (f"{name}_low", f"{name}_high")
        values, low, high = (columns.get(one, [None] * n) for one in (name, *ends))
        written = [
            _written(name, kind, *row, is_interval=name not in columns)
            for kind, row in zip(kinds, zip(values, low, high, strict=True), strict=True)
        ]
        if any(written):
            headings.append(_HEADINGS.get(name, name.removeprefix("n_").replace("_", " ")))
            cells.append(written)
    return "", headings, [list(row) for row in zip(*cells, strict=True)]


def _written(
    name: str, kind: str | None, value: Any, low: float | None, high: float | None, *, is_interval: bool
) -> str:
    if name == "group" and value is None:
        return "all"
    if name == "name":
        return printed_name(value)
    if (kind, name) == ("threshold", "estimate") and not math.isnan(value):  # with all its digits, as it is typed
        return " ".join([typed(value), *number_with_interval(value, low, high).split(" ", 1)[1:]])
    if is_interval:
        return interval_of_rate(low, high)
    if not isinstance(value, float):
        return "" if value is None else cell(value)
    if "pvalue" in name:
        return p_value(value)
    if name.startswith("n_"):
        return NONE if math.isnan(value) else f"{value:,.1f}".removesuffix(".0")
    is_rate = name in _RATES and (kind is None or kind in IN_PER_CENT)
    return rate_with_interval(value, low, high) if is_rate else number_with_interval(value, low, high)


def measures_table(
    quantities: Sequence[Quantity], points: Sequence[OperatingPoint]
) -> tuple[list[str], list[list[str]]]:
    """Write fairness measures, a row for each and a column for each operating point."""
    rows: dict[str, dict[OperatingPoint | None, Quantity]] = {}
    for one in quantities:
        if one.group is None and measure_of(one.name) is not None:
            rows.setdefault(one.name, {})[one.at] = one
    without = [None] if any(None in values for values in rows.values()) else []
    written = []
    for name, values in rows.items():
        measure = measure_of(name)
        assert measure is not None
        cells = [in_words(values[point]) if point in values else "" for point in (*points, *without)]
        written.append([printed_name(name), *cells, f"{measure.fair_value:g}", measure.fairer])
    heads = [*(f"at {point}" for point in points), *("no threshold" for _ in without)]
    return ["measure", *heads, "fair value", "fairer"], written
