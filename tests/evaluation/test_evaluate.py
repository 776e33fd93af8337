"""`evaluate` as a whole: what it reports, and what it does with groups that lack comparisons."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.data_sets import columns
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair import measures as m
from fastfair.errors import DroppedWarning, EmptyGroupWarning, InputError, ReversedScoresWarning

POINT = ff.at_threshold(0.5)


@pytest.fixture(scope="module")
def comparisons():
    return ff.Comparisons(**columns(0, 90, 6000))


@pytest.fixture(scope="module")
def evaluation(comparisons):
    return ff.evaluate(
        comparisons,
        at=[ff.at_fmr(0.05), POINT],
        settings=ff.EvaluationSettings(alpha=0.3),
        metrics="all",
        n_resamples=0,
    )


def test_rates_are_those_of_rates(comparisons, evaluation):
    for point, kept in zip([ff.at_fmr(0.05), POINT], evaluation.rates, strict=True):
        result = ff.rates(comparisons, point)
        assert evaluation.value("threshold", at=point) == result.threshold == kept.threshold
        assert evaluation.value("fmr", at=point) == result.fmr
        for k, group in enumerate("fmx"):
            assert evaluation.value("fmr", group, point) == result.group_fmr[k]
            assert evaluation.value("fnmr", group, point) == result.group_fnmr[k]
        for i, j in np.ndindex(3, 3):
            assert (
                evaluation.value("fmr_matrix", ("fmx"[i], "fmx"[j]), point)
                == result.fmr_matrix[i, j]
            )


def test_base_metrics_of_a_group_are_those_of_its_own_comparisons(comparisons, evaluation):
    for group in "fmx":
        own = comparisons.within_group(group)
        assert evaluation.value("eer", group) == ff.eer(own).value
        assert evaluation.value("min_dcf", group) == ff.min_dcf(own).value
        assert evaluation.value("cllr", group) == pytest.approx(ff.cllr(own), rel=1e-12)


def test_measures_are_those_of_the_functions(comparisons, evaluation):
    for point, r in zip([ff.at_fmr(0.05), POINT], evaluation.rates, strict=True):
        assert evaluation.value("fdr", at=point) == m.fdr(r.group_fmr, r.group_fnmr, 0.3)
        assert evaluation.value("garbe", at=point) == m.garbe(r.group_fmr, r.group_fnmr, 0.3)
        assert evaluation.value("inequity_rate", at=point) == m.inequity_rate(
            r.group_fmr, r.group_fnmr, 0.3
        )
        assert evaluation.value("mape(fmr)", at=point) == m.mape(r.group_fmr, r.fmr)
        assert evaluation.value("std(tmr)", at=point) == m.std(1 - r.group_fnmr)
        assert evaluation.value("nrb(fnmr)", at=point) == m.nrb(r.group_fnmr, r.fnmr)
        ratios = m.group_to_average_ratio(r.group_fmr, r.fmr)
        assert [
            evaluation.value("group_to_average_ratio(fmr)", g, point) for g in "fmx"
        ] == ratios.tolist()
    eers = [evaluation.value("eer", g) for g in "fmx"]
    assert evaluation.value("std(eer)") == m.std(eers)
    assert evaluation.value("nrb(eer)") == m.nrb(eers, evaluation.value("eer"))
    r = ff.rates(comparisons, ff.at_mean_group_eer())
    sed = m.sed(r.group_fmr, r.group_fnmr, r.fmr, r.fnmr)
    assert [evaluation.value("sed", g) for g in "fmx"] == sed.tolist()
    assert evaluation.value("sed_mean") == sed.mean()
    assert evaluation.value("sed_std") == sed.std()


def test_every_measure_is_reported_for_every_metric_and_point(evaluation):
    names = {(q.name, q.operating_point) for q in evaluation.quantities}
    for measure in m.MEASURES.values():
        if measure.own_threshold:
            assert {(f"{measure.name}_mean", None), (f"{measure.name}_std", None)} <= names
            continue
        for metric in measure.of or (None,):
            if metric == "act_dcf":  # of log-likelihood ratios, by evaluate_calibration
                continue
            label = measure.name if metric is None else f"{measure.name}({metric})"
            points = (
                ["FMR=0.05", "threshold=0.5"] if measure.needs_policy_threshold(metric) else [None]
            )
            assert {(label, point) for point in points} <= names


def test_frames_and_json_hold_every_quantity(evaluation, tmp_path):
    for backend, kind in (("polars", pl.DataFrame), ("pandas", pd.DataFrame)):
        frame = evaluation.to_frame(backend)
        assert isinstance(frame, kind)
        assert len(frame) == len(evaluation.quantities)
    assert evaluation.to_frame("pyarrow").num_rows == len(evaluation.quantities)
    assert isinstance(evaluation.to_frame(), pd.DataFrame)
    refused("backend", evaluation.to_frame, "excel")
    text = evaluation.to_json(tmp_path / "e.json")
    assert json.loads(text) == json.loads((tmp_path / "e.json").read_text())
    content = json.loads(text)
    assert content["settings"]["alpha"] == 0.3
    assert len(content["quantities"]) == len(evaluation.quantities)
    row = next(q for q in content["quantities"] if (q["name"], q["group"]) == ("fmr", "f"))
    assert set(row) == {
        "name",
        "group",
        "operating_point",
        "estimate",
        "method",
        "n_comparisons",
        "n_errors",
        "n_subjects",
        "concentration",
        "pvalue",
        "low",
        "high",
        "standard_error",
        "not_computable",
        "notes",
        "note",
        "flags",
        "probe_group",
    }
    assert row["estimate"] == row["n_errors"] / row["n_comparisons"]


def test_values_that_are_not_there_or_not_clear(evaluation):
    refused(r"there is fdr at FMR=0\.05, threshold=0\.5: choose one", evaluation.value, "fdr")
    refused("did you mean", evaluation.value, "garbee", at=POINT)
    refused(
        "no fmr for 'w', only for all comparisons, 'f', 'm', 'x'",
        evaluation.value,
        "fmr",
        "w",
        POINT,
    )
    refused(
        r"no fmr at EER, only at FMR=0\.05, threshold=0\.5", evaluation.value, "fmr", at=ff.at_eer()
    )
    refused(r"did you mean 'nrb\(cllr\)' or 'nrb\(eer\)'", evaluation.value, "nrb")


def test_a_quantity_tells_what_stands_behind_it(evaluation):
    quantity = evaluation.quantity("fnmr", "f", POINT)
    assert (
        quantity.estimate
        == quantity.n_errors / quantity.n_comparisons
        == evaluation.value("fnmr", "f", POINT)
    )
    assert quantity.n_subjects == 30
    assert quantity.note == ""


def test_extreme_results_are_strict_json():
    largest = np.float32(3.4e38)  # programs write the largest of all where there is no score
    c = ff.Comparisons(np.array([largest, 0.3, largest, 0.1], np.float32), [1, 0, 0, 1])
    text = ff.evaluate(
        c, costs=ff.Costs(c_miss=np.int64(1), p_target=np.float32(0.05)), n_resamples=0
    ).to_json()
    assert json.loads(text)["settings"]["thresholds"] == [4e38]  # above the largest of float32


def test_reversed_scores_are_warned_of():
    columns = [0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0]
    with pytest.warns(ReversedScoresWarning, match=r'EER is 100 %.*score_kind="distance"'):
        ff.evaluate(ff.Comparisons(*columns), n_resamples=0)
    assert (
        ff.evaluate(ff.Comparisons(*columns, score_kind="distance"), n_resamples=0).value("eer")
        == 0
    )


def test_zero_rates_are_said_to_be_not_computable_or_replaced_as_declared():
    scores = [0.9, 0.8, 0.1, 0.7, 0.9, 0.2, 0.3, 0.4]
    c = ff.Comparisons(scores, [1, 1, 0, 0] * 2, reference_group=list("aaaabbbb"))
    ev = ff.evaluate(c, at=POINT, n_resamples=0)
    assert ev.value("max_min_ratio(fmr)") == math.inf
    assert math.isnan(ev.value("log_geomean_sum(fmr)"))
    notes = {q.name: q.note for q in ev.quantities}
    assert notes["max_min_ratio(fmr)"].startswith("not computable")
    assert json.loads(ev.to_json())["quantities"][-1]["estimate"] is None
    for policy, replaced in ((0.01, 0.01), ("clopper-pearson", 1 - 0.025 ** (1 / 2))):
        other = ff.evaluate(
            c, at=POINT, settings=ff.EvaluationSettings(zero_policy=policy), n_resamples=0
        )
        rates = sorted((replaced, 0.5))
        assert other.value("max_min_ratio(fmr)") == pytest.approx(rates[1] / rates[0])
        assert other.value("fdr") == ev.value("fdr")
    refused(
        "not computable",
        ff.evaluate,
        c,
        at=POINT,
        settings=ff.EvaluationSettings(zero_policy="raise"),
        n_resamples=0,
    )


@pytest.fixture
def incomplete():
    return ff.Comparisons(
        [0.9, 0.8, 0.1, 0.7, 0.6, 0.2, 0.9], [1, 1, 0, 0, 1, 0, 1], reference_group=list("aaaabbc")
    )


def test_a_group_without_nonmated_comparisons_is_refused_dropped_or_nan(incomplete):
    with pytest.raises(
        InputError,
        match=r"1 of 3 groups lacks .* 'c' has 1 mated and 0 non-mated.*incomplete_groups",
    ):
        ff.evaluate(incomplete, at=POINT, n_resamples=0)
    with pytest.warns(DroppedWarning, match="'c' has 1 mated and 0 non-mated"):
        dropped = ff.evaluate(
            incomplete,
            at=POINT,
            settings=ff.EvaluationSettings(incomplete_groups="drop"),
            n_resamples=0,
        )
    assert dropped.measured_groups == ("a", "b")
    assert dropped.value("fnmr", "c") == 0
    assert math.isnan(dropped.value("fmr", "c"))
    assert dropped.value("fdr") == 1 - 0.5 * (0.5 + 0.0)
    assert math.isfinite(dropped.value("sed_mean"))
    with pytest.warns(DroppedWarning):
        at_mean = ff.evaluate(
            incomplete,
            at=ff.at_mean_group_eer(),
            settings=ff.EvaluationSettings(incomplete_groups="drop"),
            n_resamples=0,
        )
    assert at_mean.value("fdr") <= 1
    with pytest.warns(EmptyGroupWarning, match="measures are NaN"):
        kept = ff.evaluate(
            incomplete,
            at=POINT,
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
            n_resamples=0,
        )
    assert all(math.isnan(kept.value(name)) for name in ("fdr", "sed_mean", "nrb(eer)"))
    with pytest.raises(InputError, match="no group has both"):
        ff.evaluate(
            ff.Comparisons([0.9, 0.1], [1, 0], reference_group=list("ab")),
            settings=ff.EvaluationSettings(incomplete_groups="drop"),
            n_resamples=0,
        )


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("lacking", ["mated", "non-mated"])
def test_replicates_of_a_group_that_lacks_comparisons_have_nan_measures_and_the_rates_of_others(
    lacking,
):
    """Numbers of errors are drawn anew, as group b has none; those of a group without comparisons
    are not."""
    rng = np.random.default_rng(0)
    subjects = rng.integers(0, 30, (2, 1500))
    subjects[1, :500] = subjects[0, :500]
    mated, groups = subjects[0] == subjects[1], subjects % 3
    of_b, of_c = ((groups == k).all(axis=0) for k in (1, 2))
    scores = np.where(of_b, 9.0 * (2 * mated - 1), rng.normal(size=1500) + 2 * mated)
    kept = ~(of_c & (mated == (lacking == "mated")))
    labels = np.array(["a", "b", "c"])[groups]
    c = ff.Comparisons(scores[kept], mated[kept], *subjects[:, kept], *labels[:, kept])
    of_rates = []
    for policy in ("nan", "drop"):
        evaluation = ff.evaluate(
            c,
            ff.at_fmr(0.05),
            ["fdr", "gini"],
            metrics=[],
            n_resamples=130,
            rng=0,
            settings=ff.EvaluationSettings(incomplete_groups=policy),
        )
        of_rates.append(
            [repr(q) for q in evaluation.quantities if q.name in ("threshold", "fmr", "fnmr")]
        )
        assert math.isnan(evaluation.value("fdr")) == (policy == "nan")
    assert of_rates[0] == of_rates[1]


def test_without_groups_there_are_no_measures():
    c = ff.Comparisons([0.9, 0.1], [1, 0])
    names = {"threshold", "fmr", "fnmr", "eer", "min_dcf"}
    assert {q.name for q in ff.evaluate(c, n_resamples=0).quantities} == names
    of_ratios = names | {"cllr", "min_cllr"}
    everything = of_ratios | {"auc", "d_prime"}
    assert {q.name for q in ff.evaluate(c, metrics="all", n_resamples=0).quantities} == everything
    llr = ff.Comparisons([0.9, -0.1], [1, 0], score_kind="log-likelihood-ratio")
    assert {q.name for q in ff.evaluate(llr, n_resamples=0).quantities} == of_ratios
    refused("give reference_group", ff.evaluate, c, measures="gini", n_resamples=0)


@each(
    ("arguments", "message"),
    [
        ({"measures": ["giny"]}, "did you mean 'gini'"),
        ({"at": [], "metrics": []}, "at is empty"),
        ({"metrics": ["err"]}, "did you mean 'eer'"),
        ({"unit": "person"}, "unit must be one of"),
        ({"unit": "sample"}, "give reference_sample"),
        ({"n_resamples": 1}, "at least 2"),
        ({"n_resamples": -5}, "whole number of at least 0"),
        ({"confidence_level": 95}, r"for 95 % write 0\.95"),
        ({"confidence_level": 1}, "must be a fraction in"),
        ({"rng": -1}, "rng must be"),
        ({"rng": "seed"}, "rng must be"),
        ({"n_threads": 0}, "n_threads"),
        ({"at": [0.001]}, r"at\[0\] must be an operating point"),
        ({"at": "fmr:0.001"}, "is not an operating point"),
        ({"costs": 0.05}, r"costs must be costs such as Costs\("),
        (
            {"settings": ff.EvaluationSettings(zero_policy=0)},
            r"zero_policy must be a fraction in \(0, 1\)",
        ),
    ],
)
def test_bad_options(comparisons, arguments, message):
    refused(message, ff.evaluate, comparisons, **arguments)


def test_bad_settings():
    wrong = {
        "method": "studentized",
        "scheme": "pigeonhole",
        "eer_method": "exact",
        "zero_policy": "drop",
        "incomplete_groups": "skip",
    }
    for name, value in {**wrong, "method": "recentered"}.items():
        refused(f"{name} must be one of", ff.EvaluationSettings, **{name: value})


@pytest.mark.jit
def test_distances_give_the_same_rates_and_measures(comparisons):
    names = ("scores", "mated", "reference", "probe", "reference_group", "probe_group")
    side: dict[str, list] = {name: [] for name in names}
    for part, by_group, flag in (
        (comparisons.mated, comparisons.mated_by_group, True),
        (comparisons.nonmated, comparisons.nonmated_by_group, False),
    ):
        side["scores"] += (-part.similarities).tolist()
        side["mated"] += [flag] * len(part)
        side["reference_group"] += by_group.reference_group.tolist()
        side["probe_group"] += by_group.probe_group.tolist()
        side["reference"] += part.reference.tolist()
        side["probe"] += part.probe.tolist()
    flipped = ff.Comparisons(**side, score_kind="distance")
    one, other = (
        ff.evaluate(c, at=ff.at_fmr(0.01), n_resamples=200, rng=1) for c in (comparisons, flipped)
    )
    for name in ("garbe", "fdr", "nrb(eer)", "sed_mean", "eer", "min_dcf", "fnmr"):
        assert one.value(name) == other.value(name)
        assert one.interval(name) == other.interval(name)
    assert one.value("threshold") == -other.value("threshold")
    low, high = other.interval("threshold")
    assert one.interval("threshold") == pytest.approx((-high, -low), rel=1e-12)
