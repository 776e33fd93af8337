"""Intervals of an evaluation: which quantities get which, and what comes with them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from oracles import intervals as naive_intervals

import fastfair as ff
from fastfair.errors import (
    EmptyGroupWarning,
    InputError,
    NarrowIntervalsWarning,
    ReversedScoresWarning,
)
from fastfair.evaluation.result import Evaluation
from fastfair.intervals import confidence_interval
from fastfair.uncertainty import quantities
from fastfair.uncertainty.interval_maker import rest_on_any
from fastfair.uncertainty.notes import Flag, has_flag
from fastfair.uncertainty.quantities import Quantity
from fastfair.uncertainty.rate_limits import RateEvidence

pytestmark = pytest.mark.jit  # thousands of passes
HELD, FOUND = ff.at_threshold(1.0), ff.at_fmr(0.05)


@pytest.fixture(scope="module")
def comparisons():
    return ff.Comparisons(**columns())


@pytest.fixture(scope="module")
def evaluation(comparisons):
    return ff.evaluate(comparisons, [HELD, FOUND], metrics="all", n_resamples=300, rng=1)


def test_every_quantity_has_an_interval_about_its_estimate(evaluation):
    for q in evaluation.quantities:
        if q.name == "threshold" and q.operating_point == str(HELD):
            assert (q.low, q.high, q.standard_error) == (q.estimate, q.estimate, 0)
        else:
            assert q.low < q.high
            assert 0 < q.standard_error < math.inf
            assert q.not_computable == 0


def test_percentiles_are_those_of_the_replicates(evaluation):
    evaluation = evaluation.with_intervals(method="percentile")
    for name, group, at in [
        ("fmr", "f", HELD),
        ("eer", None, None),
        ("garbe", None, FOUND),
        ("sed", "m", None),
    ]:
        replicates = evaluation.replicates(name, group, at)
        assert replicates.shape == (300,)
        q = evaluation.quantity(name, group, at)
        assert (q.low, q.high) == evaluation.interval(name, group, at)
        assert (q.low, q.high) == pytest.approx(tuple(np.quantile(replicates, [0.025, 0.975])))
        assert q.standard_error == pytest.approx(replicates.std(ddof=1))


def test_fitted_costs_are_raised_by_their_optimism(evaluation):
    for name in ("min_dcf", "min_cllr"):
        for group in (None, "f"):
            q = evaluation.quantity(name, group)
            d = 60 - 3 if group is None else 20 - 1
            low, high = naive_intervals.of_cost(
                q.estimate, evaluation.replicates(name, group).tolist(), d, 0.95
            )
            assert q.method == "log"
            assert q.low == pytest.approx(low)
            if name == "min_cllr":
                assert q.high == pytest.approx(high)
            else:  # with one more subject, but at most what accepting nobody costs
                assert min(high, 0.05) <= q.high <= 0.05
            wider = evaluation.with_intervals(0.99).quantity(name, group)
            assert wider.low < q.low < q.estimate < q.high <= wider.high


def test_costs_without_errors_have_no_interval():
    c = ff.Comparisons(
        [2.0, 3.0, 4.0, 0.0, 1.0, 0.5], [1, 1, 1, 0, 0, 0], list("abcabc"), list("abcbca")
    )
    ev = ff.evaluate(c, ff.at_threshold(1.5), n_resamples=64, rng=0)
    assert ev.value("min_dcf") == 0
    assert math.isnan(ev.interval("min_dcf")[0])
    assert "no interval" in ev.quantity("min_dcf").note


def test_another_level_or_method_needs_no_resampling(evaluation):
    other = evaluation.with_intervals(0.8, "basic")
    assert other.uncertainty is evaluation.uncertainty
    replicates = evaluation.replicates("fnmr", "f", FOUND)
    low, high = confidence_interval(replicates, evaluation.value("fnmr", "f", FOUND), 0.8, "basic")
    assert other.interval("fnmr", "f", FOUND) == (low, high)
    assert (other.settings["confidence_level"], other.settings["method"]) == (0.8, "basic")
    assert other.with_intervals(0.95, "auto").quantities == evaluation.quantities
    refused("method must be one of", evaluation.with_intervals, method="exact")


def test_dyadic_intervals_are_for_false_match_rates(evaluation):
    other = evaluation.with_intervals(method="dyadic")
    for group in (None, "f"):
        q = evaluation.quantity("fmr", group, HELD)
        factor = math.exp(1.959963984540054 * q.standard_error / q.estimate)
        assert other.interval("fmr", group, HELD) == pytest.approx(
            (q.estimate / factor, q.estimate * factor)
        )
    for name in ("fnmr", "garbe", "threshold", "fmr"):  # the overall FMR is held at the other point
        percentiles = evaluation.with_intervals(method="percentile")
        assert other.interval(name, None, FOUND) == percentiles.interval(name, None, FOUND)


def test_bca_lies_near_the_percentiles_and_is_not_the_same(evaluation):
    other = evaluation.with_intervals(method="bca")
    for name in ("eer", "fnmr", "garbe"):
        at = None if name == "eer" else HELD
        q = evaluation.quantity(name, at=at)
        low, high = other.interval(name, at=at)
        assert (low, high) != (q.low, q.high)
        assert abs(low - q.low) + abs(high - q.high) < 3 * q.standard_error


def test_limits_stay_within_the_bounds_of_the_quantity():
    given = columns(n=600)
    c = ff.Comparisons(**given | {"scores": given["scores"] + 2.5 * given["mated"]})
    ev = ff.evaluate(
        c,
        ff.at_threshold(2.2),
        n_resamples=200,
        rng=0,
        settings=ff.EvaluationSettings(method="normal"),
    )
    assert (
        min(q.low for q in ev.quantities if q.name in ("fmr", "fnmr", "eer", "min_dcf", "garbe"))
        == 0
    )
    for q in ev.quantities:
        if q.name in ("fmr", "fnmr", "eer") and q.low is not None and not math.isnan(q.low):
            assert 0 <= q.low <= q.high <= 1
        if q.name == "fdr":
            assert q.high <= 1


def test_a_group_without_errors_is_flagged_and_has_no_interval_of_width_zero():
    given = columns()
    f = given["reference_group"] == "f"
    within = f & (given["probe_group"] == "f")
    scores = np.where(within & ~given["mated"], -10, given["scores"])
    scores = np.where(
        within & given["mated"], np.where(given["reference"] % 2, -20.0, -20.0), scores
    )
    c = ff.Comparisons(**given | {"scores": scores})
    ev = ff.evaluate(c, HELD, n_resamples=100, rng=0)
    q = ev.quantity("fmr", "f")
    assert (q.estimate, q.low) == (0, 0)
    # All of its scores are the same, so that no threshold tells how errors cluster.
    assert q.high == pytest.approx(1 - 0.025 ** (1 / (q.n_subjects // 2)))
    assert q.note.endswith(
        f"no errors: the interval is Clopper and Pearson's, for {q.n_subjects // 2} independent"
        " comparisons"
    )
    q = ev.quantity("fnmr", "f")
    assert (q.estimate, q.high) == (1, 1)
    # How its failures would cluster, those of the other groups tell.
    counts = ff.FailureCounts.from_comparisons(c, HELD)
    assert q.low == pytest.approx(counts.confidence_interval()[0][0])
    assert 0.025 ** (1 / q.n_subjects) < q.low < 0.025 ** (1 / q.n_comparisons)
    q = ev.quantity("max_min_ratio(fmr)")
    assert math.isnan(q.low)
    assert q.not_computable == 1
    assert "not computable" in q.note


def test_without_errors_the_design_effect_is_that_of_a_laxer_threshold():
    """Four mated comparisons of a subject have the same score, so that there are as many
    independent ones as subjects.

    Non-mated scores do not depend on subjects, and those of two of them are shifted beyond all
    others at first.
    """
    rng = np.random.default_rng(0)
    n = 40
    i, j = np.triu_indices(n, 1)
    subjects = np.repeat(np.arange(n), 4)
    mated = 9 + np.repeat(rng.normal(size=n), 4)
    scores = np.concatenate((mated, rng.normal(size=i.size)))
    mates = np.arange(scores.size) < mated.size
    c = ff.Comparisons(scores, mates, np.append(subjects, i), np.append(subjects, j))
    ev = ff.evaluate(c, ff.at_threshold(6.0), metrics=["eer"], n_resamples=64, rng=0)
    fmr, fnmr, eer = (ev.quantity(name) for name in ("fmr", "fnmr", "eer"))
    assert [q.estimate for q in (fmr, fnmr, eer)] == [0, 0, 0]
    assert {q.method for q in (fmr, fnmr, eer)} == {"clopper-pearson"}
    assert 1 - 0.025 ** (1 / i.size) <= fmr.high <= 1 - 0.025 ** (1 / (i.size // 2))
    assert fnmr.high == pytest.approx(1 - 0.025 ** (1 / n), rel=0.05)
    assert (eer.low, eer.high) == (0, fnmr.high)
    distances = ff.Comparisons(-scores, mates, np.append(subjects, i), np.append(subjects, j))
    with pytest.warns(ReversedScoresWarning):
        reverse = ff.evaluate(
            distances, ff.at_threshold(-6.0), metrics=["eer"], n_resamples=64, rng=0
        )
    assert [reverse.value(name) for name in ("fmr", "fnmr", "eer")] == [1, 1, 1]
    for name, q in (("fmr", fmr), ("fnmr", fnmr), ("eer", eer)):
        assert reverse.interval(name) == pytest.approx((1 - q.high, 1))
    alone = ff.evaluate(
        c, ff.at_threshold(6.0), unit="comparison", metrics=["eer"], n_resamples=64, rng=0
    )
    assert alone.quantity("fnmr").high == pytest.approx(1 - 0.025 ** (1 / (4 * n)))
    assert (
        "cautious upper limit 0.0881, if only subjects are independent"
        in alone.quantity("fnmr").note
    )


def hubs(share: float) -> ff.Comparisons:
    """One of 30 subjects is in a share of the false matches; all subjects are compared."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(30, 1)
    scores = np.concatenate((np.full(30, 5.0), rng.random(i.size)))
    of_hub = np.flatnonzero((i == 0) | (j == 0))
    others = np.flatnonzero((i != 0) & (j != 0))
    n = round(20 * share)
    wrong = np.concatenate(
        (rng.choice(of_hub, n, replace=False), rng.choice(others, 20 - n, replace=False))
    )
    scores[30 + wrong] += 1
    scores[:30] = 1 + 2 * rng.random(30)
    k = np.arange(30)
    return ff.Comparisons(scores, np.arange(scores.size) < 30, np.append(k, i), np.append(k, j))


