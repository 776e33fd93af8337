"""`error_model`: the coefficients and variances of plain loops, and what is told where an effect is
not known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.attribute_tables import AT, NAMES, as_mated, comparisons, draw, table
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import error_model as oracle

import fastfair as ff
from fastfair.error_models.error_model import ErrorModel
from fastfair.errors import (
    ContradictingStrataWarning,
    DroppedWarning,
    InputError,
    NotComputableWarning,
)

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


quiet_model = quietly()(ff.error_model)


def levels(trials: list[oracle.Trial], model: ErrorModel) -> list[list[str]]:
    return [
        sorted({side[a] for t in trials for side in t.values} - {model.baseline[name]})
        for a, name in enumerate(NAMES)
    ]


@pytest.mark.parametrize("rate", ["fmr", "fnmr"])
@pytest.mark.parametrize("varying", [False, True])
@given(seed=st.integers(0, 10_000), n_subjects=st.integers(12, 25), n_trials=st.integers(250, 400))
def test_effects_are_those_of_loops_over_comparisons(rate, varying, seed, n_subjects, n_trials):
    trials = draw(seed, n_subjects, n_trials, 0.3, varying)
    if rate == "fnmr":
        trials = as_mated(trials)
    try:
        model = quiet_model(comparisons(trials, rate), NAMES, AT, rate=rate)
    except InputError:
        assume(False)
    assume(not any(math.isnan(effect.odds_ratio) for effect in model.effects))
    differ = [
        rate == "fmr" and any(t.values[0][a] != t.values[1][a] for t in trials) for a in range(2)
    ]
    x = np.array([oracle.row(t, rate, levels(trials, model), differ) for t in trials])
    at = oracle.logit(x, np.array([t.error for t in trials]))
    covariance, _ = oracle.robust(trials, x, at, rate)
    for column, effect in enumerate(model.effects, 1):
        contrast = np.zeros(at.size)
        contrast[column] = 2.0 if rate == "fmr" and effect.value != "different" else 1.0
        assert math.log(effect.odds_ratio) == pytest.approx(contrast @ at, abs=1e-7)
        expected = oracle.freedom(trials, x, at, contrast, rate)
        assert effect.degrees_of_freedom == pytest.approx(expected, rel=1e-5)
        spread = math.sqrt(contrast @ covariance @ contrast * (1 + 1 / expected))
        assert effect.standard_error == pytest.approx(spread, rel=1e-5)


def test_the_average_marginal_effect_is_the_mean_over_comparisons():
    trials = draw(3, 30, 600, 0.3)
    model = quiet_model(comparisons(trials, "fmr"), NAMES, AT, baseline={"region": "A"})
    differ = [True, True]
    x = np.array([oracle.row(t, "fmr", levels(trials, model), differ) for t in trials])
    at = oracle.logit(x, np.array([t.error for t in trials]))

    def mean(value: str) -> float:
        given = [
            oracle.Trial(t.subjects, 0, tuple((side[0], value) for side in t.values))
            for t in trials
        ]
        rows = np.array([oracle.row(t, "fmr", levels(trials, model), differ) for t in given])
        return float((1 / (1 + np.exp(-rows @ at))).mean())

    for effect in model.effects:
        if effect.attribute == "region" and effect.value != "different":
            assert effect.difference == pytest.approx(mean(effect.value) - mean("A"), abs=1e-8)
            assert effect.difference_low < effect.difference < effect.difference_high


def test_coefficients_and_errors_are_those_of_statsmodels():
    # A peer of `make versus`, which looks at the same on every run; the loops above need no other
    # package.
    api = pytest.importorskip("statsmodels.api")
    trials = as_mated(draw(5, 600, 6000, 0.2))
    model = quiet_model(comparisons(trials, "fnmr"), NAMES, AT, rate="fnmr")
    x = np.array([oracle.row(t, "fnmr", levels(trials, model), [False, False]) for t in trials])
    y, cluster = (
        [t.error for t in trials],
        np.unique([t.subjects[0] for t in trials], return_inverse=True)[1],
    )
    binomial = api.GLM(y, x, family=api.families.Binomial())
    clustered = binomial.fit(cov_type="cluster", cov_kwds={"groups": cluster}, tol=1e-14)
    found = np.log([effect.odds_ratio for effect in model.effects])
    assert np.abs(found - clustered.params[1:]).max() < 1e-8
    spread = [effect.standard_error for effect in model.effects]
    assert np.allclose(spread, clustered.bse[1:], rtol=0.02)  # its correction is one factor for all
    alone = quiet_model(comparisons(trials, "fnmr"), NAMES, AT, rate="fnmr", unit="comparison")
    expected = binomial.fit(cov_type="HC0", tol=1e-14).bse[1:] * math.sqrt(
        len(y) / (len(y) - x.shape[1])
    )
    assert np.allclose([effect.standard_error for effect in alone.effects], expected, rtol=1e-8)


def test_an_odds_ratio_is_that_of_the_table():
    data = table({("f", "A"): (60, 400), ("m", "A"): (20, 400)})
    model = quiet_model(data, "gender", AT, baseline={"gender": "m"})
    (effect,) = model.effects
    assert effect.odds_ratio == pytest.approx((60 / 340) / (20 / 380))
    assert effect.difference == pytest.approx(40 / 400)
    assert (effect.n_comparisons, effect.n_errors) == (400, 60)
    assert model.n_subjects == 80
    assert model.tests[0].pvalue == pytest.approx(effect.pvalue)
    assert quiet_model(data, "gender", AT).effects[0].odds_ratio == pytest.approx(
        1 / effect.odds_ratio
    )


def test_a_value_without_errors_is_named_and_others_keep_their_effects():
    data = table(
        {("f", "A"): (60, 400), ("m", "A"): (20, 400), ("f", "B"): (0, 300), ("m", "B"): (0, 300)}
    )
    with pytest.warns(NotComputableWarning, match="region B: no errors in 600 comparisons"):
        model = ff.error_model(data, NAMES, AT, baseline={"gender": "m", "region": "A"})
    gender, region = model.effects
    assert gender.odds_ratio == pytest.approx((60 / 340) / (20 / 380))
    assert math.isnan(region.odds_ratio)
    assert 0 == region.low < region.high < 0.2
    assert region.pvalue < 1e-6
    assert "(no errors in 600 comparisons)" in model.summary()
    assert model.tests[1].pvalue == pytest.approx(region.pvalue)


def test_the_limit_of_a_value_without_errors_is_near_the_exact_one():
    """Of two values: the errors of the other are binomial given all, so the odds ratio's exact
    limit is known."""
    data = table({("f", "A"): (0, 2000), ("m", "A"): (20, 2000)})
    with pytest.warns(NotComputableWarning, match="gender f"):
        (effect,) = ff.error_model(data, "gender", AT, baseline={"gender": "m"}).effects
    share = 1 - 0.025 ** (1 / 20)
    assert effect.high == pytest.approx(share / (1 - share), rel=0.4)
    assert effect.pvalue < 0.005
    with pytest.warns(NotComputableWarning, match="gender m"):
        (turned,) = ff.error_model(data, "gender", AT, baseline={"gender": "f"}).effects
    assert (turned.low, turned.high) == (pytest.approx(1 / effect.high, rel=1e-3), math.inf)


def test_a_small_value_without_errors_is_no_evidence():
    data = table({("f", "A"): (40, 2000), ("m", "A"): (0, 100)})  # 2 are expected
    with pytest.warns(NotComputableWarning, match="gender m"):
        model = ff.error_model(data, "gender", AT, baseline={"gender": "f"})
    assert model.effects[0].high > 1
    assert model.effects[0].pvalue > 0.05


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_few_errors_of_few_subjects_are_modelled_or_said_to_be_unknown():
    for seed in (3, 8, 14, 17, 46, 85):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 40))
        i, j = np.triu_indices(n, 1)
        labels = {name: rng.integers(0, 1 + size, n) for name, size in (("sex", 1), ("region", 2))}
        who = np.arange(n)
        reference, probe = np.append(who, i), np.append(who, j)
        groups = [
            {name: column[side] for name, column in labels.items()} for side in (reference, probe)
        ]
        scores = rng.normal(size=reference.size) + 3 * (reference == probe)
        c = ff.Comparisons(scores, reference == probe, reference, probe, *groups)
        at = ff.at_threshold(float(np.sort(scores[n:])[-rng.integers(1, 6)]))
        for effect in ff.error_model(c, ["sex", "region"], at, rate="fmr").effects:
            assert math.isnan(effect.low) or effect.low <= effect.high, seed


def test_without_errors_or_with_a_baseline_without_errors_no_effect_is_known():
    for errors, named, told in (
        (0, {}, "gender"),
        (10, {"baseline": {"gender": "m"}}, "that it is compared with"),
    ):
        data = table({("f", "A"): (errors, 100), ("m", "A"): (0, 100)})
        with pytest.warns(NotComputableWarning, match=told):
            model = ff.error_model(data, "gender", AT, **named)
        assert math.isnan(model.effects[0].odds_ratio)


def test_different_values_are_compared_with_the_same():
    trials = [t for t in draw(8, 40, 900, 0.3) if t.values[0][1] == t.values[1][1] == "A"]
    cells = {pair: [0, 0] for pair in ("ff", "fm", "mm")}
    for t in trials:
        cell = cells["".join(sorted(side[0] for side in t.values))]
        cell[0] += t.error
        cell[1] += 1 - t.error
    odds = {pair: errors / others for pair, (errors, others) in cells.items()}
    model = quiet_model(comparisons(trials, "fmr"), "gender", AT, baseline={"gender": "m"})
    both, different = model.effects
    assert (both.value, different.value, different.baseline) == ("f", "different", "same")
    assert both.odds_ratio == pytest.approx(odds["ff"] / odds["mm"])
    assert different.odds_ratio == pytest.approx(odds["fm"] / math.sqrt(odds["ff"] * odds["mm"]))


@pytest.mark.parametrize(
    ("attributes", "named", "message"),
    [
        (["gender", "nothing"], {}, "nothing"),
        ([], {}, "model needs at least one attribute"),
        (["gender", "gender"], {}, "given twice"),
        (["gender"], {"baseline": {"gender": "x"}}, "has no value 'x'"),
        (["gender"], {"baseline": {"region": "A"}}, "baseline"),
        (["gender"], {"rate": "eer"}, "rate"),
        (["gender"], {"unit": "sample"}, "unit"),
        (["region"], {}, "all of these comparisons"),
    ],
)
def test_what_cannot_be_modelled_is_refused(attributes, named, message):
    refused(
        message,
        ff.error_model,
        table({("f", "A"): (5, 50), ("m", "A"): (3, 50)}),
        attributes,
        AT,
        **named,
    )


@pytest.mark.parametrize(("rate", "lacked"), [("fmr", "non-mated"), ("fnmr", "mated")])
def test_models_of_a_rate_need_its_comparisons(rate, lacked):
    mated = [rate == "fmr"] * 16
    data = ff.Comparisons([0.9, 0.1] * 8, mated, reference_group={"gender": list("fm") * 8})
    says = f'rate="{rate}" needs .* there are no {lacked} comparisons'
    refused(says, ff.error_model, data, "gender", AT, rate=rate)


def test_attributes_that_follow_from_each_other_are_refused():
    with pytest.raises(InputError, match="cannot be told from 'gender'"):
        ff.error_model(table({("f", "A"): (5, 50), ("m", "B"): (3, 50)}), NAMES, AT)


def test_without_subjects_comparisons_must_be_said_to_be_independent():
    data = ff.Comparisons(
        [0.9, 0.1] * 20, [1] * 4 + [0] * 36, reference_group={"gender": list("ffmm") * 10}
    )
    refused('unit="comparison"', ff.error_model, data, "gender", AT)
    model = quiet_model(data, "gender", AT, unit="comparison")
    assert model.n_subjects is None
    assert model.effects[0].odds_ratio == pytest.approx(1)
    assert "all comparisons taken for independent" in model.summary()


def test_mated_comparisons_of_two_values_are_left_out():
    trials = as_mated(draw(2, 20, 200, 0.3))
    odd = oracle.Trial(trials[0].subjects, 1, (("f", "A"), ("m", "A")))
    with pytest.warns(DroppedWarning, match="1 of 201 mated"):
        model = ff.error_model(comparisons([*trials, odd], "fnmr"), NAMES, AT, rate="fnmr")
    assert model.n_comparisons == 200


def test_a_contradiction_is_told_unasked():
    # Most pairs of the region with most errors are men, and women have twice the odds in each
    # region.
    data = table(
        {
            ("f", "A"): (40, 2000),
            ("m", "A"): (5, 500),
            ("f", "B"): (40, 200),
            ("m", "B"): (200, 2000),
        },
        subjects=60,
    )
    with pytest.warns(
        ContradictingStrataWarning,
        match="by gender overall and within region contradict each other",
    ):
        model = ff.error_model(data, NAMES, AT, baseline={"gender": "m"})
    gender = model.effects[0]
    assert gender.low > 1
    (one,) = [one for one in model.contradictions if one.by == "gender"]
    assert (one.higher_in, one.lower_in) == (("A", "B"), ())
    assert one.margin_ratio < 1 < one.low
    assert "contradict each other" in model.summary()


def test_exports_hold_all_effects(tmp_path):
    model = quiet_model(comparisons(draw(4, 30, 500, 0.3), "fmr"), NAMES, AT)
    written = json.loads(model.to_json(tmp_path / "model.json"))
    assert [row["value"] for row in written["effects"]] == [
        effect.value for effect in model.effects
    ]
    assert written["settings"]["attributes"] == list(NAMES)
    assert model.to_frame("polars").shape[0] == len(model.effects) == 5
    assert "times the odds of a false match" in model.summary()


def test_the_plot_has_a_row_for_each_effect():
    model = quiet_model(comparisons(draw(4, 30, 500, 0.3), "fmr"), NAMES, AT)
    labels = [label.get_text() for label in model.plot().get_yticklabels()]
    assert labels == [f"{e.attribute}: {e.value} against {e.baseline}" for e in model.effects]


# Real faces are too large, and not ours, to be in the repository; all else here runs without them.
@pytest.mark.skipif(
    not SHARED.exists(), reason="needs face embeddings that are not part of the project"
)
@pytest.mark.slow
def test_a_model_of_real_faces():
    who = np.load(SHARED / "lfw_faces_attributes.npz")
    known = (who["gender"] != "") & (who["race_predicted"] != "")
    labels = {
        "gender": who["gender"][known].tolist(),
        "race": who["race_predicted"][known].tolist(),
    }
    vectors = np.load(SHARED / "lfw_faces_mbf_arc.npy")[known]
    faces = ff.Embeddings(
        vectors[:3000], who["subject"][known][:3000], {k: v[:3000] for k, v in labels.items()}
    )
    model = quiet_model(faces.comparisons(), ["gender", "race"], ff.at_fmr(1e-3))
    assert {effect.attribute for effect in model.effects} == {"gender", "race"}
