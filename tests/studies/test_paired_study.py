"""What the documentation says of how often `compare` errs, and of what it finds."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.stats import binom
from studies.bounds import least_coverage
from studies.paired_study import (
    EQUAL_GAPS,
    RANKED,
    UNEQUAL_GAPS,
    Count,
    study,
    study_of_closed_forms,
    study_of_ranks,
)
from studies.populations import BY_NAME

pytestmark = [pytest.mark.study, pytest.mark.jit]
DATA_SETS = 300
EQUAL = ("Student t scores", "random trials", "8-bit scores")


@pytest.fixture(scope="module")
def n(data_sets) -> int:
    return data_sets(DATA_SETS)


@functools.cache
def found_in(name: str, n: int) -> dict[tuple[str, str], Count]:
    """Compare the systems of some data sets at thresholds of 5 false matches and of 50, and at such
    FMRs."""
    return study(BY_NAME[name], n, [1e-2, 1e-3], processes=1)


def small_by_chance(count: Count) -> float:
    """Return how many of the contrasts may have a p-value of at most 5 %."""
    expected = 0.05 * count["contrasts"]
    return expected + 4 * expected**0.5


@pytest.mark.parametrize("name", EQUAL)
def test_equal_systems_are_told_apart_no_more_often_than_promised(name, n):
    """With some two false matches a group, bootstrap p-values did so in a third of data sets."""
    most = binom.ppf(0.9995, n, 0.05)
    found = found_in(name, n)
    assert ("fmr of groups", "threshold of FMR 0.001") in found
    for (kind, at), count in found.items():
        if kind.partition(" ")[0] in ("fmr", "fnmr", "fmr_matrix", "eer"):
            assert count["found"] <= most, (kind, at)
        if kind.startswith("measures"):  # of many measures, each keeps the level
            assert count["small"] <= small_by_chance(count) + most, (kind, at)


@pytest.mark.parametrize("name", EQUAL)
def test_intervals_of_differences_and_ratios_hold_the_truth(name, n):
    for (kind, at), count in found_in(name, n).items():
        for inside, given in (
            (count["inside"], count["given"]),
            (count["ratio_inside"], count["ratio_given"]),
        ):
            if given >= n:
                assert inside >= binom.ppf(0.0005, n, 0.93) / n * given, (kind, at)


def test_of_two_fair_systems_the_less_accurate_is_not_called_less_fair(n):
    """It is more often wrong, which the rates show, and its measures grow by chance, which verdicts
    must not."""
    found = found_in("unequal systems", n)
    for (kind, at), count in found.items():
        if kind.startswith("measures"):
            assert count["small"] <= small_by_chance(count), (kind, at)
    assert found["fnmr", "threshold of FMR 0.01"]["found"] > 0.95 * n
    assert found["fnmr of groups", "threshold of FMR 0.01"]["found"] > 0.95 * n
    assert found["fnmr", "FMR 0.01"]["found"] > 0.95 * n


@pytest.mark.parametrize("name", ["groups of 15 to 400", "8 groups", "Student t scores"])
def test_intervals_in_closed_form_are_as_wide_as_those_of_replicates_and_hold_the_truth(
    name, data_sets
):
    n = data_sets(200)
    found = study_of_closed_forms(BY_NAME[name], n)
    for kind in ("width of FMR", "width of FNMR", "width of differences"):
        assert np.mean(found[kind]) == pytest.approx(1, abs=0.05)
    for kind in ("FMR of groups", "FNMR of groups"):
        assert np.mean(found[kind]) >= least_coverage(n)


SEVERAL = {population.name: population for population in RANKED}


@functools.cache
def ranked_in(name: str, gaps: tuple[float, ...], n: int) -> dict[str, Count]:
    return study_of_ranks(SEVERAL[name], n, gaps)


@pytest.mark.parametrize("name", SEVERAL)
def test_equal_systems_among_several_are_told_apart_no_more_often_than_promised(name, data_sets):
    n = data_sets(100)
    for kind, count in ranked_in(name, EQUAL_GAPS, n).items():
        assert count["named"] <= binom.ppf(0.9995, n, 0.05), kind
        assert count["inside"] == n - count["named"], kind


@pytest.mark.parametrize("name", SEVERAL)
def test_all_ranks_hold_the_true_ones_and_most_differences_are_found(name, data_sets):
    n = data_sets(100)
    found = ranked_in(name, UNEQUAL_GAPS, n)
    for kind, count in found.items():
        assert count["inside"] >= binom.ppf(0.0005, n, 0.95), kind
        assert count["named"] <= binom.ppf(0.9995, n, 0.05), kind
    assert found["FNMR"]["found"] > 0.5 * found["FNMR"]["pairs"]
    assert found["FNMR"]["width"] < 3 * found["FNMR"]["systems"]
