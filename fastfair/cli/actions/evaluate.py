"""`evaluate` and `demo`: rates, measures and verdicts of a file, or of real data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import fastfair as ff
from fastfair._lib.warnings import warn
from fastfair.claims import (
    ALL_OF_ATTACKS,
    Attributes,
    Requirement,
    check_evaluations,
    measures_in,
    points_in,
    requirements_of,
)
from fastfair.cli.reading import OF_FAILURES, kind_of, read
from fastfair.cli.run import Run, default_of
from fastfair.cli.signatures import arguments_for
from fastfair.cli.terminal import print_result, say
from fastfair.cli.verdicts import deliver_with_verdicts
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import FewResamplesWarning, InputError

_LEAST_REPLICATES = 2  # that limits are made of


def evaluate(run: Run) -> None:
    """Evaluate a file."""
    if kind_of(run, run.arguments[0]) in OF_FAILURES:
        _evaluate_counts(run, read(run))
        return
    wanted = _requirements(run)
    data = read(run)
    for what, evaluate_each in (
        ("transactions", ff.evaluate_transactions),
        ("attacks", ff.evaluate_attacks),
    ):
        if getattr(data, what, None) is not None:
            _evaluate_each_point(run, data, wanted, what, evaluate_each)
            return
    _evaluate(run, data, wanted, print_result)


def _evaluate_counts(run: Run, counts: ff.FailureCounts) -> None:
    """Evaluate counts, and judge requirements on them."""
    if run.take("intersections", False):
        raise click.UsageError("--intersections: several --group of counts are these already")
    requirements = run.take("requirements", ())
    results: dict[str, Any] = {"evaluation": run.call(ff.evaluate, counts)}
    if requirements:
        results["check"] = run.call(ff.check, counts, requirements)

    def page() -> list[Any]:
        evaluation, *checks = results.values()
        if len(counts.groups) < 2 or not counts.are_clusters:
            return [evaluation, *checks]
        n_resamples = _replicates_for(counts.groups)
        return [evaluation, run.call(ff.fnmr_test, counts, n_resamples=n_resamples), *checks]

    deliver_with_verdicts(run, results, page=page)


def _evaluate_each_point(
    run: Run,
    data: Any,
    wanted: Sequence[Requirement],
    what: str,
    evaluate_each: Callable[..., Any],
) -> None:
    """Evaluate transactions, or attacks and the comparisons beside them, and judge requirements."""
    points = _points(run)
    results: dict[str, Any] = {}
    if wanted:
        texts = [requirement.text for requirement in wanted]
        results["check"] = run.call(ff.check, data, texts, at=points[0])
    for k, point in enumerate(points, 1):
        name = f"{what}_{k}" if len(points) > 1 else what
        results[name] = run.call(evaluate_each, data, point)
    if what == "attacks" and not data.lacks_rate:
        results["evaluation"] = run.call(ff.evaluate, data)
    run.deliver(results)


def demo(run: Run) -> None:
    """Evaluate real data, and write a page about it."""
    run.options.setdefault("report", run.options.get("output", Path()) / "report.html")
    wanted = _requirements(run)
    _evaluate(
        run, run.call(ff.datasets.voxceleb1_h), wanted, lambda evaluation: say(evaluation.summary())
    )


def _requirements(run: Run) -> list[Requirement]:
    """Read the requirements before any work."""
    if "requirements" not in run.options:
        return []
    also = ALL_OF_ATTACKS if "attack" in run.options else ()
    wanted = requirements_of(run.take("requirements"), _points(run)[0], also=also)
    if run.options.get("n_resamples", _LEAST_REPLICATES) < _LEAST_REPLICATES:
        raise click.UsageError(
            "--require needs replicates: give --n-resamples 2 or more, and leave --quick out"
        )
    return wanted


def _points(run: Run) -> list[OperatingPoint]:
    return list(run.options.get("at", default_of(ff.evaluate, "at")))


def _evaluate(
    run: Run, data: Any, wanted: Sequence[Requirement], show: Callable[[Any], None]
) -> None:
    points = dict.fromkeys([*_points(run), *points_in(wanted)])
    more: dict[str, Any] = {"at": list(points)}
    if "measures" in run.options:
        more["measures"] = [*run.options["measures"], *measures_in(wanted)]
    about = Attributes(data)
    is_given = run.take("intersections", False)
    families = [about.family(requirement) for requirement in wanted]
    groupings = dict.fromkeys(
        [
            *about.asked,
            *([tuple(data.grouping)] if is_given else ()),
            *(requirement.grouping for family in families for requirement in family),
        ]
    )
    if len(groupings) == 1:
        evaluation = run.call(ff.evaluate, data, **more)
    else:
        given = arguments_for(ff.evaluate, run.options) | more
        evaluation = run.call(ff.evaluate_attributes, data, list(groupings), **given)
    parts = evaluation._parts()
    results: dict[str, Any] = {"evaluation": evaluation}
    if wanted:
        results["check"] = check_evaluations(parts, wanted, families)
    deliver_with_verdicts(
        run,
        results,
        page=lambda: [evaluation, *_tests(run, data, parts), *list(results.values())[1:]],
        show=show,
    )


_REPLICATES = 999
_REPLICATES_OF_A_GROUP = 50  # so many that p-values adjusted for all groups can be as small as 0.02


def _tests(run: Run, data: Any, evaluations: Sequence[Any]) -> list[Any]:
    """Test the groups of each evaluation at the first point."""
    first = evaluations[0].settings
    seed = first["rng"] if run.options.get("n_resamples", 1) else run.options["rng"]
    asked = {"rng": seed, "n_threads": run.options.get("n_threads")}
    return [
        test
        for evaluation in evaluations
        if len(evaluation.groups) > 1 and data.subjects is not None and evaluation.rates
        for test in _tests_of(
            data.by(*evaluation.settings["grouping"]), evaluation.rates[0].at, asked
        )
    ]


def _replicates_for(groups: Sequence[str]) -> int:
    """Return how many replicates a test of so many groups needs."""
    return max(_REPLICATES, _REPLICATES_OF_A_GROUP * len(groups))


def _tests_of(data: Any, at: OperatingPoint, asked: Mapping[str, Any]) -> Iterator[Any]:
    """Test whether FNMRs, and FMRs, differ; where one of them cannot be tested a warning says
    why.
    """
    n_resamples = _replicates_for(data.groups)
    for test in (ff.fnmr_test, ff.fmr_test):
        try:
            yield test(data, at, **asked, n_resamples=n_resamples)
        except InputError as error:
            warn(f"the report lacks a test of groups: {error.marked}", FewResamplesWarning)
