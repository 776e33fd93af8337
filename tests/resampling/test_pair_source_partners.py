"""Comparisons grouped by unit and list: their totals, and sums over their pairs, against lists of
pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from fastfair.kernels import partners, row_sums
from hypothesis import given
from hypothesis import strategies as st
from oracles import pair_sums as slow

import fastfair as ff
from fastfair.resampling.error_lists import make_lists
from fastfair.resampling.pair_source import ListedSide, SortedComparisons, group_comparisons
from fastfair.resampling.units import Units

LISTS = np.array(
    [[1, 3], [0, 2]], np.int32
)  # comparisons of a reference of group 1 and a probe of group 0 are in none


def comparisons_of(seed, n, n_subjects, repeated):
    rng = np.random.default_rng(seed)
    # Two systems may put a subject in different groups, and so does a mistake: a pair may be in
    # several lists.
    reference, probe = rng.integers(0, n_subjects, (2, n))
    probe = np.where(reference == probe, (probe + 1) % n_subjects, probe)
    if repeated:
        reference, probe = (
            np.repeat(column[: -(-n // 40)], 40)[:n] for column in (reference, probe)
        )
    groups = rng.integers(0, 2, (2, n))
    columns = [
        np.append(column, (0, 1)) for column in (reference, probe, *groups)
    ]  # a mated comparison of each group
    return ff.Comparisons(rng.integers(0, 9, n + 2).astype(float), np.arange(n + 2) >= n, *columns)


def lists_of(c, unit="subject", n_threads=1):
    kept = SortedComparisons(c, False, Units.of_comparisons(c, unit), LISTS)
    return make_lists(
        kept.listed, ListedSide(kept.listed, kept.sizes, kept.units, n_threads), False
    )


def in_lists(lists):
    """Return the pairs of rows of each list, errors first."""
    return [
        list(zip(lists.a[i:j].tolist(), lists.b[i:j].tolist(), strict=True))
        for i, j in zip(lists.start, lists.end, strict=True)
    ]


@given(
    st.integers(0, 10**6),
    st.integers(1, 150),
    st.integers(2, 9),
    st.booleans(),
    st.sampled_from([1, 3, 40]),
)
def test_totals_and_sums_are_those_of_lists_of_pairs(seed, n, n_subjects, repeated, largest):
    lists = lists_of(comparisons_of(seed, n, n_subjects, repeated))
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, largest + 1, (lists.source.stratum.size, 64), dtype=np.uint8)
    totals = np.full((lists.end.size, 64), -1, np.int64)
    lists.source.weigh(0, weights, int(max(1, weights.max())), totals)
    pairs, wide = in_lists(lists), weights.astype(np.int64)
    for total, of_list in zip(totals, pairs, strict=True):
        assert (total == sum((wide[i] * wide[j] for i, j in of_list), np.zeros(64, np.int64))).all()
    stops = rng.integers(0, lists.sizes + 1, (3, lists.end.size))
    variances, sums = lists.variances(stops)
    varies = (lists.source.stratum_size[lists.source.stratum] > 1).tolist()
    for point, k in itertools.product(range(3), range(lists.end.size)):
        assert sums[point, k] == pytest.approx(
            slow.of_list(pairs[k], int(stops[point, k]), varies), rel=1e-9, abs=1e-9
        )
    assert lists.source.two_way == any(varies[i] and varies[j] for i, j in pairs[0])
    for k, of_list in enumerate(pairs):
        counts = np.bincount(np.array(of_list, int).ravel(), minlength=lists.source.stratum.size)
        assert np.array_equal(lists.source.unit_counts(k), counts)
        alone = lists.variance(k, int(stops[0, k]), from_the_end=False)
        assert alone[0] == pytest.approx(variances[0, k], rel=1e-12)
        assert alone[1] == pytest.approx(sums[0, k], rel=1e-12)


@pytest.mark.parametrize("repeated", [False, True])
def test_partners_are_kept_once_where_they_are_repeated_often(repeated):
    lists = lists_of(comparisons_of(1, 900, 500, repeated))
    runs = lists.source.grouped.runs
    assert (runs.repeats.size > 0) == repeated
    assert (runs.repeats.sum() if repeated else runs.partner.size) == 900
    assert runs.partner.dtype == np.uint16


@pytest.mark.slow
@pytest.mark.jit
def test_more_units_than_16_bits_can_number_are_kept_apart():
    n = 70_000
    c = ff.Comparisons(np.arange(2.0 * n), np.arange(2 * n) < n)
    source = SortedComparisons(c, False, Units.of_comparisons(c, "comparison"), None)
    found = group_comparisons(source.listed, source.sizes, source.units.n_rows, None)
    weights = np.arange(64, dtype=np.uint8) * np.ones((2 * n + 1, 1), np.uint8)
    weights[-1] = 1
    totals = np.empty((1, 64), np.int64)
    row_sums.total_weights(found.runs, weights, 63, totals)
    assert (totals == n * np.arange(64)).all()
    assert not partners.any_varies(found.runs, np.append(np.ones(2 * n, bool), False))
