"""`claim`: limits, p-values and verdicts that say the same, on data whose answer is known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.data_sets import scores_with_hubs
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import fastfair as ff
from fastfair.claims import independent_limit

AT = ff.at_threshold(0.5)


def comparisons(errors: int, n: int, groups: tuple[str, ...] = ()) -> ff.Comparisons:
    """Make non-mated comparisons of two new subjects each, some of which are false matches, and one
    mated one."""
    scores = np.where(np.arange(n) < errors, 0.9, 0.1)
    mates = -1 - np.arange(max(1, len(groups)))
    first, second = (np.append(2 * np.arange(n) + k, mates) for k in (0, 1))
    labels = [*np.resize(groups, n).tolist(), *groups] if groups else None
    return ff.Comparisons(
        np.append(scores, np.full(mates.size, 0.9)), first == second, first, second, labels, labels
    )


@given(errors=st.integers(0, 40), more=st.integers(0, 1000), level=st.floats(0.6, 0.99))
def test_the_limit_of_independent_comparisons_is_scipys(errors, more, level):
    n = errors + more
    if n:
        expected = binomtest(errors, n, alternative="less").proportion_ci(level, "exact").high
        assert independent_limit(errors, n, level) == pytest.approx(expected, rel=1e-9)


def test_without_errors_the_rule_of_3_is_close_to_the_limit():
    found = ff.claim(comparisons(0, 1000), "fmr <= 0.4 %", AT, rng=0)
    one = found.overall
    assert one.rule_of_3 == 0.003
    assert one.independent_limit == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert one.limit >= one.independent_limit
    assert not one.meets_rule_of_30
    assert found.claimed == 0.004
    assert found.groups == ()


def test_verdicts_of_independent_comparisons():
    data = comparisons(50, 1000)
    verdicts = {
        limit: ff.claim(data, f"FMR <= {limit}", AT, rng=0).overall.verdict
        for limit in (0.1, 0.055, 0.03)
    }
    assert verdicts == {0.1: "supported", 0.055: "undecided", 0.03: "contradicted"}
    at_the_edge = ff.claim(data, "fmr <= 0.0655", AT, rng=0).overall
    assert at_the_edge.limit == pytest.approx(at_the_edge.independent_limit, rel=0.1)


def test_groups_are_adjusted_and_all_of_them_together_are_not():
    data = comparisons(20, 2000, ("a", "b", "c", "d"))
    found = ff.claim(data, "fmr <= 2 %", AT, rng=0)
    raw = np.array([group.pvalue for group in found.groups])
    assert [group.group for group in found.groups] == ["a", "b", "c", "d"]
    assert np.allclose([group.pvalue_adjusted for group in found.groups], ff.intervals.holm(raw))
    supported = all(group.verdict == "supported" for group in found.groups)
    assert supported == bool((raw <= 0.05).all())


def test_limits_are_the_upper_limits_of_evaluate():
    data = comparisons(20, 600, ("f", "m"))
    found = ff.claim(data, "fmr <= 10 %", AT, rng=3, confidence_level=0.9)
    evaluation = ff.evaluate(
        data, AT, [], metrics=[], rng=3, confidence_level=0.9, alternative="less"
    )
    assert found.overall.limit == evaluation.interval("fmr")[1]
    assert [group.limit for group in found.groups] == [
        evaluation.interval("fmr", g)[1] for g in ("f", "m")
    ]
    two_sided = evaluation.with_intervals(0.8, alternative="two-sided").interval("fmr")
    assert evaluation.interval("fmr") == (0.0, two_sided[1])


def test_a_group_without_such_comparisons_has_no_verdict_but_open():
    data = ff.Comparisons(
        [0.9, 0.2, 0.8, 0.1, 0.3],
        [1, 0, 1, 0, 0],
        list("aacde"),
        list("abcef"),
        list("fffmm"),
        list("fffmm"),
    )
    with pytest.warns(ff.errors.EmptyGroupWarning):
        found = ff.claim(data, "fnmr <= 0.5", AT, rng=0)
    group = found.groups[1]
    assert group.group == "m"
    assert math.isnan(group.limit)
    assert math.isnan(group.pvalue)
    assert group.verdict == "undecided"


@each(
    ("statement", "message"),
    [
        ("", "statement must be"),
        ("eer <= 0.1", "statement must be"),
        ("fmr >= 0.1", "statement must be"),
        ("fmr <= many", "must end with a number"),
        ("fmr <= 0", "the rate claimed"),
        ("fmr <= 2", "the rate claimed"),
    ],
)
def test_statements_that_cannot_be_judged_are_refused(statement, message):
    refused(message, ff.claim, comparisons(1, 10), statement, AT, rng=0)


def test_rates_that_are_held_no_replicates_and_levels_below_one_half_are_refused():
    data = comparisons(1, 10)
    refused("holds the FMR", ff.claim, data, "fmr <= 0.1", ff.at_fmr(0.1), rng=0)
    refused("n_resamples", ff.claim, data, "fmr <= 0.1", AT, n_resamples=0)
    refused(r"above 0\.5", ff.evaluate, data, AT, alternative="less", confidence_level=0.4, rng=0)


def test_a_claim_stays_open_where_few_subjects_cause_most_errors():
    at = ff.at_threshold(2.3)
    with pytest.warns(ff.errors.NarrowIntervalsWarning):
        found = ff.claim(scores_with_hubs(2.0), "fmr <= 0.9", at, rng=0)
    assert found.overall.limit < 0.9
    assert "likely too narrow" in found.overall.doubt
    assert found.overall.verdict == "undecided"
    assert "this limit is in doubt: " in found.summary()
    assert ff.claim(scores_with_hubs(0.0), "fmr <= 0.9", at, rng=0).overall.verdict == "supported"


def test_with_few_false_matches_a_claim_needs_room_as_in_check():
    reference, probe = np.r_[2 * np.arange(1000), -1], np.r_[2 * np.arange(1000) + 1, -1]
    probe[5] = 0  # one person is in two comparisons
    scores = np.r_[np.where(np.arange(1000) < 20, 0.9, 0.1), 0.9]
    data = ff.Comparisons(scores, None, reference, probe)
    limit = ff.claim(data, "fmr <= 0.1", AT, rng=0).overall.limit
    for room, verdict in ((3.9, "undecided"), (4.1, "supported")):
        found = ff.claim(data, f"fmr <= {room * limit!r}", AT, rng=0).overall
        checked = ff.check(data, f"fmr <= {room * limit!r}", AT, rng=0).rows[0]
        assert (
            (found.verdict == "supported") == (checked.verdict == "met") == (verdict == "supported")
        )
        assert (found.room, checked.room) == (4, 4)
        assert "times 4 for few false matches" in found.reason
        assert found.reason == checked.reason


@pytest.mark.parametrize("n_errors", [0, 1, 3])
def test_errors_of_people_in_one_comparison_each_need_no_room(n_errors):
    n = 600
    mated = np.repeat([True, False], n)
    scores = np.where(mated, 0.9, 0.0)
    scores[-n_errors or len(scores) :] = 0.8
    reference = np.r_[np.arange(n), 2 * np.arange(n) + 10_000]
    probe = np.r_[np.arange(n), 2 * np.arange(n) + 10_001]
    bound = f"fmr <= {1.5 * binomtest(n_errors, n).proportion_ci(0.9).high!r}"
    apart = ff.Comparisons(scores, mated, reference, probe)
    probe[n + 1] = reference[n]  # now one person is in two comparisons
    together = ff.Comparisons(scores, mated, reference, probe)
    for c, verdict, met in ((apart, "supported", "met"), (together, "undecided", "undecided")):
        found = ff.claim(c, bound, ff.at_threshold(0.5), rng=0).overall
        assert found.verdict == verdict
        assert found.room == (4 if verdict == "undecided" else 1)
        assert ff.check(c, bound, ff.at_threshold(0.5), rng=0).verdict == met
    quantity = ff.evaluate(apart, ff.at_threshold(0.5), rng=0, n_resamples=100).quantity("fmr")
    assert "few subjects" not in quantity.note


def test_all_groups_are_supported_together_or_judged_by_holm():
    few = {"n_resamples": 60, "rng": 0}
    data = comparisons(400, 20_000, ("a", "b", "c", "d"))
    groups = ff.claim(data, "fmr <= 50 %", AT, **few).groups
    limits = [group.limit for group in groups]
    assert [group.limit_level for group in groups] == [0.95] * 4
    for times, verdict, requirement in (
        (1.001, "supported", "met"),
        (0.999, "undecided", "undecided"),
    ):
        bound = times * max(limits)
        groups = ff.claim(data, f"fmr <= {bound!r}", AT, **few).groups
        assert {group.verdict for group in groups} == {verdict}
        assert all((group.pvalue_adjusted <= 0.05) == (verdict == "supported") for group in groups)
        assert {row.verdict for row in ff.check(data, f"fmr[*] <= {bound!r}", AT, **few).rows} == {
            requirement
        }


def test_below_the_resolution_of_the_data_no_number_of_subjects_is_named():
    scores, k = (
        np.append(np.repeat([0.1, 0.9], [10, 190]), np.linspace(0.2, 0.3, 1000)),
        np.arange(1200),
    )
    data = ff.Comparisons(scores, k < 200, k, np.where(k < 200, k, k + 2000))
    found = ff.claim(data, "fnmr <= 0.99", ff.at_fmr(1e-6), rng=0)
    assert found.overall.verdict == "undecided"
    assert math.isinf(found.overall.n_subjects_needed)
    assert "upper limit 100 % > 99 %" in found.summary()
    assert "comparisons would do" in found.summary()
    checked = ff.check(data, "fnmr <= 0.99", ff.at_fmr(1e-6), rng=0).rows[0]
    assert checked.verdict == "undecided"
    assert "subjects with this rate" not in checked.reason


def test_what_is_contradicted_has_its_lower_limit_in_the_sentence():
    counts = ff.FailureCounts([5, 21], [174, 180], list("fm"), rate="frr", totals=True)
    result = ff.claim(counts, "frr <= 5 %")
    row = result.groups[1]
    assert (row.verdict, row.decided_by) == ("contradicted", row.opposite_limit)
    limit, level = f"{100 * row.decided_by:.3g} %", f"{100 * row.decided_at:.4g} %"
    assert (
        f"Contradicted for 1 of 2 groups: m (lower limit {limit} at {level})." in result.summary()
    )


def test_exports_hold_all_rows(tmp_path):
    found = ff.claim(comparisons(5, 300, ("f", "m")), "fmr <= 5 %", AT, rng=0)
    written = json.loads(found.to_json(tmp_path / "claim.json"))
    assert [row["group"] for row in (written["overall"], *written["groups"])] == [None, "f", "m"]
    assert written["settings"]["statement"] == "fmr <= 5 %"
    assert found.to_frame("polars").shape[0] == 3
    assert "The claim: FMR at most 5 %" in found.summary()


def test_the_plot_shows_every_row_against_the_claim():
    found = ff.claim(comparisons(5, 300, ("f", "m")), "fmr <= 5 %", AT, rng=0)
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["all", "f", "m"]
    assert ax.get_legend() is not None


def test_a_claim_of_success_is_answered_in_its_own_words(tmp_path):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(90), 4)
    other = np.where(np.arange(360) % 4, person, (person + 3) % 90)
    sex = np.where(person % 3, "f", "m")
    c = ff.Comparisons(rng.normal(2, 1, 360), person == other, person, other, sex, sex)
    of_success, of_errors = (
        ff.claim(c, text, ff.at_threshold(1.0), rng=0) for text in ("tar >= 60 %", "fnmr <= 40 %")
    )
    assert of_success.overall.n_errors > 9
    assert (of_success.rate, of_success.claimed) == ("tmr", 0.6)
    assert "TMR at least 60 %" in of_success.summary()
    for row, errors in zip(of_success.rows, of_errors.rows, strict=True):
        assert row.verdict == errors.verdict
        assert row.limit == pytest.approx(1 - errors.limit)
        assert row.pvalue_adjusted == errors.pvalue_adjusted
    assert of_success.plot().get_xlabel() == "True match rate with lower limit"
    of_success.to_json(tmp_path / "claim.json")
    (read,) = ff.read_results(tmp_path / "claim.json")
    assert read.rows == of_success.rows


@each("statement", ["tar[*] >= 90 %", "fnmr[f] <= 5 %"])
def test_a_claim_that_names_a_group_is_told_what_would_do(statement):
    words = r"names a group, but a claim is .* of each group: leave '\[.\]' out"
    refused(words, ff.claim, comparisons(1, 10), statement, AT, rng=0)
