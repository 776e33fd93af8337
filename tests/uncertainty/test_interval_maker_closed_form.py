"""Intervals without replicates: which quantities have them, of which kind, and how near they are to
replicates'."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import NarrowIntervalsWarning
from fastfair.uncertainty.rate_limits import RateEvidence

GIVEN, FOUND = ff.at_threshold(1.0), ff.at_fmr(0.05)
RATES = ("fmr", "fnmr", "fmr_matrix")


@pytest.fixture(scope="module")
def comparisons():
    return ff.Comparisons(**columns())


@pytest.fixture(scope="module")
def evaluation(comparisons):
    return ff.evaluate(comparisons, [GIVEN, FOUND, ff.at_mean_group_eer()], n_resamples=0)


def test_rates_have_intervals_and_nothing_else_has(evaluation):
    for q in evaluation.quantities:
        if q.at == GIVEN and q.name == "threshold":
            assert (q.low, q.high) == (q.estimate, q.estimate)
        elif q.name not in RATES or q.at == ff.at_mean_group_eer():
            assert (q.low, q.high, q.method) == (None, None, None)
        elif q.is_held:
            assert q.low == q.high == q.estimate
        else:
            assert q.low < q.estimate < q.high
            assert q.method == "closed form"
    refused("eer has no interval without replicates", evaluation.interval, "eer")
    refused("no replicates", evaluation.replicates, "fmr", "f", GIVEN)


def test_intervals_are_symmetric_on_log_odds_with_the_degrees_of_freedom_of_replicates(evaluation):
    q = evaluation.quantity("fnmr", "f", GIVEN)
    low, high = RateEvidence(q.estimate, q.standard_error, 20 - 1).interval(0.95)
    assert q.low == pytest.approx(float(low))
    assert q.high > high  # with one more subject
    assert evaluation.settings["unit"] == "subject"
    assert "rng" not in evaluation.settings


@pytest.mark.jit
def test_they_are_near_those_of_replicates(comparisons, evaluation):
    drawn = ff.evaluate(comparisons, [GIVEN, FOUND], n_resamples=4000, rng=0)
    for q in evaluation.quantities:
        if q.method == "closed form":
            twin = drawn.quantity(
                q.name, q.group if q.probe_group is None else (q.group, q.probe_group), q.at
            )
            # Replicates find a held threshold anew, so theirs are not symmetric on log odds.
            assert q.high - q.low == pytest.approx(
                twin.high - twin.low, rel=0.06 if q.at == GIVEN else 0.2
            )


def test_level_alternative_and_groups_together(evaluation):
    one = evaluation.quantity("fmr", "f", GIVEN)
    wider = evaluation.with_intervals(0.99).quantity("fmr", "f", GIVEN)
    assert wider.low < one.low < one.high < wider.high
    upper = evaluation.with_intervals(0.975, alternative="less").quantity("fmr", "f", GIVEN)
    assert (upper.low, upper.high) == pytest.approx((0.0, one.high))
    together = evaluation.with_intervals(simultaneous=True)
    alone = evaluation.with_intervals(0.95 ** (1 / 3)).quantity("fmr", "f", GIVEN)
    found = together.quantity("fmr", "f", GIVEN)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    assert together.quantity("fmr", at=GIVEN) == evaluation.quantity("fmr", at=GIVEN)


def test_no_errors_have_the_interval_that_replicates_have():
    c = ff.Comparisons(**columns(n=1500))
    at = ff.at_threshold(9.0)
    q, twin = (
        ff.evaluate(c, at, [], metrics=[], n_resamples=n, rng=0).quantity("fmr", "f")
        for n in (0, 20)
    )
    assert (q.low, q.high, q.method, q.note) == (twin.low, twin.high, "clopper-pearson", twin.note)


def test_other_units_and_methods():
    given = columns(n=400)
    c = ff.Comparisons(**given)
    with pytest.warns(NarrowIntervalsWarning, match="treats 400 comparisons of 60 subjects"):
        ev = ff.evaluate(c, GIVEN, unit="comparison", n_resamples=0)
    q = ev.quantity("fmr")
    error = math.sqrt(q.estimate * (1 - q.estimate) / q.n_comparisons)
    assert q.standard_error == pytest.approx(error)
    alone = ff.Comparisons(given["scores"], given["mated"])
    assert ff.evaluate(alone, GIVEN, n_resamples=0).quantity("fmr").low is None
    assert ff.evaluate(alone, GIVEN, n_resamples=0).uncertainty is None
    refused(
        r'EvaluationSettings\(method="bca"\) needs replicates',
        ff.evaluate,
        c,
        GIVEN,
        n_resamples=0,
        settings=ff.EvaluationSettings(method="bca"),
    )
    refused(
        'method="basic" needs replicates',
        ff.evaluate(c, GIVEN, n_resamples=0).with_intervals,
        method="basic",
    )
    refused("there are no replicates", ff.evaluate(alone, GIVEN, n_resamples=0).with_intervals, 0.9)


def test_a_rate_that_is_the_same_in_all_subjects_has_none():
    who = list("aabbccaabbcc"), list("aabbccbbccaa")
    c = ff.Comparisons([9, 4, 9, 4, 9, 4, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    q = ff.evaluate(c, ff.at_threshold(5), n_resamples=0).quantity("fnmr")
    assert np.isnan(q.low)
    assert "no interval: the rate does not vary between units" in q.note


def two_systems(seed: int = 0) -> tuple[ff.Comparisons, ff.Comparisons]:
    given = columns(seed)
    noise = np.random.default_rng(seed + 1).normal(0, 0.4, len(given["scores"]))
    return ff.Comparisons(**given), ff.Comparisons(**given | {"scores": given["scores"] + noise})


def test_systems_that_are_the_same_have_no_interval():
    one = two_systems()[0]
    contrast = ff.compare(one, one, GIVEN, n_resamples=0).contrast("fnmr")
    assert math.isnan(contrast.low)
    assert (contrast.pvalue, contrast.verdict) == (1.0, "undecided")
    assert "do not differ" in contrast.note
