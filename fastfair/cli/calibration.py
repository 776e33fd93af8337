"""The verb `calibration` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.text import number_with_interval
from fastfair.calibration.calibrate import BY, METHODS, calibrate
from fastfair.calibration.curves import Application
from fastfair.calibration.evaluate_calibration import evaluate_calibration
from fastfair.calibration.results import ApplicationCost, Calibration
from fastfair.errors import InputError
from fastfair.io.comparisons import read_comparisons
from fastfair.pages.report import report as write_report
from fastfair.resampling.units import UNITS

from .options import CONFIDENCE_LEVEL, PAGE, RUNNING, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb, input_files, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OF_TRAINING = ("p_target", "n_folds", "by", "group_wise")


class _Application(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """A prior, or a prior and two costs with commas between them."""

    name = "application"

    def convert(self, value: Any, param: Any, ctx: Any) -> Application:
        if isinstance(value, Application):
            return value
        parts = value.split(",")
        if len(parts) not in (1, 3):
            self.fail(f"{value!r} is neither a prior, as 0.01, nor a prior and two costs, as 0.05,1,10", param, ctx)
        try:
            return Application(*map(float, parts))
        except (ValueError, InputError) as error:
            self.fail(f"{value!r} is no application: {error}", param, ctx)


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--application", "applications", type=_Application(), multiple=True, metavar="PRIOR[,C_MISS,C_FA]",
            help="Prior of a mated comparison, and the costs of a false non-match and of a false match. May be "
            "repeated. [default: 0.01 and 0.5]",
        ),
        click.option("--normalize/--no-normalize", default=True, show_default=True, help="Costs as shares of those "
                     "without scores."),
        click.option(
            "--calibrate", "method", type=click.Choice(METHODS),
            help="Make log-likelihood ratios of the scores first, trained on other subjects.",
        ),
        click.option("--training-prior", "p_target", type=float, default=0.5, show_default=True,
                     help="With --calibrate logistic: the prior for which the line is to be the best."),
        click.option("--folds", "n_folds", type=click.IntRange(min=2), default=5, show_default=True,
                     help="With --calibrate: number of folds."),
        click.option("--by", type=click.Choice(BY), default="subject", show_default=True,
                     help="With --calibrate: what folds consist of."),
        click.option("--group-wise", is_flag=True, help="With --calibrate: a transform for each group."),
        reading_options,
        click.option(
            "--n-resamples", type=click.IntRange(min=2), default=2000, show_default=True, help="Bootstrap replicates."
        ),
        click.option(
            "--unit", type=click.Choice(UNITS), default="subject", show_default=True,
            help="What replicates draw with replacement, as for `evaluate`.",
        ),
        CONFIDENCE_LEVEL,
        *RUNNING,
        PAGE,
        click.option("--plots", is_flag=True, help="With --output: draw costs, errors over priors and Tippett plots."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "calibration",
    cls=Verb,
    summary="Tell what decisions by log-likelihood ratios cost.",
    examples="""
    fastfair calibration ratios.csv --score-kind log-likelihood-ratio --application 0.01 --application 0.05,1,10
    fastfair calibration scores.csv --calibrate logistic --group sex --report calibration.html
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@_options
def calibration_command(
    scores: Path,
    applications: tuple[Application, ...],
    method: str | None,
    as_json: bool,
    output: Path | None,
    report: Path | None,
    plots: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Tell what decisions by the log-likelihood ratios in the file SCORES cost, overall and in each group."""
    require_output(output, plots, report)
    comparisons = read_with(read_comparisons, scores, options)
    training = {name: options.pop(name) for name in _OF_TRAINING}
    if method is not None:
        comparisons = calibrate(comparisons, method, rng=options["rng"], **training).comparisons
    asked: dict[str, Any] = {"applications": applications} if applications else {}
    found = evaluate_calibration(comparisons, **asked, progress=watched(progress), **options)
    deliver(
        output,
        partial(files_of, "calibration", found),
        partial(_figures, found) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print, found),
        None if report is None else (report, lambda path: write_report(found, path, inputs=input_files())),
    )


def _figures(found: Calibration) -> dict[str, Figure]:
    with off_screen():
        axes = {
            "costs": found.plot(),
            "bayes_error": found.plot_bayes_error(),
            "normalized_bayes_error": found.plot_bayes_error(normalize=True),
            "tippett": found.plot_tippett(),
        }
        return {name: ax.figure for name, ax in axes.items()}  # type: ignore[misc]  # they are in no sub-figure


def _print(found: Calibration) -> None:
    """Print costs in sentences and tables."""
    console = Terminal()
    console.print(found.summary())
    for application in found.applications:
        console.print(f"\nDetection costs at {application}, threshold {application.threshold:.4g}", style="bold")
        table = Table(pad_edge=False, box=None)
        table.add_column("group")
        for head in ("actual", "minimum", "miscalibration", "FNMR", "FMR", "adjusted p"):
            table.add_column(head, justify="right")
        table.add_column("verdict")
        for row in found.costs:
            if row.application == application:
                table.add_row(*_cells(row))
        console.print(table)


def _cells(row: ApplicationCost) -> tuple[str, ...]:
    return (
        row.group or "all",
        number_with_interval(row.actual, row.actual_low, row.actual_high),
        number_with_interval(row.minimum, row.minimum_low, row.minimum_high),
        number_with_interval(row.miscalibration, row.miscalibration_low, row.miscalibration_high),
        *map(number_with_interval, (row.fnmr, row.fmr, row.pvalue_adjusted)),
        row.verdict,
    )
