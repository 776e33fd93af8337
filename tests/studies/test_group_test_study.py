"""What the documentation says of errors and power of tests across groups, on simulated data
sets."""

from __future__ import annotations

import numpy as np
import pytest
from studies import bounds, group_test_study
from studies.group_test_study import (
    ALPHA,
    CENTERS,
    DECISIONS,
    EQUAL,
    FOR_POWER,
    HARD,
    MARGINS,
    QUANTILES,
    SPECIAL,
    STATISTICS,
    Scenario,
    Shares,
)

import fastfair as ff

NULLS = (
    *(
        group_test_study.alike(*setting)
        for setting in (
            (3, 100, 2, 0.025, 0.25), (10, 100, 2, 0.025, 0.05), (3, 100, 10, 0.025, 0.05), (3, 100, 10, 0.1, 0.05),
            (3, 400, 2, 0.1, 0.25), (10, 400, 2, 0.1, 0.05),
        )
    ),
    *(scenario for scenario in SPECIAL if scenario.n_groups == 3),
)  # fmt: skip
SMALL = "one of 20 subjects"  # among groups of 200
UNLIKE = "one of correlation 0.6"  # among groups of 0.05, where the tests draw with one correlation
EXCESS = {
    **dict.fromkeys([(SMALL, 0.025, name) for name in MARGINS], 0.17),
    **dict.fromkeys(
        [(SMALL, 0.1, name) for name in ("family-wise, data", "family-wise, replicate")], 0.09
    ),
    **dict.fromkeys([(SMALL, 0.1, name) for name in ("paper, data", "paper, replicate")], 0.06),
    **dict.fromkeys([(UNLIKE, 0.025, name) for name in STATISTICS], 0.07),
}
pytestmark = pytest.mark.xdist_group("group tests")  # one process draws what several tests look at
MANY_GROUPS = FOR_POWER[1]
DIFFERENCES = (-0.06, -0.04, -0.02, 0.02, 0.04, 0.06)


def name_of(scenario: Scenario) -> str:
    group = scenario.other
    setting = (scenario.n_groups, group.subjects, group.attempts, group.fnmr, group.correlation)
    return " ".join(map(str, (scenario.name, *setting))).strip()


def error(share: float, found: Shares) -> float:
    return bounds.error(share, int(found["n"]))


@pytest.fixture(scope="module")
def nulls(data_sets) -> dict[Scenario, Shares]:
    return dict(zip(NULLS, group_test_study.study(NULLS, data_sets(2000)), strict=True))


@pytest.fixture(scope="module")
def curves(data_sets) -> list[Shares]:
    scenarios = [
        group_test_study.with_difference(MANY_GROUPS, difference) for difference in DIFFERENCES
    ]
    return group_test_study.study(scenarios, data_sets(1000))


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("scenario", [EQUAL[0], *NULLS[-4:]], ids=name_of)
def test_decisions_are_those_of_the_public_functions(scenario, monkeypatch):
    monkeypatch.setattr(group_test_study, "FOLLOW_UP_RESAMPLES", group_test_study.RESAMPLES)
    given = {
        "n_resamples": group_test_study.RESAMPLES,
        "confidence_level": 1 - ALPHA,
        "n_threads": 1,
    }
    for seed in range(20):
        counts = scenario.draw(seed)
        tests = {
            name: ff.fnmr_test(counts, statistic=name, rng=seed, **given)
            for name in group_test_study.STATISTICS
        }
        margins = [
            ff.margin_of_error(counts, quantile=quantile, center=center, rng=seed, **given).outside
            for center in CENTERS
            for quantile in QUANTILES
        ]
        significant, named = group_test_study.decide(counts, seed)
        bootstrap = ff.fnmr_test(counts, null_model="bootstrap", follow_up=False, rng=seed, **given)
        assert significant == [test.pvalue < ALPHA for test in (*tests.values(), bootstrap)]
        assert [tuple(np.array(counts.groups)[groups]) for groups in named] == [
            *margins,
            tests["f"].different,
        ]


