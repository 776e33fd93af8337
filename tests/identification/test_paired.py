"""The test of two systems' difference: as in plain loops, and its interval and p-value say the
same."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.quiet import quietly
from hypothesis import given
from hypothesis import strategies as st
from oracles import identification as oracle
from scipy.special import stdtr, stdtrit

import fastfair as ff
from fastfair.errors import ReversedScoresWarning
from fastfair.identification import paired
from fastfair.identification.paired import SystemPair, exact_pvalue


@st.composite
def two_tables(draw):
    """Draw scores of two systems for the same searches; some people search twice."""
    n_enrolled, n = draw(st.integers(2, 5)), draw(st.integers(4, 12))
    probe = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    row = st.lists(st.integers(0, 3).map(float), min_size=n_enrolled, max_size=n_enrolled)
    return (
        [draw(st.lists(row, min_size=n, max_size=n)) for _ in range(2)],
        probe,
        list(range(n_enrolled)),
    )


@quietly(ReversedScoresWarning)
def pair_of(tables, gallery):
    scores, probe, enrolled = tables
    policies = ff.Policies(self_comparisons="keep")
    systems = [
        ff.Searches.from_matrix(one, probe, enrolled, n_threads=1, policies=policies)
        for one in scores
    ]
    return systems[0], SystemPair(*systems, None, gallery)


@given(
    two_tables(), st.sampled_from(["drawn", "fixed"]), st.booleans(), st.sampled_from([0.9, 0.95])
)
def test_the_score_test_is_that_of_loops(tables, gallery, at_rank, level):
    searches, pair = pair_of(tables, gallery)
    at = ff.at_rank(1) if at_rank else ff.at_threshold(2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "_MOST_SIGNS", -1)
        for name in ["fnir"] if at_rank else ["fpir", "fnir"]:
            if not (searches.is_mated == (name == "fnir")).any():
                continue
            threshold, rank = (-np.inf, 1) if at_rank else (2.0, None)
            difference, variance, freedom, *ends = oracle.paired_score(
                *tables,
                name == "fnir",
                threshold,
                rank,
                gallery == "drawn",
                lambda f: stdtrit(f, (1 + level) / 2),
            )
            low, high, pvalue = pair.test(name, None, at, level)
            assert -1 <= low <= difference + 1e-12
            assert difference - 1e-12 <= high <= 1
            assert pvalue == pytest.approx(
                2 * stdtr(freedom, -abs(difference) / variance**0.5) if difference else 1
            )
            if variance:
                assert (low, high) == pytest.approx(ends, abs=1e-3)


@given(st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0]), max_size=9))
def test_the_exact_p_value_counts_changes_of_signs(added):
    assert exact_pvalue(np.array(added, float)) == pytest.approx(oracle.share_of_signs(added))


def two_systems(seed, worse, n=80, enrolled=40):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), 2)
    mates = who[:, None] == np.arange(enrolled)
    shared = rng.normal(size=(who.size, enrolled)) + 3.5 * mates
    scores = [shared + 0.7 * rng.normal(size=shared.shape) - lower * mates for lower in (0, worse)]
    return [ff.Searches.from_matrix(one, who, range(enrolled), n_threads=1) for one in scores]


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["drawn", "fixed"])
)
def test_an_interval_is_without_0_where_the_p_value_is_small_and_systems_change_places(
    seed, worse, gallery
):
    first, second = two_systems(seed, worse)
    points = [ff.at_threshold(2.5), ff.at_rank(1), ff.at_fpir(0.2), ff.at_fnir(0.2)]
    found, other = (
        ff.compare_searches(*pair, points, gallery=gallery)
        for pair in ((first, second), (second, first))
    )
    wider = ff.compare_searches(first, second, points, gallery=gallery, confidence_level=0.99)
    for row, changed, wide in zip(found.rows, other.rows, wider.rows, strict=True):
        assert (row.pvalue <= 0.05) == (not row.low <= 0 <= row.high) or abs(
            row.pvalue - 0.05
        ) < 1e-9
        assert (changed.pvalue, changed.low, changed.high) == pytest.approx(
            (row.pvalue, -row.high, -row.low)
        )
        assert wide.low <= row.low <= row.estimate <= row.high <= wide.high
        assert wide.pvalue == row.pvalue


def test_systems_that_decide_alike_differ_by_a_few_searches_at_the_most():
    first, _ = two_systems(0, 0.0)
    row = ff.compare_searches(first, first, ff.at_threshold(3.0), gallery="fixed").of("fpir")
    assert (row.estimate, row.pvalue) == (0, 1)
    assert row.high == -row.low == pytest.approx(1 - 0.025 ** (1 / 40))
    open_end = ff.compare_searches(first, first, ff.at_fpir(0.0), gallery="fixed").of("fnir")
    assert open_end.pvalue == 1
    assert open_end.low == -1


def test_a_system_that_is_worse_is_detected_where_few_people_are_missed():
    first, second = two_systems(3, 1.2)
    found = ff.compare_searches(first, second, [ff.at_threshold(2.5), ff.at_fpir(0.2)])
    assert found.of("fnir", at=ff.at_threshold(2.5)).pvalue_adjusted < 0.01
    assert found.of("fnir", at=ff.at_fpir(0.2)).pvalue < 0.01


def few_differing(seed, noise, n=90, enrolled=30):
    """Make systems that few searches by non-mated people tell apart."""
    rng = np.random.default_rng(seed)
    who = 1000 + np.arange(n) // 2
    shared = rng.normal(size=(n, enrolled)) + 0.6 * rng.normal(size=enrolled)
    scores = [shared + noise * rng.normal(size=shared.shape) for _ in range(2)]
    return [ff.Searches.from_matrix(one, who, range(enrolled), n_threads=1) for one in scores]


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
def test_limits_of_a_pair_are_not_beyond_0_and_those_of_other_searches(gallery):
    for seed, noise in [(0, 0.1), (1, 0.1), (2, 0.7), (3, 0.3), (6, 0.7)]:
        systems = few_differing(seed, noise)
        pair, apart = (
            ff.compare_searches(
                *systems, ff.at_threshold(3.2), gallery=gallery, paired=paired
            ).rows[0]
            for paired in (True, False)
        )
        assert 0 < pair.first * 90 < 30
        assert min(apart.low, 0.0) <= pair.low <= pair.estimate <= pair.high <= max(apart.high, 0.0)


def test_a_difference_of_one_step_does_not_double_an_interval():
    systems = few_differing(2, 0.7)
    row = ff.compare_searches(*systems, ff.at_threshold(3.6)).of("fpir")
    assert (round(90 * row.first), round(90 * row.second)) == (10, 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "_MOST_SIGNS", -1)
        by_law = ff.compare_searches(*systems, ff.at_threshold(3.6)).of("fpir")
    assert row.pvalue > by_law.pvalue
    assert by_law.high - by_law.low <= row.high - row.low <= by_law.high - by_law.low + 2 / 45
