"""The page of paper 5: its numbers, the rules that judge its claims, and what it prints."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers.data_sets import faces, lfw

from papers import uncertainty
from papers.figure_style import style
from papers.page_parts import Figure, Table
from papers.settings import Settings
from papers.uncertainty import coverage, measures, printed, rules

TINY = Settings(n_resamples=16, n_seeds=2, n_datasets=4)


def test_printed_tables_are_those_of_the_paper(published):
    for name, table in (
        ("roc_coverage_table_1", printed.TABLE_1),
        ("roc_coverage_table_2", printed.TABLE_2),
    ):
        np.testing.assert_array_equal(pl.read_csv(published / f"{name}.csv").to_numpy(), table)


# --------------------------------------------------------------------------------------------------
# Rules
# --------------------------------------------------------------------------------------------------


def test_coverages_are_near_within_three_points_and_chance():
    assert rules.chance(0.5, 100) == pytest.approx(0.1)
    assert rules.near([0.629, 0.631, 0.371, 0.369], 0.5, 0.5, 100).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_the_chance_of_the_printed_step_is_binomial():
    want = sum(math.comb(100, k) * 0.1**k * 0.9 ** (100 - k) for k in range(3))
    assert coverage.chance_of_printed_step(100) == pytest.approx(want)


# --------------------------------------------------------------------------------------------------
# The page
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.jit
def test_the_page_has_every_table_and_figure():
    told: list[str] = []
    with style():
        page = uncertainty.page(replace(TINY, tell=told.append))
    assert page.name == "uncertainty"
    assert len(told) == 4
    assert {part.name for part in page.parts if isinstance(part, Table)} == {
        "curves",
        "claims_curves",
        "least",
        "uncertainty",
        "apart",
        "agreement",
        "claims_measures",
        "table_1",
        "shift",
        "table_2",
        "claims_coverage",
    }
    assert [part.name for part in page.parts if isinstance(part, Figure)] == [
        "fig_2",
        "fig_3",
        "fig_5",
        "fig_19_22",
        "fig_7_8",
        "fig_6",
        "coverage_over_fmr",
        "fig_9",
    ]
    claims = [
        row
        for name in ("curves", "measures", "coverage")
        for row in page.table(f"claims_{name}").rows
    ]
    assert len(claims) == 11
    assert all(all(cell for cell in row) for row in claims)


@pytest.mark.slow
@pytest.mark.nightly
def test_the_complete_page_says_of_the_paper_what_the_documentation_says():
    with style():
        page = uncertainty.page(replace(Settings.of(quick=False), n_resamples=1000))
    verdicts = {
        row[0][:24]: row[-1]
        for name in ("curves", "measures", "coverage")
        for row in claims_of(page, name)
    }
    assert verdicts == {
        "Bootstrap curves are cen": "holds",
        "Bands of the naive boots": "holds",
        "Max-geomean displays (al": "holds in part",
        "Max-geomean is the more ": "does not hold",
        "All fairness metrics of ": "holds in part",
        "Estimated coverages of r": "holds",
        "The recentered bootstrap": "holds in part",
        "The naive bootstrap's co": "holds in part",
        "Where it has a chance, t": "holds",
        "The Gaussian approximati": "does not hold",
        "Gaussian intervals are t": "does not hold",
    }


def claims_of(page: object, name: str) -> list[tuple[str, ...]]:
    return list(page.table(f"claims_{name}").rows)


@faces
@pytest.mark.slow
@pytest.mark.parametrize("matcher", ["mbf_arc", "mobilenet_mx"])
def test_on_faces_max_geomean_is_the_least_uncertain_and_not_of_its_distance(matcher: str):
    bands = measures.fairness_bands(lfw(matcher), measures.LEVELS, Settings.of(quick=True))
    found = measures.uncertainties("gender", bands)
    assert found[0].share == 1
    assert max(u.share_of_distance for u in found) == 0
