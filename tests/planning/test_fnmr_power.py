"""Numbers of subjects and power, against slow twins of their parts and against whole studies of the
library's own."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import planned_studies
from scipy.special import ndtr

import fastfair as ff
from fastfair.errors import OutOfReachWarning
from fastfair.planning import fnmr as studies
from fastfair.planning.fnmr import Subjects, attempts_of

SETTING = {
    "n_groups": 4,
    "n_subjects": 60,
    "n_attempts": 3,
    "fnmr": 0.1,
    "correlation": 0.3,
    "rng": 0,
}
WITHOUT_SUBJECTS = {name: value for name, value in SETTING.items() if name != "n_subjects"}


def pilot(attempts):
    return ff.FailureCounts([0] * len(attempts), attempts, ["all"] * len(attempts))


PILOT = pilot([1, 1, 1, 2, 2, 4, 9])

rates = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
correlations = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1)]), st.fractions(0, 1, max_denominator=10)
)


# Parts.


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), rates, correlations)
def test_subjects_with_the_attempts_of_a_pilot(attempts_of_each, fnmr, correlation):
    subjects = Subjects(*attempts_of(attempts_of_each), float(fnmr), float(correlation))
    expected = planned_studies.kinds(attempts_of_each, fnmr, correlation)
    found = {(e, m): p for e, m, p in zip(*(part.tolist() for part in subjects.kinds), strict=True)}
    assert found == pytest.approx({kind: float(p) for kind, p in expected.items()}, abs=1e-14)
    attempts, variance = planned_studies.mean_and_variance(expected, fnmr)
    assert subjects.mean_attempts == pytest.approx(float(attempts))
    # The variance of a rate of many subjects is that of e - pi m over the squared number of
    # attempts.
    assert subjects.variance(50) == pytest.approx(
        float(variance / attempts**2 / 50), rel=1e-9, abs=1e-18
    )


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.5]), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_the_distance_that_normal_numbers_keep(errors, probability):
    errors = np.array(errors)
    found = studies.distance_kept(errors, probability)
    for error, distance in zip(errors, found, strict=True):
        assert math.isinf(distance) == (not error.any())
        if error.any():
            inside = np.prod([2 * ndtr(distance / one) - 1 for one in error if one])
            assert inside == pytest.approx(probability, abs=1e-8)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 40))
def test_the_first_number_from_which_on_all_are_enough(enough, start):
    """Where numbers that are not enough lie no farther apart than the search looks ahead."""
    low = start
    found = studies._first(lambda k: enough[k - low], low, low + len(enough) - 1, len(enough))
    last = max((k for k, is_enough in enumerate(enough) if not is_enough), default=-1)
    assert found == low + min(last + 1, len(enough) - 1)


# Whole studies.


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("attempts", [{"n_attempts": 3}, {"n_attempts": PILOT}])
def test_studies_find_and_keep_as_often_as_said(attempts):
    n = 150
    plan = ff.plan_power(**SETTING | attempts | {"n_subjects": [100, 60]}, difference=0.1)
    margin = ff.plan_margin(**SETTING | attempts, assurance=0.5, n_simulations=2000).margin
    found = planned_studies.found(SETTING | attempts | {"n_subjects": 60}, 0.1, n)
    assert found.named == pytest.approx(plan.power[1], abs=4 * math.sqrt(0.25 / n))
    assert (found.margins <= margin * (1 + 1e-9)).mean() == pytest.approx(
        0.5, abs=0.05 + 4 * math.sqrt(0.25 / n)
    )
    assert np.median(found.margins) == pytest.approx(float(margin), rel=0.05)
    assert 0.2 < plan.power[1] < plan.power[0]


@pytest.mark.slow
@pytest.mark.jit
def test_varying_attempts_need_more_subjects():
    """With as many attempts on average; studies that took them for equal would often miss the
    margin."""
    equal = ff.plan_subjects(**WITHOUT_SUBJECTS | {"correlation": 0.5}, margin=0.08)
    varying = WITHOUT_SUBJECTS | {"correlation": 0.5, "n_attempts": pilot([1] * 8 + [11] * 2)}
    plan = ff.plan_subjects(**varying, margin=0.08)
    assert plan.n_subjects > 1.3 * equal.n_subjects
    assert plan.n_attempts == 3
    assert plan.attempts == {1: 0.8, 11: 0.2}
    assert plan.assurance == pytest.approx(0.8, abs=0.05)
    assert plan.to_frame("polars").columns == [
        "n_groups",
        "n_subjects",
        "n_attempts",
        "fnmr",
        "correlation",
        "wanted_margin",
        "wanted_assurance",
        "margin",
        "assurance",
    ]


def test_studies_without_a_failure_find_nothing_and_keep_no_margin():
    rare = SETTING | {"fnmr": 1e-9, "n_simulations": 20}
    assert math.isinf(ff.plan_margin(**rare, assurance=0.5).margin)
    assert ff.plan_power(**rare, difference=1e-9).power == 0


@pytest.mark.slow
@pytest.mark.jit
def test_subjects_for_a_margin_or_a_power_are_enough():
    plan = ff.plan_subjects(
        **WITHOUT_SUBJECTS | {"n_groups": [[2], [8]]}, margin=[0.05, 0.1], assurance=0.9
    )
    assert plan.n_subjects.shape == plan.wanted_margin.shape == (2, 2)
    assert (np.diff(plan.n_subjects, axis=1) < 0).all()
    assert (plan.assurance >= 0.9).all()
    assert plan.power is plan.difference is plan.wanted_power is None
    again = ff.plan_margin(
        **WITHOUT_SUBJECTS | {"n_groups": [[2], [8]]},
        n_subjects=plan.n_subjects,
        assurance=0.9,
        n_simulations=2000,
    )
    assert (again.margin <= 1.05 * plan.wanted_margin).all()
    plan = ff.plan_subjects(**WITHOUT_SUBJECTS, difference=0.1, power=[0.5, 0.8, 0.95])
    assert (plan.power >= plan.wanted_power).all()
    assert (plan.power <= plan.wanted_power + 0.06).all()
    again = ff.plan_power(**WITHOUT_SUBJECTS, n_subjects=plan.n_subjects, difference=0.1)
    np.testing.assert_allclose(again.power, plan.power, atol=0.03)
    assert plan.to_frame("polars").columns[5:] == ["difference", "wanted_power", "margin", "power"]
    assert plan.assurance is None


@pytest.mark.slow
@pytest.mark.jit
def test_what_is_out_of_reach_is_nan_with_a_warning_that_names_it():
    with pytest.warns(
        OutOfReachWarning,
        match="100 subjects in each group are not enough for 1 of 2 settings, the first",
    ) as told:
        plan = ff.plan_subjects(**WITHOUT_SUBJECTS, margin=[0.01, 0.2], max_subjects=100)
    assert "wanted_margin 0.01, wanted_assurance 0.8: n_subjects is NaN there" in str(
        told[0].message
    )
    assert told[0].filename == __file__
    assert np.isnan(plan.n_subjects).tolist() == [True, False]
    with pytest.warns(OutOfReachWarning, match="difference 0.01"):
        plan = ff.plan_subjects(**WITHOUT_SUBJECTS, difference=0.01, max_subjects=100)
    assert plan.power == ff.plan_power(**WITHOUT_SUBJECTS, n_subjects=100, difference=0.01).power
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exactly = int(ff.plan_subjects(**WITHOUT_SUBJECTS, difference=0.1).n_subjects)
        reached = ff.plan_subjects(
            **WITHOUT_SUBJECTS, difference=0.1, max_subjects=exactly + exactly // 10
        )
    assert reached.n_subjects == pytest.approx(exactly, rel=0.05)


@each(
    ("changed", "message"),
    [
        ({}, "give margin or difference"),
        ({"margin": 0.1, "difference": 0.1}, "give margin or difference, and not both"),
        ({"margin": 3}, "margin must be .*fractions? in .*for 3 % write 0.03"),
        ({"difference": 0}, "difference must be other than 0"),
        ({"difference": [0.1, -0.1]}, r"with fnmr \+ difference in \(0, 1\), not -0.1 at fnmr 0.1"),
        ({"difference": "much"}, "difference must be a number or an array of them, not .much."),
        ({"difference": np.nan}, "not nan"),
        ({"difference": 0.1, "power": 80}, "power must be .*fractions? in .*for 80 % write 0.8"),
        ({"margin": [0.1, 0.2], "fnmr": [0.1, 0.2, 0.3]}, "shapes do not go together"),
        (
            {"margin": 0.1, "max_subjects": 1},
            "max_subjects must be a whole number of at least 2, not 1",
        ),
        (
            {"margin": 0.1, "assurance": 80},
            "assurance must be .*fractions? in .*for 80 % write 0.8",
        ),
        ({"margin": 0.1, "n_attempts": 0}, "n_attempts must be whole"),
        ({"margin": 0.1, "n_simulations": 0}, "n_simulations must be"),
        ({"margin": 0.1, "quantile": "median"}, "quantile must be one of"),
    ],
)
def test_bad_wishes_are_refused(changed, message):
    refused(message, ff.plan_subjects, **WITHOUT_SUBJECTS | changed)


def test_plan_power_needs_a_difference_of_a_shape_that_fits():
    refused(
        "do not go together",
        ff.plan_power,
        **SETTING | {"fnmr": [0.1, 0.2]},
        difference=[0.1, 0.2, 0.3],
    )


@pytest.mark.slow
@pytest.mark.jit
def test_summaries_say_what_is_planned_for_each_setting():
    margin = ff.plan_margin(**SETTING, method="exact")
    assert "groups with equal FNMRs all lie within" in margin.summary()
    assert f"{100 * float(margin.margin):.3g} percentage points" in margin.summary()
    lower = ff.plan_power(**SETTING, difference=[-0.05, 0.05])
    first, second = lower.summary().splitlines()
    found = "% of studies find a group whose FNMR is 5 percentage points"
    assert f"{100 * lower.power[0]:.3g} {found} lower." in first
    assert f"{100 * lower.power[1]:.3g} {found} higher." in second
    within = ff.plan_margin(**SETTING, assurance=0.8).summary()
    assert "80 % of studies have a margin of at most" in within
    with pytest.warns(OutOfReachWarning):
        needed = ff.plan_subjects(**WITHOUT_SUBJECTS, margin=[0.001, 0.2], max_subjects=100)
    short, enough = needed.summary().splitlines()
    assert (
        "max_subjects are too few; with so many, 0 % of studies have a margin of at most 0.1"
        " percentage points" in short
    )
    assert f"with {needed.n_subjects[1]:,.0f} subjects in each group" in enough


@pytest.mark.jit
def test_json_holds_settings_and_rows():
    plan = ff.plan_power(**SETTING, difference=0.05)
    written = json.loads(plan.to_json())
    assert written["seed"] == 0
    for name, column in plan.to_frame("polars").to_dict(as_series=False).items():
        assert [written[name]] == column
