"""Searches of two months, the largest rate of all groups, and bands: how often what is said of them
is right where nothing is to be found."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.quiet import quietly
from studies.bounds import least_coverage, most

import fastfair as ff
from fastfair.errors import FastfairWarning

pytestmark = pytest.mark.study
N_GROUPS = 6


def strangers(rng: np.random.Generator, n_people: int, goats: float, decimals: int) -> ff.Searches:
    """Draw searches of people who are not enrolled; each searches once to five times."""
    people = np.repeat(np.arange(n_people), rng.integers(1, 6, n_people))
    scores = rng.normal(size=(people.size, 30))
    scores[:, 0] += goats * rng.normal(size=n_people)[people]
    group = np.array([f"g{k % N_GROUPS}" for k in range(n_people)])[people]
    return ff.Searches.from_matrix(
        np.round(scores, decimals), people + 1000, np.arange(30), group=group, candidates=3
    )


@pytest.mark.parametrize("goats", [0.0, 0.6])
@pytest.mark.parametrize("sizes", [(300, 300), (100, 500), (40, 120)])
def test_equal_months_are_not_called_different(sizes, goats, data_sets):
    n = data_sets(300)
    differ = 0
    for seed in range(n):
        rng = np.random.default_rng([seed, *sizes])
        months = [strangers(rng, size, goats, 1) for size in sizes]
        found = ff.compare_searches(*months, ff.at_threshold(3.2), paired=False, gallery="fixed")
        row = found.of("fpir")
        differ += row.pvalue <= 0.05
        assert (row.pvalue <= 0.05) == (not row.low <= 0 <= row.high)
    assert differ / n <= most(0.05, n)


@pytest.mark.parametrize("goats", [0.0, 0.6])
@pytest.mark.parametrize("threshold", [2.8, 3.4])
def test_limits_of_the_largest_rate_hold_whichever_group_it_is(threshold, goats, data_sets):
    n = data_sets(200)
    many = strangers(np.random.default_rng(99), 60_000, goats, 2)
    truth = float((many.best[:, 0] >= threshold).mean())
    rows = [
        ff.identify(
            strangers(np.random.default_rng([seed, 7]), 600, goats, 2),
            ff.at_threshold(threshold),
            gallery="fixed",
        ).largest[0]
        for seed in range(n)
    ]
    held = np.mean([row.low <= truth <= row.high for row in rows])
    assert held >= least_coverage(n)


@quietly(FastfairWarning)
def mates(seed: int, goats: float, n_people: int = 150) -> ff.Searches:
    """Draw two searches of each of some enrolled people."""
    rng = np.random.default_rng([seed, 11])
    people = np.repeat(np.arange(n_people), 2)
    scores = rng.normal(size=(people.size, n_people))
    scores[np.arange(people.size), people] += 2.2 + goats * rng.normal(size=n_people)[people]
    return ff.Searches.from_matrix(scores, people, np.arange(n_people))


@pytest.mark.parametrize("goats", [0.0, 0.8])
def test_bands_hold_the_whole_curve(goats, data_sets):
    n, points = data_sets(200), [ff.at_rank(k) for k in (1, 2, 3, 5, 8, 12, 20)]
    curves = [
        [ff.identify(mates(seed, goats), at).of("fnir").estimate for at in points]
        for seed in range(10_000, 10_040)
    ]
    truth, held = np.mean(curves, axis=0), 0
    for seed in range(n):
        found = ff.identify(mates(seed, goats), points, gallery="fixed", simultaneous=True)
        rows = [found.of("fnir", at=at) for at in points]
        held += all(row.low <= v <= row.high for row, v in zip(rows, truth, strict=True))
    assert held / n >= least_coverage(n)
