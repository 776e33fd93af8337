"""`fastfair shrink`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import PLOTS, run

import fastfair as ff
from fastfair.small_groups import ShrunkenRates


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of three groups, of which the last is small."""
    subject = np.arange(90)
    group = np.array(list("abc"))[np.minimum(subject // 40, 2)]
    start, size = (
        np.minimum(subject // 40, 2) * 40,
        np.array([40, 40, 10])[np.minimum(subject // 40, 2)],
    )
    other = start + (subject - start + 1) % size
    drawn = np.random.default_rng(0).normal(0, 1, 180)
    frame = pl.DataFrame(
        {
            "score": drawn + np.repeat([2, 0], 90),
            "mated": np.repeat([1, 0], 90),
            "reference": np.tile(subject, 2),
            "probe": np.append(subject, other),
            "reference_sex": np.tile(group, 2),
            "probe_sex": np.tile(group, 2),
        }
    )
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    frame.write_csv(path)
    return path


def asked(scores: Path, *more: object) -> list[object]:
    fixed = ("--at", "threshold=1", "--group", "sex", "--seed", 1, "--n-resamples", 99)
    return ["shrink", scores, *fixed, *more]


def found(scores: Path) -> ShrunkenRates:
    c = ff.read_comparisons(scores, groups=["sex"])
    return ff.shrunken_rates(
        ff.evaluate(c, ff.at_threshold(1), [], metrics=[], rng=1, n_resamples=99)
    )


def test_sentences_and_a_row_for_each_group_are_printed(scores):
    printed = run(*asked(scores)).output
    assert found(scores).summary() in printed
    assert all(any(line.startswith(group) for line in printed.splitlines()) for group in "abc")


def test_json_and_files_are_those_of_the_library(scores, tmp_path):
    expected = json.loads(found(scores).to_json()) | {"inputs": [str(scores)]}
    assert json.loads(run(*asked(scores, "--json")).output) == expected
    run(*asked(scores, "--output", tmp_path, *PLOTS))
    assert json.loads((tmp_path / "shrunken.json").read_text()) == expected
    assert pl.read_csv(tmp_path / "shrunken.csv")["shrunken"].to_list() == pytest.approx(
        found(scores).shrunken.tolist()
    )
    assert (tmp_path / "shrunken.png").stat().st_size > 1000


def test_the_rate_is_asked_for(scores):
    assert json.loads(run(*asked(scores, "--rate", "fmr", "--json")).output)["rate"] == "fmr"
