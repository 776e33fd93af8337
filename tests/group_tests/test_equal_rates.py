"""Tests across groups: against the oracle on given draws, and against every draw there is on tiny
data."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.data_sets import pairs_within_groups, population
from helpers.each import each
from helpers.failure_groups import counts_of, groups_of
from helpers.refusals import refused
from helpers.small_embeddings import small_embeddings
from hypothesis import given
from hypothesis import strategies as st
from oracles import groups as slow

import fastfair as ff
from fastfair._lib import seeds
from fastfair.errors import (
    DependentGroupsWarning,
    DroppedWarning,
    FewResamplesWarning,
    NarrowIntervalsWarning,
    NotComputableWarning,
)
from fastfair.evaluation.failure_counts import design_effect
from fastfair.group_tests.equal_rates import (
    GroupRates,
    draw_equal_failures,
    inflation_of,
    of_counts,
    roots_of_failures,
)
from fastfair.group_tests.frailty import count_false_matches, draw_roots, pvalue

ORACLES = {
    "f": slow.replicated_f,
    "max-difference": slow.replicated_max_difference,
    "max-ratio": slow.replicated_max_ratio,
}
OBSERVED = {
    "f": slow.f_statistic,
    "max-difference": slow.max_difference,
    "max-ratio": slow.max_ratio,
}
# Few replicates show what is to be shown; the follow-up's warning has its own test.
pytestmark = [
    pytest.mark.filterwarnings("ignore::fastfair.errors.FewResamplesWarning"),
    pytest.mark.filterwarnings(
        "ignore:fewer than 10 false matches:fastfair.errors.NotComputableWarning"
    ),
]
TINY = [[(1, 2), (0, 2), (3, 3)], [(0, 1), (1, 2)], [(0, 2), (1, 4)]]
STATISTICS = ("f", "max-difference", "max-ratio")
R = 20_000
AT_HALF = ff.at_threshold(0.5)


def sums_of(groups: slow.Groups) -> np.ndarray:
    """(5, groups): what draws are summed to."""
    return np.array(
        [
            [sum(row) for row in zip(*((m, e, e * e, e * m, m * m) for e, m in group), strict=True)]
            for group in groups
        ]
    ).T


def replicated(groups: slow.Groups, draws: list[slow.Drawn]) -> GroupRates:
    """Given draws, as `_group_replicates.replicate` returns its own."""
    sums = np.stack([sums_of(slow.resampled(groups, drawn)) for drawn in draws], axis=1)
    return GroupRates(sums[1] / sums[0], sums[0], design_effect(sums))


def all_drawn(groups: slow.Groups) -> list[slow.Drawn]:
    """Every replicate there is, all equally probable."""
    return list(
        itertools.product(
            *(itertools.product(range(len(group)), repeat=len(group)) for group in groups)
        )
    )


@st.composite
def drawn_groups(draw: st.DrawFn) -> tuple[slow.Groups, list[slow.Drawn]]:
    groups = draw(groups_of(least=2, fewest=2))
    once = st.tuples(
        *(st.lists(st.integers(0, len(g) - 1), min_size=len(g), max_size=len(g)) for g in groups)
    )
    return groups, draw(st.lists(once, min_size=1, max_size=6))


# Given draws, against the oracle.


@pytest.mark.parametrize("name", STATISTICS)
@given(case=drawn_groups())
def test_statistics_of_replicates_are_the_oracles(name, case):
    groups, draws = case
    counts = counts_of(groups)
    data = of_counts(counts)
    found = replicated(groups, draws).shifted(data).statistic(name, counts.n_attempts)
    expected = [ORACLES[name](groups, drawn) for drawn in draws]
    np.testing.assert_allclose(found, [float(value) for value in expected], rtol=1e-8, atol=1e-12)
    observed, exact = data.statistic(name, counts.n_attempts), OBSERVED[name](groups)
    if not math.isnan(exact):
        assert float(observed) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)
        assert pvalue(observed, found) == pytest.approx(float(slow.pvalue(exact, expected)))


@given(drawn_groups())
def test_distances_of_replicates_are_the_oracles(case):
    groups, draws = case
    data = of_counts(counts_of(groups))
    shifted = replicated(groups, draws).shifted(data)
    for center, middle in (("fixed", data.overall), ("moving", shifted.overall[:, None])):
        found = np.abs(shifted.rate - middle).max(axis=1)
        np.testing.assert_allclose(
            found, [float(slow.phi(groups, drawn, center)) for drawn in draws], atol=1e-12
        )


@given(groups_of(fewest=2))
def test_differences_from_the_rest_are_the_oracles(groups):
    found = of_counts(counts_of(groups)).difference_from_rest()
    np.testing.assert_allclose(
        found, [float(slow.difference_from_rest(groups, g)) for g in range(len(groups))], atol=1e-12
    )


def test_ties_count_whatever_the_rounding():
    third = 0.1 + 0.2 - 0.3 + 1 / 3
    assert pvalue(third, np.array([1 / 3, 0.3, 0.2])) == 0.5
    assert pvalue(1 / 3, np.array([third, 0.3, 0.2])) == 0.5
    assert pvalue(1e-33, np.zeros(3)) == 1
    assert pvalue(np.inf, np.array([np.inf, 1e300, 0])) == 0.5
    assert math.isnan(pvalue(np.nan, np.zeros(3)))


# End to end, against every draw there is.


def is_share(count: int, n: int, p: float) -> bool:
    """Tell whether a share of replicates is within binomial error of its chance."""
    return bool(abs(count - n * p) <= 4.5 * math.sqrt(n * p * (1 - p)) + 1e-6)


def assert_drawn_from(everything: list, replicates: np.ndarray) -> None:
    """Compare the whole distribution of replicates with that of every draw."""
    times = Counter(round(float(value), 9) for value in everything)
    found = Counter(np.round(replicates, 9).tolist())
    assert set(found) <= set(times)
    assert all(is_share(found[value], R, n / len(everything)) for value, n in times.items())


@pytest.mark.jit
@pytest.mark.parametrize("name", STATISTICS)
def test_pvalues_are_those_of_every_draw(name):
    test = ff.fnmr_test(
        counts_of(TINY),
        statistic=name,
        null_model="bootstrap",
        n_resamples=R,
        follow_up=False,
        rng=1,
    )
    everything = [ORACLES[name](TINY, drawn) for drawn in all_drawn(TINY)]
    exact = OBSERVED[name](TINY)
    p = sum(value >= exact for value in everything) / len(everything)
    assert 0.01 < p < 0.99
    assert test.statistic_name == name
    assert is_share(round(test.pvalue * (R + 1)) - 1, R, p)
    assert_drawn_from(everything, test.replicates)


@pytest.mark.jit
def test_margins_are_those_of_every_draw():
    for center, named in (("data", "fixed"), ("replicate", "moving")):
        found = ff.margin_of_error(
            counts_of(TINY), center=center, n_resamples=R, confidence_level=0.8, rng=2
        )
        everything = [slow.phi(TINY, drawn, named) for drawn in all_drawn(TINY)]
        assert_drawn_from(everything, found.replicates)
        assert found.margin == pytest.approx(
            float(slow.margin(sorted(found.replicates.tolist()), 0.8))
        )
        below, above = (
            sum(value <= found.margin + s for value in everything) / len(everything)
            for s in (-1e-9, 1e-9)
        )
        assert below - 0.02 < 0.8 < above + 0.02


@given(groups_of(fewest=2))
def test_the_correlation_of_all_groups_and_the_inflation_are_those_of_loops(groups):
    expected = float(slow.common_correlation(groups))
    correlation, inflation = inflation_of(sums_of(groups))
    assert correlation == pytest.approx(expected, abs=1e-9)
    everyone = [subject for group in groups for subject in group]
    pooled = sum(e for e, _ in everyone) / sum(m for _, m in everyone)
    for found, group in zip(inflation, groups, strict=True):
        assert found == pytest.approx(
            max(1 - pooled, 1e-3) * (1 + (float(slow.m0(group)) - 1) * expected)
        )


@pytest.mark.jit
def test_failures_are_drawn_with_one_rate_and_the_correlation_of_the_data():
    counts = some_counts(3000, worse=0.2)
    roots = roots_of_failures(counts, draw_equal_failures(counts, 2000, seeds.stream(0)[0]))
    correlation, inflation = inflation_of(counts.sums)
    rate = roots.replicated_errors / roots.replicated_size
    common = (roots.errors / inflation).sum() / (roots.size / inflation).sum()
    assert rate.mean(axis=0) == pytest.approx(np.full(3, common), rel=0.01)
    effect = 1 + (counts.sums[4] / counts.sums[0] - 1) * correlation
    assert rate.var(axis=0) == pytest.approx(common * (1 - common) * effect / roots.size, rel=0.15)


# In each case chance gives the smaller group no failure in at least a fifth of studies.
@each(
    ("n_large", "n_failures", "n_small", "n_attempts"),
    [(200, 10, 20, 2), (1000, 20, 50, 2), (20, 4, 3, 1)],
)
@each("statistic", ["f", "max-difference"])
def test_a_small_group_without_failures_is_no_evidence(
    n_large, n_failures, n_small, n_attempts, statistic
):
    failures = np.repeat([1, 0], [n_failures, n_large - n_failures + n_small])
    group = np.repeat(["a", "b"], [n_large, n_small])
    counts = ff.FailureCounts(failures, [n_attempts] * group.size, group)
    assert ff.fnmr_test(counts, statistic=statistic, rng=0, follow_up=False).pvalue > 0.2


@pytest.mark.jit
@each("statistic", STATISTICS)
def test_failures_of_every_group_are_drawn_by_one_law(statistic):
    counts = some_counts(90, worse=0.1)
    test = ff.fnmr_test(counts, statistic=statistic, n_resamples=60, rng=5)
    drawn = draw_equal_failures(counts, 60, seeds.stream(5)[0])
    for replicate, (m, e, ee, em, mm) in zip(test.replicates, drawn.swapaxes(0, 1), strict=True):
        rate, center = e / m, e.sum() / m.sum()
        if statistic == "f":
            effect = (ee - 2 * rate * em + rate**2 * mm) / (m * rate * (1 - rate))
            within = (counts.n_attempts * rate * (1 - rate) * effect).sum() / (
                counts.n_attempts.sum() - 3
            )
            expected = (counts.n_attempts * (rate - center) ** 2).sum() / 2 / within
        else:
            apart = (
                np.abs(rate - center)
                if statistic == "max-difference"
                else np.maximum(rate / center, center / rate)
            )
            expected = apart.max()
        assert replicate == pytest.approx(expected)


@pytest.mark.jit
def test_the_margin_leaves_it_to_the_test_whether_groups_differ():
    """The small group has no failures, and the bootstrap takes its rate for known: it lies outside
    by chance."""
    failures, group = np.repeat([1, 0], [30, 190]), np.repeat(["a", "b"], [200, 20])
    counts = ff.FailureCounts(failures, [2] * 220, group)
    with pytest.warns(NarrowIntervalsWarning):
        margin = ff.margin_of_error(counts, rng=0)
    test = ff.fnmr_test(counts, rng=0)
    assert "b" in margin.outside
    assert test.pvalue > test.level
    assert test.answer in test.summary()
    assert test.answer.startswith("No difference of FNMRs was detected at the 5 % level")
    for words in ("differs", "chance explains", "detected"):
        assert words not in margin.summary()
    assert "Whether groups differ is for the test, fnmr_test, to say" in margin.summary()


@pytest.mark.jit
def test_a_margin_counts_nobody_once_in_each_group():
    failures, species = [1, 0, 0, 1] * 20, ["mask", "print"] * 40
    who = np.repeat(np.arange(40), 2)
    counts = ff.FailureCounts(failures, [3] * 80, species, rate="apcer", subject=who)
    with pytest.warns(DependentGroupsWarning):
        margin = ff.margin_of_error(counts, rng=0, n_resamples=99)
    assert "40 of 240 attack presentations failed." in margin.summary()
    assert "Some people are in several groups" in margin.summary()


@pytest.mark.jit
def test_a_small_group_without_false_matches_is_no_evidence_by_any_statistic():
    """Replicates that shifted the group's own draws gave F p = 0.001 where the deviance has 0.3."""
    reference, probe, mated = pairs_within_groups([80, 8])
    group = np.where(reference < 80, "large", "small")
    first = (reference < 80) & ~mated & (probe - reference == 1)
    scores = np.where(mated | first, 1.0, 0.0)
    c = ff.Comparisons(scores, mated, reference, probe, group, group)
    with pytest.warns(NarrowIntervalsWarning, match="groups of 10 subjects or fewer: 'small'"):
        found = [
            ff.fmr_test(c, AT_HALF, statistic=name, n_resamples=400, rng=0)
            for name in ("deviance", *STATISTICS)
        ]
    assert found[0].n_errors.tolist() == [79, 0]
    assert all(test.pvalue > 0.2 for test in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_large", "n_small", "rate"), [(200, 20, 0.03), (1000, 50, 0.02), (40, 2, 0.05)]
)
def test_groups_of_very_different_sizes_keep_the_level(n_large, n_small, rate):
    group = np.repeat(["a", "b"], [n_large, n_small])

    def share(times_the_rate: float) -> float:
        significant = []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            chance = rng.beta(9 * rate, 9 * (1 - rate), group.size)  # a correlation of 0.1
            chance[group == "b"] = np.minimum(1, times_the_rate * chance[group == "b"])
            counts = ff.FailureCounts(rng.binomial(2, chance), [2] * group.size, group)
            if counts.n_failures.any():
                test = ff.fnmr_test(counts, n_resamples=199, rng=seed, follow_up=False, n_threads=1)
                significant.append(test.pvalue <= 0.05)
        return float(np.mean(significant))

    assert share(1) <= 0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5
    if n_small > 2:
        assert share(8) > 0.4


