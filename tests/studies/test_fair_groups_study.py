"""What the documentation says of tests of fair systems, on simulated data sets of them."""

from __future__ import annotations

import numpy as np
import pytest
from studies import group_test_study
from studies.bounds import most
from studies.group_test_study import FINDINGS, SETTINGS
from studies.populations import Floats

pytestmark = pytest.mark.xdist_group("fair groups")  # one process draws what several tests look at
ALLOWED, ON_AVERAGE = 0.07, 0.06  # the largest shares documented, but for chance
NAMES = (
    "8 groups of 40, 4 false matches each", "11 groups of 20 to 80, from 1 false match", "random pairs, 8 times",
    "strong subjects", "heavy-tailed subjects, 11 groups",
)  # fmt: skip
CHOSEN = [setting for setting in SETTINGS if setting.population.name in NAMES]


@pytest.fixture(scope="module")
def n_data_sets(data_sets) -> int:
    return data_sets(500)


@pytest.fixture(scope="module")
def alike(n_data_sets) -> list[Floats]:
    return group_test_study.study_of_fmr_tests(CHOSEN, n_data_sets, alike=True)


@pytest.mark.study
@pytest.mark.parametrize("decision", [name for name in FINDINGS if name != "deviating named"])
def test_groups_that_are_alike_are_rarely_found_to_differ(decision, alike, n_data_sets):
    shares = np.array([found[FINDINGS.index(decision)] for found in alike])
    assert shares.max() <= most(ALLOWED, n_data_sets)
    assert shares.mean() <= most(ON_AVERAGE, n_data_sets * shares.size)


@pytest.fixture(scope="module")
def unfair(n_data_sets) -> list[Floats]:
    return group_test_study.study_of_fmr_tests(CHOSEN, n_data_sets, alike=False)


@pytest.mark.study
def test_groups_like_most_are_rarely_named(unfair, n_data_sets):
    named = np.array([found[FINDINGS.index("others named")] for found in unfair])
    assert named.max() <= most(0.05, n_data_sets)


@pytest.mark.study
def test_the_deviance_finds_more_than_f(unfair, n_data_sets):
    deviance, f = (
        np.array([found[FINDINGS.index(name)] for found in unfair]) for name in ("deviance", "F")
    )
    assert (deviance >= 0.9 * f - 2 / np.sqrt(n_data_sets)).all()
    assert deviance.mean() > f.mean()


def test_the_table_has_a_row_for_each_setting():
    shares = [np.arange(len(FINDINGS)) / 100 for _ in SETTINGS]
    rows = group_test_study.fmr_table(
        SETTINGS, shares, [found / 2 for found in shares]
    ).splitlines()
    assert len(rows) == 2 + len(SETTINGS)
    assert (
        rows[2]
        == "| 3 groups of 60 | 0.01 | 0.0 | 1.0 | 4.0 | 5.0 | 6.0 | 7.0 | 0.0 | 2.0 | 1.5 | 1.0 |"
    )
