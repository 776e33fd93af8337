"""The verb `fnmr-test` of the command line."""

from __future__ import annotations

import inspect
import json
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fastfair._lib.axes import off_screen
from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import write_json
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import FastfairWarning
from fastfair.group_tests.equal_rates import DEVIANCE, FMR_STATISTICS, fmr_test, fnmr_test
from fastfair.group_tests.inputs import POLICIES
from fastfair.group_tests.margins import CENTERS, MarginOfError, margin_of_error
from fastfair.group_tests.replicates import STATISTICS
from fastfair.group_tests.results import GroupTest
from fastfair.io.comparisons import read_comparisons
from fastfair.io.failure_counts import read_failure_counts

from .options import (
    CONFIDENCE_LEVEL,
    RUNNING,
    Point,
    quantile_option,
    read_with,
    reading_options,
    watched,
    with_options,
)
from .output import deliver, require_output
from .tables import print_group_tests

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Options that belong to one kind of input only; --group belongs to all.
_OF_INPUT = {
    "scores": (
        "at",
        "also_fmr",
        "fmr_statistic",
        "reference_group",
        "probe_group",
        *(name for name in inspect.signature(read_comparisons).parameters if name != "groups"),
    ),
    "counts": ("failures", "attempts"),
    "decisions": ("failed", "subject"),
}
_DEFAULT_POINT = at_fmr(1e-3)


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--input", "kind", type=click.Choice(list(_OF_INPUT)), default="scores", show_default=True,
            help="What DATA is: scores as `evaluate` reads them, a table of failures and attempts with one row for "
            "each subject, or a table of decisions with one row for each attempt.",
        ),
        click.option("--failures", metavar="COLUMN", help="Counts: failed attempts. [default: failures]"),
        click.option("--attempts", metavar="COLUMN", help="Counts: all attempts. [default: attempts]"),
        click.option("--failed", metavar="COLUMN", help="Decisions: whether it failed, 1 or 0. [default: failed]"),
        click.option("--subject", metavar="COLUMN", help="Decisions: whose attempt it was. [default: subject]"),
        click.option(
            "--at", type=Point(), metavar="POINT",
            help="Scores: operating point, fmr=0.001, fnmr=0.05, threshold=0.4, eer or mean-group-eer. "
            "[default: fmr=0.001]",
        ),
        click.option("--fmr", "also_fmr", is_flag=True, help="Scores: test false match rates as well."),
        reading_options,
        click.option(
            "--statistic", type=click.Choice(STATISTICS), default="f", show_default=True,
            help="Test statistic: variance between groups over variance within (f), or largest difference of a group "
            "from the overall rate.",
        ),
        click.option(
            "--fmr-statistic", type=click.Choice(FMR_STATISTICS), default=DEVIANCE, show_default=True,
            help="Scores: the same of false match rates, or how improbable the groups' numbers of false matches are at "
            "one rate.",
        ),
        click.option(
            "--n-resamples", type=click.IntRange(min=1), default=9999, show_default=True, help="Bootstrap replicates."
        ),
        CONFIDENCE_LEVEL,
        quantile_option,
        click.option(
            "--center", type=click.Choice(CENTERS), default="data", show_default=True,
            help="What the margin of error is measured from: the overall rate of the data, or of each replicate.",
        ),
        click.option(
            "--incomplete-groups", type=click.Choice(POLICIES), default="raise", show_default=True,
            help="Groups with too few subjects to estimate how much they vary: refuse, or leave out.",
        ),
        *RUNNING,
        click.option(
            "--plots", is_flag=True, help="With --output: draw the test and the margin of error, as PNG and SVG."
        ),
    ]  # fmt: skip
    return with_options(command, options)


@click.command("fnmr-test")
@click.argument("data", type=click.Path(path_type=Path))
@_options
@click.pass_context
def fnmr_test_command(
    context: click.Context,
    /,
    data: Path,
    *,
    kind: str,
    at: OperatingPoint | None,
    also_fmr: bool,
    statistic: str,
    fmr_statistic: str,
    quantile: str,
    center: str,
    as_json: bool,
    output: Path | None,
    plots: bool,
    **options: Any,
) -> None:
    """Test whether the FNMRs of groups in the file DATA differ by more than chance, and give a margin of error."""
    require_output(output, plots)
    _refuse_options_of_other_inputs(context, kind)
    if kind == "scores":
        read: Any = read_with(read_comparisons, data, options)
        at = at or _DEFAULT_POINT
    else:
        columns = {name: options.pop(name) or name for name in _OF_INPUT[kind]}
        read = read_failure_counts(data, groups=options["groups"] or "group", **columns)
    shared = ("n_resamples", "confidence_level", "incomplete_groups", "rng", "n_threads")
    asked = {name: options[name] for name in shared} | {"progress": watched(options["progress"])}
    test = fnmr_test(read, at, statistic=statistic, **asked)
    asked["rng"] = test.settings["rng"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastfairWarning)  # the test has given the same warnings
        margin = margin_of_error(read, at, quantile=quantile, center=center, **asked)
    found: dict[str, Any] = {"fnmr_test": test, "margin": margin}
    if also_fmr and at is not None:
        found["fmr_test"] = fmr_test(read, at, statistic=fmr_statistic, **asked)
    deliver(
        output,
        partial(_files, found),
        (lambda: {name: _figure(result) for name, result in found.items()}) if plots else None,
        partial(click.echo, _json(found)) if as_json else partial(print_group_tests, **found),
    )


def _refuse_options_of_other_inputs(context: click.Context, kind: str) -> None:
    for other, names in _OF_INPUT.items():
        for option in context.command.params:
            given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
            if given and other != kind and option.name in names:
                raise click.UsageError(f"{option.opts[0]} goes with --input {other}, but --input is {kind}")


def _json(found: dict[str, Any]) -> str:
    return write_json({name: json.loads(result.to_json()) for name, result in found.items()}, None)


def _files(found: dict[str, Any]) -> dict[str, Any]:
    tables = {
        "groups": found["fnmr_test"].to_frame("polars").with_columns(found["margin"].to_frame("polars")["outside"])
    }
    if "fmr_test" in found:
        tables["groups_fmr"] = found["fmr_test"].to_frame("polars")
    return {f"{name}.json": result.to_json for name, result in found.items()} | {
        f"{name}.csv": partial(write_csv, table) for name, table in tables.items()
    }


def _figure(found: GroupTest | MarginOfError) -> Figure:
    with off_screen():
        return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure
