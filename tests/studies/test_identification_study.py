"""What the documentation says of the intervals of identification, and of tests of equal rates."""

from __future__ import annotations

import pytest
from studies import identification_study
from studies.bounds import least_coverage, most

import fastfair as ff

pytestmark = pytest.mark.study


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
@pytest.mark.parametrize("name", [*identification_study.KINDS][:3])
def test_rates_of_other_people_are_inside_and_equal_groups_are_not_called_different(name, gallery, data_sets):
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
def test_what_is_just_not_met_is_not_called_met_and_equal_systems_not_different(name, gallery, data_sets):
    n = data_sets(200)
    found = identification_study.verdicts(name, gallery, n)
    for column in identification_study.VERDICTS[:-1]:
        assert found.get(column, 0.0) <= most(0.05, n), column


def test_equal_systems_with_tied_scores_are_not_called_different(data_sets):
    n, kind = data_sets(200), identification_study.KINDS["300 enrolled, few wolves"]
    points = [ff.at_fpir(0.05), ff.at_rank(1)]
    found = [
        any(row.pvalue_adjusted <= 0.05 for row in ff.compare_searches(*kind.draw_two(seed, 0.0, 0.5), points).rows)
        for seed in range(n)
    ]
    assert sum(found) / n <= most(0.05, n)
