"""Test inversion against the oracle, and what its intervals promise."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from helpers.data_sets import columns
from oracles import count_models as slow_counts
from oracles import intervals as slow
from oracles import naive

import fastfair as ff
from fastfair.errors import NarrowIntervalsWarning
from fastfair.measures import MEASURES
from fastfair.uncertainty import quantities
from fastfair.uncertainty.inversion import POWERS, Inversion

pytestmark = pytest.mark.jit  # thousands of passes
AT = ff.at_threshold(1.0)
ORACLES = {
    "garbe": lambda s: naive.garbe(s[0][1:], s[1][1:], 0.5),
    "fdr": lambda s: naive.fdr(s[0][1:], s[1][1:], 0.5),
    "inequity_rate": lambda s: naive.inequity_rate(s[0][1:], s[1][1:], 0.5),
    "max_geomean_ratio(fmr)": lambda s: naive.max_geomean_ratio(s[0][1:]),
    "std(fnmr)": lambda s: naive.std(s[1][1:]),
    "std(tmr)": lambda s: naive.std(s[1][1:]),
    "nrb(fmr)": lambda s: naive.nrb(s[0][1:], s[0][0]),
    "mape(fmr)": lambda s: naive.mape(s[0][1:], s[0][0]),
    "group_to_min_difference(fnmr)": lambda s: naive.group_to_min_difference(s[1][1:])[0],
}


@pytest.fixture(scope="module")
def evaluation():
    return ff.evaluate(ff.Comparisons(**columns()), AT, metrics="all", n_resamples=400, rng=1)


@pytest.fixture(scope="module")
def system(evaluation):
    groups = (None, *evaluation.groups)
    return [[evaluation.value(name, group) for group in groups] for name in ("fmr", "fnmr")]


@pytest.fixture(scope="module")
def replicates(evaluation):
    drawn = [
        [evaluation.replicates(name, g) for g in (None, *evaluation.groups)]
        for name in ("fmr", "fnmr")
    ]
    return np.moveaxis(np.array(drawn), -1, 0).tolist()


@pytest.mark.parametrize("name", ORACLES)
def test_shares_and_limits_are_those_of_the_oracle(name, evaluation, system, replicates):
    inverted = evaluation.uncertainty.inversion.inverted
    group = evaluation.groups[0] if name.startswith("group") else None
    k = inverted.keys.index((name, group, None, 0))
    higher = MEASURES[name.partition("(")[0]].fairer == "higher"
    for power, *found in zip(POWERS, inverted.as_unfair[k], inverted.as_fair[k], strict=True):
        if power != 1:  # where moved replicates are the replicates, but for rounding
            assert found == pytest.approx(
                slow.shares(ORACLES[name], system, replicates, power, higher), abs=0.003
            )
    of_fair = 2 * slow.shares(ORACLES[name], system, replicates, 0, higher)[0]
    least = evaluation.uncertainty.inversion.least_pvalues.get((name, group, None, 0), 0)
    expected = min(1, max(of_fair, least, 1 / 400))
    assert evaluation.quantity(name, group).pvalue == pytest.approx(expected, abs=0.006)
    found = [limits[k] for limits in inverted.intervals(0.9)]
    powers = np.linspace(0, 5, 101).tolist()
    expected = slow.inversion(ORACLES[name], system, replicates, 0.9, powers, higher)
    assert found == pytest.approx(expected, abs=0.05 * (expected[1] - expected[0]))


@pytest.mark.parametrize("name", ["std(fnmr)", "std(tmr)", "garbe", "fdr", "mape(fmr)"])
def test_the_least_pvalues_are_those_of_the_oracle(name, evaluation, system, replicates):
    of_group: dict[str, dict[int, list[int]]] = {}
    given = columns()
    for score, mated, person, group in zip(
        given["scores"], given["mated"], given["reference"], given["reference_group"], strict=True
    ):
        if mated:
            of_group.setdefault(group, {}).setdefault(person, []).append(int(score < 1.0))
    groups = [of_group[group] for group in evaluation.groups]
    compared = [[(e, k, k) for k, errors in people.items() for e in errors] for people in groups]
    raised = [1.0]
    for k, linear in enumerate(slow_counts.of_false_nonmatches(compared)):
        rate, n = system[1][1 + k], len(compared[k])
        own = np.std([one[1][1 + k] for one in replicates])
        raised.append(max(1.0, math.sqrt(rate * (1 - rate) * (1 + linear) / n) / own))
    assert max(raised) > 1.02
    higher = MEASURES[name.partition("(")[0]].fairer == "higher"
    share = slow.shares_of_alike_groups(
        ORACLES[name], system, replicates, [[1.0] * 4, raised], higher
    )
    is_relative = name in ("garbe", "mape(fmr)")
    found = evaluation.uncertainty.inversion.least_pvalues[name, None, None, 0]
    assert found == pytest.approx(share / (3 if is_relative else 1), abs=0.003)


@pytest.mark.parametrize("name", ["max_geomean_ratio(fmr)", "inequity_rate", "nrb(fmr)"])
def test_measures_that_divide_by_rates_of_groups_have_no_least_pvalue(name, evaluation):
    assert (name, None, None, 0) not in evaluation.uncertainty.inversion.least_pvalues


def test_a_group_that_has_hardly_seen_who_fails_does_not_make_a_fair_system_seem_unfair():
    """Of 4 groups of 15 people, some of whom fail most of 20 attempts, one or another has none of
    these."""
    outside = Counter()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        person = np.arange(60)
        attempts = rng.choice([1, 2, 20], p=[0.4, 0.4, 0.2], size=60)
        share = np.where(rng.random(60) < 0.05, 0.75, 0.05)
        k = np.repeat(person, attempts)
        other = np.where(person % 15 == 14, person - 14, person + 1)
        scores = np.concatenate((rng.random(k.size) >= share[k], np.zeros(60)))
        reference, probe = np.concatenate((k, person)), np.concatenate((k, other))
        mated = np.repeat([1, 0], [k.size, 60])
        c = ff.Comparisons(scores, mated, reference, probe, reference // 15, probe // 15)
        found = ff.evaluate(c, ff.at_threshold(0.5), ["std"], metrics=[], n_resamples=200, rng=seed)
        outside["with"] += found.interval("std(fnmr)")[0] > 0
        inverted = found.uncertainty.inversion.inverted
        k = inverted.keys.index(("std(fnmr)", None, None, 0))
        outside["without"] += inverted.intervals(0.95)[0][k] > 0
    assert outside["with"] <= 4
    assert outside["without"] > outside["with"]


def test_intervals_hold_the_estimate_widen_with_the_level_and_stay_within_bounds(evaluation):
    of_levels = [evaluation.with_intervals(level).quantities for level in (0.5, 0.8, 0.95, 0.99)]
    inverted = [k for k, q in enumerate(evaluation.quantities) if q.method == "inversion"]
    assert len(inverted) > 30
    for k in inverted:
        rows = [quantities[k] for quantities in of_levels]
        least, most = MEASURES[
            rows[0].name.partition("(")[0].removesuffix("_mean").removesuffix("_std")
        ].range
        for narrow, wide in itertools.pairwise(rows):
            assert (
                least
                <= wide.low
                <= narrow.low
                <= narrow.estimate
                <= narrow.high
                <= wide.high
                <= most
            )


def test_systems_on_both_sides_of_those_rejected_are_accepted():
    """A group's distance from the best one grows and then shrinks, and is as fair at the end as at
    the beginning."""
    steps = POWERS[-1] * np.linspace(0, 1, 201) ** 2
    path = np.where(steps < 2, steps, 2 - 0.2 * (steps - 2))[None]
    as_unfair = np.array([[0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.8, 0.4, 0.0]])
    found = Inversion(("a",), as_unfair, 1 - as_unfair, path, 999)
    low, high = found.intervals(0.9)
    assert low[0] == 0
    assert high[0] == path.max()
    rejected = as_unfair[0] < 0.05
    assert rejected[-1]
    assert not rejected[:-1].any()


def test_an_estimate_that_is_fairer_than_chance_leaves_a_fair_system_accepted():
    """Chance rejected the fair system as too fair and accepted the next one."""
    path = np.linspace(1, 3, 201)[None]
    as_unfair = np.array([[0.99, 0.999, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    as_fair = np.array([[0.004, 0.008, 0.002, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    low, high = Inversion(("a",), as_unfair, as_fair, path, 999).intervals(0.99)
    assert low[0] == 1
    assert 1 <= high[0] < 1.05


def test_a_fair_system_is_found_fair_and_an_unfair_one_is_not():
    fair = ff.Comparisons(**columns(n=20_000))
    ev = ff.evaluate(fair, AT, n_resamples=400, rng=1)
    for name, value in (("garbe", 0), ("fdr", 1), ("max_min_ratio(fmr)", 1), ("std(eer)", 0)):
        low, high = ev.interval(name)
        assert min(abs(low - value), abs(high - value)) < 1e-12
        low, high = ev.with_intervals(method="percentile").interval(name)
        assert not low <= value <= high
    assert (
        "mostly to one side of the estimate"
        in ev.with_intervals(method="percentile").quantity("garbe").note
    )
    assert ev.quantity("garbe").note == ""
    given = columns(n=20_000)
    worse = given["scores"] + 0.6 * ((given["reference_group"] == "f") & ~given["mated"])
    ev = ff.evaluate(ff.Comparisons(**given | {"scores": worse}), AT, n_resamples=400, rng=1)
    assert ev.interval("max_min_ratio(fmr)")[0] > 1.2
    assert ev.interval("garbe")[0] > 0.02


def without_errors(*groups: str) -> ff.Comparisons:
    """Comparisons without false matches inside some groups."""
    return ff.Comparisons(**columns_without_errors(*groups))


def columns_without_errors(*groups: str) -> dict:
    given = columns()
    within = np.isin(given["reference_group"], groups) & (
        given["reference_group"] == given["probe_group"]
    )
    return given | {"scores": np.where(within & ~given["mated"], -10, given["scores"])}


def test_a_group_without_errors_has_its_numbers_drawn():
    ev = ff.evaluate(without_errors("f"), AT, rng=0, metrics=["eer"])
    q = ev.quantity("garbe")
    assert q.method == "inversion"
    assert q.low < q.estimate <= q.high
    assert "percentiles" not in q.note
    assert ev.quantity("gini(fnmr)").method == "inversion"
    assert math.isnan(ev.interval("inequity_rate")[0])
    other = ff.evaluate(without_errors("f"), AT, rng=0, metrics=["eer"], n_threads=1)
    assert other.interval("garbe") == (q.low, q.high)
    wider, narrower = (ev.with_intervals(level).interval("garbe") for level in (0.99, 0.5))
    assert wider[0] <= q.low <= narrower[0] <= narrower[1] <= q.high <= wider[1]


def test_samples_leave_percentiles_to_a_group_without_errors():
    given = columns_without_errors("f")
    samples = [
        np.char.add(np.char.add(given[side].astype(str), "/"), (np.arange(5000) % 9).astype(str))
        for side in ("reference", "probe")
    ]
    with_samples = ff.Comparisons(
        **given,
        reference_sample=samples[0],
        probe_sample=samples[1],
        policies=ff.Policies(self_comparisons="keep"),
    )
    with pytest.warns(
        NarrowIntervalsWarning,
        match="a group has no errors, so the interval is of percentiles: GARBE",
    ):
        ev = ff.evaluate(
            with_samples, AT, ["garbe"], metrics=[], n_resamples=64, rng=0, unit="sample"
        )
    assert ev.quantity("garbe").method == "percentile"


def test_where_no_group_has_errors_there_is_no_interval():
    ev = ff.evaluate(
        without_errors("f", "m", "x"), AT, ["garbe", "std"], metrics=[], n_resamples=64, rng=0
    )
    q = ev.quantity("garbe")
    assert math.isnan(q.low)
    assert "no interval: no group has such errors" in q.note
    assert ev.quantity("std(fnmr)").method == "inversion"


@pytest.mark.parametrize("at", [AT, ff.at_fmr(0.1)])
def test_numbers_are_drawn_about_the_way_from_the_smoothed_rates(at):
    ev = ff.evaluate(without_errors("f"), at, ["std"], metrics=[], n_resamples=64, rng=0)
    systems = ev.uncertainty.inversion.counted_systems()
    systems.n_replicates = 100_000
    counts = ev.rates[0].counts
    start = slow_counts.start(counts.group_false_matches.tolist(), counts.group_nonmated.tolist())
    assert systems._start["fmr"][0, 1:] == pytest.approx(start)
    model = systems._models[0]["fmr"]
    for power in (0.0, 1.0, 1.7):
        rates = np.array(
            slow_counts.along(start, power, counts.group_false_matches, counts.group_nonmated)
        )
        drawn = systems._draw("fmr", 0, np.array([power]))[1:, 0]
        assert drawn.mean(axis=1) == pytest.approx(rates, rel=0.02, abs=1e-4)
        n = model.comparisons
        expected = np.sqrt(n * rates * (1 + model.linear) + model.quadratic * rates**2) / n
        if at is AT:
            assert drawn.std(axis=1) == pytest.approx(expected, rel=0.04)
        else:
            assert systems._draw("fmr", 0, np.array([power]))[0, 0].std() < 1e-12  # the FMR is held
    model, start = systems._models[0]["fnmr"], systems._start["fnmr"][0, 1:]
    rates = np.array(
        slow_counts.along(start, 1.3, counts.group_false_nonmatches, counts.group_mated)
    )
    drawn = systems._draw("fnmr", 0, np.array([1.3]))[1:, 0]
    expected = np.sqrt(rates * (1 - rates) * (1 + model.linear) / model.comparisons)
    assert drawn.std(axis=1) == pytest.approx(expected, rel=0.02)


def test_measures_without_operating_points_have_intervals_too():
    ev = ff.evaluate(
        ff.Comparisons(**columns()),
        [],
        ["nrb", "std", "sed"],
        metrics=["eer"],
        n_resamples=200,
        rng=0,
    )
    assert {q.name for q in ev.quantities if q.method == "inversion"} >= {
        "nrb(eer)",
        "std(eer)",
        "sed_mean",
        "sed",
    }


def test_each_kind_of_quantity_has_its_method(evaluation):
    methods = {q.name: q.method for q in evaluation.quantities if q.group is None}
    assert {methods[name] for name in ("fmr", "fnmr", "eer")} == {"logit"}
    assert {methods[name] for name in ("garbe", "fdr", "sed_mean", "nrb(cllr)", "std(eer)")} == {
        "inversion"
    }
    assert methods["cllr"] == "percentile"
    assert {methods[name] for name in ("min_dcf", "min_cllr")} == {"log"}
    assert {q.method for q in evaluation.quantities if q.name.startswith("group_to_average")} == {
        "log"
    }
    assert evaluation.with_intervals(method="bca").quantity("garbe").method == "bca"


@pytest.mark.parametrize("n_at_once", [2**17, 1000, 1])
def test_measures_are_inverted_in_any_parts_as_all_at_once(n_at_once, monkeypatch):
    given = columns_without_errors("f")
    some = (given["scores"] == -10) & (np.arange(5000) % 4 == 0)
    c = ff.Comparisons(
        **given | {"scores": np.where(some, 0.5, given["scores"])}
    )  # errors at the second point
    ev = ff.evaluate(
        c, [AT, ff.at_threshold(0.0)], metrics=["eer", "min_dcf"], n_resamples=64, rng=0
    )
    monkeypatch.setattr(quantities, "_AT_ONCE", n_at_once)
    for systems, not_drawn in (
        (ev.uncertainty.inversion.systems(), ()),
        (ev.uncertainty.inversion.counted_systems(), ("(fnmr)", "(tmr)")),
    ):
        inverted, n_left_out = systems.invert(), 0
        for k, replicates in enumerate(systems.replicates(POWERS)):
            turned = systems.signs[k] * np.broadcast_to(replicates, (POWERS.size, 64))
            # Where a group has no errors, measures cannot be moved, and those of the other rate
            # need not be drawn.
            if np.isnan(turned).all() or (not_drawn and inverted.keys[k][0].endswith(not_drawn)):
                assert np.isnan(inverted.as_unfair[k]).all()
                n_left_out += 1
                continue
            estimate, n = systems.signs[k] * systems.estimates[k], (~np.isnan(turned)).sum(axis=1)
            with np.errstate(invalid="ignore"):
                shares = [
                    1 - beyond.sum(axis=1) / n for beyond in (turned < estimate, turned > estimate)
                ]
            np.testing.assert_array_equal([inverted.as_unfair[k], inverted.as_fair[k]], shares)
        assert 0 < n_left_out < len(inverted.keys) / 2
