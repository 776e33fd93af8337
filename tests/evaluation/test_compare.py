"""`compare`: matching, paired replicates, verdicts."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from helpers.data_sets import columns, few_errors_between_groups
from helpers.refusals import refused
from oracles import intervals as oracles
from oracles import naive
from oracles import resampling as slow
from scipy.stats import binom

import fastfair as ff
from fastfair.errors import FewResamplesWarning
from fastfair.evaluation.chapter import printed_tables
from fastfair.evaluation.contrasts import ComparedSystem, rate_correlations
from fastfair.evaluation.score_tests import UnitCounts
from fastfair.measures._registry import measure_of
from fastfair.uncertainty import inversion
from fastfair.uncertainty.inversion import GAMMA
from fastfair.uncertainty.notes import Code, has_code

pytestmark = pytest.mark.jit  # thousands of passes
POINTS = [ff.at_fmr(0.05), ff.at_threshold(1.0)]


@pytest.fixture(scope="module")
def systems():
    one = columns()
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.5, one["scores"].size)
    other = one | {
        "scores": one["scores"] + noise - 0.8 * (one["mated"] & (one["reference_group"] == "f"))
    }
    return ff.Comparisons(**one), ff.Comparisons(**other)


@pytest.fixture(scope="module")
def paired(systems):
    return ff.compare(*systems, POINTS, metrics="all", n_resamples=300, rng=5)


def test_a_contrast_is_the_difference_of_two_evaluations_with_one_seed(systems, paired):
    one, other = (ff.evaluate(c, POINTS, metrics="all", n_resamples=300, rng=5) for c in systems)
    counts = UnitCounts(systems[0], "subject")
    compared = (
        ComparedSystem(c, found, counts) for c, found in zip(systems, (one, other), strict=True)
    )
    correlations = rate_correlations(*compared)
    for name, group, at in [
        ("eer", None, None),
        ("fnmr", "f", POINTS[0]),
        ("garbe", None, POINTS[1]),
        ("fmr", "m", POINTS[1]),
    ]:
        found = paired.contrast(name, group, at)
        a, b = one.replicates(name, group, at), other.replicates(name, group, at)
        assert (found.first, found.second) == (
            one.value(name, group, at),
            other.value(name, group, at),
        )
        assert found.difference == found.first - found.second
        assert found.ratio == found.first / found.second
        of_each = [
            (q.estimate, q.low, q.high) for q in (e.quantity(name, group, at) for e in (one, other))
        ]
        closed = correlations[one.quantities.index(one.quantity(name, group, at))]
        correlation = float(np.corrcoef(a, b)[0, 1])
        if name in ("fmr", "fnmr"):
            assert closed == pytest.approx(correlation, abs=0.15)
            correlation = float(closed)
        else:
            assert np.isnan(closed)
        expected = oracles.mover_difference(*of_each, correlation)
        assert (found.low, found.high) == pytest.approx(expected)
    for name in ("eer", "min_dcf", "cllr"):
        drawn = one.replicates(name) - other.replicates(name)
        assert paired.contrast(name).pvalue == pytest.approx(slow.bootstrap_pvalue(drawn.tolist()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "higher"), [("garbe", False), ("fdr", True), ("max_min_ratio(fnmr)", False)]
)
def test_measures_are_tested_where_both_systems_are_equally_unfair(paired, name, higher):
    evaluations = paired.evaluations
    groups = (None, *evaluations[0].groups)
    systems = [
        [[e.value(rate, g, POINTS[1]) for g in groups] for rate in ("fmr", "fnmr")]
        for e in evaluations
    ]
    drawn = [
        np.array([[e.replicates(rate, g, POINTS[1]) for g in groups] for rate in ("fmr", "fnmr")])
        for e in evaluations
    ]
    replicates = [np.moveaxis(one, -1, 0).tolist() for one in drawn]
    measure = {
        "garbe": lambda s: naive.garbe(s[0][1:], s[1][1:], 0.5),
        "fdr": lambda s: naive.fdr(s[0][1:], s[1][1:], 0.5),
        "max_min_ratio(fnmr)": lambda s: naive.max_min_ratio(s[1][1:]),
    }[name]
    powers = np.linspace(0, 6, 121).tolist()
    limits = [
        oracles.inversion(measure, system, rows, 1 - GAMMA / 2, powers, higher)
        for system, rows in zip(systems, replicates, strict=True)
    ]
    low, high = max(low for low, _ in limits), min(high for _, high in limits)
    expected = GAMMA
    if low <= high:
        common = np.linspace(low, high, 9).tolist()
        expected = oracles.joint_pvalue(measure, systems, replicates, common, GAMMA, higher)
    assert paired.contrast(name, None, POINTS[1]).pvalue == pytest.approx(expected, abs=0.06)


def test_groups_are_adjusted_together(paired):
    family = [paired.contrast("fnmr", group, POINTS[0]) for group in "fmx"]
    assert [c.pvalue_adjusted for c in family] == pytest.approx(
        slow.holm([c.pvalue for c in family])
    )
    overall = paired.contrast("fnmr", None, POINTS[0])
    assert overall.pvalue == overall.pvalue_adjusted


def test_verdicts_follow_adjusted_pvalues(paired):
    assert paired.contrast("fnmr", "f", POINTS[1]).verdict == "first"
    for contrast in paired.contrasts:
        assert contrast.name != "threshold"
        assert (contrast.name, contrast.group, contrast.operating_point) != (
            "fmr",
            None,
            "FMR=0.05",
        ), "held for both"
        if contrast.verdict in ("first", "second", "undecided"):
            measure = measure_of(contrast.name)
            lower_is_better = contrast.name not in ("auc", "d_prime")
            if measure is not None:
                lower_is_better = measure.fairer != "higher"
            better = "first" if (contrast.difference < 0) == lower_is_better else "second"
            assert contrast.verdict == (better if contrast.pvalue_adjusted <= 0.05 else "undecided")
            assert 0 < contrast.pvalue <= 1


def equal_systems(seed, shift=2.5, sizes=(40, 40, 40), harder=0.0, moved=()):
    """Two systems alike: all pairs inside each group.

    `harder` is taken off the second's mated scores, and `moved` is added to all its scores of each
    group.
    """
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    pairs = [np.array(np.triu_indices(n, 1)) + end - n for n, end in zip(sizes, ends, strict=True)]
    everyone = np.repeat(np.arange(ends[-1]), 10)
    reference, probe = (
        np.append(np.concatenate(side), everyone) for side in zip(*pairs, strict=True)
    )
    mated = reference == probe
    group = np.array([f"group {k}" for k in range(len(sizes))])[
        np.searchsorted(ends, reference, side="right")
    ]
    shared, of_subjects = rng.normal(size=mated.size), rng.normal(0, 0.3, ends[-1])
    systems = []
    added = np.array(moved or [0.0] * len(sizes))[np.searchsorted(ends, reference, side="right")]
    for less, more in ((0.0, 0.0), (harder, added)):
        effect = of_subjects + rng.normal(0, 0.2, ends[-1])
        scores = (
            shared
            + rng.normal(size=mated.size)
            + effect[reference]
            + effect[probe]
            + (shift - less) * mated
            + more
        )
        systems.append(ff.Comparisons(scores, mated, reference, probe, group, group))
    return systems


def named(found):
    return [
        (c.name, c.group, c.operating_point)
        for c in found.contrasts
        if c.verdict in ("first", "second")
    ]


def of_measures(found, name="gini(fmr)"):
    """The contrast of a measure where each of the systems has groups without errors, or not."""
    rates = [[e.value("fmr", group) for group in e.groups] for e in found.evaluations]
    return found.contrast(name), [min(of_groups) == 0 < max(of_groups) for of_groups in rates]


@pytest.mark.slow
def test_of_two_fair_systems_none_is_fairer_where_a_group_has_no_errors():
    """By replicates, which never have errors there either, there was no test."""
    at, tested, verdicts = ff.at_threshold(4.0), [], []
    for seed in range(30):
        systems = equal_systems(seed, sizes=(15, 40, 60))
        contrast, without_errors = of_measures(
            ff.compare(*systems, at, "gini", metrics=[], n_resamples=200, rng=seed)
        )
        if any(without_errors):
            tested.append(all(without_errors))
            verdicts.append(contrast.verdict)
            assert GAMMA <= contrast.pvalue <= 1
    assert len(tested) > 10
    assert 0 < sum(tested) < len(tested)
    assert set(verdicts) <= {"first", "second", "undecided"}
    assert sum(verdict != "undecided" for verdict in verdicts) <= 3


def test_a_system_is_less_fair_whose_errors_are_all_in_one_group():
    first, unfair = equal_systems(1, sizes=(60, 60, 60), moved=(0.0, -4.0, 2.0))
    at = ff.at_fmr(0.005)
    contrast, without_errors = of_measures(
        ff.compare(first, unfair, at, "gini", metrics=[], n_resamples=500, rng=0)
    )
    assert without_errors == [False, True]
    assert (contrast.verdict, contrast.difference < 0) == ("first", True)
    swapped, _ = of_measures(
        ff.compare(unfair, first, at, "gini", metrics=[], n_resamples=500, rng=0)
    )
    assert swapped.verdict == "second"
    same, _ = of_measures(
        ff.compare(unfair, unfair, at, "gini", metrics=[], n_resamples=100, rng=0)
    )
    assert (same.difference, same.pvalue, same.verdict) == (0, 1, "undecided")


def test_where_samples_are_drawn_a_measure_with_a_group_without_errors_has_no_verdict():
    rng = np.random.default_rng(0)
    reference, probe = np.triu_indices(60, 1)
    person = np.arange(60) // 2
    mated = person[reference] == person[probe]
    group = np.where(person < 5, "few", "many")
    systems = [
        ff.Comparisons(
            rng.normal(size=mated.size) + 3 * mated,
            mated,
            person[reference],
            person[probe],
            group[reference],
            group[probe],
            reference_sample=reference,
            probe_sample=probe,
        )
        for _ in range(2)
    ]
    found = ff.compare(
        *systems, ff.at_threshold(2.5), "gini", metrics=[], unit="sample", n_resamples=50, rng=0
    )
    contrast, without_errors = of_measures(found)
    assert any(without_errors)
    assert contrast.verdict == "withheld"
    assert has_code(contrast, Code.MEASURE_WITHOUT_ERRORS)


@pytest.mark.parametrize("seed", range(3))
def test_few_errors_name_no_system(seed):
    """Some two false matches a group: rates are tested all the same, costs are not."""
    at = ff.at_threshold(4.0)
    found = ff.compare(*equal_systems(seed), at, rng=seed)
    of_groups = [c for c in found.contrasts if c.name == "fmr" and c.group is not None]
    assert len(of_groups) == 3
    for contrast in of_groups:
        errors = [e.quantity("fmr", contrast.group).n_errors for e in found.evaluations]
        assert min(errors) < 10
        assert contrast.verdict == "undecided"
        assert contrast.low < 0 < contrast.high
        if errors[1] == 0:
            assert np.isinf(contrast.ratio) == (errors[0] > 0)


def test_no_decision_that_differs_gives_no_interval():
    one = equal_systems(0)[0]
    found = ff.compare(one, one, ff.at_threshold(30.0), n_resamples=200, rng=0).contrast(
        "fmr", "group 0"
    )
    assert (found.difference, found.pvalue, found.verdict) == (0.0, 1.0, "undecided")
    assert np.isnan([found.low, found.high, found.ratio_low, found.ratio_high]).all()
    assert has_code(found, Code.NO_DIFFERENCE)


def test_too_few_replicates_for_adjusted_pvalues_are_told():
    systems = equal_systems(0, sizes=(30,) * 8)
    with pytest.warns(
        FewResamplesWarning, match="no adjusted p-value of cllr, eer, min_cllr, min_dcf|eer"
    ):
        ff.compare(*systems, ff.at_threshold(1.0), measures=[], n_resamples=100, rng=0)


@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("metrics", ["auto", ["auto", "cllr"]])
def test_systems_with_scores_of_two_kinds_have_the_same_metrics(metrics):
    """As a system before and after its calibration."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, (2, 600))
    b = np.where(rng.random(600) < 0.4, a, b)
    sides = {
        "mated": a == b,
        "reference": a,
        "probe": b,
        "reference_group": a % 2,
        "probe_group": b % 2,
    }
    raw = rng.normal(size=600) + 2 * (a == b)
    kinds = ("similarity", "log-likelihood-ratio")
    one, other = (
        ff.Comparisons(scores, score_kind=kind, **sides)
        for scores, kind in zip((raw, raw**3), kinds, strict=True)
    )
    usual = {"eer", "min_dcf", *(["cllr"] if metrics != "auto" else [])}
    known = {"eer", "min_dcf", "cllr", "min_cllr"}
    for pair in ((one, other), (other, one)):
        for n_resamples in (0, 64):
            found = ff.compare(*pair, metrics=metrics, n_resamples=n_resamples, rng=0)
            assert {q.name for q in found.evaluations[0].quantities} & known == usual
    assert {
        q.name for q in ff.compare(other, other, n_resamples=0).evaluations[0].quantities
    } & known == known


