"""`fastfair model` and `fastfair strata`: the numbers of the library, in sentences, tables, files
and plots."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from helpers.attribute_tables import AT, NAMES, table
from helpers.command_line import refused, run, run_program

import fastfair as ff

GROUPS = {
    ("f", "A"): (40, 1000),
    ("m", "A"): (42, 1000),
    ("f", "B"): (80, 1000),
    ("m", "B"): (81, 1000),
}
ASKED = ["--at", "threshold=0.5", "--group", "gender", "--group", "region"]


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    ff.write_comparisons(table(GROUPS), path)
    return path


def test_sentences_and_a_row_for_each_effect_are_printed(scores):
    found = ff.error_model(table(GROUPS), NAMES, AT)
    printed = run("model", scores, *ASKED).output
    assert found.summary() in printed
    for effect in found.effects:
        assert any(
            line.split()[:3] == [effect.attribute, effect.value, effect.baseline]
            for line in printed.splitlines()
        )


def test_the_baseline_is_that_asked_for(scores):
    printed = json.loads(
        run(
            "model", scores, *ASKED, "--baseline", "gender=f", "--baseline", "region=B", "--json"
        ).output
    )
    assert printed["baseline"] == {"gender": "f", "region": "B"}
    assert "as in sex=m" in run("model", scores, *ASKED, "--baseline", "gender").output


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Scores of people, and a table of them with a sex and an age in years."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(2)
    who = [f"p{k:02d}" for k in range(60)]
    first, second = np.triu_indices(60, 1)
    sides = [np.append(side, np.arange(60)) for side in (first, second)]
    columns = {
        name: [who[k] for k in side]
        for name, side in zip(("reference", "probe"), sides, strict=True)
    }
    mated = np.repeat([0, 1], [first.size, 60])
    frame = pl.DataFrame(
        columns | {"mated": mated, "score": rng.normal(size=mated.size) + 2 * mated}
    )
    frame.write_csv(folder / "scores.csv")
    table = {"id": who, "sex": ["f", "m"] * 30, "age": [18 + k % 40 for k in range(59)] + [None]}
    pl.DataFrame(table).write_csv(folder / "people.csv")
    return folder


def test_numbers_are_named_with_what_is_made_of_them(people):
    asked = ["model", people / "scores.csv", "--metadata", people / "people.csv"]
    asked += ["--at", "fmr=0.05", "--missing-labels", "unknown", "--group", "sex"]
    more = ["--output", people / "out", "--plots", "svg"]
    done = run_program(*asked, "--linear", "age=mean", "--spline", "age=difference", *more)
    assert "by sex and age (mean and difference) at FMR=0.05" in done.stdout
    lost = "59 of 1770 non-mated comparisons left out, as they lack a number in 'age'"
    assert lost in " ".join(done.stdout.split())
    assert lost in " ".join(done.stderr.split())
    assert "a group of its own" not in done.stderr
    assert (people / "out" / "age_difference.svg").exists()
    written = json.loads((people / "out" / "model.json").read_text())
    assert [row["value"] for row in written["effects"]][:3] == ["m", "different", "mean + 1"]
    assert len(written["curves"][0]["values"]) == 41
    assert "mean + 1" in (people / "out" / "model.csv").read_text()
    alone = run_program(*asked, "--linear", "age", "--json")
    assert json.loads(alone.stdout)["settings"]["linear"] == {"age": "mean,difference"}


def test_a_column_of_numbers_is_proposed_to_be_banded_or_modelled(people, tmp_path):
    table = pl.read_csv(people / "people.csv").with_columns(pl.col("age") % 13)
    table.write_csv(tmp_path / "people.csv")
    asked = ["model", people / "scores.csv", "--metadata", tmp_path / "people.csv"]
    asked += ["--at", "fmr=0.05", "--missing-labels", "unknown", "--group", "age"]
    said = " ".join(run_program(*asked).stderr.split())
    assert "--bands age=0,20,35,50,65, or age=cc" in said
    assert "with --linear age" in said


def test_strata_are_those_of_the_library(scores):
    found = ff.stratified_rates(table(GROUPS), "gender", "region", AT)
    printed = json.loads(run("strata", scores, *ASKED, "--by", "gender", "--json").output)
    assert printed == json.loads(found.to_json()) | {"inputs": [str(scores)]}
    printed = run("strata", scores, *ASKED, "--by", "gender").output
    assert found.summary() in printed
    assert sum("same mix" in line for line in printed.splitlines()[-9:]) == 2


def test_strata_need_a_group_to_compare_and_one_to_compare_within(scores):
    asked = ["strata", scores, *ASKED[:4]]
    said = refused(*asked, "--by", "age")
    assert "--by age is none of the attributes (gender): give --group age, and --group" in said
    said = refused(*asked, "--by", "gender")
    assert "--by gender is the only attribute" in said
    assert "give --group gender, and --group" in said


def test_numbers_are_not_groups_as_well(people):
    asked = [
        "model",
        people / "scores.csv",
        "--metadata",
        people / "people.csv",
        "--at",
        "fmr=0.05",
    ]
    for more, message in (
        (
            ["--group", "age", "--linear", "age=mean"],
            "and --group as groups: leave --group age out",
        ),
        (["--spline", "age", "--bands", "age=cc"], "and --bands as groups: leave --bands age out"),
    ):
        said = refused(*asked, "--group", "sex", *more)
        assert "take 'age' as a number" in said
        assert message in said
