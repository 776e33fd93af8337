"""Failures and attempts of subjects: against the oracle, against loops, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.each import each
from helpers.failure_groups import LABELS, counts_of, groups_of
from helpers.refusals import refused
from helpers.small_embeddings import KINDS, small_embeddings
from hypothesis import given
from hypothesis import strategies as st
from oracles import groups as slow
from oracles.intervals import logit, typical_subject
from oracles.rate_limits import limits as slow_limits
from oracles.strategies import from_rows, grouped

import fastfair as ff
from fastfair.error_rates import scans_of_vectors
from fastfair.error_rates.operating_points import threshold_key
from fastfair.errors import DependentGroupsWarning, DroppedWarning


def subjects_of(counts: ff.FailureCounts) -> dict[str, list[tuple[int, int]]]:
    """(failures, attempts) of each group, sorted."""
    pairs = list(
        zip(
            counts.failures.tolist(),
            counts.attempts.tolist(),
            counts.subject_group.tolist(),
            strict=True,
        )
    )
    return {
        label: sorted((e, m) for e, m, g in pairs if g == k)
        for k, label in enumerate(counts.groups)
    }


@given(groups_of())
def test_rates_and_variances_are_the_oracles(groups):
    counts = counts_of(groups)
    assert counts.groups == tuple(LABELS[: len(groups)])
    assert counts.rate == pytest.approx(float(slow.overall_rate(groups)))
    assert counts.n_subjects.tolist() == [len(group) for group in groups]
    assert counts.n_attempts.tolist() == [slow.attempts(group) for group in groups]
    for g, group in enumerate(groups):
        assert counts.n_failures[g] == slow.rate(group) * slow.attempts(group)
        assert counts.group_rate[g] == pytest.approx(float(slow.rate(group)))
        assert counts.icc[g] == pytest.approx(float(slow.icc(group)), abs=1e-9)
        assert counts.design_effect[g] == pytest.approx(float(slow.design_effect(group)), abs=1e-9)
        assert counts.standard_error[g] ** 2 == pytest.approx(
            float(slow.variance(group)), abs=1e-12
        )


@given(groups_of())
def test_kinds_are_subjects_counted(groups):
    counts = counts_of(groups)
    kinds = counts.kinds
    start = 0
    for g, end in enumerate(kinds.end):
        part = slice(start, end)
        sizes = kinds.subjects[part]
        assert (np.diff(sizes) <= 0).all()
        pairs = zip(kinds.failures[part].tolist(), kinds.attempts[part].tolist(), strict=True)
        found = dict(zip(pairs, sizes.tolist(), strict=True))
        assert found == {pair: groups[g].count(pair) for pair in groups[g]}
        start = end
    assert kinds.end[-1] == kinds.subjects.size


def test_counts_that_only_just_fit():
    m = 2**30
    counts = ff.FailureCounts([m, m // 2, 0], [m, m, m], list("aab"))
    assert counts.sums[:, 0].tolist() == [
        2 * m,
        m + m // 2,
        m * m + m * m // 4,
        m * m + m * m // 2,
        2 * m * m,
    ]
    assert counts.design_effect[0] == pytest.approx(
        float(slow.design_effect([(2, 2), (1, 2)])) * m / 2
    )


@given(groups_of(least=2, fewest=2))
def test_intervals_are_those_of_the_slow_twin(groups):
    low, high = counts_of(groups).confidence_interval(0.9)
    everyone = [subject for group in groups for subject in group]
    is_known = sum(e > 0 for e, _ in everyone) >= 5 and any(
        0 < slow.rate(group) < 1 for group in groups
    )
    correlation = slow.common_correlation(groups)
    for g, group in enumerate(groups):
        pi, n, failures = slow.rate(group), slow.attempts(group), sum(e for e, _ in group)
        effective = raised = math.nan
        if min(failures, n - failures) < 5:
            effective = (
                float(n / (1 + (slow.m0(group) - 1) * correlation)) if is_known else len(group)
            )
        if 0 < pi < 1:
            more, failed = typical_subject(group, everyone)
            raised = max(0.0, (failed - more * float(pi)) / (n + more))
        known = (
            float(pi),
            math.sqrt(slow.variance(group)),
            max(1, len(group) - 1),
            effective,
            raised,
        )
        assert (low[g], high[g]) == pytest.approx(slow_limits(*known, 0.9), rel=1e-6, abs=1e-9)
        assert low[g] - 1e-12 <= pi <= high[g] + 1e-12


def test_where_those_who_fail_try_again_a_group_may_have_drawn_none_of_them():
    """Five of 60 people fail four of five attempts, the others succeed at once or at the second
    attempt; beside them a group of 60 has two failures alone."""
    often, once = [(4, 5)] * 5, [(1, 2)] * 2
    with_goats, without = often + once + [(0, 1)] * 53, once + [(0, 1)] * 58
    alone, beside = counts_of([without]), counts_of([with_goats, without])
    own_limit, limit = (c.confidence_interval(0.9)[1][-1] for c in (alone, beside))
    added = typical_subject(without, with_goats + without)
    assert added == (max(2.0, (5 * 20 + 4 * 2) / 24), (5 * 16 + 4) / 24)
    raised = (2 + added[1]) / (62 + added[0]) - 2 / 62
    error = float(alone.standard_error[0])
    assert limit == pytest.approx(logit(2 / 62 + raised, math.hypot(error, raised), 60, 0.9)[1])
    assert limit > 1.2 * own_limit


def test_a_group_without_failures_has_the_correlation_of_all_groups():
    """With 40 people x 10 attempts beside some whose failures come together, 400 attempts tell as
    much as 146."""
    alone, beside = [0] * 40, [4] * 5 + [0] * 35
    group = ["a"] * 40 + ["b"] * 40
    counts = ff.FailureCounts([*alone, *beside], [10] * 80, group)
    effective = 400 / (
        1 + 9 * float(slow.common_correlation([[(0, 10)] * 40, [(e, 10) for e in beside]]))
    )
    assert counts.confidence_interval()[1][0] == pytest.approx(1 - 0.025 ** (1 / effective))
    nobody = ff.FailureCounts([0] * 80, [10] * 80, group)
    assert nobody.confidence_interval()[1] == pytest.approx(1 - 0.025 ** (1 / 40))


@pytest.mark.jit
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("seed", range(6))
def test_intervals_are_those_of_evaluations_of_the_scores(seed, level):
    c = scores_of_groups(seed)
    at = ff.at_threshold(0.5)
    counts = ff.FailureCounts.from_comparisons(c, at)
    evaluation = ff.evaluate(c, at, [], metrics=[], n_resamples=0, confidence_level=level)
    for group, *ends in zip(counts.groups, *counts.confidence_interval(level), strict=True):
        assert evaluation.interval("fnmr", group) == pytest.approx(tuple(ends), rel=1e-9)
    assert (counts.n_failures == 0).any()
    assert ((counts.n_failures > 0) & (counts.n_failures < 5)).any() or seed


def scores_of_groups(seed: int) -> ff.Comparisons:
    """Four groups, of which the last has no failures, and the third has few; some subjects are
    goats."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(120), rng.integers(1, 9, 120))
    of_group = np.array([0.15, 0.1, 0.02, 0.0])[who % 4]
    chance = np.where(
        (who % 20 == 0) & (of_group > 0), 0.75, rng.beta(1, 9, 120)[who] * 10 * of_group
    )
    failed = rng.random(who.size) < chance
    first = rng.integers(0, 120, 400)
    second = (first + 4 * rng.integers(1, 25, 400)) % 120
    sides = [np.concatenate((who, side)) for side in (first, second)]
    labels = [np.array(list("abcd"))[side % 4] for side in sides]
    scores = np.concatenate((np.where(failed, 0.3, 0.7), rng.normal(0.2, 0.1, 400)))
    return ff.Comparisons(scores, np.arange(scores.size) < who.size, *sides, *labels)


