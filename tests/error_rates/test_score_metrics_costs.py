"""Costs as whole numbers, against costs in fifty digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import exact_costs as slow

import fastfair as ff
from fastfair.data.comparisons import keys_of
from fastfair.error_rates.score_metrics import exact_costs

SCORES = st.one_of(
    st.floats(-40, 40, width=32),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([-700.0, 0.0, 700.0, 1e6, -1e6]),
)
LISTS = st.lists(SCORES, min_size=1, max_size=20)


def comparisons_of(mated, nonmated, dtype=np.float64, kind="similarity"):
    scores = np.array([*mated, *nonmated], dtype)
    return ff.Comparisons(
        -scores if kind == "distance" else scores,
        np.arange(scores.size) < len(mated),
        score_kind=kind,
    )


@given(
    LISTS,
    LISTS,
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["similarity", "distance"]),
)
@example([1e6, 3.0], [2.0, -1e6], np.float64, "similarity")
def test_cllr_is_the_mean_cost(mated, nonmated, dtype, kind):
    expected = sum(
        slow.mean_cost(side, of, [1] * len(side)) for side, of in ((mated, True), (nonmated, False))
    )
    found = ff.cllr(comparisons_of(mated, nonmated, dtype, kind))
    assert found == pytest.approx(expected / (2 * math.log(2)), rel=1e-13)


@given(LISTS, st.booleans())
def test_costs_are_rounded_by_less_than_a_unit_and_the_largest_has_62_bits(scores, mated):
    c = comparisons_of(scores, scores)
    exact = exact_costs(keys_of(c))[0 if mated else 1]
    found = exact.of(c.mated.keys)
    for cost, score in zip(found.tolist(), np.sort(scores).tolist(), strict=True):
        true = float(slow.cost(score, mated))
        assert math.ldexp(cost, exact.exponent) == pytest.approx(
            true, rel=1e-15, abs=math.ldexp(1, exact.exponent)
        )
    assert found.max() == 0 or 2**61 <= found.max() <= 2**62


@given(LISTS, LISTS, st.randoms(use_true_random=False), st.sampled_from([np.float32, np.float64]))
def test_order_changes_no_bit(mated, nonmated, random, dtype):
    rows = [(score, True) for score in mated] + [(score, False) for score in nonmated]
    given_order = ff.cllr(comparisons_of(mated, nonmated, dtype))
    random.shuffle(rows)
    scores, flags = zip(*rows, strict=True)
    assert ff.cllr(ff.Comparisons(np.array(scores, dtype), flags)) == given_order


@pytest.mark.parametrize(
    ("worst", "expected"),
    [(-1e6, 1e6 / 4), (-1e150, 1e150 / 4), (1000.0, 0.0)],
)
def test_huge_scores_neither_overflow_nor_vanish(worst, expected):
    # Of two mated comparisons one costs nothing, and neither does any non-mated one.
    found = ff.cllr(comparisons_of([worst, 2000.0], [-2000.0, -1e150]))
    assert found == pytest.approx(expected / math.log(2), rel=1e-15)


def test_small_costs_beside_huge_ones_are_counted():
    n = 1000
    found = ff.cllr(comparisons_of([-1e6] + [3.0] * n, [-2000.0]))
    assert found * 2 * math.log(2) * (n + 1) - 1e6 == pytest.approx(
        n * float(slow.cost(3.0, True)), rel=1e-9
    )
