"""The verbs `model` and `strata` of the command line."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.text import per_cent
from fastfair.error_models.error_model import ErrorModel, error_model
from fastfair.error_models.fitting import UNITS
from fastfair.error_models.stratified_rates import MIXES, StratifiedRates, stratified_rates
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.io.comparisons import read_comparisons

from .options import CONFIDENCE_LEVEL, WRITING, Point, read_with, reading_options, with_options
from .output import deliver, files_of, require_output, with_inputs
from .terminal import Table, Terminal, say_json
from .verbs import Verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--at", type=Point(), metavar="POINT", required=True,
            help="Operating point: threshold=0.4, fmr=0.001, fnmr=0.05, eer or mean-group-eer.",
        ),
        click.option(
            "--rate", type=click.Choice(ERROR_RATES), default="fmr", show_default=True,
            help="False matches (fmr) or false non-matches (fnmr).",
        ),
        reading_options,
        click.option(
            "--unit", type=click.Choice(UNITS), default="subject", show_default=True, help="What is independent."
        ),
        CONFIDENCE_LEVEL,
        *WRITING,
        click.option("--plots", is_flag=True, help="With --output: draw the result, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


def _baselines(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for one in given:
        attribute, sign, value = one.partition("=")
        if not sign:
            raise click.BadParameter(f"{one!r} must be an attribute and a value, as in sex=m")
        found[attribute] = value
    return found


@click.command(
    "model",
    cls=Verb,
    summary="Tell what each attribute does to errors, others held fixed.",
    examples="""
    fastfair model scores.csv --at fmr=0.001 --group sex --group age
    fastfair model scores.csv --at threshold=0.6 --group sex --group age --baseline sex=m --output results
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--baseline", multiple=True, metavar="ATTRIBUTE=VALUE", callback=_baselines,
    help="Value with which the others are compared. May be repeated. [default: that of most comparisons]",
)  # fmt: skip
@_options
def model_command(
    scores: Path,
    at: OperatingPoint,
    baseline: dict[str, str],
    as_json: bool,
    output: Path | None,
    plots: bool,
    **options: Any,
) -> None:
    """Model errors of the file SCORES by all its groups at once: what does each attribute do, others held fixed?"""
    require_output(output, plots)
    comparisons = read_with(read_comparisons, scores, options)
    found = error_model(comparisons, list(comparisons.attributes), at, baseline=baseline, **options)
    deliver(
        output,
        partial(files_of, "model", found),
        (lambda: {"model": _figure(found)}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print_model, found),
    )


@click.command(
    "strata",
    cls=Verb,
    summary="Compare rates by one attribute within strata of others.",
    examples="""
    fastfair strata scores.csv --at fmr=0.001 --group sex --group age --by sex
    fastfair strata scores.csv --at fmr=0.001 --group sex --group age --by sex --mix equal --output results
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--by", metavar="ATTRIBUTE", required=True, help="Attribute whose values are compared; also a --group.")
@click.option(
    "--mix", type=click.Choice(MIXES), default="pooled", show_default=True,
    help="Shares of strata that rates are standardised to.",
)  # fmt: skip
@_options
def strata_command(
    scores: Path,
    by: str,
    at: OperatingPoint,
    as_json: bool,
    output: Path | None,
    plots: bool,
    **options: Any,
) -> None:
    """Compute rates of the file SCORES by one attribute, overall and within strata of its other groups."""
    require_output(output, plots)
    comparisons = read_with(read_comparisons, scores, options)
    strata = [name for name in comparisons.attributes if name != by]
    found = stratified_rates(comparisons, by, strata, at, **options)
    deliver(
        output,
        partial(files_of, "strata", found),
        (lambda: {"strata": _figure(found)}) if plots else None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else partial(_print_strata, found),
    )


def _figure(found: ErrorModel | StratifiedRates) -> Figure:
    with off_screen():
        return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure


def _number(value: float, form: str = ".3g") -> str:
    return "-" if math.isnan(value) else format(value, form)


def _print(summary: str, title: str, texts: tuple[str, ...], numbers: tuple[str, ...], rows: list[list[str]]) -> None:
    console = Terminal()
    console.print(summary)
    console.print(f"\n{title}", style="bold")
    table = Table(pad_edge=False, box=None)
    for head in texts:
        table.add_column(head)
    for head in numbers:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _print_model(found: ErrorModel) -> None:
    rows = [
        [
            effect.attribute, effect.value, effect.baseline, f"{effect.n_comparisons:,}", f"{effect.n_errors:,}",
            *map(_number, (effect.odds_ratio, effect.low, effect.high)),
            *(_number(100 * x) for x in (effect.difference, effect.difference_low, effect.difference_high)),
            _number(effect.pvalue, ".2g"),
        ]
        for effect in found.effects
    ]  # fmt: skip
    heads = ("comparisons", "errors", "odds ratio", "low", "high", "points", "low", "high", "p")
    _print(found.summary(), "Effects", ("attribute", "value", "against"), heads, rows)


def _print_strata(found: StratifiedRates) -> None:
    rows = [
        [
            row.group or "", row.stratum or ("same mix" if row.standardised else "overall"), f"{row.n_comparisons:,}",
            f"{row.n_errors:,}", *("-" if math.isnan(x) else per_cent(x) for x in (row.estimate, row.low, row.high)),
        ]
        for row in found.rates
    ]  # fmt: skip
    heads = ("comparisons", "errors", found.rate.upper(), "low", "high")
    _print(found.summary(), "Rates", (found.by, found.strata), heads, rows)
