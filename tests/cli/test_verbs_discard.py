"""`fastfair discard`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json

import pytest
from helpers.command_line import run

import fastfair as ff

ASKED = ["--at", "threshold=0.5", "--group", "sex", "--fractions", "0,0.25,0.5"]


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    people = "abcdefgh" * 6
    rows = [
        f"{a},{b},{'f' if a < 'e' else 'm'},{'f' if b < 'e' else 'm'},{(7 * k) % 48 / 48},{k % 9},{k % 7}"
        for k, (a, b) in enumerate(zip(people, "abcdefghbadcfehg" * 3, strict=True))
    ]
    path.write_text("\n".join(["reference,probe,reference_sex,probe_sex,score,q1,q2", *rows]))
    return path


def found(path, **asked):
    c = ff.read_comparisons(path, groups=["sex"], layout=ff.Layout(quality=("q1", "q2")))
    return ff.discard_curve(c, ff.at_threshold(0.5), fractions=[0, 0.25, 0.5], **asked)


def test_sentences_and_rows_are_printed(scores):
    printed = run("discard", scores, *ASKED, "--quality", "q").output
    assert found(scores).summary() in printed
    assert (
        len([line for line in printed.splitlines() if line.startswith(("all ", "f ", "m "))]) == 9
    )


def test_json_is_that_of_the_library(scores):
    asked = ["--reference-quality", "q1", "--probe-quality", "q2", "--rate", "fmr", "--json"]
    printed = json.loads(run("discard", scores, *ASKED, *asked).output)
    assert printed == json.loads(found(scores, rate="fmr").to_json()) | {"inputs": [str(scores)]}


def test_half_a_pair_of_columns_is_refused(scores):
    assert "both of" in run("discard", scores, *ASKED, "--probe-quality", "q2").output
