"""The command line: `fastfair VERB ...`."""

from __future__ import annotations

import gc
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

try:
    import click
except ImportError:
    sys.exit('The fastfair command needs more packages: pip install "fastfair[cli]"')

from fastfair import __version__
from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import write_json
from fastfair._lib.validation import SCORE_KINDS
from fastfair.claims.check import check_evaluation, requirements_of
from fastfair.claims.claim import Claim
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates import operating_points
from fastfair.errors import FastfairError, FastfairWarning, visible
from fastfair.evaluation.compare import compare
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.paired_result import METHODS_OF_CONTRASTS, PairedEvaluation
from fastfair.evaluation.request import ALTERNATIVES
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.intervals import METHODS_OF_EVALUATIONS
from fastfair.measures._registry import measure_of
from fastfair.pages.report import TITLE
from fastfair.pages.report import report as write_report

from .apply import apply_command
from .calibration import calibration_command
from .check import check_command
from .claim import check_claims, claim_command, claims_of, print_claim
from .discard import discard_command
from .embeddings import embeddings_command
from .figures import figures_of
from .group_tests import fnmr_test_command, group_test_command
from .inputs import read_input, vectors_too
from .interrupts import leave_the_end_to_the_interrupt
from .measures import measures_command
from .model import model_command, strata_command
from .options import (
    CHECKPOINT,
    CLAIM,
    LEAST_REPLICATES,
    REQUIRE,
    evaluation_options,
    method_option,
    reading_options,
)
from .output import deliver, files_of, guard_streams, require_output, with_inputs
from .plan import plan_command
from .reports import results_of
from .shrink import shrink_command
from .synthesize import synthesize_command
from .system_tables import print_systems
from .tables import print_contrasts, print_evaluation, print_summary
from .terminal import harmless, say, say_json
from .verbs import Remaining, Verb, input_files, watched
from .warm_up import warm_up_command

_OF_THE_COMMAND_LINE = (
    "at",
    "names",
    "as_json",
    "output",
    "plots",
    "report",
    "title",
    "requirements",
    "claims",
)  # options that `evaluate` does not take
_DEFAULT_POINTS = (operating_points.at_fmr(1e-3),)


class _Verbs(click.Group):
    """The verbs; an interrupt ends them as in `end_at_once`, where click would print "Aborted!" and exit with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            leave_the_end_to_the_interrupt()
            raise


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fastfair")
def cli() -> None:
    """Measure how well and how fairly a biometric verification system works."""


@cli.command(
    "evaluate",
    cls=Verb,
    summary="Evaluate scores: error rates of groups, fairness, intervals.",
    examples="""
    fastfair evaluate scores.csv --group sex --group age --at fmr=0.001 --seed 1 --report report.html
    fastfair evaluate trials.txt --embeddings voices.npz --metadata speakers.csv --metadata-id id --group sex
    fastfair evaluate faces.npz --input vectors --group sex
    fastfair evaluate pairs.csv --mated same --reference file_1 --probe file_2 --subject-pattern '^([^/]+)/' --group sex
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@reading_options
@vectors_too
@evaluation_options
@method_option(METHODS_OF_EVALUATIONS)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default="two-sided",
    show_default=True,
    help="Intervals to both sides, upper limits (less) or lower limits (greater).",
)
@click.option("--simultaneous", is_flag=True, help="Intervals that hold in all groups together.")
@CHECKPOINT
@CLAIM
@REQUIRE
def evaluate_command(scores: Path, **options: Any) -> None:
    """Evaluate the comparisons of the file SCORES: error rates per group and fairness measures, with intervals.

    With --input vectors, these are all pairs of the vectors in SCORES. "all" metrics are then EER and minDCF.
    """
    require_output(options["output"], options["plots"], options["report"])
    _set_replicates(options)
    check_claims(options["claims"], options["at"] or _DEFAULT_POINTS, options["n_resamples"])
    _run(read_input(scores, options), **options)


