"""`compare`: matching, paired replicates, verdicts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.data_sets import columns
from oracles import resampling as slow
from scipy.stats import binom

import fastfair as ff
from fastfair.errors import InputError
from fastfair.evaluation.contrasts import NO_SPREAD, OF_FEW_ERRORS, OF_MEASURES, OF_THRESHOLDS
from fastfair.measures._compute import measure_of

pytestmark = pytest.mark.jit  # thousands of passes
POINTS = [ff.at_fmr(0.05), ff.at_threshold(1.0)]


@pytest.fixture(scope="module")
def systems():
    one = columns()
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.5, one["scores"].size)
    other = one | {"scores": one["scores"] + noise - 0.8 * (one["mated"] & (one["reference_group"] == "f"))}
    return ff.Comparisons(**one), ff.Comparisons(**other)


@pytest.fixture(scope="module")
def paired(systems):
    return ff.compare(*systems, POINTS, n_resamples=300, rng=5)


def test_a_contrast_is_the_difference_of_two_evaluations_with_one_seed(systems, paired):
    one, other = (ff.evaluate(c, POINTS, n_resamples=300, rng=5) for c in systems)
    for name, group, at in [
        ("eer", None, None),
        ("fnmr", "f", POINTS[0]),
        ("garbe", None, POINTS[1]),
        ("fmr", "m", POINTS[1]),
    ]:
        found = paired.contrast(name, group, at)
        a, b = one.replicates(name, group, at), other.replicates(name, group, at)
        assert (found.first, found.second) == (one.value(name, group, at), other.value(name, group, at))
        assert found.difference == found.first - found.second
        assert found.ratio == found.first / found.second
        assert (found.low, found.high) == pytest.approx(slow.percentile((a - b).tolist(), 0.95))
        assert (found.ratio_low, found.ratio_high) == pytest.approx(slow.percentile((a / b).tolist(), 0.95))
        if name == "garbe":
            assert np.isnan(found.pvalue)
        else:
            assert found.pvalue == pytest.approx(slow.bootstrap_pvalue((a - b).tolist()))


def test_groups_are_adjusted_together(paired):
    family = [paired.contrast("fnmr", group, POINTS[0]) for group in "fmx"]
    assert [c.pvalue_adjusted for c in family] == pytest.approx(slow.holm([c.pvalue for c in family]))
    overall = paired.contrast("fnmr", None, POINTS[0])
    assert overall.pvalue == overall.pvalue_adjusted


def test_verdicts_follow_intervals(paired):
    assert paired.contrast("fnmr", "f", POINTS[1]).verdict == "first"
    for contrast in paired.contrasts:
        assert contrast.name != "threshold"
        assert (contrast.name, contrast.group, contrast.operating_point) != ("fmr", None, "FMR=0.05"), "held for both"
        if contrast.verdict in ("first", "second", "undecided"):
            assert ("first" if contrast.high < 0 else "second" if contrast.low > 0 else "undecided") == contrast.verdict
            assert 0 < contrast.pvalue <= 1


def test_a_system_does_not_differ_from_itself(systems):
    same = ff.compare(systems[0], systems[0], POINTS, n_resamples=100, rng=1)
    for contrast in same.contrasts:
        if np.isfinite(contrast.difference):
            assert contrast.difference == 0
            assert np.isnan([contrast.low, contrast.high, contrast.ratio_low, contrast.ratio_high]).all()
            assert NO_SPREAD in contrast.note
            assert contrast.verdict in ("undecided", "withheld")
            assert contrast.pvalue == 1 or contrast.verdict == "withheld"


def test_measures_over_groups_have_no_verdict(paired):
    of_measures = [c for c in paired.contrasts if measure_of(c.name) is not None and np.isfinite(c.difference)]
    assert len(of_measures) > 60
    for contrast in of_measures:
        assert contrast.verdict == "withheld"
        assert OF_MEASURES in contrast.note
        assert np.isnan([contrast.pvalue, contrast.pvalue_adjusted]).all()
    garbe = paired.contrast("garbe", None, POINTS[1])
    assert garbe.low < garbe.difference < garbe.high
    assert 0 < garbe.ratio_low < garbe.ratio_high
    again = paired.with_intervals(0.5).contrast("garbe", None, POINTS[1])
    assert (again.verdict, again.note) == ("withheld", garbe.note)


def equal_systems(seed, shift=2.5, sizes=(40, 40, 40), harder=0.0):
    """Two systems alike, but for what `harder` takes off the second's mated scores: all pairs inside each group."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    pairs = [np.array(np.triu_indices(n, 1)) + end - n for n, end in zip(sizes, ends, strict=True)]
    everyone = np.repeat(np.arange(ends[-1]), 10)
    reference, probe = (np.append(np.concatenate(side), everyone) for side in zip(*pairs, strict=True))
    mated = reference == probe
    group = np.array([f"group {k}" for k in range(len(sizes))])[np.searchsorted(ends, reference, side="right")]
    shared, of_subjects = rng.normal(size=mated.size), rng.normal(0, 0.3, ends[-1])
    systems = []
    for less in (0.0, harder):
        effect = of_subjects + rng.normal(0, 0.2, ends[-1])
        scores = shared + rng.normal(size=mated.size) + effect[reference] + effect[probe] + (shift - less) * mated
        systems.append(ff.Comparisons(scores, mated, reference, probe, group, group))
    return systems


