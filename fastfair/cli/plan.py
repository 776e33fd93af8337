"""The verb `plan` of the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fastfair._lib.csv_text import write_csv
from fastfair._lib.tables import write_json
from fastfair.planning.plan import METHODS, margin_study, plan_margin, plan_power, plan_subjects
from fastfair.planning.plans import SETTINGS, MarginPlan, PowerPlan, SubjectsPlan

from .options import CONFIDENCE_LEVEL, RUNNING, Numbers, quantile_option, watched, with_options
from .output import deliver, require_output
from .tables import print_plan

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
    "difference": ("--difference", "Difference from --fnmr of the one group that a test should find."),
    "power": ("--power", "How often the test should find it; the plan computes the subjects needed. [default: 0.8]"),
}

_EXAMPLES = """\b
fastfair plan --groups 3,10 --subjects 100,400 --attempts 2 --fnmr 0.05 --correlation 0.25
fastfair plan --groups 10 --attempts 2 --fnmr 0.05 --correlation 0.25 --margin 0.03
fastfair plan --groups 10 --attempts 2 --fnmr 0.05 --correlation 0.25 --difference 0.05 --power 0.8
"""


def _options(command: Any) -> Any:
    options = [
        *(
            click.option(flag, name, type=Numbers(), metavar="NUMBERS", help=text)
            for name, (flag, text) in _FLAGS.items()
        ),
        click.option(
            "--study", is_flag=True, help="Plan the 4,000 settings of the paper's study, instead of the options above."
        ),
        CONFIDENCE_LEVEL,
        quantile_option,
        click.option(
            "--method", type=click.Choice(METHODS), default="exact", show_default=True,
            help="Compute margins of error exactly, or from simulated studies as the paper does.",
        ),
        click.option(
            "--n-simulations", type=click.IntRange(min=1), help="Simulated studies for each setting. [default: 1000]"
        ),
        click.option(
            "--max-subjects", type=click.IntRange(min=1), help="Most subjects in a group to consider. [default: 100000]"
        ),
        *RUNNING,
        click.option("--plots", is_flag=True, help="With --output: draw the plan, or the study, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command("plan", epilog=_EXAMPLES)
@_options
def plan_command(*, as_json: bool, output: Path | None, plots: bool, study: bool, **options: Any) -> None:
    """Plan a study of groups' FNMRs: its margin of error, its power, or how many subjects it needs.

    Where NUMBERS is written, give one number or several with commas between them; every combination is planned.
    """
    require_output(output, plots)
    settings = {name: values for name in _FLAGS if (values := options.pop(name)) is not None}
    plan = _planned(settings, study=study, **options)
    deliver(
        output,
        lambda: {"plan.json": partial(_json, plan), "plan.csv": partial(write_csv, plan.to_frame("polars"))},
        partial(_figures, plan, settings) if plots else None,
        partial(click.echo, _json(plan)) if as_json else partial(print_plan, plan),
    )


def _planned(
    settings: dict[str, tuple[float, ...]],
    *,
    study: bool,
    method: str,
    n_simulations: int | None,
    max_subjects: int | None,
    confidence_level: float,
    quantile: str,
    progress: bool | None,
    **running: Any,
) -> Plan:
    """Compute margins of error, power or subjects needed, whichever the settings are for."""
    asks_margin, asks_subjects = _asked(settings, study)
    if method == "simulation" and not asks_margin:
        raise click.UsageError("--method simulation is for margins of error: power and subjects are always exact")
    if n_simulations is not None and method != "simulation":
        raise click.UsageError("--n-simulations goes with --method simulation")
    if max_subjects is not None and not asks_subjects:
        raise click.UsageError("--max-subjects goes with --margin or --difference, without --subjects")
    level: dict[str, Any] = {"confidence_level": confidence_level, "quantile": quantile}
    if n_simulations is not None:
        running["n_simulations"] = n_simulations
    running |= {"method": method, "progress": watched(progress)}
    if study:
        return margin_study(**level, **running)
    grid: dict[str, Any] = dict(zip(settings, np.ix_(*map(np.array, settings.values())), strict=True))
    if asks_margin:
        return plan_margin(**grid, **level, **running)
    if max_subjects is not None:
        level["max_subjects"] = max_subjects
    return plan_subjects(**grid, **level) if asks_subjects else plan_power(**grid, **level)


def _asked(settings: dict[str, tuple[float, ...]], study: bool) -> tuple[bool, bool]:
    """Return whether to compute margins of error, and whether to compute subjects; if neither, it is the power.

    Options that do not go together are refused.
    """
    if study:
        if settings:
            raise click.UsageError(f"--study has its own settings: leave {_flags(settings)} out")
        return True, False
    with_subjects = "n_subjects" in settings
    if not with_subjects and not {"margin", "difference"} & set(settings):
        raise click.UsageError(
            "nothing says what to plan. Give --subjects for the margin of error, --subjects and --difference for the "
            "power, --margin or --difference for the subjects needed, or --study"
        )
    missing = [name for name in SETTINGS if name not in settings and name != "n_subjects"]
    if missing:
        raise click.UsageError(f"a plan also needs {_flags(missing)}")
    if "margin" in settings and (with_subjects or "difference" in settings):
        raise click.UsageError(
            "--margin is for computing the subjects needed: leave --subjects and --difference out, or --margin"
        )
    if "power" in settings and (with_subjects or "difference" not in settings):
        raise click.UsageError("--power goes with --difference, without --subjects")
    return with_subjects and "difference" not in settings, not with_subjects


def _flags(names: Any) -> str:
    return ", ".join(_FLAGS[name][0] for name in names)


def _json(plan: Plan, path: Path | None = None) -> str:
    settings = {name: value for name, value in vars(plan).items() if not isinstance(value, np.ndarray)}
    settings = {name: value for name, value in settings.items() if value is not None}
    return write_json({"settings": settings, "plan": plan.to_frame("polars").to_dicts()}, path)


def _figures(plan: Plan, settings: dict[str, tuple[float, ...]]) -> dict[str, Figure]:
    """Draw the paper's two figures of its study, or a plan over the setting with the most values."""
    from matplotlib.figure import Figure

    if not settings and isinstance(plan, MarginPlan):
        return {"overview": plan.plot_overview(), "one_at_a_time": plan.plot_one_at_a_time()}
    most = max(settings, key=lambda name: len(settings[name]))
    over = {"margin": "wanted_margin", "power": "wanted_power"}.get(most, most)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    plan.plot(figure.add_subplot(), over=over)
    return {"plan": figure}