def of_hubs(share: float, at: ff.OperatingPoint = HELD, **asked: object) -> Evaluation:
    return ff.evaluate(hubs(share), at, **{"metrics": [], "n_resamples": 64, "rng": 0} | asked)


def test_few_subjects_who_cause_most_false_matches_widen_the_interval():
    even, skewed = (of_hubs(share, n_resamples=300) for share in (0.05, 0.7))
    assert even.quantity("fmr").n_errors == skewed.quantity("fmr").n_errors == 20
    freedom = [
        ev.uncertainty.sizes.degrees_of_freedom[[q.name for q in ev.quantities].index("fmr")]
        for ev in (even, skewed)
    ]
    assert freedom[1] < 2.5 < freedom[0] < 29
    q = skewed.quantity("fmr")
    low, high = RateEvidence(q.estimate, q.standard_error, freedom[1]).interval(0.95)
    assert (q.low, q.high) == pytest.approx((float(low), float(high)))
    assert (
        of_hubs(
            0.7, settings=ff.EvaluationSettings(scheme="product")
        ).uncertainty.sizes.degrees_of_freedom.min()
        == 29
    )


def test_concentrated_errors_are_noted_and_warned_of():
    with pytest.warns(
        NarrowIntervalsWarning, match="involve the 5 % of subjects with most: FMR of all"
    ):
        ev = of_hubs(0.8, metrics=["min_dcf"])
    assert "few subjects cause most false matches" in ev.quantity("min_dcf").note
    q = ev.quantity("fmr")
    assert 0.8 <= q.concentration <= 1
    assert "of the errors involve the 5 % of subjects with most: likely too narrow" in q.note
    assert "of the errors involve" not in of_hubs(0.3).quantity("fmr").note


