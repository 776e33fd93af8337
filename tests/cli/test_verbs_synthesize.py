"""`fastfair synthesize`: the sets and systems of the library, in tables and in files that read back
alike."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run, succeeded

import fastfair as ff

SMALL = ["--n-mated", 200, "--n-nonmated", 200, "--rate", 0.01, "--seed", 3]
OVERALL = ["--overall-mated", 200, "--overall-nonmated", 1000, "--overall-fmr", 0.002]
SIZES = {"n_mated": 200, "n_nonmated": 200, "rate": 0.01, "rng": 3}
OF_ALL = {"overall_mated": 200, "overall_nonmated": 1000, "overall_fmr": 0.002}


def rows_of(table: str) -> list[list[str]]:
    return [line.replace(" %", "%").split() for line in table.splitlines() if "MR at T" in line]


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "kind"), [("csv", "fmr"), ("tsv", "fnmr"), ("parquet", "fmr")])
def test_systems_read_back_have_the_rates_asked_for(tmp_path, suffix, kind):
    done = succeeded(
        "synthesize",
        "--ratios",
        "1:1:4",
        "--kind",
        kind,
        *SMALL,
        *OVERALL,
        "--format",
        suffix,
        "--output",
        tmp_path,
    )
    system = ff.biased_system("1:1:4", kind=kind, **SIZES, **OF_ALL)
    files = {"groups": system.groups, "overall": system.overall}
    for name, expected in files.items():
        options = {"groups": "group"} if expected.groups else {}
        c = ff.read_comparisons(tmp_path / f"{name}.{suffix}", score_kind="distance", **options)
        found, wanted = (ff.rates(one, ff.at_fmr(0.01)) for one in (c, expected))
        assert (found.fmr, found.fnmr, found.threshold) == (
            wanted.fmr,
            wanted.fnmr,
            wanted.threshold,
        )
        assert found.groups == wanted.groups
        np.testing.assert_array_equal(found.group_fmr, wanted.group_fmr)
        np.testing.assert_array_equal(found.group_fnmr, wanted.group_fnmr)
    assert [row[-4:-2] for row in rows_of(done.stdout)] == [
        ["1%", "1%"],
        ["1%", "1%"],
        ["4%", "4%"],
    ]
    assert [int(row[-2]) for row in rows_of(done.stdout)] == [made.n_steps for made in system.sets]
    assert f"FNMR at TNMR {0.95:g}" in done.stdout or kind == "fmr"
    measures = pl.read_csv(tmp_path / "measures.csv")
    np.testing.assert_array_equal(measures["value"], [row.estimate for row in system.measures()])
    points = dict(measures.select("measure", "operating_point").iter_rows())
    assert (points["garbe"], points["nrb(eer)"], points["sed_mean"]) == ("FMR=0.001", None, None)
    garbe = next(row.estimate for row in system.measures() if row.name == "garbe")
    assert f"{garbe:.4g}" in next(
        line for line in done.stdout.splitlines() if line.startswith("GARBE")
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.toml",
        "synthesis.json",
        f"groups.{suffix}",
        f"overall.{suffix}",
        "measures.csv",
    }


def test_what_is_printed_as_json_is_written_as_json(tmp_path):
    done = run("synthesize", "--ratios", "1:4", *SMALL, *OVERALL, "--json", "--output", tmp_path)
    content = json.loads((tmp_path / "synthesis.json").read_text())
    assert json.loads(done.stdout) == content
    assert content["settings"] == {"ratios": "1:4"} | SIZES | OF_ALL
    assert [made["reached"] for made in content["sets"]] == [0.01, 0.04]
    assert content["sets"][1]["group"] == "2 (x 4)"
    assert {"garbe", "fdr"} < {row["measure"] for row in content["measures"]}


@pytest.mark.parametrize("kind", ["fmr", "fnmr"])
def test_one_set(tmp_path, kind):
    done = succeeded(
        "synthesize",
        f"--{kind}",
        0.02,
        "--at",
        0.9,
        *SMALL[:4],
        "--seed",
        3,
        "--output",
        tmp_path,
    )
    c = ff.read_comparisons(tmp_path / "scores.csv", score_kind="distance")
    wanted = {kind: 0.02, "tmr" if kind == "fmr" else "tnmr": 0.9}
    expected = ff.synthesize(200, 200, **wanted, rng=3).comparisons()
    assert ff.eer(c) == ff.eer(expected)
    found = ff.rates(c, ff.at_fnmr(0.1) if kind == "fmr" else ff.at_fmr(0.1))
    (row,) = json.loads((tmp_path / "synthesis.json").read_text())["sets"]
    assert row["reached"] == getattr(found, kind)
    assert f"{100 * row['reached']:.3g}%" in rows_of(done.stdout)[0]
    accepted = (expected.nonmated if kind == "fmr" else expected.mated).similarities >= -row[
        "threshold"
    ]
    assert np.mean(accepted) == pytest.approx(
        row["reached"] if kind == "fmr" else 1 - row["reached"]
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.toml",
        "synthesis.json",
        "scores.csv",
    }
