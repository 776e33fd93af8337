"""The verb `group-test` of the command line."""

from __future__ import annotations

import json
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib.axes import off_screen
from fastfair._lib.csv_text import write_csv
from fastfair.data.failed_comparisons import FAILURES
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import FastfairWarning
from fastfair.group_tests.equal_rates import DEVIANCE, FMR_STATISTICS, FnmrTest, GroupTest, fmr_test, fnmr_test
from fastfair.group_tests.failure_counts import RATES_OF_SAMPLES
from fastfair.group_tests.margins import CENTERS, MarginOfError, margin_of_error
from fastfair.group_tests.replicates import POLICIES, STATISTICS
from fastfair.io.failure_counts import read_failure_counts

from .inputs import OPTIONS_OF_INPUT, ROLE_AND_TEMPLATE, SUBJECT_OF_VECTORS, read_input, refuse_options_of_others
from .options import (
    CONFIDENCE_LEVEL,
    FAILURE_SCORE,
    RUNNING,
    Point,
    quantile_option,
    reading_options,
    with_options,
)
from .output import deliver, require_output, with_inputs
from .tables import print_group_tests
from .terminal import say_json
from .verbs import Verb, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OF_SCORES = ("at", "fmr_statistic")
_OF_INPUT = {kind: (*names, *_OF_SCORES) for kind, names in OPTIONS_OF_INPUT.items()} | {
    "counts": ("failures", "attempts"),
    "decisions": ("failed", "subject", "failed_value"),
}
RATES = ("fnmr", "fmr", "both", *RATES_OF_SAMPLES)
_DEFAULT_POINT = at_fmr(1e-3)


