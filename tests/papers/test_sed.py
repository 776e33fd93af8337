"""The page on paper 1: its printed constants, its rules on made-up numbers, and what must come out
of a run."""

from __future__ import annotations

import csv
import dataclasses

import numpy as np
import pytest

import fastfair as ff
from papers import sed
from papers.figure_style import style
from papers.page_parts import Figure, Table
from papers.sed import audit, claims, printed
from papers.sed.limitations import limitations_table
from papers.sed.scenarios import make_systems
from papers.sed.systems import run
from papers.settings import Settings

SMALL = {"overall_mated": 1000, "overall_nonmated": 10_000}
# Two seeds, and no more than is needed to have pages.
TINY = Settings(n_resamples=64, n_seeds=2, n_datasets=4)


@pytest.fixture(scope="module")
def runs():
    return run(TINY, **SMALL)


def test_constants_are_those_of_the_tables(published):
    with (published / "sedg_tables_4_to_8.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = ("ir", "garbe", "fdr", "std_eer", "std_sed", "mean_sed")
    expected = [(row["table"], row["ratios"], *(row[column] for column in columns)) for row in rows]
    assert expected == [
        (one.table, one.ratios, *(cell.text for cell in one.numbers.values()))
        for one in printed.SYSTEMS
    ]


def test_printed_digits_bound_the_number():
    number = printed.PrintedNumber("8.66e-4")
    assert (number.value, number.half_unit) == pytest.approx((8.66e-4, 5e-7))
    assert printed.PrintedNumber("134").half_unit == 0.5


def test_the_printed_garbe_comes_of_no_inequity_rate_printed():
    row = audit.row("1:1:1:2")
    assert (
        audit.least_garbe(row)
        > audit.least_garbe(row, exponents=False)
        > 0.03
        > row.numbers["garbe"].high
    )
    assert len(audit.mirrored()) == 6
    assert all(
        one.numbers["garbe"].text == other.numbers["garbe"].text for one, other in audit.mirrored()
    )


def test_two_printed_standard_deviations_are_the_garbe_of_their_rows():
    found = audit.eers_behind()
    assert list(found.outliers) == audit.repeated_garbe() == ["1:2:2:3", "1:2:2:5"]
    assert found.offset[2] < 0 < found.offset[5]
    assert [found.predicted[ratios] for ratios in found.outliers] == pytest.approx(
        [2.04e-3, 4.61e-3], abs=1e-5
    )


def test_one_fdr_is_not_that_of_its_extremes():
    assert audit.odd_within_extremes("fdr") == [("1:2:2:5", "0.9920", "0.9923")]
    assert audit.odd_within_extremes("inequity_rate") == []
    assert audit.broken_chains("inequity_rate", lambda a, b: a * b) == []
    assert audit.broken_chains("inequity_rate", lambda a, b: a + b) != []


def test_what_the_printed_tables_obey():
    scores = claims.printed_scores()
    broken = [claim.text for claim in claims.claims() if not claim.test(scores)]
    assert broken == [
        "STD of EER and STD of SED share their failure cases",
        "Mean SED ranked all systems correctly",
    ]


@pytest.mark.slow
@pytest.mark.jit
def test_runs_hold_the_measures_of_the_engine(runs):
    systems = make_systems(np.random.SeedSequence(0).spawn(2)[1], **SMALL)
    expected = {
        (one.name, system.kind, system.ratios): one.estimate
        for _, system in systems
        for one in system.measures(measures=["fdr", "sed"])
        if one.group is None
    }
    scores = runs.of_seed(1)
    assert {key: scores[key] for key in expected if np.isfinite(expected[key])} == {
        key: value for key, value in expected.items() if np.isfinite(value)
    }
    assert len(expected) == 3 * 44
    assert len(runs.sets) == 14
    assert all(len(made) == 2 for made in runs.sets.values())


@pytest.mark.slow
@pytest.mark.jit
def test_the_page(monkeypatch):
    monkeypatch.setattr(sed, "run", lambda settings: run(settings, **SMALL))
    told = []
    with style():
        page = sed.page(dataclasses.replace(TINY, tell=told.append))
    assert page.name == "sed"
    assert told
    names = [part.name for part in page.parts if isinstance(part, Table | Figure)]
    assert len(set(names)) == len(names) == 15
    for part in page.parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.columns) for row in part.rows)
            part.written()


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.jit
def test_ours_agree_with_the_printed_where_nothing_forbids():
    runs = run(Settings(n_resamples=64, n_seeds=40, n_datasets=4))
    for name, least in (("std(eer)", 0.5), ("sed_mean", 0.9), ("sed_std", 0.8)):
        assert sed.agreement(runs, name)[0] >= least
    inside, ratio, correlation = sed.agreement(runs, "fdr", ff.at_fmr(1e-2))
    assert inside >= 0.7
    assert 0.5 < ratio < 2
    assert correlation > 0.7
    # The audit forbids these.
    assert sed.agreement(runs, "garbe")[1] > 1.25
    assert sed.agreement(runs, "inequity_rate")[1] < 0.5


def test_table_one_of_paper_one_comes_from_the_facts():
    rows = {
        row.pop("method"): "".join(
            "x" if row[k] else "." for k in ("C1", "C2", "C3", "L1", "L2", "L3")
        )
        for row in limitations_table()
    }
    assert rows == {
        "STD in FMR": "x..xxx",
        "STD in FNMR": "x..xxx",
        "STD in TMR": "x..xxx",
        "STD in EER": "x...x.",
        "IR": ".x..xx",
        "FDR": ".x..xx",
        "SER": ".x.xxx",
        "MAPE": "..xx.x",
        "GARBE": "..x.xx",
        "SED": "x.x...",
    }
