"""Calls whose numbers are recorded: a valid call of everything public, and richer ones of each kind
of data."""

from __future__ import annotations

import html
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import calls
import command_lines
import valid_calls
from click.testing import CliRunner
from golden.written import digest, leaves, written

import fastfair as ff
from fastfair.cli.main import cli

# What draws, tells in words or writes files is recorded with the words.
_WORDS = (
    "plot",
    "summary",
    "report",
    "to_json",
    "to_latex",
    "schema",
    "to_junit",
    "write_comparisons",
    "write_tables",
    "remarks",
)
POINTS = (ff.at_fmr(0.05), ff.at_threshold(1.0))
# Many numbers, of functions that have their own records.
_TOLD_ELSEWHERE = (
    "SystemComparison.evaluation",
    "Evaluation.with_intervals", "fastfair.read_results", "fastfair.evaluate_attributes", "AttributeEvaluations.by",
)  # fmt: skip
FEW = {"n_resamples": 130, "rng": 0, "n_threads": 1}  # more than two blocks of replicates


@cache
def people() -> dict[str, Any]:
    """Draw comparisons with ties of subjects, samples and two attributes, a group of which is
    incomplete."""
    rng = np.random.default_rng(7)
    n, size = 3000, 40
    reference, probe = rng.integers(0, size, (2, n))
    probe = np.where(rng.random(n) < 0.3, reference, probe)
    mated = reference == probe
    sex, age = (
        np.array(["f", "m", "x"])[np.arange(size) % 3],
        np.array(["old", "young"])[np.arange(size) // 30],
    )
    sex[size - 1] = "u"  # whose one subject has few comparisons
    quality = np.round(rng.normal(size=n), 1)
    scores = np.round(
        rng.normal(size=n) + 2 * mated + 0.2 * quality + rng.normal(0, 0.3, size)[reference], 2
    )
    samples = [
        np.char.add(np.char.add(side.astype(str), "/"), rng.integers(0, 3, n).astype(str))
        for side in (reference, probe)
    ]
    groups = [{"sex": sex[side], "age": age[side]} for side in (reference, probe)]
    return {
        "scores": scores,
        "mated": mated,
        "reference": reference,
        "probe": probe,
        "reference_group": groups[0],
        "probe_group": groups[1],
        "reference_sample": samples[0],
        "probe_sample": samples[1],
        "policies": ff.Policies(self_comparisons="keep"),
    }


@cache
def comparisons(kind: str = "similarity") -> ff.Comparisons:
    """Make comparisons of one kind."""
    given = people()
    if kind == "distance":
        return ff.Comparisons(**given | {"scores": -given["scores"], "score_kind": "distance"}).by(
            "sex"
        )
    if kind == "failures":
        scores = given["scores"].copy()
        scores[::17] = np.nan
        policies = ff.Policies("non-match", self_comparisons="keep")
        return ff.Comparisons(**given | {"scores": scores, "policies": policies}).by("age")
    if kind.startswith("second"):
        scores = given["scores"] + np.round(
            np.random.default_rng(8).normal(0, 0.5, given["scores"].size), 2
        )
        given = given | {"scores": scores}
    if kind.endswith("days"):  # that people share, of both sides or of probes and references
        days = np.random.default_rng(9).integers(0, 12, (2, given["scores"].size))
        session = (days[0], days[1]) if "two" in kind else days[0]
        return ff.Comparisons(**given | {"session": session}).by("sex")
    if kind == "numbers":
        groups = {
            f"{side}_group": given[f"{side}_group"] | {"years": 20 + given[side]}
            for side in ("reference", "probe")
        }
        return ff.Comparisons(**given | groups).by("sex")
    return ff.Comparisons(**given).by("sex")


@cache
def scan() -> ff.ScannedComparisons:
    """Scan the same comparisons."""
    given = people()
    path = Path(tempfile.mkdtemp()) / "s.parquet"
    sides = {
        f"{side}_{name}": given[f"{side}_group"][name]
        for side in ("reference", "probe")
        for name in ("sex", "age")
    }
    table = pl.DataFrame(
        {
            "score": given["scores"],
            "reference": given["reference"],
            "probe": given["probe"],
            **sides,
        }
    )
    with path.open("wb") as file:
        table.write_parquet(file)
    return ff.scan_comparisons(
        path,
        groups=["sex", "age"],
        policies=ff.Policies(self_comparisons="keep"),
        storage=ff.Storage(cllr=True),
    )


@cache
def vectors(roles: bool = False) -> ff.Embeddings:
    """Make vectors of faces."""
    made = ff.von_mises_fisher_embeddings(30, 4, 16, concentration=12.0, rng=3)
    group = np.array(["f", "m"])[np.asarray(made.subject) % 2]
    role = np.array(["reference", "probe", "probe", "reference"] * 30) if roles else None
    return ff.Embeddings(made.vectors, made.subject, group, role=role)


@cache
def trials() -> ff.Comparisons:
    """Score a list of trials over vectors."""
    e = vectors()
    names = ff.NamedVectors(e.vectors, [f"v{k}" for k in range(len(e))])
    i, j = np.triu_indices(len(e), 1)
    scores = names.scores([f"v{k}" for k in i], [f"v{k}" for k in j])
    return ff.Comparisons(scores, e.subject[i] == e.subject[j], e.subject[i], e.subject[j])


def settings_of(more: dict[str, Any]) -> ff.EvaluationSettings:
    """Take the settings out of arguments."""
    names = [field.name for field in fields(ff.EvaluationSettings) if field.name in more]
    return ff.EvaluationSettings(
        **{"incomplete_groups": "drop"} | {name: more.pop(name) for name in names}
    )


def evaluated(data: Any, **more: Any) -> dict[str, Any]:
    """Evaluate, with replicates beside what they make."""
    ev = ff.evaluate(
        data, more.pop("at", POINTS), settings=settings_of(more), **{"metrics": "all"} | FEW | more
    )
    return {
        "quantities": ev.quantities,
        "eer": ev.replicates("eer") if FEW["n_resamples"] and "unit" not in more else None,
    }


def rich() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls on data of each kind, for each unit and scheme."""
    for kind in ("similarity", "distance", "failures"):
        yield f"evaluate {kind}", lambda kind=kind: evaluated(comparisons(kind))
    c = comparisons()
    for unit in ("comparison", "sample"):
        yield f"evaluate by {unit}", lambda unit=unit: evaluated(c, unit=unit, measures=["garbe"])
    for more in ({"method": "percentile"}, {"alternative": "less"}, {"simultaneous": True}):
        yield (
            f"evaluate {more}",
            lambda more=more: evaluated(c, measures=["gini"], metrics=["eer"], **more),
        )
    yield (
        "evaluate in closed form",
        lambda: (
            ff.evaluate(
                c,
                POINTS,
                metrics="all",
                n_resamples=0,
                settings=ff.EvaluationSettings(incomplete_groups="drop"),
            ).quantities
        ),
    )
    yield (
        "evaluate two attributes",
        lambda: evaluated(c.by("sex", "age"), incomplete_groups="nan", measures=["fdr"]),
    )
    yield "evaluate a scan", lambda: evaluated(scan().by("sex"), metrics=["eer", "cllr"])
    for roles in (False, True):
        yield (
            f"evaluate vectors, roles {roles}",
            lambda roles=roles: evaluated(vectors(roles), metrics=["eer"]),
        )
        yield (
            f"evaluate vectors by sample, roles {roles}",
            lambda roles=roles: evaluated(
                vectors(roles), unit="sample", metrics=["eer"], measures=["gini"]
            ),
        )
        yield (
            f"ROC band of vectors, roles {roles}",
            lambda roles=roles: ff.roc_band(vectors(roles), [0.01, 0.1], **FEW),
        )
        yield (
            f"fairness band of vectors, roles {roles}",
            lambda roles=roles: ff.fairness_band(
                vectors(roles), "gini", "fnmr", [0.01, 0.1], **FEW
            ),
        )
    for kind in ("days", "two days"):
        yield (
            f"evaluate in {kind}",
            lambda kind=kind: evaluated(
                comparisons(kind), metrics=["eer", "cllr"], measures=["gini"]
            ),
        )
        yield (
            f"compare in {kind}",
            lambda kind=kind: (
                ff.compare(
                    comparisons(kind),
                    comparisons(f"second, {kind}"),
                    POINTS[:2],
                    [],
                    metrics=["eer"],
                    settings=ff.EvaluationSettings(incomplete_groups="drop"),
                    **FEW,
                ).contrasts
            ),
        )
    yield (
        "counts in days",
        lambda: ff.FailureCounts.from_comparisons(
            comparisons("days"), POINTS[1]
        ).confidence_interval(),
    )
    yield "evaluate trials", lambda: evaluated(trials())
    yield "ROC band", lambda: ff.roc_band(c, [0.01, 0.1], **FEW)
    yield (
        "compare",
        lambda: (
            ff.compare(
                c,
                comparisons("second"),
                POINTS[:2],
                metrics="all",
                settings=ff.EvaluationSettings(incomplete_groups="drop"),
                **FEW,
            ).contrasts
        ),
    )
    yield (
        "compare three",
        lambda: (
            ff.compare(
                [c, comparisons("second"), c],
                None,
                POINTS[0],
                [],
                metrics=["eer"],
                settings=ff.EvaluationSettings(incomplete_groups="drop"),
                **FEW,
            ).contrasts
        ),
    )
    yield (
        "check",
        lambda: (
            ff.check(
                c.by("sex"),
                ["fnmr[*] <= 0.2", "fmr@threshold=2 <= 0.04", "eer <= 0.2", "gini(fmr) <= 0.5"],
                POINTS[0],
                **FEW,
            ).rows
        ),
    )
    yield "claim", lambda: ff.claim(c.by("age"), "fnmr <= 0.2", POINTS[0], **FEW)
    yield "FMR test", lambda: ff.fmr_test(c.by("age"), POINTS[0], n_resamples=200, rng=0)
    yield "FNMR test", lambda: ff.fnmr_test(c.by("age"), POINTS[0], n_resamples=200, rng=0)
    yield "error model", lambda: ff.error_model(c, ["sex", "age"], POINTS[1])
    yield (
        "error model of numbers",
        lambda: ff.error_model(
            comparisons("numbers"), "age", POINTS[1], linear="years=mean", spline="years=difference"
        ),
    )
    yield (
        "shrunken rates",
        lambda: ff.shrunken_rates(
            ff.evaluate(
                c,
                POINTS[1],
                [],
                metrics=[],
                settings=ff.EvaluationSettings(incomplete_groups="drop"),
                **FEW,
            )
        ),
    )
    yield "apply a threshold", lambda: ff.apply_threshold(c, POINTS[0], comparisons("second"))
    yield "worst comparisons", lambda: ff.worst_comparisons(c, POINTS[0], n=9)


def all_calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every case with its name."""
    yield from rich()
    for name, given in valid_calls.calls().items():
        last = name.rpartition(".")[2]
        is_display = last == "table" and not name.startswith("fastfair.")
        if not is_display and not any(last == word or last.startswith("plot") for word in _WORDS):
            yield name, lambda name=name, given=given: calls.call(name, given)


def records() -> dict[str, str]:
    """Make every record anew: by "case: place", what is written of the number there."""
    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few errors in small data
        for name, call in all_calls():
            told: dict[str, str] = {}
            for place, value in leaves(call()):
                place = place.removeprefix(".")
                twice = sum(known == place or known.startswith(f"{place} #") for known in told)
                told[f"{place} #{1 + twice}" if twice else place] = written(value)
            if name in _TOLD_ELSEWHERE:
                told = {"all": f"{len(told)} {digest(repr(told))}"}
            found |= {f"{name}: {place}": value for place, value in told.items()}
    return found


def words() -> dict[str, str]:
    """Make all texts anew: summaries, what commands print, and a page."""
    found = {}
    with warnings.catch_warnings(), calls.away():
        warnings.simplefilter("ignore")
        for name, given in valid_calls.calls().items():
            if name.rpartition(".")[2] == "summary":
                found[name] = calls.call(name, given)
        command_lines.make_files()
        for verb, line in command_lines.VERBS.items():
            found[f"fastfair {verb}"] = CliRunner().invoke(cli, [verb, *line]).output
        ff.report(valid_calls.made()["Evaluation"], "page.html", title="A study")
        page = re.sub(
            r"<(script|style|svg)\b.*?</\1>", "", Path("page.html").read_text("utf-8"), flags=re.S
        )
        lines = (
            line.strip() for line in html.unescape(re.sub(r"<[^>]*>", "\n", page)).splitlines()
        )
        found["page"] = "\n".join(line for line in lines if line)
    return {
        name: "\n".join(line.rstrip() for line in text.splitlines()) for name, text in found.items()
    }
