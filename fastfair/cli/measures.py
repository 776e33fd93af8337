"""The verb `measures` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair import measures
from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import records, write_json
from fastfair._lib.text import number_with_interval
from fastfair.io.failure_counts import read_rates
from fastfair.measures._registry import printed_name

from .options import ALPHA, WRITING, with_options
from .output import deliver, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb

if TYPE_CHECKING:
    import polars as pl

_MOST_SYSTEMS = 8  # more systems than this are the rows of the printed table, and measures its columns


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--fmr-column", "fmr", metavar="COLUMN",
            help="Column of FMRs; with a column for each group, {group} stands for its name, as in 'FMR.{group}'.",
        ),
        click.option("--fnmr-column", "fnmr", metavar="COLUMN", help="Column of FNMRs, in the same way."),
        click.option(
            "--by", multiple=True, metavar="COLUMN",
            help="Column that names the system, such as the algorithm. May be repeated.",
        ),
        click.option(
            "--group", metavar="COLUMN", help="Column with the group, where each system and group has a row of its own."
        ),
        click.option(
            "--fmr-global", metavar="COLUMN",
            help="Column with the FMR of all comparisons. Measures that need it are not computable without it.",
        ),
        click.option("--fnmr-global", metavar="COLUMN", help="Column with the FNMR of all comparisons."),
        click.option("--percent", is_flag=True, help="The rates are percentages."),
        ALPHA,
        *WRITING,
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "measures",
    cls=Verb,
    summary="Compute all fairness measures of a table of error rates.",
    examples="""
    fastfair measures published.csv --fmr-column 'FMR.{group}' --fnmr-column 'FNMR.{group}' --by Algorithm
    fastfair measures table.csv --fmr-column fmr --fnmr-column fnmr --by system --group nationality --percent
    """,
)
@click.argument("rates", type=click.Path(path_type=Path))
@_options
def measures_command(rates: Path, by: tuple[str, ...], as_json: bool, output: Path | None, **options: Any) -> None:
    """Compute all fairness measures of the table RATES, such as a published one of error rates per group."""
    require_output(output)
    labels = [*by, *([options["group"]] if options["group"] else [])]
    found = measures.table(read_rates(rates, labels), by=list(by), **options)
    text = write_json({"measures": records(found.to_dict(as_series=False))}, None)
    deliver(
        output,
        lambda: {
            "measures.json": partial(with_inputs, text),
            "measures.csv": partial(write_csv, found),
        },
        None,
        (lambda: say_json(with_inputs(text))) if as_json else partial(_print, found, by),
    )


def _print(found: pl.DataFrame, by: tuple[str, ...]) -> None:
    console = Terminal()
    values = {}
    for row in found.filter(found["group"].is_null()).iter_rows(named=True):
        values[row["name"], " & ".join(row[name] for name in by) or "value"] = row["value"]
    names, systems = (list(dict.fromkeys(keys)) for keys in zip(*values, strict=True))
    titles = {name: printed_name(name) for name in names}
    table = Table(pad_edge=False, box=None)
    across = len(systems) <= _MOST_SYSTEMS
    table.add_column("measure" if across else " & ".join(by))
    for heading in systems if across else titles.values():
        table.add_column(heading, justify="right")
    for row in names if across else systems:
        cells = [(row, system) for system in systems] if across else [(name, row) for name in names]
        table.add_row(titles[row] if across else row, *(number_with_interval(values[cell]) for cell in cells))
    console.print(table)
    if found["group"].is_not_null().any():
        console.print("\nMeasures with a value for each group are in the files of --output DIR and in --json.")
