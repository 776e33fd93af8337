"""`fastfair compare` of independent data sets, of rows that both have, with names and
requirements."""

from __future__ import annotations

import polars as pl
import pytest
from evaluation.test_compare_unpaired import of_other_people
from helpers.command_line import printed, refused, run, run_program, succeeded
from helpers.data_sets import columns

import fastfair as ff

AT = ["--at", "threshold=1", "--measure", "gini", "--seed", 1, "--n-resamples", 200]
MONTHS = ["june.csv", "may.csv", "--unpaired", "--group", "group", *AT]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("months")
    made = columns()
    ff.write_comparisons(ff.Comparisons(**made), path / "may.csv")
    ff.write_comparisons(of_other_people(columns(seed=7), 0.8), path / "june.csv")
    rows = pl.read_csv(path / "may.csv").unique(["reference", "probe"], maintain_order=True)
    rows[10:].write_csv(path / "here.csv")
    rows[:-20].with_columns(pl.col("score") + 1).write_csv(path / "there.csv")
    return path


@pytest.fixture(autouse=True)
def _in_it(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_two_months_are_compared_and_judged(tmp_path):
    found = printed("compare", *MONTHS, "--json")
    months = [ff.read_comparisons(f"{name}.csv", groups=["group"]) for name in ("june", "may")]
    asked = {"at": ff.at_threshold(1), "measures": "gini", "n_resamples": 200, "rng": 1}
    expected = ff.compare(dict(zip(("june", "may"), months, strict=True)), paired=False, **asked)
    assert found["settings"]["paired"] is False
    fnmr = next(row for row in found["contrasts"] if row["name"] == "fnmr")
    assert fnmr["pvalue"] == expected.contrast("fnmr").pvalue
    text = "fnmr(june) - fnmr(may)[*] <= 5 %"
    files = [
        "--junit",
        tmp_path / "j.xml",
        "--output",
        tmp_path,
        "--report",
        tmp_path / "page.html",
    ]
    files += ["--tables", tmp_path / "t.md"]
    done = run("compare", *MONTHS, "--require", text, *files)
    assert done.exit_code == 1
    assert done.output.index("Not met: fnmr(june)") < done.output.index("as independent ones")
    assert "<testsuite" in (tmp_path / "j.xml").read_text()
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Two data sets" in page
    assert "difference in FNMR of f" in page
    assert "june" in (tmp_path / "t.md").read_text("utf-8")
    assert run("compare", *MONTHS, "--require", "auc(june) - auc(may) >= -0.9").exit_code in (0, 3)
    allowed = ["--require", "difference(fnmr)[x] <= 3 %", "--allow-undecided"]
    assert run("compare", *MONTHS, *allowed).exit_code == 0
    again = run("compare", "--config", tmp_path / "config.toml")
    assert again.exit_code == 1, again.output


def test_names_stand_for_files_everywhere():
    named = ["--name", "New", "--name", "Old"]
    done = succeeded("compare", *MONTHS, *named)
    assert "New minus Old" in done.output
    assert "june" not in done.output
    text = "fnmr(New) - fnmr(Old) <= 99 %"
    assert run("compare", *MONTHS, *named, "--require", text).exit_code == 0
    assert "another name for each" in refused("compare", *MONTHS, "--name", "New")
    twice = ["--name", "a", "--name", "a"]
    assert "--name a is given twice" in refused("compare", *MONTHS, *twice)


def test_rows_that_one_system_lacks_are_refused_or_left_out():
    asked = ["here.csv", "there.csv", "--group", "group", *AT]
    message = run_program("compare", *asked).stderr
    assert "pass --common" in message
    assert "--unpaired" in message
    done = succeeded("compare", *asked, "--common")
    assert "here: 20 of " in done.output
    assert "there: 10 of " in done.output
    assert "as other systems lack them" in done.output
    assert "--common is for" in refused("compare", *asked, "--common", "--unpaired")
    assert "go with --require" in refused("compare", *asked, "--allow-undecided")
