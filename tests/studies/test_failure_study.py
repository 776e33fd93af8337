"""What the documentation says of intervals of failure rates, FRRs and FARs, and of tests of FTAs
and FTEs."""

from __future__ import annotations

import pytest
from studies import failure_study
from studies.bounds import error, least_coverage

pytestmark = pytest.mark.study


@pytest.mark.parametrize("name", failure_study.KINDS)
def test_failure_rates_and_rates_with_failures_hold_the_truth(name, data_sets):
    n = data_sets(150)
    found = failure_study.study(name, n)
    for column in failure_study.COLUMNS:
        assert found[column] >= least_coverage(n), column


@pytest.mark.parametrize("name", failure_study.SAMPLES)
def test_rates_of_samples_hold_the_truth_and_tests_find_what_there_is(name, data_sets):
    n = data_sets(500)
    alike = failure_study.study_of_samples(name, 1.0, n)
    assert alike["rate of group"] >= least_coverage(n)
    for column in ("test", "named"):
        assert alike[column] <= 0.06 + error(0.05, n, 3), column
    apart = failure_study.study_of_samples(name, 3.0, n)
    assert apart["test"] > alike["test"]
