"""Intervals of groups' ratios to the average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fastfair.uncertainty.interval_maker import interval_of_ratio
from fastfair.uncertainty.quantities import RATIOS


@pytest.mark.parametrize("log", [False, True])
def test_ratios_to_the_average_reach_as_far_as_quantiles_and_as_logarithms(log):
    drawn = np.random.default_rng(0).lognormal(0.5, 0.4, 4000)
    ratio, error = 1.6, drawn.std(ddof=1) / 1.6 * math.sqrt(1 + 1 / 12)
    reach = stats.t.ppf(0.95, 12) * error
    for quantiles in ((1.5, 1.7), (0.1, 9.0)):
        want = min(quantiles[0], ratio * math.exp(-reach)), max(quantiles[1], ratio * math.exp(reach))
        if log:
            ends = -math.log(quantiles[1]), -math.log(quantiles[0])
            found = interval_of_ratio(RATIOS[1], -math.log(ratio), ends, -np.log(drawn), 12, 0.9)
            found = math.exp(-found[1]), math.exp(-found[0])
        else:
            found = interval_of_ratio(RATIOS[0], ratio, quantiles, drawn, 12, 0.9)
        assert found == pytest.approx(want)


def test_ratios_to_the_average_without_errors_or_quantiles_stay_as_they_are():
    drawn = np.ones(10)
    for name, estimate in zip(RATIOS, (0.0, math.inf), strict=True):
        assert interval_of_ratio(name, estimate, (0.5, 1.5), drawn, 5, 0.9) == (0.5, 1.5)
    assert np.isnan(interval_of_ratio(RATIOS[0], 1.0, (math.nan, math.nan), drawn, 5, 0.9)).all()