def named(found):
    return [(c.name, c.group, c.operating_point) for c in found.contrasts if c.verdict in ("first", "second")]


@pytest.mark.parametrize("seed", range(3))
def test_few_errors_name_no_system(seed):
    """Some two false matches a group, of which replicates say too little of what other people would give."""
    at = ff.at_threshold(4.0)
    found = ff.compare(*equal_systems(seed), at, rng=seed)
    of_groups = [c for c in found.contrasts if c.name == "fmr" and c.group is not None]
    assert len(of_groups) == 3
    for contrast in of_groups:
        errors = [e.quantity("fmr", contrast.group).n_errors for e in (found.first, found.second)]
        assert min(errors) < 10
        assert contrast.verdict == "withheld"
        assert OF_FEW_ERRORS in contrast.note
        assert np.isnan([contrast.pvalue, contrast.pvalue_adjusted]).all()
        if 0 in errors:
            assert np.isnan([contrast.low, contrast.high, contrast.ratio_low]).all()
            assert NO_SPREAD in contrast.note


def test_groups_with_few_errors_are_in_no_family():
    found = ff.compare(*equal_systems(0, sizes=(60, 60, 8)), ff.at_threshold(2.5), measures=[], n_resamples=200, rng=0)
    family = [found.contrast("fmr", group) for group in found.first.groups]
    assert [c.verdict == "withheld" for c in family] == [False, False, True]
    assert [c.pvalue_adjusted for c in family[:2]] == pytest.approx(slow.holm([c.pvalue for c in family[:2]]))


def test_a_threshold_held_by_few_errors_gives_no_verdict():
    """An FMR of 0.1 % of 2,340 comparisons is two errors, and the FNMR hangs on where they lie."""
    found = ff.compare(*equal_systems(1), [ff.at_fmr(1e-3), ff.at_eer()], measures=[], n_resamples=200, rng=0)
    fnmr = found.contrast("fnmr", None, ff.at_fmr(1e-3))
    assert found.first.quantity("fnmr", at=ff.at_fmr(1e-3)).n_errors > 100
    assert (fnmr.verdict, np.isnan(fnmr.pvalue)) == ("withheld", True)
    assert OF_THRESHOLDS in fnmr.note
    assert found.contrast("fnmr", None, ff.at_eer()).verdict != "withheld"


def test_errors_behind_costs_are_those_at_their_own_thresholds():
    one, other = equal_systems(3, shift=7.0)
    found = ff.compare(one, other, ff.at_threshold(2.0), n_resamples=64, rng=0)
    for system, errors in zip((one, other), found.errors, strict=True):
        behind = dict(zip([(q.name, q.group) for q in found.first.quantities], errors, strict=True))
        for group in (None, *system.groups):
            part = system if group is None else system.within_group(group)
            least = ff.rates(part, ff.at_threshold(ff.min_dcf(part).threshold)).counts
            assert behind["min_dcf", group] == min(least.false_matches, least.false_nonmatches)
            eer = round(ff.eer(part).value * min(len(part.mated), len(part.nonmated)))
            assert {behind[name, group] for name in ("eer", "cllr", "min_cllr")} == {eer}
    withheld = {(c.name, c.group) for c in found.contrasts if OF_FEW_ERRORS in c.note}
    assert ("eer", "group 0") in withheld
    assert ("eer", None) not in withheld


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_with_errors_enough_is_still_found(seed):
    found = ff.compare(*equal_systems(seed, harder=0.5), ff.at_threshold(2.0), measures=[], rng=seed)
    for group in (None, *found.first.groups):
        assert found.contrast("fnmr", group).verdict == "first"
        assert found.contrast("fnmr", group).pvalue_adjusted < 0.01


