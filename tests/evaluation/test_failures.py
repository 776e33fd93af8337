"""Rates of failure, FRR and FAR of evaluations: against loops, against each other, in words and on
pages."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.failed_comparisons import evaluated, made, rows_of
from oracles import failures as oracle

import fastfair as ff
from fastfair.data.derived import failure_trials

AT = ff.at_threshold(1.0)
RATES = {"failure_rate_mated": True, "failure_rate_nonmated": False, "frr": True, "far": False}


@pytest.mark.parametrize("policy", ["exclude", "non-match"])
def test_estimates_and_counts_are_those_of_loops(policy):
    rows = rows_of()
    found = ff.evaluate(made(policy), AT, measures=(), metrics=(), n_resamples=0)
    for group in (None, "f", "m"):
        inside = [
            row for row in rows if group is None or row.reference_group == row.probe_group == group
        ]
        mated, nonmated = (
            [row.score for row in inside if row.mated is wanted] for wanted in (True, False)
        )
        expected = {
            "failure_rate_mated": oracle.failure_rate(mated),
            "failure_rate_nonmated": oracle.failure_rate(nonmated),
            "frr": float(oracle.frr(mated, AT.value)),
            "far": float(oracle.far(nonmated, AT.value)),
        }
        if policy == "non-match":
            expected |= {"fnmr": expected.pop("frr"), "fmr": expected.pop("far")}
        for name, value in expected.items():
            one = found.quantity(name, group)
            assert one.estimate == value
            assert one.n_errors == round(value * one.n_comparisons)
            assert one.n_comparisons == len(
                mated if name in ("fnmr", "frr", "failure_rate_mated") else nonmated
            )


@pytest.mark.parametrize("unit", ["subject", "subject+sample", "sample"])
def test_frr_and_far_are_the_rates_with_failures_as_nonmatches(unit):
    """Both ways draw the same units, so that replicates agree at a given threshold."""
    options = {"unit": unit, "settings": ff.EvaluationSettings(scheme="product"), "at": AT}
    left, counted = (
        evaluated(made(policy, samples=True), **options) for policy in ("exclude", "non-match")
    )
    for group in (None, "f", "m"):
        for name, other in (("frr", "fnmr"), ("far", "fmr")):
            drawn, expected = left.replicates(name, group), counted.replicates(other, group)
            assert drawn == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)
        for name in list(RATES)[:2]:
            assert np.array_equal(
                left.replicates(name, group), counted.replicates(name, group), equal_nan=True
            )
            assert left.interval(name, group) == counted.interval(name, group)
        # Those of subjects none of whose comparisons has a score count in one way only.
        assert left.interval("frr", group) == pytest.approx(
            counted.interval("fnmr", group), rel=0.1
        )


def test_rates_of_failure_are_error_rates_of_trials():
    c = made("exclude")
    trials = failure_trials(c)
    methods = [
        {"settings": ff.EvaluationSettings(method=method)} for method in ("percentile", "bca")
    ]
    for options in ({}, {"n_resamples": 0}, {"unit": "comparison"}, *methods):
        found, expected = (
            evaluated(c, at=AT, **options),
            evaluated(trials, at=ff.at_threshold(0.5), **options),
        )
        for group in (None, "f", "m"):
            for name, rate in (("failure_rate_mated", "fnmr"), ("failure_rate_nonmated", "fmr")):
                one, other = found.quantity(name, group), expected.quantity(rate, group)
                assert (one.estimate, one.n_errors, one.n_comparisons, one.n_subjects) == (
                    other.estimate,
                    other.n_errors,
                    other.n_comparisons,
                    other.n_subjects,
                )
                if "bca" in options.values() and "unit" in options:
                    continue
                assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)


def test_without_failures_the_limits_are_those_of_no_errors():
    c = made("exclude", failing=0.0)
    found = evaluated(c, at=AT)
    assert c.failed.n == 0
    for group in (None, "f", "m"):
        assert found.value("failure_rate_mated", group) == 0
        low, high = found.interval("failure_rate_mated", group)
        assert low == 0 < high < 0.35
        assert (
            "no failures: the interval is Clopper and Pearson's"
            in found.quantity("failure_rate_mated", group).note
        )
        assert found.interval("frr", group) == pytest.approx(
            found.interval("fnmr", group), rel=1e-9
        )
        assert found.replicates("far", group) == pytest.approx(
            found.replicates("fmr", group), rel=1e-12
        )


def test_closed_forms_are_never_narrower_than_replicates_with_both_parts():
    c = made("exclude", n=60)
    found = evaluated(c, at=[ff.at_fmr(0.05), AT], n_resamples=2000)
    closed = evaluated(c, at=[ff.at_fmr(0.05), AT], n_resamples=0)
    for at in (ff.at_fmr(0.05), AT):
        for name in ("frr", "far"):
            for group in ("f", "m"):
                ratio = (
                    closed.quantity(name, group, at).standard_error
                    / found.quantity(name, group, at).standard_error
                )
                assert 0.9 < ratio < 1.8


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_a_group_that_failed_as_a_whole():
    scores, mated = [1, 0.5, 0, 0.2, np.nan, np.nan, np.nan, np.nan], [1, 1, 0, 0, 1, 0, 1, 0]
    sides = list("aabbccdd"), list("aaababdd"), list("ffffmmmm"), list("fffffmmm")
    c = ff.Comparisons(
        scores, mated, *sides, policies=ff.Policies(failures="exclude", label_conflicts="keep")
    )
    found = evaluated(
        c, AT, settings=ff.EvaluationSettings(incomplete_groups="nan"), n_resamples=50
    )
    assert math.isnan(found.value("fnmr", "m"))
    assert (
        found.value("failure_rate_mated", "m"),
        found.value("frr", "m"),
        found.value("far", "m"),
    ) == (1, 1, 0)
    low, high = found.interval("frr", "m")
    assert low < high == 1


@pytest.mark.slow
def test_summaries_and_pages_tell_of_failures(tmp_path):
    for policy, said in (
        ("exclude", "They are left out of FNMR"),
        ("non-match", "FNMR is here the false rejection"),
    ):
        found = evaluated(made(policy), at=AT, measures=["garbe"])
        text = found.summary()
        assert said in text
        assert "mated comparisons failed (" in text
        assert "\nShares of comparisons that failed" in text
        assert ("FRR at threshold=1" in text) is (policy == "exclude")
        path = tmp_path / f"{policy}.html"
        found.report(path)
        page = path.read_text()
        assert "Shares of comparisons that failed" in page
        assert said in page
        numbers = json.loads(found.to_json())
        assert numbers["settings"]["failures"] == policy
        back = ff.read_results(path)[0]
        again = tmp_path / "again.html"
        ff.report([back], again)
        assert "Shares of comparisons that failed" in again.read_text()


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_comparisons_of_systems_leave_rates_of_failure_out():
    c = made("non-match")
    found = ff.compare(c, c, AT, measures=(), metrics=(), rng=0, n_resamples=50)
    assert {one.name for one in found.contrasts} == {"fmr", "fnmr", "fmr_matrix"}


def test_intervals_of_groups_together_are_wider():
    found = evaluated(made("exclude"), at=AT)
    together = found.with_intervals(simultaneous=True)
    for name in RATES:
        for group in ("f", "m"):
            (low, high), (lower, higher) = (
                found.interval(name, group),
                together.interval(name, group),
            )
            assert lower <= low < high <= higher
