"""What verbs read: comparisons, vectors, or counts, by the options that go with each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import fastfair as ff

from .commands import given_options
from .run import Run, counted_in_words
from .signatures import arguments_for
from .verbs import table

_OPTIONS = table()
_OF_SECOND = ("second_score", "second_score_kind", "second_embeddings")
_OF_TRIALS = {*_OPTIONS["read_named_vectors"]} - {"failures"}
_OF_COUNTS = ("other_subject", "other_groups", "missing_labels", "session", "bands")
OF_FAILURES = ("counts", "decisions")
# Options that belong to some kinds of input only; --group belongs to all.
OF_INPUT: dict[str, set[str]] = {
    "scores": {*_OPTIONS["read_comparisons"], *_OF_TRIALS, "reference_group", "probe_group", *_OF_SECOND,
               "fmr_statistic", "at"},
    "vectors": {*_OPTIONS["read_embeddings"], "fmr_statistic", "at", "templates", "candidates"},
    "searches": {*_OPTIONS["read_searches"], "at"},
    "counts": {"failures", "attempts", "subject", "totals", *_OF_COUNTS},
    "decisions": {"failed", "subject", "failed_value", *_OF_COUNTS},
}  # fmt: skip


def read(run: Run, path: Path | None = None, **instead: Any) -> Any:
    """Read comparisons, or vectors all of whose pairs are compared, by default out of the first
    argument; `instead` are options that replace others.
    """
    path = path or run.arguments[0]
    kind = kind_of(run, path)
    refuse_options_of_others(run, kind)
    if kind in OF_FAILURES:
        return _read_counts(run, path, kind)
    kept = run.options
    run.options = run.options | instead
    try:
        return (
            run.call(ff.read_embeddings, path)
            if kind == "vectors"
            else _read_comparisons(run, path)
        )
    finally:
        run.options = kept


def kind_of(run: Run, path: Path) -> str:
    """Return what a file holds, by --input; counts may stand in its place."""
    kind: str = run.options.get("kind", "scores")
    has_counts = any(param.name == "totals" for param in run.command.params)
    is_counted = has_counts and counted_in_words(path) is not None
    return "counts" if is_counted and kind == "scores" else kind


def _read_comparisons(run: Run, path: Path) -> Any:
    sides = [run.options.get(f"{side}_group", ()) for side in ("reference", "probe")]
    if len(sides[0]) != len(sides[1]):
        raise click.UsageError(
            f"--reference-group is given {len(sides[0])} times and --probe-group"
            f" {len(sides[1])} times: give both for each attribute"
        )
    attempts = run.options.get("attempts")
    if isinstance(attempts, str):  # of a verb whose --attempts may be a column, too
        run.options["attempts"] = click.types.convert_type(int)(attempts, None, run.context)
    for name in ("session", "attack"):  # two of them have a comma between
        given = run.options.get(name)
        if isinstance(given, str) and "," in given:
            run.options[name] = tuple(map(str.strip, given.split(",")))
    more: dict[str, Any] = {}
    if sides[0]:
        more["groups"] = [*run.options.get("groups", ()), *zip(*sides, strict=True)]
    if "quality" in run.options:
        layout = arguments_for(ff.read_comparisons, run.options).get("layout", ff.Layout())
        table_of_quality = run.options.get("quality_table")
        more["layout"] = replace(
            layout, quality=run.options["quality"], quality_table=table_of_quality
        )
    return run.call(ff.read_comparisons, path, **more | _vectors_of_trials(run))


def _read_counts(run: Run, path: Path, kind: str) -> ff.FailureCounts:
    """Read failures and attempts, or decisions; they are of the rate that is asked for, or named by
    a claim or by requirements.
    """
    from fastfair.claims.counts import rate_named

    named = [*run.options.get("requirements", ()), run.context.params.get("statement") or ""]
    rate: Any = run.options.get("rate") or rate_named(named) or "fnmr"
    counted = counted_in_words(path)
    if counted is not None:
        if kind != "counts" or "groups" in run.options:
            raise click.UsageError(
                f"{path} is one number of failures and attempts, without groups and decisions:"
                " leave --group and --input out"
            )
        return ff.FailureCounts(*counted, rate=rate)
    names = ("failures", "attempts") if kind == "counts" else ("failed", "subject")
    others = ("subject", "totals", "failed_value", *_OF_COUNTS)
    given = {name: run.options[name] for name in others if name in run.options}
    given |= {name: run.options.get(name, name) for name in names}
    return ff.read_failure_counts(path, **given, groups=run.options.get("groups", ()), rate=rate)


def _vectors_of_trials(run: Run) -> dict[str, Any]:
    """Read the vectors with which a list of trials is scored."""
    if "embeddings" in run.options:
        failures = "error" if run.options.get("failures", "error") == "error" else "nan"
        file = run.options["embeddings"]
        return {"embeddings": run.call(ff.read_named_vectors, file, failures=failures)}
    for param in run.command.params:
        if param.name in _OF_TRIALS and param.name in run.options:
            raise click.UsageError(
                f"{param.opts[0]} goes with --embeddings, the file of the vectors"
            )
    return {}


def refuse_options_of_others(run: Run, kind: str) -> None:
    """Refuse options that were given and go with other kinds of input than the one chosen."""
    has_kinds = any(param.name == "kind" for param in run.command.params)
    given = given_options(run.context)
    for param in run.command.params if has_kinds else ():
        others = [other for other, names in OF_INPUT.items() if param.name in names - {"groups"}]
        if param.name in given and others and kind not in others:
            raise click.UsageError(
                f"{param.opts[0]} goes with --input {' or '.join(others)}, but --input is {kind}"
            )
