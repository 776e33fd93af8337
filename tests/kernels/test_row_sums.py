"""Totals over partners of units, against products of weights."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import partners, row_sums
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

# Smaller unit, list, larger units with how often they are compared.
RUN = st.tuples(
    st.integers(0, 3),
    st.integers(0, 2),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 700)), max_size=12),
)
RUNS = st.lists(RUN, max_size=6)


def runs_of(given_runs, repeated, dtype=np.uint16):
    """Return runs in which each partner stands for all of its comparisons, or for one."""
    rows = [
        list(pairs) if repeated else [(partner, 1) for partner, n in pairs for _ in range(n)]
        for _, _, pairs in given_runs
    ]
    partner = np.array([partner for row in rows for partner, _ in row], dtype)
    repeats = np.array([n for row in rows for _, n in row] if repeated else [], np.int32)
    unit, of_list = (np.array([run[k] for run in given_runs], np.int32) for k in (0, 1))
    return partners.Runs(
        unit, of_list, np.cumsum([len(row) for row in rows], dtype=np.int64), partner, repeats
    )


def totals_of(runs, weights, largest):
    totals = np.full((3, 64), -1, np.int64)
    row_sums.total_weights(runs, weights, largest, totals)
    return totals


@given(
    RUNS,
    st.booleans(),
    st.integers(1, 255),
    st.sampled_from([np.uint16, np.int32]),
    st.integers(0, 99),
)
def test_totals_are_sums_of_products(given_runs, repeated, largest, dtype, seed):
    weights = np.random.default_rng(seed).integers(0, largest + 1, (6, 64), dtype=np.uint8)
    wide = weights.astype(np.int64)
    expected = np.zeros((3, 64), np.int64)
    for unit, k, pairs in given_runs:
        for partner, n in pairs:
            for one in {0, k}:
                expected[one] += n * wide[unit] * wide[partner]
    assert (totals_of(runs_of(given_runs, repeated, dtype), weights, largest) == expected).all()


@pytest.mark.jit
@each("largest", [1, row_sums.LARGEST, row_sums.LARGEST + 1, 255])
@each("repeated", [False, True])
def test_long_runs_of_the_largest_weights_do_not_overflow(largest, repeated):
    weights = np.full((3, 64), largest, np.uint8)
    n = 30 * (2**16 // row_sums.LARGEST) + 7  # uint16 holds the sum of a thirtieth
    runs = runs_of([(0, 0, [(1, n), (2, 5), (1, 1)])], repeated)
    assert (totals_of(runs, weights, largest)[0] == (n + 6) * largest**2).all()


@pytest.mark.jit
def test_totals_pass_2_to_the_31_for_many_pairs_and_for_one_pair_often():
    runs = runs_of([(0, 1, [(0, 2**22 - 1), (1, 2**22 - 1), (2, 5)]), (0, 2, [(2, 2**30)])], True)
    totals = totals_of(runs, np.full((3, 64), 255, np.uint8), 255)
    assert (totals == np.array([[2**23 + 3 + 2**30], [2**23 + 3], [2**30]]) * 255**2).all()