@pytest.mark.slow
def test_equal_systems_are_told_apart_no_more_often_than_promised():
    """Of few errors never; of ten or more in 5 % of contrasts, which hang together in pairs."""
    n_rates = n_named = 0
    for seed in range(40):
        found = ff.compare(
            *equal_systems(seed), [ff.at_threshold(2.0), ff.at_threshold(4.0)], n_resamples=400, rng=seed
        )
        verdicts = [c for c in found.contrasts if c.verdict != "withheld" and np.isfinite(c.difference)]
        assert not any(measure_of(c.name) is not None for c in verdicts)
        assert not any(c.name == "fmr" and c.group and c.operating_point == "threshold=4" for c in verdicts)
        of_rates = [c for c in verdicts if c.name in ("fmr", "fnmr")]
        n_rates += len(of_rates)
        n_named += sum(c.verdict != "undecided" for c in of_rates)
    assert n_rates > 400
    assert n_named / 2 <= binom.ppf(0.999, n_rates // 2, 0.05)


@pytest.mark.parametrize("seed", range(2))
def test_of_two_fair_systems_the_less_accurate_is_not_called_less_fair(seed):
    found = ff.compare(*equal_systems(seed, sizes=(12,) * 11, harder=1.5), ff.at_threshold(0.0), rng=seed)
    assert not [name for name, _, _ in named(found) if measure_of(name) is not None]
    assert found.contrast("fnmr").verdict == "first"


@pytest.mark.parametrize("unit", ["subject", "comparison"])
def test_the_order_of_rows_does_not_matter(unit):
    given = columns(2, 100, 3000)
    pairs, first = np.unique(given["reference"] * 1000 + given["probe"], return_index=True)
    given = {name: values[first] for name, values in given.items()}  # each pair once, so that rows can be told apart
    order = np.random.default_rng(0).permutation(pairs.size)
    noisy = given | {"scores": given["scores"] + np.random.default_rng(3).normal(0, 0.3, pairs.size)}
    shuffled = {name: values[order] for name, values in noisy.items()}
    one = ff.Comparisons(**given)
    straight, mixed = (
        ff.compare(one, ff.Comparisons(**other), POINTS[:1], unit=unit, n_resamples=64, rng=2)
        for other in (noisy, shuffled)
    )
    for a, b in zip(straight.contrasts, mixed.contrasts, strict=True):
        found, again = ([c.difference, c.low, c.high, c.pvalue, c.ratio_low] for c in (a, b))
        assert np.allclose(found, again, rtol=1e-9, equal_nan=True)  # sums of Cllr run in another order


def test_pairing_narrows_the_interval(systems):
    one, other = systems
    paired = ff.compare(one, other, POINTS[:1], n_resamples=500, rng=0).contrast("eer")
    alone = [ff.evaluate(c, POINTS[:1], n_resamples=500, rng=k).replicates("eer") for k, c in enumerate(systems)]
    low, high = slow.percentile((alone[0] - alone[1]).tolist(), 0.95)
    assert paired.high - paired.low < 0.8 * (high - low)


def test_what_is_not_the_same_is_named(systems):
    given = columns()
    one = systems[0]
    fewer = {name: values[1:] for name, values in given.items()}
    with pytest.raises(InputError, match=r"comparisons differ: first has .* such as"):
        ff.compare(one, ff.Comparisons(**fewer))
    with pytest.raises(InputError, match="only in second"):
        ff.compare(one, ff.Comparisons(**columns(0, 61)))
    moved = given | {"reference_group": np.roll(given["reference_group"], 1)}
    with pytest.raises(InputError, match=r"groups of .* comparisons differ, such as"):
        ff.compare(one, ff.Comparisons(**moved))
    with pytest.raises(InputError, match="the groups differ"):
        ff.compare(one, ff.Comparisons(**{k: given[k] for k in ("scores", "mated", "reference", "probe")}))
    with pytest.raises(InputError, match="second has no subjects"):
        ff.compare(one, ff.Comparisons([0.9, 0.1], [1, 0]))
    with pytest.raises(InputError, match="second must be Comparisons"):
        ff.compare(one, [0.1])
    with pytest.raises(InputError, match="told from the others"):
        ff.compare(one, one, unit="comparison")
    with pytest.raises(InputError, match="needs replicates"):
        ff.compare(one, one, n_resamples=0)
    with pytest.raises(InputError, match="method must be"):
        ff.compare(one, one, method="dyadic")


def test_export_and_other_intervals(paired, tmp_path):
    frame = paired.to_frame("polars")
    assert frame.height == len(paired.contrasts)
    content = json.loads(paired.to_json(tmp_path / "p.json"))
    assert len(content["contrasts"]) == len(paired.contrasts)
    assert content["settings"]["rng"] == 5
    narrow = paired.with_intervals(0.5).contrast("eer")
    wide = paired.contrast("eer")
    assert wide.low < narrow.low < narrow.high < wide.high
    assert "against" in repr(paired)
    for method in ("basic", "normal", "bca"):
        other = paired.with_intervals(method=method).contrast("eer")
        assert other.low < other.difference < other.high
