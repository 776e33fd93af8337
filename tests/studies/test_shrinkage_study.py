"""What the documentation says of shrunken rates."""

from __future__ import annotations

import pytest

from .shrinkage_study import SETTINGS, study

pytestmark = pytest.mark.study


def test_shrunken_rates_are_nearer_on_average_and_hold_but_for_a_small_group_unlike_all_others(
    data_sets,
):
    n = data_sets(400)
    by_name = {setting.name: setting for setting in SETTINGS}
    *shares, width, error = study(by_name["8 groups of 10 to 200, spread 0.3"], n)
    assert shares[1] > 91  # 96.0
    assert width < 0.75
    assert error < 0.5
    *shares, _, error = study(by_name["8 groups, the smallest 4 times the odds"], n)
    assert shares[-1] < 60  # 30.8
    assert error > 0.9  # 1.27
