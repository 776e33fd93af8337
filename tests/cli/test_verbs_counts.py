"""Counts on the command line: `fastfair check`, `claim` and `evaluate` say what the library does."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from helpers.command_line import printed, refused, run, succeeded

import fastfair as ff

FEW = ["--n-resamples", 60, "--seed", 3]
COLUMNS = ["--input", "counts", "--failures", "errors", "--attempts", "n"]
LINES = ["frr[*] <= 20 %", "frr <= 5 %", "max_min_ratio(frr) <= 9"]
REQUIRED = [word for line in LINES for word in ("--require", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Counts of 60 people by sex, the same as decisions, and comparisons of two people."""
    folder = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(0)
    errors = rng.binomial(4, 0.1, 60)
    sex = np.where(np.arange(60) % 2, "f", "m")
    table = pl.DataFrame({"person": np.arange(60), "errors": errors, "n": 4, "sex": sex})
    table.write_csv(folder / "counts.csv")
    who = np.repeat(np.arange(60), 4)
    names = np.array([f"p{k:02}" for k in who])
    failed = np.tile(np.arange(4), 60) < errors[who]
    pl.DataFrame({"failed": failed, "person": names, "sex": sex[who]}).write_csv(
        folder / "decisions.csv"
    )
    first = rng.integers(0, 20, 500)
    second = (first + rng.integers(1, 20, 500)) % 20
    matched = rng.random(500) < 0.1
    pairs = {"a": first, "b": second, "errors": matched.astype(int), "n": 1}
    pl.DataFrame(pairs).write_csv(folder / "pairs.csv")
    return folder


def test_requirements_on_counts(folder, tmp_path):
    words = ["check", folder / "counts.csv", *COLUMNS, "--group", "sex", *REQUIRED, *FEW]
    out = tmp_path / "out"
    files = ["--output", out, "--junit", tmp_path / "j.xml", "--report", tmp_path / "page.html"]
    done = run(*words, *files, "--tables", tmp_path / "t.md")
    counts = ff.read_failure_counts(folder / "counts.csv", "errors", "n", "sex", rate="frr")
    check = ff.check(counts, LINES, n_resamples=60, rng=3)
    assert done.exit_code == 1
    assert check.verdicts == {LINES[0]: "met", LINES[1]: "not met", LINES[2]: "met"}
    written = json.loads((out / "check.json").read_text())
    written.pop("inputs")
    assert written == json.loads(check.to_json())
    cases = ElementTree.parse(tmp_path / "j.xml").iter("testcase")
    assert [case.get("name") for case in cases][:3] == ["FRR of f", "FRR of m", "FRR"]
    assert "FRR of m" in (tmp_path / "page.html").read_text()
    assert "| FRR of m |" in (tmp_path / "t.md").read_text()
    again = run("check", "--config", out / "config.toml", folder / "counts.csv")
    assert again.stdout == done.stdout


def test_decisions_are_counted(folder):
    words = ["--group", "sex", *REQUIRED, *FEW, "--json"]
    of = ["--input", "decisions", "--subject", "person"]
    both = [
        json.loads(run("check", folder / f"{name}.csv", *how, *words).stdout)
        for name, how in (("counts", COLUMNS), ("decisions", of))
    ]
    assert both[0]["rows"] == both[1]["rows"]


def test_two_numbers_in_place_of_a_file(tmp_path):
    claim = ff.claim(ff.FailureCounts(5, 174, rate="frr"), "frr <= 6 %", rng=0)
    assert printed("claim", "5 of 174", "frr <= 6 %", "--seed", 0, "--json") == json.loads(
        claim.to_json()
    )
    page = tmp_path / "page.html"
    done = succeeded("evaluate", "1,005 of 17,400", "--rate", "fta", "--report", page)
    assert "1,005 of 17,400 acquisitions are errors: FTA 5.78 % [5.43, 6.13]" in done.stdout
    assert "Failure-to-acquire rate" in page.read_text()
    assert run("check", "5 of 174", "--require", "fte <= 4 %").exit_code == 3
    assert "leave --group and --input out" in refused(
        "claim", "5 of 174", "frr <= 6 %", "--group", "sex"
    )
    assert "--at goes with --input scores" in refused("evaluate", "5 of 174", "--at", "eer")


