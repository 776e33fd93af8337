"""The verb `claim` of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.text import p_value, per_cent
from fastfair.claims.claim import Claim, ClaimedRate, claim, read_statement
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import OperatingPoint

from .inputs import read_input, vectors_too
from .options import LEAST_REPLICATES, LIMITS, RUNNING, Point, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARED = ("n_resamples", "confidence_level", "unit", "rng", "n_threads", "progress")  # options that evaluations have


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--at", type=Point(), metavar="POINT", required=True,
            help="Operating point: threshold=0.4, fmr=0.001, fnmr=0.05, eer or mean-group-eer.",
        ),
        reading_options,
        vectors_too,
        *LIMITS,
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw the rates and their limits, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "claim",
    cls=Verb,
    summary='Judge whether scores support a claim such as "fmr <= 1e-4".',
    examples="""
    fastfair claim scores.csv "fmr <= 1e-4" --at threshold=0.62
    fastfair claim scores.csv "fnmr <= 2 %" --at fmr=0.001 --group sex --output results --plots
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@click.argument("statement")
@_options
def claim_command(
    scores: Path,
    statement: str,
    at: OperatingPoint,
    as_json: bool,
    output: Path | None,
    plots: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Judge whether the file SCORES supports the claim STATEMENT, such as "fmr <= 1e-4"."""
    require_output(output, plots)
    found = claim(read_input(scores, options), statement, at, progress=watched(progress), **options)
    deliver(
        output,
        partial(files_of, "claim", found),
        (lambda: {"claim": _figure(found)}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(print_claim, found),
    )


def check_claims(statements: Sequence[str], points: Sequence[OperatingPoint], n_resamples: int) -> None:
    """Refuse, before any work, claims that cannot be read or judged."""
    if statements and n_resamples < LEAST_REPLICATES:
        raise click.UsageError("--claim needs replicates: give --n-resamples 2 or more, and leave --quick out")
    for statement in statements:
        if not _points_of(statement, points):
            raise click.UsageError(
                f"--claim {statement!r}: each --at holds the rate that is claimed; add another, as threshold=0.4"
            )


def claims_of(
    comparisons: Comparisons | Embeddings,
    statements: Sequence[str],
    points: Sequence[OperatingPoint],
    options: Mapping[str, Any],
) -> list[Claim]:
    """Judge each claim at each operating point that does not hold the rate claimed."""
    shared = {name: options[name] for name in _SHARED}
    return [claim(comparisons, one, at, **shared) for one in statements for at in _points_of(one, points)]


def _points_of(statement: str, points: Sequence[OperatingPoint]) -> list[OperatingPoint]:
    return [at for at in points if at.kind != read_statement(statement)[0]]


def _figure(found: Claim) -> Figure:
    with off_screen():
        return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure


def print_claim(found: Claim) -> None:
    """Print a claim in sentences, and its rates as a table."""
    console = Terminal()
    console.print(found.summary())
    console.print("\nRates and their limits", style="bold")
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    heads = ("comparisons", "errors", "subjects", found.rate.upper(), "limit", "if independent", "p", "adjusted p")
    for head in heads:
        table.add_column(head, justify="right")
    table.add_column("verdict")
    for row in (found.overall, *found.groups):
        table.add_row(*_cells(row))
    console.print(table)


def _cells(row: ClaimedRate) -> tuple[str, ...]:
    rates = (row.estimate, row.limit, row.independent_limit)
    return (
        row.group or "all", f"{row.n_comparisons:,}", f"{row.n_errors:,}",
        "-" if row.n_subjects is None else f"{row.n_subjects:,}",
        *map(per_cent, rates),
        p_value(row.pvalue), p_value(row.pvalue_adjusted), row.verdict,
    )  # fmt: skip
