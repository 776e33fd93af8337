"""That studies of the planned size deliver what the plan promises."""

from __future__ import annotations

import pytest
from scipy.stats import binom
from studies.planning_study import (
    FMR_SETTINGS,
    PILOT_SETTINGS,
    SETTINGS,
    study,
    study_of_claims,
    study_of_pilots,
)

pytestmark = [pytest.mark.study, pytest.mark.jit]
DATA_SETS = 400
LOGNORMAL = [setting for setting in FMR_SETTINGS if not setting.hubs]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_margins_are_met_and_groups_named_as_often_as_promised(setting, data_sets):
    n = data_sets(DATA_SETS)
    _, _, shares = study(setting, n)
    for promised, delivered in (
        ("assurance promised", "margin met"),
        ("power promised", "group named"),
    ):
        low, high = binom.ppf([0.0005, 0.9995], n, shares[promised]) / n
        assert low - 0.03 <= shares[delivered] <= high + 0.03, (promised, shares)


@pytest.mark.parametrize("setting", LOGNORMAL, ids=lambda setting: setting.name)
def test_claims_are_supported_as_often_as_promised(setting, data_sets):
    n = data_sets(DATA_SETS)
    plan, shares = study_of_claims(setting, n)
    low, high = binom.ppf([0.0005, 0.9995], n, plan.needed.assurance) / n
    assert low - 0.03 <= shares["claim supported"] <= high + 0.03


@pytest.mark.parametrize("setting", PILOT_SETTINGS, ids=lambda setting: setting.name)
def test_pilots_plan_the_verdict(setting, data_sets):
    """Four studies of five are supported; or no number of subjects would do, and the plan says
    so."""
    n = data_sets(300)
    plans, shares = study_of_pilots(setting, n)
    hopeless = [plan for plan in plans if plan.n_subjects is None]
    for plan in hopeless:
        assert "No number of subjects would do" in plan.summary()
    if "strong" in setting.name:
        assert len(hopeless) == len(plans)
        return
    assert len(hopeless) <= len(plans) / 3
    if shares:
        low, high = binom.ppf([0.0005, 0.9995], n, [0.75, 0.85]) / n
        assert low <= shares["claim supported"] <= high
