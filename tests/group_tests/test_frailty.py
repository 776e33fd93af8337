"""The deviance of false match rates, against its oracle, and what it says where groups are alike or
not."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.data_sets import pairs_within_groups
from hypothesis import given
from hypothesis import strategies as st
from oracles import frailty as slow
from scipy import stats

import fastfair as ff
from fastfair._lib import seeds
from fastfair.group_tests.frailty import (
    Frailty,
    Roots,
    count_errors,
    draw_roots,
    estimate,
    most_alike,
    replicate,
    signed_roots,
)

KEY = seeds.stream(0)[0]


def roots_of(errors, inflation, replicated, replicated_inflation, size):
    """Return roots of replicates with as many comparisons as the data have."""
    return Roots(
        errors,
        inflation,
        replicated,
        replicated_inflation,
        size,
        np.broadcast_to(size, replicated.shape),
    )


def columns(comparisons: list[slow.Comparison]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(column) for column in zip(*comparisons, strict=True))


def all_pairs(sizes=(8, 5), repeats=3, share=0.3, seed=0) -> list[slow.Comparison]:
    """All pairs of the subjects of each group, up to so many times, of which a share are errors."""
    rng = np.random.default_rng(seed)
    pairs = [(k, other, g) for g, n in enumerate(sizes) for k in range(n) for other in range(k)]
    return [
        (*pair, bool(rng.random() < share))
        for pair in pairs
        for _ in range(rng.integers(1, repeats + 1))
    ]


@st.composite
def some_comparisons(draw) -> list[slow.Comparison]:
    """Comparisons of few subjects in two groups, also of one with itself, in any order."""
    subject = st.integers(0, 5)
    more = draw(
        st.lists(st.tuples(subject, subject, st.integers(0, 1), st.booleans()), max_size=25)
    )
    return draw(st.permutations([(0, 1, 0, False), (2, 1, 1, True), *more]))


@given(some_comparisons())
def test_counts_and_estimates_are_those_of_the_oracle(comparisons):
    design, counts = count_errors(*columns(comparisons), 2)
    assert counts.tolist() == slow.counts(comparisons, 2)
    sizes = [len(slow.in_group(comparisons, g)) for g in range(2)]
    assert design.size.tolist() == sizes
    twos = [slow.shared_twos(comparisons, g) for g in range(2)]
    np.testing.assert_allclose(np.stack((design.sharing, design.repeated), axis=1), twos)
    found = estimate(counts, design)
    rate, kappa, again, inflation = slow.estimate(comparisons, 2)
    np.testing.assert_allclose(
        (found.rate, *found.kappa, found.again), (rate, *kappa, again), atol=1e-9
    )
    np.testing.assert_allclose(found.inflation, inflation)
    roots = signed_roots(counts[:, 0], design.size, found.inflation)
    np.testing.assert_allclose(
        roots, slow.signed_roots(counts[:, 0].tolist(), sizes, inflation), atol=1e-6
    )


def test_estimates_of_replicates_are_those_of_each_on_its_own():
    design, counts = count_errors(*columns(all_pairs()), 2)
    drawn = replicate(design, estimate(counts, design), 20, KEY)
    together = estimate(drawn, design)
    for r in range(20):
        alone = estimate(drawn[r], design)
        assert (alone.rate, alone.again) == (together.rate[r], together.again[r])
        assert alone.kappa.tolist() == together.kappa[r].tolist()


def null_of(rate: float, kappa: list[float], again: float) -> Frailty:
    return Frailty(np.array(rate), np.array(kappa), np.array(again), np.ones(len(kappa)))


@pytest.mark.jit
@pytest.mark.parametrize(
    ("kappa", "again", "rate"),
    [
        ([0.0, 0.0], 0.0, 0.05),
        ([0.8, 0.8], 0.4, 0.02),
        ([3.0, 0.0], 1.0, 0.01),
        ([0.5, 2.0], 0.3, 0.3),
    ],
)
def test_errors_are_drawn_as_by_the_oracle(kappa, again, rate):
    """Means of all counts, and variances of errors, over many replicates."""
    comparisons, n = all_pairs((12, 7), 4), 1000
    design, _ = count_errors(*columns(comparisons), 2)
    rng = np.random.default_rng(1)
    ours = replicate(design, null_of(rate, kappa, again), 4 * n, KEY)
    expected = np.array(
        [slow.counts(slow.draw(comparisons, rate, kappa, again, rng), 2) for _ in range(n)]
    )
    # NaN where neither varies, as no error comes again where the chance of that is 0.
    assert not (stats.ttest_ind(ours, expected, axis=0, equal_var=False).pvalue < 1e-5).any()
    deviations = [
        np.abs(found[..., 0] - expected[..., 0].mean(axis=0)) for found in (ours, expected)
    ]
    assert (stats.ttest_ind(*deviations, axis=0, equal_var=False).pvalue > 1e-5).all()
    if kappa == [0, 0] and again == 0:
        np.testing.assert_allclose(ours[..., 0].mean(axis=0), rate * design.size, rtol=0.1)


@pytest.mark.jit
def test_what_was_drawn_from_is_estimated_again():
    design, _ = count_errors(*columns(all_pairs((120, 120, 120), 2, 0.05)), 3)
    found = estimate(replicate(design, null_of(0.005, [0.7] * 3, 0.3), 400, KEY), design)
    assert found.kappa.mean() == pytest.approx(0.7, abs=0.07)
    assert found.again.mean() == pytest.approx(0.3, abs=0.03)
    assert found.rate.mean() == pytest.approx(0.005, rel=0.03)


@pytest.mark.jit
def test_a_replicate_depends_on_its_number_alone():
    design, counts = count_errors(*columns(all_pairs((30, 20))), 2)
    null = estimate(counts, design)
    many = replicate(design, null, 200, KEY, n_threads=2)
    assert np.array_equal(replicate(design, null, 77, KEY, n_threads=1), many[:77])
    assert not np.array_equal(many[0], many[1])
    assert not np.array_equal(replicate(design, null, 200, seeds.stream(1)[0]), many)


def test_one_subject_with_a_part_in_all_errors_makes_covariance_large():
    comparisons = [
        (k, other, g, k == 1) for g in range(2) for k in range(2, 12) for other in range(k)
    ]
    comparisons = [(k, other, g, g == 0 and other == 0) for k, other, g, _ in comparisons]
    design, counts = count_errors(*columns(comparisons), 2)
    assert (estimate(counts, design).kappa > 3).all()
    assert draw_roots(design, counts, 500, KEY).pvalues()[0] > 0.05


@st.composite
def some_groups(draw) -> tuple[list[int], list[float], list[float]]:
    """Errors, sizes and inflation of 2 to 6 groups, of which some have errors."""
    n = draw(st.integers(2, 6))
    errors = draw(st.lists(st.integers(0, 60), min_size=n, max_size=n).filter(any))
    sizes = draw(st.lists(st.floats(100, 1e4), min_size=n, max_size=n))
    return errors, sizes, draw(st.lists(st.floats(1, 5), min_size=n, max_size=n))


@given(some_groups(), st.data())
def test_the_groups_most_alike_are_those_of_all_choices(groups, data):
    n_groups = len(groups[0])
    n = data.draw(st.integers(n_groups // 2 + 1, n_groups))
    member = data.draw(st.none() | st.integers(0, n_groups - 1))
    chosen = most_alike(*(np.array(column) for column in groups), n, member)
    assert len(set(chosen)) == n
    assert member is None or member in chosen
    assert slow.deviance(*groups, chosen) == pytest.approx(
        slow.least_deviance(*groups, n, member), abs=1e-9
    )


@given(some_groups(), st.integers(0, 9), st.sampled_from([0.01, 0.05, 0.3]))
def test_groups_are_named_as_by_the_oracle(groups, seed, level):
    errors, sizes, inflation = groups
    rate = sum(errors) / sum(sizes)
    replicated = np.random.default_rng(seed).poisson(rate * np.array(sizes), (19, len(errors)))
    roots = roots_of(
        np.array(errors),
        np.array(inflation),
        replicated,
        np.tile(inflation, (19, 1)),
        np.array(sizes),
    )
    expected = slow.adjusted_pvalues(errors, sizes, inflation, replicated.tolist(), level)
    np.testing.assert_allclose(roots.adjusted_pvalues(level), expected)


def test_groups_are_compared_with_those_that_are_left():
    """One group far above makes the common rate too high for the three others, which are alike."""
    errors, ones = np.array([40, 40, 40, 400]), np.ones(4)
    rng = np.random.default_rng(0)
    roots = roots_of(errors, ones, rng.poisson(130, (999, 4)), np.ones((999, 4)), 1000 * ones)
    assert (roots.pvalues() == 0.001).all()
    adjusted = roots.adjusted_pvalues(0.05)
    assert adjusted[3] == 0.001
    assert (adjusted[:3] > 0.9).all()
    everyone = roots_of(
        np.array([40, 90, 200, 400]),
        ones,
        rng.poisson(180, (999, 4)),
        np.ones((999, 4)),
        1000 * ones,
    )
    assert (everyone.adjusted_pvalues(0.05) == 0.001).all()
    two = roots_of(
        errors[2:], ones[2:], rng.poisson(220, (999, 2)), np.ones((999, 2)), 1000 * ones[2:]
    )
    assert two.adjusted_pvalues(0.05).tolist() == [0.001, 0.001]


def fair(sizes=(40, 60, 80), seed=0, shift=0.0) -> ff.Comparisons:
    """All pairs within groups; the scores of the last group are higher by `shift`."""
    rng = np.random.default_rng(seed)
    reference, probe, mated = pairs_within_groups(sizes)
    effect = rng.normal(0, 0.3, sum(sizes))
    scores = rng.normal(size=mated.size) + effect[reference] + effect[probe] + 4 * mated
    position = np.repeat(np.arange(len(sizes)), sizes)[reference]
    group = np.array([f"group {k}" for k in range(len(sizes))])[position]
    return ff.Comparisons(
        scores + shift * (position == len(sizes) - 1), mated, reference, probe, group, group
    )


AT = ff.at_fmr(0.01)


@pytest.mark.jit
def test_groups_are_named_only_where_the_test_finds_a_difference():
    c = fair((80, 80, 40), shift=1.0)
    test, of_ratios = (
        ff.fmr_test(c, AT, statistic=name, rng=0) for name in ("deviance", "max-ratio")
    )
    assert test.pvalue < 0.01
    assert test.different == ("group 2",)
    assert (of_ratios.group_pvalue_adjusted >= of_ratios.pvalue).all()
    np.testing.assert_array_equal(of_ratios.group_pvalue, test.group_pvalue)


def test_groups_of_too_few_subjects_take_no_part():
    c = fair((40, 2, 50))
    with pytest.warns(ff.errors.DroppedWarning, match="group 1"):
        test = ff.fmr_test(c, AT, n_resamples=99, rng=0)
    assert test.groups == ("group 0", "group 1", "group 2")
    assert test.group_pvalue_adjusted[0] == test.group_pvalue_adjusted[2] >= test.pvalue
