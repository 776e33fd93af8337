"""The verb `check` of the command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair import measures
from fastfair._lib.axes import off_screen
from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import write_json
from fastfair.claims.check import MET, NOT_MET, Check, CheckedQuantity, check, written_value
from fastfair.claims.judging import UNDECIDED
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import visible
from fastfair.evaluation.worst_comparisons import WorstComparisons, worst_comparisons
from fastfair.io.comparisons import read_comparisons
from fastfair.pages.report import report as write_report

from .options import (
    ALPHA,
    LIMITS,
    METRICS,
    PAGE,
    RUNNING,
    Point,
    read_with,
    reading_options,
    with_options,
    zero_policy_option,
)
from .output import deliver, files_of, require_output, with_inputs
from .tables import print_titled
from .terminal import Table, Terminal, say_json
from .verbs import Verb, input_files, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXIT_CODES = {MET: 0, NOT_MET: 1, UNDECIDED: 3}  # 2 is that of wrong options, files and requirements
_DEFAULT_POINT = at_fmr(1e-3)


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--require", "requirements", multiple=True, required=True, metavar="REQUIREMENT",
            help='What must hold, as "fnmr@fmr=0.001 <= 0.05", "fnmr[*] <= 5 %", of each group, or '
            '"max_geomean_ratio(fnmr) <= 1.5". May be repeated.',
        ),
        click.option(
            "--at", type=Point(), metavar="POINT", default=None,
            help="Operating point of requirements that name none: fmr=0.001, fnmr=0.05, threshold=0.4, eer or "
            "mean-group-eer. [default: fmr=0.001]",
        ),
        click.option(
            "--allow-undecided", is_flag=True,
            help="Exit with 0 also where the data do not decide; without it, with 3.",
        ),
        reading_options,
        ALPHA,
        *METRICS,
        zero_policy_option(measures.ZERO_POLICIES),
        *LIMITS,
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw limits and what is required, as PNG and SVG."),
        PAGE,
        click.option(
            "--worst", type=click.IntRange(min=0), default=0, metavar="N",
            help="List the N worst comparisons behind each rate that is not met or undecided.",
        ),
        click.option(
            "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the verdicts as JUnit XML, too."
        ),
        click.option(
            "--github/--no-github", default=None,
            help="Print annotations of GitHub Actions to standard error. [default: if GITHUB_ACTIONS is true]",
        ),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "check",
    cls=Verb,
    summary="Pass or fail requirements, by confidence limits; for CI.",
    examples="""
    fastfair check scores.csv --require "fnmr@fmr=0.001 <= 0.05" --require "max_geomean_ratio(fnmr) <= 1.5" --group sex
    fastfair check scores.csv --require "fnmr[*] <= 5 %" --group sex --seed 0 --worst 50 --junit results/fastfair.xml
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@_options
def check_command(
    scores: Path,
    requirements: tuple[str, ...],
    at: OperatingPoint | None,
    allow_undecided: bool,
    as_json: bool,
    output: Path | None,
    plots: bool,
    report: Path | None,
    worst: int,
    junit: Path | None,
    github: bool | None,
    progress: bool | None,
    **options: Any,
) -> None:
    """Judge whether the file SCORES shows that requirements are met, by confidence limits instead of estimates.

    Exit codes: 0 if all are met, 1 if one is not, 3 if the data do not decide, 2 for wrong options and files.
    """
    require_output(output, plots, report)
    require_output(None, report=junit, option="--junit")
    comparisons = read_with(read_comparisons, scores, options)
    found = check(
        comparisons, requirements, at or _DEFAULT_POINT, progress=watched(progress), allow_undecided=allow_undecided,
        **options,
    )  # fmt: skip
    listed = _worst(comparisons, found, worst) if worst else []
    json_of = partial(_json_of, found, listed)
    deliver(
        output,
        lambda: files_of("check", found) | {"check.json": lambda path: json_of(path=path)} | _files(listed),
        (lambda: {"check": _figure(found)}) if plots else None,
        (lambda: say_json(json_of())) if as_json else partial(_print, found, listed),
        None if junit is None else (junit, found.to_junit),
        None if report is None else (report, partial(write_report, found, inputs=input_files())),
    )
    if os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github:
        for line in github_lines(found, allow_undecided):
            click.echo(line, err=True)
    sys.exit(EXIT_CODES[MET if found.passed else found.verdict])


def _worst(comparisons: Comparisons, found: Check, n: int) -> list[tuple[str, WorstComparisons]]:
    """List the comparisons behind each rate that is not shown to be as required."""
    wanted: dict[str, CheckedQuantity] = {}
    for row in found.rows:
        if row.verdict != MET and row.name in ("fmr", "fnmr"):
            wanted.setdefault(row.title, row)
    return [
        (title, worst_comparisons(comparisons, row.at, row.group, n, rate=row.name))
        for title, row in wanted.items()
        if row.at is not None
    ]


def _files(listed: Sequence[tuple[str, WorstComparisons]]) -> dict[str, Any]:
    names = [f"worst_{k}" if len(listed) > 1 else "worst" for k in range(1, len(listed) + 1)]
    return {
        f"{name}.csv": partial(write_csv, found.to_frame("polars"))
        for name, (_, found) in zip(names, listed, strict=True)
    }


def _json_of(found: Check, listed: Sequence[tuple[str, WorstComparisons]], path: Path | None = None) -> str:
    text = found.to_json()
    if listed:
        worst = [{"of": title} | json.loads(one.to_json()) for title, one in listed]
        text = write_json(json.loads(text) | {"worst": worst}, None)
    return with_inputs(text, path)


def _figure(found: Check) -> Figure:
    with off_screen():
        return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure


def github_lines(found: Check, allow_undecided: bool) -> list[str]:
    """Return one line for each quantity that is not met or undecided, as GitHub Actions shows it beside a run."""
    lines = []
    for row in found.rows:
        if row.verdict != MET:
            kind = "warning" if allow_undecided and row.verdict == UNDECIDED else "error"
            title = _escaped(f"fastfair check, {row.verdict}").replace(":", "%3A").replace(",", "%2C")
            told = f"{visible(row.requirement)}: {visible(row.title)}: {visible(row.reason)}"
            lines.append(f"::{kind} title={title}::{_escaped(told)}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _print(found: Check, listed: Sequence[tuple[str, WorstComparisons]]) -> None:
    """Print the verdicts in sentences, all limits as a table, and the worst comparisons."""
    console = Terminal()
    console.print(found.summary())
    table = Table(pad_edge=False, box=None)
    table.add_column("quantity")
    for heading in ("required", "estimate", "limit", "comparisons", "errors", "subjects"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for row in found.rows:
        table.add_row(
            row.title, f"{row.relation} {written_value(row.name, row.bound)}",
            *(written_value(row.name, value) for value in (row.estimate, row.limit)),
            *("" if number is None else f"{number:,}" for number in (row.n_comparisons, row.n_errors, row.n_subjects)),
            row.verdict,
        )  # fmt: skip
    print_titled(console, f"Quantities and their {100 * found.confidence_level:g} % limits", table)
    for title, one in listed:
        print_titled(console, f"The worst comparisons behind the {title}", one.summary())
        frame = one.to_frame("polars")
        table = Table(pad_edge=False, box=None)
        for name in frame.columns:
            table.add_column(name.replace("_", " "))
        for cells in frame.iter_rows():
            table.add_row(*(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells))
        console.print(table)
