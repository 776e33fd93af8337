"""The rates that populations state are those of what they draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from studies.populations import FAIR, Population

import fastfair as ff


@pytest.mark.slow
@pytest.mark.parametrize("population", FAIR, ids=lambda population: population.name)
def test_rates_are_those_of_what_is_drawn(population: Population):
    population = population.unfair(1.5, population.threshold(0.02))
    threshold = population.threshold(0.02)
    rng = np.random.default_rng(1)
    drawn = [
        [ff.rates(c, ff.at_threshold(threshold)) for c in population.draw_two(rng)]
        for _ in range(40)
    ]
    for system in (0, 1):
        for name, true in (
            ("fmr", population.fmr(threshold)),
            ("fnmr", population.fnmr(threshold, bool(system))),
        ):
            found = np.array([getattr(pair[system], f"group_{name}") for pair in drawn])
            error = found.std(axis=0) / np.sqrt(len(drawn))
            np.testing.assert_array_less(np.abs(found.mean(axis=0) - true), 4.5 * error + 1e-4)


def test_an_unfair_group_errs_as_often_as_asked():
    population = Population("fair", step=0.0)
    found = population.unfair(2.0, 2.0, groups=2).fmr(2.0)
    np.testing.assert_allclose(found[1:] / found[0], 2.0)
    assert replace(population, gaps=(0.0, 0.0, -0.5)).fnmr(2.0)[2] > population.fnmr(2.0)[2]