def test_a_threshold_that_few_subjects_hold_is_noted():
    noted = "few subjects cause most false matches"
    for share, expected in ((0.8, True), (0.05, False)):
        with quietly(NarrowIntervalsWarning):
            assert (
                noted in of_hubs(share, ff.at_fmr(20 / 435)).quantity("threshold").note
            ) == expected


@each(
    ("name", "group", "at", "concentrated_in", "expected"),
    [
        ("min_dcf", "f", None, ["f"], True),
        ("min_dcf", "m", None, ["f"], False),
        ("min_dcf", None, None, ["f"], False),
        ("min_dcf", None, None, [None], True),
        ("min_dcf", None, None, [], False),
        ("min_cllr", "f", None, ["f"], True),
        ("min_cllr", "m", None, ["f"], False),
        ("min_cllr", None, None, [None], False),
        ("std(fmr)", None, ff.at_fmr(0.1), ["f"], True),
        ("garbe", None, ff.at_fmr(0.1), ["f"], True),
        ("garbe", None, ff.at_fmr(0.2), ["f"], False),
        ("std(fnmr)", None, ff.at_fmr(0.1), ["f"], False),
        ("nrb(eer)", None, None, ["f"], False),
        ("threshold", None, ff.at_fmr(0.1), ["f"], False),
        ("fnmr", "f", ff.at_fmr(0.1), ["f"], False),
    ],
)
def test_what_rests_on_concentrated_false_matches(name, group, at, concentrated_in, expected):
    concentrated = [Quantity("fmr", one, ff.at_fmr(0.1), 0.1) for one in concentrated_in]
    assert rest_on_any([Quantity(name, group, at, 0.5)], concentrated) == [expected]


