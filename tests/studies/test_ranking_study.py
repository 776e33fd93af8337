"""What the documentation says of how often `compare` of several systems errs, and of what it finds."""

from __future__ import annotations

import functools

import pytest
from scipy.stats import binom
from studies.ranking_study import EQUAL, POPULATIONS, UNEQUAL, Count, study

pytestmark = [pytest.mark.study, pytest.mark.jit]
BY_NAME = {population.name: population for population in POPULATIONS}


@functools.cache
def found_in(name: str, gaps: tuple[float, ...], n: int) -> dict[str, Count]:
    return study(BY_NAME[name], n, gaps)


@pytest.mark.parametrize("name", BY_NAME)
def test_equal_systems_are_told_apart_no_more_often_than_promised(name, data_sets):
    n = data_sets(100)
    for kind, count in found_in(name, EQUAL, n).items():
        assert count["named"] <= binom.ppf(0.9995, n, 0.05), kind
        assert count["inside"] == n - count["named"], kind


@pytest.mark.parametrize("name", BY_NAME)
def test_all_ranks_hold_the_true_ones_and_most_differences_are_found(name, data_sets):
    n = data_sets(100)
    found = found_in(name, UNEQUAL, n)
    for kind, count in found.items():
        assert count["inside"] >= binom.ppf(0.0005, n, 0.95), kind
        assert count["named"] <= binom.ppf(0.9995, n, 0.05), kind
    assert found["FNMR"]["found"] > 0.5 * found["FNMR"]["pairs"]
    assert found["FNMR"]["width"] < 3 * found["FNMR"]["systems"]
