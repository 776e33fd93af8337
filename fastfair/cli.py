"""The command line: one verb a call."""

from __future__ import annotations

import gc
import inspect
import io
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import click
except ImportError:
    sys.exit('The fastfair command needs more packages: pip install "fastfair[cli]"')

from . import __version__, bands, curves, measures, operating_points
from ._asked import INCOMPLETE_GROUPS
from ._formats import FORMATS
from ._subjects import MISSING_METADATA
from ._terminal import print_contrasts, print_evaluation
from ._units import UNITS
from ._validation import SCORE_KINDS
from .errors import FastfairError, FastfairWarning
from .evaluation import evaluate
from .evaluation_result import Evaluation
from .intervals import METHODS_FOR_ANYTHING, METHODS_OF_EVALUATIONS
from .io import read_comparisons
from .paired import compare
from .resampling import SCHEMES

_POINTS = {
    "fmr": operating_points.at_fmr,
    "fnmr": operating_points.at_fnmr,
    "threshold": operating_points.at_threshold,
}
_POINTS_ALONE = {"eer": operating_points.at_eer, "mean-group-eer": operating_points.at_mean_group_eer}
_DEFAULT_POINTS = (operating_points.at_fmr(1e-3),)
_MOST_CURVES = 8  # groups beyond which their curves cannot be told apart in one figure


