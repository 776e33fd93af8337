"""The verb `discard` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.text import per_cent, rate_with_interval
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.io.comparisons import read_comparisons
from fastfair.pages.report import report as write_report
from fastfair.quality.discard_curve import RATES, SHARES, SHOWN, DiscardCurve, discard_curve

from .options import CONFIDENCE_LEVEL, PAGE, WRITING, Point, Rates, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb, input_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--at", type=Point(), metavar="POINT", required=True,
            help="Operating point, found before anything is discarded: threshold=0.4, fmr=0.001, fnmr=0.05, eer or "
            "mean-group-eer.",
        ),
        click.option(
            "--quality", metavar="COLUMN",
            help="Column with the quality of the comparison, or what the names of two columns share, as "
            "reference_quality and probe_quality do. [default: quality]",
        ),
        click.option("--reference-quality", metavar="COLUMN", help="Column with the quality of the references."),
        click.option("--probe-quality", metavar="COLUMN", help="Column with the quality of the probes."),
        click.option("--rate", type=click.Choice(RATES), default="fnmr", show_default=True, help="The error rate."),
        click.option(
            "--fractions", type=Rates(), metavar="SHARES",
            help="Shares to discard, ascending, as in 0,0.1,0.2. [default: 0 to 0.5 in steps of 0.05]",
        ),
        click.option(
            "--share-of", type=click.Choice(SHARES), default="comparisons", show_default=True,
            help="Whether shares are of comparisons or of samples.",
        ),
        reading_options,
        CONFIDENCE_LEVEL,
        *WRITING,
        click.option("--plots", is_flag=True, help="With --output: draw rates and shares, as PNG and SVG."),
        PAGE,
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "discard",
    cls=Verb,
    summary="Tell what an error rate becomes when low quality is discarded.",
    examples="""
    fastfair discard scores.csv --at fmr=0.001 --quality quality --group sex
    fastfair discard scores.csv --at threshold=0.6 --reference-quality q1 --probe-quality q2 --output results --plots
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@_options
def discard_command(
    scores: Path,
    at: OperatingPoint,
    quality: str | None,
    reference_quality: str | None,
    probe_quality: str | None,
    fractions: tuple[float, ...] | None,
    as_json: bool,
    output: Path | None,
    plots: bool,
    report: Path | None,
    **options: Any,
) -> None:
    """Compute error rates of the file SCORES after discarding comparisons of low quality, and whose these are."""
    require_output(output, plots, report)
    if (reference_quality is None) != (probe_quality is None) or (quality and reference_quality):
        raise click.UsageError("give --quality, or both of --reference-quality and --probe-quality")
    pair = reference_quality and probe_quality and (reference_quality, probe_quality)
    options["quality"] = pair or quality or "quality"
    comparisons = read_with(read_comparisons, scores, options)
    if fractions is not None:
        options["fractions"] = fractions
    found = discard_curve(comparisons, at, **options)
    deliver(
        output,
        partial(files_of, "discard", found),
        (lambda: {f"discard_{show}": _figure(found, show) for show in SHOWN}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print, found),
        None if report is None else (report, partial(write_report, found, inputs=input_files())),
    )


def _figure(found: DiscardCurve, show: str) -> Figure:
    with off_screen():
        return found.plot(show=show).figure  # type: ignore[return-value]  # it is in no sub-figure


def _print(found: DiscardCurve) -> None:
    console = Terminal()
    console.print(found.summary())
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    for head in ("to discard", "quality below", "discarded", "comparisons", "errors", found.rate.upper()):
        table.add_column(head, justify="right")
    for row in found.rates:
        discarded = rate_with_interval(row.discarded, row.discarded_low, row.discarded_high)
        table.add_row(
            row.group or "all", per_cent(row.fraction), f"{row.cut:g}",
            per_cent(row.discarded) if row.group is None else discarded, f"{row.n_comparisons:,}",
            f"{row.n_errors:,}", rate_with_interval(row.estimate, row.low, row.high),
        )  # fmt: skip
    console.print()
    console.print(table)