def test_measures_of_min_dcf_say_that_it_is_fitted():
    with quietly(NarrowIntervalsWarning):
        ev = ff.evaluate(
            ff.Comparisons(**columns()),
            at=(),
            measures=["nrb"],
            metrics="all",
            n_resamples=64,
            rng=0,
        )
    assert "its threshold is fitted" in ev.quantity("nrb(min_dcf)").note
    assert "its threshold is fitted" not in ev.quantity("nrb(cllr)").note


def test_a_group_of_one_subject_cannot_vary():
    given = columns()
    alone = np.where(given["reference"] == 0, "z", given["reference_group"])
    probes = np.where(given["probe"] == 0, "z", given["probe_group"])
    c = ff.Comparisons(**given | {"reference_group": alone, "probe_group": probes})
    with pytest.warns(EmptyGroupWarning):
        ev = ff.evaluate(
            c,
            HELD,
            measures=[],
            n_resamples=100,
            rng=0,
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
        )
    q = ev.quantity("fnmr", "z")
    assert math.isnan(q.low)
    assert "one subject" in q.note


def test_shares_of_replicates_without_a_value():
    """Two subjects a group: in half of the replicates both draws are one subject, and no non-mated
    pair is left."""
    scores = [0.9, 0.8, 0.7, 0.6, 0.65, 0.1] * 2
    who = list("aabbab") + list("ccddcd"), list("aabbba") + list("ccdddc")
    c = ff.Comparisons(scores, [1, 1, 1, 1, 0, 0] * 2, *who, list("ffffffmmmmmm"))
    ev = ff.evaluate(c, HELD, measures=[], n_resamples=2000, rng=0)
    assert ev.quantity("fmr", "f").not_computable == pytest.approx(0.5, abs=0.05)
    assert ev.quantity("fmr").not_computable == pytest.approx(0.25, abs=0.05)
    assert ev.quantity("fnmr", "f").not_computable == 0


def test_seeds(comparisons):
    def limits(rng):
        return ff.evaluate(comparisons, HELD, measures=[], n_resamples=64, rng=rng).interval("eer")

    assert limits(3) == limits(np.random.SeedSequence(3)) == limits(np.int64(3))
    assert limits(np.random.default_rng(0)) == limits(np.random.default_rng(0))
    assert limits(None) != limits(None)
    ev = ff.evaluate(comparisons, HELD, n_resamples=64)
    assert ev.interval("eer") == limits(ev.settings["rng"])
    assert json.loads(ev.to_json())["settings"]["rng"] == ev.settings["rng"]


def test_a_progress_bar(comparisons, capsys):
    ff.evaluate(comparisons, HELD, n_resamples=100, progress=True)
    assert capsys.readouterr().out == ""


def test_resampling_comparisons_of_repeated_subjects_warns_and_is_narrower(comparisons):
    given = columns(n_subjects=20)
    effect = np.random.default_rng(0).normal(0, 1, 20)
    c = ff.Comparisons(**given | {"scores": given["scores"] + effect[given["reference"]]})
    with pytest.warns(
        NarrowIntervalsWarning, match="treats 5000 comparisons of 20 subjects as independent"
    ):
        narrow = ff.evaluate(c, HELD, measures=[], unit="comparison", n_resamples=300, rng=0)
    wide = ff.evaluate(c, HELD, measures=[], n_resamples=300, rng=0)
    assert narrow.quantity("fnmr").standard_error < 0.5 * wide.quantity("fnmr").standard_error


