"""The verb `apply` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.text import rate_with_interval
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.io.comparisons import read_comparisons
from fastfair.pages.report import report as write_report
from fastfair.thresholds.apply_threshold import AppliedThreshold, apply_threshold

from .options import CONFIDENCE_LEVEL, PAGE, WRITING, Point, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb, input_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--development", type=click.Path(path_type=Path), metavar="FILE", required=True,
            help="Score file of the development data, on which the threshold is found; read as SCORES is.",
        ),
        click.option(
            "--at", type=Point(), metavar="POINT", required=True,
            help="What the development data hold: fmr=0.001, fnmr=0.05 or eer.",
        ),
        reading_options,
        CONFIDENCE_LEVEL,
        *WRITING,
        click.option("--plots", is_flag=True, help="With --output: draw FMR and FNMR, as PNG and SVG."),
        PAGE,
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "apply",
    cls=Verb,
    summary="Apply a threshold that development data give.",
    examples="""
    fastfair apply scores.csv --development dev.csv --at fmr=0.001 --group sex
    fastfair apply scores.csv --development dev.csv --at eer --output results --plots
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@_options
def apply_command(
    scores: Path,
    development: Path,
    at: OperatingPoint,
    as_json: bool,
    output: Path | None,
    plots: bool,
    report: Path | None,
    **options: Any,
) -> None:
    """Compute error rates of the file SCORES at a threshold found on development data, whose uncertainty is kept."""
    require_output(output, plots, report)
    again = dict(options)
    comparisons = read_with(read_comparisons, scores, options)
    found = apply_threshold(comparisons, at, read_with(read_comparisons, development, again), **options)
    deliver(
        output,
        partial(files_of, "applied", found),
        (lambda: {f"applied_{rate}": _figure(found, rate) for rate in ERROR_RATES}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print, found),
        None if report is None else (report, partial(write_report, found, inputs=input_files())),
    )


def _figure(found: AppliedThreshold, rate: str) -> Figure:
    with off_screen():
        return found.plot(rate=rate).figure  # type: ignore[return-value]  # it is in no sub-figure


def _print(found: AppliedThreshold) -> None:
    console = Terminal()
    console.print(found.summary())
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    for head in ("rate", "comparisons", "errors", "with the threshold's uncertainty", "for this very threshold"):
        table.add_column(head, justify="right")
    for row in found.rates:
        table.add_row(
            row.group or "all", row.name.upper(), f"{row.n_comparisons:,}", f"{row.n_errors:,}",
            rate_with_interval(row.estimate, row.low, row.high),
            rate_with_interval(row.estimate, row.given_low, row.given_high),
        )  # fmt: skip
    console.print()
    console.print(table)
