"""Intervals of FRR and FAR of transactions hold, and verdicts on them are seldom wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from studies import transaction_study
from studies.bounds import least_coverage, most
from studies.processes import coverage

pytestmark = pytest.mark.study
DATA_SETS = 400


@pytest.mark.parametrize("design", transaction_study.DESIGNS, ids=lambda design: design.name)
def test_rates_of_transactions_hold(
    design: transaction_study.Design, data_sets: Callable[[int], int]
):
    n = data_sets(DATA_SETS)
    columns = transaction_study.COLUMNS
    held = coverage(partial(transaction_study.look, design), n, 1, columns)
    for name in columns[:3]:
        assert held[name] >= least_coverage(n), name
    for name in columns[3:5]:
        assert held[name] <= most(0.05, n), name
    assert held[columns[5]] > 0.2  # there is power