def test_the_dyadic_scheme_narrows_false_match_rates_alone(comparisons):
    one, other = (
        ff.evaluate(
            comparisons,
            HELD,
            measures=[],
            n_resamples=500,
            rng=0,
            settings=ff.EvaluationSettings(scheme=s),
        )
        for s in ("dyadic", "product")
    )
    assert one.quantity("fmr", "f").standard_error < 0.8 * other.quantity("fmr", "f").standard_error
    assert one.quantity("fnmr", "f").standard_error == other.quantity("fnmr", "f").standard_error


def test_metrics_and_points_can_be_left_out(comparisons):
    ev = ff.evaluate(
        comparisons, at=[], metrics=["eer"], measures=["nrb", "std"], n_resamples=100, rng=0
    )
    assert {q.name for q in ev.quantities} == {"eer", "nrb(eer)", "std(eer)"}
    ev = ff.evaluate(
        comparisons, at=HELD, metrics=[], measures=["nrb", "sed"], n_resamples=100, rng=0
    )
    assert {q.name for q in ev.quantities} == {
        "threshold",
        "fmr",
        "fnmr",
        "fmr_matrix",
        "nrb(fmr)",
        "nrb(fnmr)",
        "sed",
        "sed_mean",
        "sed_std",
    }
    assert all(q.low is not None for q in ev.quantities)


def test_an_interval_without_end_is_told():
    given = columns(n_subjects=12, n=900)
    c = ff.Comparisons(**given | {"scores": given["scores"] + 2.5 * given["mated"]})
    ev = ff.evaluate(c, ff.at_threshold(1.4), measures=["max_min_ratio"], n_resamples=300, rng=0)
    q = ev.quantity("max_min_ratio(fmr)")
    assert "% of replicates" in q.note
    assert math.isfinite(q.estimate)
    assert 1 <= q.low < q.estimate
    assert q.high == math.inf
    assert "the interval is unbounded" in q.note


def test_rates_that_rest_on_few_effective_errors_are_warned_of():
    given = columns(n_subjects=12, n=3000)
    effect = np.random.default_rng(1).normal(0, 1.5, 12)  # many errors, of few subjects
    c = ff.Comparisons(
        **given | {"scores": given["scores"] + effect[given["reference"]] * given["mated"]}
    )
    with pytest.warns(NarrowIntervalsWarning, match=r"fewer than 10 effective errors.*FNMR of f"):
        ev = ff.evaluate(
            c,
            HELD,
            measures=[],
            n_resamples=200,
            rng=0,
            settings=ff.EvaluationSettings(method="percentile"),
        )
    wide = ev.with_intervals(method="auto").quantity("fnmr", "f")
    assert "narrow" not in wide.note
    q = ev.quantity("fnmr", "f")
    assert wide.high - wide.low > 1.2 * (q.high - q.low)
    assert q.n_errors > 30
    assert (q.estimate / q.standard_error) ** 2 < 10
    assert "likely too narrow" in q.note


def test_measures_that_chance_moves_are_warned_of():
    given = columns(n_subjects=60, n=900)  # groups that do not differ but by chance
    with pytest.warns(
        NarrowIntervalsWarning, match=r"fewer than 5 false matches or false non-matches.*: f"
    ):
        ev = ff.evaluate(
            ff.Comparisons(**given),
            ff.at_threshold(1.9),
            measures=["gini"],
            n_resamples=200,
            rng=0,
            settings=ff.EvaluationSettings(method="percentile"),
        )
    q = ev.quantity("gini(fmr)")
    assert ev.replicates("gini(fmr)").mean() > q.estimate + 0.5 * q.standard_error
    assert "mostly to one side of the estimate" in q.note


@pytest.mark.filterwarnings("error")  # also of the one that other tests with toy data let pass
def test_rates_that_rest_on_enough_are_not():
    given = columns(n_subjects=90, n=60_000)
    ev = ff.evaluate(ff.Comparisons(**given), HELD, measures=[], n_resamples=200, rng=0)
    assert not any("narrow" in q.note for q in ev.quantities)


