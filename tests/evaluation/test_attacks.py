"""IAPAR, APCER, BPCER and RIAPAR: the limits of decisions, the largest species, sums, and what
claims, checks and commands make of them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run
from helpers.refusals import refused

import fastfair as ff
from fastfair.data.attacks import attack_decisions
from fastfair.intervals import sum_interval

AT = ff.at_threshold(1.5)
SPECIES = {"mask": 0.3, "print": 1.0, "replay": -1.0}
QUICK = {"n_resamples": 200, "rng": 0}
pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.NarrowIntervalsWarning")


def frame_of(seed=0, n_people=50, *, detector=False):
    """Return rows of people of two sexes, of whom some are easily imitated."""
    rng = np.random.default_rng(seed)
    easy = rng.normal(0, 0.5, n_people)
    rows = []
    for person in range(n_people):
        sex = "fm"[person % 2]
        for other in [person] * 4 + rng.choice(n_people, 0 if detector else 4).tolist():
            score = rng.normal(2.5 if other == person else 0)
            rows.append((f"p{person}", f"p{other}", sex, "fm"[other % 2], "bonafide", score))
        for species, mean in SPECIES.items():
            for _ in range(3):
                score = rng.normal(mean + easy[person])
                rows.append((f"p{person}", f"p{person}", sex, sex, species, score))
    columns = ["reference", "probe", "reference_sex", "probe_sex", "species", "score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(mated=pl.col("reference") == pl.col("probe"))


def comparisons(*, detector=False, groups="sex"):
    layout = ff.Layout(attack="species")
    return ff.read_comparisons(frame_of(detector=detector), groups=groups, layout=layout)


def test_rates_have_the_limits_of_decisions():
    c = comparisons()
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    decisions = attack_decisions(c, AT.value)
    settings = ff.EvaluationSettings(incomplete_groups="nan")
    half = ff.at_threshold(0.5)
    for data, of_group in ((decisions, False), (decisions.by("sex"), True)):
        evaluation = ff.evaluate(data, half, [], metrics=[], settings=settings, **QUICK)
        for group in evaluation.groups:
            row = rates.of("iapar", *((None, group) if of_group else (group,)))
            assert (row.low, row.high) == evaluation.interval("fnmr", group)
            assert row.estimate == evaluation.value("fnmr", group)
    fnmr = ff.evaluate(c, AT, [], metrics=[], **QUICK)
    assert rates.of("fnmr").estimate == fnmr.value("fnmr")
    assert rates.of("fnmr", None, "f").estimate == fnmr.value("fnmr", "f")
    assert (rates.rate, rates.species) == ("iapar", tuple(SPECIES))


def test_the_largest_species_has_wider_limits_than_its_own():
    rates = ff.evaluate_attacks(comparisons(), AT, **QUICK)
    own = rates.of("iapar", "print")
    assert rates.largest.species == "print"
    assert rates.largest.low <= own.low
    assert own.high < rates.largest.high
    assert "The largest IAPAR is that of print" in rates.summary()


def test_a_sum_has_limits_of_both_parts():
    rates = ff.evaluate_attacks(comparisons(), AT, **QUICK)
    fnmr = rates.of("fnmr")
    for species in (None, *SPECIES):
        iapar, riapar = rates.of("iapar", species), rates.of("riapar", species)
        assert riapar.estimate == iapar.estimate + fnmr.estimate
        parts = [np.array([row.estimate, row.low, row.high]) for row in (iapar, fnmr)]
        low, high = sum_interval(*parts, np.float64(0))
        assert riapar.low <= low + 1e-12
        assert riapar.high >= high - 1e-12
        if species == "replay":
            most = sum_interval(*parts, np.float64(1))
            assert (riapar.low, riapar.high) >= (most[0] - 1e-12, 0)


def test_detectors_have_apcer_and_bpcer():
    c = comparisons(detector=True)
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    assert {row.name for row in rates.rows} == {"apcer", "bpcer"}
    checked = ff.check(c, ["apcer[*] <= 60 %", "bpcer[*] <= 50 %"], AT, **QUICK)
    assert [row.name for row in checked.rows] == ["apcer"] * 3 + ["bpcer"] * 2
    assert checked.rows[1].estimate == rates.of("apcer", "print").estimate
    assert checked.rows[3].estimate == rates.of("bpcer", None, "f").estimate
    again = ff.evaluate_attacks(c, AT, rate="iapar", **QUICK)
    assert again.of("iapar").estimate == rates.of("apcer").estimate
    refused("holds the BPCER", ff.check, c, "bpcer <= 5 %", ff.at_fnmr(0.05))


def test_requirements_name_species_and_groups_of_people():
    c = comparisons()
    at = ff.at_fmr(0.05)
    rates = ff.evaluate_attacks(c, at, **QUICK)
    lines = ["iapar[*] <= 50 %", "iapar[sex=f] <= 40 %", "riapar[print] <= 99 %", "riapar <= 99 %"]
    lines += ["iapar[print] <= 5 %", "fnmr[sex=*] <= 60 %", "iapar[mask]@threshold=9 <= 20 %"]
    checked = ff.check(c, lines, at, **QUICK)
    rows = {row.title: row for row in checked.rows}
    assert rows["IAPAR of print at FMR=0.05"].estimate == rates.of("iapar", "print").estimate
    women = rows["IAPAR of sex=f at FMR=0.05"]
    assert women.estimate == rates.of("iapar", None, "f").estimate
    assert rows["RIAPAR of print at FMR=0.05"].estimate == rates.of("riapar", "print").estimate
    assert rows["RIAPAR at FMR=0.05"].high == pytest.approx(rates.of("riapar").high, rel=0.1)
    assert rows["IAPAR of mask at threshold=9"].n_errors == 0
    assert checked.verdicts["iapar[print] <= 5 %"] == "not met"
    assert checked.verdicts["iapar[*] <= 50 %"] == "met"
    claimed = ff.claim(c, "iapar <= 30 %", at, **QUICK)
    assert (claimed.rate, claimed.at) == ("iapar", ff.at_threshold(rates.threshold))
    assert [group.group for group in claimed.groups] == list(SPECIES)
    assert "attack presentations are errors" in claimed.summary()


def test_rates_that_data_do_not_have_are_refused():
    c = comparisons()
    refused("their rate of attacks is the IAPAR", ff.check, c, "apcer[*] <= 5 %", AT)
    refused("their rate of attacks is the IAPAR", ff.claim, c, "apcer <= 5 %", AT)
    refused("their rate of attacks is the IAPAR", ff.evaluate_attacks, c, AT, rate="apcer")
    refused("no group 'glass'", ff.check, c, "iapar[glass] <= 5 %", AT)
    refused("is that of a species", ff.check, c, "riapar[sex=f] <= 5 %", AT)
    bare = c._with_parts(attacks=None)
    refused("or comparisons with attacks", ff.check, bare, "iapar <= 5 %", AT)
    refused("have no attacks", ff.evaluate_attacks, bare, AT)


def test_limits_of_attacks_taken_for_independent_are_in_doubt():
    checked = ff.check(
        comparisons(), ["iapar <= 99 %", "riapar <= 1.9"], AT, unit="comparison", **QUICK
    )
    assert set(checked.verdicts.values()) == {"undecided"}
    assert "of the same subjects" in checked.rows[0].doubt


def test_few_people_with_the_same_species_make_no_stratum():
    """Species are no strata of people: of those with species of their own, weights vary."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 20)
    species = np.array([f"s{k:02}" for k in (person % 15)])
    c = ff.Comparisons(rng.normal(2, 1, 30), np.ones(30, bool), np.arange(30), np.arange(30))
    level = rng.normal(0, 1, 30)[person]
    c = ff.add_attacks(c, level + rng.normal(0, 0.3, 600), species, person)
    rates = ff.evaluate_attacks(c, ff.at_threshold(0), **QUICK)
    row = rates.of("apcer")
    assert row.high - row.low > 0.2


def test_commands_take_attacks(tmp_path):
    frame_of().write_csv(tmp_path / "s.csv")
    given = [str(tmp_path / "s.csv"), "--attack", "species", "--group", "sex", "--at"]
    given += ["threshold=1.5", "--n-resamples", "100", "--seed", "1", "--json"]
    done = json.loads(run("evaluate", *given, "--require", "iapar[*] <= 90 %").stdout)
    assert set(done) >= {"check", "attacks", "evaluation"}
    assert done["attacks"]["largest"]["species"] == "print"
    done = json.loads(run("check", *given, "--require", "riapar[*] <= 1.2").stdout)
    assert [row["name"] for row in done["rows"]] == ["riapar"] * 3
    report = tmp_path / "page.html"
    run("claim", given[0], "iapar <= 50 %", *given[1:], "--report", str(report))
    assert "IAPAR" in report.read_text()
