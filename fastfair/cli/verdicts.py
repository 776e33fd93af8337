"""Results with the verdicts of a check: what is asked of checks, and how they are delivered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from fastfair.claims import MET, NOT_MET, UNDECIDED, Check

from .run import Run
from .terminal import print_result, say


def take_options_of_checks(
    run: Run, requirements: Sequence[str]
) -> tuple[Path | None, dict[str, Any]]:
    """Take what is asked of checks beside requirements: where JUnit XML goes, and arguments."""
    junit = run.take("junit")
    allow_undecided = run.take("allow_undecided", False)
    if not requirements and (junit or allow_undecided):
        raise click.UsageError("--junit and --allow-undecided go with --require")
    return junit, {"allow_undecided": allow_undecided}


def deliver_with_verdicts(
    run: Run,
    results: Mapping[str, Any],
    junit: Path | None = None,
    page: Callable[[], list[Any]] | None = None,
    show: Callable[[Any], None] = print_result,
) -> None:
    """Deliver results; the verdicts of a check stand first, and the others say what was left out of
    the data.
    """
    check = results.get("check")
    others = [result for name, result in results.items() if name != "check"]

    def show_all() -> None:
        if check is not None:
            print_result(replace(check, left_out=()))
        for result in others:
            if check is not None:
                say()
            show(result)

    files = {junit: check.to_junit} if junit and check is not None else {}
    run.deliver(results, show=show_all, files=files, page=page)


def exit_by_verdict(checks: Check | None) -> None:
    """End with the code of the verdict; go on where nothing was checked."""
    if checks is None:
        return
    # 2 is the code of wrong options
    sys.exit({MET: 0, NOT_MET: 1, UNDECIDED: 3}[MET if checks.passed else checks.verdict])
