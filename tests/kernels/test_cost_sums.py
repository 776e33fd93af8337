"""Sums of costs over partners of units, against whole numbers of Python."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import cost_sums, partners
from hypothesis import given
from hypothesis import strategies as st

# Smaller unit, list, larger units with what each of their comparisons costs.
COSTS = st.integers(0, 2**62) | st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**62])
RUN = st.tuples(
    st.integers(0, 3),
    st.integers(0, 3),
    st.lists(st.tuples(st.integers(0, 5), COSTS), min_size=1, max_size=12),
)
RUNS = st.lists(RUN, max_size=6)


def runs_of(given_runs):
    partner = np.array([partner for _, _, row in given_runs for partner, _ in row], np.uint16)
    costs = np.array([cost for _, _, row in given_runs for _, cost in row], np.int64)
    words = np.stack((costs & (2**32 - 1), costs >> 32), axis=1).astype(np.uint32)
    unit, of_list = (np.array([run[k] for run in given_runs], np.int32) for k in (0, 1))
    stop = np.cumsum([len(row) for _, _, row in given_runs], dtype=np.int64)
    return partners.Runs(unit, of_list, stop, partner, np.empty(0, np.int32)), words


def merged(runs, words):
    n = int(partners.count_pairs(runs, runs.stop.size, 6))
    kept = runs._replace(
        stop=np.empty_like(runs.stop), partner=np.empty(n, np.uint16), repeats=np.empty(n, np.int32)
    )
    partners.merge_repeated(runs, 6, kept)
    of_pairs = np.empty((n, 3), np.uint32)
    cost_sums.merge_costs(runs, words, 6, kept, of_pairs)
    return kept, of_pairs


def number(words):
    return [sum(int(word) << (32 * k) for k, word in enumerate(column)) for column in words.T]


def in_lists(given_runs, n_lists):
    """Return the units and the cost of each comparison of each list."""
    found = [[] for _ in range(n_lists)]
    for unit, k, row in given_runs:
        for of_list in {0, k} if k < n_lists else {0}:
            found[of_list] += [(unit, partner, cost) for partner, cost in row]
    return found


@pytest.mark.parametrize("together", [False, True])
@given(RUNS, st.integers(1, 3), st.sampled_from([1, 5, 2**24]), st.integers(0, 99))
def test_totals_are_sums_of_products(together, given_runs, n_lists, most_rows, seed):
    runs, words = merged(*runs_of(given_runs)) if together else runs_of(given_runs)
    weights = np.random.default_rng(seed).integers(0, 256, (6, 64), dtype=np.uint8)
    totals, plain = np.full((n_lists, 4, 64), -1, np.int64), np.full((4, n_lists), -1, np.int64)
    cost_sums.total_costs(runs, words, weights, totals)
    cost_sums.sum_costs(runs, words, plain)
    for k, of_list in enumerate(in_lists(given_runs, n_lists)):
        for r in (0, 63):
            w = weights[:, r].tolist()
            assert number(totals[k])[r] == sum(w[i] * w[j] * cost for i, j, cost in of_list)
        assert number(plain)[k] == sum(cost for *_, cost in of_list)
    assert (totals >= 0).all()
    assert (totals[:, :3] < 2**32).all()


@pytest.mark.jit
def test_more_rows_than_words_hold_at_once_are_added_apart():
    n = 40_000
    given_runs = [(0, 1, [(1, 2**62)] * n)]
    runs, words = runs_of(given_runs)
    weights, totals = np.full((2, 64), 255, np.uint8), np.empty((2, 4, 64), np.int64)
    cost_sums.total_costs(runs, words, weights, totals)
    assert number(totals[1]) == number(totals[0]) == [n * 255**2 * 2**62] * 64
