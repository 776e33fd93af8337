"""Intervals that hold in all groups together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastfair as ff
from fastfair.uncertainty.interval_maker import families, level_of_groups

AT = ff.at_threshold(0.5)


def slow_level(
    replicates: list[list[float]], estimates: list[float], level: float, n_others: int
) -> float:
    """The least of many levels whose normal intervals hold enough replicates of all groups, by
    loops."""
    errors = [stats.tstd(row) for row in replicates]
    most = 1 - (1 - level) / (len(replicates) + n_others)
    for tried in np.linspace(level, most, 2001):
        reach = stats.norm.ppf((1 + tried) / 2)
        inside = 0
        for r in range(len(replicates[0])):
            inside += all(
                abs(row[r] - x) <= reach * error
                for row, x, error in zip(replicates, estimates, errors, strict=True)
            )
        if inside / len(replicates[0]) * tried**n_others >= level:
            return float(tried)
    return most


@given(
    seed=st.integers(0, 1000),
    groups=st.integers(1, 5),
    n_others=st.integers(0, 3),
    level=st.sampled_from([0.5, 0.9]),
)
def test_the_level_is_that_of_the_oracle(seed, groups, n_others, level):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(groups, 20)) + rng.normal(size=20) * rng.integers(0, 3)
    estimates = drawn.mean(axis=1) + 0.1
    want = slow_level(drawn.tolist(), estimates.tolist(), level, n_others)
    step = (1 - level) / 2000
    assert level_of_groups(drawn, estimates, level, n_others) == pytest.approx(
        want, abs=1.01 * step
    )


def test_independent_groups_have_the_level_of_sidak_and_equal_ones_that_asked():
    drawn = np.random.default_rng(0).normal(size=(8, 40_000))
    assert level_of_groups(drawn, np.zeros(8), 0.95) == pytest.approx(0.95 ** (1 / 8), abs=8e-4)
    assert level_of_groups(drawn[:4], np.zeros(4), 0.95, 4) == pytest.approx(
        0.95 ** (1 / 8), abs=8e-4
    )
    assert level_of_groups(np.repeat(drawn[:1], 8, axis=0), np.zeros(8), 0.95) == pytest.approx(
        0.95, abs=4e-3
    )
    assert level_of_groups(np.empty((0, 100)), np.empty(0), 0.95, 3) == pytest.approx(
        0.95 ** (1 / 3)
    )


def groups_of(n_groups: int, errors: tuple[int, ...], n: int = 30) -> ff.Comparisons:
    """Each group has so many false non-matches, and every tenth non-mated comparison is a false
    match."""
    subject = np.arange(n_groups * n)
    group = subject // n
    failed = subject % n < np.array(errors)[group]
    neighbour = group * n + (subject + 1) % n
    scores = np.concatenate((np.where(failed, 0.2, 0.8), np.where(subject % 10 == 3, 0.7, 0.1)))
    reference, probe = np.tile(subject, 2), np.concatenate((subject, neighbour))
    own = np.tile(np.char.add("g", group.astype(str)), 2)
    return ff.Comparisons(scores, np.repeat([1, 0], subject.size), reference, probe, own, own)


@pytest.mark.jit
@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_only_intervals_of_groups_get_wider(method):
    c = groups_of(4, (3, 5, 0, 9))
    ev = ff.evaluate(c, AT, settings=ff.EvaluationSettings(method=method), n_resamples=400, rng=0)
    wide = ev.with_intervals(simultaneous=True)
    assert wide.settings["simultaneous"] is True
    assert ev.settings["simultaneous"] is False
    grown = set()
    for before, after in zip(ev.quantities, wide.quantities, strict=True):
        assert (after.estimate, after.note, after.method) == (
            before.estimate,
            before.note,
            before.method,
        )
        if before.group is None or before.is_held or before.low is None or math.isnan(before.low):
            assert (after.low, after.high) == pytest.approx((before.low, before.high), nan_ok=True)
            continue
        assert after.low <= before.low
        assert after.high >= before.high
        if after.high - after.low > before.high - before.low:
            grown.add((after.name, after.group))
    assert {("fnmr", group) for group in c.groups} <= grown
    assert {("fmr", group) for group in c.groups} <= grown
    asked = ff.evaluate(
        c,
        AT,
        settings=ff.EvaluationSettings(method=method, simultaneous=True),
        n_resamples=400,
        rng=0,
    )
    ends = [np.array([(q.low, q.high) for q in found.quantities], float) for found in (asked, wide)]
    assert np.array_equal(*ends, equal_nan=True)


def test_a_single_group_and_held_rates_are_no_family():
    c = groups_of(2, (3, 5))
    ev = ff.evaluate(c, ff.at_fnmr(0.1), n_resamples=0)
    names = {ev.quantities[rows[0]].name for rows in families(ev.quantities)}
    assert {"fmr", "fnmr", "eer"} <= names
    assert "threshold" not in names
    assert not list(
        families(ff.evaluate(groups_of(1, (3,)), AT, n_resamples=0, measures=[]).quantities)
    )
