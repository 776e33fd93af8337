"""Calibrated systems are not called miscalibrated, equal groups not different, and intervals of
costs hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from oracles import calibration as slow
from studies.bounds import error
from studies.calibration_study import APPLICATIONS, LOOKS, NORMAL, ratio, study, true_costs

from fastfair.error_rates.score_metrics import mean_cost

POPULATIONS = {population.name: population for population in NORMAL}


@pytest.mark.parametrize("name", ["groups of 60", "rounded scores"])
def test_true_costs_are_those_of_many_scores(name: str):
    population = POPULATIONS[name]
    rng = np.random.default_rng(0)
    nonmated, mated = (mean + rng.normal(size=200_000) for mean in (0, population.mean))
    if population.step:
        nonmated, mated = (
            np.floor(side / population.step) * population.step for side in (nonmated, mated)
        )
    sides = [np.sort(ratio(population, side)) + 2.0 for side in (mated, nonmated)]
    for application in APPLICATIONS[1:]:
        threshold = slow.bayes_threshold(application.p_target, 1, 1)
        fnmr = np.searchsorted(sides[0], threshold) / mated.size
        fmr = 1 - np.searchsorted(sides[1], threshold) / nonmated.size
        cost = mean_cost(replace(application, normalize=True), fnmr, fmr)
        actual, minimum = true_costs(population, application, 2.0)
        assert actual == pytest.approx(cost, rel=0.05)
        assert minimum < actual


@pytest.mark.study
@pytest.mark.parametrize("name", ["groups of 60", "strong subjects", "random trials"])
@pytest.mark.parametrize("application", APPLICATIONS, ids=str)
def test_nothing_is_found_where_nothing_is(name: str, application, data_sets: Callable[[int], int]):
    n = data_sets(200)
    calibrated = study(POPULATIONS[name], application, 0.0, n)
    assert set(calibrated) == set(LOOKS)
    for look in ("called, all", "called, any group", "costs differ", "miscalibration differs"):
        assert calibrated[look] <= 0.05 + error(0.05, n, 3), look
    for look in (
        "actual DCF, all",
        "actual DCF, groups",
        "miscalibration, all",
        "miscalibration, groups",
    ):
        assert calibrated[look] >= 0.95 - error(0.95, n, 3), look


@pytest.mark.study
def test_what_is_there_is_found(data_sets: Callable[[int], int]):
    n = data_sets(200)
    found = study(POPULATIONS["groups of 60"], APPLICATIONS[2], 2.0, n)
    assert found["called, all"] >= 0.95
    assert found["called, any group"] >= 0.5 - error(0.5, n, 3)
    assert found["miscalibration, all"] >= 0.95 - error(0.95, n, 3)
    assert found["costs differ"] <= 0.05 + error(0.05, n, 3)
