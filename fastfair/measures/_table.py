"""`measures.table`: every measure of a published table of error rates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.arguments import Share, checked
from fastfair._lib.arrays import Indices
from fastfair._lib.text import did_you_mean
from fastfair.errors import InputError

from ._fairness import KINDS, BaseMetric, measure_all, numbers_of
from ._registry import BOTH_RATES, MEASURES

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
    alpha: Share = 0.5,
) -> Any:
    """Compute every measure of each system in a table of error rates, such as a published one.

    Parameters
    ----------
    frame : data frame
        Rates of groups: one row for each system with columns for each group, or one row for each
        system and group.
    fmr : str, optional
        Column of FMRs. With a column for each group, the text "{group}" stands for the name of the
        group, as in ``"FMR.{group}"``.
    fnmr : str, optional
        Column of FNMRs, in the same way. With one of the two alone, measures that need the other
        are left out.
    by : str or sequence of str, optional
        Columns that name the system, such as the algorithm; without them the table is about one
        system.
    group : str, optional
        The column with the group, for a table with one row for each system and group.
    fmr_global : str, optional
        Column with the FMR of all comparisons. Without it, measures that compare groups with all
        comparisons are NaN.
    fnmr_global : str, optional
        Column with the FNMR of all comparisons, in the same way.
    percent : bool, default False
        Whether the rates are percentages.
    alpha : float, default 0.5
        Weight of false matches in FDR, IR and GARBE.

    Returns
    -------
    data frame
        Of the same library as `frame`, with the columns in `by`, "name" (of the measure, as in
        `Evaluation.to_frame`), "group" (for measures with a value for each group) and "value". A
        missing rate makes a measure NaN.

    Raises
    ------
    InputError
        For columns that do not exist, rates that are no fractions, and rows that name a system, or
        a system's group, a second time.

    Notes
    -----
    SED is defined at the mean of the groups' EER thresholds: it is SED only if the rates of the
    table are.

    Examples
    --------
    >>> import fastfair as ff
    >>> import polars as pl
    >>> rates = pl.DataFrame({"Algorithm": ["A", "B"], "FMR.f": [0.01, 0.02], "FMR.m": [0.01, 0.01],
    ...                       "FNMR.f": [0.10, 0.12], "FNMR.m": [0.10, 0.10]})
    >>> table = ff.measures.table(rates, fmr="FMR.{group}", fnmr="FNMR.{group}", by="Algorithm")
    >>> table.filter(pl.col("name") == "fdr")["value"].round(4).to_list()
    [1.0, 0.985]
    """
    from fastfair._lib.frames import FrameColumns, build

    columns = FrameColumns(frame)
    given = {name: column for name, column in (("fmr", fmr), ("fnmr", fnmr)) if column is not None}
    if not given:
        raise InputError("name the columns of error rates with ⟦fmr=⟧ and ⟦fnmr=⟧")
    keys = [by] if isinstance(by, str) else list(by or [])
    pooled = {"fmr": fmr_global, "fnmr": fnmr_global}
    for name in ("name", "group", "value"):
        if name in keys:
            raise InputError(f"by has the column {name!r}, which the result has, too: rename it")
    systems = _rows(columns, keys)
    distinct = {system: k for k, system in enumerate(dict.fromkeys(systems))}
    rows = np.array([distinct[system] for system in systems], np.intp)[:, np.newaxis]
    if group is None:
        by_group = _columns_of_groups(columns, given, {*keys, *pooled.values()})
        groups = list(next(iter(by_group.values())))
        read = {
            name: [columns_of[name_of_group] for name_of_group in groups]
            for name, columns_of in by_group.items()
        }
        labels: list[_Row] = [()] * len(systems)
        places = np.arange(len(groups))[np.newaxis]
    else:
        labels = _rows(columns, [group])
        groups = [label for (label,) in dict.fromkeys(labels)]
        read = {name: [column] for name, column in given.items()}
        places = np.array([groups.index(label) for (label,) in labels], np.intp)[:, np.newaxis]
    _require_distinct(rows * len(groups) + places, systems, labels, is_side_by_side=group is None)
    scale = 100.0 if percent else 1.0
    metrics = {}
    for name, pool in pooled.items():
        rates = np.full((len(distinct), len(groups)), np.nan)
        if name in read:
            rates[rows, places] = np.column_stack(
                [columns.numbers(column) for column in read[name]]
            )
        of_all = np.full(len(distinct), np.nan)
        if pool is not None:
            values = columns.numbers(pool)
            of_all[rows[:, 0]] = values
            differ = ~np.isclose(of_all[rows[:, 0]], values, 0, 0, equal_nan=True)
            if differ.any():
                named = " & ".join(systems[int(differ.argmax())])
                raise InputError(
                    f"column {pool!r} has different rates of all comparisons for {named!r}"
                )
        groups_of, overall = (
            numbers_of(name, values / scale, largest=1) for values in (rates, of_all)
        )
        metrics[name] = BaseMetric(groups_of, overall)
    made = []
    kinds = KINDS if len(given) == 2 else frozenset(given)
    names = [
        name
        for name, measure in MEASURES.items()
        if BOTH_RATES in kinds or not measure.own_threshold
    ]
    for quantity in measure_all(names, [metrics], {}, metrics, alpha, "keep", kinds):
        for system, values in zip(distinct, quantity.value, strict=True):
            for label, value in zip(
                groups if quantity.per_group else [None], np.atleast_1d(values), strict=True
            ):
                made.append((*system, quantity.name, label, float(value)))
    return build(
        {
            name: [row[k] for row in made]
            for k, name in enumerate((*keys, "name", "group", "value"))
        },
        columns.backend,
    )


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


def _columns_of_groups(
    columns: FrameColumns, given: dict[str, str], others: set[str | None]
) -> dict[str, dict[str, str]]:
    """Return the columns of each rate by group, in a table with columns for each group."""
    by_rate: dict[str, dict[str, str]] = {}
    for name, template in given.items():
        before, mark, after = template.partition(PLACE_OF_GROUP)
        if not mark:
            raise InputError(
                f"⟦{name}={template}⟧ has no {PLACE_OF_GROUP} in it: write it where the columns have"
                f' the group, as in ⟦{name}="{name.upper()}.{PLACE_OF_GROUP}"⟧; or name the column of'
                " groups with ⟦group=⟧ if each has a row of its own"
            )
        pattern = re.compile(f"{re.escape(before)}(.+){re.escape(after)}")
        matches = [
            (column, pattern.fullmatch(column)) for column in columns.names if column not in others
        ]
        by_rate[name] = {match.group(1): column for column, match in matches if match}
        if not by_rate[name]:
            raise InputError(
                "no column is called like"
                f" {name}={template!r}{did_you_mean(before + after, columns.names)}; the columns"
                f" are {', '.join(columns.names)}"
            )
    first, last = (set(by_rate[name]) for name in (min(by_rate), max(by_rate)))
    odd = sorted(first ^ last)
    if odd:
        raise InputError(
            f"⟦fmr={given['fmr']!r}⟧ and ⟦fnmr={given['fnmr']!r}⟧ find different groups;"
            f" {', '.join(map(repr, odd))} have one of the two rates; columns of all comparisons"
            " are named with ⟦fmr_global=⟧ and ⟦fnmr_global=⟧"
        )
    return by_rate


def _require_distinct(
    cells: Indices, systems: list[_Row], labels: list[_Row], *, is_side_by_side: bool
) -> None:
    """Refuse rows that name a system, or a system's group, a second time; cells: (rows, groups of a
    row).
    """
    _, first = np.unique(cells[:, 0], return_index=True)
    if first.size == len(cells):
        return
    if is_side_by_side and not systems[0]:
        raise InputError(
            f"the table has {len(systems)} rows: name the columns that tell the systems apart with"
            " ⟦by=⟧"
        )
    row = int(np.setdiff1d(np.arange(len(cells)), first)[0])
    named = " & ".join((*systems[row], *labels[row]))
    hint = (
        ": name more columns with ⟦by=⟧, or that of groups with ⟦group=⟧ if each group has a row of"
        " its own"
    )
    raise InputError(
        f"two rows are about {named!r}, the second is row {row} (counted from"
        f" 0){hint * is_side_by_side}",
        row=row,
    )
