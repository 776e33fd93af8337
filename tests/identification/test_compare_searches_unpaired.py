"""Two sets of searches by other people, such as those of two months, compared as independent
ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.stats import norm

import fastfair as ff

AT = [ff.at_threshold(2.4), ff.at_fpir(0.2)]


def month(seed: int, n: int = 300, worse: float = 0.0, people: int = 200) -> ff.Searches:
    rng = np.random.default_rng(seed)
    probe = rng.integers(0, people, n)
    scores = np.round(rng.normal(size=(n, 40)) + 5 * (probe[:, None] == np.arange(40)), 1)
    group = np.where(probe % 2, "f", "m")
    scores += worse * (group == "f")[:, None]
    return ff.Searches.from_matrix(scores, probe, np.arange(40), group=group)


@pytest.mark.parametrize("gallery", ["drawn", "fixed"])
def test_limits_are_those_of_zou_and_donner(gallery):
    one, two = month(0), month(1, n=120, worse=0.3)
    found = ff.compare_searches(one, two, AT, gallery=gallery, paired=False, confidence_level=0.9)
    rates = [ff.identify(s, AT, gallery=gallery, confidence_level=0.9) for s in (one, two)]
    assert sum(row.has_interval for row in found.rows) > 3
    for row in [row for row in found.rows if row.has_interval]:
        a, b = (rate.of(row.name, row.group, row.at) for rate in rates)
        difference = a.estimate - b.estimate
        low = difference - math.hypot(a.estimate - a.low, b.high - b.estimate)
        high = difference + math.hypot(a.high - a.estimate, b.estimate - b.low)
        assert (row.first, row.second, row.estimate) == (a.estimate, b.estimate, difference)
        assert (row.low, row.high) == (
            pytest.approx(low, abs=1e-12),
            pytest.approx(high, abs=1e-12),
        )
        reach = difference - low if difference > 0 else high - difference
        pvalue = 2 * norm.sf(norm.ppf(0.95) * abs(difference) / reach)
        assert row.pvalue == pytest.approx(pvalue if difference else 1.0, abs=1e-12)
        assert (row.pvalue < 0.1) == (not row.low <= 0 <= row.high)
    assert found.rows[0].pvalue_adjusted >= found.rows[0].pvalue
    assert "compared as independent ones" in found.summary()


def test_exchanged_months_have_the_opposite_difference():
    one, two = month(2), month(3, worse=0.5)
    rows = zip(
        ff.compare_searches(one, two, AT, paired=False).rows,
        ff.compare_searches(two, one, AT, paired=False).rows,
        strict=True,
    )
    for row, other in rows:
        opposite = -other.estimate, -other.high, -other.low, other.pvalue
        assert np.array_equal((row.estimate, row.low, row.high, row.pvalue), opposite, True)


def test_groups_of_one_month_alone_are_left_out_and_pairs_need_the_same_people():
    one, two = month(4), month(5)
    other = ff.Searches.from_matrix(np.zeros((12, 3)), np.arange(12), [0, 1, 2], group=["f"] * 12)
    found = ff.compare_searches(one, other, ff.at_threshold(0.0), paired=False)
    assert {row.group for row in found.rows} == {None, "f"}
    refused("probe differs between the systems.*paired=False", ff.compare_searches, one, two, AT)
    few = ff.Searches.from_matrix(np.zeros((12, 3)), np.arange(12) % 4 + 9, [0, 1, 2])
    row = ff.compare_searches(one, few, ff.at_threshold(0.0), paired=False).of("fpir")
    assert math.isnan(row.pvalue)


def test_requirements_on_differences_are_judged_by_limits():
    better, worse = month(6, n=900), month(7, n=900, worse=0.8)
    found = ff.compare_searches(worse, better, AT[0], gallery="fixed", paired=False)
    checked = found.check(["difference(fpir)[*] <= 8 %", "difference(fpir) <= 50 %"])
    assert checked.verdicts == {
        "difference(fpir)[*] <= 8 %": "not met",
        "difference(fpir) <= 50 %": "met",
    }
    row = checked.rows[-1]
    at_90 = ff.compare_searches(
        worse, better, AT[0], gallery="fixed", paired=False, confidence_level=0.9
    )
    assert row.limit == at_90.of("fpir").high
    assert found.check("difference(fnir)@threshold=3 < 99 %", allow_undecided=True).passed
    refused(r"write one, as in .*difference\(fpir\)", found.check, "fpir <= 5 %")
    assert found.check("fpir(first) - fpir(second) <= 50 %").verdict == "met"
    refused("there is no such difference", found.check, "difference(fpir)@rank=1 <= 5 %")
    pairs = ff.compare_searches(worse, worse, AT[0], gallery="fixed")
    assert pairs.check("difference(fpir) <= 8 %").verdict == "met"


def test_differences_of_rates_are_judged_in_per_cent():
    rng = np.random.default_rng(4)
    people, mates = np.arange(300), np.eye(300)[:, :150]
    sets = [
        ff.Searches.from_matrix(rng.normal(size=(300, 150)) + 8 * mates, people, people[:150])
        for _ in range(2)
    ]
    months = ff.compare_searches(*sets, ff.at_threshold(3.5), gallery="fixed", paired=False)
    said = str(months.check("difference(fpir) <= 0.5 %").summary())
    assert "> 0.5 %" in said
    assert "0.005" not in said


def test_a_difference_of_the_tpir_is_that_of_the_fnir_mirrored():
    comparison = ff.compare_searches(month(0), month(1), AT[0], gallery="fixed", paired=False)
    tpir, fnir = (
        comparison.check(text).rows[0]
        for text in ("difference(tpir) >= -20 %", "difference(fnir) <= 20 %")
    )
    assert (tpir.name, tpir.verdict) == ("difference(tpir)", fnir.verdict)
    assert (tpir.estimate, tpir.limit) == (-fnir.estimate, -fnir.limit)
