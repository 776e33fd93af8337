"""The verb `plan fmr` of the command line."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.io.comparisons import read_comparisons
from fastfair.planning.fmr import FmrPlan, plan_fmr

from .options import CONFIDENCE_LEVEL, RUNNING, Point, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _options(command: Any) -> Any:
    options = [
        click.option("--claimed", type=float, required=True, help="What the FMR is claimed not to exceed."),
        click.option("--fmr", type=float, help="True FMR to be expected. [default: that of the pilot]"),
        click.option(
            "--covariance", type=float,
            help="Relative covariance of false matches that share a subject. [default: that of the pilot]",
        ),
        click.option(
            "--again", type=float,
            help="Chance that another comparison of two subjects is a false match where one is. [default: that of the "
            "pilot]",
        ),
        click.option("--pilot", type=click.Path(path_type=Path), metavar="FILE", help="Scores of a pilot."),
        click.option("--at", type=Point(), metavar="POINT", help="Operating point of the pilot, as threshold=0.4."),
        click.option(
            "--partners", "n_partners", type=click.IntRange(min=1),
            help="How many others, drawn at random, each subject is compared with. [default: all]",
        ),
        click.option(
            "--samples", "n_samples", type=click.IntRange(min=1), default=1, show_default=True,
            help="Samples of each subject.",
        ),
        click.option(
            "--assurance", type=float, default=0.8, show_default=True,
            help="Share of studies whose upper limit is to be at most what is claimed.",
        ),
        click.option(
            "--n-simulations", type=click.IntRange(min=1), default=1000, show_default=True,
            help="Simulated studies for each number of subjects.",
        ),
        click.option(
            "--max-subjects", type=click.IntRange(min=5), default=100_000, show_default=True,
            help="Most subjects to consider.",
        ),
        CONFIDENCE_LEVEL,
        reading_options,
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw the limits over subjects, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "fmr",
    cls=Verb,
    summary="Plan how many subjects support a claimed FMR.",
    examples="""
    fastfair plan fmr --claimed 1e-4 --fmr 5e-5 --covariance 1.2
    fastfair plan fmr --claimed 1e-4 --pilot scores.csv --at threshold=0.6 --partners 50
    """,
)
@_options
def plan_fmr_command(
    *,
    pilot: Path | None,
    at: OperatingPoint | None,
    as_json: bool,
    output: Path | None,
    plots: bool,
    progress: bool | None,
    n_threads: int | None,
    **options: Any,
) -> None:
    """Plan how many subjects support a claimed FMR, whose false matches come together by subject."""
    require_output(output, plots)
    read = None if pilot is None else read_with(read_comparisons, pilot, options)
    taken = inspect.signature(plan_fmr).parameters  # without a pilot, the options of its columns are left
    plan = plan_fmr(pilot=read, at=at, **{name: value for name, value in options.items() if name in taken})
    deliver(
        output,
        partial(files_of, "plan_fmr", plan),
        (lambda: {"plan_fmr": _figure(plan)}) if plots else None,
        (lambda: say_json(with_inputs(plan.to_json()))) if as_json else partial(_print, plan),
    )


def _figure(plan: FmrPlan) -> Figure:
    return plan.plot().figure  # type: ignore[return-value]  # it is in no sub-figure


def _print(plan: FmrPlan) -> None:
    console = Terminal()
    console.print(plan.summary())
    console.print("\nWhat studies of other sizes find", style="bold")
    table = Table(pad_edge=False, box=None)
    kept = f"limit {100 * plan.wanted_assurance:g} % keep"
    for head in ("subjects", "pairs", "comparisons", "false matches", "limit", kept, "assurance", "if independent"):
        table.add_column(head, justify="right")
    for one in plan.studies:
        rates = (one.limit, one.limit_assured, one.assurance, one.independent_limit)
        counts = (one.n_subjects, one.n_pairs, one.n_comparisons)
        table.add_row(*(f"{n:,}" for n in counts), f"{one.expected_errors:.3g}", *map(per_cent, rates))
    console.print(table)
