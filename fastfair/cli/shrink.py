"""The verb `shrink` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.text import per_cent
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.evaluation.evaluate import evaluate
from fastfair.io.comparisons import read_comparisons
from fastfair.small_groups import ShrunkenRates, shrunken_rates

from .options import CONFIDENCE_LEVEL, RUNNING, Point, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--at", type=Point(), metavar="POINT", required=True,
            help="Operating point: threshold=0.4, fmr=0.001, fnmr=0.05, eer or mean-group-eer.",
        ),
        click.option(
            "--rate", type=click.Choice(ERROR_RATES), default="fnmr", show_default=True, help="The error rate."
        ),
        reading_options,
        click.option(
            "--n-resamples", type=click.IntRange(min=2), default=2000, show_default=True, help="Bootstrap replicates."
        ),
        CONFIDENCE_LEVEL,
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw raw and shrunken rates, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "shrink",
    cls=Verb,
    summary="Estimate rates of small groups with the help of the others.",
    examples="""
    fastfair shrink scores.csv --at fmr=0.001 --group nationality
    fastfair shrink scores.csv --at threshold=0.6 --group nationality --rate fmr --output results --plots
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@_options
def shrink_command(
    scores: Path,
    at: OperatingPoint,
    rate: str,
    as_json: bool,
    output: Path | None,
    plots: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Estimate the error rates of small groups in the file SCORES by drawing each towards the other groups."""
    require_output(output, plots)
    comparisons = read_with(read_comparisons, scores, options)
    evaluation = evaluate(
        comparisons, at, [], metrics=[], incomplete_groups="nan", progress=watched(progress), **options
    )  # fmt: skip
    found = shrunken_rates(evaluation, rate)
    deliver(
        output,
        partial(files_of, "shrunken", found),
        (lambda: {"shrunken": _figure(found)}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print, found),
    )


def _figure(found: ShrunkenRates) -> Figure:
    return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure


def _print(found: ShrunkenRates) -> None:
    console = Terminal()
    console.print(found.summary())
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    for head in ("comparisons", "errors", found.rate.upper(), "shrunken", "from the other groups"):
        table.add_column(head, justify="right")
    for k, group in enumerate(found.groups):
        raw, shrunken = (
            f"{per_cent(values[0][k])} [{per_cent(values[1][k])}, {per_cent(values[2][k])}]"
            for values in ((found.raw, found.raw_low, found.raw_high), (found.shrunken, found.low, found.high))
        )
        counts = f"{found.n_comparisons[k]:,}", f"{found.n_errors[k]:,}"
        table.add_row(group, *counts, raw, shrunken, f"{100 * found.borrowed[k]:.0f} %")
    console.print()
    console.print(table)
