"""The page on choosing measures: rules on made-up numbers, laws against samples, and the page itself."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import fastfair as ff
from fastfair.uncertainty.quantities import Quantity
from papers import choosing
from papers.choosing import rules
from papers.choosing.runs import GROUPINGS, MADE, POINTS, Entry, Runs, made_system, run
from papers.figure_style import style
from papers.laws import measures_of_laws, threshold_at_fmr
from papers.page_parts import Figure, Range, Table
from papers.quantities import WHY_WITHHELD, fairer
from papers.settings import Settings
from papers.voxceleb import SYSTEMS

TINY = Settings(n_resamples=80, n_seeds=2, n_datasets=4)


def contrast(name, first, second, verdict):
    numbers = dict.fromkeys(("low", "high", "pvalue", "pvalue_adjusted", "ratio", "ratio_low", "ratio_high"), 0.5)
    return ff.Contrast(
        name=name, group=None, at=None, first=first, second=second, difference=first - second,
        not_computable=0.0, verdict=verdict, **numbers,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "first", "second", "favoured"),
    [
        ("fdr", 0.9, 0.8, "first"), ("fdr", 0.8, 0.9, "second"), ("garbe", 0.2, 0.1, "second"), ("garbe", 0.1, 0.1, ""),
        ("inequity_rate", 1.5, 2.0, "first"), ("inequity_rate", math.inf, 2.0, ""),
    ],
)  # fmt: skip
def test_estimates_favour_what_is_nearer_to_fair(name, first, second, favoured):
    assert rules.favours(contrast(name, first, second, "undecided")) == favoured


def test_relations_need_both_verdicts():
    one, same = contrast("fdr", 0.9, 0.8, "first"), contrast("garbe", 0.1, 0.2, "first")
    other, open_ = contrast("garbe", 0.2, 0.1, "second"), contrast("garbe", 0.2, 0.1, "undecided")
    endless, silent = contrast("inequity_rate", math.inf, 2.0, ""), contrast("gini(fmr)", 0.2, 0.1, "withheld")
    assert [rules.relation(one, two) for two in (same, other, open_, silent, endless)] == [
        "agree", "disagree", "not told apart", "withheld", "not computable",
    ]  # fmt: skip
    assert rules.relation(endless, silent) == rules.relation(endless, one) == "not computable"
    assert rules.relation(open_, silent) == "withheld"
    counted = choosing.count_relations([one, same, other, open_, endless])
    assert sum(counted.values()) - counted["opposite estimates"] == 10
    assert (counted["agree"], counted["disagree"], counted["not told apart"]) == (1, 2, 3)
    assert counted["opposite estimates"] == 4


def test_differences_have_intervals_where_there_are_two_ends():
    whole = contrast("fdr", 0.9, 0.8, "first")
    half = dataclasses.replace(whole, high=math.nan, verdict="undecided")
    endless = dataclasses.replace(whole, difference=math.nan, verdict="")
    silent = dataclasses.replace(whole, verdict="withheld")
    rows = choosing.contrasts_table(("Gender",), [whole, half, endless, silent]).rows
    assert [row[2] for row in rows[:2]] == [Range(whole.difference, 0.5, 0.5), whole.difference]
    assert [row[3] for row in rows] == [SYSTEMS[0], SYSTEMS[0], "not computable", SYSTEMS[0]]
    assert [row[4] for row in rows] == [SYSTEMS[0], "not told apart", "not computable", "withheld"]


def entry(measure, estimate, low, high, error=0.1, data="x"):
    return Entry(
        data, measure, 1e-3, Quantity(measure, None, ff.at_fmr(1e-3), estimate, low, high, standard_error=error)
    )


def test_entries_say_whether_they_leave_the_fair_value_out():
    assert entry("garbe", 0.3, 0.1, 0.5).tells_bias
    assert not entry("garbe", 0.3, 0.0, 0.5).tells_bias
    assert not entry("fdr", 0.9, 0.8, 1.0).tells_bias
    assert entry("fdr", 0.9, 0.8, 0.95).tells_bias
    endless = entry("inequity_rate", math.inf, math.nan, math.nan)
    assert not endless.computable
    assert not endless.tells_bias
    assert entry("garbe", 0.4, 0.1, 0.5).uncertainty == 0.25
    assert math.isnan(endless.uncertainty)


def test_measures_keep_their_scale_or_not():
    kept = {name: rules.keeps_scale(name) for name in ("garbe", "inequity_rate", "fdr", "std(fnmr)", "mape(fmr)")}
    assert kept == {"garbe": True, "inequity_rate": True, "fdr": False, "std(fnmr)": False, "mape(fmr)": True}
    assert rules.keeps_scale("nrb(cllr)") is None


def test_what_measures_do_without_chance():
    law = rules.lawful_scores_once()
    seen = {name for name, kind, ratios in law if (kind, ratios) == ("fmr", "1:1:1:1") and rules.sees_shared(law, name)}
    assert {"sed_mean", "nrb(eer)"} <= seen
    assert not {"garbe", "fdr", "inequity_rate", "std(eer)", "sed_std"} & seen


def ability(**changes):
    base = rules.Ability(
        measure="garbe", error_types=2, needs_policy=True, has_reference=False, bounded=True,
        fails_without_errors=False, computable=1.0, orders_one=1.0, orders_two=1.0, orders_three=0.5,
        sees_shared=False, keeps_scale=True, tells_bias=1.0, false_alarms=0, uncertainty=0.1,
    )  # fmt: skip
    return dataclasses.replace(base, **changes)


def test_every_question_can_be_answered_both_ways():
    able = {
        "garbe": ability(), "fdr": ability(measure="fdr", error_types=1, orders_one=0.9, orders_two=0.5, bounded=False),
        "sed_mean": ability(
            measure="sed_mean", needs_policy=False, has_reference=True, orders_three=1.0, sees_shared=True,
            keeps_scale=False, computable=0.5, uncertainty=0.3, tells_bias=0.2,
        ),
    }  # fmt: skip
    for question in rules.questions(able):
        fit = [question.answers(one) for one in able.values()]
        assert any(fit), question.text
        assert not all(fit), question.text
    first = rules.questions(able)[0]
    found = rules.answer(first, able)
    assert (found.confirmed, found.refused, found.others) == (["garbe", "sed_mean"], ["fdr"], [])


def test_recommended_measures_exist():
    able = {"garbe": ability()}
    for question in rules.questions(able):
        for name in question.recommended:
            assert rules.title(name)


def test_titles():
    assert rules.title("nrb(min_dcf)") == "NRB of minDCF"
    assert rules.title("sed_mean") == "mean SED"
    assert rules.title("inequity_rate") == "IR"


def test_laws_in_equal_parts_have_the_fmr_asked_for():
    laws = [ff.Binormal.of_rates(fmr=rate) for rate in (1e-3, 1e-2, 5e-2)]
    threshold = threshold_at_fmr(laws, 1e-2)
    assert float(np.mean([law.fmr(threshold) for law in laws])) == pytest.approx(1e-2, rel=1e-9)
    assert threshold_at_fmr(laws[:1] * 3, 1e-2) == float(laws[0].threshold_at_fmr(1e-2))


@pytest.mark.jit
def test_measures_of_laws_are_those_of_large_samples():
    rates = (2e-3, 2e-3, 6e-3)
    laws = [ff.Binormal.of_rates(fmr=rate) for rate in rates]
    parts = [law.draw(100_000, 200_000, rng=k) for k, law in enumerate(laws)]
    sides = [side for part in parts for side in (part.mated, part.nonmated)]
    sample = ff.Comparisons(
        np.concatenate([side.similarities for side in sides]),
        np.repeat([True, False] * 3, [len(side) for side in sides]),
        reference_group=np.repeat(list("abc"), 300_000),
    )
    found = ff.evaluate(sample, ff.at_fmr(1e-2), n_resamples=0)
    expected = measures_of_laws(laws, laws, 1e-2)
    for name, value in expected.items():
        assert found.value(name) == pytest.approx(value, rel=0.1, abs=0.02), name


@pytest.mark.jit
def test_made_systems_have_subjects_and_groups():
    made = made_system("1:1:1:5", seed=3)
    assert len(made.groups) == 4
    assert made.subject_counts == (1000, 1000)
    assert made.nonmated_by_group.cells.trace() == len(made.nonmated)  # inside groups alone


@pytest.fixture(scope="module")
def runs():
    """Two systems in place of the real ones, the second worse for one group."""
    rng = np.random.default_rng(5)
    first = made_system("1:1:1:5", seed=1)
    systems = {}
    for groups in GROUPINGS:
        pair = []
        for noise in (0.0, 0.5):
            sides = (first.mated, first.nonmated)
            similarity = np.concatenate([side.similarities for side in sides])
            reference, probe = (
                np.concatenate([np.asarray(getattr(side, which)) for side in sides]) for which in ("reference", "probe")
            )
            similarity = similarity + noise * rng.standard_normal(similarity.size) * (reference % 2) * 0.1
            group = np.where(reference % 2, "odd", "even")
            probe_group = np.where(probe % 2, "odd", "even")
            mated = np.repeat([True, False], [len(side) for side in sides])
            pair.append(ff.Comparisons(similarity, mated, reference, probe, group, probe_group))
        systems[groups] = tuple(pair)
    return run(TINY, systems)


@pytest.mark.jit
def test_runs_cover_all_measures(runs):
    assert {one.data for one in runs.made} == set(MADE)
    n_measures = len(runs.measures)
    assert n_measures == len({one.measure for one in runs.made}) == 24
    assert all(
        math.isfinite(one.truth) for one in runs.made if "min_dcf" not in one.measure and "cllr" not in one.measure
    )
    able = rules.abilities(runs)
    assert able["garbe"].error_types == 2
    assert able["sed_mean"].sees_shared


@pytest.mark.jit
def test_the_page(runs, monkeypatch):
    monkeypatch.setattr(choosing, "run", lambda settings: runs)
    with style():
        page = choosing.page(TINY)
    assert page.name == "choosing"
    names = [part.name for part in page.parts if isinstance(part, Table | Figure)]
    assert len(set(names)) == len(names) == 10
    for part in page.parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.columns) for row in part.rows)
            part.written()
    for grouping, contrasts in runs.contrasts.items():
        shown = [row[4] for row in page.table(f"contrasts_{'_'.join(grouping).lower()}").rows]
        assert shown == [fairer(one.verdict, *SYSTEMS) for one in contrasts]
        assert "not told apart" in shown  # and so there are tests
    text = " ".join(" ".join(part for part in page.parts if isinstance(part, str)).split())
    assert f"*Withheld* are verdicts where `compare` gives {WHY_WITHHELD}." in text
    guide = page.table("guide")
    assert len(guide.rows) == len(rules.questions(rules.abilities(runs)))


@pytest.mark.slow
@pytest.mark.jit
def test_on_voxceleb_measures_contradict_each_other_but_not_beyond_chance(voxceleb):
    found = run(Settings.of(quick=False))
    assert isinstance(found, Runs)
    by_gender, by_both = (
        choosing.count_relations([one for one in contrasts if one.at in (None, POINTS[1])])
        for contrasts in found.contrasts.values()
    )
    assert by_gender["disagree"] == by_both["disagree"] == 0
    # Two large groups: nearly all measures tell the systems apart. Many small ones, some of them without false
    # matches: ratios are not computable, and few of the others tell.
    assert by_gender["agree"] > 200
    assert by_gender["withheld"] == by_gender["not computable"] == 0
    assert 0 < by_both["agree"] < 10
    assert (by_both["withheld"], by_both["not computable"]) == (0, 123)
    assert by_both["opposite estimates"] > 50
    inside = [
        one.quantity.low <= one.truth <= one.quantity.high
        for one in found.made
        if one.computable and one.truth == one.truth
    ]
    assert np.mean(inside) > 0.8
