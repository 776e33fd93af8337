"""Limits that allow for goats and for thresholds that few errors hold, against slow twins and known
cases."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from helpers.each import each
from helpers.quiet import quietly
from helpers.random_comparisons import drawn, rows_of
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import applied_thresholds as of_thresholds
from oracles import intervals as naive

import fastfair as ff
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import range_of
from fastfair.uncertainty.notes import Flag, has_flag


def evaluated(c: ff.Comparisons, at: ff.OperatingPoint, **asked: object) -> Evaluation:
    return quietly()(ff.evaluate)(c, at, **({"n_resamples": 0} | asked))


RATES_ALONE = {"measures": [], "metrics": []}


@given(
    seed=st.integers(0, 10**6), threshold=st.floats(0, 3), group=st.sampled_from([None, "0", "1"])
)
def test_upper_limits_of_fnmr_are_those_with_one_more_subject(seed, threshold, group):
    c = drawn(seed)
    found = evaluated(c, ff.at_threshold(threshold))
    q = found.quantity("fnmr", group)
    if not 0 < q.estimate < 1 or q.n_errors < 5:
        return
    freedom = found.uncertainty.sizes.degrees_of_freedom[found.quantities.index(q)]
    mated = [row for row in rows_of(c) if row[1]]
    of_group = [row for row in mated if group in (None, str(row[2] % 2))]

    def counted(rows: list) -> list[tuple[int, int]]:
        attempts = Counter(subject for _, _, subject, _ in rows)
        failures = Counter(subject for score, _, subject, _ in rows if score < threshold)
        return [(failures[k], attempts[k]) for k in attempts]

    added = naive.typical_subject(counted(of_group), counted(mated))
    expected = naive.with_one_more(
        q.estimate, len(of_group), added, q.standard_error, freedom, 0.95
    )
    assert (q.low, q.high) == pytest.approx(expected)


@given(
    seed=st.integers(0, 10**6), rate=st.floats(0.001, 0.03), level=st.sampled_from([0.5, 0.9, 0.95])
)
def test_fnmrs_at_fmrs_of_few_errors_have_the_limits_at_the_scores_that_chance_allows(
    seed, rate, level
):
    c = drawn(seed, digits=2)
    found = evaluated(c, ff.at_fmr(rate))
    few_held, row = found.uncertainty.sizes.few_held, found.quantities.index(found.quantity("fnmr"))
    (limits,) = few_held.limits([row], level)
    if limits is None:
        assert not few_held._held
        return
    (held,) = few_held._held.values()
    half = (1 + level) / 2
    low, high = of_thresholds.law_of_rate(rate, held.standard_error, held.degrees_of_freedom, half)
    scores = sorted((score for score, mated, _, _ in rows_of(c) if not mated), reverse=True)
    fewest, most = math.floor(low * len(scores) + 1e-9), math.ceil(high * len(scores) - 1e-9)
    expected = [0.0, 1.0]
    for end, k in ((1, fewest - 1), (0, most)):
        if 0 <= k < len(scores):
            at = ff.at_threshold(float(np.nextafter(scores[k], math.inf)))
            there = evaluated(c, at, confidence_level=half, **RATES_ALONE)
            expected[end] = there.interval("fnmr")[end]
    assert (limits.low, limits.high) == pytest.approx(tuple(expected), abs=1e-9)
    assert (limits.missing is not None) == (fewest == 0)


@given(
    seed=st.integers(0, 10**6),
    at=st.one_of(st.floats(0.02, 0.4).map(ff.at_fnmr), st.just(ff.at_eer())),
    level=st.sampled_from([0.5, 0.9, 0.95]),
    group=st.sampled_from([None, "0", "1"]),
)
def test_upper_limits_of_fmrs_reach_to_where_failures_may_be_as_many_as_are_held(
    seed, at, level, group
):
    c = drawn(seed, n=150, digits=2)
    found = evaluated(c, at, confidence_level=level)
    q, t = found.quantity("fmr", group), found.quantity("threshold")
    if (at.rate is None and group is None) or q.n_errors < 5:
        return
    few_held = found.uncertainty.sizes.few_held
    limits, of_threshold = few_held.limits([found.quantities.index(one) for one in (q, t)], level)
    alone = {"confidence_level": level, **RATES_ALONE}
    of_all = [evaluated(c, ff.at_threshold(t.estimate), **alone)]
    if at.rate:
        (held,) = few_held._of_points.values()
        law = held.standard_error, held.degrees_of_freedom
        most = of_thresholds.law_of_rate(at.value, *law, level)[0]
    mated = sorted(score for score, is_mated, _, _ in rows_of(c) if is_mated)
    points = [ff.at_threshold(score) for score in mated]
    there = evaluated(c, list(dict.fromkeys(points)), **alone)
    for k, at_score in enumerate(points):
        fnmr, fmr = (there.quantity(name, at=at_score) for name in ("fnmr", "fmr"))
        if at.rate:
            if fnmr.high >= at.value or (k + 1) / len(mated) > most:
                break
        else:
            given = of_all[0].quantity("fmr")
            below = fmr.estimate * (1 - given.low / given.estimate)
            apart = fmr.estimate - fnmr.estimate
            if apart <= math.hypot(fnmr.high - fnmr.estimate, below):
                break
    if k == 0:
        assert limits.high == 1
        assert limits.missing
        return
    above = ff.at_threshold(float(np.nextafter(mated[k - 1], math.inf)))
    lax = evaluated(c, above).value("fmr", group)
    logits = [math.log(p / (1 - p)) for p in (q.estimate, of_all[0].interval("fmr", group)[1], lax)]
    reach = math.hypot(logits[1] - logits[0], logits[2] - logits[0])
    assert limits.high == pytest.approx(1 / (1 + math.exp(-logits[0] - reach)))
    assert of_threshold.low == mated[k - 1]


def few_of(n: int, n_mated: int = 400) -> ff.Comparisons:
    """Comparisons of strangers, of whom a tenth of the mated score low."""
    rng = np.random.default_rng(0)
    scores = np.append(
        np.where(np.arange(n_mated) % 10 == 0, 0.5, 5.0) + rng.random(n_mated), rng.normal(size=n)
    )
    a, b = np.arange(2 * (n + n_mated)).reshape(2, -1)
    mated = np.arange(scores.size) < n_mated
    return ff.Comparisons(scores, mated, a, np.where(mated, a, b))


@pytest.mark.jit
@each("n_resamples", [0, 200])
def test_below_the_resolution_of_the_data_an_fnmr_has_no_upper_limit(n_resamples):
    c = few_of(2000)
    for fmr, is_below in ((2e-3, True), (4e-3, False)):
        q = evaluated(c, ff.at_fmr(fmr), n_resamples=n_resamples, rng=0).quantity("fnmr")
        assert has_flag(q, Flag.BELOW_RESOLUTION) == is_below
        assert (q.high == 1) == is_below
        assert ("non-mated comparisons would do" in q.note) == is_below
    of_all = evaluated(c, ff.at_fmr(1e-3), n_resamples=n_resamples, rng=0)
    assert has_flag(of_all.quantity("threshold"), Flag.BELOW_RESOLUTION)
    assert not has_flag(of_all.quantity("fmr"), Flag.BELOW_RESOLUTION)
    given = evaluated(
        c, ff.at_threshold(of_all.value("threshold")), n_resamples=n_resamples, rng=0
    ).quantity("fnmr")
    assert given.high < 0.2


def test_the_number_of_comparisons_named_is_about_enough():
    note = evaluated(few_of(1000), ff.at_fmr(1e-3)).quantity("fnmr").note
    needed = int(note.partition("about ")[2].partition(" non-mated")[0].replace(",", ""))
    for times, is_below in ((0.9, True), (1.1, False)):
        q = evaluated(few_of(int(times * needed)), ff.at_fmr(1e-3)).quantity("fnmr")
        assert has_flag(q, Flag.BELOW_RESOLUTION) == is_below


def test_thresholds_that_hold_an_fnmr_are_the_mirror_image():
    c = few_of(2000)
    scores = -np.append(c.nonmated.similarities, c.mated.similarities)
    turned = ff.Comparisons(scores, np.arange(scores.size) < 2000)
    rows = evaluated(turned, ff.at_fnmr(2e-3), unit="comparison")
    assert has_flag(rows.quantity("fmr"), Flag.BELOW_RESOLUTION)
    assert rows.quantity("fmr").high == 1


@pytest.mark.jit
@given(
    seed=st.integers(0, 10**6),
    fmr=st.floats(0, 0.2),
    digits=st.integers(0, 2),
    costs=st.floats(0.01, 0.99),
)
@example(seed=0, fmr=2.2e-313, digits=0, costs=0.5)  # whose squares are 0
def test_every_interval_lies_in_the_range_of_its_quantity(seed, fmr, digits, costs):
    c = drawn(seed, n=150, digits=digits)
    found = evaluated(
        c, [ff.at_fmr(fmr), ff.at_threshold(1.0)], n_resamples=30, rng=seed, costs=ff.Costs(costs)
    )
    for q in found.quantities:
        if q.low is None or math.isnan(q.low):
            continue
        least, most = range_of(q.name, found.uncertainty.costs)
        assert least <= q.low <= q.high <= most, q


@pytest.mark.jit
def test_a_lower_limit_is_no_higher_than_clopper_and_pearsons():
    for errors, exact in ((1, 0.0253), (2, 0.2422), (3, 0.6187), (5, 1.6235)):
        n = 20_000
        c = few_of(n)
        top = np.sort(c.nonmated.similarities)[-errors - 1]
        low, _ = evaluated(c, ff.at_threshold(float(np.nextafter(top, math.inf)))).interval("fmr")
        assert low * n <= exact * 1.001


@given(
    seed=st.integers(0, 10**6),
    n_errors=st.integers(1, 9),
    mated=st.booleans(),
    digits=st.sampled_from([1, 6]),
)
def test_limits_of_an_eer_of_few_errors_are_the_best_over_all_thresholds(
    seed, n_errors, mated, digits
):
    rng = np.random.default_rng(seed)
    n = (10 * n_errors, 200)[:: 1 if mated else -1]
    scores = np.round(np.append(rng.normal(2.5, 1, n[0]), rng.normal(0, 1, n[1])), digits)
    labels, (a, b) = np.arange(sum(n)) < n[0], np.arange(2 * sum(n)).reshape(2, -1)
    c = ff.Comparisons(scores, labels, a, np.where(labels, a, b))
    found = evaluated(c, ff.at_fmr(0.3), metrics=["eer"], n_resamples=64, rng=0)
    row = found.quantities.index(found.quantity("eer"))
    few_held = found.uncertainty.sizes.few_held
    (limits,) = few_held.limits([row], 0.9)
    if limits is None:
        return
    thresholds = np.unique(scores)
    keys = [int(c.to_key(t)) for t in np.append(thresholds, np.nextafter(thresholds, np.inf))]
    both = few_held._limits_at(
        [(row, kind, key, 0.95) for key in keys for kind in (True, False)]
    ).T.reshape(-1, 2, 2)
    assert limits.high == pytest.approx(both[:, :, 1].max(axis=1).min(), rel=1e-9)
    assert limits.low == pytest.approx(both[:, :, 0].min(axis=1).max(), rel=1e-9)
    assert found.interval("eer")[1] >= found.quantity("eer").estimate


def test_limits_of_a_min_dcf_are_those_of_rates_where_few_errors_are_behind_it():
    cost = evaluated(
        few_of(60), ff.at_fmr(0.3), metrics=["min_dcf"], n_resamples=100, rng=0
    ).quantity("min_dcf")
    assert cost.estimate < cost.high <= 0.05
