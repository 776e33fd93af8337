"""Intervals of rates of attacks hold, that of the largest species too, and verdicts on them are
seldom wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from studies import attack_study
from studies.bounds import least_coverage, most
from studies.processes import coverage

pytestmark = pytest.mark.study
DATA_SETS = 150


DESIGNS = (*attack_study.DESIGNS, *attack_study.HELD_OUT)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_rates_of_attacks_hold(design: attack_study.Design, data_sets: Callable[[int], int]):
    n = data_sets(DATA_SETS)
    columns = attack_study.COLUMNS
    held = coverage(partial(attack_study.look, design), n, 1, columns)
    for name in columns[:4]:
        assert held[name] >= least_coverage(n), name
    for name in columns[4:6]:
        assert held[name] <= most(0.05, n), name
    assert held[columns[6]] > 0.2  # there is power
