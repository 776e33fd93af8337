"""No function accuses a fair system more often than its level allows, at default arguments."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from studies.populations import BY_NAME, Population

import fastfair as ff
from fastfair.measures import MEASURES, Estimand

pytestmark = pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # studies count what is told
N = 20
LEVEL = 0.05
AT = ff.at_fmr(1e-2)
CHOSEN = ("11 groups of 20 to 80", "1 to 100 attempts")


def measure_of(name: str) -> Estimand | None:
    return MEASURES.get(name.partition("(")[0].removesuffix("_mean").removesuffix("_std"))


def accusations(population: Population, seed: int) -> set[str]:
    """Name all that tells groups of one fair system apart, or the fairness of two, in one data
    set."""
    first, second = population.draw_two(np.random.default_rng([seed, 5]))
    found = set()
    for name, test in (
        ("fnmr_test", ff.fnmr_test(first, AT, rng=seed)),
        ("fmr_test", ff.fmr_test(first, AT, rng=seed)),
    ):
        found |= {name} if test.pvalue <= LEVEL else set()
        found |= (
            {f"a group named by {name}"} if (test.group_pvalue_adjusted <= LEVEL).any() else set()
        )
    found |= {"margin_of_error"} if ff.margin_of_error(first, AT, rng=seed).outside else set()
    for quantity in ff.evaluate(first, AT, rng=seed).quantities:
        measure = measure_of(quantity.name)
        if measure is not None and quantity.group is None and np.isfinite(quantity.low):
            is_unfair = not quantity.low - 1e-9 <= measure.fair_value <= quantity.high + 1e-9
            found |= {f"interval of {quantity.name}"} if is_unfair else set()
    for rate in ("fmr", "fnmr"):
        band = ff.fairness_band(first, "max_geomean_ratio", rate, [1e-2, 3e-2, 1e-1], rng=seed)
        found |= {f"band of {rate}"} if (band.band_low > 1 + 1e-9).any() else set()
        found |= {f"pointwise interval of {rate}"} if band.low[-1] > 1 + 1e-9 else set()
    for contrast in ff.compare(first, second, AT, rng=seed).contrasts:
        if contrast.verdict in ("first", "second"):
            found.add(f"compare: {contrast.name}{'' if contrast.group is None else ' of groups'}")
    return found


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("name", CHOSEN)
def test_a_fair_system_is_not_accused(name):
    counted: Counter[str] = Counter()
    for seed in range(N):
        counted.update(accusations(BY_NAME[name], seed))
    most = binom.ppf(0.9999, N, LEVEL)
    assert {what: n for what, n in counted.items() if n > most} == {}


@pytest.mark.jit
def test_an_unfair_system_is_accused():
    """So that the test of fair ones could fail."""
    population = replace(BY_NAME["1 to 100 attempts"], attempts=(10, 10), gaps=(0.0, 0.0, -1.2))
    population = replace(population, shifts=(0.0, 0.0, 0.8))
    found = accusations(population, 0)
    assert {
        "fnmr_test",
        "fmr_test",
        "margin_of_error",
        "interval of max_geomean_ratio(fmr)",
        "band of fmr",
    } <= found
