"""Plans of studies against the exact oracle, against studies drawn one decision at a time, and the
paper's trends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import groups as slow
from scipy import stats

import fastfair as ff
from fastfair.evaluation.failure_counts import beta_binomial_pmf
from fastfair.planning.fnmr import GroupsPlan, law_of_failures
from papers.fnmr_groups import margin_studies

STUDY = margin_studies.SETTINGS  # the 4,000 settings of paper 4
SETTING = {"n_groups": 4, "n_subjects": 30, "n_attempts": 3, "fnmr": 0.1, "correlation": 0.3}

rates = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
correlations = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1)]), st.fractions(0, 1, max_denominator=10)
)
probabilities = st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100)


@pytest.fixture(scope="module")
def study() -> GroupsPlan:
    return ff.plan_margin(**STUDY, method="exact")


# The law of failures.


@given(st.integers(1, 8), rates, correlations)
def test_the_failures_of_a_subject_are_beta_binomial(m, fnmr, correlation):
    found = beta_binomial_pmf(m, float(fnmr), float(correlation))
    expected = slow.beta_binomial_pmf(m, fnmr, correlation)
    np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("correlation", [1e-300, 1e-9, 1 - 1e-9, 1 - 2**-53])
def test_correlations_at_the_edge_of_floats(correlation):
    found = beta_binomial_pmf(6, 0.2, correlation)
    np.testing.assert_allclose(found, beta_binomial_pmf(6, 0.2, round(correlation)), atol=1e-8)


@given(st.integers(1, 6), st.integers(1, 4), rates, correlations)
def test_the_failures_of_many_are_a_convolution_power(n, m, fnmr, correlation):
    found = law_of_failures(n, beta_binomial_pmf(m, float(fnmr), float(correlation)))
    expected = [float(p) for p in slow.failures_pmf(n, m, fnmr, correlation)]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("n", "m", "fnmr", "rho"), [(800, 10, 0.2, 0.45), (3000, 1, 0.02, 0.0), (2000, 4, 0.5, 1.0)]
)
def test_the_law_of_many_has_the_mean_and_variance_of_the_formula(n, m, fnmr, rho):
    pmf = law_of_failures(n, beta_binomial_pmf(m, fnmr, rho))
    failures, size = np.arange(pmf.size), n * m
    mean = pmf @ failures
    assert mean == pytest.approx(size * fnmr, rel=1e-10)
    variance = pmf @ (failures - mean) ** 2
    assert variance == pytest.approx(size * fnmr * (1 - fnmr) * (1 + (m - 1) * rho), rel=1e-7)
    if rho == 0:
        np.testing.assert_allclose(pmf, stats.binom(size, fnmr).pmf(failures), atol=1e-13)


# Margins.


@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 3), rates, correlations, probabilities)
def test_exact_margins_are_those_of_the_oracle(n_groups, n, m, fnmr, correlation, probability):
    law = {
        "fnmr": float(fnmr),
        "correlation": float(correlation),
        "confidence_level": float(probability),
    }
    found = ff.plan_margin(n_groups=n_groups, n_subjects=n, n_attempts=m, method="exact", **law)
    expected = slow.exact_margin(n_groups, n, m, fnmr, correlation, probability)
    assert float(found.margin) == pytest.approx(float(expected), abs=1e-12)


def test_the_papers_quantile_is_that_at_half_alpha():
    paper = ff.plan_margin(**SETTING, method="exact", quantile="paper", confidence_level=0.9)
    default = ff.plan_margin(**SETTING, method="exact", confidence_level=0.95)
    assert paper.margin == default.margin
    assert (paper.quantile, paper.method, paper.n_simulations, paper.seed) == (
        "paper",
        "exact",
        None,
        None,
    )


@pytest.mark.jit
@each("changed", [{}, {"correlation": 0}, {"correlation": 1}, {"n_attempts": 1}, {"fnmr": 0.6}])
@each("quantile", ["family-wise", "paper"])
def test_simulated_margins_are_exact_but_for_their_noise(changed, quantile):
    """The simulated margin is a quantile at a level that is off by no more than counts of draws
    are."""
    setting, draws = SETTING | {"n_groups": [2, 5, 20], "n_subjects": 200} | changed, 20_000
    p = 0.95 if quantile == "family-wise" else 0.975
    off = 4.5 * math.sqrt(p * (1 - p) / draws)
    found = ff.plan_margin(**setting, n_simulations=draws, quantile=quantile, rng=1).margin
    low, high = (
        ff.plan_margin(**setting, confidence_level=level, method="exact").margin
        for level in (p - off, p + off)
    )
    assert (low - 1e-12 <= found).all()
    assert (found <= high + 1e-12).all()


def test_progress_is_told():
    told = []
    setting = SETTING | {"fnmr": [0.1, 0.2, 0.3], "n_groups": [[2], [3]]}
    ff.plan_margin(**setting, method="exact", progress=lambda *done: told.append(done))
    assert told[-1] == (3, 3)


# The paper's study.


@pytest.mark.slow
@pytest.mark.jit
def test_the_simulated_study_is_the_exact_one_but_for_noise(study):
    """A setting's quantile from 1000 draws lies between those at 0.95 -+ 4.5 standard errors."""
    found = ff.plan_margin(**STUDY, rng=0).margin
    off = 4.5 * math.sqrt(0.05 * 0.95 / 1000)
    low, high = (
        ff.plan_margin(**STUDY, confidence_level=level, method="exact").margin
        for level in (0.95 - off, 0.95 + off)
    )
    assert ((low - 1e-12 <= found) & (found <= high + 1e-12)).all()


# Bad input.


