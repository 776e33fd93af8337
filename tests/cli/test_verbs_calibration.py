"""`fastfair calibration`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json

import polars as pl
import pytest
from helpers.command_line import PLOTS, run

import fastfair as ff
from fastfair.calibration.evaluate_calibration import Calibration
from fastfair.errors import InputError

SCORES = "docs/samples/scores.csv"
ASKED = [
    "--application",
    "0.3",
    "--application",
    "0.2,1,10",
    "--group",
    "sex",
    "--seed",
    1,
    "--n-resamples",
    99,
]
RATIOS = ["--score-kind", "log-likelihood-ratio"]
APPLICATIONS = [ff.Costs(0.3), ff.Costs(0.2, 1, 10)]


def found() -> Calibration:
    comparisons = ff.read_comparisons(SCORES, groups=["sex"], score_kind="log-likelihood-ratio")
    return ff.evaluate_calibration(comparisons, APPLICATIONS, rng=1, n_resamples=99)


def test_sentences_and_tables_are_printed():
    printed = run("calibration", SCORES, *RATIOS, *ASKED).output
    assert found().summary() in printed
    for application in APPLICATIONS:
        assert sum(line.startswith(f"{application}  ") for line in printed.splitlines()) >= 3
    for title in (
        "Detection costs",
        "Differences between groups",
        "Fairness measures",
        "Cllr in bits",
    ):
        assert f"\n{title}" in printed


def test_json_is_that_of_the_library():
    printed = json.loads(run("calibration", SCORES, *RATIOS, *ASKED, "--json").output)
    assert printed == json.loads(found().to_json()) | {"inputs": [SCORES]}


@pytest.mark.slow
def test_files_figures_and_page_are_written(tmp_path):
    page = tmp_path / "page.html"
    run(
        "calibration",
        SCORES,
        *RATIOS,
        *ASKED,
        "--output",
        tmp_path / "out",
        *PLOTS,
        "--report",
        page,
    )
    names = {path.name for path in (tmp_path / "out").iterdir()}
    figures = ("costs", "bayes_error", "normalized_bayes_error", "tippett")
    assert names == {"config.toml", "calibration.json", "calibration.csv"} | {
        f"{name}.{kind}" for name in figures for kind in ("png", "svg")
    }
    assert pl.read_csv(tmp_path / "out" / "calibration.csv").height == len(found().costs)
    assert "At p_target=0.2, c_miss=1, c_fa=10, with the Bayes threshold" in page.read_text("utf-8")


def test_scores_can_be_calibrated_first(tmp_path):
    made = ff.synthesis.binormal_comparisons(200, 2000, fmr=0.05, n_subjects=40, rng=0)
    ff.write_comparisons(made, tmp_path / "scores.csv")
    made = ff.read_comparisons(
        tmp_path / "scores.csv", score_kind="distance"
    )  # its subjects are text
    asked = [
        "--calibrate",
        "pav",
        "--folds",
        3,
        "--seed",
        1,
        "--n-resamples",
        99,
        "--json",
        "--score-kind",
        "distance",
    ]
    printed = json.loads(run("calibration", tmp_path / "scores.csv", *asked).output)
    expected = ff.evaluate_calibration(
        ff.calibrate(made, "pav", n_folds=3, rng=1).comparisons, rng=1, n_resamples=99
    )
    assert printed["costs"] == json.loads(expected.to_json())["costs"]


@pytest.mark.parametrize("wrong", ["0.1,1", "1.5", "0.1,0,1", "often", "0.1,1,1,1"])
def test_applications_that_are_none_are_refused(wrong):
    assert wrong in run("calibration", SCORES, *RATIOS, "--application", wrong).output


def test_other_scores_are_refused():
    with pytest.raises(InputError, match="declared as similarity"):
        run("calibration", SCORES, *ASKED)
