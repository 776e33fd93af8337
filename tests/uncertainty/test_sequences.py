"""Confidence sequences: limits of slow loops, fair bets, and how often they are wrong at any look."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

from fastfair.uncertainty.sequences import _SHARES_ABOVE, _SHARES_BELOW, sequence_limits

units = st.lists(
    st.integers(1, 6).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))), min_size=1
)


def capital(people: list[tuple[int, int]], most: int, rate: float, *, above: bool) -> float:
    """Bet on one person after another, with a part of the capital for each share."""
    shares = _SHARES_BELOW if above else _SHARES_ABOVE
    total = 0.0
    for share in shares:
        part = 1 / len(shares)
        for errors, comparisons in people:
            if above:
                part *= 1 + share * (errors - rate * comparisons) / (rate * most)
            else:
                part *= 1 + share * (rate * comparisons - errors) / most
        total += part
    return total


@given(units, st.sampled_from([0.05, 0.01]), st.integers(6, 9))
def test_limits_are_where_the_capital_of_a_loop_reaches_its_mark(people, tail, most):
    errors, comparisons = np.array(people).T
    low, high = sequence_limits(errors, comparisons, most, tail)
    assert 0 <= low <= errors.sum() / comparisons.sum() <= high <= 1
    for end, above in ((low, True), (high, False)):
        if 1e-14 < end < 1 - 1e-14:
            inside, outside = (end * (1 + sign * 1e-6) for sign in ((1, -1) if above else (-1, 1)))
            assert capital(people, most, inside, above=above) < 1 / tail
            assert outside > 1 or capital(people, most, outside, above=above) > 1 / tail
    if not errors.any():
        assert low == 0
    if high == 1:
        assert capital(people, most, 1.0, above=False) <= 1 / tail


@each("rate", [0.001, 0.05, 0.5, 0.97])
def test_bets_against_the_true_rate_are_fair(rate):
    """With attempts of any number, of which each fails all or each on its own: the mean is 1."""
    most = 4
    laws = [
        {(errors, m): math.comb(m, errors) * rate**errors * (1 - rate) ** (m - errors) / most
         for m in range(1, most + 1) for errors in range(m + 1)},
        {(0, 1): 0.5, (most, most): rate * 2.5 / most * 0.5 / 0.5,
         (0, most): 0.5 - rate * 2.5 / most},
    ]  # fmt: skip
    for law in laws:
        if min(law.values()) < 0:
            continue
        total = sum(p * e for (e, _), p in law.items()) / sum(p * m for (_, m), p in law.items())
        for above in (False, True):
            mean = sum(p * capital([unit], most, total, above=above) for unit, p in law.items())
            assert mean == pytest.approx(1)


def test_capital_is_never_below_nothing():
    for e, rate in itertools.product((0, 4), (1e-9, 0.5, 1.0)):
        for above in (False, True):
            assert capital([(e, 4)], 4, rate, above=above) > 0


def test_order_does_not_matter_and_more_data_of_the_same_narrow():
    rng = np.random.default_rng(0)
    errors = rng.binomial(4, 0.05, 500)
    comparisons = np.full(500, 4)
    order = rng.permutation(500)
    first = sequence_limits(errors, comparisons, 4, 0.05)
    assert sequence_limits(errors[order], comparisons[order], 4, 0.05) == pytest.approx(
        first, rel=1e-9
    )
    low, high = sequence_limits(np.tile(errors, 4), np.tile(comparisons, 4), 4, 0.05)
    assert first[0] < low < high < first[1]
    assert all(map(math.isnan, sequence_limits(errors[:0], comparisons[:0], 4, 0.05)))
    alone = sequence_limits(np.zeros(5, int), np.ones(5, int), 1, 0.05)
    assert alone[0] == 0
    assert alone[1] > 0.3


@pytest.mark.slow
@pytest.mark.study
def test_sequences_rarely_leave_out_the_rate_at_any_look(data_sets: Callable[[int], int]):
    """Of 300 data sets, looked at after every 50 of 1,000 people, a tenth of whom fail often."""
    rng = np.random.default_rng(1)
    n, tail, wrong = data_sets(300), 0.05, np.zeros(2)
    for _ in range(n):
        attempts = rng.integers(1, 6, 1000)
        errors = rng.binomial(attempts, np.where(rng.random(1000) < 0.1, 0.32, 0.02))
        limits = np.array(
            [sequence_limits(errors[:k], attempts[:k], 5, tail) for k in range(50, 1001, 50)]
        )
        wrong += [(limits[:, 0] > 0.05).any(), (limits[:, 1] < 0.05).any()]
    assert (wrong / n <= tail).all()