def test_one_subject_has_no_interval():
    low, high = ff.FailureCounts([1, 0, 0], [3, 2, 2], list("abb")).confidence_interval()
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] == 0 < high[1]


# Where counts come from.


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=20), st.booleans()
)
def test_decisions_are_counted(rows, as_bool):
    who, failed = zip(*rows, strict=True)
    group = ["even" if k % 2 == 0 else "odd" for k in who]
    counts = ff.FailureCounts.from_decisions(np.array(failed, bool if as_bool else int), who, group)
    everyone = sorted(set(who))
    assert counts.attempts.tolist() == [who.count(k) for k in everyone]
    assert counts.failures.tolist() == [sum(f for w, f in rows if w == k) for k in everyone]
    assert [counts.groups[g] for g in counts.subject_group] == [
        "odd" if k % 2 else "even" for k in everyone
    ]


def test_attributes_make_intersections():
    counts = ff.FailureCounts(
        [0, 1, 0, 2], [2, 2, 2, 2], {"gender": list("fmff"), "country": ["USA", "UK", "UK", "USA"]}
    )
    assert counts.groups == ("f & UK", "f & USA", "m & UK")
    assert counts.grouping == ("gender", "country")
    assert counts.n_failures.tolist() == [0, 2, 1]
    decided = ff.FailureCounts.from_decisions(
        [0, 1, 1], [7, 7, 8], {"gender": list("ffm"), "country": ["UK", "UK", "USA"]}
    )
    assert decided.groups == ("f & UK", "m & USA")
    assert decided.group_rate.tolist() == [0.5, 1]