class _OperatingPoint(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    name = "point"

    def convert(self, value: Any, param: Any, ctx: Any) -> operating_points.OperatingPoint:
        if isinstance(value, operating_points.OperatingPoint):
            return value
        kind, _, number = value.lower().partition("=")
        if kind in _POINTS_ALONE and not number:
            return _POINTS_ALONE[kind]()
        if kind not in _POINTS or not number:
            known = ", ".join(["fmr=0.001", "fnmr=0.05", "threshold=0.4", *_POINTS_ALONE])
            self.fail(f"{value!r} is not an operating point: write one of {known}", param, ctx)
        if number.endswith("%"):
            self.fail(f"{value!r} is a percentage: write the rate as a fraction, 0.01 for 1 %", param, ctx)
        try:
            return _POINTS[kind](float(number))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _ZeroPolicy(click.ParamType):  # type: ignore[type-arg]
    name = "policy"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        if value in measures.ZERO_POLICIES:
            return str(value)
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor one of {', '.join(measures.ZERO_POLICIES)}", param, ctx)


def _evaluation_options(command: Any) -> Any:
    """Add the options of `evaluate` that every verb that evaluates takes."""
    options = [
        click.option(
            "--at", multiple=True, type=_OperatingPoint(), metavar="POINT",
            help="Operating point: fmr=0.001, fnmr=0.05, threshold=0.4, eer or mean-group-eer. May be repeated. "
            "[default: fmr=0.001]",
        ),
        click.option(
            "--measure", "names", multiple=True, type=click.Choice(list(measures.MEASURES)), metavar="NAME",
            help="Fairness measure, a function of fastfair.measures. May be repeated. [default: all]",
        ),
        click.option("--alpha", type=float, default=0.5, show_default=True, help="Weight of false matches, 0 to 1."),
        click.option(
            "--eer-method", type=click.Choice(curves.EER_METHODS), default="nearest", show_default=True,
            help="How the EER is read off the curve.",
        ),
        click.option("--p-target", type=float, default=0.05, show_default=True, help="minDCF: prior of mated."),
        click.option("--c-miss", type=float, default=1.0, show_default=True, help="minDCF: cost of a false non-match."),
        click.option("--c-fa", type=float, default=1.0, show_default=True, help="minDCF: cost of a false match."),
        click.option(
            "--zero-policy", type=_ZeroPolicy(), default="keep", show_default=True,
            help="What ratios make of group rates of zero: keep, raise, clopper-pearson, or a rate to stand in.",
        ),
        click.option(
            "--incomplete-groups", type=click.Choice(INCOMPLETE_GROUPS), default="raise", show_default=True,
            help="Groups without mated or non-mated comparisons: refuse, leave out of the measures, or NaN measures.",
        ),
        click.option(
            "--n-resamples", type=click.IntRange(min=0), default=2000, show_default=True,
            help="Bootstrap replicates; 0 for estimates alone.",
        ),
        click.option(
            "--unit", type=click.Choice(UNITS), default="subject", show_default=True,
            help="What replicates draw with replacement: subjects inside each group, comparisons (too narrow where "
            "subjects repeat), samples inside each subject, or subjects and their samples.",
        ),
        click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of intervals, 0 to 1."),
        click.option(
            "--scheme", type=click.Choice(SCHEMES), default="dyadic", show_default=True,
            help="Weights of comparisons of two subjects: shrunk to the dyadic-robust variance, or plain products.",
        ),
        click.option("--seed", "rng", type=click.IntRange(min=0), help="For the same replicates again."),
        click.option("--n-threads", type=click.IntRange(min=1), help="[default: all processors]"),
        click.option(
            "--progress/--no-progress", default=None, help="Show a bar. [default: where a person is watching]"
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables."),
        click.option(
            "--output", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
            help="Write the results there, as JSON and CSV.",
        ),
        click.option("--plots", is_flag=True, help="With --output: draw DET curves, det.png and det.svg."),
    ]  # fmt: skip
    return _with(command, options)


def _with(command: Any, options: list[Any]) -> Any:
    for option in reversed(options):
        command = option(command)
    return command


def _method_option(methods: tuple[str, ...]) -> Callable[[Any], Any]:
    """Add the choice of an interval method, the first by default."""
    return click.option(
        "--method", type=click.Choice(methods), default=methods[0], show_default=True,
        help="How intervals are made of replicates.",
    )  # fmt: skip


def _reading_options(command: Any) -> Any:
    """Add the options that say how score files are read."""
    options = [
        click.option(
            "--score", metavar="COLUMN", help="Column of scores; for .npz the name of the matrix. [default: score]"
        ),
        click.option(
            "--mated", metavar="COLUMN", help="Column that says who is mated. [default: mated, or same subjects]"
        ),
        click.option(
            "--reference", metavar="COLUMN", help="Column of reference subjects or paths. [default: reference]"
        ),
        click.option("--probe", metavar="COLUMN", help="Column of probe subjects or paths. [default: probe]"),
        click.option("--subject-pattern", metavar="REGEX", help="Cuts subject ids out of paths, as in '^([^/]+)/'."),
        click.option(
            "--metadata", type=click.Path(path_type=Path), metavar="FILE", help="Table with one row a subject."
        ),
        click.option("--metadata-id", metavar="COLUMN", help="Column of --metadata with subject ids."),
        click.option(
            "--group",
            "groups",
            multiple=True,
            metavar="ATTRIBUTE",
            help="Attribute that makes groups; repeat to intersect.",
        ),
        click.option("--format", "format", type=click.Choice(["auto", *FORMATS]), default="auto", show_default=True),
        click.option(
            "--trials",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Trial list, where SCORES holds scores alone.",
        ),
        click.option("--score-kind", type=click.Choice(SCORE_KINDS), default="similarity", show_default=True),
        click.option("--missing-metadata", type=click.Choice(MISSING_METADATA), default="raise", show_default=True),
        click.option("--allow-label-conflicts", is_flag=True, help="Keep mated flags that contradict the subjects."),
    ]
    return _with(command, options)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fastfair")
def cli() -> None:
    """Measure how well and how fairly a biometric verification system works."""


@cli.command("evaluate")
@click.argument("scores", type=click.Path(path_type=Path))
@_reading_options
@_evaluation_options
@_method_option(METHODS_OF_EVALUATIONS)
def evaluate_command(scores: Path, **options: Any) -> None:
    """Evaluate the comparisons of the file SCORES: error rates per group and fairness measures, with intervals."""
    _run(_read(scores, options), **options)


@cli.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--second-score", metavar="COLUMN", help="Column of SECOND's scores, where it is another.")
@click.option("--second-score-kind", type=click.Choice(SCORE_KINDS), help="Of SECOND, where it is another.")
@_reading_options
@_evaluation_options
@_method_option(METHODS_FOR_ANYTHING)
def compare_command(
    first: Path, second: Path, second_score: str | None, second_score_kind: str | None, **options: Any
) -> None:
    """Compare two systems' scores of the same comparisons, in the files FIRST and SECOND, replicate by replicate."""
    of_second = dict(options)
    if second_score is not None:
        of_second["score"] = second_score
    if second_score_kind is not None:
        of_second["score_kind"] = second_score_kind
    systems = _read(first, options), _read(second, of_second)
    as_json, output, plots = options.pop("as_json"), options.pop("output"), options.pop("plots")
    if plots:
        raise click.UsageError("--plots is for one system; evaluate each")
    at, names = options.pop("at"), options.pop("names")
    options["progress"] = _watched(options["progress"])
    found = compare(*systems, at or _DEFAULT_POINTS, names or "all", **options)
    if as_json:
        click.echo(found.to_json())
    else:
        print_contrasts(found)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        found.to_json(output / "comparison.json")
        found.to_frame("polars").write_csv(output / "comparison.csv")
        click.echo(f"Written: {output / 'comparison.json'}, {output / 'comparison.csv'}", err=True)


@cli.command("demo")
@click.option("--system", type=click.Choice(["resnetse34v2", "resnetse34l"]), default="resnetse34v2", show_default=True)
@_evaluation_options
@_method_option(METHODS_OF_EVALUATIONS)
def demo_command(system: str, **options: Any) -> None:
    """Evaluate real data: VoxCeleb1-H, 550,894 trials of 1,190 speakers, by gender and nationality."""
    from .datasets import voxceleb1_h

    _run(voxceleb1_h(system), **options)


def _read(path: Path, options: dict[str, Any]) -> Any:
    """Read comparisons by the options that say how, and take these out."""
    names = [name for name in inspect.signature(read_comparisons).parameters if name in options]
    return read_comparisons(path, **{name: options.pop(name) for name in names})


def _watched(progress: bool | None) -> bool:
    return sys.stderr.isatty() if progress is None else progress


def _run(
    comparisons: Any,
    *,
    at: tuple[operating_points.OperatingPoint, ...],
    names: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    plots: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    options["progress"] = _watched(progress)
    if plots and output is None:
        raise click.UsageError("--plots needs --output DIR")
    evaluation = evaluate(comparisons, at or _DEFAULT_POINTS, names or "all", **options)
    if as_json:
        click.echo(evaluation.to_json())
    else:
        print_evaluation(evaluation)
    if output is not None:
        written = _write(output, evaluation)
        if plots:
            shared = ("n_resamples", "unit", "confidence_level", "scheme", "n_threads")
            again = {name: options[name] for name in shared} | {"rng": evaluation.settings.get("rng")}
            written += _draw(output, comparisons, **again)
        click.echo(f"Written: {', '.join(map(str, written))}", err=True)


def _write(folder: Path, evaluation: Evaluation) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    evaluation.to_json(folder / "evaluation.json")
    evaluation.to_frame("polars").write_csv(folder / "evaluation.csv")
    return [folder / "evaluation.json", folder / "evaluation.csv"]


def _draw(folder: Path, comparisons: Any, n_resamples: int, **options: Any) -> list[Path]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 5.5), layout="constrained")
    axes = figure.add_subplot()
    curves.det(comparisons).plot(axes, label="all", color="black")
    if n_resamples:
        options |= {"n_resamples": n_resamples}
        bands.roc_band(comparisons, **options).plot(axes, det=True, color="black", linewidth=0)
    if 0 < len(comparisons.groups) <= _MOST_CURVES:
        for group in comparisons.groups:
            curves.det(comparisons.within_group(group)).plot(axes, label=group, linewidth=1)
        axes.legend()
    paths = [folder / "det.png", folder / "det.svg"]
    for path in paths:
        figure.savefig(path, dpi=200)
    return paths


def _in_options(message: str) -> str:
    """Say the library's arguments as options of the command line: `mated=` as `--mated`."""

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        known = {*(p.name for p in compare_command.params)}
        if name not in known:
            return match.group()
        flag = "--" + {"groups": "group"}.get(name, name).replace("_", "-")
        return flag if value in (None, "True") else f"{flag} {value.strip(chr(34))}"

    return re.sub(r'\b([a-z_]+)=(True|"[a-z+-]+"|\d+)?(?![\w=])', option, message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.secho(f"Warning: {_in_options(str(message))}", fg="yellow", err=True)


def main() -> None:
    """Run the command line: errors in a line, without a traceback."""
    warnings.simplefilter("always", FastfairWarning)
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # labels that the terminal's encoding lacks
    try:
        cli()
    except (FastfairError, OSError) as error:
        click.secho(f"Error: {_in_options(str(error))}", fg="red", err=True)
        sys.exit(2)
    finally:
        gc.freeze()  # spares the exit a search for garbage in all that the compiler loaded: a fifth of a short run
