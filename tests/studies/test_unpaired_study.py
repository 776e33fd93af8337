"""What the documentation says of how often `compare` tells independent data sets of equal systems
apart."""

from __future__ import annotations

import pytest
from studies.bounds import least, most, promised
from studies.paired_study import worse
from studies.unpaired_study import EQUAL, RESAMPLES, study

pytestmark = [pytest.mark.study, pytest.mark.jit]
BY_NAME = {population.name: population for population in EQUAL}
CHOSEN = ("1 to 100 attempts", "8-bit scores", "skewed subjects")


@pytest.mark.parametrize("name", BY_NAME)
def test_rates_of_equal_systems_differ_no_more_often_than_promised(name, data_sets):
    n = data_sets(300)
    counts = study(BY_NAME[name], n, held=False, n_resamples=0, processes=1)
    assert len(counts) == 8  # FMR and FNMR, of all and of groups, at two thresholds
    for what, count in counts.items():
        assert count["found"] <= promised(0.05, n) * n, what
        assert count["inside"] >= least(0.93, n) * count["given"], what


@pytest.mark.parametrize("name", BY_NAME)
def test_costs_areas_and_measures_differ_no_more_often_than_promised(name, data_sets):
    n = data_sets(100)
    counts = study(BY_NAME[name], n, held=False, n_resamples=RESAMPLES, processes=1)
    for what, count in counts.items():
        assert count["found"] <= most(0.05, n) * n, what


@pytest.mark.parametrize("name", CHOSEN)
def test_rates_at_held_rates_differ_no_more_often_than_promised(name, data_sets):
    n = data_sets(40)
    for what, count in study(BY_NAME[name], n, n_resamples=0, processes=1).items():
        assert count["found"] <= most(0.05, n) * n, what


def test_a_worse_system_is_found(data_sets):
    n = data_sets(20)
    counts = study(worse(BY_NAME["1 to 100 attempts"]), n, held=False, n_resamples=0, processes=1)
    assert counts["fnmr", "threshold of FMR 0.01"]["found"] >= 0.9 * n
