"""Totals over partners of units, against products of weights."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import row_sums
from hypothesis import given
from hypothesis import strategies as st

# Smaller unit, larger unit, and how often they are compared.
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(1, 40)), max_size=12)


def grouped(lists):
    pairs = [pair for one in lists for pair in sorted(one)]
    first, second, repeats = np.array(pairs, np.int32).reshape(-1, 3).T.copy()
    end = np.cumsum([len(one) for one in lists])
    n = int(repeats.sum())
    partners, ends = np.empty(n, np.int32), np.empty(end.size, np.int64)
    most = first.size + n // row_sums.LONGEST
    units, stops = np.empty(most, np.int32), np.empty(most, np.int64)
    n_runs = row_sums.group_partners(first, second, repeats, end, partners, units, stops, ends)
    return partners, units[:n_runs], stops[:n_runs], ends


def totals_of(lists, weights):
    totals = np.full((len(lists), 64), -1, np.int64)
    row_sums.total_weights(*grouped(lists), weights, totals)
    return totals


@given(st.lists(PAIRS, min_size=1, max_size=3), st.integers(1, row_sums.LARGEST), st.integers(0, 99))
def test_totals_are_sums_of_products(lists, largest, seed):
    weights = np.random.default_rng(seed).integers(0, largest + 1, (6, 64), dtype=np.uint8)
    wide = weights.astype(np.int64)
    for total, pairs in zip(totals_of(lists, weights), lists, strict=True):
        assert (total == sum((n * wide[i] * wide[j] for i, j, n in pairs), np.zeros(64, np.int64))).all()


@pytest.mark.jit
def test_long_runs_of_the_largest_weights_do_not_overflow():
    weights = np.full((2, 64), row_sums.LARGEST, np.uint8)
    n = 10 * row_sums.LONGEST + 7
    assert (totals_of([[(0, 1, n)]], weights) == n * row_sums.LARGEST**2).all()
    assert n * row_sums.LARGEST**2 > 2**24
