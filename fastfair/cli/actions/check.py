"""`check` and `history`: verdicts on requirements, and those of several looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import click

import fastfair as ff
from fastfair.claims import MET, Check, ProfileCheck, read_profile
from fastfair.cli.reading import read
from fastfair.cli.run import Run
from fastfair.cli.terminal import print_result
from fastfair.cli.verdicts import exit_by_verdict
from fastfair.pages.report import sha256_of

# what comparisons call the rates of checks, those of transactions and of attacks, too
_OF_COMPARISONS: Mapping[str, Literal["fnmr", "fmr", "iapar", "apcer"]] = {
    "fnmr": "fnmr",
    "frr": "fnmr",
    "tmr": "fnmr",
    "tar": "fnmr",
    "bpcer": "fnmr",
    "fmr": "fmr",
    "far": "fmr",
    "iapar": "iapar",
    "apcer": "apcer",
}


def check(run: Run) -> None:
    """Judge requirements."""
    _take_bands_of_profile(run)
    data = read(run)
    if isinstance(data, ff.FailureCounts) and "worst" in run.options:
        raise click.UsageError(
            "--worst lists comparisons by their scores, which counts have none of"
        )
    checks = run.call(ff.check, data)
    if isinstance(checks, ProfileCheck):
        checks = checks._with_hashes({str(file): sha256_of(file) for file in run.input_files()})
    listed = _worst_of(data, checks, run.take("worst", 0))

    def show() -> None:
        print_result(checks)
        for title, comparisons in listed:
            print_result(comparisons, f"The worst comparisons behind the {title}")

    worst = {
        f"worst_{k}" if len(listed) > 1 else "worst": comparisons
        for k, (_, comparisons) in enumerate(listed, 1)
    }
    junit = run.take("junit")
    run.deliver(
        {"check": checks, **worst},
        show=show,
        page=lambda: [checks],
        files={junit: checks.to_junit} if junit else {},
    )
    exit_by_verdict(checks)


def _take_bands_of_profile(run: Run) -> None:
    """Make groups of ages as the profile does, where groups are asked for and no bands are."""
    if "profile" not in run.options:
        if "requirements" not in run.options:
            raise click.UsageError("nothing says what must hold: give --require or --profile")
        return
    bands = read_profile(run.options["profile"]).bands
    is_asked = bands.partition("=")[0] in run.options.get("groups", ())
    is_of_scores = run.options.get("kind", "scores") == "scores"
    if bands and is_asked and is_of_scores and "bands" not in run.options:
        run.options["bands"] = [bands]


def _worst_of(data: Any, checks: Check, n: int) -> list[tuple[str, Any]]:
    """List the comparisons behind each rate that is not shown to be as required."""
    rows = {
        row.title: row
        for row in reversed(checks.rows)
        if row.verdict != MET and row.name in _OF_COMPARISONS
    }
    return [
        (title, ff.worst_comparisons(data, row.at, row.group, n, rate=_OF_COMPARISONS[row.name]))
        for title, row in reversed(rows.items())
        if n and row.at is not None
    ]


def history(run: Run) -> None:
    """Put checks beside each other."""
    (files,) = run.arguments
    if not files:
        raise click.UsageError("give the JSON of each check, in the order of the looks")
    run.deliver({"history": ff.history(list(files))})
