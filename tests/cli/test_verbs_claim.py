"""`fastfair claim`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json

import pytest
from helpers.command_line import run

import fastfair as ff
from fastfair.claims import Claim
from fastfair.errors import InputError

SCORES = "docs/samples/scores.csv"
ASKED = ["--at", "threshold=0.5", "--group", "sex", "--seed", 1, "--n-resamples", 99]


def found() -> Claim:
    comparisons = ff.read_comparisons(SCORES, groups=["sex"])
    return ff.claim(comparisons, "fnmr <= 0.9", ff.at_threshold(0.5), rng=1, n_resamples=99)


def test_sentences_and_a_row_for_each_group_are_printed():
    printed = run("claim", SCORES, "fnmr <= 0.9", *ASKED).output
    assert found().summary() in printed
    for row in (found().overall, *found().groups):
        assert any(
            line.startswith(row.group or "all") and row.verdict in line
            for line in printed.splitlines()
        )


def test_json_is_that_of_the_library():
    printed = json.loads(run("claim", SCORES, "fnmr <= 0.9", *ASKED, "--json").output)
    assert printed == json.loads(found().to_json()) | {"inputs": [SCORES]}


def test_limits_to_one_side_are_evaluates():
    shown = run("evaluate", SCORES, *ASKED, "--alternative", "less", "--json").output
    quantities = json.loads(shown)["quantities"]
    assert {q["low"] for q in quantities if q["name"] == "fnmr"} <= {0.0, None}
    assert "upper limits" in run("evaluate", SCORES, *ASKED, "--alternative", "less").output


def test_intervals_that_hold_in_all_groups_together_are_wider():
    single, together = (
        json.loads(run("evaluate", SCORES, *ASKED, *more, "--json").output)["quantities"]
        for more in ([], ["--simultaneous"])
    )
    of_groups = [
        (a, b) for a, b in zip(single, together, strict=True) if a["group"] and a["low"] is not None
    ]
    assert of_groups
    assert all(b["low"] <= a["low"] for a, b in of_groups)
    assert any(b["low"] < a["low"] for a, b in of_groups)
    assert "hold in all groups together" in run("evaluate", SCORES, *ASKED, "--simultaneous").output


def test_claims_that_cannot_be_judged_are_refused():
    with pytest.raises(InputError, match="at is missing"):
        run("claim", SCORES, "fnmr <= 0.9")
    with pytest.raises(InputError, match="statement must be"):
        run("claim", SCORES, "nonsense", *ASKED)
