"""The page on paper 1: its printed constants, its rules on made-up numbers, and what must come out of a run."""

from __future__ import annotations

import csv
import dataclasses
import math

import numpy as np
import pytest

import fastfair as ff
from papers import sed
from papers.figure_style import style
from papers.page_parts import Figure, Table
from papers.sed import audit, claims, printed
from papers.sed.law import lawful_scores
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
        (one.table, one.ratios, *(cell.text for cell in one.numbers.values())) for one in printed.SYSTEMS
    ]


def test_printed_digits_bound_the_number():
    number = printed.PrintedNumber("8.66e-4")
    assert (number.value, number.half_unit) == pytest.approx((8.66e-4, 5e-7))
    assert printed.PrintedNumber("134").half_unit == 0.5


@pytest.mark.parametrize("exponents", [True, False])
def test_no_system_of_that_size_exceeds_the_largest_inequity_rate(exponents):
    rng = np.random.default_rng(0)
    for _ in range(300):
        errors = rng.integers(1, 40, (2, 4)) / printed.SET_SIZE
        fdr = float(ff.measures.fdr(*errors))
        rate = float(ff.measures.inequity_rate(*errors)) ** (1 if exponents else 2)
        assert rate <= audit.largest_inequity_rate(printed.PrintedNumber(f"{fdr:.12f}"), exponents) * (1 + 1e-6)
    extreme = np.array([[1, 1, 1, 31]] * 2) / printed.SET_SIZE
    number = printed.PrintedNumber(f"{float(ff.measures.fdr(*extreme)):.12f}")
    assert audit.largest_inequity_rate(number) == pytest.approx(float(ff.measures.inequity_rate(*extreme)), rel=1e-4)


@pytest.mark.parametrize("ratios", ["1:1:1:2", "1:2:2:2", "1:1:2:2", "1:1:2:3", "1:2:3:5"])
def test_no_system_has_less_than_the_least_garbe(ratios):
    rng = np.random.default_rng(1)
    parts = [int(part) for part in ratios.split(":")]
    for _ in range(200):
        # Both error rates grow with the factor, by whatever steps.
        rates = [0.1 * np.cumsum(rng.random(6) ** 3 + 1e-3)[parts] for _ in range(2)]
        rate, garbe = float(ff.measures.inequity_rate(*rates)), float(ff.measures.garbe(*rates))
        for exponents, value in ((True, rate), (False, rate**2)):
            row = {"inequity_rate": printed.PrintedNumber(f"{value:.12f}")}
            made = printed.PrintedSystem("IV", ratios, row)
            assert garbe >= audit.least_garbe(made, exponents) - 1e-9


def test_the_printed_garbe_comes_of_no_inequity_rate_printed():
    row = audit.row("1:1:1:2")
    assert audit.least_garbe(row) > audit.least_garbe(row, exponents=False) > 0.03 > row.numbers["garbe"].high
    assert len(audit.mirrored()) == 6
    assert all(one.numbers["garbe"].text == other.numbers["garbe"].text for one, other in audit.mirrored())


def test_the_printed_garbe_is_a_sum_over_pairs_and_garbe_is_not():
    sums = audit.garbe_as_pair_sums()
    assert (sums.n_systems, sums.n_terms) == (34, 6)
    assert sums.largest_miss < 5e-5
    rates = dict(zip((1, 2, 3, 5), (1e-3, 2e-3, 3e-3, 5e-3), strict=True))
    assert (
        audit.garbe_as_pair_sums([_with(one, "garbe", ff.measures.garbe, rates) for one in FALSE_MATCHES]).largest_miss
        > 0.01
    )


FALSE_MATCHES = [one for one in printed.SYSTEMS if one.kind == "fmr"]


def _with(one, name, function, rates):
    """A system with the true value of a measure for these rates of the factors in place of a printed number."""
    of_groups = [rates.get(factor, 0.01) for factor in audit.factors(one)]
    value = float(function(of_groups) if name == "std(eer)" else function(of_groups, of_groups))
    return dataclasses.replace(one, numbers={**one.numbers, name: printed.PrintedNumber(f"{value:.9f}")})


def test_eers_behind_standard_deviations_are_found():
    rates = dict(zip((1, 2, 3, 5), (0.010, 0.008, 0.013, 0.019), strict=True))
    found = audit.eers_behind([_with(one, "std(eer)", ff.measures.std, rates) for one in FALSE_MATCHES])
    assert found.offset == pytest.approx({1: 0, 2: -0.002, 3: 0.003, 5: 0.009}, abs=1e-7)
    assert found.outliers == ()


def test_two_printed_standard_deviations_are_the_garbe_of_their_rows():
    found = audit.eers_behind()
    assert list(found.outliers) == audit.repeated_garbe() == ["1:2:2:3", "1:2:2:5"]
    assert found.offset[2] < 0 < found.offset[5]
    assert [found.predicted[ratios] for ratios in found.outliers] == pytest.approx([2.04e-3, 4.61e-3], abs=1e-5)


def test_one_fdr_is_not_that_of_its_extremes():
    assert audit.odd_within_extremes("fdr") == [("1:2:2:5", "0.9920", "0.9923")]
    assert audit.odd_within_extremes("inequity_rate") == []
    assert audit.broken_chains("inequity_rate", lambda a, b: a * b) == []
    assert audit.broken_chains("inequity_rate", lambda a, b: a + b) != []