def _options(command: Any) -> Any:
    options = [
        click.option(
            "--input", "kind", type=click.Choice(list(_OF_INPUT)), default="scores", show_default=True,
            help="What DATA is: scores as `evaluate` reads them; vectors, every two of which are compared; a table of "
            "failures and attempts with one row for each subject; or a table of decisions with one row for each "
            "attempt: to be recognised, or, with --rate fta or fte, to have a sample acquired or to be enrolled.",
        ),
        click.option(
            "--failures", metavar="COLUMN",
            help="Counts: failed attempts. [default: failures] Scores: what to do with comparisons that failed, error, "
            "exclude or non-match. [default: error]",
        ),
        click.option("--attempts", metavar="COLUMN", help="Counts: all attempts. [default: attempts]"),
        click.option("--failed", metavar="COLUMN", help="Decisions: whether it failed, 1 or 0. [default: failed]"),
        click.option("--failed-value", metavar="LABEL", help="Decisions: what the column says where one failed."),
        click.option(
            "--subject", metavar="NAME", help=f"Decisions: column of whose attempt it was. {SUBJECT_OF_VECTORS}"
        ),
        *ROLE_AND_TEMPLATE,
        click.option(
            "--at", type=Point(), metavar="POINT",
            help="Scores and vectors: operating point, fmr=0.001, fnmr=0.05, threshold=0.4, eer or mean-group-eer. "
            "[default: fmr=0.001]",
        ),
        click.option(
            "--rate", "tested", type=click.Choice(RATES),
            help="Error rates to test. Of counts and decisions fnmr, or the failure-to-acquire rate (fta) or "
            "failure-to-enrol rate (fte). [default: both, of scores and vectors; else fnmr]",
        ),
        partial(reading_options, failures=[FAILURE_SCORE]),
        click.option(
            "--statistic", type=click.Choice(STATISTICS), default="f", show_default=True,
            help="Test statistic: variance between groups over variance within (f), or largest difference of a group "
            "from the overall rate.",
        ),
        click.option(
            "--fmr-statistic", type=click.Choice(FMR_STATISTICS), default=DEVIANCE, show_default=True,
            help="Scores and vectors: the same of false match rates, or how improbable the groups' numbers of false "
            "matches are at one rate.",
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


@click.command(
    "group-test",
    cls=Verb,
    summary="Test whether error rates of groups differ by more than chance.",
    examples="""
    fastfair group-test scores.csv --group sex --at fmr=0.001
    fastfair group-test counts.csv --input counts --group sex --output results --plots
    """,
)
@click.argument("data", type=click.Path(path_type=Path))
@_options
def group_test_command(
    data: Path,
    *,
    kind: str,
    tested: str | None,
    as_json: bool,
    output: Path | None,
    plots: bool,
    **options: Any,
) -> None:
    """Test whether FNMRs, and FMRs, of groups in the file DATA differ by more than chance, with a margin of error."""
    require_output(output, plots)
    of_scores = [name for name in _OF_INPUT["scores"] if name != "failures" or options["failures"] in FAILURES]
    refuse_options_of_others(kind, _OF_INPUT | {"scores": of_scores})
    if kind not in OPTIONS_OF_INPUT and tested in ("fmr", "both"):
        raise click.UsageError(f"--rate {tested} needs scores, but --input is {kind}: they have failures only")
    if kind in OPTIONS_OF_INPUT and tested in RATES_OF_SAMPLES:
        raise click.UsageError(
            f"--rate {tested} needs samples that failed, but --input is {kind}: give --input decisions or counts"
        )
    found = _tested(data, kind, tested or ("both" if kind in OPTIONS_OF_INPUT else "fnmr"), options)
    deliver(
        output,
        partial(_files, found),
        (lambda: {name: _figure(result) for name, result in found.items()}) if plots else None,
        partial(say_json, _json(found))
        if as_json
        else partial(print_group_tests, _of_failures(found), found.get("margin"), found.get("fmr_test")),
    )


def _tested(data: Path, kind: str, tested: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read the data, and return the tests of each error rate, and the margin of error of that of failures."""
    at: OperatingPoint | None = options.pop("at")
    if kind in OPTIONS_OF_INPUT:
        options["failures"] = options["failures"] or FAILURES[0]
        read: Any = read_input(data, options | {"kind": kind})
        at = at or _DEFAULT_POINT
    else:
        named = {name: options.pop(name) for name in _OF_INPUT[kind]}
        about = {
            "groups": options["groups"] or "group",
            "rate": tested,
            "failed_value": named.pop("failed_value", None),
        }
        read = read_failure_counts(data, **{name: column or name for name, column in named.items()}, **about)
    shared = ("n_resamples", "confidence_level", "incomplete_groups", "rng", "n_threads")
    asked = {name: options[name] for name in shared} | {"progress": watched(options["progress"])}
    found: dict[str, Any] = {}
    if tested != "fmr":
        name = f"{tested if tested in RATES_OF_SAMPLES else 'fnmr'}_test"
        found[name] = fnmr_test(read, at, statistic=options["statistic"], **asked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)  # the test has given the same warnings
            found["margin"] = margin_of_error(read, at, quantile=options["quantile"], center=options["center"], **asked)
    if at is not None and tested != "fnmr":
        found["fmr_test"] = fmr_test(read, at, statistic=options["fmr_statistic"], **asked)
    return found


def _by_old_name(fmr: bool, tested: str | None, **options: Any) -> None:
    tested = tested or ("both" if fmr else "fnmr")
    click.get_current_context().invoke(group_test_command.callback, tested=tested, **options)  # type: ignore[arg-type]


fnmr_test_command = Verb(
    "fnmr-test",
    params=[
        *(param for param in group_test_command.params if param.name != "config"),
        click.Option(["--fmr"], is_flag=True, hidden=True),
    ],
    callback=_by_old_name,
    help=group_test_command.help,
    summary="The old name of group-test, until version 1.0; it tests FMRs if --fmr says so.",
    examples="fastfair fnmr-test scores.csv --group sex --at fmr=0.001 --fmr",
    hidden=True,
)


def _of_failures(found: dict[str, Any]) -> FnmrTest | None:
    return next((result for result in found.values() if isinstance(result, FnmrTest)), None)


def _json(found: dict[str, Any]) -> str:
    return with_inputs(json.dumps({name: json.loads(result.to_json()) for name, result in found.items()}))


def _files(found: dict[str, Any]) -> dict[str, Any]:
    tables = {}
    of_failures = _of_failures(found)
    if of_failures is not None:
        outside = found["margin"].to_frame("polars")["outside"]
        tables["groups"] = of_failures.to_frame("polars").with_columns(outside)
    if "fmr_test" in found:
        tables["groups_fmr"] = found["fmr_test"].to_frame("polars")
    return {f"{name}.json": partial(with_inputs, result.to_json()) for name, result in found.items()} | {
        f"{name}.csv": partial(write_csv, table) for name, table in tables.items()
    }


def _figure(found: GroupTest | MarginOfError) -> Figure:
    with off_screen():
        return found.plot().figure  # type: ignore[return-value]  # it is in no sub-figure
