"""`apply_threshold`: thresholds, their intervals, and rates on other data, held against slow twins
and known cases."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest
from helpers.quiet import quietly
from helpers.random_comparisons import drawn, rows_of
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import applied_thresholds as oracle

import fastfair as ff
from fastfair.thresholds import added, correlation, found_threshold, numbered

applied = quietly()(ff.apply_threshold)
evaluated = quietly()(partial(ff.evaluate, n_resamples=0))


@given(
    seed=st.integers(0, 10**6), kind=st.sampled_from(["fmr", "fnmr"]), rate=st.floats(0.001, 0.4),
    digits=st.integers(0, 3),
)  # fmt: skip
def test_the_ends_of_a_threshold_are_the_last_whose_rates_may_be(seed, kind, rate, digits):
    c = drawn(seed, digits=digits)
    at = ff.at_fmr(rate) if kind == "fmr" else ff.at_fnmr(rate)
    found = quietly()(found_threshold)(c, at, 0.9)
    assert found.laxest <= found.threshold <= found.strictest
    rates = oracle.law_of_rate(rate, found.standard_error, found.freedom, 0.9)
    may = oracle.possible(rows_of(c), kind, rates)
    expected = [min(may), max(may)]
    if kind == "fmr":
        expected = [
            float(np.nextafter(end, math.inf)) if math.isfinite(end) else end for end in expected
        ]
    if kind == "fnmr":  # where failures may be as many, with one more subject
        there = {score for score, mated, _, _ in rows_of(c) if mated and score <= expected[0]}
        points = [ff.at_threshold(score) for score in sorted(there)]
        of_scores = evaluated(c, points or ff.at_eer(), [], metrics=[], confidence_level=0.9)
        below = -math.inf
        for at_score in points:
            if of_scores.quantity("fnmr", at=at_score).high >= rate:
                break
            below = at_score.value
        expected[0] = below
    assert found.laxest == expected[0]
    scores = [score for score, *_ in rows_of(c)]
    assert [score >= found.strictest for score in scores] == [
        score >= expected[1] for score in scores
    ]


@given(
    seed=st.integers(0, 10**6), mated=st.booleans(), fnmr=st.booleans(), first=st.sampled_from([0, 3, 9]),
    at=st.floats(-1, 2.5), at_other=st.floats(-1, 2.5),
)  # fmt: skip
def test_correlations_of_shared_subjects_are_those_of_the_oracle(
    seed, mated, fnmr, first, at, at_other
):
    one, other = drawn(seed, n_subjects=8, n=45), drawn(seed + 1, first, n_subjects=8, n=45)
    of_one, of_other, n, n_shared = numbered(one, other)
    assert n_shared == max(0, 8 - first)
    found = correlation(
        added(one, of_one, n, int(one.to_key(at)), mated=mated, group=None),
        added(other, of_other, n, int(other.to_key(at_other)), mated=fnmr, group=None),
    )
    expected = oracle.correlation(rows_of(one), at, mated, rows_of(other), at_other, fnmr)
    assert found == pytest.approx(expected, abs=1e-9)


def test_this_very_threshold_has_the_intervals_of_evaluate():
    evaluation, development = drawn(1, 100), drawn(2)
    found = applied(evaluation, ff.at_fmr(0.05), development)
    assert found.threshold == ff.rates(development, ff.at_fmr(0.05)).threshold
    given = ff.evaluate(evaluation, ff.at_threshold(found.threshold), [], metrics=[], n_resamples=0)
    for row in found.rates:
        quantity = given.quantity(row.name, row.group)
        assert (row.estimate, row.given_low, row.given_high) == (
            quantity.estimate,
            quantity.low,
            quantity.high,
        )
        assert row.low <= row.estimate <= row.high


def test_other_subjects_widen_the_intervals():
    found = applied(drawn(1, 100), ff.at_fmr(0.05), drawn(2))
    assert found.n_shared == 0
    assert all(row.low <= row.given_low and row.given_high <= row.high for row in found.rates)


def test_on_the_development_data_themselves_the_rate_held_is_certain():
    c = drawn(3, n=3000, n_subjects=200)
    for at, name in ((ff.at_fmr(0.05), "fmr"), (ff.at_fnmr(0.05), "fnmr")):
        row = applied(c, at, c).rate(name)
        assert row.high - row.low < 0.4 * (row.given_high - row.given_low)
    assert applied(c, ff.at_fmr(0.05), c).n_shared == 200


@pytest.mark.parametrize("at", [ff.at_fmr(0.05), ff.at_fnmr(0.05), ff.at_eer()])
def test_on_the_development_data_themselves_intervals_are_near_those_of_evaluate(at):
    c = drawn(14, n=30_000, n_subjects=300)
    found = applied(c, at, c)
    expected = ff.evaluate(c, at, [], metrics=[], n_resamples=0)
    for row in found.rates:
        quantity = expected.quantity(row.name, row.group)
        if (row.name, row.group) != (at.kind, None):  # which evaluate knows to be held
            ratio = (row.high - row.low) / (quantity.high - quantity.low)
            assert ratio == pytest.approx(
                1, abs=0.25
            )  # either estimates the slope of rates in its own way


def test_larger_development_data_bring_intervals_nearer_to_those_of_the_threshold():
    evaluation = drawn(4, 10**6)
    extra = []
    for n in (500, 20_000):
        row = applied(evaluation, ff.at_fmr(0.05), drawn(5, n_subjects=n // 4, n=n)).rate("fmr")
        extra.append((row.high - row.low) / (row.given_high - row.given_low))
    assert extra[0] > extra[1] > 1
    assert extra[1] < 1.1


@pytest.mark.parametrize(
    "at", [ff.at_fmr(0.05), ff.at_fnmr(0.05), ff.at_eer(), ff.at_fmr(0.0001), ff.at_fnmr(0)]
)
def test_distances_are_similarities_with_the_other_sign(at):
    one, other = (
        applied(drawn(6, 100, kind=kind), at, drawn(7, kind=kind))
        for kind in ("similarity", "distance")
    )
    assert one.rates == other.rates
    assert (one.threshold, one.laxest, one.strictest) == (
        -other.threshold,
        -other.laxest,
        -other.strictest,
    )


def test_too_few_errors_leave_the_threshold_without_an_end():
    found = applied(drawn(8, 100), ff.at_fmr(0.0005), drawn(9))
    assert found.strictest == math.inf
    assert found.rate("fnmr").high == 1
    assert "too few errors to bound" in found.rate("fnmr").note
    assert math.isfinite(found.laxest)


def test_without_errors_the_limit_grows_with_the_threshold():
    evaluation, development = drawn(10, 100), drawn(11, n=4000, n_subjects=300)
    row = applied(evaluation, ff.at_fmr(0.001), development).rate("fmr")
    assert row.estimate == row.low == 0
    assert row.high > row.given_high > 0


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"at": ff.at_threshold(0.5)}, "finds no threshold"),
        ({"at": ff.at_mean_group_eer()}, "finds no threshold"),
        ({"development": ff.Comparisons([0.9, 0.1], [1, 0])}, "development have no subjects"),
        ({"development": drawn(1, kind="distance")}, "are of the kind 'distance'"),
        ({"confidence_level": 2.0}, "confidence_level"),
    ],
)
def test_bad_input_is_refused(asked, told):
    refused(
        told,
        ff.apply_threshold,
        drawn(0),
        **{"at": ff.at_fmr(0.1), "development": drawn(1)} | asked,
    )


def test_results_are_tables_json_and_plots():
    found = applied(drawn(12, 100), ff.at_fmr(0.05), drawn(13))
    assert found.to_frame().shape == (6, 12)
    assert [row["group"] for row in json.loads(found.to_json())["rates"]] == [
        None,
        None,
        "0",
        "0",
        "1",
        "1",
    ]
    assert found.plot(rate="fnmr").get_xlabel() == "False non-match rate"
    assert "for exactly this threshold" in found.summary()
    refused("name", found.rate, "eer")


def test_development_data_in_too_few_sessions_still_have_a_threshold():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 8)
    other = np.where(np.arange(320) % 2, person, (person + 1) % 40)
    c = ff.Comparisons(
        rng.normal(size=320) + 2 * (person == other),
        None,
        person,
        other,
        session=np.arange(320) // 2 % 3,
    )
    made = found_threshold(c, ff.at_fmr(0.05), 0.95)
    assert made.laxest <= made.threshold < made.strictest
