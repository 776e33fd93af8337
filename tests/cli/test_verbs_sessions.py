"""`--session` on the command line is what the library makes of the same columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run, succeeded

import fastfair as ff
from fastfair.errors import InputError

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


def test_vectors(folder):
    rng = np.random.default_rng(2)
    who, day = np.repeat(np.arange(12), 5), rng.integers(0, 12, 60)
    vectors = rng.normal(size=(60, 8)) + 1.5 * rng.normal(size=(12, 8))[who]
    np.savez(folder / "vectors.npz", vectors=vectors, subject=who, day=day)
    words = ["evaluate", folder / "vectors.npz", "--input", "vectors", "--at", "threshold=0.5"]
    written = json.loads(succeeded(*words, "--session", "day", *FEW).stdout)
    (fmr,) = (row for row in written["quantities"] if row["name"] == "fmr")
    e = ff.read_embeddings(folder / "vectors.npz", layout=ff.VectorLayout(session="day"))
    assert e.sessions[e.session].tolist() == day.tolist()
    evaluation = ff.evaluate(e, ff.at_threshold(0.5), n_resamples=0)
    assert (fmr["low"], fmr["high"]) == evaluation.interval("fmr")
    assert "sessions" in fmr["note"]
    with pytest.raises(InputError, match="no array 'week'"):
        ff.read_embeddings(folder / "vectors.npz", layout=ff.VectorLayout(session="week"))


def test_searches(folder):
    rng = np.random.default_rng(1)
    who, day = np.repeat(np.arange(30), 4), rng.integers(0, 12, 120)
    enrolled = np.arange(20)
    scores = rng.normal(size=(120, 20)) + 4 * (who[:, None] == enrolled)
    names = [f"s{k}" for k in range(120)]
    table = pl.DataFrame({"search": names, "probe": [f"p{k}" for k in who], "day": day})
    table.write_csv(folder / "searches.csv")
    search, person = np.divmod(np.arange(scores.size), 20)
    rows = {"search": [names[k] for k in search], "candidate": [f"p{k}" for k in person]}
    pl.DataFrame(rows | {"score": scores.ravel()}).write_csv(folder / "log.csv")
    pl.DataFrame({"person": [f"p{k}" for k in enrolled]}).write_csv(folder / "gallery.csv")
    of_tables = ["--searches", folder / "searches.csv", "--gallery", folder / "gallery.csv"]
    words = ["identify", folder / "log.csv", *of_tables, "--at", "threshold=2.5", "--json"]
    written = json.loads(succeeded(*words, "--session", "day").stdout)
    (fnir,) = (row for row in written["rows"] if row["name"] == "fnir")
    assert "12 sessions" in fnir["note"]
    searches = ff.read_searches(
        folder / "log.csv",
        searches=folder / "searches.csv",
        enrolled=folder / "gallery.csv",
        layout=ff.SearchLayout(session="day"),
    )
    row = ff.identify(searches, ff.at_threshold(2.5)).of("fnir")
    assert (fnir["low"], fnir["high"]) == (row.low, row.high)


def test_groups_are_tested_without_a_margin_of_error(folder, tmp_path):
    table = pl.read_csv(folder / "scores.csv")
    sexes = {
        f"{role}_sex": pl.when(pl.col(role) % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m"))
        for role in ("reference", "probe")
    }
    table.with_columns(**sexes).write_csv(tmp_path / "groups.csv")
    words = ["group-test", tmp_path / "groups.csv", "--group", "sex", "--at", "threshold=1"]
    words += ["--n-resamples", "50", "--json"]
    with_sessions = json.loads(succeeded(*words, "--session", "day").stdout)
    assert list(with_sessions) == ["fastfair", "fnmr_test", "fmr_test", "inputs"]
    assert "margin" in json.loads(succeeded(*words).stdout)