@cli.command(
    "compare",
    cls=Verb,
    summary="Compare systems by scores of the same comparisons.",
    examples="""
    fastfair compare first.csv second.csv --group sex --at fmr=0.001
    fastfair compare old.csv new.csv small.csv --at fmr=0.001 --seed 1 --report report.html
    fastfair compare old.csv new.csv small.csv --baseline old --at fmr=0.001
    fastfair compare first.csv second.csv --second-score-kind distance --group sex --measure garbe --output results
    """,
)
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.argument("others", cls=Remaining, type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--baseline",
    metavar="SYSTEM",
    help="With OTHERS: the system that all others are compared with, by the name of its file without suffix. "
    "[default: every two are compared, and ranked]",
)
@click.option("--second-score", metavar="COLUMN", help="Column of SECOND's scores, if it differs from --score.")
@click.option(
    "--second-score-kind",
    type=click.Choice(SCORE_KINDS),
    help="Kind of SECOND's scores, if it differs from --score-kind.",
)
@click.option(
    "--second-embeddings",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Vectors of the second system, if --embeddings has those of the first: SECOND may be the same list.",
)
@reading_options
@vectors_too
@partial(evaluation_options, plots=False)
@method_option(METHODS_OF_CONTRASTS)
@CHECKPOINT
def compare_command(
    first: Path,
    second: Path,
    others: tuple[Path, ...],
    baseline: str | None,
    second_score: str | None,
    second_score_kind: str | None,
    second_embeddings: Path | None,
    **options: Any,
) -> None:
    """Compare systems, whose scores of the same comparisons are in the files FIRST, SECOND and OTHERS.

    With --input vectors, the files hold vectors of the same samples, row by row. More than two systems are called as
    their files are without suffix, and ranked.
    """
    of_second = {"score": second_score, "score_kind": second_score_kind, "embeddings": second_embeddings}
    of_second = {name: value for name, value in of_second.items() if value is not None}
    if others and of_second:
        raise click.UsageError("options of the second system go with two files, not with more")
    if baseline is not None and not others:
        raise click.UsageError("--baseline goes with three files or more")
    names = _names_of([first, second, *others])
    if baseline is not None and baseline not in names:
        raise click.UsageError(f"--baseline is {baseline!r}, but the systems are {', '.join(map(repr, names))}")
    output, as_json = options.pop("output"), options.pop("as_json")
    report, title = options.pop("report"), options.pop("title")
    require_output(output, report=report)
    _set_replicates(options)
    of_others = [options | of_second, *(dict(options) for _ in others)]
    systems = [read_input(first, options)]
    systems += [read_input(path, of_one) for path, of_one in zip((second, *others), of_others, strict=True)]
    at, measured = options.pop("at"), options.pop("names")
    options["progress"] = watched(options["progress"])
    found: PairedEvaluation | SystemComparison
    show: Callable[[], None]
    if others:
        named = dict(zip(names, systems, strict=True))
        found = compare(named, None, at or _DEFAULT_POINTS, measured or "all", baseline=baseline, **options)
        show = partial(print_systems, found)
    else:
        found = compare(systems[0], systems[1], at or _DEFAULT_POINTS, measured or "all", **options)
        show = partial(print_contrasts, found)
    deliver(
        output,
        lambda: {
            "comparison.json": partial(with_inputs, found.to_json()),
            "comparison.csv": partial(write_csv, found.to_frame("polars")),
        },
        None,
        (lambda: say_json(with_inputs(found.to_json()))) if as_json else show,
        None if report is None else (report, partial(found.report, title=title, inputs=input_files())),
    )


@cli.command(
    "demo",
    cls=Verb,
    summary="Evaluate real data: VoxCeleb1-H, 550,894 trials.",
    examples="""
    fastfair demo
    fastfair demo --system resnetse34l --at fmr=0.01 --report other.html
    """,
)
@click.option("--system", type=click.Choice(["resnetse34v2", "resnetse34l"]), default="resnetse34v2", show_default=True)
@evaluation_options
@method_option(METHODS_OF_EVALUATIONS)
@CLAIM
@REQUIRE
def demo_command(system: str, **options: Any) -> None:
    """Evaluate real data, VoxCeleb1-H by gender and nationality, and write a page about it: report.html."""
    from fastfair.datasets import voxceleb1_h

    if options["report"] is None:
        options["report"] = (options["output"] or Path()) / "report.html"
    require_output(options["output"], options["plots"], options["report"])
    _set_replicates(options)
    check_claims(options["claims"], options["at"] or _DEFAULT_POINTS, options["n_resamples"])
    _run(voxceleb1_h(system), short=True, **options)


for command in (
    check_command,
    apply_command,
    calibration_command,
    claim_command,
    discard_command,
    embeddings_command,
    fnmr_test_command,
    group_test_command,
    measures_command,
    model_command,
    plan_command,
    shrink_command,
    strata_command,
    synthesize_command,
    warm_up_command,
):
    cli.add_command(command)


def _names_of(files: Sequence[Path]) -> list[str]:
    """Name systems by their files: without suffix, or as given where others have the same name; files may repeat."""
    stems = [file.stem for file in files]
    names = [str(file) if stems.count(file.stem) > 1 else file.stem for file in files]
    repeats = [names[:k].count(name) for k, name in enumerate(names)]
    return [f"{name} ({1 + n})" if n else name for name, n in zip(names, repeats, strict=True)]