def test_people_on_both_sides(folder):
    words = ["claim", folder / "pairs.csv", "fmr <= 20 %", *COLUMNS, *FEW, "--json"]
    found = printed(*words, "--subject", "a", "--other-subject", "b")
    assert (found["rate"], found["overall"]["n_subjects"]) == ("fmr", 20)
    totals = printed(*words)["overall"]
    assert totals["n_subjects"] is None
    assert totals["limit"] == totals["independent_limit"]


def test_an_evaluation_of_counts(folder, tmp_path):
    words = ["evaluate", folder / "counts.csv", *COLUMNS, "--group", "sex", "--rate", "apcer", *FEW]
    counts = ff.read_failure_counts(folder / "counts.csv", "errors", "n", "sex", rate="apcer")
    rates = ff.evaluate(counts, n_resamples=60, rng=3)
    assert printed(*words, "--json") == json.loads(rates.to_json())
    page = tmp_path / "page.html"
    done = succeeded(
        *words,
        "--require",
        "apcer <= 50 %",
        "--report",
        page,
        "--plots",
        "png",
        "--output",
        tmp_path / "out",
    )
    assert "Met: apcer <= 50 %" in done.stdout
    assert rates.summary().splitlines()[0] in done.stdout
    assert "Attack presentation classification error rate" in page.read_text()
    assert (tmp_path / "out" / "evaluation.png").exists()


def test_words_that_counts_do_not_go_with(folder):
    counts = folder / "counts.csv"
    assert "--worst lists comparisons" in refused(
        "check", counts, *COLUMNS, "--require", "frr <= 5 %", "--worst", 3
    )
    assert "--intersections" in refused("evaluate", counts, *COLUMNS, "--intersections")
    assert "--score goes with --input scores" in refused(
        "evaluate", counts, *COLUMNS, "--score", "s"
    )
    assert "--totals goes with --input counts" in refused("evaluate", counts, "--totals")


def test_counts_of_independent_data_sets_are_compared(folder, tmp_path):
    counts = ff.read_failure_counts(folder / "counts.csv", "errors", "n", "sex", rate="frr")
    more = pl.read_csv(folder / "counts.csv").with_columns(errors=pl.col("errors").clip(0, 1) * 2)
    more.write_csv(tmp_path / "more.csv")
    words = ["compare", folder / "counts.csv", tmp_path / "more.csv", *COLUMNS, "--group", "sex"]
    gate = ["--require", "frr(counts) - frr(more)[*] <= 5 %"]
    out = tmp_path / "out"
    done = run(*words, "--unpaired", *gate, *FEW, "--output", out, "--plots", "svg")
    assert done.exit_code == 0
    second = ff.read_failure_counts(tmp_path / "more.csv", "errors", "n", "sex", rate="frr")
    compared = ff.compare({"counts": counts, "more": second}, paired=False, n_resamples=60, rng=3)
    written = json.loads((out / "comparison.json").read_text())
    written.pop("inputs")
    assert written == json.loads(compared.to_json())
    assert (out / "frr.svg").exists()
    with pytest.raises(ff.errors.InputError, match="as independent data sets"):
        run(*words, *FEW)
    other = ["--rate", "frr", "--require", "difference(fta) <= 1 %"]
    with pytest.raises(ff.errors.InputError, match="on the FTA"):
        run(*words, "--unpaired", *other, *FEW)


def test_counts_in_words_are_compared():
    done = succeeded("compare", "5 of 174", "21 of 180", "--unpaired", "--rate", "frr")
    assert "better: 5 of 174" in done.output


def test_ages_of_counts_are_put_into_bands(folder, tmp_path):
    table = pl.read_csv(folder / "counts.csv").with_columns(age=20 + pl.col("person"))
    table.write_csv(tmp_path / "ages.csv")
    words = ["check", tmp_path / "ages.csv", *COLUMNS, "--group", "age", "--bands", "age=0,40,60"]
    done = run(*words, "--require", "frr[*] <= 50 %", *FEW)
    assert "FRR of 40-59" in done.output
