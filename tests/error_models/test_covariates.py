"""Numbers in models of errors: the coefficients, variances and splines of plain loops and of other
tools, and what cannot be a number."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.attribute_tables import AT
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import error_model as oracle
from scipy.interpolate import CubicSpline

import fastfair as ff
from fastfair.error_models import fitting
from fastfair.error_models.covariates import list_cells, natural_spline, read_covariates
from fastfair.error_rates.operating_points import threshold_key
from fastfair.errors import DroppedWarning, InputError, NotComputableWarning
from fastfair.written_results import read_results

quiet_model = quietly()(ff.error_model)


def draw(seed: int, rate: str, n: int = 400, *, varying: bool = False, slope: float = 0.02):
    """Draw comparisons of a third of n subjects with a sex and an age, which may vary."""
    rng = np.random.default_rng(seed)
    people = n // 10
    first, step = rng.integers(0, people, n), rng.integers(1, people, n)
    second = first if rate == "fnmr" else (first + step) % people
    sex, age = rng.integers(0, 2, people), rng.integers(18, 60, people)
    ages = np.stack((age[first], age[second]))
    if varying or rate == "fnmr":
        ages[1] += rng.integers(0, 9, n)
    effect = rng.normal(size=people)
    odds = effect[first] + effect[second] + slope * np.abs(ages[0] - ages[1]) - 0.8
    error = rng.random(n) < 1 / (1 + np.exp(-odds))
    return (first, second), (sex[first], sex[second]), ages, error.astype(int)


def made(drawn, rate: str, **more) -> ff.Comparisons:
    """Make them comparisons, with two of the other kind."""
    who, sex, ages, error = drawn
    accepted = error if rate == "fmr" else 1 - error
    other = [[10_000, 10_001], [10_000, 10_001] if rate == "fmr" else [10_001, 10_000]]
    columns = [np.append(side, extra) for side, extra in zip(who, other, strict=True)]
    groups = [
        {"sex": np.append(sex[k], [0, 1]), "age": np.append(ages[k], [30, 40])} for k in (0, 1)
    ]
    return quietly()(ff.Comparisons)(
        np.append(accepted, [0, 1]),
        np.repeat([rate == "fnmr", rate == "fmr"], [error.size, 2]),
        *columns,
        *groups,
        **more,
    )


def rows_of(drawn, rate: str, numbers: list[np.ndarray]) -> np.ndarray:
    """Make the design of sex, against 0, and of numbers."""
    (first, second) = drawn[1]
    of_value = (first == 1).astype(float) + (second == 1) if rate == "fmr" else first == 1
    differ = [first != second] if rate == "fmr" else []
    return np.column_stack((np.ones(first.size), of_value, *differ, *numbers)).astype(float)


def trials_of(drawn) -> list[oracle.Trial]:
    """Trials whose values are sexes, and both ages' mean and difference, by which the degrees of
    freedom count: of 30 and 40 it does not matter whose is which."""
    who, sex, ages, error = drawn
    numbers = [f"{(a + b) / 2}, {abs(a - b)}" for a, b in zip(*ages, strict=True)]
    return [
        oracle.Trial((str(i), str(j)), int(e), ((str(s), both), (str(t), both)))
        for i, j, e, s, t, both in zip(*who, error, *sex, numbers, strict=True)
    ]


@pytest.mark.parametrize("rate", ["fmr", "fnmr"])
@pytest.mark.parametrize("varying", [False, True])
@given(seed=st.integers(0, 10_000))
def test_numbers_have_the_effects_of_loops_over_comparisons(rate, varying, seed):
    drawn = draw(seed, rate, varying=varying)
    ages, error = drawn[2], drawn[3]
    model = quiet_model(
        made(drawn, rate), "sex", AT, rate=rate, baseline={"sex": "0"}, linear="age"
    )
    numbers = [(ages[0] + ages[1]) / 2, np.abs(ages[0] - ages[1])]
    x = rows_of(drawn, rate, numbers)
    at = oracle.logit(x, error)
    covariance, _ = oracle.robust(trials_of(drawn), x, at, rate)
    assert [effect.value for effect in model.effects[-2:]] == ["mean + 1", "difference + 1"]
    for column, effect in enumerate(model.effects, 1):
        contrast = np.zeros(at.size)
        contrast[column] = 2.0 if rate == "fmr" and column == 1 else 1.0
        assert math.log(effect.odds_ratio) == pytest.approx(contrast @ at, abs=1e-8)
        expected = oracle.freedom(trials_of(drawn), x, at, contrast, rate)
        assert effect.degrees_of_freedom == pytest.approx(expected, rel=1e-5)
        spread = math.sqrt(contrast @ covariance @ contrast * (1 + 1 / expected))
        assert effect.standard_error == pytest.approx(spread, rel=1e-6)


def test_a_unit_more_changes_the_rate_by_the_mean_over_comparisons():
    drawn = draw(3, "fmr")
    model = quiet_model(made(drawn, "fmr"), [], AT, linear={"age": "difference"})
    number = np.abs(drawn[2][0] - drawn[2][1])
    x = np.column_stack((np.ones(number.size), number))
    at = oracle.logit(x, drawn[3])

    def mean(step: float) -> float:
        return float((1 / (1 + np.exp(-(x @ at + step * at[1])))).mean())

    (effect,) = model.effects
    assert effect.difference == pytest.approx(mean(1) - mean(0), abs=1e-10)
    assert effect.difference_low < effect.difference < effect.difference_high


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=6, unique=True), st.integers(0, 99))
def test_splines_are_natural_and_cubic_between_their_knots(knots, seed):
    """Those of a basis and the constant are all that pass through numbers at the knots."""
    knots, rng = sorted(knots), np.random.default_rng(seed)
    natural = CubicSpline(knots, rng.normal(size=len(knots)), bc_type="natural")
    inside = np.linspace(knots[0], knots[-1], 200)
    basis = np.column_stack((np.ones(200), natural_spline(inside, knots)))
    weights, *_ = np.linalg.lstsq(basis, natural(inside), rcond=None)
    assert np.allclose(basis @ weights, natural(inside), atol=1e-6 * np.abs(weights).max())
    for beyond in (knots[0] - np.arange(1.0, 5.0), knots[-1] + np.arange(1.0, 5.0)):
        assert np.allclose(np.diff(natural_spline(beyond, knots), 2, axis=0), 0, atol=1e-6)


def test_curves_are_those_of_patsy():
    """Its `cr` has another basis of the same splines."""
    patsy = pytest.importorskip("patsy")
    drawn = draw(7, "fmr", 900)
    model = quiet_model(made(drawn, "fmr"), [], AT, spline="age=difference")
    number = np.abs(drawn[2][0] - drawn[2][1]).astype(float)
    (curve,) = model.curves
    assert curve.baseline == np.median(number)
    first, *inner, last = curve.knots
    said = f"cr(number, knots={inner}, lower_bound={first}, upper_bound={last})"
    x = patsy.dmatrix(f"{said} - 1", {"number": number})
    at = oracle.logit(np.asarray(x), drawn[3])

    def log_odds(numbers: np.ndarray) -> np.ndarray:
        (there,) = patsy.build_design_matrices([x.design_info], {"number": numbers})
        return np.asarray(there) @ at

    expected = log_odds(np.array(curve.values)) - log_odds(np.array([curve.baseline]))
    assert np.allclose(np.log(curve.odds_ratio), expected, atol=1e-8)


def test_coefficients_are_those_of_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    drawn = draw(5, "fnmr", 3000)
    model = quiet_model(
        made(drawn, "fnmr"), "sex", AT, rate="fnmr", baseline={"sex": "0"}, linear="age"
    )
    ages, error = drawn[2], drawn[3]
    x = rows_of(drawn, "fnmr", [(ages[0] + ages[1]) / 2, np.abs(ages[0] - ages[1])])
    fitted = api.Logit(error, x).fit(
        disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": drawn[0][0]}
    )
    log_odds = np.log([effect.odds_ratio for effect in model.effects])
    assert np.abs(log_odds - fitted.params[1:]).max() < 1e-8
    spread = [effect.standard_error for effect in model.effects]
    assert np.allclose(spread, fitted.bse[1:], rtol=0.03)  # its correction is one factor for all
    odds = [(e.odds_ratio, e.low, e.high) for e in model.effects]
    assert all(low < ratio < high for ratio, low, high in odds)


@pytest.mark.parametrize("rate", ["fmr", "fnmr"])
@given(seed=st.integers(0, 10_000), varying=st.booleans())
def test_listed_comparisons_have_the_variances_of_counts(rate, seed, varying):
    """Of a design without numbers both ways of adding up over subjects give the same."""
    comparisons = made(draw(seed, rate, varying=varying), rate)
    key = threshold_key(comparisons, AT)
    counted = fitting.count_cells(comparisons, ["sex"], key, rate, "subject")
    covariates = read_covariates("age=mean", (), ("sex", "age"), ("sex",))
    listed = list_cells(comparisons, counted, covariates, key)
    assert (listed.cells.n.sum(), listed.cells.errors.sum()) == (
        counted.n.sum(),
        counted.errors.sum(),
    )
    design, _, _ = fitting.make_design(counted, ["sex"], {})
    fits = [fitting.fit(counted, design), fitting.fit(listed.cells, design[listed.category])]
    unit = np.eye(design.shape[1])
    assert np.allclose(*(one.values(unit) for one in fits), atol=1e-10)
    assert np.allclose(*(one.covariance_of(unit) for one in fits), rtol=1e-8, atol=1e-12)
    assert fits[0].cells.n_subjects == fits[1].cells.n_subjects


def test_a_band_leaves_out_1_only_where_the_test_finds_an_effect():
    seen = set()
    for seed in range(12):
        model = quiet_model(made(draw(seed, "fmr", slope=0.01 * seed), "fmr"), [], AT, spline="age")
        for curve in model.curves:
            pvalue = next(t.pvalue for t in model.tests if t.covariate == curve.covariate)
            beyond = any(
                low > 1 or high < 1 for low, high in zip(curve.low, curve.high, strict=True)
            )
            assert not beyond or pvalue <= 0.05
            seen.add(pvalue <= 0.05)
    assert seen == {True, False}


def test_an_attribute_is_tested_as_a_whole_besides_its_numbers():
    model = quiet_model(
        made(draw(2, "fmr"), "fmr"), "sex", AT, linear={"age": "mean"}, spline="age=difference"
    )
    tests = [(test.attribute, test.covariate, test.n_effects) for test in model.tests]
    assert tests == [
        ("sex", None, 2),
        ("age", "mean", 1),
        ("age", "difference", 3),
        ("age", None, 4),
    ]
    (by_mean,) = (effect for effect in model.effects if effect.covariate == "mean")
    assert model.tests[1].pvalue == pytest.approx(by_mean.pvalue)
    assert model.settings["linear"] == {"age": "mean"}
    assert model.settings["spline"] == {"age": "difference"}
    assert "by sex and age (mean and difference) at" in model.summary()
    assert "age, the difference as a curve, 3 effects:" in model.summary()


def test_sides_are_numbers_of_their_own():
    drawn = draw(4, "fnmr", 900)
    model = quiet_model(made(drawn, "fnmr"), [], AT, rate="fnmr", linear="age=reference,probe")
    x = np.column_stack((np.ones(900), *drawn[2]))
    at = oracle.logit(x, drawn[3])
    assert np.allclose(np.log([effect.odds_ratio for effect in model.effects]), at[1:], atol=1e-8)


def test_numbers_that_separate_errors_have_a_limit_and_a_test():
    who, sex, ages, _ = draw(9, "fmr", 1500)
    drawn = who, sex, ages, (np.abs(ages[0] - ages[1]) > 33).astype(int)
    with pytest.warns(NotComputableWarning, match="its numbers separate errors"):
        model = ff.error_model(made(drawn, "fmr"), [], AT, linear="age=difference")
    (effect,) = model.effects
    assert math.isnan(effect.odds_ratio)
    assert 1 < effect.low < effect.high == math.inf
    assert effect.pvalue < 0.01
    assert model.tests[0].pvalue == pytest.approx(effect.pvalue)
    assert "at least" in model.summary()


def test_without_errors_nothing_is_known():
    who, sex, ages, error = draw(9, "fmr")
    with pytest.warns(NotComputableWarning, match="no errors in 400 comparisons"):
        model = ff.error_model(made((who, sex, ages, 0 * error), "fmr"), [], AT, spline="age")
    assert all(math.isnan(effect.odds_ratio) for effect in model.effects)
    assert all(math.isnan(ratio) for curve in model.curves for ratio in curve.odds_ratio)


def test_comparisons_without_a_number_are_left_out_and_counted():
    who, sex, ages, error = draw(6, "fmr")
    ages = ages.astype("U7")
    ages[0, :7] = "unknown"
    with pytest.warns(
        DroppedWarning, match="7 of 400 non-mated comparisons left out, as they lack"
    ):
        model = ff.error_model(made((who, sex, ages, error), "fmr"), "sex", AT, linear="age")
    assert model.n_comparisons == 393
    assert model.left_out[-1].reason == "missing label"
    assert "7 of 400" in model.summary()


@pytest.mark.parametrize(
    ("attributes", "named", "message"),
    [
        ([], {"linear": "agee"}, "linear=.* must name an attribute.*did you mean 'age'"),
        ([], {"linear": "age=gap"}, "'age' can be 'mean', 'difference'"),
        ([], {"spline": {"age": "diference"}}, "did you mean 'difference'"),
        ("age", {"linear": "age"}, "cannot be a number, too"),
        ([], {"linear": "age", "spline": "age=mean"}, "the mean of 'age', which is given twice"),
        ([], {"spline": "sex"}, "only 3 different values, and a spline needs 4"),
        ([], {"linear": "same"}, "'same' is the same in all"),
        ([], {"linear": "same=mean"}, "the mean of 'same' is 3 in all of these comparisons"),
        ([], {"linear": "word"}, "'word' needs numbers, and has 'old'"),
        ([], {"linear": "endless"}, "'endless' needs finite numbers, and has 'inf'"),
        ([], {"linear": ["age", "twice=mean"]}, "the mean of 'twice' cannot be told from"),
        ([], {"linear": 3}, "linear"),
        ([], {}, "model needs at least one attribute"),
    ],
)
def test_what_is_no_number_is_refused(attributes, named, message):
    (first, second), sex, ages, error = draw(1, "fmr")
    n = error.size
    columns = {"sex": sex, "age": ages, "twice": 2 * ages, "same": np.full((2, n), 3)}
    columns |= {"word": np.full((2, n), "old"), "endless": np.full((2, n), "inf")}
    data = quietly()(ff.Comparisons)(
        np.append(error, 1),
        [0] * n + [1],
        np.append(first, 0),
        np.append(second, 0),
        *({name: np.append(c[k], c[k][0]) for name, c in columns.items()} for k in (0, 1)),
    )
    refused(message, ff.error_model, data, attributes, AT, **named)


def test_files_and_plots_hold_numbers_and_curves(tmp_path):
    model = quiet_model(
        made(draw(4, "fmr"), "fmr"), "sex", AT, linear="age=mean", spline="age=difference"
    )
    written = json.loads(model.to_json(tmp_path / "model.json"))
    assert [row["covariate"] for row in written["effects"]] == [None, None, "mean", "difference"]
    assert written["curves"][0]["knots"] == list(model.curves[0].knots)
    (again,) = read_results(tmp_path / "model.json")
    assert again.to_json() == model.to_json()
    assert model.to_frame("polars")["covariate"].to_list() == [None, None, "mean", "difference"]
    axes = model.plot(curve="age difference")
    assert axes.get_xlabel() == "age, difference of the two sides"
    assert "against difference" in axes.get_ylabel()
    assert [*model._figures()] == ["", "age_difference"]
    refused("curve", model.plot, curve="age mean")


def test_without_subjects_comparisons_are_taken_for_independent():
    _, _, ages, error = draw(4, "fmr", 900)
    data = ff.Comparisons(
        np.append(error, 1), [0] * 900 + [1], reference_group={"age": np.append(ages[0], 3)}
    )
    model = quiet_model(data, [], AT, linear="age=mean", unit="comparison")
    x = np.column_stack((np.ones(900), ages[0]))
    assert math.log(model.effects[0].odds_ratio) == pytest.approx(
        oracle.logit(x, error)[1], abs=1e-8
    )
    with pytest.raises(InputError, match="have no subjects"):
        ff.error_model(data, [], AT, linear="age=mean")
