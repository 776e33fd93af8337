"""Errors over priors and shares over likelihood ratios, against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import calibration as slow
from oracles.strategies import TIED

import fastfair as ff

LLR = "log-likelihood-ratio"
LISTS = st.tuples(
    *[st.lists(st.one_of(TIED, st.floats(-9, 9, width=32)), min_size=1, max_size=12)] * 2
)


def ratios(mated: list[float], nonmated: list[float], dtype: type = np.float64) -> ff.Comparisons:
    flags = np.arange(len(mated) + len(nonmated)) < len(mated)
    return ff.Comparisons(np.array(mated + nonmated, dtype), flags, score_kind=LLR)


@given(LISTS, st.sampled_from([np.float32, np.float64]))
def test_bayes_error_is_the_oracles(lists, dtype):
    log_odds = np.array([-9.5, -3.25, -0.7, 0.0, 0.3, 2.6, 8.1])
    found = ff.calibration.bayes_error(ratios(*lists, dtype), log_odds)
    expected = np.array([slow.bayes_error(*lists, one) for one in log_odds.tolist()]).T
    for name, values in zip(("actual", "minimum", "default"), expected, strict=True):
        assert getattr(found, name) == pytest.approx(values, abs=1e-12), name
    assert (found.actual >= found.minimum - 1e-12).all()
    assert (found.minimum <= found.default + 1e-12).all()


@given(LISTS)
def test_tippett_shares_are_the_oracles(lists):
    found = ff.calibration.tippett(ratios(*lists))
    assert set(found.log_likelihood_ratio) <= {x + 0.0 for side in lists for x in side}
    for at, mated, nonmated in zip(
        found.log_likelihood_ratio, found.mated, found.nonmated, strict=True
    ):
        assert (mated, nonmated) == pytest.approx(
            tuple(slow.share_at_least(side, at) for side in lists)
        )


def test_tippett_has_the_ends_of_long_lists():
    rng = np.random.default_rng(0)
    sides = rng.normal(3, 2, 5000), rng.normal(-3, 2, 5000)
    found = ff.calibration.tippett(ratios(*(side.tolist() for side in sides)))
    assert found.log_likelihood_ratio.size == 400
    assert found.log_likelihood_ratio[[0, -1]].tolist() == [
        min(map(np.min, sides)),
        max(map(np.max, sides)),
    ]
    assert (np.diff(found.mated) <= 0).all()


def test_the_default_prior_runs_over_201_log_odds():
    curve = ff.calibration.bayes_error(ratios([1.0, 3.0], [0.0, -1.0]))
    assert curve.prior_log_odds[[0, 100, -1]].tolist() == [-10, 0, 10]
    assert curve.default[100] == 0.5


@pytest.mark.parametrize("wrong", [[np.nan], [np.inf], [[1.0, 2.0]], [], "all"])
def test_log_odds_must_be_numbers(wrong):
    refused("prior_log_odds", ff.calibration.bayes_error, ratios([1.0], [0.0]), wrong)


def test_curves_want_log_likelihood_ratios():
    c = ff.Comparisons([1.0, 0.0], [1, 0])
    for function, what in (
        (ff.calibration.bayes_error, "Bayes error"),
        (ff.calibration.tippett, "Tippett"),
    ):
        refused(what, function, c)
