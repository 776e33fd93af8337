"""The verb `plan` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fastfair.io.failure_counts import read_failure_counts
from fastfair.planning.fnmr import METHODS, plan_margin, plan_power, plan_subjects
from fastfair.planning.plans import MarginPlan, PowerPlan, SubjectsPlan
from fastfair.planning.studies import SETTINGS

from .options import CONFIDENCE_LEVEL, RUNNING, Numbers, quantile_option, with_options
from .output import deliver, files_of, require_output, with_inputs
from .plan_fmr import plan_fmr_command
from .plan_tables import print_plan
from .terminal import say_json
from .verbs import VerbGroup, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plan = MarginPlan | PowerPlan | SubjectsPlan
_FLAGS = {
    "n_groups": ("--groups", "Groups compared."),
    "n_subjects": ("--subjects", "Subjects in each group; if left out, the plan computes them."),
    "n_attempts": ("--attempts", "Attempts of each subject."),
    "fnmr": ("--fnmr", "FNMR of the groups."),
    "correlation": ("--correlation", "Correlation between the decisions on one subject, 0 to 1."),
    "margin": ("--margin", "Largest margin of error allowed; the plan computes the subjects needed."),
    "assurance": (
        "--assurance",
        "Share of studies that are to stay within the margin of error. [default: 0.8 with --margin; without it, the "
        "margin is that for a known FNMR]",
    ),
    "difference": ("--difference", "Difference from --fnmr of the one group that a test should find."),
    "power": ("--power", "How often the test should find it; the plan computes the subjects needed. [default: 0.8]"),
}


def _options(command: Any) -> Any:
    options = [
        *(
            click.option(flag, name, type=Numbers(), metavar="NUMBERS", help=text)
            for name, (flag, text) in _FLAGS.items()
        ),
        click.option(
            "--pilot", type=click.Path(path_type=Path), metavar="FILE",
            help="Failure counts of a pilot, with columns attempts and failures: subjects have so many attempts as "
            "these, in place of --attempts.",
        ),
        click.option(
            "--goats", type=float,
            help="Share of subjects who fail often, all others being alike. [default: failures are beta-binomial]",
        ),
        CONFIDENCE_LEVEL,
        quantile_option,
        click.option(
            "--method", type=click.Choice(METHODS),
            help="Compute margins of error exactly, or from simulated studies as the paper does. [default: exact, but "
            "simulation with --pilot and --assurance]",
        ),
        click.option(
            "--n-simulations", type=click.IntRange(min=1),
            help="Simulated studies for each setting. [default: 1000 for margins of error, else 2000]",
        ),
        click.option(
            "--max-subjects", type=click.IntRange(min=1), help="Most subjects in a group to consider. [default: 100000]"
        ),
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw the plan as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.group(
    "plan",
    cls=VerbGroup,
    invoke_without_command=True,
    summary="Plan a study of groups' FNMRs: margins, power, subjects.",
    examples="""
    fastfair plan --groups 3,10 --subjects 100,400 --attempts 2 --fnmr 0.05 --correlation 0.25
    fastfair plan --groups 10 --attempts 2 --fnmr 0.05 --correlation 0.25 --margin 0.03
    fastfair plan --groups 10 --attempts 2 --fnmr 0.05 --correlation 0.25 --difference 0.05 --power 0.8
    fastfair plan --groups 10 --pilot counts.csv --fnmr 0.05 --correlation 0.25 --margin 0.03 --assurance 0.9
    """,
)
@_options
@click.pass_context
def plan_command(context: click.Context, /, *, as_json: bool, output: Path | None, plots: bool, **options: Any) -> None:
    """Plan a study of groups' FNMRs: its margin of error, its power, or how many subjects it needs.

    With the command `fmr`, plan a study that is to support a claimed FMR.

    Where NUMBERS is written, give one number or several with commas between them; every combination is planned.
    """
    if context.invoked_subcommand is not None:
        return
    require_output(output, plots)
    settings = {name: values for name in _FLAGS if (values := options.pop(name)) is not None}
    plan = _planned(settings, **options)
    deliver(
        output,
        partial(files_of, "plan", plan),
        partial(_figures, plan, settings) if plots else None,
        (lambda: say_json(with_inputs(plan.to_json()))) if as_json else partial(print_plan, plan),
    )


plan_command.add_command(plan_fmr_command)


def _planned(
    settings: dict[str, tuple[float, ...]],
    *,
    pilot: Path | None,
    method: str | None,
    n_simulations: int | None,
    max_subjects: int | None,
    progress: bool | None,
    n_threads: int | None,
    **level: Any,
) -> Plan:
    """Compute margins of error, power or subjects needed, whichever the settings are for."""
    asks_margin, asks_subjects = _asked(settings, pilot is not None)
    if method == "exact" and not asks_margin:
        raise click.UsageError("--method exact is for margins of error: power and subjects are always simulated")
    method = method or ("simulation" if pilot or "assurance" in settings else "exact")
    if n_simulations is not None and asks_margin and method == "exact":
        raise click.UsageError("--n-simulations goes with --method simulation")
    if max_subjects is not None and not asks_subjects:
        raise click.UsageError("--max-subjects goes with --margin or --difference, without --subjects")
    if n_simulations is not None:
        level["n_simulations"] = n_simulations
    if level["goats"] is None:
        del level["goats"]
    running: dict[str, Any] = {"method": method, "progress": watched(progress), "n_threads": n_threads}
    if asks_margin and len(settings.get("assurance", ())) == 1:
        level["assurance"] = settings["assurance"][0]
        settings = {name: values for name, values in settings.items() if name != "assurance"}
    grid: dict[str, Any] = dict(zip(settings, np.ix_(*map(np.array, settings.values())), strict=True))
    if pilot is not None:
        grid["attempts"] = read_failure_counts(pilot).attempts
    if asks_margin:
        return plan_margin(**grid, **level, **running)
    if max_subjects is not None:
        level["max_subjects"] = max_subjects
    return plan_subjects(**grid, **level) if asks_subjects else plan_power(**grid, **level)


def _asked(settings: dict[str, tuple[float, ...]], has_pilot: bool) -> tuple[bool, bool]:
    """Return whether to compute margins of error, and whether to compute subjects; if neither, it is the power.

    Options that do not go together are refused.
    """
    with_subjects = "n_subjects" in settings
    if not with_subjects and not {"margin", "difference"} & set(settings):
        raise click.UsageError(
            "nothing says what to plan. Give --subjects for the margin of error, --subjects and --difference for the "
            "power, --margin or --difference for the subjects needed"
        )
    if has_pilot and "n_attempts" in settings:
        raise click.UsageError("--pilot says how many attempts subjects make: leave --attempts out, or --pilot")
    known = {*settings, "n_subjects"} | ({"n_attempts"} if has_pilot else set())
    missing = [name for name in SETTINGS if name not in known]
    if missing:
        raise click.UsageError(f"a plan also needs {_flags(missing)}")
    if "margin" in settings and (with_subjects or "difference" in settings):
        raise click.UsageError(
            "--margin is for computing the subjects needed: leave --subjects and --difference out, or --margin"
        )
    if "power" in settings and (with_subjects or "difference" not in settings):
        raise click.UsageError("--power goes with --difference, without --subjects")
    if "assurance" in settings and "difference" in settings:
        raise click.UsageError("--assurance is for margins of error: leave --difference out, or --assurance")
    if with_subjects and len(settings.get("assurance", ())) > 1:
        raise click.UsageError("--assurance takes one number with --subjects")
    return with_subjects and "difference" not in settings, not with_subjects


def _flags(names: Any) -> str:
    return ", ".join(_FLAGS[name][0] for name in names)


def _figures(plan: Plan, settings: dict[str, tuple[float, ...]]) -> dict[str, Figure]:
    """Draw a plan over the setting with the most values."""
    from matplotlib.figure import Figure

    most = max(settings, key=lambda name: len(settings[name]))
    over = {name: f"wanted_{name}" for name in ("margin", "power", "assurance")}.get(most, most)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    plan.plot(figure.add_subplot(), over=over if len(settings[most]) > 1 else None)
    return {"plan": figure}
