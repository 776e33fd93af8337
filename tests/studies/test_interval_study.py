"""What the documentation says of intervals where errors are few, groups unequal and subjects
skewed."""

from __future__ import annotations

import functools

import pytest
from studies import interval_study
from studies.interval_study import Study, coverage, study_of_groups_together

pytestmark = pytest.mark.study

POPULATIONS = {population.name: population for population in interval_study.POPULATIONS}
DATA_SETS = 1000


@pytest.fixture(scope="module")
def studied(data_sets):
    @functools.cache
    def found(name: str, with_measures: bool) -> Study:
        measures = ("garbe", "gini", "std") if with_measures else ()
        n = data_sets(DATA_SETS) // (4 if with_measures else 1)
        return interval_study.study(POPULATIONS[name], n, measures=measures)

    return found


# The bars lie between what the intervals reach and what those reached that took subjects for alike,
# comparisons without errors for independent, and fitted costs for unbiased.
@pytest.mark.parametrize(
    ("name", "at", "least"),
    [
        ("fmr of a group", "threshold", 0.89),
        ("fmr", "few false matches", 0.86),
        ("min_cllr", "", 0.89),
        ("min_cllr of a group", "", 0.86),
        ("min_dcf of a group", "", 0.78),
    ],
)
def test_intervals_hold_the_truth_of_skewed_subjects_more_often(name, at, least, studied):
    assert coverage(studied("skewed subjects", False), name, at).share >= least


def test_concentrated_errors_are_noted_where_intervals_are_short_and_seldom_elsewhere(studied):
    assert coverage(studied("skewed subjects", False), "fmr of a group", "threshold").noted >= 0.7
    assert coverage(studied("8 groups", True), "fmr of a group", "threshold").noted <= 0.05


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("garbe", "few false matches"),
        ("gini(fmr)", "few false matches"),
        ("std(fmr)", "few false matches"),
        ("garbe", "few false non-matches"),
        ("gini(fnmr)", "few false non-matches"),
        ("min_dcf of a group", ""),
        ("min_cllr of a group", ""),
    ],
)
def test_intervals_hold_the_truth_with_few_errors_and_many_groups(name, at, studied):
    found = coverage(studied("8 groups", True), name, at)
    assert found.given > 0.95
    assert found.share >= 0.88


def test_simultaneous_intervals_hold_in_all_groups_together_and_single_ones_do_not(data_sets):
    single, together = study_of_groups_together(POPULATIONS["8 groups"], data_sets(1000))
    assert (single <= together).all()
    assert single.mean() < 0.95  # 0.84 of 400 data sets
    assert together.mean() > 0.91  # 0.98