@each(
    ("changed", "message"),
    [
        ({"n_groups": 1}, "n_groups must be whole numbers of at least 2, not 1"),
        ({"n_groups": [3, 2.5]}, "n_groups must be whole numbers of at least 2, not 2.5"),
        ({"n_subjects": [10, 0]}, "n_subjects must be whole numbers of at least 1, not 0"),
        ({"n_subjects": np.inf}, "n_subjects must be whole numbers of at least 1, not inf"),
        ({"n_attempts": "two"}, "n_attempts must be a number or an array of them, not .two."),
        ({"n_attempts": True}, "n_attempts must be a number or an array of them, not True"),
        ({"n_attempts": []}, "n_attempts must be a number"),
        ({"n_attempts": [[1], [1, 2]]}, "n_attempts must be an array of one shape"),
        ({"fnmr": 0}, r"fnmr must be .*fractions? in \(0, 1\), not 0"),
        ({"fnmr": [0.1, 5]}, r"fnmr must be .*fractions? in \(0, 1\), not 5; for 5 % write 0.05"),
        ({"fnmr": np.nan}, "not nan"),
        ({"correlation": -0.1}, r"correlation must be .*fractions? in \[0, 1\], not -0.1"),
        ({"correlation": 30}, "for 30 % write 0.3"),
        (
            {"n_groups": [2, 3], "fnmr": [0.1, 0.2, 0.3]},
            r"shapes do not go together: n_groups \(2,\), fnmr \(3,\); give one an axis of its own",
        ),
        ({"n_attempts": 0}, "n_attempts must be whole numbers of at least 1, not 0"),
        (
            {"n_attempts": ff.FailureCounts([0, 1], [2, 3], list("fm")), "method": "exact"},
            'computes no margin with the attempts of a pilot: use method="s',
        ),
        ({"assurance": 0.8, "method": "exact"}, "computes no margin with assurance"),
        ({"assurance": 80}, "assurance must be .*fractions? in .*for 80 % write 0.8"),
        ({"n_simulations": 0}, "n_simulations must be a whole number of at least 1, not 0"),
        ({"n_simulations": 1.5}, "n_simulations must be a whole number"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"quantile": "median"}, "quantile must be one of 'family-wise', 'paper', not 'median'"),
        ({"method": "exakt"}, "did you mean 'exact'"),
        ({"rng": -1}, "rng must be"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_bad_settings_are_refused(changed, message):
    refused(message, ff.plan_margin, **SETTING | changed)


@pytest.mark.jit  # minutes without
def test_other_rates_of_attempts_are_planned_under_their_names():
    settings = {"n_groups": [3, 10], "n_attempts": 2, "correlation": 0.05}
    exact = {"n_subjects": 60, "method": "exact"} | settings
    of_fnmr = ff.plan_margin(fnmr=0.1, **exact)
    for rate in ("frr", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"):
        plan = ff.plan_margin(**{rate: 0.1}, **exact)
        assert plan.margin.tolist() == of_fnmr.margin.tolist()
        assert plan.rate == rate
        assert f"equal {rate.upper()}s" in plan.summary()
        assert "FNMR" not in plan.summary()
        assert rate in plan.to_frame("polars").columns
    assert "2 acquisitions of each subject, FTA 10 %" in ff.plan_margin(fta=0.1, **exact).summary()
    studies = {"difference": 0.05, "n_subjects": 50, "n_simulations": 40, "rng": 0} | settings
    found = ff.plan_power(iapar=0.1, **studies)
    assert "whose IAPAR is" in found.summary()
    assert found.power.tolist() == ff.plan_power(fnmr=0.1, **studies).power.tolist()
    one = {"n_groups": 3, "n_attempts": 1, "correlation": 0.0, "n_simulations": 40, "rng": 0}
    needed = ff.plan_subjects(bpcer=0.1, margin=0.05, **one)
    assert needed.n_subjects == ff.plan_subjects(fnmr=0.1, margin=0.05, **one).n_subjects
    assert needed.plot().get_legend_handles_labels()


def test_an_frr_is_made_of_fta_and_fnmr_of_one_attempt():
    settings = {"n_groups": 3, "n_subjects": 90, "n_attempts": 1, "correlation": 0.0}
    plan = ff.plan_margin(fta=[0.02, 0.1], fnmr=0.05, method="exact", **settings)
    assert plan.rate == "frr"
    assert plan.fnmr.tolist() == [fta + (1 - fta) * 0.05 for fta in (0.02, 0.1)]
    refused("of one attempt", ff.plan_margin, fta=0.02, fnmr=0.05, **settings | {"n_attempts": 2})


def test_margins_of_a_pilot_with_sessions_are_refused():
    subject, session = np.divmod(np.arange(40), 2)
    pilot = ff.FailureCounts(
        np.zeros(40, int), [4] * 40, np.repeat(list("fm") * 10, 2), subject=subject, session=session
    )
    asked = {"n_groups": 2, "n_subjects": 50, "n_attempts": pilot, "fnmr": 0.1, "correlation": 0.1}
    with pytest.raises(ff.errors.InputError, match="use plan_requirement, which plans sessions"):
        ff.plan_margin(**asked, n_simulations=9)


def test_rates_that_cannot_be_planned():
    settings = {"n_groups": 3, "n_subjects": 90, "n_attempts": 1, "correlation": 0.0}
    for rates, says in (
        ({}, "give the rate of groups once"),
        ({"frr": 0.1, "fta": 0.1}, "give the rate of groups once"),
        ({"far": 0.1}, "plan_fmr plans for them"),
        ({"fmr": 0.1}, "plan_fmr plans for them"),
        ({"fta": 2}, "fta must be a fraction"),
    ):
        refused(says, ff.plan_margin, **rates, **settings)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_group'"):
        ff.plan_margin(fnmr=0.1, n_group=3, **settings)