def test_costs_with_few_errors_at_their_own_thresholds_have_no_verdict():
    one, other = equal_systems(3, shift=7.0)
    found = ff.compare(one, other, ff.at_threshold(2.0), metrics="all", n_resamples=64, rng=0)
    for group in (None, *one.groups):
        few = {"min_dcf": 10**9, "eer": 10**9}
        for system in (one, other):
            part = system if group is None else system.within_group(group)
            least = ff.rates(part, ff.at_threshold(ff.min_dcf(part).threshold)).counts
            few["min_dcf"] = min(few["min_dcf"], least.false_matches, least.false_nonmatches)
            few["eer"] = min(
                few["eer"], round(ff.eer(part).value * min(len(part.mated), len(part.nonmated)))
            )
        few |= dict.fromkeys(("cllr", "min_cllr"), few["eer"])
        for name, errors in few.items():
            assert has_code(found.contrast(name, group), Code.SYSTEM_OF_FEW_ERRORS) == (
                errors < 10
            ), (name, group)
    withheld = {
        (c.name, c.group) for c in found.contrasts if has_code(c, Code.SYSTEM_OF_FEW_ERRORS)
    }
    assert ("eer", "group 0") in withheld
    assert ("eer", None) not in withheld


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_with_errors_enough_is_still_found(seed):
    found = ff.compare(
        *equal_systems(seed, harder=0.5), ff.at_threshold(2.0), measures=[], rng=seed
    )
    for group in (None, *found.evaluations[0].groups):
        assert found.contrast("fnmr", group).verdict == "first"
        assert found.contrast("fnmr", group).pvalue_adjusted < 0.01


