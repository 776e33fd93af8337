"""`fastfair embeddings`: the numbers of the library, in tables, files and plots."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import COMMAND, run

import fastfair as ff
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
    done = run("embeddings", faces, *asked, "--report", page, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    text = page.read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    rows = pl.read_csv(tmp_path / "bands.csv").filter(pl.col("name") == "fnmr")
    assert rows["operating_point"].n_unique() == 21  # 20 from the least FMR to 0.05, and 0.02
    for group in (None, "f & UK", "m & US"):
        for point in ("FMR=0.02", "FMR=0.05"):
            at_point = pl.col("group").eq_missing(group) & (pl.col("operating_point") == point)
            q = rows.row(by_predicate=at_point, named=True)
            assert f"{100 * q['estimate']:.3g} % [{100 * q['low']:.3g}, {100 * q['high']:.3g}]" in text
    assert "<h3>Rates of groups</h3>" in text
    assert "<h3>Gini of FNMR</h3>" in text
    assert str(faces) in text


def test_a_pattern_names_parts_of_a_set(faces, tmp_path):
    arrays = dict(np.load(faces))
    for k, rows in enumerate(np.split(np.arange(96), [10, 50])):
        np.savez(tmp_path / f"{k}.npz", **{name: array[rows] for name, array in arrays.items()})
    asked = ["--group", "sex", "--fmr", "0.02,0.05", *FEW_REPLICATES, "--json"]
    page = tmp_path / "page.html"
    whole, parts = (run("embeddings", path, *asked) for path in (faces, tmp_path / "*.npz"))
    found = json.loads(parts.stdout)
    assert found["quantities"] == json.loads(whole.stdout)["quantities"]
    assert found["inputs"] == [str(tmp_path / f"{k}.npz") for k in range(3)]
    done = run("embeddings", tmp_path / "*.npz", *asked[:-1], "--report", page)
    assert done.exit_code == 0, done.output
    assert all(str(path) in page.read_text("utf-8") for path in tmp_path.glob("*.npz"))


def test_tables_and_files_hold_what_the_library_gives(faces, tmp_path):
    asked = ["--fmr", "0.05,0.02", "--fmr", 0.05, "--weighting", "comparison", "--unit", "subject+sample"]
    done = run(
        "embeddings", faces, "--group", "sex", *asked, "--method", "percentile", "--confidence-level", 0.9,
        "--measure", "gini", "--measure", "fdr", "--measure", "group_to_min_difference", "--alpha", 0.3,
        *FEW_REPLICATES, "--output", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "[low, high]: 90 % intervals, 8 replicates over subjects and their samples, percentile method" in done.output
    e = ff.read_embeddings(faces, groups="sex")
    settings = {
        "weighting": "comparison", "unit": "subject+sample", "method": "percentile", "confidence_level": 0.9,
        "n_resamples": 8, "rng": 3,
    }  # fmt: skip
    rows = pl.read_csv(tmp_path / "bands.csv")
    written = json.loads((tmp_path / "bands.json").read_text())
    assert len(written["quantities"]) == len(rows)
    assert written["settings"]["fmr"] == [0.02, 0.05]
    assert written["settings"]["rng"] == 3

    def columns(name: str, group: str | None) -> dict[str, np.ndarray]:
        chosen = rows.filter((pl.col("name") == name) & pl.col("group").eq_missing(group))
        return {column: chosen[column].to_numpy() for column in ("estimate", "low", "high", "band_low", "uncertainty")}

    def same(name: str, group: str | None, band: ff.RocBand | ff.FairnessBand, value: np.ndarray, at=np.s_[:]) -> None:
        found = columns(name, group)
        np.testing.assert_allclose(found["estimate"], value[at], rtol=1e-12)
        for column in ("low", "high", "band_low", "uncertainty"):
            np.testing.assert_allclose(found[column], getattr(band, column)[at], rtol=1e-12)

    for group in (None, "f", "m"):
        band = ff.roc_band(e, [0.02, 0.05], group=group, **settings)
        same("fnmr", group, band, band.fnmr)
    np.testing.assert_allclose(columns("threshold", None)["estimate"], band.threshold)
    for rate in ("fmr", "fnmr"):
        band = ff.fairness_band(e, "gini", rate, [0.02, 0.05], **settings)
        same(f"gini({rate})", None, band, band.value)
        band = ff.fairness_band(e, "group_to_min_difference", rate, [0.02, 0.05], **settings)
        for k, group in enumerate(e.groups):
            same(f"group_to_min_difference({rate})", group, band, band.value, np.s_[:, k])
    band = ff.fairness_band(e, "fdr", "fnmr", [0.02, 0.05], alpha=0.3, **settings)
    same("fdr", None, band, band.value)
    of_pairs = e.comparisons()
    for level in (0.02, 0.05):
        expected = ff.rates(of_pairs, ff.at_fmr(level)).group_fmr
        shown = rows.filter((pl.col("name") == "fmr") & (pl.col("operating_point") == f"FMR={level:g}"))
        np.testing.assert_allclose(shown["estimate"], expected)
        assert shown["n_comparisons"].to_list() == [12 * 11 // 2 * 16] * 2
    line = next(line for line in done.output.splitlines() if line.startswith("FMR=0.05"))
    assert f"{100 * columns('fnmr', None)['estimate'][1]:.3g} % [" in line


def test_plots_show_a_curve_and_tables_the_levels_asked(faces, tmp_path):
    arguments = ["embeddings", faces, "--group", "sex", "--group", "land", "--fmr", 0.02, *FEW_REPLICATES]
    done = run(*arguments, "--output", tmp_path / "out", "--plots")
    assert done.exit_code == 0, done.output
    names = {f"{figure}.{suffix}" for figure in ("roc", "fairness") for suffix in ("png", "svg")}
    assert {p.name for p in (tmp_path / "out").iterdir()} == names | {"config.toml", "bands.json", "bands.csv"}
    rows = pl.read_csv(tmp_path / "out" / "bands.csv").filter(pl.col("name") == "threshold")
    assert len(rows) >= 50
    assert rows["operating_point"][-1] == "FMR=0.02"
    plain = run(*arguments)
    assert plain.stdout == done.stdout
    assert "f & UK" in plain.output
    alone = run("embeddings", faces, "--fmr", 0.02, *FEW_REPLICATES, "--output", tmp_path / "alone", "--plots")
    assert "fairness" not in alone.output.lower()
    assert "--plots needs --output" in run(*arguments, "--plots").output


def test_references_are_compared_with_probes_alone(faces, tmp_path):
    held = dict(np.load(faces))
    role = np.where(np.diff(held["subject"], prepend=-1) != 0, "reference", "probe")
    np.savez(tmp_path / "roles.npz", what=role, **held)
    done = run("embeddings", tmp_path / "roles.npz", "--role", "what", "--fmr", "0.05", *FEW_REPLICATES, "--json")
    assert done.exit_code == 0, done.output
    e = ff.Embeddings(held["vectors"], held["subject"], role=role)
    rows = [row for row in json.loads(done.stdout)["quantities"] if row["name"] == "fnmr"]
    assert [row["estimate"] for row in rows] == ff.roc_band(e, [0.05], n_resamples=2, rng=0).fnmr.tolist()


def test_json_is_printed(faces):
    done = run("embeddings", faces, "--fmr", 0.02, *FEW_REPLICATES, "--json")
    assert [q["name"] for q in json.loads(done.output)["quantities"]] == ["threshold", "fnmr"]


def test_subjects_and_groups_may_stand_beside_the_vectors(faces):
    folder = faces.parent
    beside = run(
        "embeddings", folder / "faces.npy", "--samples", folder / "images.csv", "--subject", "path",
        "--subject-pattern", "^([^/]+)/", "--metadata", folder / "who.csv", "--metadata-id", "id", "--group", "sex",
        "--fmr", 0.02, *FEW_REPLICATES,
    )  # fmt: skip
    assert beside.exit_code == 0, beside.output
    inside = run("embeddings", faces, "--vectors", "vectors", "--group", "sex", "--fmr", 0.02, *FEW_REPLICATES)
    numbers = [line for line in inside.output.splitlines() if line.startswith(("FMR=", "f ", "m ", "Gini"))]
    assert len(numbers) == 7
    assert set(numbers) <= set(beside.output.splitlines())


def test_levels_without_pairs_enough_are_left_out_aloud(faces):
    done = run("embeddings", faces, *FEW_REPLICATES)
    assert (
        "FMR 0.0001, 0.001 would be fewer than 30 of 4,416 non-mated pairs, so FNMR is measured at FMR 0.01"
        in done.stderr
    )
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("FMR=")] == ["FMR=0.01"]
    below = run("embeddings", faces, "--fmr", 0.001, *FEW_REPLICATES)
    assert below.stderr == ""
    assert f"* {FEW}" in below.stdout


def test_rates_without_errors_have_the_interval_of_clopper_and_pearson(tmp_path):
    vectors = np.repeat(np.eye(6), 2, axis=0)
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=np.arange(12) // 2)
    done = run("embeddings", tmp_path / "v.npz", *FEW_REPLICATES)
    assert "so FNMR is measured at FMR 0.1" in done.stderr
    assert "0 % [0, 45.9]" in done.stdout
    assert "the interval is Clopper and Pearson's" in done.stdout
    with pytest.raises(InputError, match="no curve to draw"):
        run("embeddings", tmp_path / "v.npz", "--output", tmp_path, "--plots")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fmr", "1%"], "0.01 for 1 %"),
        (["--fmr", "5"], "for 5 % write 0.05"),
        (["--fmr", "0.1;0.2"], "could not convert"),
        (["--measure", "sed"], "by this name or another that it has, not 'sed'"),
        (["--unit", "comparison"], "'comparison' is not one of"),
        (["--n-resamples", 1], "x>=2"),
        (["--zero-policy", "raise"], "neither a number nor one of keep, clopper-pearson"),
    ],
)
def test_bad_options_say_what_would_do(faces, arguments, message):
    done = run("embeddings", faces, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fmr", 1e-9], "fmr=1e-09 is too low for these data"),
        (["--fmr", 0], "above 0"),
        (["--fmr", 0.1, "--measure", "gini"], "groups="),
        (["--group", "sx"], "did you mean 'sex'"),
    ],
)
def test_what_the_library_refuses_is_an_error_of_the_command(faces, arguments, message):
    with pytest.raises(InputError, match=message):
        run("embeddings", faces, *arguments)


def test_a_measure_is_checked_by_name(faces):
    with pytest.raises(InputError, match="did you mean 'gini'"):
        bands_of(ff.read_embeddings(faces, groups="sex"), [0.1], ["giny"])


def test_errors_are_one_line_and_speak_of_options(faces):
    done = subprocess.run(
        [COMMAND, "embeddings", faces.with_suffix(".npy")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "one row for each vector as --samples" in done.stderr
