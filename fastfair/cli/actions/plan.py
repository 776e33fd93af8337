"""`plan`: margins of error, power, or how many subjects are needed."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import fastfair as ff
from fastfair.cli.commands import given_options
from fastfair.cli.reading import read
from fastfair.cli.run import Run
from fastfair.planning.fnmr import RATES_OF_GROUPS, SETTINGS

# by whether subjects and a difference are given: what asks for a plan, its function, and options
# that it does not have
_PLANS = {
    (True, True): ("--subjects and --difference", "plan_power", ""),
    (True, False): ("--subjects without --difference", "plan_margin", ""),
    (False, True): ("--difference without --subjects", "plan_subjects", "assurance margin"),
    (False, False): ("--margin", "plan_subjects", "power method"),
}


def plan(run: Run) -> None:
    """Plan margins of error, power or subjects, whichever the settings are for."""
    given = {*given_options(run.context)}
    rates = [name for name in RATES_OF_GROUPS if name in given]
    pilot = run.take("pilot")
    what, name, others = _PLANS["n_subjects" in given, "difference" in given]
    function, without = getattr(ff, name), {*others.split()}
    if not given & {"n_subjects", "margin", "difference"}:
        raise click.UsageError(
            "nothing says what to plan. Give --subjects for the margin of error, --subjects and"
            " --difference for the power, --margin or --difference for the subjects needed"
        )
    if pilot:
        what = f"{what} and --pilot"
        without = without | {"n_attempts"}
    run.refuse(given - {*rates}, function, what, without)
    unneeded = {"n_subjects", "n_attempts" if pilot else "", "fnmr" if rates else ""}
    missing = {*SETTINGS} - given - unneeded
    if missing:
        raise click.UsageError(f"a plan also needs {', '.join(run.flags_of(missing))}")
    more: dict[str, Any] = {} if pilot is None else {"n_attempts": ff.read_failure_counts(pilot)}
    if function is ff.plan_margin:
        if "assurance" in given:
            more["assurance"], *further = run.take("assurance")
            if further:
                raise click.UsageError("--assurance takes one number with --subjects")
        more["method"] = run.take("method", "simulation" if more else "exact")
        if "n_simulations" in given and more["method"] == "exact":
            raise click.UsageError("--n-simulations goes with --method simulation")
    gridded = (*SETTINGS, *RATES_OF_GROUPS, "margin", "assurance", "difference", "power")
    # every combination is planned
    grid = {name: run.options.pop(name) for name in gridded if name in run.options}
    arrays = dict(zip(grid, np.ix_(*map(np.array, grid.values())), strict=True))
    run.deliver({"plan": run.call(function, **arrays | more)})


def plan_fmr(run: Run) -> None:
    """Plan how many subjects support a claimed FMR."""
    pilot = run.take("pilot")
    more = {} if pilot is None else {"pilot": read(run, pilot)}
    run.deliver({"plan_fmr": run.call(ff.plan_fmr, **more)})


def plan_requirement(run: Run) -> None:
    """Plan how many subjects meet a requirement."""
    pilot = run.take("pilot")
    if (pilot is None) == ("n_attempts" not in run.options):
        raise click.UsageError("give --attempts, or a --pilot whose subjects have so many")
    columns = {name: run.take(name) for name in ("subject", "session")}
    if pilot is None and any(columns.values()):
        raise click.UsageError("--subject and --session are columns of a --pilot")
    attempts = run.take("n_attempts")
    if pilot is not None:
        attempts = ff.read_failure_counts(pilot, "failures", "attempts", (), **columns)
    run.deliver({"plan": run.call(ff.plan_requirement, *run.arguments, n_attempts=attempts)})
