"""`measures`: all fairness measures of a table of rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

import fastfair as ff
from fastfair._lib.text import in_lines, number_with_interval
from fastfair.cli.run import Run
from fastfair.cli.terminal import print_table, say
from fastfair.io.failure_counts import read_rates
from fastfair.measures._registry import printed_name
from fastfair.results.written import to_plain


def measures(run: Run) -> None:
    """Compute all measures of a table of rates."""
    by = list(run.take("by", ()))
    group = run.options.get("group")
    table = run.call(
        ff.measures.table,
        read_rates(run.arguments[0], [*by, *([group] if group else [])]),
        by=by,
    )
    content = to_plain({"measures": table.to_dicts()})
    run.write(
        {"measures": lambda: content},
        {"measures": lambda: table},
        partial(_print_measures, table, by),
    )


def _print_measures(table: pl.DataFrame, by: Sequence[str]) -> None:
    values = {}
    for row in table.filter(table["group"].is_null()).iter_rows(named=True):
        values[printed_name(row["name"]), " & ".join(row[name] for name in by) or "value"] = row[
            "value"
        ]
    names, systems = (list(dict.fromkeys(keys)) for keys in zip(*values, strict=True))
    cells = [
        [name, *(number_with_interval(values[name, system]) for system in systems)]
        for name in names
    ]
    for k, (headings, rows) in enumerate(_narrow_tables(["measure", *systems], cells)):
        if k:
            say()
        print_table(("", headings, rows))
    if table["group"].is_not_null().any():
        say(
            "\nMeasures with a value for each group are in the files of --output DIR and in --json."
        )


_WIDEST = 120  # characters of a line


def _narrow_tables(
    headings: list[str], rows: list[list[str]]
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield a table of measures by systems, or where its lines would be long, tables of systems by
    some measures.
    """
    if len(in_lines(headings, rows)[0]) <= _WIDEST:
        yield headings, rows
        return
    columns = [["system", *headings[1:]], *rows]
    widths = [max(map(len, column)) + 2 for column in columns]
    start = 1
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and sum(widths[start : stop + 1]) + widths[0] <= _WIDEST:
            stop += 1
        lines = list(map(list, zip(columns[0], *columns[start:stop], strict=True)))
        yield lines[0], lines[1:]
        start = stop
