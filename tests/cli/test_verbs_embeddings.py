"""`fastfair embeddings`: the numbers of the library, in tables, files and plots."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import PLOTS, run, run_program, succeeded

import fastfair as ff
from fastfair._lib.text import rate_with_interval
from fastfair.bands.curve import bands_of
from fastfair.errors import InputError

FEW_REPLICATES = ["--n-resamples", 8, "--seed", 3]


@pytest.fixture(scope="module")
def faces(tmp_path_factory) -> Path:
    e = ff.von_mises_fisher_embeddings(24, 4, 8, concentration=(10, 40), rng=0)
    labels = {"sex": np.where(e.subject % 2, "f", "m"), "land": np.where(e.subject % 3, "UK", "US")}
    folder = tmp_path_factory.mktemp("faces")
    np.savez(folder / "faces.npz", vectors=e.vectors, subject=e.subject, **labels)
    np.save(folder / "faces.npy", e.vectors)
    paths = [f"{subject:02}/{k}.png" for k, subject in enumerate(e.subject)]
    pl.DataFrame({"path": paths, "camera": "x"}).write_csv(folder / "images.csv")
    who = {"id": [f"{k:02}" for k in range(24)], "sex": np.where(np.arange(24) % 2, "f", "m")}
    pl.DataFrame(who).write_csv(folder / "who.csv")
    return folder / "faces.npz"


def test_a_page_has_the_numbers_that_are_printed(faces, tmp_path):
    page = tmp_path / "page.html"
    asked = [
        "--group",
        "sex",
        "--group",
        "land",
        "--fmr",
        "0.02,0.05",
        "--measure",
        "gini",
        *FEW_REPLICATES,
    ]
    succeeded("embeddings", faces, *asked, "--report", page, "--output", tmp_path)
    text = unescape(page.read_text("utf-8")).replace("\N{NO-BREAK SPACE}", " ")
    rows = pl.read_csv(tmp_path / "roc.csv")
    assert len(rows) == 21  # 20 from the least FMR to 0.05, and 0.02
    for fmr in (0.02, 0.05):
        q = rows.row(by_predicate=pl.col("fmr") == fmr, named=True)
        assert rate_with_interval(q["fnmr"], q["low"], q["high"]) in text
    assert "FNMR over FMR" in text
    assert "Gini of FNMR over FMR" in text
    assert str(faces) in text


@pytest.mark.slow
def test_plots_show_a_curve_and_tables_the_levels_asked(faces, tmp_path):
    arguments = [
        "embeddings",
        faces,
        "--group",
        "sex",
        "--group",
        "land",
        "--fmr",
        0.02,
        *FEW_REPLICATES,
    ]
    succeeded(*arguments, "--output", tmp_path / "out", *PLOTS)
    figures = {p.stem for p in (tmp_path / "out").glob("*.svg")}
    assert {"roc", "fairness_gini_fmr", "fairness_gini_fnmr"} < figures
    assert figures == {p.stem for p in (tmp_path / "out").glob("*.png")}
    assert {p.name for p in (tmp_path / "out").iterdir()} > {
        "config.toml",
        "roc.json",
        "fairness_gini_fmr.csv",
    }
    rows = pl.read_csv(tmp_path / "out" / "roc.csv")
    assert len(rows) >= 50
    assert rows["fmr"][-1] == 0.02
    alone = run(
        "embeddings",
        faces,
        "--fmr",
        0.02,
        *FEW_REPLICATES,
        "--output",
        tmp_path / "alone",
        *PLOTS,
    )
    assert "fairness" not in alone.output.lower()
    assert "--plots needs --output" in run(*arguments, *PLOTS).output


def test_json_is_printed(faces):
    done = run("embeddings", faces, "--fmr", 0.02, *FEW_REPLICATES, "--json")
    assert json.loads(done.output)["fmr"] == [0.02]


def test_usual_levels_are_those_with_pairs_enough(faces):
    done = run("embeddings", faces, *FEW_REPLICATES)
    assert "FNMR, with its 95 % interval: " in done.stdout
    assert "at FMR 1 %" in done.stdout
    below = run("embeddings", faces, "--fmr", 0.001, *FEW_REPLICATES)
    assert below.stderr == ""
    assert "below the resolution of the data" in below.stdout


def test_a_measure_is_checked_by_name(faces):
    with pytest.raises(InputError, match="did you mean 'gini'"):
        bands_of(ff.read_embeddings(faces, groups="sex"), [0.1], ["giny"])


def test_errors_are_one_line_and_speak_of_options(faces):
    done = run_program("embeddings", faces.with_suffix(".npy"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "one row for each vector as --samples" in done.stderr
