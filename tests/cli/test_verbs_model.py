"""`fastfair model` and `fastfair strata`: the numbers of the library, in sentences, tables, files
and plots."""

from __future__ import annotations

import json

import pytest
from helpers.attribute_tables import AT, NAMES, table
from helpers.command_line import run

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


def test_strata_are_those_of_the_library(scores):
    found = ff.stratified_rates(table(GROUPS), "gender", "region", AT)
    printed = json.loads(run("strata", scores, *ASKED, "--by", "gender", "--json").output)
    assert printed == json.loads(found.to_json()) | {"inputs": [str(scores)]}
    printed = run("strata", scores, *ASKED, "--by", "gender").output
    assert found.summary() in printed
    assert sum("same mix" in line for line in printed.splitlines()[-9:]) == 2
