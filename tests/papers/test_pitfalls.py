"""Paper 3 made anew: its printed numbers, the rules, and what they give on VoxCeleb1-H."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import fastfair as ff
from papers import pitfalls
from papers.figure_style import style
from papers.page_parts import Figure, Range, Table
from papers.pitfalls import consistency as audits
from papers.pitfalls import printed, rules
from papers.pitfalls.runs import run
from papers.pitfalls.tables import hours_until_success, success_within
from papers.settings import Settings

METRIC = {"eer_percent": "eer", "min_cdet": "min_dcf", "eer": "eer"}
MEASURE = {
    "g2min_difference": "group_to_min_difference",
    "g2avg_ratio": "group_to_average_ratio",
    "g2avg_log_ratio": "group_to_average_log_ratio",
    "fpr_at_fpr_0.001": "fmr",
}


def test_printed_numbers_are_those_of_the_paper(published):
    def rows(name: str):
        return pl.read_csv(published / f"bias_measures_{name}.csv").iter_rows(named=True)

    overall = {r["trial_list"]: (r["eer_percent"], r["min_cdet"]) for r in rows("overall")}
    assert overall == printed.OVERALL
    table_2 = {
        (METRIC[r["base_metric"]], r["gender"], r["nationality"]): r["value"]
        for r in rows("table_2")
    }
    assert table_2 == {(m, *g): x for m, cells in printed.TABLE_2.items() for g, x in cells.items()}
    table_3 = {
        (MEASURE[r["bias_measure"]], METRIC[r["base_metric"]], r["gender"], r["nationality"]): r[
            "value"
        ]
        for r in rows("table_3")
    }
    assert table_3 == {
        (*m, *g): x for m, cells in printed.TABLE_3.items() for g, x in cells.items()
    }
    table_4 = {
        (MEASURE[r["quantity"]], r["gender"], r["nationality"]): r["value"] for r in rows("table_4")
    }
    assert table_4 == {(m, *g): x for m, cells in printed.TABLE_4.items() for g, x in cells.items()}


def test_audit_of_printed_numbers():
    assert audits.table_3_misses() == []
    assert len(audits.table_4_agreeing(1)) == len(printed.TABLE_4["fmr"])
    assert set(audits.table_4_agreeing(-1)) == {("male", "AUS"), ("female", "DE")}
    assert [verdict.verdict for verdict in audits.audit()] == ["holds", "holds", "in part", "holds"]


def test_audit_finds_a_wrong_cell(monkeypatch):
    cells = printed.TABLE_3["group_to_average_ratio", "eer"]
    monkeypatch.setitem(cells, ("male", "IN"), 0.884)
    assert audits.table_3_misses() == [("group_to_average_ratio", "eer", ("male", "IN"))]
    assert audits.audit()[0].verdict == "in part"


def test_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, (2, 3, 9)).astype(float)
    assert rules.rank_correlation(x, y) == pytest.approx(
        [spearmanr(a, b).statistic for a, b in zip(x, y, strict=True)]
    )


def test_attacks():
    assert hours_until_success(0.001) == pytest.approx(16.7, abs=0.05)
    assert hours_until_success(0.0) == math.inf
    assert success_within(17, 0.001) == pytest.approx(1 - 0.999**1020)
    assert success_within(17, 0.0) == 0


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings(n_resamples=64, n_seeds=2, n_datasets=4, quick=True)


@pytest.fixture(scope="module")
def runs(voxceleb, settings):
    return run(settings)


@pytest.mark.slow
# `write_pages` silences what the page itself tells of its few errors; this is below it.
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
@pytest.mark.jit
def test_numbers_of_voxceleb(runs):
    assert round(100 * runs.whole.value("eer"), 3) == printed.OVERALL["VoxCeleb1-H"][0]
    assert round(runs.whole.value("min_dcf"), 3) == printed.OVERALL["VoxCeleb1-H"][1]
    assert [len(found.groups) for found in runs.intersections] == [15, 11, 4]
    assert "m & Germany" not in runs.printed.groups
    first = runs.large.evaluation.rates[0]
    expected = ff.measures.nrb(first.group_fmr, first.fmr)
    assert runs.large.nrb_range("fmr", first.at).value == pytest.approx(expected)
    assert math.isinf(runs.printed.nrb_range("fmr", first.at).value)
    assert runs.large.fdr_range(1.0, first.at).value == pytest.approx(1 - np.ptp(first.group_fmr))
    assert runs.large.fdr_replicates.shape == (5, 5, 64)


@pytest.mark.slow
# `write_pages` silences what the page itself tells of its few errors; this is below it.
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
@pytest.mark.jit
def test_page(runs, settings, monkeypatch):
    monkeypatch.setattr(pitfalls, "run", lambda settings: runs)
    with style():
        made = pitfalls.page(settings)
    assert [part.name for part in made.parts if isinstance(part, Figure)] == [
        "figure_1",
        "figure_2",
    ]
    tables = [part for part in made.parts if isinstance(part, Table)]
    assert all(len(row) == len(table.columns) for table in tables for row in table.written())
    table = {row[0]: row for row in made.table("table_2").rows}
    assert table["m & Germany"][3] is None
    assert table["m & Norway"][2] == 8.210
    assert isinstance(table["m & Norway"][3], Range)
    verdicts = {
        row[0]: row[-1] for table in tables if "Verdict" in table.columns for row in table.written()
    }
    assert verdicts["FDR and NRB lead to contradictory conclusions"] == "holds"
    assert verdicts["EER and minCDet are two orders of magnitude apart"] == "does not hold"
    assert verdicts["EER 2.402 %, minCDet 0.008 on VoxCeleb1-H"] == "holds"
