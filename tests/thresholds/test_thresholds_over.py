"""Rates at given thresholds, and the expected performance curve, against counts in loops."""

from __future__ import annotations

import json
import math

import pytest
from helpers.quiet import quietly
from helpers.random_comparisons import drawn, rows_of
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import applied_thresholds as oracle

import fastfair as ff
from fastfair.evaluation.result import Evaluation

expected_performance_curve = quietly()(ff.thresholds.expected_performance_curve)


def at_thresholds(c: ff.Comparisons, thresholds: list[float]) -> Evaluation:
    settings = ff.EvaluationSettings(incomplete_groups="nan")
    points = [ff.at_threshold(threshold) for threshold in thresholds]
    return quietly()(ff.evaluate)(c, points, [], metrics=[], n_resamples=0, settings=settings)


@given(
    seed=st.integers(0, 10**6),
    digits=st.integers(0, 2),
    thresholds=st.sets(st.integers(-20, 30), min_size=1),
)
def test_rates_are_shares_counted_in_loops(seed, digits, thresholds):
    c = drawn(seed, n=120, digits=digits)
    found = at_thresholds(c, [one / 10 for one in thresholds])
    for quantity in found.quantities:
        if quantity.group is None and quantity.name != "threshold":
            assert quantity.estimate == oracle.share_of_errors(
                rows_of(c), quantity.name, quantity.at.value
            )


@given(seed=st.integers(0, 10**6), digits=st.integers(0, 2), weight=st.floats(0.02, 0.98))
def test_expected_errors_are_at_thresholds_of_least_cost(seed, digits, weight):
    evaluation, development = (
        drawn(seed, 100, n=90, digits=digits),
        drawn(seed + 1, n=90, digits=digits),
    )
    (row,) = expected_performance_curve(evaluation, development, weight).of()
    others = rows_of(development)
    candidates = [*{one[0] for one in others}, math.inf]
    costs = [
        weight * oracle.share_of_errors(others, "fmr", t)
        + (1 - weight) * oracle.share_of_errors(others, "fnmr", t)
        for t in candidates
    ]
    least = weight * oracle.share_of_errors(others, "fmr", row.threshold)
    least += (1 - weight) * oracle.share_of_errors(others, "fnmr", row.threshold)
    assert least == pytest.approx(min(costs), abs=1e-12)
    assert row.cost == pytest.approx(least, abs=1e-12)
    rates = [
        oracle.share_of_errors(rows_of(evaluation), name, row.threshold) for name in ("fmr", "fnmr")
    ]
    assert row.estimate == pytest.approx(sum(rates) / 2)
    assert 0 <= row.low <= row.estimate <= row.high <= 1


def test_the_interval_of_a_mean_of_rates_is_that_of_a_sum():
    evaluation, development = drawn(1, 100, n=2000, n_subjects=100), drawn(2)
    row = expected_performance_curve(evaluation, development, 0.5).of()[0]
    rates = at_thresholds(evaluation, [row.threshold])
    fmr, fnmr = rates.quantity("fmr"), rates.quantity("fnmr")
    down = math.hypot(fmr.estimate - fmr.low, fnmr.estimate - fnmr.low) / 2
    up = math.hypot(fmr.high - fmr.estimate, fnmr.high - fnmr.estimate) / 2
    assert (row.low, row.high) == pytest.approx((row.estimate - down, row.estimate + up))


def test_a_group_without_comparisons_is_nan():
    c = ff.Comparisons(
        [0.9, 0.8, 0.2, 0.3], [1, 1, 0, 0], list("abac"), list("abca"), list("xyxx"), list("xyxx")
    )
    assert math.isnan(at_thresholds(c, [0.5]).value("fmr", "y"))
    row = expected_performance_curve(c, c, 0.5).of("y")[0]
    assert all(math.isnan(one) for one in (row.estimate, row.low, row.high))


def test_bad_weights_and_scores_of_two_kinds_are_refused():
    refused(
        r"weights must be in \(0, 1\), not 1",
        ff.thresholds.expected_performance_curve,
        drawn(0),
        drawn(1),
        [0.5, 1],
    )
    refused(
        "are of the kind 'distance'",
        ff.thresholds.expected_performance_curve,
        drawn(0),
        drawn(1, kind="distance"),
    )


def test_results_are_tables_json_plots_and_pages(tmp_path):
    c = drawn(4)
    expected = expected_performance_curve(c, drawn(5), [0.2, 0.5])
    assert expected.plot().get_xlabel() == "Weight of false matches"
    assert "take these thresholds as given" in expected.summary()
    assert len(json.loads(expected.to_json())["errors"]) == 6
    refused("group", expected.of, "2")
    applied = quietly()(ff.apply_threshold)(c, ff.at_fmr(0.1), drawn(5, 100))
    ff.report([expected, applied], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert all(title in text for title in ("cost least", "threshold of development data"))
    read = ff.read_results(tmp_path / "page.html")
    assert [type(one).__name__ for one in read] == ["ExpectedPerformance", "AppliedThreshold"]
    for written, result in zip(read, (expected, applied), strict=True):
        assert json.loads(written.to_json()) == json.loads(result.to_json())
        lines = [
            [line.get_xydata().tolist() for line in one.plot().get_lines()]
            for one in (written, result)
        ]
        assert lines[0] == lines[1]
