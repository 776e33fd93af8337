"""Options that verbs of the command line share, and how their values are written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from fastfair import intervals, measures
from fastfair._lib import validation
from fastfair._lib.validation import SCORE_KINDS
from fastfair.data.failed_comparisons import FAILURES
from fastfair.data.label_conflicts import LABEL_CONFLICTS, SELF_COMPARISONS
from fastfair.data.look_alikes import LOOK_ALIKES
from fastfair.error_rates import operating_points, score_metrics
from fastfair.errors import InputError
from fastfair.evaluation.request import INCOMPLETE_GROUPS
from fastfair.group_tests.margins import QUANTILES
from fastfair.io.formats import FORMATS, UNMATCHED
from fastfair.io.metadata import METADATA_PER, MISSING_LABELS
from fastfair.measures._registry import measure_name
from fastfair.resampling.comparison_replicates import SCHEMES
from fastfair.resampling.units import UNITS

from .trial_vectors import VECTOR_OPTIONS, take_vectors
from .verbs import seeded

LEAST_REPLICATES = 2  # that limits are made of
MOST_CURVES = 8  # more groups than this have too many curves for one figure


class Point(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """An operating point."""

    name = "point"

    def convert(self, value: Any, param: Any, ctx: Any) -> operating_points.OperatingPoint:
        """Read kind=value, or the name of a kind that needs no value."""
        if isinstance(value, operating_points.OperatingPoint):
            return value
        try:
            return operating_points.read_point(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """One number, or several with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """Read numbers with commas between them."""
        if isinstance(value, tuple):
            return value
        if "%" in value:
            self.fail(f"{value!r} is a percentage: write the rate as a fraction, 0.01 for 1 %", param, ctx)
        try:
            return tuple(self.checked(float(part)) for part in value.split(","))
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def checked(self, number: float) -> float:
        """Return a number of the right kind and range."""
        return int(number) if number.is_integer() else number


class Rates(Numbers):
    """One error rate, or several with commas between them."""

    name = "rates"

    def checked(self, number: float) -> float:
        """Return a rate."""
        return validation.rate("fmr", number)


class _Measure(click.ParamType):  # type: ignore[type-arg]
    """A fairness measure by any of its names."""

    name = "measure"

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        self.known = known

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        try:
            return measure_name(value, self.known())
        except InputError as error:
            self.fail(str(error), param, ctx)


class _ZeroPolicy(click.ParamType):  # type: ignore[type-arg]
    name = "policy"

    def __init__(self, policies: Sequence[str]) -> None:
        self.policies = policies

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        if value in self.policies:
            return str(value)
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor one of {', '.join(self.policies)}", param, ctx)


class Folder(click.Path):
    """A folder to write to."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse an empty name, which would be the current folder."""
        if value == "":
            self.fail("the name is empty: name a folder, or . for the one you are in", param, ctx)
        return super().convert(value, param, ctx)


def _alpha(_context: click.Context, _param: click.Parameter, value: float) -> float:
    return validation.rate("alpha", value, one_allowed=True)


def _level(_context: click.Context, _param: click.Parameter, value: float) -> float:
    return intervals.level(value)


