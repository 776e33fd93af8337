"""Which fairness measures the answer speaks of, and what it calls different from fair."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.quiet import quietly

import fastfair as ff
from fastfair.evaluation.chapter import (
    LEADING,
    judged_measures,
    leading_measures,
    measures_at,
    printed_tables,
    rates_of_groups,
    sentence_on_extreme_groups,
    sentences_on_sessions,
)
from fastfair.measures._registry import measure_of
from fastfair.pages.parts import Beside
from fastfair.uncertainty.notes import Code, Note
from fastfair.uncertainty.quantities import find

pytestmark = pytest.mark.jit
POINTS = [ff.at_threshold(1.0), ff.at_threshold(0.6)]


@pytest.fixture(scope="module")
def unfair():
    given = columns(n=20_000)
    worse = given["scores"] + 0.6 * ((given["reference_group"] == "f") & ~given["mated"])
    return ff.evaluate(ff.Comparisons(**given | {"scores": worse}), POINTS, n_resamples=400, rng=1)


@pytest.fixture(scope="module")
def few():
    return ff.evaluate(ff.Comparisons(**columns()), POINTS[0], ["std"], n_resamples=400, rng=1)


def least_times_number_left(pvalues: list[float]) -> list[float]:
    """Adjust by Holm's procedure, step by step."""
    adjusted, largest = dict[int, float](), 0.0
    for n_before, k in enumerate(sorted(range(len(pvalues)), key=lambda k: pvalues[k])):
        largest = max(largest, min(1.0, (len(pvalues) - n_before) * pvalues[k]))
        adjusted[k] = largest
    return [adjusted[k] for k in range(len(pvalues))]


def test_the_usual_measures_are_judged_by_pvalues_adjusted_over_all_points(unfair):
    judged = judged_measures(unfair)
    assert [(one.measure.name, one.measure.at) for one in judged] == [
        (name, at) for at in POINTS for name in LEADING
    ]
    assert [one.pvalue for one in judged] == pytest.approx(
        least_times_number_left([q.measure.pvalue for q in judged])
    )
    for one in judged:
        assert one.differs == ("yes" if one.pvalue <= 0.05 else "may be chance")
    assert (
        find(
            [one.measure for one in judged if one.differs == "yes"], LEADING[1], None, POINTS[0]
        ).low
        > 1
    )
    assert {one.differs for one in judged} == {"yes", "may be chance"}


def test_sentences_and_tables_speak_of_these_and_count_all(unfair):
    (said,) = (line for line in unfair.summary().splitlines() if line.startswith("Measures: "))
    n_all = len({one for rates in unfair.rates for one in measures_at(unfair, rates)})
    assert "Differs from fair: GARBE at threshold=1" in said
    assert (
        f"Measures looked at: {n_all}; chosen in advance, with p-values adjusted for them: 6."
        in said
    )
    by_heading = dict[str, list]()
    for _, headings, rows in printed_tables(unfair):
        by_heading.setdefault(headings[-1], []).append((headings, rows))
    assert [len(rows) for _, rows in by_heading["Differs from fair?"]] == [3, 3]
    assert [len(rows) for _, rows in by_heading["p, not adjusted"]] == [
        len(measures_at(unfair, unfair.rates[0]))
    ] * 2
    assert all(headings[-2] == "p, adjusted" for headings, _ in by_heading["Differs from fair?"])


def test_measures_asked_for_are_those_of_the_answer_where_they_are_few(few):
    assert [one.measure.name for one in judged_measures(few)] == [
        "std(fmr)",
        "std(fnmr)",
        "std(tmr)",
        "std(eer)",
    ]
    assert "p, not adjusted" not in {headings[-1] for _, headings, _ in printed_tables(few)}
    more = ff.evaluate(few.comparisons, POINTS[0], ["std", "nrb"], n_resamples=10, rng=1)
    assert [one.name for one in leading_measures(more, more.rates[0])] == [
        one.measure.name for one in judged_measures(few)
    ]


def test_what_is_read_back_is_judged_alike(unfair, tmp_path):
    unfair.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "All measures at threshold=1" in page
    assert "More measures" not in page
    (again,) = ff.read_results(tmp_path / "page.html")
    assert judged_measures(again) == judged_measures(unfair)


def test_without_inversion_nothing_is_called_different(unfair):
    found = ff.evaluate(
        unfair.comparisons,
        POINTS[0],
        n_resamples=50,
        rng=1,
        settings=ff.EvaluationSettings(method="percentile"),
    )
    assert {one.pvalue for one in found.quantities} == {None}
    assert {one.differs for one in judged_measures(found)} <= {"may be chance", "not known"}
    without = ff.evaluate(unfair.comparisons, POINTS[0], n_resamples=0)
    assert judged_measures(without) == []
    assert "Measures:" not in without.summary()


def test_pvalues_say_what_intervals_of_every_level_say(unfair):
    for level in (0.5, 0.8, 0.95, 0.99):
        for one in unfair.with_intervals(level).quantities:
            if (
                one.pvalue is None
                or math.isnan(one.pvalue)
                or one.low is None
                or math.isnan(one.low)
            ):
                continue
            fair = measure_of(one.name).fair_value
            is_outside = not one.low <= fair <= one.high
            if abs(one.pvalue - (1 - level)) > 0.02:
                assert is_outside == (one.pvalue < 1 - level), (one, level)


