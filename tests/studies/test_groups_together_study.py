"""What the documentation says of intervals that hold in all groups together, and of shrunken rates."""

from __future__ import annotations

import pytest

from .populations import FAIR
from .shrinkage_study import SETTINGS
from .shrinkage_study import study as shrinkage
from .simultaneous_study import study as simultaneous

pytestmark = [pytest.mark.slow, pytest.mark.study]
DATA_SETS = 400


def test_simultaneous_intervals_hold_in_all_groups_together_and_single_ones_do_not(data_sets):
    (population,) = (one for one in FAIR if one.name == "8 groups")
    single, together = simultaneous(population, data_sets(DATA_SETS))
    assert single.mean() < 0.8  # 0.71 in the documentation
    assert together.mean() > 0.91  # 0.96


def test_shrunken_rates_are_nearer_on_average_and_hold_but_for_a_small_group_unlike_all_others(data_sets):
    n = data_sets(DATA_SETS)
    by_name = {setting.name: setting for setting in SETTINGS}
    *shares, width, error = shrinkage(by_name["8 groups of 10 to 200, spread 0.3"], n)
    assert shares[1] > 91  # 96.0
    assert width < 0.75
    assert error < 0.5
    *shares, _, error = shrinkage(by_name["8 groups, the smallest 4 times the odds"], n)
    assert shares[-1] < 60  # 30.8
    assert error > 0.9  # 1.27