# Checked as soon as they are read, before any file is.
ALPHA = click.option(
    "--alpha", type=float, default=0.5, show_default=True, callback=_alpha, help="Weight of false matches, 0 to 1."
)
CONFIDENCE_LEVEL = click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, callback=_level,
    help="Confidence level of intervals, 0 to 1.",
)  # fmt: skip
METRICS = [
    click.option(
        "--eer-method", type=click.Choice(score_metrics.EER_METHODS), default="nearest", show_default=True,
        help="How the EER is read off the curve.",
    ),
    click.option(
        "--p-target", type=float, default=0.05, show_default=True,
        help="minDCF: prior probability of mated comparisons."
    ),
    click.option("--c-miss", type=float, default=1.0, show_default=True, help="minDCF: cost of a false non-match."),
    click.option("--c-fa", type=float, default=1.0, show_default=True, help="minDCF: cost of a false match."),
    click.option(
        "--normalize", is_flag=True,
        help="minDCF: divide it by the cost of accepting everything or of rejecting everything, whichever is lower.",
    ),
]  # fmt: skip
LIMITS = [  # of the verbs that judge by limits to one side
    click.option(
        "--n-resamples", type=click.IntRange(min=LEAST_REPLICATES), default=2000, show_default=True,
        help="Bootstrap replicates.",
    ),
    click.option(
        "--unit", type=click.Choice(UNITS), default="subject", show_default=True,
        help="What replicates draw with replacement, as for `evaluate`.",
    ),
    CONFIDENCE_LEVEL,
]  # fmt: skip
WRITING = [
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables."),
    click.option(
        "--output", type=Folder(), metavar="DIR",
        help="Folder to write the results to, as JSON and CSV.",
    ),
]  # fmt: skip
RUNNING = [
    click.option(
        "--seed", "rng", type=click.IntRange(min=0), callback=seeded,
        help="Seed: the same seed gives the same random numbers. [default: a random one, which is told]"
    ),
    click.option(
        "--n-threads", type=click.IntRange(min=1), help="Number of threads. [default: one for each processor]"
    ),
    click.option(
        "--progress/--no-progress", default=None, help="Show a progress bar. [default: if standard error is a terminal]"
    ),
    *WRITING,
]  # fmt: skip
CHECKPOINT = click.option(
    "--checkpoint", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Keep finished parts of the work there; the same command goes on from them after it was ended. Needs --seed.",
)  # fmt: skip
REPORT = click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE",
    help="Write one HTML page with everything: plots and tables; by evaluate also tests of groups and each attribute "
    "alone.",
)  # fmt: skip
PAGE = click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE", help="Write one HTML page with everything."
)  # fmt: skip
_PATTERN = click.option(
    "--subject-pattern", metavar="REGEX", help="Regular expression that finds subject ids in paths, as in '^([^/]+)/'."
)
_GROUP = click.option(
    "--group", "groups", multiple=True, metavar="ATTRIBUTE",
    help="Attribute whose labels are the groups; repeat for intersections. In score files: one column, or two whose "
    "names share it, as gender_1 and gender_2 do.",
)  # fmt: skip
_MISSING = click.option(
    "--missing-labels", type=click.Choice(MISSING_LABELS), default="error", show_default=True,
    help="Comparisons or vectors that lack a label: refuse, leave out, or take \"unknown\" for it.",
)  # fmt: skip
SUBJECTS = [
    _PATTERN,
    click.option(
        "--metadata", type=click.Path(path_type=Path), metavar="FILE", help="Table with one row for each subject."
    ),
    click.option("--metadata-id", metavar="COLUMN", help="Column of --metadata with subject ids."),
    _GROUP,
    _MISSING,
]
_DESCRIBED = [
    _PATTERN,
    click.option(
        "--metadata", type=click.Path(path_type=Path), metavar="FILE",
        help="Table with one row for each subject, sample or pair.",
    ),
    click.option(
        "--metadata-id", multiple=True, metavar="COLUMN",
        help="Column of --metadata with ids. Give two columns, of references and of probes, for a table of pairs.",
    ),
    click.option(
        "--metadata-per", type=click.Choice(METADATA_PER), default="subject", show_default=True,
        help="What --metadata-id names: subjects, or samples such as files.",
    ),
    click.option(
        "--metadata-subject", metavar="COLUMN",
        help="Column of --metadata with the subject of each sample, in place of --subject-pattern.",
    ),
    _GROUP,
    _MISSING,
]  # fmt: skip


