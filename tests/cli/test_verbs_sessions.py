"""`--session` on the command line is what the library makes of the same columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import refused, run, succeeded

import fastfair as ff

FEW = ["--quick", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Scores, decisions and counts of 20 people in twelve days."""
    folder = tmp_path_factory.mktemp("sessions")
    rng = np.random.default_rng(0)
    who, other = np.repeat(np.arange(20), 6), rng.integers(0, 20, 120)
    day, later = rng.integers(0, 12, (2, 120))
    scores = rng.normal(2.0 * (who == other) + rng.normal(size=12)[day])
    columns = {"reference": who, "probe": other, "score": scores, "day": day, "later": later}
    pl.DataFrame(columns).write_csv(folder / "scores.csv")
    failed = (rng.normal(size=120) + rng.normal(size=12)[day] < -0.5).astype(int)
    pl.DataFrame({"person": who, "failed": failed, "day": day}).write_csv(folder / "decisions.csv")
    table = pl.DataFrame({"person": who, "day": day, "failures": failed})
    sums = table.group_by("person", "day").agg(pl.sum("failures"), attempts=pl.len())
    sums.sort("person", "day").write_csv(folder / "counts.csv")
    return folder


@pytest.mark.parametrize("session", ["day", "day,later"])
def test_scores(folder, tmp_path, session):
    at = ["--at", "threshold=1"]
    out = tmp_path / "out"
    words = ["evaluate", folder / "scores.csv", *at, *FEW, "--output", out]
    written = json.loads(succeeded(*words, "--session", session).stdout)
    columns = tuple(session.split(",")) if "," in session else session
    c = ff.read_comparisons(folder / "scores.csv", layout=ff.Layout(session=columns))
    evaluation = ff.evaluate(c, ff.at_threshold(1), n_resamples=0)
    rates = {row["name"]: row for row in written["quantities"]}
    assert (rates["fmr"]["low"], rates["fmr"]["high"]) == evaluation.interval("fmr")
    assert "sessions" in rates["fmr"]["note"]
    again = run("evaluate", folder / "scores.csv", "--config", out / "config.toml")
    assert again.exit_code == 0
    assert json.loads((out / "evaluation.json").read_text())["quantities"] == written["quantities"]


def test_counts_and_decisions(folder):
    intervals = []
    for name, *more in (
        ("counts", "--failures", "failures"),
        ("decisions", "--failed", "failed"),
    ):
        words = [folder / f"{name}.csv", "--input", name, *more, "--subject", "person"]
        done = succeeded("evaluate", *words, "--session", "day", *FEW)
        (row,) = json.loads(done.stdout)["rows"]
        intervals.append((row["low"], row["high"]))
        check = run("check", *words, "--session", "day", "--require", "fnmr <= 90 %", *FEW[1:])
        assert check.exit_code == 0
    assert intervals[0] == intervals[1]
    path, columns = folder / "counts.csv", {"failures": "failures", "subject": "person"}
    counts = ff.read_failure_counts(path, groups=(), session="day", **columns)
    assert ff.evaluate(counts, n_resamples=0).interval("fnmr") == intervals[0]
    plain = ff.read_failure_counts(path, groups=(), **columns)
    low, high = ff.evaluate(plain, n_resamples=0).interval("fnmr")
    assert intervals[0][0] < low
    assert high < intervals[0][1]


def test_other_input_has_no_sessions(folder):
    words = ["evaluate", folder / "vectors.npz", "--input", "vectors", "--session", "day"]
    assert "--session goes with --input scores or counts or decisions" in refused(*words)
