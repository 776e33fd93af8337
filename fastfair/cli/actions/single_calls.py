"""Verbs that call one function of the library, or two."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

import fastfair as ff
from fastfair.cli.reading import read
from fastfair.cli.run import Run
from fastfair.cli.terminal import say
from fastfair.data.label_bands import NO_BANDS


def apply(run: Run) -> None:
    """Apply a threshold that development data give."""
    data = read(run)
    development = read(run, run.take("development"))
    run.deliver({"applied": run.call(ff.apply_threshold, data, run.take("at"), development)})


def calibration(run: Run) -> None:
    """Tell what decisions by log-likelihood ratios cost."""
    data = read(run)
    method = run.take("method")
    if method is not None:
        data = run.call(ff.calibrate, data, method).comparisons
    run.deliver({"calibration": run.call(ff.evaluate_calibration, data)})


def claim(run: Run) -> None:
    """Judge a claim."""
    data = read(run)
    run.deliver({"claim": run.call(ff.claim, data, run.arguments[1])})


def discard(run: Run) -> None:
    """Discard comparisons of low quality."""
    table = run.take("quality_table")
    quality, *sides = (run.take(name) for name in ("quality", "reference_quality", "probe_quality"))
    if (sides[0] is None) != (sides[1] is None) or (quality and sides[0]):
        raise click.UsageError("give --quality, or both of --reference-quality and --probe-quality")
    if table is not None and sides[0]:
        raise click.UsageError("--quality-table has one column of quality: name it with --quality")
    named = tuple(sides) if sides[0] else quality or "quality"
    data = read(run, quality=named, quality_table=table)
    run.deliver({"discard": run.call(ff.discard_curve, data)})


def model(run: Run) -> None:
    """Model errors by all attributes."""
    asked = [text for name in ("linear", "spline") for text in run.options.get(name, ())]
    numbers = list(dict.fromkeys(text.partition("=")[0].strip() for text in asked))
    instead: dict[str, Any] = {}
    if numbers:  # as columns of numbers that make no groups
        bands, groups = run.options.get("bands", ()), run.options.get("groups", ())
        _refuse_numbers_as_groups(numbers, groups, bands)
        unbanded = [f"{name}={NO_BANDS}" for name in numbers]
        instead = {"bands": [*bands, *unbanded], "groups": [*dict.fromkeys((*groups, *numbers))]}
    data = read(run, **instead)
    attributes = [name for name in data.attributes if name not in numbers]
    more = {"baseline": dict(run.take("baseline"))} if "baseline" in run.options else {}
    run.deliver({"model": run.call(ff.error_model, data, attributes, **more)})


def _refuse_numbers_as_groups(
    numbers: Sequence[str], groups: Sequence[str], bands: Sequence[str]
) -> None:
    """Refuse an attribute that is asked for as numbers and as groups."""
    banded = [text.partition("=")[0].strip() for text in bands]
    for option, names in (("--group", groups), ("--bands", banded)):
        for name in numbers:
            if name in names:
                raise click.UsageError(
                    f"--linear and --spline take {name!r} as a number, and {option} as groups:"
                    f" leave {option} {name} out, or model groups alone"
                )


def strata(run: Run) -> None:
    """Compare rates within strata."""
    data = read(run)
    by = run.take("by")
    others = [name for name in data.attributes if name != by]
    if by not in data.attributes:
        raise click.UsageError(
            f"--by {by} is none of the attributes ({', '.join(others) or 'there are none'}): give"
            f" --group {by}, and --group with a column for each attribute that makes strata"
        )
    if not others:
        raise click.UsageError(
            f"--by {by} is the only attribute, and others make the strata in which it is compared:"
            f" give --group {by}, and --group with a column for each of them"
        )
    run.deliver({"strata": run.call(ff.stratified_rates, data, by, others)})


def shrink(run: Run) -> None:
    """Draw the rates of small groups towards those of the others."""
    data = read(run)
    run.options["incomplete_groups"] = "nan"
    evaluation = run.call(ff.evaluate, data, run.take("at"), [], metrics=[])
    run.deliver({"shrunken": run.call(ff.shrunken_rates, evaluation)})


def warm_up(run: Run) -> None:
    """Compile all kernels."""
    begun = time.monotonic()
    compiled = run.call(ff.warm_up)
    took = f"{compiled:,} kernels were compiled in {time.monotonic() - begun:.0f} s"
    say(f"{took}; later runs find them." if compiled else "All kernels are compiled.")