@pytest.mark.jit
def test_a_group_of_twice_the_rate_is_named_and_the_others_are_not():
    """Each against all others together, those were found to differ, too, as the large group makes
    the others low."""
    named = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group = np.repeat(list("abcde"), [400, 100, 100, 100, 100])
        failures = rng.binomial(4, np.where(group == "a", 0.2, 0.1))
        test = ff.fnmr_test(
            ff.FailureCounts(failures, [4] * group.size, group), n_resamples=499, rng=seed
        )
        named += test.different
    assert named.count("a") >= 9
    assert len(named) - named.count("a") <= 2


def some_counts(n: int = 60, seed: int = 0, worse: float = 0.0) -> ff.FailureCounts:
    """Three groups, the last of which fails more often by `worse`."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    attempts = rng.integers(1, 6, n)
    failures = rng.binomial(attempts, np.minimum(1, rng.beta(1, 6, n) + worse * (group == 2)))
    return ff.FailureCounts(failures, attempts, np.array(["f", "m", "x"])[group])


@pytest.mark.jit
def test_threads_and_more_replicates_change_no_bit():
    counts = some_counts(3000)
    one, two = (ff.fnmr_test(counts, n_resamples=1300, rng=9, n_threads=n) for n in (1, 2))
    for name in ("replicates", "group_pvalue", "group_pvalue_adjusted"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    fewer = ff.fnmr_test(counts, n_resamples=37, rng=9)
    assert np.array_equal(fewer.replicates, one.replicates[:37])
    margins = [
        ff.margin_of_error(counts, n_resamples=1300, rng=9, n_threads=n).replicates for n in (1, 2)
    ]
    assert margins[0].tobytes() == margins[1].tobytes()
    assert not np.array_equal(
        ff.fnmr_test(counts, n_resamples=37, rng=10).replicates, fewer.replicates
    )


def test_no_follow_up():
    test = ff.fnmr_test(some_counts(), n_resamples=9, follow_up=False, rng=0)
    assert np.isnan([*test.group_pvalue, *test.group_pvalue_adjusted]).all()
    assert test.different == ()
    assert np.isfinite(test.pvalue)


def test_progress_is_told():
    seen = []
    ff.fnmr_test(
        some_counts(),
        n_resamples=600,
        rng=0,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (600, 600)


def test_scores_and_vectors_are_counted_first():
    e = small_embeddings(2, 9, 5)
    at = ff.at_fnmr(0.3)
    counts = ff.FailureCounts.from_comparisons(e, at)
    for test in (ff.fnmr_test, ff.margin_of_error):
        expected = test(counts, n_resamples=20, rng=0)
        for data in (e, e.comparisons()):
            found = test(data, at, n_resamples=20, rng=0)
            assert np.array_equal(found.replicates, expected.replicates)
            assert found.settings["at"] == str(at)
            assert expected.settings["at"] is None


# What cannot be tested.


@each("value", [0, 1])
@each("name", STATISTICS)
def test_no_failure_and_nothing_else(value, name):
    counts = ff.FailureCounts([2 * value] * 6, [2] * 6, list("aaabbb"))
    with pytest.warns(
        NotComputableWarning, match=f"{('none', 'all')[value]} of the attempts are errors"
    ) as told:
        test = ff.fnmr_test(counts, statistic=name, n_resamples=9, rng=0)
    assert told[0].filename == __file__
    assert np.isnan(
        [test.statistic, test.pvalue, *test.group_pvalue, *test.group_pvalue_adjusted]
    ).all()
    assert test.different == ()
    assert "cannot say" in test.summary()
    assert json.loads(test.to_json(), parse_constant=pytest.fail)["rate"] == value
    if name == STATISTICS[0]:  # what is drawn is the same for all
        test.plot().figure.canvas.draw()


@each("value", [0, 1])
def test_a_margin_of_no_failure_and_nothing_else(value):
    counts = ff.FailureCounts([2 * value] * 6, [2] * 6, list("aaabbb"))
    with pytest.warns(NotComputableWarning, match="no margin of error") as told:
        found = ff.margin_of_error(counts, n_resamples=9, rng=0)
    assert told[0].filename == __file__
    assert np.isnan([found.margin, found.low, found.high]).all()
    assert found.outside == ()
    assert "no margin of error" in found.summary()
    assert json.loads(found.to_json(), parse_constant=pytest.fail)["rate"] == value
    found.plot().figure.canvas.draw()


def test_a_group_without_failures_among_others():
    counts = ff.FailureCounts([0] * 5 + [2, 0, 1, 3, 0], [4] * 10, list("aaaaabbbbb"))
    ratio = ff.fnmr_test(counts, statistic="max-ratio", n_resamples=99, rng=0)
    assert ratio.statistic == math.inf
    assert 0 < ratio.pvalue <= 1
    assert json.loads(ratio.to_json())["statistic"] == "Infinity"
    assert ff.fnmr_test(counts, n_resamples=99, rng=0).pvalue < 0.2


def test_rates_shifted_to_nothing_make_infinite_ratios():
    """A rate less its own plus the overall one is 0 in fractions, and 1e-17 or so in floats."""
    groups = [[(0, 3), (0, 3)], [(1, 5), (5, 5)], [(3, 3), (1, 3), (0, 3)]]
    drawn = [[0, 1], [0, 0], [2, 2, 0]]
    data = of_counts(counts_of(groups))
    found = replicated(groups, [drawn]).shifted(data).statistic("max-ratio", data.size)
    assert found == [slow.replicated_max_ratio(groups, drawn)] == [math.inf]


def test_subjects_that_are_all_alike_do_not_vary():
    """2/5 cannot be squared without rounding."""
    assert (ff.FailureCounts([1, 1, 2, 2], [6, 6, 5, 5], list("aabb")).standard_error == 0).all()


@pytest.mark.filterwarnings("error::fastfair.errors.FewResamplesWarning")
def test_too_few_replicates_for_the_follow_up_are_told():
    counts = ff.FailureCounts([0, 1, 2, 0] * 2, [3] * 8, list("aabbccdd"))
    with pytest.warns(FewResamplesWarning, match=r"no group.*at least 0\.053: use 20"):
        ff.fnmr_test(counts, n_resamples=18, rng=0)
    ff.fnmr_test(counts, n_resamples=20, rng=0)
    ff.fnmr_test(counts, n_resamples=9, follow_up=False, rng=0)


@pytest.mark.jit
@pytest.mark.filterwarnings("error::fastfair.errors.NarrowIntervalsWarning")
def test_small_groups_among_large_ones_are_told():
    rng = np.random.default_rng(0)
    group = np.repeat(["large", "larger", "small"], [200, 300, 20])
    counts = ff.FailureCounts(rng.binomial(4, 0.03, group.size), np.full(group.size, 4), group)
    with pytest.warns(NarrowIntervalsWarning, match="much smaller than others.*: 'small'"):
        ff.margin_of_error(counts, n_resamples=999, rng=0)
    with pytest.warns(NarrowIntervalsWarning, match="few failures are expected: 'small'"):
        ff.fnmr_test(counts, null_model="bootstrap", rng=0)
    ff.fnmr_test(counts, statistic="max-ratio", rng=0)
    ff.margin_of_error(counts.without(["small"]), n_resamples=999, rng=0)


def test_the_level_is_what_was_asked_without_rounding():
    test = ff.fnmr_test(ff.FailureCounts([0, 1, 2, 0], [3] * 4, list("aabb")), rng=0)
    assert test.level == 0.05


def test_groups_that_are_exactly_alike_have_pvalues_of_one():
    group = [(1, 3), (0, 1), (2, 2), (0, 3)]
    without_variance = [[(2, 3)] * 2] * 2
    for groups, least in ((without_variance, 1), ([group, group * 2, group[::-1] * 3], 0.501)):
        test = ff.fnmr_test(counts_of(groups), n_resamples=99, rng=0)
        assert test.pvalue == 1
        assert (test.group_pvalue >= least).all()


ONE_ALONE = ff.FailureCounts([1, 0, 1, 0, 1], [2, 2, 3, 2, 2], list("aabbc"))


@pytest.mark.parametrize("test", [ff.fnmr_test, ff.margin_of_error])
def test_groups_with_one_subject(test):
    few = r"1 of 3 groups.*fewer than 2 subjects.*'c' \(1\).*incomplete_groups"
    refused(few, test, ONE_ALONE, incomplete_groups="raise")
    with pytest.warns(DroppedWarning, match=r"left out of the test.*'c' \(1\)") as told:
        found = test(ONE_ALONE, n_resamples=9, rng=0)
    assert told[0].filename == __file__
    assert found.groups == ("a", "b", "c")
    assert found.is_tested.tolist() == [True, True, False]
    assert found.note == ("", "", "not tested: fewer than 2 subjects")
    assert found.to_frame("pandas")["note"].tolist() == list(found.note)
    assert json.loads(found.to_json())["note"] == list(found.note)
    others = test(ONE_ALONE.without(["c"]), n_resamples=9, rng=0)
    assert np.array_equal(found.replicates, others.replicates)
    assert found.rate == others.rate
    np.testing.assert_array_equal(found.group_rate[:2], others.group_rate)
    assert found.group_rate[2] == 0.5
    found.plot().figure.canvas.draw()
    alone, nobody = (
        ff.FailureCounts([1, 0, 1], [2, 2, 3], list("aab")),
        ff.FailureCounts([1, 0], [2, 2], list("ab")),
    )
    at_least = "compares at least 2 groups, but there is only 'a'"
    refused(f"{at_least} with enough subjects, at least 2; too few have 'b'", test, alone)
    refused(at_least, test, alone.without(["b"]))
    refused("there is none with enough subjects, at least 2; too few have", test, nobody)


# Margins of error.


def test_the_replicates_are_those_of_the_test():
    counts = some_counts()
    test = ff.fnmr_test(
        counts, statistic="max-difference", null_model="bootstrap", n_resamples=99, rng=4
    )
    found = ff.margin_of_error(counts, center="replicate", n_resamples=99, rng=4)
    np.testing.assert_allclose(found.replicates, test.replicates, atol=1e-15)
    assert not np.allclose(
        ff.margin_of_error(counts, n_resamples=99, rng=4).replicates, test.replicates
    )


def test_a_group_at_the_margin_is_inside():
    """Both groups are 1/4 from the overall rate, and so is every replicate in which they swap."""
    counts = ff.FailureCounts([1, 0, 1, 1], [1, 1, 1, 1], list("aabb"))
    found = ff.margin_of_error(counts, n_resamples=500, confidence_level=0.3, rng=0)
    assert found.margin in found.replicates
    assert found.outside == tuple(
        g
        for g, rate in zip("ab", (Fraction(1, 2), 1), strict=True)
        if abs(rate - Fraction(3, 4)) > found.margin
    )


# What results say.


def test_sentences_of_a_test_that_finds_nothing():
    test = ff.fnmr_test(ONE_ALONE.without(["c"]), statistic="max-ratio", n_resamples=99, rng=0)
    said = test.summary()
    assert test.pvalue > 0.05
    assert f"{100 * test.pvalue:.0f} % of studies like this one" in said
    assert "largest ratio = " in said
    detected = f"No difference of FNMRs was detected at the 5 % level (p = {test.pvalue:.2g})"
    assert f"{detected}, which does not show that they are equal." in said
    assert "Significantly" not in said


# False match rates.


def impostors(
    n_subjects: int = 60, tau: float = 0.3, seed: int = 0, shift: float = 0.0
) -> ff.Comparisons:
    """All pairs within three groups, of subjects whom some resemble more than others, and the last
    group by `shift`.

    Each has the variance 1, whatever `tau` is.
    """
    rng = np.random.default_rng(seed)
    reference, probe, mated = pairs_within_groups([n_subjects] * 3)
    effect = rng.normal(0, tau, 3 * n_subjects)
    scores = (rng.normal(size=reference.size) + effect[reference] + effect[probe]) / math.sqrt(
        1 + 2 * tau**2
    )
    group = np.array(list("fmx"))[reference // n_subjects]
    return ff.Comparisons(
        scores + 4 * mated + shift * (group == "x"), mated, reference, probe, group, group
    )


AT = ff.at_threshold(2.0)


@each("name", STATISTICS)
@each("at", [AT, ff.at_fmr(0.03), ff.at_eer()])
def test_rates_of_groups_have_the_intervals_of_evaluations_at_that_threshold(name, at):
    c = impostors(20, shift=0.5)
    test = ff.fmr_test(c, at, statistic=name, n_resamples=150, rng=3)
    rates = ff.rates(c, at)
    assert (test.threshold, test.groups) == (rates.threshold, rates.groups)
    np.testing.assert_array_equal(test.group_rate, rates.group_fmr)
    np.testing.assert_array_equal(test.n_trials, rates.counts.group_nonmated)
    np.testing.assert_array_equal(test.n_errors, rates.counts.group_false_matches)
    np.testing.assert_array_equal(test.n_subjects, rates.counts.group_nonmated_subjects)
    assert test.rate == pytest.approx(test.n_errors.sum() / test.n_trials.sum())
    n, rate = test.n_trials, test.group_rate
    rest = (test.n_errors.sum() - test.n_errors) / (n.sum() - n)
    np.testing.assert_allclose(test.difference, rate - rest)
    asked = {"measures": [], "metrics": [], "n_resamples": 150, "rng": 3}
    for level, ends in (
        (0.95, (test.low, test.high)),
        (0.95 ** (1 / 3), (test.simultaneous_low, test.simultaneous_high)),
    ):
        evaluation = ff.evaluate(
            c, ff.at_threshold(rates.threshold), confidence_level=level, **asked
        )
        for g, group in enumerate(test.groups):
            one = evaluation.quantity("fmr", group)
            assert (one.low, one.high, one.standard_error) == (
                ends[0][g],
                ends[1][g],
                test.standard_error[g],
            )


@each("name", STATISTICS)
def test_false_matches_are_tested_with_the_draws_of_the_deviance(name):
    c = impostors(20, shift=0.5)
    test = ff.fmr_test(c, AT, statistic=name, n_resamples=150, rng=3)
    rates = ff.rates(c, AT)
    roots = draw_roots(
        *count_false_matches(c, rates.threshold, np.arange(3)), 150, seeds.stream(3)[0]
    )
    n = test.n_trials

    def statistic(errors: np.ndarray, inflation: np.ndarray) -> float:
        x, center = errors / n, errors.sum() / n.sum()
        if np.ptp(x) == 0:
            return float(name == "max-ratio")
        if name == "max-difference":
            return np.abs(x - center).max()
        if name == "max-ratio":
            return max(max(x / center), max(center / x)) if (x > 0).all() else math.inf
        within = (n * x * (1 - x) * inflation).sum() / (n.sum() - 3)
        return (n * (x - center) ** 2).sum() / 2 / within if within > 0 else math.inf

    assert test.statistic == pytest.approx(statistic(test.n_errors, roots.inflation))
    expected = [
        statistic(*drawn)
        for drawn in zip(roots.replicated_errors, roots.replicated_inflation, strict=True)
    ]
    np.testing.assert_allclose(test.replicates, expected, rtol=1e-9)
    of_deviance = ff.fmr_test(c, AT, n_resamples=150, rng=3)
    least = 0.0 if name == "f" else of_deviance.pvalue
    assert test.pvalue == max(pvalue(test.statistic, np.array(expected)), least)
    assert np.array_equal(test.group_pvalue, of_deviance.group_pvalue)


def test_false_matches_of_embeddings_are_those_of_their_comparisons():
    e = small_embeddings(2, 12, 5)
    for at in (ff.at_fmr(0.2), ff.at_eer()):
        of_vectors, of_pairs = (
            ff.fmr_test(data, at, n_resamples=64, rng=0) for data in (e, e.comparisons())
        )
        assert of_vectors.to_json() == of_pairs.to_json()
        assert np.array_equal(of_vectors.replicates, of_pairs.replicates)


def test_a_group_without_false_matches():
    c = impostors(12, shift=-9)
    test = ff.fmr_test(c, ff.at_threshold(1.5), n_resamples=99, rng=0)
    assert 0 < test.pvalue <= 1
    assert ((test.group_pvalue > 0) & (test.group_pvalue_adjusted <= 1)).all()
    assert test.group_rate[2] == 0
    json.loads(test.to_json(), parse_constant=pytest.fail)
    test.plot().figure.canvas.draw()


@pytest.mark.parametrize(("threshold", "which"), [(99, "none"), (-99, "all")])
def test_no_false_match_and_nothing_else(threshold, which):
    with pytest.warns(
        NotComputableWarning, match=f"{which} of the non-mated comparisons are errors"
    ) as told:
        test = ff.fmr_test(impostors(12), ff.at_threshold(threshold), n_resamples=9, rng=0)
    assert [warning.filename for warning in told] == [__file__]
    assert np.isnan([test.statistic, test.pvalue]).all()
    assert "The test cannot say whether the FMRs of 3 groups differ" in test.summary()


def test_groups_with_two_subjects():
    """Of all pairs, also across groups, which do not count."""
    first, second = np.triu_indices(12)
    label = np.array(list("ff" + "mmmmm" + "xxxxx"))
    scores = np.random.default_rng(1).normal(size=first.size)
    c = ff.Comparisons(scores, first == second, first, second, label[first], label[second])
    few = r"1 of 3 groups has non-mated.*fewer than 3 subjects.*'f' \(2\)"
    refused(few, ff.fmr_test, c, ff.at_threshold(0.5), incomplete_groups="raise")
    with pytest.warns(DroppedWarning, match=r"left out.*'f' \(2\)") as told:
        test = ff.fmr_test(c, ff.at_threshold(0.5), n_resamples=32, rng=0)
    assert told[0].filename == __file__
    assert test.groups == ("f", "m", "x")
    assert test.is_tested.tolist() == [False, True, True]
    np.testing.assert_array_equal(test.group_rate, ff.rates(c, ff.at_threshold(0.5)).group_fmr)
    assert test.n_trials.tolist() == [1, 10, 10]
    assert test.rate == test.n_errors[1:].sum() / 20
    assert (
        np.isnan(test.group_pvalue).tolist()
        == np.isnan(test.difference).tolist()
        == [True, False, False]
    )
    assert "Not tested, as they have fewer than 3 subjects: f." in test.summary()


FAILURES, MATCHES = [ff.fnmr_test, ff.margin_of_error], [ff.fmr_test]
ALL = FAILURES + MATCHES
KINDS_OF_DATA = "data must be Comparisons, ScannedComparisons"
STATISTICS_NAMED = "statistic must be one of 'f', 'max-difference', 'max-ratio', not"


@each(
    ("tests", "arguments", "words"),
    [
        (ALL, {"n_resamples": 0}, "n_resamples must be a whole number of at least 1"),
        (ALL, {"n_resamples": -1}, "n_resamples must be a whole number"),
        (ALL, {"n_resamples": 1.5}, "n_resamples must be a whole number"),
        (
            ALL,
            {"confidence_level": 95},
            "confidence_level must be a fraction in .0, 1., not 95; for 95 % write 0.95",
        ),
        (ALL, {"confidence_level": 1}, "confidence_level must be a fraction in"),
        (
            ALL,
            {"incomplete_groups": "keep"},
            "incomplete_groups must be one of 'drop', 'raise', not 'keep'",
        ),
        (ALL, {"rng": -1}, "rng must be"),
        (ALL, {"n_threads": 0}, "n_threads"),
        (ALL, {"data": population(), "at": 0.5}, "at must be an operating point"),
        (FAILURES, {"data": population()}, "at is missing"),
        (
            FAILURES,
            {"at": ff.at_fmr(0.1)},
            "at=FMR=0.1 is for scores, but FailureCounts hold decisions",
        ),
        (
            FAILURES,
            {"data": [1, 2], "at": ff.at_fmr(0.1)},
            f"{KINDS_OF_DATA}, Embeddings or FailureCounts, not",
        ),
        ([ff.fnmr_test], {"statistic": "F"}, f"{STATISTICS_NAMED} 'F'"),
        ([ff.fnmr_test], {"statistic": "deviance"}, f"{STATISTICS_NAMED} 'deviance'"),
        (
            [ff.margin_of_error],
            {"quantile": "wide"},
            "quantile must be one of 'family-wise', 'paper', not 'wide'",
        ),
        (
            [ff.margin_of_error],
            {"center": "fixed"},
            "center must be one of 'data', 'replicate', not 'fixed'",
        ),
        (MATCHES, {"statistic": "F"}, "statistic must be one of"),
        (MATCHES, {"at": None}, "at must be an operating point"),
        (MATCHES, {"data": some_counts()}, f"{KINDS_OF_DATA} or Embeddings, not FailureCounts"),
        (MATCHES, {"data": ff.Comparisons([1, 0], [1, 0], ["p", "p"], ["p", "q"])}, "groups"),
        (
            MATCHES,
            {"data": ff.Comparisons([1, 0], [1, 0], None, None, list("fm"), list("fm"))},
            "subjects",
        ),
    ],
)
def test_what_is_refused(tests, arguments, words):
    for test in tests:
        data = {"data": impostors(5), "at": AT} if test in MATCHES else {"data": some_counts()}
        refused(words, test, **data | arguments)


def test_groups_of_few_subjects_are_named():
    first, second = np.triu_indices(12, 1)
    both = [np.concatenate((who, 12 + who[second < 8])) for who in (first, second)]
    group = np.where(both[0] < 12, "many", "few")
    scores = np.random.default_rng(0).normal(size=group.size)
    c = ff.Comparisons(
        np.append(scores, 9),
        np.append(np.zeros(group.size), 1),
        np.append(both[0], 0),
        np.append(both[1], 0),
        np.append(group, "many"),
        np.append(group, "many"),
    )
    with pytest.warns(NarrowIntervalsWarning, match="groups of 10 subjects or fewer: 'few'"):
        ff.fmr_test(c, ff.at_threshold(1.0), n_resamples=50, rng=0)


def test_tables_json_and_sentences_of_a_test(tmp_path):
    counts = some_counts(150, worse=0.5)
    test = ff.fnmr_test(counts, n_resamples=199, rng=0)
    frame = test.to_frame("pandas")
    assert frame["group"].tolist() == ["f", "m", "x"]
    for column, expected in (
        ("n_attempts", counts.n_attempts),
        ("n_errors", counts.n_failures),
        ("fnmr", counts.group_rate),
        ("icc", counts.icc),
        ("group_pvalue_adjusted", test.group_pvalue_adjusted),
        ("low", test.low),
    ):
        np.testing.assert_array_equal(frame[column], expected)
    text = test.to_json(tmp_path / "test.json")
    assert (tmp_path / "test.json").read_text().strip() == text.strip()
    content = json.loads(text, parse_constant=pytest.fail)
    assert content["pvalue"] == test.pvalue
    assert (content["rate"], content["rate_name"]) == (counts.rate, "fnmr")
    assert content["different"] == list(test.different)
    assert content["groups"] == frame["group"].tolist()
    assert content["low"] == frame["low"].tolist()
    assert content["settings"]["rng"] == 0
    said = test.summary()
    assert test.pvalue == 1 / 200
    assert "1 in 200 studies like this one" in said
    assert f"F = {test.statistic:.3g}, 199 replicates" in said
    assert (
        "FNMRs of groups differ by more than chance explains at the 5 % level (p = 0.005)." in said
    )
    rates = dict(zip(test.groups, (f"{100 * rate:.3g} %" for rate in test.group_rate), strict=True))
    assert f"Significantly higher than in the other groups (3 tested): x ({rates['x']})." in said
    assert test.different == ("x",)


def test_intervals_that_hold_together_are_those_of_sidaks_level():
    counts = some_counts(300)
    test = ff.fnmr_test(counts, n_resamples=199, rng=0)
    want = counts.confidence_interval(0.95 ** (1 / 3))
    assert np.array_equal((test.simultaneous_low, test.simultaneous_high), want)
    of_matches = ff.fmr_test(impostors(), ff.at_threshold(2.0), n_resamples=199, rng=0)
    assert (of_matches.simultaneous_low < of_matches.low).all()
    assert (of_matches.simultaneous_high > of_matches.high).all()


def test_quantiles_of_the_same_replicates():
    counts = some_counts(worse=0.4)
    usual, paper = (
        ff.margin_of_error(counts, quantile=name, n_resamples=199, confidence_level=0.9, rng=4)
        for name in ("family-wise", "paper")
    )
    assert np.array_equal(usual.replicates, paper.replicates)
    assert usual.margin == np.quantile(usual.replicates, 0.9)
    assert paper.margin == pytest.approx(np.quantile(usual.replicates, 0.95))
    for found in (usual, paper):
        assert (found.low, found.high) == (found.rate - found.margin, found.rate + found.margin)
        expected = np.abs(counts.group_rate - counts.rate) > found.margin
        assert found.outside == tuple(np.array(counts.groups)[expected].tolist())
        assert np.array_equal(found.group_rate, counts.group_rate)
    assert "x" in usual.outside


def test_a_note_says_why_an_adjusted_p_value_is_below_p():
    counts = ff.FailureCounts([0, 1, 0, 2, 1, 1, 2, 1, 3, 0], [4] * 10, group=list("ffffmmmmxx"))
    test = ff.fnmr_test(counts, n_resamples=99, rng=0)
    for adjusted, is_noted in ((test.group_pvalue - 0.01, True), (test.group_pvalue, False)):
        tables = replace(test, group_pvalue_adjusted=adjusted)._tables()
        assert [said for said, headings, _ in tables[1:] if not headings] == [
            "Adjusted p-values below p are of tests of several groups at once, which decide; p is of"
            " the group alone."
        ] * is_noted