def with_options(command: Any, options: list[Any]) -> Any:
    """Add options to a command, so that its help lists them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def evaluation_options(command: Any, *, plots: bool = True) -> Any:
    """Add the options that `evaluate`, `compare` and `demo` share; plots: whether the verb draws files."""
    options = [
        click.option(
            "--at", multiple=True, type=Point(), metavar="POINT",
            help="Operating point: fmr=0.001, fnmr=0.05, threshold=0.4, eer or mean-group-eer. May be repeated. "
            "[default: fmr=0.001]",
        ),
        measure_option(measures.MEASURES.keys, "all"),
        ALPHA,
        *METRICS,
        zero_policy_option(measures.ZERO_POLICIES),
        click.option(
            "--incomplete-groups", type=click.Choice(INCOMPLETE_GROUPS), default="raise", show_default=True,
            help="Groups without mated or non-mated comparisons: refuse, leave out of the measures, or NaN measures.",
        ),
        click.option(
            "--n-resamples", type=click.IntRange(min=0), default=2000, show_default=True,
            help="Number of bootstrap replicates; 0 for intervals of rates alone, in closed form.",
        ),
        click.option("--quick", is_flag=True, help="No replicates: intervals of rates alone, in closed form."),
        click.option(
            "--unit", type=click.Choice(UNITS), default="subject", show_default=True,
            help="What replicates draw with replacement: subjects inside each group, comparisons (too narrow where "
            "subjects repeat), samples inside each subject, or subjects and their samples.",
        ),
        CONFIDENCE_LEVEL,
        click.option(
            "--scheme", type=click.Choice(SCHEMES), default="dyadic", show_default=True,
            help="Weight of a comparison of two subjects: the product of their weights, or (dyadic) that product "
            "shrunk so that rates have the dyadic-robust variance.",
        ),
        *RUNNING,
        REPORT,
        click.option("--title", metavar="TEXT", help="With --report: the title of the page."),
    ]  # fmt: skip
    if plots:
        options.append(
            click.option(
                "--plots", is_flag=True, help="With --output: draw curves, scores, rates and measures as well."
            )
        )
    return with_options(command, options)


CLAIM = click.option(
    "--claim", "claims", multiple=True, metavar="STATEMENT",
    help='Claim to judge, as "fmr <= 1e-4" or "fnmr <= 2 %", at each --at that does not hold its rate. May be '
    "repeated.",
)  # fmt: skip


REQUIRE = click.option(
    "--require", "requirements", multiple=True, metavar="REQUIREMENT",
    help='With --report: what must hold, as "fnmr@fmr=0.001 <= 0.05" or "fnmr[*] <= 5 %", of each group; see '
    "`fastfair check`. May be repeated.",
)  # fmt: skip


def measure_option(names: Callable[[], Iterable[str]], default: str) -> Callable[[Any], Any]:
    """Make the option that chooses fairness measures."""
    return click.option(
        "--measure", "names", multiple=True, type=_Measure(names), metavar="NAME",
        help=f"Fairness measure, as FDR, garbe or \"inequity rate\". May be repeated. [default: {default}]",
    )  # fmt: skip


def zero_policy_option(policies: Sequence[str]) -> Callable[[Any], Any]:
    """Make the option that says how ratios treat rates of zero."""
    return click.option(
        "--zero-policy", type=_ZeroPolicy(policies), default="keep", show_default=True,
        help=f"What ratios do with group rates of zero: {', '.join(policies)}, or a rate to use instead.",
    )  # fmt: skip


def quantile_option(command: Any) -> Any:
    """Add the option that chooses the quantile of a margin of error."""
    return click.option(
        "--quantile", type=click.Choice(QUANTILES), default=QUANTILES[0], show_default=True,
        help="Quantile of the largest differences used as margin: the confidence level, or the paper's 1 - alpha/2.",
    )(command)  # fmt: skip


def method_option(methods: tuple[str, ...]) -> Callable[[Any], Any]:
    """Make the option that chooses an interval method; the first is the default."""
    return click.option(
        "--method", type=click.Choice(methods), default=methods[0], show_default=True,
        help="How intervals are computed from replicates.",
    )  # fmt: skip


FAILURE_SCORE = click.option(
    "--failure-score", type=float, metavar="SCORE", help="The score of failed comparisons, as -1."
)
_FAILURES = [
    click.option(
        "--failures", type=click.Choice(FAILURES), default="error", show_default=True,
        help="Comparisons that failed, whose score is empty, NaN or that of --failure-score: refuse, leave out of "
        "the scores and count, or count as non-matches, so that rates are FRR and FAR.",
    ),
    FAILURE_SCORE,
]  # fmt: skip


def reading_options(command: Any, failures: Sequence[Any] = _FAILURES) -> Any:
    """Add the options that say how score files are read; `failures` are those about failed comparisons."""
    options = [
        click.option(
            "--score", metavar="COLUMN", help="Column of scores; for .npz the name of the matrix. [default: score]"
        ),
        click.option(
            "--mated", metavar="COLUMN", help="Column of mated or non-mated. [default: mated, or same subjects]"
        ),
        click.option(
            "--mated-value", metavar="VALUE", help="Value that means mated, where labels are no common words for it."
        ),
        click.option(
            "--reference", metavar="COLUMN", help="Column of reference subjects or paths. [default: reference]"
        ),
        click.option("--probe", metavar="COLUMN", help="Column of probe subjects or paths. [default: probe]"),
        *_DESCRIBED,
        click.option(
            "--reference-group", "reference_group", multiple=True, metavar="COLUMN",
            help="Column with an attribute of the references; give --probe-group too. Repeat for intersections.",
        ),
        click.option(
            "--probe-group", "probe_group", multiple=True, metavar="COLUMN",
            help="Column with the same attribute of the probes, in the order of --reference-group.",
        ),
        click.option("--format", "format", type=click.Choice(["auto", *FORMATS]), default="auto", show_default=True),
        click.option(
            "--trials",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Trial list, if SCORES holds only scores.",
        ),
        *VECTOR_OPTIONS,
        click.option("--score-kind", type=click.Choice(SCORE_KINDS), default="similarity", show_default=True),
        click.option(
            "--label-conflicts", type=click.Choice(LABEL_CONFLICTS), default="raise", show_default=True,
            help="Comparisons whose mated label contradicts their subjects, or whose groups contradict --metadata: "
            "refuse, leave out, or keep as marked, with the groups of the metadata.",
        ),
        click.option(
            "--look-alikes", type=click.Choice(LOOK_ALIKES), default="warn", show_default=True,
            help="Names that differ in forms of Unicode or invisible characters, and groups that differ in letter "
            "case: warn, or take them for one.",
        ),
        click.option(
            "--impostor", type=click.Path(path_type=Path), metavar="FILE",
            help="Scores of non-mated comparisons, one on each line, where SCORES, or the file after --genuine, has "
            "those of mated ones alone.",
        ),
        click.option(
            "--unmatched", type=click.Choice(UNMATCHED), default="error", show_default=True,
            help="With --trials: trials without a score, and scores without a trial: refuse, or leave out.",
        ),
        click.option(
            "--keep", multiple=True, metavar="COLUMN",
            help="Column to show beside the worst comparisons, such as your own ids. May be repeated.",
        ),
        click.option(
            "--self-comparisons", type=click.Choice(SELF_COMPARISONS), default="drop", show_default=True,
            help="Comparisons of a sample with itself: leave out, or keep.",
        ),
        *failures,
    ]  # fmt: skip
    return with_options(command, options)


def read_with(reader: Callable[..., Any], path: Path, options: dict[str, Any]) -> Any:
    """Call a reader with the options that it takes, and remove these from `options`."""
    reference, probe = options.pop("reference_group", ()), options.pop("probe_group", ())
    if len(reference) != len(probe):
        raise click.UsageError(
            f"--reference-group is given {len(reference)} times and --probe-group {len(probe)} times: give both for "
            "each attribute"
        )
    if reference:
        options["groups"] = [*options["groups"], *zip(reference, probe, strict=True)]
    if "embeddings" in options:
        options["embeddings"] = take_vectors(options)
    names = [name for name in inspect.signature(reader).parameters if name in options]
    return reader(path, **{name: options.pop(name) for name in names})
