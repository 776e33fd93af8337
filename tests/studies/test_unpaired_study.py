"""What the documentation says of how often `compare` tells independent data sets of equal systems
apart."""

from __future__ import annotations

import pytest
from scipy.stats import binom
from studies.paired_study import worse
from studies.unpaired_study import EQUAL, RESAMPLES, study

pytestmark = [pytest.mark.study, pytest.mark.jit]
BY_NAME = {population.name: population for population in EQUAL}
CHOSEN = ("1 to 100 attempts", "8-bit scores", "skewed subjects")


@pytest.mark.parametrize("name", list(BY_NAME))
def test_equal_systems_differ_no_more_often_than_promised(name, data_sets):
    n = data_sets(200)
    for (kind, at), count in study(BY_NAME[name], n, n_resamples=0, processes=1).items():
        if kind.partition(" ")[0] in ("fmr", "fnmr"):
            assert count["found"] <= binom.ppf(0.9995, n, 0.05), (kind, at)
            if count["given"] >= n:
                assert count["inside"] >= binom.ppf(0.0005, n, 0.93) / n * count["given"], kind


@pytest.mark.parametrize("name", CHOSEN)
def test_areas_costs_and_measures_differ_no_more_often_than_promised(name, data_sets):
    n = data_sets(100)
    most = binom.ppf(0.9995, n, 0.05)
    for (kind, at), count in study(BY_NAME[name], n, n_resamples=RESAMPLES, processes=1).items():
        if kind in ("eer", "min_dcf", "cllr", "auc"):
            assert count["found"] <= most, (kind, at)


def test_a_worse_system_is_found(data_sets):
    n = data_sets(40)
    found = study(worse(BY_NAME["1 to 100 attempts"]), n, n_resamples=0, processes=1)
    assert found["fnmr", "threshold of FMR 0.01"]["found"] > 0.9 * n
