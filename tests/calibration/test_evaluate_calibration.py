"""Costs of decisions by log-likelihood ratios, their intervals, and what is called miscalibrated or
different."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.quiet import quietly
from helpers.refusals import refused
from oracles import calibration as slow
from scipy.stats import t

import fastfair as ff
from fastfair.calibration.evaluate_calibration import Calibration
from fastfair.errors import DroppedWarning, InputError
from fastfair.evaluation.result import Evaluation

pytestmark = pytest.mark.jit  # thousands of passes
LLR = "log-likelihood-ratio"
RARE, EVEN = ff.Costs(0.05, 1, 2), ff.Costs(0.5)
SHIFTS = (-4, -2, -1, 1, 2, 4)
FEW = {"n_resamples": 200, "rng": 7}


def ratios_of(**given: np.ndarray) -> ff.Comparisons:
    """Calibrated are 2 s - 2; those of women are 2 too large."""
    scores = 2 * given["scores"] - 2 + 2 * (given["reference_group"] == "f")
    return ff.Comparisons(**given | {"scores": scores}, score_kind=LLR)


@pytest.fixture(scope="module")
def ratios() -> ff.Comparisons:
    return ratios_of(**columns())


@pytest.fixture(scope="module")
def found(ratios) -> Calibration:
    return ff.evaluate_calibration(ratios, [RARE, EVEN], **FEW)


def lists(c: ff.Comparisons, group: str | None) -> tuple[list[float], list[float]]:
    own = c if group is None else c.within_group(group)
    return own.mated.similarities.tolist(), own.nonmated.similarities.tolist()


def test_estimates_are_the_oracles():
    ratios = ratios_of(**columns(n=1000))
    found = ff.evaluate_calibration(ratios, [RARE, EVEN], **FEW)
    for row in found.costs:
        application = row.application.p_target, row.application.c_miss, row.application.c_fa
        sides = lists(ratios, row.group)
        unit = slow.default_cost(application)
        assert row.threshold == pytest.approx(slow.bayes_threshold(*application))
        assert row.actual == pytest.approx(slow.act_dcf(*sides, application) / unit)
        assert row.minimum == pytest.approx(slow.least_cost(*sides, application) / unit)
        assert row.miscalibration == pytest.approx(row.actual - row.minimum)
        prior = 1 / (1 + math.exp(slow.bayes_threshold(*application)))
        assert row.cllr == pytest.approx(slow.cllr(*sides, prior))
        assert (row.n_mated, row.n_nonmated) == tuple(map(len, sides))
        assert row.fmr == row.n_false_matches / row.n_nonmated
    for row in found.ratio_costs:
        sides = lists(ratios, row.group)
        assert row.cllr == pytest.approx(slow.cllr(*sides, 0.5))
        assert row.minimum == pytest.approx(slow.min_cllr(*sides, 0.5))
        assert row.loss == pytest.approx(row.cllr - row.minimum)
        assert row.loss <= row.loss_high


def test_costs_are_divided_by_that_without_scores_unless_asked_otherwise(ratios, found):
    plain = ff.evaluate_calibration(ratios, [RARE, EVEN], normalize=False, **FEW)
    for one, other in zip(plain.costs, found.costs, strict=True):
        application = one.application.p_target, one.application.c_miss, one.application.c_fa
        unit = slow.default_cost(application)
        for name in ("actual", "actual_low", "actual_high", "minimum_high", "miscalibration_low"):
            assert getattr(one, name) == pytest.approx(unit * getattr(other, name))
        assert one.pvalue == pytest.approx(other.pvalue)


def evaluated(
    c: ff.Comparisons, application: ff.Costs, confidence_level: float = 0.95
) -> Evaluation:
    points = [ff.at_threshold(application.threshold + shift) for shift in (0, *SHIFTS)]
    return ff.evaluate(c, points, [], metrics=[], confidence_level=confidence_level, **FEW)


def test_intervals_of_costs_are_put_together_from_those_of_rates(ratios, found):
    for application in (RARE, EVEN):
        ev, at = evaluated(ratios, application), ff.at_threshold(application.threshold)
        costs = replace(application, normalize=True)
        weights = costs.miss / costs.unit, costs.false_match / costs.unit
        for group in (None, *ratios.groups):
            both = [ev.quantity(name, group, at) for name in ("fnmr", "fmr")]
            parts = [
                tuple(w * end for end in (q.estimate, q.low, q.high))
                for w, q in zip(weights, both, strict=True)
            ]
            drawn = [ev.replicates(name, group, at) for name in ("fnmr", "fmr")]
            varies = min(map(np.std, drawn)) > 1e-12
            correlation = np.corrcoef(*drawn)[0, 1] if varies else 0.0
            row = found.cost(application, group)
            low, high = slow.sum_interval(*parts, correlation)
            assert (row.actual_low, row.actual_high) == pytest.approx(
                (max(low, 0), min(high, sum(weights)))
            )


def test_lower_limits_of_miscalibration_are_what_shifted_thresholds_save(ratios, found):
    """Found again from evaluations at the shifted thresholds, whose replicates are the same."""
    for application, group in itertools.product((RARE, EVEN), (None, "f", "x")):
        ev, row = evaluated(ratios, application), found.cost(application, group)
        costs = replace(application, normalize=True)
        weights = costs.miss / costs.unit, costs.false_match / costs.unit

        def of(shift, ev=ev, group=group, application=application):
            at = ff.at_threshold(application.threshold + shift)
            return [ev.quantity(name, group, at) for name in ("fnmr", "fmr")], [
                ev.replicates(name, group, at) for name in ("fnmr", "fmr")
            ]

        n_subjects = 60 if group is None else 20
        freedom = n_subjects - (3 if group is None else 1)
        rates, drawn = of(0)
        limits, pvalues = [], []
        for shift in SHIFTS:
            others, drawn_there = of(shift)
            saved = sum(
                w * (a.estimate - b.estimate)
                for w, a, b in zip(weights, rates, others, strict=True)
            )
            in_replicates = sum(
                w * (a - b) for w, a, b in zip(weights, drawn, drawn_there, strict=True)
            )
            changed = tuple(
                abs(a.n_errors - b.n_errors) for a, b in zip(rates, others, strict=True)
            )
            sizes = tuple(rate.n_comparisons for rate in rates)
            error = slow.error_of_saving(in_replicates.tolist(), weights, sizes, changed)
            share = 0.75 / 6 if abs(shift) <= 4 else 0.25 / 10  # of the error probability; 1 in all
            limits.append(saved - t.ppf(1 - 0.025 * share, freedom) * error if error else -math.inf)
            pvalues.append(t.sf(saved / error, freedom) / share if error else 1.0)
        assert row.miscalibration_low == pytest.approx(max(0, *limits))
        assert row.pvalue == pytest.approx(min(1, *pvalues))


def test_women_are_found_miscalibrated_and_others_are_not(found):
    assert found.cost(EVEN, "f").verdict == "miscalibrated"
    assert {found.cost(EVEN, group).verdict for group in "mx"} == {"undecided"}
    rows = [found.cost(EVEN, group) for group in "fmx"]
    assert rows[0].miscalibration_low > 0 == rows[1].miscalibration_low
    adjusted = ff.intervals.holm([row.pvalue for row in rows])
    assert [row.pvalue_adjusted for row in rows] == pytest.approx(adjusted.tolist())
    assert "Miscalibrated, with p-values adjusted for the number of groups: f" in found.summary()


def test_differences_are_between_two_groups(found):
    pairs = list(itertools.combinations("fmx", 2))
    assert [(one.first, one.second) for one in found.differences] == pairs * 4
    for one in found.differences:
        rows = [found.cost(one.application, group) for group in (one.first, one.second)]
        name = {"act_dcf": "actual", "miscalibration": "miscalibration"}[one.quantity]
        assert one.difference == getattr(rows[0], name) - getattr(rows[1], name)
        assert (
            one.simultaneous_low <= one.low <= one.difference <= one.high <= one.simultaneous_high
        )
        outside = one.simultaneous_low > 0 or one.simultaneous_high < 0
        assert one.verdict == ("different" if outside else "undecided")
        ends = [
            (getattr(row, name), getattr(row, f"{name}_low"), getattr(row, f"{name}_high"))
            for row in rows
        ]
        if name == "miscalibration":
            other = tuple(-ends[1][k] for k in (0, 2, 1))
            assert (one.low, one.high) == pytest.approx(slow.sum_interval(ends[0], other, 0.0))


def test_measures_take_the_actual_cost(found):
    for application in (RARE, EVEN):
        overall, *groups = (found.cost(application, group).actual for group in (None, *"fmx"))
        nrb = found.measure("NRB of actDCF", application=application)
        assert nrb.estimate == pytest.approx(float(ff.measures.nrb(groups, overall)))
        rows = [found.cost(application, group) for group in "fmx"]
        if min(min(row.n_false_matches, row.n_false_nonmatches) for row in rows):
            assert nrb.low < nrb.estimate < nrb.high
        else:
            assert math.isnan(nrb.low)
            assert "no interval: a group has no false matches or no false non-matches" in nrb.note
        ratios_of = ff.measures.group_to_average_ratio(groups, overall)
        for group, value in zip("fmx", ratios_of, strict=True):
            assert found.measure(
                "group_to_average_ratio(act_dcf)", group, application
            ).estimate == pytest.approx(value)
    assert {one.name.partition("(")[2] for one in found.measures} == {
        "act_dcf)",
        "min_dcf)",
        "cllr)",
    }


def test_results_are_written_and_read(found, tmp_path):
    frame = found.to_frame("polars")
    assert frame.height == 8
    assert frame.columns[:5] == ["application", "p_target", "c_miss", "c_fa", "group"]
    written = json.loads(found.to_json(tmp_path / "calibration.json"))
    assert written["bayes_errors"][0][0] is None
    found.report(tmp_path / "one.html")
    (back,) = ff.read_results(tmp_path / "one.html")
    assert isinstance(back, Calibration)
    assert json.loads(back.to_json()) == written
    back.report(tmp_path / "other.html")
    assert (tmp_path / "one.html").read_text("utf-8") == (tmp_path / "other.html").read_text(
        "utf-8"
    )
    assert back.summary() == found.summary()


def test_plots_show_groups(found):
    assert [text.get_text() for text in found.plot(application=EVEN).get_yticklabels()] == [
        "all",
        "f",
        "m",
        "x",
    ]
    assert len(found.plot().get_yticklabels()) == 8
    labels = [text.get_text() for text in found.plot_bayes_error().get_legend().get_texts()]
    assert labels == ["f", "m", "x", "actual", "minimum", "without scores"]
    assert len(found.plot_tippett().lines) == 2 * 3 + 1


def test_rows_are_looked_up(found):
    refused("several applications", found.cost)
    refused("no group 'y'", found.cost, EVEN, "y")
    refused(r"there is no group None at p_target=0\.3", found.plot, application=ff.Costs(0.3))
    refused("there is no measure 'gini", found.measure, "gini(act_dcf)")


def test_without_groups_there_are_costs_alone():
    given = columns()
    c = ff.Comparisons(
        given["scores"], given["mated"], given["reference"], given["probe"], score_kind=LLR
    )
    alone = ff.evaluate_calibration(c, EVEN, **FEW)
    assert (len(alone.costs), alone.differences, alone.measures) == (1, (), ())
    assert alone.cost().actual_low < alone.cost().actual < alone.cost().actual_high
    assert "At p_target=0.5" in alone.summary()
    assert len(alone.plot_bayes_error().lines) == 4


def test_costs_without_errors_have_limits():
    """Where no comparison is an error, the interval of the cost is Clopper and Pearson's of both
    rates."""
    c = ff.Comparisons(
        [6.0, 5.0, 7.0, -6.0, -5.0, -7.0],
        [1, 1, 1, 0, 0, 0],
        list("abcabc"),
        list("abcbca"),
        score_kind=LLR,
    )
    row = ff.evaluate_calibration(c, EVEN, **FEW).cost()
    assert (row.actual, row.actual_low, row.verdict) == (0, 0, "")
    assert row.actual_high > 0.5
    assert "no errors" in row.note


def test_groups_without_a_class_are_left_out():
    given = columns()
    kept = ~(given["mated"] & (given["reference_group"] == "x"))
    c = ff.Comparisons(**{name: values[kept] for name, values in given.items()}, score_kind=LLR)
    with pytest.warns(DroppedWarning, match="'x' has 0 mated"):
        some = ff.evaluate_calibration(c, EVEN, **FEW)
    assert math.isnan(some.cost(group="x").actual)
    assert some.cost(group="x").verdict == ""
    assert {one.first + one.second for one in some.differences} == {"fm"}
    assert some.measure("nrb(act_dcf)").estimate > 0
    assert set(some.bayes_errors) == {None, "f", "m"}


def test_what_cannot_be_evaluated_says_why(ratios):
    refused(
        "calibration is that of log-likelihood ratios",
        ff.evaluate_calibration,
        ff.Comparisons(**columns()),
    )
    refused("applications is empty", ff.evaluate_calibration, ratios, [])
    refused("costs such as Costs", ff.evaluate_calibration, ratios, [0.01])
    refused(
        "n_resamples must be a whole number of at least 2",
        ff.evaluate_calibration,
        ratios,
        n_resamples=1,
    )
    for wrong in ({"p_target": 1.0}, {"p_target": 0.1, "c_fa": 0}, {"p_target": 0.1, "c_miss": -1}):
        with pytest.raises(InputError):
            ff.Costs(**wrong)


def test_the_same_seed_makes_the_same_bits_whatever_the_threads(ratios):
    one, other = (ff.evaluate_calibration(ratios, [EVEN], **FEW, n_threads=n) for n in (1, 2))
    assert one.to_json() == other.to_json()


@pytest.fixture(scope="module")
def speakers(shared_data) -> ff.Comparisons:
    path = shared_data / "evalita2009_speakers.tsv.gz"
    return ff.read_comparisons(path, score="score", mated="target", groups="gender", score_kind=LLR)


def test_groups_calibrated_apart_cost_speakers_less(speakers):
    rare = ff.Costs(0.01)
    ratios = quietly()(ff.calibrate)(
        speakers, development=speakers, group_wise=True, p_target=0.01
    ).comparisons
    before, after = (
        ff.act_dcf(c.within_group("f"), replace(rare, normalize=True)).value
        for c in (speakers, ratios)
    )
    assert before > 0.99
    assert after < 0.8


def ratios_of_a_calibrated_system() -> tuple[np.ndarray, np.ndarray]:
    """Draw normal scores that are log-likelihood ratios as they are: means of plus and minus half
    their variance."""
    rng, mated = np.random.default_rng(4), np.arange(2000) % 4 == 0
    return rng.normal(np.where(mated, 4.5, -4.5), 3.0), mated


def test_logarithms_to_base_10_are_made_natural(tmp_path):
    scores, mated = ratios_of_a_calibrated_system()
    pl = pytest.importorskip("polars")
    decimal = "log10-likelihood-ratio"
    natural = ff.Comparisons(scores, mated, score_kind=LLR)
    ids = np.arange(mated.size)
    frame = pl.DataFrame(
        {
            "score": scores / np.log(10),
            "mated": mated,
            "reference": ids,
            "probe": np.where(mated, ids, ids + 5000),
        }
    )
    frame.write_csv(tmp_path / "s.csv")
    who = {"reference": "reference", "probe": "probe"}
    found = [
        ff.Comparisons(scores / np.log(10), mated, score_kind=decimal),
        ff.Comparisons.from_frame(frame, score_kind=decimal, **who),
        ff.read_comparisons(tmp_path / "s.csv", score_kind=decimal),
    ]
    for c in found:
        assert c.score_kind == LLR
        assert ff.cllr(c) == pytest.approx(ff.cllr(natural), abs=1e-12)
        assert ff.act_dcf(c, ff.Costs(0.01)).value == ff.act_dcf(natural, ff.Costs(0.01)).value
    scan = ff.scan_comparisons(
        tmp_path / "s.csv", score_kind=decimal, storage=ff.Storage(cllr=True)
    )
    with quietly():
        told = ff.evaluate(scan, ff.at_fmr(0.01), [], metrics=["cllr"], rng=0, n_resamples=20)
    assert told.value("cllr") == pytest.approx(ff.cllr(natural), abs=1e-12)
    kinds = [
        ff.Comparisons(np.float32([1, 0]), [1, 0], score_kind=kind).mated.keys.dtype
        for kind in (LLR, decimal)
    ]
    assert kinds == [np.int32, np.int64]


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (1.0, ""),
        (1 / np.log(10), "a factor of ln 10 would save"),
        (np.log(10), "a factor of 1/ln 10 would save"),
    ],
)
def test_another_base_is_proposed_where_it_explains_most_of_the_loss(factor, says):
    scores, mated = ratios_of_a_calibrated_system()
    c = ff.Comparisons(scores * factor, mated, score_kind=LLR)
    with quietly():
        found = ff.evaluate_calibration(c, ff.Costs(0.1), n_resamples=20, rng=0, unit="comparison")
    assert (says in found.summary()) if says else ("ln 10" not in found.summary())
    assert bool(found.settings["hint"]) == bool(says)
