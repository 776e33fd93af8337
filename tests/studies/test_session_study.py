"""Intervals, bands, tests and verdicts hold where sessions are known, and a person's own sessions
change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from studies import session_study
from studies.bounds import least, least_coverage, most
from studies.processes import coverage, shares

pytestmark = pytest.mark.study
DATA_SETS = 300
WITH_REPLICATES = ("20 days that people share", "10 days that people share")


@pytest.mark.parametrize("design", session_study.DESIGNS, ids=lambda design: design.name)
def test_rates_hold_in_sessions(design: session_study.Design, data_sets: Callable[[int], int]):
    n = data_sets(DATA_SETS)
    held = coverage(partial(session_study.look, design), n, 1, session_study.CLOSED)
    wrong = held.pop("met wrongly")
    for name, share in held.items():
        if not design.is_told:
            if n >= 100:
                assert share < 0.9  # what the documentation warns of
        elif design.n_shared and design.n_shared <= 10:
            assert share >= least(0.9 if name == "FNMR" else 0.88, n)
        else:
            assert share >= least_coverage(n)
    if design.is_told:
        assert wrong <= most(0.07, n)


@pytest.mark.parametrize("name", WITH_REPLICATES)
def test_replicates_hold_in_sessions(name: str, data_sets: Callable[[int], int]):
    (design,) = (design for design in session_study.DESIGNS if design.name == name)
    n = data_sets(100)
    looks = partial(session_study.look_at_replicates, design)
    held = shares(session_study.REPLICATED, looks, n, 1)
    assert held.pop("test rejects") <= most(0.08, n)
    for share in held.values():
        assert share >= least(0.88, n)


@pytest.mark.parametrize("of_both", [False, True])
def test_systems_are_compared_in_sessions(of_both: bool, data_sets: Callable[[int], int]):
    design = session_study.Design("days", n_shared=10, of_both=of_both)
    n = data_sets(100)
    looks = partial(session_study.look_at_systems, design)
    different = coverage(looks, n, 1, session_study.COMPARED)
    assert different.pop("FNMR of worse") >= least(0.9, n)
    assert all(share <= most(0.07, n) for share in different.values())


@pytest.mark.parametrize("n_own", [2, 5])
def test_own_sessions_change_nothing(n_own: int, data_sets: Callable[[int], int]):
    design = session_study.Design("own", n_own=n_own)
    times = coverage(partial(session_study.wider, design), data_sets(40), 1)
    assert all(0.95 < ratio < 1.05 for ratio in times.values())


def test_rates_of_searches_hold_in_sessions(data_sets: Callable[[int], int]):
    n = data_sets(DATA_SETS)
    told, untold = (
        coverage(partial(session_study.look_at_searches, 12, is_told), n, 1)["FNIR"]
        for is_told in (True, False)
    )
    assert told >= least_coverage(n)
    if n >= 100:
        assert untold < 0.9


@pytest.mark.parametrize("n_days", [20, 10])
def test_systems_that_search_are_compared_in_sessions(n_days: int, data_sets: Callable[[int], int]):
    n = data_sets(100)
    looks = partial(session_study.look_at_compared_searches, n_days, True)
    different = coverage(looks, n, 1)
    for name, share in different.items():
        if name.startswith("worse"):
            assert share >= least(0.7, n)
        else:
            assert share <= most(0.06, n)
