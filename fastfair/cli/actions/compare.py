"""`compare`: how two systems differ, or many, or independent data sets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import fastfair as ff
from fastfair.claims import Requirement, points_in, requirements_of
from fastfair.cli.reading import OF_FAILURES, kind_of, read
from fastfair.cli.run import Run, default_of
from fastfair.cli.signatures import arguments_for
from fastfair.cli.verdicts import deliver_with_verdicts, exit_by_verdict, take_options_of_checks
from fastfair.evaluation.evaluate import USUAL_POINTS
from fastfair.measures._registry import ACCURACY, difference_of, measure_of
from fastfair.resampling.engine import METRICS as SCORE_METRICS


def compare(run: Run) -> None:
    """Compare two systems, or more."""
    first, second, others = run.arguments
    files = [first, second, *others]
    of_second = {
        name.removeprefix("second_"): run.take(name)
        for name in ("second_score", "second_score_kind", "second_embeddings")
        if name in run.options
    }
    baseline = run.options.get("baseline")
    if len(files) > 2 and of_second:
        raise click.UsageError("options of the second system go with two files, not with more")
    names = _names_of(files, run.take("system_names", ()))
    unpaired = run.take("unpaired", False)
    if unpaired and run.options.get("common"):
        raise click.UsageError("--common is for systems that scored the same comparisons")
    are_counts = kind_of(run, files[0]) in OF_FAILURES
    wanted = [] if are_counts else _requirements_on_differences(run, names, baseline)
    if baseline is not None and baseline not in names:
        raise click.UsageError(
            f"--baseline is {baseline!r}, but the systems are {', '.join(map(repr, names))}"
        )
    systems = [read(run, file, **(of_second if k == 1 else {})) for k, file in enumerate(files)]
    given = dict(zip(names, systems, strict=True))
    # which tell what counts are of
    texts = run.take("requirements", ()) if are_counts else [rule.text for rule in wanted]
    junit, judged = take_options_of_checks(run, texts)
    more = arguments_for(ff.evaluate, run.options) | {"paired": not unpaired}
    results: dict[str, Any] = {"comparison": run.call(ff.compare, given, None, **more)}
    if texts:
        level = run.options.get("confidence_level", default_of(ff.check, "confidence_level"))
        results["check"] = ff.check(results["comparison"], texts, confidence_level=level, **judged)
    deliver_with_verdicts(run, results, junit)
    exit_by_verdict(results.get("check"))


def _requirements_on_differences(
    run: Run, names: Sequence[str], baseline: str | None
) -> list[Requirement]:
    """Read requirements before any work, and have computed what they are about."""
    texts = run.take("requirements", ())
    if not texts:
        return []
    pairs = list(itertools.combinations(names, 2))
    if baseline is not None:
        pairs = [(name, baseline) for name in names if name != baseline]
    points = list(run.options.get("at", default_of(ff.compare, "at")))
    wanted = requirements_of(texts, (points or USUAL_POINTS)[0], pairs=pairs)
    run.options["at"] = list(dict.fromkeys([*points, *points_in(wanted)]))
    about = [difference_of(rule.name) for rule in wanted]
    metrics = [name for name in about if name in (*SCORE_METRICS, ACCURACY)]
    if metrics:
        run.options["metrics"] = [*run.options.get("metrics", ["auto"]), *metrics]
    if "measures" in run.options:
        named = [measure.name for name in about if (measure := measure_of(name))]
        run.options["measures"] = [*run.options["measures"], *named]
    return wanted


def _names_of(files: Sequence[Path], named: Sequence[str] = ()) -> list[str]:
    """Name systems as asked, or by their files: without suffix, or as given where others have the
    same name; files may repeat.
    """
    if named:
        if len(set(named)) < len(named):
            twice = next(name for k, name in enumerate(named) if name in named[:k])
            raise click.UsageError(f"--name {twice} is given twice: name each file differently")
        if len(named) != len(files):
            raise click.UsageError(
                f"--name is given {len(named)} times for {len(files)} files: give another name for"
                " each, in their order"
            )
        return list(named)
    stems = [file.stem for file in files]
    names = [str(file) if stems.count(file.stem) > 1 else file.stem for file in files]
    repeats = [names[:k].count(name) for k, name in enumerate(names)]
    return [f"{name} ({1 + n})" if n else name for name, n in zip(names, repeats, strict=True)]