@pytest.mark.study
@pytest.mark.parametrize("scenario", NULLS, ids=name_of)
def test_groups_that_are_alike_are_found_to_differ_no_more_often_than_documented(scenario, nulls):
    found, too_often = nulls[scenario], {}
    for decision in DECISIONS:
        allowed = EXCESS.get((scenario.name, scenario.other.fnmr, decision), ALPHA)
        if found[decision] > allowed + error(allowed, found):
            too_often[decision] = found[decision]
    assert too_often == {}


@pytest.mark.study
@pytest.mark.parametrize("name", MARGINS)
def test_a_small_group_among_large_ones_is_named_for_having_no_failures(name, nulls):
    found = next(
        of
        for scenario, of in nulls.items()
        if (scenario.name, scenario.other.fnmr) == (SMALL, 0.025)
    )
    assert found[name] > 0.15 - error(0.15, found)


@pytest.mark.study
@pytest.mark.parametrize("scenario", HARD, ids=name_of)
def test_small_groups_and_goats_keep_the_level_and_more_is_found_than_by_the_bootstrap(
    scenario, data_sets
):
    times = HARD[scenario]
    unfair = group_test_study.with_difference(scenario, (times - 1) * scenario.other.fnmr)
    alike, found = group_test_study.study([scenario, unfair], data_sets(1000))
    for name in ("f", "follow-up"):
        assert alike[name] <= 0.06 + error(0.06, alike)
    assert found["f"] >= found[group_test_study.BOOTSTRAP] - error(0.02, found)
    if scenario.n_groups == 2:
        assert alike[group_test_study.BOOTSTRAP] > 0.15 - error(0.15, alike)
        assert found["f"] > 0.6


@pytest.mark.study
@pytest.mark.parametrize("scenario", NULLS, ids=name_of)
def test_centers_and_quantiles_of_margins_err_as_often_as_documented(scenario, nulls):
    found = nulls[scenario]
    level = found["family-wise, replicate"]
    for center in CENTERS:
        assert found[f"paper, {center}"] <= found[f"family-wise, {center}"]
    if scenario.name != SMALL:
        share = 0.023 if scenario.n_groups == 3 else 0.021
        assert found["family-wise, data"] <= share + error(share, found)
    if (
        min(group.effective_failures for group in (scenario.first, scenario.other))
        >= group_test_study.FEW_AND_MANY[1]
    ):
        assert abs(level - ALPHA) <= error(ALPHA, found)
        assert abs(found["paper, replicate"] - ALPHA / 2) <= error(ALPHA / 2, found)


@pytest.mark.study
@pytest.mark.parametrize(
    "name", [*group_test_study.STATISTICS, "family-wise, data", "family-wise, replicate"]
)
def test_larger_differences_are_found_more_often(name, curves):
    shares = np.array([curve[name] for curve in curves])
    # two standard errors of a difference of shares, of a quarter or so
    by_chance = 2 * np.sqrt(2 * 0.25 * 0.75 / curves[0]["n"])
    falling, rising = np.split(shares, 2)
    for ascending in (falling[::-1], rising):
        assert (np.diff(ascending) >= -by_chance).all()
        assert ascending[-1] > ascending[0]


@pytest.mark.study
def test_margins_have_the_power_that_was_planned(curves):
    planned = [
        group_test_study.planned_power(group_test_study.with_difference(MANY_GROUPS, difference))
        for difference in DIFFERENCES
    ]
    for found, power in zip(curves, planned, strict=True):
        share = found["family-wise, data: first"]
        assert share == pytest.approx(power, abs=0.03 + error(power, found))
        assert found["family-wise, replicate: first"] >= share
        assert found["follow-up: first"] > 0.5 * power - error(0.5 * power, found)