@pytest.mark.parametrize("seed", range(2))
def test_of_two_fair_systems_the_less_accurate_is_not_called_less_fair(seed):
    found = ff.compare(
        *equal_systems(seed, sizes=(12,) * 11, harder=1.5), ff.at_threshold(0.0), rng=seed
    )
    assert not [name for name, _, _ in named(found) if measure_of(name) is not None]
    assert found.contrast("fnmr").verdict == "first"


@pytest.mark.parametrize("unit", ["subject", "comparison"])
def test_the_order_of_rows_does_not_matter(unit):
    given = columns(2, 100, 3000)
    pairs, first = np.unique(given["reference"] * 1000 + given["probe"], return_index=True)
    given = {
        name: values[first] for name, values in given.items()
    }  # each pair once, so that rows can be told apart
    order = np.random.default_rng(0).permutation(pairs.size)
    noisy = given | {
        "scores": given["scores"] + np.random.default_rng(3).normal(0, 0.3, pairs.size)
    }
    shuffled = {name: values[order] for name, values in noisy.items()}
    one = ff.Comparisons(**given)
    straight, mixed = (
        ff.compare(one, ff.Comparisons(**other), POINTS[:1], unit=unit, n_resamples=64, rng=2)
        for other in (noisy, shuffled)
    )
    for a, b in zip(straight.contrasts, mixed.contrasts, strict=True):
        found, again = ([c.difference, c.low, c.high, c.pvalue, c.ratio_low] for c in (a, b))
        assert np.allclose(
            found, again, rtol=1e-9, equal_nan=True
        )  # sums of Cllr run in another order


