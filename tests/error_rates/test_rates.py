"""Rates overall, per group and group by group, with the counts behind them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from oracles import naive
from oracles.strategies import TIED, from_rows, grouped

import fastfair as ff
from fastfair.error_rates.rates import rates_at_key


def found_at(c: ff.Comparisons, threshold: float):
    """Rates without the warnings for empty groups, which another test looks at."""
    return rates_at_key(c, ff.at_threshold(threshold), c.to_key(threshold))


def same(found, expected) -> None:
    assert np.array_equal(np.asarray(found, float), np.asarray(expected, float), equal_nan=True)


@given(grouped(), TIED)
def test_rates_are_the_oracles(rows, threshold):
    found = found_at(from_rows(rows), threshold)
    assert (found.fmr, found.fnmr) == naive.overall_rates(rows, threshold)
    expected = naive.group_rates(rows, threshold)
    assert list(found.groups) == sorted(expected)
    same(found.group_fmr, [expected[g][0] for g in found.groups])
    same(found.group_fnmr, [expected[g][1] for g in found.groups])
    same(found.fmr_matrix, naive.fmr_matrix(rows, threshold, list(found.groups)))


@given(grouped(), TIED)
def test_counts_are_the_oracles(rows, threshold):
    counts = found_at(from_rows(rows, np.float32), threshold).counts
    names = (
        "mated",
        "nonmated",
        "false_matches",
        "false_nonmatches",
        "mated_subjects",
        "nonmated_subjects",
    )
    assert {name: getattr(counts, name) for name in names} == naive.counts(rows, threshold)
    groups = sorted({r.reference_group for r in rows} | {r.probe_group for r in rows})
    for k, group in enumerate(groups):
        assert {name: getattr(counts, f"group_{name}")[k] for name in names} == naive.group_counts(
            rows, threshold, group
        )
    assert counts.matrix_subjects.tolist() == naive.matrix_subjects(rows, groups)


def test_a_group_without_comparisons_is_nan_and_named():
    c = ff.Comparisons([0.9, 0.8, 0.1, 0.2], [1, 1, 0, 0], reference_group=list("abaa"))
    with pytest.warns(ff.errors.EmptyGroupWarning, match="non-mated comparisons within 'b'"):
        found = ff.rates(c, ff.at_threshold(0.5))
    same(found.group_fmr, [0, np.nan])
    same(found.group_fnmr, [0, 0])
    with pytest.warns(ff.errors.EmptyGroupWarning, match="no mated comparisons within 'b'"):
        ff.rates(
            ff.Comparisons([0.9, 0.8, 0.1, 0.2], [1, 1, 0, 0], reference_group=list("aaab")),
            ff.at_eer(),
        )


def test_without_groups_there_are_only_overall_rates():
    found = ff.rates(ff.Comparisons([0.9, 0.1], [1, 0]), ff.at_threshold(0.5))
    assert found.groups == ()
    assert found.group_fmr.shape == found.group_fnmr.shape == (0,)
    assert found.fmr_matrix.shape == (0, 0)
    assert found.counts.mated_subjects is None


def test_cross_group_comparisons_count_overall_and_in_the_matrix_alone():
    c = ff.Comparisons(
        [0.9, 0.9, 0.8, 0.2, 0.3],
        [1, 1, 0, 0, 0],
        reference=[1, 2, 1, 1, 2],
        probe=[1, 2, 2, 3, 4],
        reference_group=["a", "b", "a", "a", "b"],
        probe_group=["a", "b", "b", "a", "b"],
    )
    found = ff.rates(c, ff.at_threshold(0.5))
    assert found.fmr == pytest.approx(1 / 3)
    same(found.group_fmr, [0, 0])
    same(found.fmr_matrix, [[0, 1], [np.nan, 0]])
