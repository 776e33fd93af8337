"""What the documentation says of counts: intervals hold, and claims that are just wrong are rarely
supported."""

from __future__ import annotations

import numpy as np
import pytest
from studies.bounds import least, most
from studies.counts_study import BY_NAME, COLUMNS, POPULATIONS, study


@pytest.mark.study
@pytest.mark.parametrize("name", BY_NAME)
def test_intervals_hold_and_wrong_claims_are_rarely_supported(name, data_sets):
    n = data_sets(300)
    holds, wrong, _ = study(BY_NAME[name], n)
    assert holds >= least(0.93, n)
    assert wrong <= most(0.05, n)


def test_the_truth_is_that_of_many_people():
    for population in POPULATIONS:
        rng = np.random.default_rng(1)
        counts = [population.draw(rng) for _ in range(400)]
        failures = np.array([drawn.failures.sum() for drawn in counts])
        attempts = np.array([drawn.attempts.sum() for drawn in counts])
        rate = failures.sum() / attempts.sum()
        error = np.sqrt(((failures - rate * attempts) ** 2).sum()) / attempts.sum()
        assert abs(rate - population.truth) < 4 * error, population.name


def test_a_study_has_a_share_for_each_look():
    shares = study(POPULATIONS[-1], 2)
    assert shares.shape == (len(COLUMNS),)
    assert ((shares >= 0) & (shares <= 1)).all()