def _set_replicates(options: dict[str, Any]) -> None:
    if options.pop("quick"):
        options["n_resamples"] = 0


def _json_of(evaluation: Evaluation, claims: Sequence[Claim], path: Path | None = None) -> str:
    """Write an evaluation as JSON, with the claims about it."""
    text = evaluation.to_json()
    if claims:
        text = write_json(json.loads(text) | {"claims": [json.loads(one.to_json()) for one in claims]}, None)
    return with_inputs(text, path)


def _run(comparisons: Comparisons | Embeddings, *, short: bool = False, **options: Any) -> None:
    at, names, as_json, output, plots, report, title, requirements, statements = (
        options.pop(name) for name in _OF_THE_COMMAND_LINE
    )
    options["progress"] = watched(options["progress"])
    points, names = list(at or _DEFAULT_POINTS), names or "all"
    wanted = requirements_of(requirements, points[0]) if requirements else []
    if wanted and options["n_resamples"] < LEAST_REPLICATES:
        raise click.UsageError("--require needs replicates: give --n-resamples 2 or more, and leave --quick out")
    points += dict.fromkeys(one.at for one in wanted if one.at is not None and one.at not in points)
    if names != "all":
        names = [*names, *(measure.name for one in wanted if (measure := measure_of(one.name)))]

    def page(path: Path) -> None:
        results = results_of(evaluation, comparisons, points, names, options)
        write_report([*results, *checks, *claims], path, title=title or TITLE, inputs=input_files())

    def show() -> None:
        (print_summary if short else print_evaluation)(evaluation)
        for check in checks:
            say()
            say(check.summary())
        for one in claims:
            say()
            print_claim(one)

    evaluation = evaluate(comparisons, points, names, **options)
    checks = [check_evaluation(evaluation, wanted)] if wanted else []
    claims = claims_of(comparisons, statements, points, options)
    json_of = partial(_json_of, evaluation, claims)

    def files() -> dict[str, Callable[[Path], Any]]:
        found: dict[str, Callable[[Path], Any]] = {
            "evaluation.json": lambda path: json_of(path=path),
            "evaluation.csv": partial(write_csv, evaluation.to_frame("polars")),
        }
        for check in checks:
            found |= files_of("check", check)
        return found

    deliver(
        output,
        files,
        partial(figures_of, evaluation) if plots else None,
        (lambda: say_json(json_of())) if as_json else show,
        None if report is None else (report, page),
    )  # fmt: skip


_POINTS = ("fmr", "fnmr", "threshold")


def _in_options(message: str) -> str:
    """Replace names of arguments in a message by those of options: `mated=` by `--mated`, `n_groups` by `--groups`."""
    running = [cli.commands[name] for name in sys.argv[1:2] if name in cli.commands]
    commands = [*cli.commands.values(), *plan_command.commands.values(), *running]  # whose own names count
    params = [param for command in commands for param in command.params]
    flags = {param.name: param.opts[0] for param in params if isinstance(param, click.Option)}

    def option(match: re.Match[str]) -> str:
        name, value = match.group(1) or match.group(3), match.group(2)
        if name not in flags or (name in _POINTS and value is not None):  # fmr=0.001 is an operating point
            return match.group()
        return flags[name] if value in (None, "True") else f"{flags[name]} {value.strip(chr(34))}"

    with_value = r"""(?<!@)\b([a-z_]+)=(True|"[a-z+-]+"|'[^']*'|\d+)?(?![\w=])"""
    alone = r"(?<![\w'./])([a-z]+(?:_[a-z]+)+)(?![\w'./=(])"  # words of prose have no underscores
    return re.sub(f"{with_value}|{alone}", option, message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.secho(harmless(f"Warning: {_in_options(str(message))}"), fg="yellow", err=True)


def main() -> None:
    """Run the command line; print an error as one line, without a traceback."""
    warnings.simplefilter("always", FastfairWarning)
    warnings.showwarning = _show_warning
    guard_streams()
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        leave_the_end_to_the_interrupt()
        shown = io.StringIO()
        error.show(shown)
        click.echo(harmless(shown.getvalue()), err=True, nl=False)
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(1)
    except (FastfairError, OSError) as error:
        leave_the_end_to_the_interrupt()
        click.secho(harmless(f"Error: {visible(_in_options(str(error)))}"), fg="red", err=True)
        sys.exit(2)
    finally:
        gc.freeze()  # so that at exit Python does not search the compiler for garbage: a fifth of a short run