def test_dyadic_intervals_need_dyadic_replicates(comparisons):
    with pytest.raises(InputError, match="needs replicates with the dyadic-robust variance"):
        ff.evaluate(
            comparisons, HELD, settings=ff.EvaluationSettings(method="dyadic", scheme="product")
        )
    plain = ff.evaluate(
        comparisons,
        HELD,
        measures=[],
        n_resamples=64,
        settings=ff.EvaluationSettings(scheme="product"),
    )
    refused('not unit="subject" with scheme="product"', plain.with_intervals, method="dyadic")


def test_an_evaluation_can_be_sent_to_another_process(evaluation):
    import pickle

    again = pickle.loads(pickle.dumps(evaluation))
    assert again.with_intervals(method="bca").interval("eer") == evaluation.with_intervals(
        method="bca"
    ).interval("eer")


def test_the_jackknife_has_its_limit():
    n = 12_000
    c = ff.Comparisons(np.arange(2 * n) % 7 + [2, 0] * n, [1, 0] * n)
    with pytest.raises(InputError, match=r"leaves out 24,000 units one at a time"):
        ff.evaluate(
            c, HELD, unit="comparison", settings=ff.EvaluationSettings(method="bca"), n_resamples=64
        )


def test_fewer_than_30_false_matches_are_noted_for_rates_and_what_rests_on_them():
    rng = np.random.default_rng(2)
    first, second = np.triu_indices(40, 1)
    own = np.arange(40)
    scores = np.concatenate((rng.normal(3, 1, 40), rng.normal(0, 1, first.size)))
    reference, probe = np.concatenate((own, first)), np.concatenate((own, second))
    group = np.where(np.arange(40) % 2, "x", "y")
    c = ff.Comparisons(
        scores,
        np.repeat([1, 0], [40, first.size]),
        reference,
        probe,
        group[reference],
        group[probe],
    )
    few, many = ff.at_threshold(2.0), ff.at_threshold(0.5)
    found = ff.evaluate(
        c, [few, many], ["gini", "group_to_average_ratio"], metrics=[], n_resamples=100, rng=0
    )
    for at, expected in ((few, True), (many, False)):
        rates = [found.quantity("fmr", group, at=at) for group in (None, "x", "y")]
        assert all((0 < q.n_errors < 30) == expected for q in rates)
        of_fmr = [
            q
            for q in found.quantities
            if q.at == at and q.name.endswith("(fmr)") and q.low == q.low
        ]
        assert {has_flag(q, Flag.UNKNOWN_CONCENTRATION) for q in (*rates, *of_fmr)} == {expected}
        assert not has_flag(found.quantity("gini(fnmr)", at=at), Flag.UNKNOWN_CONCENTRATION)


@pytest.mark.parametrize("method", ["auto", "bca", "basic"])
def test_intervals_are_the_same_however_many_quantities_are_read_at_once(method, monkeypatch):
    c = ff.Comparisons(**columns())
    at = ff.at_threshold(1.0)
    wanted = ff.evaluate(c, at, metrics=["eer"], n_resamples=700, rng=0, n_threads=1)
    monkeypatch.setattr(quantities, "_AT_ONCE", 2000)
    found = ff.evaluate(c, at, metrics=["eer"], n_resamples=700, rng=0, n_threads=2)
    assert (
        found.with_intervals(method=method).quantities
        == wanted.with_intervals(method=method).quantities
    )


def test_a_ratio_to_others_without_errors_has_no_interval():
    """Whoever has all errors would be 3 times the average in every data set."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), 10)
    group = np.array(list("abc"))[person // 20]
    wrong = (group == "a") & (rng.random(600) < 0.2)
    c = ff.Comparisons(
        np.concatenate((~wrong, np.zeros(60))),
        np.repeat([1, 0], [600, 60]),
        np.concatenate((person, np.arange(60))),
        np.concatenate((person, np.roll(np.arange(60).reshape(3, 20), 1, axis=1).ravel())),
        np.concatenate((group, np.repeat(list("abc"), 20))),
        np.concatenate((group, np.repeat(list("abc"), 20))),
    )
    found = ff.evaluate(
        c, ff.at_threshold(0.5), ["group_to_average_ratio"], metrics=[], n_resamples=50, rng=0
    )
    for name in "abc":
        ratio = found.quantity("group_to_average_ratio(fnmr)", name)
        assert math.isnan(ratio.low)
        assert "the group, or all others together, have fewer than 5 such errors" in ratio.note
    assert found.quantity("group_to_average_ratio(fnmr)", "a").estimate == pytest.approx(3)
