"""Intervals of groups' ratios to the average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fastfair.uncertainty.interval_maker import intervals_of_ratios


def interval_of_ratio(
    log: bool,
    estimate: float,
    quantiles: tuple[float, float],
    error: float,
    freedom: float,
    level: float,
) -> tuple[float, float]:
    of_one = (np.array([value]) for value in (estimate, log, *quantiles, error, freedom))
    estimates, is_log, low, high, errors, degrees = of_one
    found = intervals_of_ratios(estimates, is_log, (low, high), errors, degrees, level)
    return float(found[0][0]), float(found[1][0])


@pytest.mark.parametrize("log", [False, True])
def test_ratios_to_the_average_reach_as_far_as_quantiles_and_as_logarithms(log):
    drawn = np.random.default_rng(0).lognormal(0.5, 0.4, 4000)
    ratio, error = 1.6, drawn.std(ddof=1) / 1.6
    reach = stats.t.ppf(0.95, 12) * error * math.sqrt(1 + 1 / 12)
    for quantiles in ((1.5, 1.7), (0.1, 9.0)):
        want = (
            min(quantiles[0], ratio * math.exp(-reach)),
            max(quantiles[1], ratio * math.exp(reach)),
        )
        if log:
            ends = -math.log(quantiles[1]), -math.log(quantiles[0])
            found = interval_of_ratio(True, -math.log(ratio), ends, error, 12, 0.9)
            found = math.exp(-found[1]), math.exp(-found[0])
        else:
            found = interval_of_ratio(False, ratio, quantiles, error, 12, 0.9)
        assert found == pytest.approx(want)


def test_ratios_to_the_average_without_errors_or_quantiles_stay_as_they_are():
    for log, estimate in ((False, 0.0), (True, math.inf)):
        assert interval_of_ratio(log, estimate, (0.5, 1.5), 0.1, 5, 0.9) == (0.5, 1.5)
    assert np.isnan(interval_of_ratio(False, 1.0, (math.nan, math.nan), 0.1, 5, 0.9)).all()
