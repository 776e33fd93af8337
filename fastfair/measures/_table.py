"""`measures.table`: every measure of a published table of error rates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.errors import InputError

from ._fairness import BaseMetric, RatePair, measure_all
from ._registry import MEASURES, Floats, measure_of

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from fastfair._lib.frames import FrameColumns

PLACE_OF_GROUP = "{group}"
_Row = tuple[str, ...]


@checked
def table(
    frame: IntoDataFrame,
    fmr: str | None = None,
    fnmr: str | None = None,
    by: str | Sequence[str] | None = None,
    *,
    group: str | None = None,
    fmr_global: str | None = None,
    fnmr_global: str | None = None,
    percent: bool = False,
    alpha: float = 0.5,
) -> Any:
    """Compute every measure of each system in a table of error rates, such as a published one.

    Parameters
    ----------
    frame : data frame
        Rates of groups: one row for each system with columns for each group, or one row for each system and group.
    fmr : str, optional
        Column of FMRs. With a column for each group, the text "{group}" stands for the name of the group, as in
        ``"FMR.{group}"``.
    fnmr : str, optional
        Column of FNMRs, in the same way. With one of the two alone, measures that need the other are left out.
    by : str or sequence of str, optional
        Columns that name the system, such as the algorithm; without them the table is about one system.
    group : str, optional
        The column with the group, for a table with one row for each system and group.
    fmr_global : str, optional
        Column with the FMR of all comparisons. Without it, measures that compare groups with all comparisons are NaN.
    fnmr_global : str, optional
        Column with the FNMR of all comparisons, in the same way.
    percent : bool, default False
        Whether the rates are percentages.
    alpha : float, default 0.5
        Weight of false matches in FDR, IR and GARBE.

    Returns
    -------
    data frame
        Of the same library as `frame`, with the columns in `by`, "name" (of the measure, as in `Evaluation.to_frame`),
        "group" (for measures with a value for each group) and "value". A missing rate makes a measure NaN.

    Raises
    ------
    InputError
        For columns that do not exist, rates that are no fractions, and rows that name a system, or a system's group, a
        second time.

    Notes
    -----
    SED is defined at the mean of the groups' EER thresholds: it is SED only if the rates of the table are.

    Examples
    --------
    >>> import fastfair as ff
    >>> import polars as pl
    >>> rates = pl.DataFrame({"Algorithm": ["A", "B"], "FMR.f": [0.01, 0.02], "FMR.m": [0.01, 0.01],
    ...                       "FNMR.f": [0.10, 0.12], "FNMR.m": [0.10, 0.10]})
    >>> found = ff.measures.table(rates, fmr="FMR.{group}", fnmr="FNMR.{group}", by="Algorithm")
    >>> found.filter(pl.col("name") == "fdr")["value"].round(4).to_list()
    [1.0, 0.985]
    """
    from fastfair._lib.frames import FrameColumns, build

    alpha = validation.rate("alpha", alpha, one_allowed=True)
    columns = FrameColumns(frame)
    given = {name: column for name, column in (("fmr", fmr), ("fnmr", fnmr)) if column is not None}
    if not given:
        raise InputError("name the columns of error rates with fmr= and fnmr=")
    keys = [by] if isinstance(by, str) else list(by or [])
    pooled = {"fmr": fmr_global, "fnmr": fnmr_global}
    for name in ("name", "group", "value"):
        if name in keys:
            raise InputError(f"by has the column {name!r}, which the result has, too: rename it")
    systems = _rows(columns, keys)
    if group is None:
        groups, rates, overall = _side_by_side(columns, given, pooled, systems, keys)
    else:
        groups, rates, overall = _below_each_other(columns, given, pooled, systems, group)
    distinct = list(dict.fromkeys(systems))
    scale = 100.0 if percent else 1.0
    metrics = {}
    for name in ("fmr", "fnmr"):
        found = rates.get(name, np.full((len(distinct), len(groups)), np.nan)) / scale
        of_all = overall.get(name, np.full(len(distinct), np.nan)) / scale
        _require_fractions(name, found, of_all, percent)
        metrics[name] = BaseMetric(of_all, found)
    pair = RatePair(metrics["fmr"], metrics["fnmr"])
    made: dict[str, list[Any]] = {name: [] for name in (*keys, "name", "group", "value")}
    for quantity in measure_all(list(MEASURES), [pair], {}, pair, alpha, "keep"):
        measure = measure_of(quantity.name)
        assert measure is not None
        metric = quantity.name.partition("(")[2].removesuffix(")") or None
        if not {error.lower() for error in measure.error_types(metric)} <= set(given):
            continue
        for system, values in zip(distinct, quantity.value, strict=True):
            for label, value in zip(groups if quantity.per_group else [None], np.atleast_1d(values), strict=True):
                cells = dict(zip(keys, system, strict=True)) | {
                    "name": quantity.name, "group": label, "value": float(value),
                }  # fmt: skip
                for name, cell in cells.items():
                    made[name].append(cell)
    return build(made, columns.backend)


def _rows(columns: FrameColumns, keys: Sequence[str]) -> list[_Row]:
    """Return the labels of each row, one text for each column."""
    if not keys:
        return [()] * columns.height
    parts = []
    for name in keys:
        texts, codes = columns.texts(name)
        if None in texts:
            row = int(np.argmax(codes == texts.index(None)))
            raise InputError(f"column {name!r} is missing in row {row} (counted from 0)", row=row)
        parts.append([str(texts[code]) for code in codes])
    return list(zip(*parts, strict=True))


def _side_by_side(
    columns: FrameColumns,
    given: dict[str, str],
    pooled: dict[str, str | None],
    systems: list[_Row],
    keys: Sequence[str],
) -> tuple[list[str], dict[str, Floats], dict[str, Floats]]:
    """Read a table with columns for each group; return the groups, and rates by system and group."""
    found: dict[str, dict[str, str]] = {}
    for name, template in given.items():
        before, mark, after = template.partition(PLACE_OF_GROUP)
        if not mark:
            raise InputError(
                f"{name}={template!r} has no {PLACE_OF_GROUP} in it: write it where the columns have the group, as in "
                f'{name}="{name.upper()}.{PLACE_OF_GROUP}"; or name the column of groups with group= if each has a row '
                "of its own"
            )
        pattern = re.compile(f"{re.escape(before)}(.+){re.escape(after)}")
        others = {*keys, *pooled.values()}
        matches = [(column, pattern.fullmatch(column)) for column in columns.names if column not in others]
        found[name] = {match.group(1): column for column, match in matches if match}
        if not found[name]:
            raise InputError(
                f"no column is called like {name}={template!r}"
                f"{validation.did_you_mean(before + after, columns.names)}; the columns are {', '.join(columns.names)}"
            )
    groups = list(next(iter(found.values())))
    for by_group in found.values():
        if set(by_group) != set(groups):
            odd = sorted(set(by_group) ^ set(groups))
            raise InputError(
                f"fmr={given['fmr']!r} and fnmr={given['fnmr']!r} find different groups; {', '.join(map(repr, odd))} "
                "have one of the two rates; columns of all comparisons are named with fmr_global= and fnmr_global="
            )
    if len(set(systems)) < len(systems):
        twice = next(system for k, system in enumerate(systems) if system in systems[:k])
        if not keys:
            raise InputError(
                f"the table has {len(systems)} rows: name the columns that tell the systems apart with by="
            )
        raise InputError(
            f"two rows are about {' & '.join(twice)!r}: name more columns with by=, or that of groups with group= if "
            "each group has a row of its own"
        )
    rates = {
        name: np.column_stack([columns.numbers(by_group[group]) for group in groups]).astype(np.float64)
        for name, by_group in found.items()
    }
    overall = {name: _numbers(columns, column) for name, column in pooled.items() if column is not None}
    return groups, rates, overall


def _below_each_other(
    columns: FrameColumns,
    given: dict[str, str],
    pooled: dict[str, str | None],
    systems: list[_Row],
    group: str,
) -> tuple[list[str], dict[str, Floats], dict[str, Floats]]:
    """Read a table with one row for each system and group; return as `_side_by_side` does."""
    labels = [label for (label,) in _rows(columns, [group])]
    groups = list(dict.fromkeys(labels))
    distinct = {system: k for k, system in enumerate(dict.fromkeys(systems))}
    rows = np.array([distinct[system] for system in systems])
    places = np.array([groups.index(label) for label in labels])
    cells = rows * len(groups) + places
    if np.unique(cells).size < cells.size:
        row = next(k for k, cell in enumerate(cells) if cell in cells[:k])
        named = " & ".join((*systems[row], labels[row]))
        raise InputError(f"two rows are about {named!r}, the second is row {row} (counted from 0)", row=row)
    rates = {}
    for name, column in given.items():
        rates[name] = np.full((len(distinct), len(groups)), np.nan)
        rates[name][rows, places] = _numbers(columns, column)
    overall = {}
    for name, pool in pooled.items():
        if pool is None:
            continue
        values = _numbers(columns, pool)
        overall[name] = np.full(len(distinct), np.nan)
        overall[name][rows] = values
        differ = (overall[name][rows] != values) & ~(np.isnan(overall[name][rows]) & np.isnan(values))
        if differ.any():
            named = " & ".join(systems[int(differ.argmax())])
            raise InputError(f"column {pool!r} has different rates of all comparisons for {named!r}")
    return groups, rates, overall


def _numbers(columns: FrameColumns, name: str) -> Floats:
    return np.asarray(columns.numbers(name), np.float64)


def _require_fractions(name: str, groups: Floats, overall: Floats, percent: bool) -> None:
    """Refuse rates that are not fractions, and say what to do about percentages."""
    for values in (groups, overall):
        wrong = (values < 0) | (values > 1)
        if wrong.any():
            found = float(values[wrong][0]) * (100 if percent else 1)
            hint = "; for percentages pass percent=True" if not percent and 1 < found <= 100 else ""
            what = "percentages in [0, 100]" if percent else "fractions in [0, 1]"
            raise InputError(f"{name} must be rates, {what}, but the table has {found:g}{hint}")
