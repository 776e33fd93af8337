"""What the documentation says of the intervals of identification, and of tests of equal rates."""

from __future__ import annotations

import pytest
from studies import identification_study
from studies.bounds import least_coverage, most

pytestmark = pytest.mark.study


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
@pytest.mark.parametrize("name", [*identification_study.KINDS][:3])
def test_rates_of_other_people_are_inside_and_equal_groups_are_not_called_different(
    name, gallery, data_sets
):
    n = data_sets(300)
    found = identification_study.study(name, gallery, n)
    for column in identification_study.COLUMNS[:7]:
        assert found.get(column, 1.0) >= least_coverage(n), column
    assert found["alarm"] <= most(0.05, n)


def test_many_intervals_that_hang_on_few_enrolled_people_are_noted(data_sets):
    n = data_sets(300)
    found = identification_study.study("300 enrolled, one attempt, strong lambs", "drawn", n)
    assert found["fpir"] < 0.92
    assert found["noted"] > 0.2


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
@pytest.mark.parametrize("name", identification_study.KINDS)
def test_what_is_just_not_met_is_not_called_met(name, gallery, data_sets):
    n = data_sets(200)
    found = identification_study.verdicts(name, gallery, n)
    for column in identification_study.VERDICTS:
        assert found.get(column, 0.0) <= most(0.05, n), column


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
@pytest.mark.parametrize("name", identification_study.SYSTEMS)
def test_equal_systems_are_not_called_different_and_worse_ones_are_as_by_pairs(
    name, gallery, data_sets
):
    n = data_sets(300)
    found = identification_study.differences(name, gallery, n)
    for column in identification_study.DIFFERENCES[:6]:
        assert found.get(column, 0.0) <= most(0.05, n), column
    assert found["FNIR of the worse"] >= found["paired test"] - 0.1


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
@pytest.mark.parametrize("name", identification_study.HELD_KINDS)
def test_rates_at_a_held_fnir_know_of_goats(name, gallery, data_sets):
    n = data_sets(300)
    found = identification_study.at_held_fnir(name, gallery, n)
    assert found["holds"] >= least_coverage(n)
    assert found["met"] <= most(0.05, n)
