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
from fastfair.bands.all_bands import FEW, bands_of
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
    asked = ["--group", "sex", "--group", "land", "--fmr", "0.02,0.05", "--measure", "gini", *FEW_REPLICATES]
    succeeded("embeddings", faces, *asked, "--report", page, "--output", tmp_path)
    text = unescape(page.read_text("utf-8")).replace("\N{NO-BREAK SPACE}", " ")
    rows = pl.read_csv(tmp_path / "bands.csv").filter(pl.col("name") == "fnmr")
    assert rows["operating_point"].n_unique() == 21  # 20 from the least FMR to 0.05, and 0.02
    for group in (None, "f & UK", "m & US"):
        for point in ("FMR=0.02", "FMR=0.05"):
            at_point = pl.col("group").eq_missing(group) & (pl.col("operating_point") == point)
            q = rows.row(by_predicate=at_point, named=True)
            assert rate_with_interval(q["estimate"], q["low"], q["high"]) in text
    assert "<h3>Rates of groups</h3>" in text
    assert "<h3>Gini of FNMR</h3>" in text
    assert str(faces) in text


@pytest.mark.slow
def test_plots_show_a_curve_and_tables_the_levels_asked(faces, tmp_path):
    arguments = ["embeddings", faces, "--group", "sex", "--group", "land", "--fmr", 0.02, *FEW_REPLICATES]
    done = succeeded(*arguments, "--output", tmp_path / "out", *PLOTS)
    figures = {p.stem for p in (tmp_path / "out").glob("*.svg")}
    assert {"roc", "roc_by_group", "fairness_gini_fmr", "fairness_gini_fnmr"} < figures
    assert figures == {p.stem for p in (tmp_path / "out").glob("*.png")}
    assert {p.name for p in (tmp_path / "out").iterdir()} > {"config.toml", "bands.json", "bands.csv"}
    rows = pl.read_csv(tmp_path / "out" / "bands.csv").filter(pl.col("name") == "threshold")
    assert len(rows) >= 50
    assert rows["operating_point"][-1] == "FMR=0.02"
    plain = run(*arguments)
    assert plain.stdout == done.stdout
    assert "f & UK" in plain.output
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
    assert [q["name"] for q in json.loads(done.output)["quantities"]] == ["threshold", "fnmr"]


def test_usual_levels_are_those_with_pairs_enough(faces):
    done = run("embeddings", faces, *FEW_REPLICATES)
    assert {line.split()[1] for line in done.stdout.splitlines() if line.startswith("all ")} == {"FMR=0.01"}
    below = run("embeddings", faces, "--fmr", 0.001, *FEW_REPLICATES)
    assert below.stderr == ""
    assert f"* {FEW}" in below.stdout


def test_a_measure_is_checked_by_name(faces):
    with pytest.raises(InputError, match="did you mean 'gini'"):
        bands_of(ff.read_embeddings(faces, groups="sex"), [0.1], ["giny"])


def test_errors_are_one_line_and_speak_of_options(faces):
    done = run_program("embeddings", faces.with_suffix(".npy"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "one row for each vector as --samples" in done.stderr