def test_pairing_narrows_the_interval(systems):
    one, other = systems
    by_percentiles = {
        "settings": ff.EvaluationSettings(method="percentile"),
        "n_resamples": 500,
        "rng": 0,
    }
    paired = ff.compare(one, other, POINTS[:1], **by_percentiles).contrast("eer")
    alone = [
        ff.evaluate(c, POINTS[:1], n_resamples=500, rng=k).replicates("eer")
        for k, c in enumerate(systems)
    ]
    low, high = slow.percentile((alone[0] - alone[1]).tolist(), 0.95)
    assert paired.high - paired.low < 0.8 * (high - low)


def test_what_is_not_the_same_is_named(systems):
    given, one = columns(), systems[0]
    moved = given | {"reference_group": np.roll(given["reference_group"], 1)}
    for other, message in (
        (
            ff.Comparisons(**{name: values[1:] for name, values in given.items()}),
            "comparisons differ: first has .* that the other lacks",
        ),
        (ff.Comparisons(**columns(0, 61)), "only in second"),
        (ff.Comparisons(**moved), "groups of .* comparisons differ, such as"),
        (
            ff.Comparisons(**{k: given[k] for k in ("scores", "mated", "reference", "probe")}),
            "the groups differ",
        ),
        (ff.Comparisons([0.9, 0.1], [1, 0]), "second has no subjects"),
        ([0.1], "second must be Comparisons"),
    ):
        refused(message, ff.compare, one, other)
    for options, message in (
        ({"unit": "comparison"}, "some mated comparisons have the same reference and probe"),
        ({"n_resamples": 0, "unit": "sample"}, "without replicates, compare needs"),
        ({"n_resamples": 0, "at": ()}, "without replicates, compare needs"),
    ):
        refused(message, ff.compare, one, one, **options)


