"""What the documentation says of intervals without replicates."""

from __future__ import annotations

import numpy as np
import pytest
from studies import closed_form_study
from studies.bounds import least_coverage
from studies.populations import FAIR

pytestmark = [pytest.mark.slow, pytest.mark.study]


@pytest.mark.parametrize("name", ["groups of 15 to 400", "8 groups", "Student t scores"])
def test_intervals_in_closed_form_are_as_wide_as_those_of_replicates_and_hold_the_truth(name, data_sets):
    (population,) = (p for p in FAIR if p.name == name)
    n = data_sets(200)
    found = closed_form_study.study(population, n)
    for kind in ("width of FMR", "width of FNMR", "width of differences"):
        assert np.mean(found[kind]) == pytest.approx(1, abs=0.05)
    for kind in ("FMR of groups", "FNMR of groups"):
        assert np.mean(found[kind]) >= least_coverage(n)
