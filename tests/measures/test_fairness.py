"""Every measure against the oracle, its facts, and what it does with zeros."""

from __future__ import annotations

import math

import numpy as np
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from scipy.stats import beta

import fastfair as ff
from fastfair import measures as m

RATE = st.one_of(st.sampled_from([0.0, 0.001, 0.01, 0.5, 1.0]), st.floats(1e-6, 1))
GROUPS = st.integers(1, 6).flatmap(
    lambda g: st.tuples(*[st.lists(RATE, min_size=g, max_size=g)] * 2)
)
ALPHA = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def agree(found, expected, rel=1e-9):
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=rel, atol=1e-12
    )


def arguments_of(measure: m.Estimand, fmr, fnmr, fmr_all, fnmr_all, alpha=0.3) -> tuple:
    rates, averages = ((fmr,), (fmr_all,)) if measure.of else ((fmr, fnmr), (fmr_all, fnmr_all))
    return (
        *rates,
        *(averages if measure.global_reference else ()),
        *((alpha,) if measure.takes_alpha else ()),
    )


def call(measure: m.Estimand, *rates):
    return measure.function(*arguments_of(measure, *rates))


@given(GROUPS, ALPHA, RATE, RATE)
def test_measures_are_those_of_the_oracle(groups, alpha, fmr, fnmr):
    for name, measure in m.MEASURES.items():
        arguments = arguments_of(measure, *groups, fmr, fnmr, alpha)
        agree(getattr(m, name)(*arguments), getattr(naive, name)(*arguments))


@each("measure", m.MEASURES.values())
def test_facts_hold_on_data(measure):
    rng = np.random.default_rng(1)
    fmr, fnmr = rng.random((2, 2000, 4))
    fmr_all, fnmr_all = fmr.mean(-1), fnmr.mean(-1)
    values = call(measure, fmr, fnmr, fmr_all, fnmr_all)
    low, high = measure.range
    assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all()
    fair = np.full((1, 4), 0.25)
    agree(np.unique(call(measure, fair, fair, [0.25], [0.25])), [measure.fair_value])
    # Spreading the groups apart moves every measure away from fair, in the direction it names.
    spread = np.array([0.05, 0.15, 0.25, 0.55])
    wider = np.array([0.01, 0.09, 0.20, 0.70])
    near, far = (np.atleast_1d(call(measure, x, x, 0.25, 0.25)) for x in (spread, wider))
    distance_near, distance_far = (np.abs(v - measure.fair_value).mean() for v in (near, far))
    assert distance_far > distance_near
    if measure.fairer != "nearer":
        assert (far.mean() < near.mean()) == (measure.fairer == "higher")


@each("measure", m.MEASURES.values())
def test_ratio_is_what_fails_for_a_group_without_errors(measure):
    zeros = np.array([0.0, 0.1, 0.2])
    values = call(measure, zeros, zeros, 0.1, 0.1)
    assert measure.ratio == (not np.isfinite(values).all())


def test_a_nan_rate_makes_the_measure_nan():
    for name, measure in m.MEASURES.items():
        values = call(measure, np.array([math.nan, 0.1]), np.array([math.nan, 0.2]), 0.1, 0.1)
        assert np.isnan(np.atleast_1d(values)[0]), name


def test_percentages_and_arrays_that_do_not_fit_are_refused():
    refused("divide percentages by 100", m.fdr, [1.22, 0.68], [0.01, 0.02])
    refused("alpha", m.fdr, [0.1, 0.2], [0.1, 0.2], alpha=50)
    refused("fmr has 2, fnmr has 3", m.fdr, [0.1, 0.2], [0.1, 0.2, 0.3])
    refused("needs groups on its last axis", m.fdr, 0.1, 0.2)
    refused("needs groups", m.gini, [])
    refused("one value for all groups", m.mape, [0.1, 0.2], [0.1, 0.2, 0.3])
    refused("must not be negative", m.gini, [-1.0, 1.0])
    refused("masked entry in row 1", m.gini, np.ma.array([0.1, 0.2], mask=[0, 1]))
    for values in ([1j, 0.2], ["a", "b"]):
        refused("must be numbers", m.gini, values)
    refused(r"x must not be above 1e150, .* but holds 1e\+200", m.std, [1e200, 0.5])


def test_equal_rates_are_exactly_fair():
    for rate in (0.1, 0.3, 1e-7):
        for n_groups in range(2, 30):
            assert m.gini([rate] * n_groups) == 0
            assert m.max_geomean_ratio([rate] * n_groups) >= 1


def test_zero_policies():
    rates = np.array([0.0, 0.1])
    agree(m.replace_zeros(rates), rates)
    agree(m.replace_zeros(rates, 1e-4), [1e-4, 0.1])
    agree(m.replace_zeros(rates, "clopper-pearson", [50, 50]), [beta.ppf(0.975, 1, 50), 0.1])
    refused("not computable", m.replace_zeros, rates, "raise")
    refused("comparisons", m.replace_zeros, rates, "clopper-pearson")
    refused("policy", m.replace_zeros, rates, 0.0)
    refused("did you mean 'raise'", m.replace_zeros, rates, "raises")


def test_unknown_metrics_of_a_measure_are_refused():
    assert m.MEASURES["std"].needs_policy_threshold("eer") is False
    refused("metric of gini", m.MEASURES["gini"].error_types, "eer")
    assert m.MEASURES["fdr"].bounded
    assert not m.MEASURES["inequity_rate"].bounded


@each("values", [[np.inf, 0.5], [np.inf, np.inf], [1e-320, 0.5], [1e150, 1e-308], [1e150, 1e150]])
@each("measure", ff.measures.MEASURES.values())
def test_extreme_values_give_no_warning_of_numpy(measure, values):
    if not measure.of or measure.of == ("fmr",):
        values = np.minimum(values, 1)
    assert np.shape(call(measure, values, values, values[0], values[0])) in ((), (2,))