def test_export(paired, tmp_path):
    frame = paired.to_frame("polars")
    assert frame.height == len(paired.contrasts)
    content = json.loads(paired.to_json(tmp_path / "p.json"))
    assert len(content["contrasts"]) == len(paired.contrasts)
    assert content["settings"]["rng"] == 5


def test_measures_that_chance_moves_to_either_side_have_no_verdict(paired):
    of_measures = [
        c for c in paired.contrasts if measure_of(c.name) is not None and np.isfinite(c.difference)
    ]
    of_measures = [c for c in of_measures if not has_code(c, Code.COSTS_OF_FEW_ERRORS)]
    withheld = [c for c in of_measures if c.verdict == "withheld"]
    assert {measure_of(c.name).fairer for c in withheld} == {"nearer"}
    assert {measure_of(c.name).fairer for c in of_measures if c.verdict != "withheld"} == {
        "lower",
        "higher",
    }
    for contrast in withheld:
        assert has_code(contrast, Code.TWO_SIDED_MEASURE)
        assert np.isnan([contrast.pvalue, contrast.pvalue_adjusted]).all()
    garbe = paired.contrast("garbe", None, POINTS[1])
    assert garbe.low < garbe.difference < garbe.high
    assert 0 <= garbe.ratio_low < garbe.ratio_high


def test_numbers_of_errors_of_two_systems_are_drawn_apart():
    """The same draws for both would make every difference as large as the data's unusual."""
    drawn = []
    real = inversion._joint_pvalue

    def spy(first, second, difference):
        drawn.append((first.replicates, second.replicates))
        return real(first, second, difference)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "_joint_pvalue", spy)
        for seed in range(20):
            found = ff.compare(
                *equal_systems(seed, sizes=(15, 40, 60)),
                ff.at_threshold(4.0),
                "gini",
                metrics=[],
                n_resamples=400,
                rng=seed,
            )
            if all(of_measures(found)[1]):
                break
    one, other = drawn[-2]
    assert one.shape == other.shape
    for first, second in zip(one[1:4], other[1:4], strict=True):
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.2


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_a_measure_of_few_errors_of_all_comparisons_has_no_verdict():
    """The rate of all comparisons rests on errors between groups, too, whose share few errors do
    not tell."""
    at, systems = ff.at_fmr(0.001), few_errors_between_groups(0)
    found = ff.compare(*systems, at, ["mape", "gini"], metrics=[], n_resamples=200, rng=0)
    assert any(min(e.value("fmr", group) for group in e.groups) == 0 for e in found.evaluations)
    contrast = found.contrast("mape(fmr)")
    assert contrast.verdict == "withheld"
    assert has_code(contrast, Code.MEASURE_WITHOUT_ERRORS)
    assert found.contrast("gini(fmr)").verdict == "undecided"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_of_fair_systems_with_few_errors_pages_say_not_that_they_are_unfair():
    said = Counter()
    for seed in range(40):
        (fair,) = few_errors_between_groups(seed, 1)
        for _, headings, rows in printed_tables(
            ff.evaluate(fair, ff.at_fmr(0.001), n_resamples=200, rng=seed)
        ):
            if headings[-1] == "Differs from fair?":
                said.update(row[0] for row in rows if row[-1] == "yes")
    assert max(said.values(), default=0) <= binom.ppf(0.9999, 40, 0.05)


@pytest.mark.parametrize(("p_target", "is_withheld"), [(0.01, True), (0.5, False)])
def test_differences_from_the_lowest_cost_need_errors_in_each_group(systems, p_target, is_withheld):
    """The minDCF of few errors is too low, and those of all groups are held against it."""
    compared = ff.compare(
        *systems,
        [],
        metrics="min_dcf",
        measures="all",
        n_resamples=200,
        rng=0,
        costs=ff.Costs(p_target=p_target),
    )
    rows = [c for c in compared.contrasts if c.name == "group_to_min_difference(min_dcf)"]
    assert len(rows) == 3
    for row in rows:
        assert has_code(row, Code.COSTS_OF_FEW_ERRORS) == is_withheld
        assert (row.verdict == "withheld") == np.isnan(row.pvalue) == is_withheld