def test_a_system_is_worse_where_no_group_is_better():
    assert claims.is_worse("1:1:3:5", "1:1:2:5")
    assert claims.is_worse("1:5:5:2", "1:2:2:5")  # whichever group it is
    assert not claims.is_worse("1:2:2:2", "1:1:1:3")
    assert not claims.is_worse("1:1:1:1", "1:1:1:1")


def test_shares_in_order_count_ties_and_the_wrong_way():
    pairs = (("1:1:1:1", "1:1:1:2"), ("1:1:1:2", "1:1:1:3"), ("1:1:1:1", "1:1:1:3"), ("1:1:1:3", "1:1:1:5"))
    values = {"1:1:1:1": 1.0, "1:1:1:2": 2.0, "1:1:1:3": 2.0, "1:1:1:5": 1.5}
    scores = {("garbe", "fmr", ratios): value for ratios, value in values.items()}
    assert claims.share_in_order(scores, "garbe", pairs) == 0.5
    turned = {("fdr", "fmr", ratios): -value for ratios, value in values.items()}  # higher is fairer
    assert claims.share_in_order(turned, "fdr", pairs) == 0.5
    scores["garbe", "fmr", "1:1:1:5"] = math.inf
    assert math.isnan(claims.share_in_order(scores, "garbe", pairs))


@pytest.mark.parametrize(
    ("share", "known", "law", "verdict"),
    [
        (1.0, 10, False, "holds"), (0.95, 10, None, "holds"), (0.9, 10, False, "in part"), (0.5, 10, False, "in part"),
        (0.4, 10, True, "in part"), (0.4, 10, False, "fails"), (1.0, 5, True, "open"), (math.nan, 0, True, "open"),
    ],
)  # fmt: skip
def test_verdicts(share, known, law, verdict):
    assert claims.decide(share, known, 10, law) == verdict


def test_what_the_printed_tables_obey():
    scores = claims.printed_scores()
    broken = [claim.text for claim in claims.claims() if not claim.test(scores)]
    assert broken == ["STD of EER and STD of SED share their failure cases", "Mean SED ranked all systems correctly"]


def test_every_claim_can_fail():
    rng = np.random.default_rng(2)
    keys = list(claims.printed_scores())
    for claim in claims.claims():
        noise = [dict(zip(keys, rng.random(len(keys)).tolist(), strict=True)) for _ in range(20)]
        assert not all(claim.test(scores) for scores in noise), claim.text


def test_without_chance_the_paper_is_right_but_for_standard_deviations():
    law = lawful_scores()
    broken = [claim.text for claim in claims.claims() if not claim.test(law)]
    assert broken == [
        "STD of EER scores 1:1:3:5 below 1:1:2:5",
        "STD of SED scores 1:1:3:5 below 1:1:2:5",
        "STD of EER scores 1:5:5:2 above 1:5:5:3 and 1:5:5:5",
        "STD of SED scores 1:5:5:2 above 1:5:5:3 and 1:5:5:5",
    ]


@pytest.mark.jit
def test_systems_without_chance_are_the_limit_of_samples():
    at, law = ff.at_fmr(1e-3), lawful_scores()
    overall = ff.binormal_comparisons(400_000, 400_000, fmr=1e-4, rng=0)
    threshold = ff.rates(overall, at).threshold
    groups = [ff.binormal_comparisons(400_000, 400_000, fmr=k * 1e-3, rng=k) for k in (1, 50)]
    one, other = (ff.rates(group, ff.at_threshold(threshold)) for group in groups)
    rates = [one.fmr] * 3 + [other.fmr], [one.fnmr] * 3 + [other.fnmr]
    assert law["fdr", "fmr", "1:1:1:50"] == pytest.approx(float(ff.measures.fdr(*rates)), abs=1e-3)
    assert law["garbe", "fmr", "1:1:1:50"] == pytest.approx(float(ff.measures.garbe(*rates)), abs=0.03)
    eers = [ff.eer(groups[0]).value] * 3 + [ff.eer(groups[1]).value]
    assert law["std(eer)", "fmr", "1:1:1:50"] == pytest.approx(float(ff.measures.std(eers)), abs=3e-4)


def test_statements_on_limitations_can_fail():
    marks = ff.measures.limitations_table()
    assert {one.verdict for one in sed.limitation_verdicts(marks)} == {"holds"}
    changed = [row | {"L2": True} for row in marks]
    outcomes = [one.verdict for one in sed.limitation_verdicts(changed)]
    assert outcomes.count("fails") == 1


@pytest.mark.jit
def test_runs_hold_the_measures_of_the_engine(runs):
    family = ff.scenario_family(rng=np.random.SeedSequence(0).spawn(2)[1], **SMALL)
    expected = {
        (one.measure, one.kind, one.ratios): one.value
        for one in family.measures(measures=["fdr", "sed"])
        if one.group is None
    }
    scores = runs.of_seed(1)
    assert {key: scores[key] for key in expected if np.isfinite(expected[key])} == {
        key: value for key, value in expected.items() if np.isfinite(value)
    }
    assert len(expected) == 3 * 44
    assert len(runs.sets) == 14
    assert all(len(made) == 2 for made in runs.sets.values())


@pytest.mark.jit
def test_tables_stand_beside_the_printed_ones(runs):
    table = sed.measures_table(runs, "VI")
    assert [row[0] for row in table.rows] == list(printed.TABLES["VI"][1])
    column = table.columns.index("GARBE, printed")
    assert table.rows[0][column] == "0.0090"
    sets = sed.sets_table(runs)
    assert [row[3] for row in sets.rows] == [100] * 14  # all rates are reached


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
@pytest.mark.long
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
