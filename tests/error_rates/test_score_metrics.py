"""Curves and what is read off them, against the oracle, theory and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import calibration, naive
from oracles.strategies import from_lists, score_lists
from scipy.special import ndtr

import fastfair as ff

LLR = "log-likelihood-ratio"
DTYPES = st.sampled_from([np.float32, np.float64])
KINDS = st.sampled_from(["similarity", "distance"])


def sign(score_kind: str) -> int:
    return 1 if score_kind == "similarity" else -1


@given(score_lists(), DTYPES, KINDS)
def test_roc_is_the_oracles(lists, dtype, kind):
    curve = ff.roc(from_lists(*lists, dtype, kind))
    expected = np.array(naive.roc(*lists))
    assert curve.fmr.tolist() == expected[:, 1].tolist()
    assert curve.fnmr.tolist() == expected[:, 2].tolist()
    assert (sign(kind) * curve.threshold[:-1]).tolist() == expected[:-1, 0].tolist()
    assert curve.threshold.dtype == dtype
    top = np.nextafter(dtype(expected[-2, 0]), dtype(np.inf))
    assert sign(kind) * curve.threshold[-1] == top


@pytest.mark.jit
def test_roc_of_long_lists_meets_in_the_middle():
    rng = np.random.default_rng(1)
    for n_mated, n_nonmated, digits in (
        (70_000, 50_000, 2),
        (3, 120_000, 6),
        (120_000, 2, 1),
        (60_000, 60_000, 7),
    ):
        mated = np.round(rng.normal(1, 1, n_mated), digits).astype(np.float32)
        nonmated = np.round(rng.normal(0, 1, n_nonmated), digits).astype(np.float32)
        curve = ff.roc(from_lists(mated.tolist(), nonmated.tolist(), np.float32))
        distinct = np.unique(np.concatenate([mated, nonmated]))
        assert np.array_equal(curve.threshold[:-1], distinct)
        assert np.array_equal(curve.fnmr[:-1], np.searchsorted(np.sort(mated), distinct) / n_mated)
        accepted = n_nonmated - np.searchsorted(np.sort(nonmated), distinct)
        assert np.array_equal(curve.fmr[:-1], accepted / n_nonmated)
        assert (curve.fmr[-1], curve.fnmr[-1]) == (0, 1)


@given(
    score_lists(),
    DTYPES,
    KINDS,
    st.sampled_from(["nearest", "nearest-max", "interpolated", "convex-hull"]),
)
def test_eer_is_the_oracles(lists, dtype, kind, method):
    found = ff.eer(from_lists(*lists, dtype, kind), method)
    if method == "interpolated" and max(map(abs, lists[0] + lists[1])) > 1e30:
        return  # the threshold above the largest score is one float32 or one float64 away
    value, threshold = naive.eer(*lists, method)
    assert found.value == pytest.approx(value, abs=1e-15)
    assert found.method == method
    if method == "convex-hull":
        assert math.isnan(found.threshold)
    else:
        assert sign(kind) * found.threshold == pytest.approx(threshold, rel=1e-6, abs=1e-44)


@given(
    score_lists(),
    DTYPES,
    KINDS,
    st.floats(0.01, 0.99),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
    st.booleans(),
)
def test_min_dcf_is_the_oracles(lists, dtype, kind, p_target, c_miss, c_fa, normalize):
    found = ff.min_dcf(from_lists(*lists, dtype, kind), ff.Costs(p_target, c_miss, c_fa, normalize))
    value, _ = naive.min_dcf(*lists, p_target, c_miss, c_fa, normalize)
    assert found.value == pytest.approx(value, rel=1e-12)
    threshold = sign(kind) * found.threshold
    cost = c_miss * p_target * naive.fnmr(lists[0], threshold) + c_fa * (1 - p_target) * naive.fmr(
        lists[1], threshold
    )
    unit = min(c_miss * p_target, c_fa * (1 - p_target)) if normalize else 1
    assert cost / unit == pytest.approx(value, rel=1e-12)


def test_min_dcf_has_the_lowest_of_the_thresholds_that_cost_least():
    c = ff.Comparisons([0.9, 0.3, 0.5, 0.1], [1, 1, 0, 0])
    found = ff.min_dcf(c, ff.Costs(0.5))  # 0.25 at 0.3 and at 0.9
    assert (found.value, found.threshold) == (0.25, 0.3)


@given(score_lists(), DTYPES)
def test_cllr_is_the_oracles(lists, dtype):
    assert ff.cllr(from_lists(*lists, dtype)) == pytest.approx(naive.cllr(*lists), rel=1e-12)


@given(score_lists())
def test_min_cllr_is_the_oracles_and_never_above_one(lists):
    found = ff.min_cllr(from_lists(*lists))
    assert found == pytest.approx(naive.min_cllr(*lists), abs=1e-12)
    assert 0 <= found <= 1 + 1e-12


def test_det_coordinates_are_normal_deviates():
    rng = np.random.default_rng(2)
    curve = ff.det(from_lists(rng.normal(2, 1, 50).tolist(), rng.normal(0, 1, 50).tolist()))
    assert ndtr(curve.fmr_deviate) == pytest.approx(curve.fmr, abs=1e-12)
    assert ndtr(curve.fnmr_deviate) == pytest.approx(curve.fnmr, abs=1e-12)


@pytest.mark.jit
def test_theory_of_two_shifted_normals():
    rng = np.random.default_rng(3)
    c = from_lists(rng.normal(2, 1, 200_000).tolist(), rng.normal(0, 1, 200_000).tolist())
    expected = ndtr(-1.0)  # EER of two unit normals 2 apart
    error = 5 * math.sqrt(expected * (1 - expected) / 200_000)
    for method in ("nearest", "nearest-max", "interpolated", "convex-hull"):
        assert ff.eer(c, method).value == pytest.approx(expected, abs=error)
    assert ff.eer(c).threshold == pytest.approx(1, abs=0.02)
    # Scores 2 s - 2 are the log likelihood ratios, so that calibration has nothing to gain.
    llr = from_lists(
        (2 * rng.normal(2, 1, 100_000) - 2).tolist(), (2 * rng.normal(0, 1, 100_000) - 2).tolist()
    )
    assert ff.min_cllr(llr) == pytest.approx(ff.cllr(llr), abs=0.005)
    assert 0.9 < ff.min_cllr(llr, 1e-320) <= 1  # whose odds overflow


def test_convex_hull_never_lies_above_the_other_equal_error_rates():
    rng = np.random.default_rng(5)
    for _ in range(20):
        c = from_lists(
            np.round(rng.normal(1, 1, 30), 1).tolist(), np.round(rng.normal(0, 1, 40), 1).tolist()
        )
        assert ff.eer(c, "convex-hull").value <= ff.eer(c, "interpolated").value + 1e-12
        assert ff.eer(c).value <= ff.eer(c, "nearest-max").value


@given(
    score_lists(),
    DTYPES,
    st.floats(0.01, 0.99),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
    st.booleans(),
)
def test_act_dcf_is_the_oracles(lists, dtype, p_target, c_miss, c_fa, normalize):
    flags = np.arange(len(lists[0]) + len(lists[1])) < len(lists[0])
    c = ff.Comparisons(np.array(lists[0] + lists[1], dtype), flags, score_kind=LLR)
    found = ff.act_dcf(c, ff.Costs(p_target, c_miss, c_fa, normalize))
    application = p_target, c_miss, c_fa
    unit = calibration.default_cost(application) if normalize else 1
    assert found.threshold == pytest.approx(calibration.bayes_threshold(*application), abs=1e-12)
    if min(abs(s - found.threshold) for s in lists[0] + lists[1]) > 1e-9:
        assert found.value == pytest.approx(
            calibration.act_dcf(*lists, application) / unit, rel=1e-12
        )
    assert found.value >= ff.min_dcf(c, ff.Costs(*application, normalize)).value * (1 - 1e-12)


def test_scores_at_the_bayes_threshold_are_accepted():
    c = ff.Comparisons([0.0, 0.0, -1.0], [1, 0, 0], score_kind=LLR)
    assert (ff.act_dcf(c, ff.Costs(0.5)).fnmr, ff.act_dcf(c, ff.Costs(0.5)).fmr) == (0, 0.5)


@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_act_dcf_wants_log_likelihood_ratios(kind):
    refused(
        f"declared as {kind}: pass score_kind=",
        ff.act_dcf,
        ff.Comparisons([0.9, 0.1], [1, 0], score_kind=kind),
    )
    for wrong in (0, 1, 1.5):
        refused("p_target", ff.Costs, wrong)


@given(score_lists(), st.floats(0.001, 0.999))
def test_cllr_at_a_prior_is_the_oracles(lists, p):
    c = from_lists(*lists)
    assert ff.cllr(c, p) == pytest.approx(calibration.cllr(*lists, p), rel=1e-9, abs=1e-12)
    assert ff.min_cllr(c, p) == pytest.approx(calibration.min_cllr(*lists, p), abs=1e-12)
    assert ff.min_cllr(c, p) <= min(1, ff.cllr(c, p)) + 1e-12


def test_cllr_of_even_odds_is_that_of_the_first_paper_and_others_are_refused():
    c = from_lists([1.0, 2.0, -0.5], [0.0, -3.0])
    assert (
        ff.cllr(c, 0.5)
        == ff.cllr(c)
        == pytest.approx(naive.cllr([1.0, 2.0, -0.5], [0.0, -3.0]), rel=1e-15)
    )
    assert ff.cllr(ff.Comparisons([0.0, 0.0], [1, 0]), 0.01) == pytest.approx(1, abs=1e-15)
    for function in (ff.cllr, ff.min_cllr):
        refused("p_target", function, c, 1.0)
