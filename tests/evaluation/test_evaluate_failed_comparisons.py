"""Evaluations of comparisons some of which failed."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from helpers.failed_comparisons import columns, made
from helpers.failed_comparisons import evaluated as evaluated_at
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import EmptyGroupWarning, InputError

POINTS = [
    ff.at_fmr(0.05),
    ff.at_threshold(1.0),
    ff.at_eer(),
    ff.at_fnmr(0.4),
    ff.at_mean_group_eer(),
]


def evaluated(c, **options):
    return evaluated_at(c, POINTS, **({"measures": "all", "metrics": "all"} | options))


def are_the_same(found, expected):
    """Hold each quantity that is expected against that of the same name, group and operating
    point."""
    for one in expected.quantities:
        other = found.quantity(
            one.name, one.group if one.probe_group is None else (one.group, one.probe_group), one.at
        )
        limits = other.estimate, other.low, other.high
        assert (one.estimate, one.low, one.high) == pytest.approx(
            limits, rel=0, abs=0, nan_ok=True
        ), one


@pytest.mark.parametrize("unit", ["subject", "comparison"])
def test_failures_counted_as_nonmatches_are_scores_below_all_others(unit):
    *given, failed = columns()
    lowest = ff.Comparisons(np.where(failed, -1e6, given[0]), *given[1:])
    expected = evaluated(lowest, unit=unit, metrics=["eer", "min_dcf"])
    assert len(expected.quantities) > 100
    are_the_same(evaluated(made("non-match"), unit=unit), expected)


def test_excluded_failures_leave_the_other_numbers_as_without_them():
    *given, failed = columns()
    are_the_same(
        evaluated(made("exclude")),
        evaluated(ff.Comparisons(*(column[~failed] for column in given))),
    )


@pytest.mark.parametrize("n_resamples", [0, 50])
def test_a_group_whose_cameras_fail_has_all_measures_but_sed(n_resamples):
    """Its FNMR is 1 and its FMR 0; only the mean of EER thresholds needs a score of every group."""
    *given, failed = columns()
    failed |= (given[4] == "m") | (given[5] == "m")
    c = ff.Comparisons(
        np.where(failed, np.nan, given[0]), *given[1:], policies=ff.Policies(failures="non-match")
    )
    message = re.escape(
        "SED is NaN, as all comparisons of a group failed, so that it has no EER threshold: 'm'"
    )
    with pytest.warns(EmptyGroupWarning, match=message):
        found = ff.evaluate(c, ff.at_threshold(1.0), metrics=(), n_resamples=n_resamples, rng=0)
    assert (found.value("fnmr", "m"), found.value("fmr", "m")) == (1, 0)
    for group in c.groups:
        sed = found.quantity("sed", group)
        assert all(
            math.isnan(math.nan if x is None else x) for x in (sed.estimate, sed.low, sed.high)
        )
    alone = ff.evaluate(
        c, ff.at_threshold(1.0), ["fdr", "garbe"], metrics=(), n_resamples=n_resamples, rng=0
    )
    for one in alone.quantities:  # without a warning, and the same
        group = one.group if one.probe_group is None else (one.group, one.probe_group)
        assert found.value(one.name, group, one.at) == one.estimate
    assert math.isfinite(found.value("fdr"))
    refused("all comparisons of group 'm' failed", ff.rates, c, ff.at_mean_group_eer())


def test_replicates_never_accept_a_failed_comparison():
    c = made("non-match", failing=0.35)
    share = len(c.failed.mated) / len(c.mated)
    found = evaluated(c)
    for point in POINTS:
        thresholds = found.replicates("threshold", at=point)
        assert np.isfinite(thresholds[~np.isnan(thresholds)]).all()
    # A replicate with more failures than an operating point allows accepts all that have a score,
    # and holds more.
    point = ff.at_fnmr(share + 0.005)
    found = ff.evaluate(c, point, rng=0, n_resamples=200, metrics=())
    drawn = found.replicates("fnmr", at=point)
    assert (drawn > point.value).any()
    assert found.replicates("fmr", at=point)[drawn > point.value].max() < 1


def test_metrics_that_need_every_score_are_left_out_or_refused():
    c = made("non-match")
    found = evaluated(c, measures=(), metrics="all")
    assert {one.name for one in found.quantities} & {"eer", "min_dcf", "cllr", "min_cllr"} == {
        "eer",
        "min_dcf",
    }
    for options in (
        {"metrics": "cllr"},
        {"settings": ff.EvaluationSettings(eer_method="interpolated")},
        {"costs": ff.Costs(0.9)},
    ):
        refused("failed", ff.evaluate, c, n_resamples=0, **options)


def test_systems_that_leave_different_failures_out_are_not_compared():
    first, second = made("exclude"), made("exclude", failing=0.3)
    with pytest.raises(
        InputError, match='were left out: read both systems with failures="non-match"'
    ):
        ff.compare(first, second, ff.at_threshold(1), rng=0)
    counted = ff.compare(
        made("non-match"),
        made("non-match", failing=0.3),
        ff.at_threshold(1),
        measures=(),
        metrics=(),
        rng=0,
        n_resamples=50,
    )
    assert counted.contrast("fnmr").difference < 0
    same = ff.compare(
        first, first, ff.at_threshold(1), measures=(), metrics=(), rng=0, n_resamples=50
    )
    assert same.contrast("fnmr").difference == 0
