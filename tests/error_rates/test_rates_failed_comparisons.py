"""Rates, curves and costs where failed comparisons count as non-matches: FRR and FAR of ISO/IEC
19795-1."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import failures as oracle
from oracles.strategies import TIED

import fastfair as ff

CLASS = st.lists(st.one_of(TIED, st.none()), min_size=1, max_size=12).filter(
    lambda found: set(found) != {None}
)
LISTS = st.tuples(CLASS, CLASS)


def made(mated, nonmated, score_kind="similarity"):
    sign = -1 if score_kind == "distance" else 1
    scores = [np.nan if score is None else sign * score for score in (*mated, *nonmated)]
    flags = [1] * len(mated) + [0] * len(nonmated)
    return ff.Comparisons(
        scores, flags, score_kind=score_kind, policies=ff.Policies(failures="non-match")
    )


@given(LISTS, st.sampled_from(["similarity", "distance"]))
def test_the_curve_begins_where_all_that_have_a_score_are_accepted(lists, score_kind):
    curve, expected = ff.roc(made(*lists, score_kind)), oracle.roc(*lists)
    sign = -1 if score_kind == "distance" else 1
    assert (sign * curve.threshold).tolist() == [t for t, _, _ in expected]
    assert curve.fmr.tolist() == [float(x) for _, x, _ in expected]
    assert curve.fnmr.tolist() == [float(y) for _, _, y in expected]


@given(LISTS, st.sampled_from([0.0, 0.05, 0.25, 1 / 3, 0.5, 0.75, 0.99]))
def test_operating_points_never_accept_a_failed_comparison(lists, rate):
    c = made(*lists)
    found = ff.rates(c, ff.at_fmr(rate))
    assert (found.fmr, found.fnmr) == tuple(map(float, oracle.at_far(*lists, rate)))
    held = oracle.at_frr(*lists, rate)
    if held is None:
        refused(
            r"no threshold holds FNMR=.* mated comparisons failed", ff.rates, c, ff.at_fnmr(rate)
        )
    else:
        found = ff.rates(c, ff.at_fnmr(rate))
        assert (found.fmr, found.fnmr) == tuple(map(float, held))
    assert np.isfinite(ff.rates(c, ff.at_eer()).threshold)


@given(LISTS)
def test_metrics_over_thresholds(lists):
    c = made(*lists)
    assert ff.eer(c).value == pytest.approx(float(oracle.eer(*lists)), abs=1e-15)
    for p_target in (0.05, 0.5):
        best = ff.min_dcf(c, ff.Costs(p_target))
        assert best.value == pytest.approx(
            oracle.min_dcf(*lists, p_target, 1 - p_target), abs=1e-15
        )
        at = ff.rates(c, ff.at_threshold(best.threshold))
        assert p_target * at.fnmr + (1 - p_target) * at.fmr == pytest.approx(best.value, abs=1e-15)


def test_what_needs_every_score_is_refused():
    c = made([1.0, None], [0.0, 0.5])
    for call in (ff.cllr, ff.min_cllr):
        refused("minus infinity", call, c)
    for method in ("interpolated", "convex-hull"):
        refused('use "nearest"', ff.eer, c, method)
    refused("cheaper to accept everything", ff.min_dcf, c, ff.Costs(0.9))
    assert ff.min_dcf(made([1.0, 2.0], [0.0, 0.5]), ff.Costs(0.9)).value == 0


def test_a_group_that_failed_as_a_whole_has_rates_and_no_eer_threshold():
    scores, mated = [1, 0.5, 0, 0.2, np.nan, np.nan], [1, 1, 0, 0, 1, 0]
    c = ff.Comparisons(
        scores, mated, reference_group=list("aaaabb"), policies=ff.Policies(failures="non-match")
    )
    found = ff.rates(c, ff.at_threshold(0.3))
    assert found.group_fnmr.tolist() == [0, 1]
    assert found.group_fmr.tolist() == [0, 0]
    refused("all comparisons of group 'b' failed", ff.rates, c, ff.at_mean_group_eer())
