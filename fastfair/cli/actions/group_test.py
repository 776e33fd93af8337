"""`group-test`: whether error rates of groups differ."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import click

import fastfair as ff
from fastfair.cli.reading import read, refuse_options_of_others
from fastfair.cli.run import Run, default_of
from fastfair.cli.terminal import print_result, say
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import FastfairWarning
from fastfair.evaluation.evaluate import USUAL_POINTS
from fastfair.evaluation.failure_counts import ATTEMPTS, OF_TWO_PEOPLE

_RATES_OF_COUNTS = tuple(name for name in ATTEMPTS if name not in ("fnmr", *OF_TWO_PEOPLE))


def group_test(run: Run) -> None:
    """Test whether error rates of groups differ."""
    kind = run.options.get("kind", "scores")
    rate = run.take("rate")
    has_scores = kind in ("scores", "vectors")
    refuse_options_of_others(run, kind)
    if not has_scores and rate in ("fmr", "both"):
        raise click.UsageError(
            f"--rate {rate} needs scores, but --input is {kind}: they have failures only"
        )
    if has_scores and rate in _RATES_OF_COUNTS:
        raise click.UsageError(
            f"--rate {rate} needs {ATTEMPTS[rate]}s that failed, but --input is {kind}: give --input"
            " decisions or counts"
        )
    rate = rate or ("both" if has_scores else "fnmr")
    at = run.take("at", USUAL_POINTS[0]) if has_scores else None
    if not has_scores:
        run.options |= {"rate": rate, "groups": run.options.get("groups", "group")}
    data = read(run)
    run.take("rate")
    n_resamples = run.take("n_resamples", default_of(ff.fnmr_test, "n_resamples"))
    tests: dict[str, Any] = {}
    if rate != "fmr":
        name = f"{rate if rate in _RATES_OF_COUNTS else 'fnmr'}_test"
        tests[name] = run.call(ff.fnmr_test, data, at, n_resamples=n_resamples)
        if getattr(data, "sessions", None) is None:  # a margin of error knows of people alone
            with warnings.catch_warnings():
                # the test has given the same warnings
                warnings.simplefilter("ignore", FastfairWarning)
                tests["margin"] = run.call(ff.margin_of_error, data, at, n_resamples=n_resamples)
    if at is not None and rate != "fnmr":
        statistic = run.take("fmr_statistic", default_of(ff.fmr_test, "statistic"))
        tests["fmr_test"] = run.call(
            ff.fmr_test, data, at, n_resamples=n_resamples, statistic=statistic
        )
    _deliver_tests(run, tests, at)


def _deliver_tests(run: Run, tests: Mapping[str, Any], at: OperatingPoint | None) -> None:
    first = next(iter(tests.values()))
    of_failures = None if "fmr_test" in tests and len(tests) == 1 else first

    def show() -> None:
        say(
            repr(of_failures.counts)
            if of_failures is not None
            else f"{sum(tests['fmr_test'].n_trials):,} comparisons"
        )
        where = "" if at is None else f" at {at}"
        fixed = "" if at is None or at.is_given else ", with the threshold held fixed"
        for name, result in tests.items():
            rates = f"{result.rate_name.upper()}s"
            print_result(
                result,
                (
                    f"Margin of error of {rates}"
                    if name == "margin"
                    else f"Do {rates} differ{where}{fixed}?"
                ),
            )

    run.deliver(tests, show=show)