def test_measures_at_thresholds_of_their_own_are_flagged_where_a_group_has_few_errors_there(few):
    of_many = ff.evaluate(few.comparisons, POINTS[0], ["sed"], metrics=[], n_resamples=20, rng=0)
    some = ff.Comparisons(**columns(n=900))
    at_own = ff.rates(some, ff.at_mean_group_eer()).counts
    assert min(*at_own.group_false_matches, *at_own.group_false_nonmatches) < 10
    of_few = ff.evaluate(some, POINTS[0], ["sed", "std"], metrics=["eer"], n_resamples=20, rng=0)
    for found, expected in ((of_many, False), (of_few, True)):
        for name in ("sed_mean", "sed_std"):
            assert ("narrow" in found.quantity(name).flags) == expected
    assert "fewer than 10 false matches" in of_few.quantity("sed_mean").note
    assert "fewer than 10 false matches" not in of_few.quantity("std(eer)").note
    assert (
        "narrow"
        not in ff.evaluate(some, POINTS[0], ["sed"], metrics=["eer"], n_resamples=0)
        .quantity("sed_mean")
        .flags
    )


def test_the_cllr_of_a_group_is_flagged_and_that_of_all_is_not(few):
    found = ff.evaluate(few.comparisons, POINTS[0], [], metrics=["cllr"], n_resamples=20, rng=0)
    assert {("narrow" in found.quantity("cllr", group).flags) for group in found.groups} == {True}
    assert "narrow" not in found.quantity("cllr").flags
    assert "extreme scores of few people" in found.quantity("cllr", found.groups[0]).note


def test_measures_of_small_groups_are_flagged_unless_they_hold():
    """Those that divide by rates hold the fair value, and so does GARBE, which is relative and
    takes both rates."""
    rng = np.random.default_rng(1)
    person, others = (
        np.arange(24),
        np.where(np.arange(24) % 12 == 11, np.arange(24) - 11, np.arange(24) + 1),
    )
    tried = np.repeat(person, 10)
    accepted = (
        rng.random(240) >= np.where(person % 12 < 3, 0.9, 0.05)[tried]
    )  # three of twelve fail nearly always
    scores = np.concatenate((accepted, rng.random(24) < 0.3)).astype(float)
    reference, probe = np.concatenate((tried, person)), np.concatenate((tried, others))
    c = ff.Comparisons(
        scores, np.repeat([1, 0], [240, 24]), reference, probe, reference // 12, probe // 12
    )
    found = ff.evaluate(c, ff.at_threshold(0.5), metrics=["eer"], n_resamples=20, rng=0)
    flagged = {one.name for one in found.quantities if "fewer than 20 independent ones" in one.note}
    assert {"std(fnmr)", "std(tmr)", "std(eer)", "gini(fnmr)", "fdr"} <= flagged
    assert not flagged & {
        "garbe",
        "std(fmr)",
        "gini(fmr)",
        "max_geomean_ratio(fnmr)",
        "inequity_rate",
        "nrb(fnmr)",
    }
    assert all("narrow" in found.quantity(name).flags for name in ("std(fnmr)", "gini(fnmr)"))


def test_axes_are_not_stretched_by_limits_of_groups_with_few_errors():
    sizes = (("big", 4000, 200), ("tiny", 6, 1))
    rows = [(group, k < errors) for group, n, errors in sizes for k in range(n)]
    group = [name for name, _ in rows]
    mated = ff.Comparisons(
        [0.2 if failed else 0.9 for _, failed in rows],
        [1] * len(rows),
        reference_group=group,
        probe_group=group,
    )
    with quietly():
        found = ff.evaluate(mated, POINTS[1], [], unit="comparison", n_resamples=50, rng=1)
    assert found.interval("fnmr", "tiny")[1] > 0.3
    table = rates_of_groups(found, found.rates[0], Beside(evaluations=[found]), ())
    drawn = [row for row in table.rows if "tiny" in str(row[0])]
    assert 'd="M0-4 5 0 0 4"' in drawn[0][2].drawing
    assert sentence_on_extreme_groups(found, "fnmr", POINTS[1]).startswith("Only big")


def test_equal_rates_have_no_highest_and_lowest():
    group = ["a"] * 100 + ["b"] * 100
    mated = ff.Comparisons([0.9] * 50 + [0.2] * 100 + [0.9] * 50, [1] * 200, None, None, group)
    found = ff.evaluate(mated, POINTS[1], [], n_resamples=0)
    said = sentence_on_extreme_groups(found, "fnmr", POINTS[1])
    assert said == "FNMR is 50 % in each of 2 groups."


def test_people_of_groups_are_counted_also_without_mated_comparisons():
    person, sex = np.arange(40), np.array(["f", "m"])
    mated = person[:16]  # of whom there are two samples
    reference = np.concatenate([mated, np.repeat(person, 2)])
    probe = np.concatenate([mated, (np.repeat(person, 2) + np.tile([1, 2], 40)) % 40])
    is_mated = np.arange(reference.size) < mated.size
    scores = np.random.default_rng(0).normal(2.0 * is_mated)
    of_sex = sex[reference % 2], sex[probe % 2]
    evaluation = ff.evaluate(
        ff.Comparisons(scores, is_mated, reference, probe, *of_sex), POINTS[0], n_resamples=0
    )
    table = rates_of_groups(evaluation, evaluation.rates[0], Beside(), [])
    people = {row[0]: row[1] for row in table.rows}
    assert people == {"all": "40", "f": "20", "m": "20"}


def test_sessions_that_change_nothing_are_not_said_to_do_so_once():
    for times, words in ((1.0004, "is that of people alone"), (1.2, "is 1.2 times that of people")):
        effect = {"n": 20, "times": times, "people": 5.2, "sessions": 1.0}
        row = SimpleNamespace(
            name="fmr", title="FMR", notes=[Note.of(Code.EFFECT_OF_SESSIONS, **effect)]
        )
        (sentence,) = sentences_on_sessions(SimpleNamespace(quantities=[row]))
        assert words in sentence
