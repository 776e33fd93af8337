"""Intervals of differences and ratios from those of the estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import intervals as slow

from fastfair.intervals import difference_interval, ratio_interval

SHARES = st.floats(0.02, 0.9)


def given_interval(estimate: float, down: float, up: float) -> tuple[float, float, float]:
    return estimate, estimate * (1 - down), estimate * (1 + up)


@given(st.tuples(SHARES, SHARES, SHARES), st.tuples(SHARES, SHARES, SHARES), st.floats(-0.95, 0.95))
def test_ends_are_those_of_the_plain_formulas(first, second, correlation):
    first, second = given_interval(*first), given_interval(*second)
    columns = [np.array(one)[:, None] for one in (first, second)]
    found = [float(end[0]) for end in difference_interval(*columns, np.array([correlation]))]
    assert found == pytest.approx(slow.mover_difference(first, second, correlation))
    low, high = (float(end[0]) for end in ratio_interval(*columns, np.array([correlation])))
    assert low <= first[0] / second[0] <= high
    ratios = np.geomspace(low / 1.5, high * 1.5, 4001).tolist()
    assert (low, high) == pytest.approx(
        slow.mover_ratio(first, second, correlation, ratios), rel=3e-3 * np.log(high / low)
    )


def test_a_second_estimate_of_zero_leaves_the_ratio_without_an_upper_end():
    first, second = np.array([[0.1], [0.05], [0.2]]), np.array([[0.0], [0.0], [0.02]])
    low, high = ratio_interval(first, second, np.array([0.0]))
    assert 0 < low[0] < 0.1 / 0.02
    assert np.isinf(high[0])
    low, high = ratio_interval(second, first, np.array([0.0]))
    assert low[0] == 0
    assert 0.02 / 0.2 < high[0] < 0.02 / 0.05 * 1.1