def counted(rows, threshold: float) -> dict[str, list[tuple[int, int]]]:
    """Rejected and all mated comparisons of each group, by loops."""
    found: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        if row.mated and row.reference_group == row.probe_group:
            cell = found.setdefault((row.reference_group, row.reference), [0, 0])
            cell[0] += row.score < threshold
            cell[1] += 1
    labels = {row.reference_group for row in rows} | {row.probe_group for row in rows}
    return {
        label: sorted(tuple(c) for (g, _), c in found.items() if g == label)
        for label in sorted(labels)
    }


@given(
    grouped(), st.sampled_from([ff.at_fmr(0.3), ff.at_fnmr(0.4), ff.at_threshold(1.0), ff.at_eer()])
)
def test_comparisons_are_counted(rows, at):
    c = from_rows(rows)
    assert subjects_of(ff.FailureCounts.from_comparisons(c, at)) == counted(
        rows, c.to_threshold(threshold_key(c, at))
    )


@each(
    ("groups", "warning", "said", "of_m"),
    [
        (
            "ffmf",
            DroppedWarning,
            "1 of 3 mated comparisons left out, as they are between two groups",
            [(1, 1)],
        ),
        ("fmmf", DependentGroupsWarning, "more than one group", [(1, 1), (1, 1)]),
    ],
)
def test_mated_comparisons_across_groups_are_left_out_and_told_and_so_are_subjects_in_several(
    groups, warning, said, of_m
):
    c = ff.Comparisons(
        [0.9, 0.1, 0.2, 0], [1, 1, 1, 0], list("ppqp"), list("ppqq"), list(groups), list("fmmm")
    )
    with pytest.warns(warning, match=said) as told:
        counts = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.5))
    assert told[0].filename == __file__
    assert subjects_of(counts) == {"f": [(0, 1)], "m": of_m}


def test_groups_without_mated_comparisons_stay_and_can_be_left_out():
    c = ff.Comparisons(
        [0.9, 0.1, 0.2, 0], [1, 1, 0, 0], list("ppqx"), list("ppxq"), list("ffmx"), list("ffxm")
    )
    counts = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.5))
    assert counts.groups == ("f", "m", "x")
    assert counts.n_subjects.tolist() == [1, 0, 0]
    np.testing.assert_array_equal(counts.group_rate, [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(counts.standard_error, [0, np.nan, np.nan])
    assert np.isnan(counts.confidence_interval()).all()
    kept = counts.without(["m"])
    assert kept.groups == ("f", "x")
    assert kept.rate == 0.5


def test_nobody_left():
    """All mated comparisons are across groups: there are groups, but no attempt."""
    c = ff.Comparisons([0.9, 0], [1, 0], list("pp"), list("pq"), list("ff"), list("mm"))
    with pytest.warns(DroppedWarning):
        counts = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.5))
    assert repr(counts) == "FailureCounts(0 subjects, 0 attempts, 0 failures, 2 groups)"
    assert np.isnan([counts.rate, *counts.group_rate]).all()
    assert counts.kinds.end.tolist() == [0, 0]


