"""The page of paper 2: printed constants, rules on made-up numbers, and the numbers shown beside
the printed ones."""

from __future__ import annotations

import polars as pl
import pytest

from papers import garbe
from papers.garbe import claims, criteria, printed, runs, table1
from papers.page_files import write_page
from papers.page_parts import Figure, Table
from papers.settings import Settings

# The pages show no EERs of groups, whose adjusted p-values would need more replicates.
pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FewResamplesWarning")


def test_table_1_is_as_published(published):
    found = pl.read_csv(published / "asv_table_1.csv")
    for system, (fmr, fnmr) in printed.TABLE_1.items():
        rows = found.filter(pl.col("system") == system)
        assert tuple(rows["nationality"]) == printed.NATIONALITIES
        assert (tuple(rows["fmr_percent"]), tuple(rows["fnmr_percent"])) == (fmr, fnmr)
    assert (
        dict(pl.read_csv(published / "asv_table_1_pooled_eer.csv").iter_rows())
        == printed.POOLED_EER
    )


def test_table_2_is_as_published(published):
    found = pl.read_csv(published / "ffmc_table_2.csv").rename({"ir": "inequity_rate"})
    rows = {
        row.pop("criterion"): {k: bool(v) for k, v in row.items()}
        for row in found.iter_rows(named=True)
    }
    assert rows == printed.TABLE_2


def test_numbers_of_the_text_are_as_published(published):
    text = (published.parent / "papers" / "paper2_asv_fairness.txt").read_text(encoding="utf-8")
    for phrase in (
        "concentrated in the range $[0.82-1]$",
        "concentrated between 0.72 and 1",
        "from 0.19 to 0.61",
        "13.35",
        "identified at 0.55",
        "observed at 0.29",
        "0.21 and 0.88",
        "8.6%",
        "up to 200",
        "lower than 0.9%",
        "FMR below 0.4%",
        "2,208 mated and 2,208 non-mated",
    ):
        assert phrase in text
    assert (
        printed.RANGES_AT["fdr"][0],
        printed.RANGES_OVER["fdr"][0],
        printed.RANGES_AT["garbe"],
    ) == (
        0.82,
        0.72,
        (0.19, 0.61),
    )
    assert (printed.GARBE_TERMS_AT, printed.GARBE_TERMS_OVER) == ((0.55, 0.29), (0.21, 0.88))
    assert (printed.IR_COMPUTABLE, printed.IR_LARGEST, printed.SWAPS) == (
        0.086,
        200,
        {"fdr": 0.009, "garbe": 0.004},
    )


def test_printed_rates_are_of_whole_numbers_of_errors():
    assert table1.all_whole()
    counts, whole = table1.error_counts((0.05, 1.22), 2208)
    assert (counts.tolist(), whole) == ([1, 27], True)
    assert not table1.error_counts((0.07,), 2208)[1]  # between one error, 0.05 %, and two, 0.09 %


def test_measures_of_table_1_disagree_on_the_fairest_system():
    rates = table1.printed_rates()
    assert (
        table1.fairest("garbe", 0.5, rates)
        == table1.fairest("fdr", 0.5, rates, least=True)
        == "ResNetSE34L"
    )
    assert table1.fairest("garbe", 1, rates) == "CAM++"
    assert (
        table1.fairest("inequity_rate", 0.5, rates, least=True) == "ResNetSE34V2"
    )  # a group without errors
    assert table1.same_by_counts()


def test_table_1_contradicts_the_text_on_the_terms_of_fdr():
    found = {verdict.claim: verdict.verdict for verdict in table1.verdicts()}
    assert list(found.values()) == ["in part", "fails", "holds", "holds", "holds", "in part"]


@pytest.fixture(scope="module")
def page(voxceleb):
    told: list[str] = []
    made = garbe.page(Settings(64, 2, 4, quick=True, tell=told.append))
    assert len(told) == 5
    return made


@pytest.mark.slow
@pytest.mark.jit
def test_page_has_all_tables_and_figures(page, tmp_path):
    files = write_page(page, tmp_path)
    assert all(path.stat().st_size > 0 for path in files)
    text = files[0].read_text(encoding="utf-8")
    assert "nan" not in text.lower().replace("nationality", "")
    drawn = {part.name for part in page.parts if isinstance(part, Figure)}
    assert drawn == {
        "table1_over_alpha",
        "fdr",
        "garbe",
        "terms_over_fmr",
        "inequity_rate",
        "garbe_over_fmr",
        "det",
    }
    for part in page.parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.columns) for row in part.rows)


@pytest.mark.slow
@pytest.mark.jit
def test_table_2_is_decided_as_printed(page):
    assert [row[2] == row[3] for row in page.table("table2").rows] == [True] * 9


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.jit
def test_fairest_system_cannot_be_told_with_all_replicates(voxceleb):
    study = runs.study(Settings.of(quick=False))
    for grouping in runs.GROUPINGS:
        assert {one.verdict for one in claims.contrasts(study, grouping, "garbe")} == {"undecided"}
    # FDR tells, as it follows how many errors there are: not by eight nationalities, but by their
    # intersections.
    assert claims.shares_fairer(study, "nationality", "fdr") == (0, 0)
    assert claims.shares_fairer(study, "gender × nationality", "fdr")[1] > 0.1
    found = {finding.verdict.claim: finding.verdict for finding in claims.findings(study)}
    assert found["ResNetSE34L has the lowest GARBE at all FMRs (α = 0.5)"].verdict == "open"
    assert found["The fairest system has the worst verification performance"].verdict == "open"
    assert [d.agrees for d in criteria.decide(study)] == [True] * 9
