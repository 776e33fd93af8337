"""What the documentation says of numbers in models of errors: how often an age without effect is
called one with an effect, and how often one is found."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from studies.bounds import error
from studies.covariate_study import PLACEBO, POINTS, study

pytestmark = pytest.mark.study
LEVEL = 0.05
BY_NAME = {ages.name: ages for ages in PLACEBO}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("ages", PLACEBO, ids=lambda ages: ages.name)
def test_an_age_without_effect_is_found_no_more_often_than_documented(ages, name, data_sets):
    n = data_sets(400)
    found = study(ages, name, n)
    for look in ("mean", "difference", "mean curve", "difference curve", "band"):
        assert math.isnan(found[look]) or found[look] <= LEVEL + error(LEVEL, n)
    assert found["interval"] >= 1 - LEVEL - error(LEVEL, n)
    if not math.isnan(found["difference curve"]):  # the band is of the last number
        assert found["band"] <= found["difference curve"]


def test_taken_for_independent_comparisons_find_what_is_not_there(data_sets):
    n = data_sets(400)
    found = study(BY_NAME["3 % goats"], "FMR 0.01", n)
    assert found["naive"] > 0.25 - error(0.25, n)


def test_two_hundredths_of_log_odds_for_a_year_are_found_as_often_as_documented(data_sets):
    n = data_sets(200)
    found = study(replace(BY_NAME["as many of each"], slope=0.02), "FMR 0.01", n)
    assert found["difference"] > 0.42 - error(0.42, n)
    assert found["interval"] > 0.93 - error(0.93, n)