def test_comparisons_that_cannot_be_counted():
    scores, mated, ids, groups = (
        [0.9, 0.1, 0.3],
        [1, 0, 1],
        (list("ppp"), list("pqq")),
        (list("fff"), list("fmm")),
    )
    count, at = ff.FailureCounts.from_comparisons, ff.at_threshold(0.5)
    two = [0.9, 0.1], [1, 0], list("pp"), list("pq")
    refused("groups", count, ff.Comparisons(*two), at)
    refused(
        "no subjects",
        count,
        ff.Comparisons(scores, mated, reference_group=groups[0], probe_group=groups[1]),
        at,
    )
    conflicting = ff.Comparisons(
        scores, mated, *ids, *groups, policies=ff.Policies(label_conflicts="keep")
    )
    refused("mated comparisons are of two subjects", count, conflicting, at)
    refused(
        "at must be an operating point", count, ff.Comparisons(*two, list("ff"), list("fm")), 0.5
    )


@given(
    st.integers(0, 10**6),
    st.integers(2, 9),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from([np.float32, np.float64]),
    st.one_of(
        st.floats(0, 0.99).map(ff.at_fmr),
        st.floats(0, 0.99).map(ff.at_fnmr),
        st.integers(-9, 9).map(ff.at_threshold),
    ),
)
def test_embeddings_are_counted_as_their_comparisons(seed, n_subjects, similarity, dtype, at):
    e = small_embeddings(seed, n_subjects, 4, similarity, dtype=dtype)
    counts = ff.FailureCounts.from_comparisons(e, at, n_threads=1)
    expected = ff.FailureCounts.from_comparisons(e.comparisons(), at)
    assert subjects_of(counts) == subjects_of(expected)
    assert counts.grouping == expected.grouping


@pytest.mark.jit
def test_too_few_pairs_kept_at_first_are_looked_for_again(monkeypatch):
    e = ff.von_mises_fisher_embeddings(300, 4, 16, concentration=(20, 60), rng=3)
    e = ff.Embeddings(e.vectors, e.subject, group=[f"g{k % 5}" for k in e.subject])
    enough = ff.FailureCounts.from_comparisons(e, ff.at_fmr(0.03))
    monkeypatch.setattr(scans_of_vectors, "_SPARE", 0.2)
    monkeypatch.setattr(scans_of_vectors, "_PAIRS", 1)
    assert np.array_equal(
        ff.FailureCounts.from_comparisons(e, ff.at_fmr(0.03)).failures, enough.failures
    )


def test_embeddings_that_cannot_be_counted():
    e = small_embeddings(0, 4, 3)
    for at in (0.5, None):
        refused("at must be an operating point", ff.FailureCounts.from_comparisons, e, at)
    for at in (ff.at_fmr(0.1), ff.at_eer()):
        refused(
            "no groups", ff.FailureCounts.from_comparisons, ff.Embeddings(e.vectors, e.subject), at
        )


# What is refused, said and kept.

COUNTS, DECISIONS = ff.FailureCounts, ff.FailureCounts.from_decisions
ONE_EACH = "one value for each subject, "


