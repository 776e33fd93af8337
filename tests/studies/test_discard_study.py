"""What the documentation says of error rates after discarding, and of thresholds from development
data."""

from __future__ import annotations

import pytest
from studies import applied_threshold_study, discard_study
from studies.bounds import least_coverage

pytestmark = pytest.mark.study


@pytest.mark.parametrize("rate", ["fnmr", "fmr"])
@pytest.mark.parametrize("name", ["three groups of 60", "6 errors in all", "quality from 1 to 5"])
def test_rates_after_discarding_and_areas_hold_the_truth(name, rate, data_sets):
    n = data_sets(500)
    found = discard_study.study(name, rate, n)
    for column in (
        "rate, 0 %",
        "rate, 20 %",
        "rate, 50 %",
        "area",
        "area of groups",
        "share of groups",
    ):
        assert found[column] >= least_coverage(n), column


@pytest.mark.parametrize("name", ["Student t scores", "8 groups"])
def test_own_thresholds_of_other_people_keep_the_promise_and_those_of_the_same_do_not(
    name, data_sets
):
    n = data_sets(150)
    found = applied_threshold_study.study_of_own(name, n)
    assert min(found["development: FMR"], found["development: FNMR"]) >= least_coverage(n)
    assert found["same: FNMR"] < 0.9


@pytest.mark.parametrize("name", ["Student t scores", "the same strong subjects"])
def test_half_total_error_rates_hold_the_truth(name, data_sets):
    n = data_sets(250)
    for kind, share in applied_threshold_study.study_of_expected(name, n).items():
        assert share >= least_coverage(n), kind


@pytest.mark.parametrize("point", applied_threshold_study.POINTS)
@pytest.mark.parametrize("name", ["Student t scores", "groups of 15 to 400", "the same subjects"])
def test_rates_at_thresholds_of_development_data_hold_the_truth(name, point, data_sets):
    n = data_sets(250)
    found = applied_threshold_study.study(name, point, n)
    for column in applied_threshold_study.COLUMNS:
        assert found[column] >= least_coverage(n), column