@each(
    ("count", "arguments", "words", "row"),
    [
        (
            COUNTS,
            ([0, -1], [1, 1], "ab"),
            "failures must be whole numbers of at least 0.* row 1 .* -1",
            1,
        ),
        (COUNTS, ([0, 0.5], [1, 1], "ab"), "failures must be whole numbers.* row 1 .* 0.5", 1),
        (COUNTS, ([np.nan, 0], [1, 1], "ab"), "failures must be whole numbers.* row 0 .* nan", 0),
        (COUNTS, ([0, 0], [1, np.inf], "ab"), "attempts must be whole numbers.* row 1 .* inf", 1),
        (
            COUNTS,
            ([0, 0], [1, 2**31], "ab"),
            "attempts must be whole numbers.* row 1 .* 2147483648",
            1,
        ),
        (
            COUNTS,
            ([0, 2], [1, 1], "ab"),
            "must not exceed attempts, but row 1 .* 2 failures in 1 attempts",
            1,
        ),
        (
            COUNTS,
            ([0, 0], [1, 0], "ab"),
            "at least 1 .leave subjects without any out.*row 1 .* 0 attempts",
            1,
        ),
        (
            COUNTS,
            ([0], [1, 1], "ab"),
            ONE_EACH + "but failures has 1, attempts has 2, group 'group' has 2",
            None,
        ),
        (COUNTS, ([0, 0], [1, 1], "abc"), "one value for each subject.*group 'group' has 3", None),
        (COUNTS, ([0, 0], [1, 1], ["a", None]), "group 'group' is missing in row 1", 1),
        (COUNTS, ([0, 0], [1, 1], {"sex": ["a", ""]}), "group 'sex' is missing in row 1", 1),
        (COUNTS, ([0, 0], [1, 1], {}), "group has no attributes", None),
        (COUNTS, ([], [], []), "failures is empty", None),
        (
            COUNTS,
            (["x", "y"], [1, 1], "ab"),
            "failures must be numbers, but their type is <U1",
            None,
        ),
        (
            COUNTS,
            ([0, 0], [1j, 1], "ab"),
            "attempts must be numbers, but their type is complex",
            None,
        ),
        (COUNTS, ([[0, 0]], [1, 1], "ab"), "failures must be one-dimensional", None),
        (COUNTS, ([0] * 4, [2**31 - 1] * 4, "abab"), "more than can be summed exactly", None),
        (DECISIONS, ([0, 2], "pq", "ab"), "failed must be 0 or 1, but row 1", 1),
        (DECISIONS, ([0, -1], "pq", "ab"), "failed must be whole numbers of at least 0", 1),
        (DECISIONS, ([0, np.nan], "pq", "ab"), "failed must be whole numbers", 1),
        (DECISIONS, (["no", "yes"], "pq", "ab"), "failed must be numbers, but their type", None),
        (DECISIONS, ([0, 1], "pp", "ab"), "subject 'p' is 'b' in row 1", 1),
        (
            DECISIONS,
            ([0, 1], "p", "ab"),
            "one value for each attempt, but failed has 2, subject has 1",
            None,
        ),
        (DECISIONS, ([0, 1], ["p", None], "ab"), "subject is missing in row 1", 1),
        (DECISIONS, ([0, 1], "pq", {}), "group has no attributes", None),
        (DECISIONS, ([], "", ""), "failures is empty", None),
    ],
)
def test_what_is_refused(count, arguments, words, row):
    columns = [list(column) if isinstance(column, str) else column for column in arguments]
    assert refused(words, count, *columns).row == row


def test_groups_are_sorted_and_subjects_in_the_order_given():
    counts = ff.FailureCounts([0, 1, 2], [3, 3, 3], [10, 9, 10])
    assert counts.groups == ("9", "10")
    assert counts.subject_group.tolist() == [1, 0, 1]
    assert repr(counts) == "FailureCounts(3 subjects, 9 attempts, 3 failures, 2 groups)"
    assert (
        repr(ff.FailureCounts([1], [1], ["a"]))
        == "FailureCounts(1 subject, 1 attempt, 1 failure, 1 group)"
    )


def test_rows_are_left_out_where_a_person_has_several():
    labels, who = ["f", None, None, "m"], list("abbc")
    counted = {"missing_labels": "drop", "rate": "frr"}
    for people, words in (({}, "2 of 4 subjects"), ({"subject": who}, "2 of 4 rows")):
        with pytest.warns(DroppedWarning, match=f"^{words} left out, as they lack a label"):
            ff.FailureCounts([1, 0, 0, 2], [3] * 4, labels, **counted, **people)


def test_remarks_name_the_groups():
    counts = ff.FailureCounts([1, 0, 0, 0, 2, 1, 2, 1], [1, 1, 2, 2, 2, 1, 2, 2], list("ffmmxxyy"))
    single, none, every = counts.remarks()
    assert single.startswith("f: no subject has two attempts")
    assert none.startswith("m: no attempt failed")
    assert every.startswith("x: all attempts failed")
    assert counts.without(list("fmx")).remarks() == []
    assert (
        ff.FailureCounts([0, 0], [1, 1], list("fm"))
        .remarks()[0]
        .startswith("f, m: no subject has two attempts")
    )
