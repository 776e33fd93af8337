"""Plans of studies against the exact oracle, against studies drawn one decision at a time, and the paper's trends."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import groups as slow
from scipy import stats

import fastfair as ff
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests import group_sums
from fastfair.planning.failure_law import FailureLaw, beta_binomial_pmf

SETTING = {"n_groups": 4, "n_subjects": 30, "n_attempts": 3, "fnmr": 0.1, "correlation": 0.3}
WITHOUT_SUBJECTS = {name: value for name, value in SETTING.items() if name != "n_subjects"}
CENTER = {"n_subjects": 400, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}  # of the paper's figure 3

rates = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
correlations = st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), st.fractions(0, 1, max_denominator=10))
probabilities = st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100)


@pytest.fixture(scope="module")
def study() -> ff.MarginPlan:
    return ff.margin_study(method="exact")


# The law of failures.


@given(st.integers(1, 8), rates, correlations)
def test_the_failures_of_a_subject_are_beta_binomial(m, fnmr, correlation):
    found = beta_binomial_pmf(m, float(fnmr), float(correlation))
    expected = slow.beta_binomial_pmf(m, fnmr, correlation)
    np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("correlation", [1e-300, 1e-9, 1 - 1e-9, 1 - 2**-53])
def test_correlations_at_the_edge_of_floats(correlation):
    found = beta_binomial_pmf(6, 0.2, correlation)
    np.testing.assert_allclose(found, beta_binomial_pmf(6, 0.2, round(correlation)), atol=1e-8)


@given(st.integers(1, 6), st.integers(1, 4), rates, correlations)
@settings(max_examples=50)
def test_the_failures_of_many_are_a_convolution_power(n, m, fnmr, correlation):
    law = FailureLaw.of(n, beta_binomial_pmf(m, float(fnmr), float(correlation)))
    found = np.zeros(n * m + 1)
    found[law.failures] = law.pmf
    expected = [float(p) for p in slow.failures_pmf(n, m, fnmr, correlation)]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(("n", "m", "fnmr", "rho"), [(800, 10, 0.2, 0.45), (3000, 1, 0.02, 0.0), (2000, 4, 0.5, 1.0)])
def test_the_window_holds_all_that_is_worth_a_number(n, m, fnmr, rho):
    law = FailureLaw.of(n, beta_binomial_pmf(m, fnmr, rho))
    assert law.pmf.size < 0.6 * n * m
    size, mean = n * m, law.pmf @ law.failures
    assert mean == pytest.approx(size * fnmr, rel=1e-12)
    variance = law.pmf @ (law.failures - mean) ** 2
    assert variance == pytest.approx(size * fnmr * (1 - fnmr) * (1 + (m - 1) * rho), rel=1e-9)
    assert law.pmf[[0, -1]].max() < 1e-14  # rounding alone
    if rho == 0:
        np.testing.assert_allclose(law.pmf, stats.binom(size, fnmr).pmf(law.failures), atol=1e-13)


# Margins.


@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 3), rates, correlations, probabilities)
def test_exact_margins_are_those_of_the_oracle(n_groups, n, m, fnmr, correlation, probability):
    found = ff.plan_margin(
        n_groups=n_groups,
        n_subjects=n,
        n_attempts=m,
        fnmr=float(fnmr),
        correlation=float(correlation),
        confidence_level=float(probability),
        method="exact",
    )
    expected = slow.exact_margin(n_groups, n, m, fnmr, correlation, probability)
    assert float(found.margin) == pytest.approx(float(expected), abs=1e-12)


def test_the_papers_quantile_is_that_at_half_alpha():
    paper = ff.plan_margin(**SETTING, method="exact", quantile="paper", confidence_level=0.9)
    default = ff.plan_margin(**SETTING, method="exact", confidence_level=0.95)
    assert paper.margin == default.margin
    assert (paper.quantile, paper.method, paper.n_simulations, paper.seed) == ("paper", "exact", None, None)


@pytest.mark.jit
@pytest.mark.parametrize("changed", [{}, {"correlation": 0}, {"correlation": 1}, {"n_attempts": 1}, {"fnmr": 0.6}])
@pytest.mark.parametrize("quantile", ["family-wise", "paper"])
def test_simulated_margins_are_exact_but_for_their_noise(changed, quantile):
    """The simulated margin is a quantile at a level that is off by no more than counts of draws are."""
    setting, draws = SETTING | {"n_groups": [2, 5, 20], "n_subjects": 200} | changed, 20_000
    p = 0.95 if quantile == "family-wise" else 0.975
    off = 4.5 * math.sqrt(p * (1 - p) / draws)
    found = ff.plan_margin(**setting, n_simulations=draws, quantile=quantile, rng=1).margin
    low, high = (
        ff.plan_margin(**setting, confidence_level=level, method="exact").margin for level in (p - off, p + off)
    )
    assert (low - 1e-12 <= found).all()
    assert (found <= high + 1e-12).all()


def test_a_simulated_margin_does_not_depend_on_what_else_is_asked():
    alone = ff.plan_margin(**SETTING, n_simulations=70, rng=5)
    among = ff.plan_margin(
        **SETTING | {"n_groups": [[9], [4], [2]], "fnmr": [0.3, 0.1]}, n_simulations=70, rng=5, n_threads=2
    )
    assert among.margin.shape == (3, 2)
    assert among.margin[1, 1] == alone.margin
    assert alone.seed == 5
    assert (ff.plan_margin(**SETTING, n_simulations=70, rng=alone.seed).margin == alone.margin).all()


@pytest.mark.jit
def test_simulations_are_the_same_whatever_the_threads_and_blocks(monkeypatch):
    setting = SETTING | {"fnmr": np.linspace(0.05, 0.5, 7)}
    expected = ff.plan_margin(**setting, n_simulations=700, rng=3, n_threads=1).margin
    assert (ff.plan_margin(**setting, n_simulations=700, rng=3, n_threads=2).margin == expected).all()
    monkeypatch.setattr(group_sums, "AT_ONCE", 128)
    assert (ff.plan_margin(**setting, n_simulations=700, rng=3).margin == expected).all()
    assert (ff.plan_margin(**setting, n_simulations=700, rng=4).margin != expected).any()


def test_a_fair_system_is_found_unfair_as_often_as_said():
    """Studies drawn one decision at a time: some group is outside rate +- margin in at most alpha of them."""
    plan = ff.plan_margin(**SETTING | {"n_subjects": 100}, method="exact")
    n_studies, g = 5_000, SETTING["n_groups"]
    drawn = ff.correlated_decisions(n_studies * g * 100, 3, 0.1, 0.3, rng=11)
    apart = np.abs(drawn.reshape(n_studies, g, 300).mean(axis=2) - 0.1).max(axis=1)
    cdf = slow_cdf(plan, float(plan.margin))
    assert 0.95 <= cdf < 0.97
    assert (apart <= plan.margin + 1e-9).mean() == pytest.approx(cdf, abs=4.5 * math.sqrt(0.05 / n_studies))


def slow_cdf(plan: ff.MarginPlan, margin: float) -> float:
    """Compute how often all groups are within a margin, by plain convolution."""
    n, m, fnmr = int(plan.n_subjects), int(plan.n_attempts), float(plan.fnmr)
    one = beta_binomial_pmf(m, fnmr, float(plan.correlation))
    pmf = np.ones(1)
    for _ in range(n):
        pmf = np.convolve(pmf, one)
    near = np.abs(np.arange(pmf.size) / (n * m) - fnmr) <= margin + 1e-12
    return float(pmf[near].sum() ** int(plan.n_groups))


def test_settings_broadcast_and_are_kept():
    plan = ff.plan_margin(
        n_groups=[[3], [5]], n_subjects=[10, 20, 40], n_attempts=2, fnmr=0.1, correlation=0.0, method="exact"
    )
    assert plan.margin.shape == plan.n_groups.shape == plan.correlation.shape == (2, 3)
    assert plan.axes == ("n_groups", "n_subjects")
    for i, j in np.ndindex(2, 3):
        alone = ff.plan_margin(
            n_groups=[3, 5][i], n_subjects=[10, 20, 40][j], n_attempts=2, fnmr=0.1, correlation=0, method="exact"
        )
        assert plan.margin[i, j] == alone.margin
    together = ff.plan_margin(**SETTING | {"n_groups": [2, 3], "fnmr": [0.1, 0.2]}, method="exact")
    assert together.axes == ("n_groups & fnmr",)
    assert alone.axes == ()
    frame = plan.to_frame("polars")
    assert frame.columns == ["n_groups", "n_subjects", "n_attempts", "fnmr", "correlation", "margin"]
    assert frame.height == 6
    assert frame.row(4) == (5, 20, 2, 0.1, 0.0, plan.margin[1, 1])


def test_progress_is_told():
    told = []
    setting = SETTING | {"fnmr": [0.1, 0.2, 0.3], "n_groups": [[2], [3]]}
    ff.plan_margin(**setting, method="exact", progress=lambda *done: told.append(done))
    assert told[-1] == (3, 3)


# The paper's study.


def test_the_study_has_the_papers_settings(study):
    assert study.axes == ("fnmr", "correlation", "n_subjects", "n_attempts", "n_groups")
    assert study.margin.shape == (5, 5, 4, 5, 8)
    assert study.margin.size == 4000
    assert np.unique(study.n_groups).tolist() == [3, 4, 5, 6, 10, 15, 20, 30]
    at = (2, 0, 2, 0, 4)
    setting = CENTER | {"n_groups": 10}
    assert all(getattr(study, name)[at] == value for name, value in setting.items())
    assert study.margin[at] == ff.plan_margin(**setting, method="exact").margin


@pytest.mark.jit
def test_the_simulated_study_is_the_exact_one_but_for_noise(study):
    """A setting's quantile from 1000 draws lies between those at 0.95 -+ 4.5 standard errors."""
    found = ff.margin_study(rng=0).margin
    off = 4.5 * math.sqrt(0.05 * 0.95 / 1000)
    low, high = (ff.margin_study(confidence_level=level, method="exact").margin for level in (0.95 - off, 0.95 + off))
    assert ((low - 1e-12 <= found) & (found <= high + 1e-12)).all()


def ratio(study: ff.MarginPlan, name: str) -> np.ndarray:
    """Divide the largest margin by the smallest over a setting's range, about the centre, for each number of groups."""
    held = [getattr(study, other) == value for other, value in CENTER.items() if other != name]
    margins = study.margin[np.logical_and.reduce(held)].reshape(-1, 8)
    values = np.unique(getattr(study, name))
    assert len(margins) == values.size
    return margins.max(axis=0) / margins.min(axis=0)


def test_the_margin_falls_with_subjects_and_attempts_and_grows_with_groups_and_fnmr(study):
    steps = {name: np.diff(study.margin, axis=axis) for axis, name in enumerate(study.axes)}
    assert (steps["n_subjects"] < 0).all()
    assert (steps["fnmr"] > 0).all()
    assert (steps["n_groups"] > -1e-12).all()
    # Rates are multiples of 1 / (n m): from one number of attempts to the next, 1 of 3,200 margins comes out higher.
    attempts = steps["n_attempts"]
    assert (attempts < 0).mean() > 0.99
    assert attempts.max() < 1 / (100 * 4)
    ends = study.margin[..., -1, :] / study.margin[..., 0, :]
    assert ends.max() < 0.91
    # In the mean over settings, each group more adds less.
    mean, groups = study.margin.mean(axis=(0, 1, 2, 3)), np.unique(study.n_groups)
    slope = np.diff(mean) / np.diff(groups)
    assert (np.diff(slope) < 0).all()


def test_subjects_have_the_largest_effect_then_the_fnmr_then_attempts_then_the_correlation(study):
    """About the paper's centre: by formula (6) 2.83, 2.56, 1.90 and 1.18 times from one end to the other."""
    found = [ratio(study, name) for name in ("n_subjects", "fnmr", "n_attempts", "correlation")]
    for larger, smaller in itertools.pairwise(found):
        assert (larger > smaller).all()
    for factors, expected in zip(found, (2.83, 2.56, 1.90, 1.18), strict=True):
        assert factors.mean() == pytest.approx(expected, rel=0.02)
        assert factors == pytest.approx(expected, rel=0.07)


def test_the_margin_grows_with_the_correlation_as_the_variance_does(study):
    """The paper calls the correlation negatively associated with the margin, and then positively: it is the second."""
    assert (np.diff(study.margin, axis=study.axes.index("correlation")) > -1e-12).all()
    m, rho = (getattr(study, name)[0, :, 0, :, 0] for name in ("n_attempts", "correlation"))
    expected = np.sqrt((1 + (m - 1) * rho) / (1 + (m - 1) * rho[0]))
    found = (study.margin / study.margin[:, :1]).mean(axis=(0, 2, 4))
    np.testing.assert_allclose(found, expected, rtol=0.02)
    assert found[-1] == pytest.approx([1.18, 1.32, 1.44, 1.63, 1.88], abs=0.005)  # from 0.05 to 0.45, 2 to 10 attempts


def test_margins_are_those_of_a_normal_law_but_for_steps_and_skewness(study):
    """Formula (6) with the normal quantile of so many groups: good where failures are many."""
    rate, size = study.fnmr, study.n_subjects * study.n_attempts
    error = np.sqrt(rate * (1 - rate) * (1 + (study.n_attempts - 1) * study.correlation) / size)
    normal = stats.norm.ppf((1 + 0.95 ** (1 / study.n_groups)) / 2) * error
    assert np.median(study.margin / normal) == pytest.approx(1, abs=0.01)
    many = (rate >= 0.1) & (study.n_subjects >= 400)
    assert (np.abs(study.margin - normal)[many] < 0.03 * normal[many] + 1 / size[many]).all()


# Bad input.


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_groups": 1}, "n_groups must be whole numbers of at least 2, not 1"),
        ({"n_groups": [3, 2.5]}, "n_groups must be whole numbers of at least 2, not 2.5"),
        ({"n_subjects": [10, 0]}, "n_subjects must be whole numbers of at least 1, not 0"),
        ({"n_subjects": np.inf}, "n_subjects must be whole numbers of at least 1, not inf"),
        ({"n_attempts": "two"}, "n_attempts must be a number or an array of them, not .two."),
        ({"n_attempts": True}, "n_attempts must be a number or an array of them, not True"),
        ({"n_attempts": []}, "n_attempts must be a number"),
        ({"n_attempts": [[1], [1, 2]]}, "n_attempts must be an array of one shape"),
        ({"fnmr": 0}, r"fnmr must be fractions in \(0, 1\), not 0"),
        ({"fnmr": [0.1, 5]}, r"fnmr must be fractions in \(0, 1\), not 5; for 5 % write 0.05"),
        ({"fnmr": np.nan}, "not nan"),
        ({"correlation": -0.1}, r"correlation must be fractions in \[0, 1\], not -0.1"),
        ({"correlation": 30}, "for 30 % write 0.3"),
        (
            {"n_groups": [2, 3], "fnmr": [0.1, 0.2, 0.3]},
            r"shapes do not go together: n_groups \(2,\), fnmr \(3,\); give one an axis of its own",
        ),
        ({"attempts": [2, 3]}, "give n_attempts, how many attempts each subject makes, or attempts"),
        ({"n_attempts": None, "attempts": [2, 0]}, "attempts must be whole numbers of at least 1, not 0"),
        (
            {"n_attempts": None, "attempts": [2, 3], "method": "exact"},
            'computes no margin with attempts: use method="s',
        ),
        ({"assurance": 0.8, "method": "exact"}, "computes no margin with assurance"),
        ({"assurance": 80}, "assurance must be fractions in .*for 80 % write 0.8"),
        ({"n_simulations": 0}, "n_simulations must be a whole number of at least 1, not 0"),
        ({"n_simulations": 1.5}, "n_simulations must be a whole number"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"quantile": "median"}, "quantile must be one of 'family-wise', 'paper', not 'median'"),
        ({"method": "exakt"}, "did you mean 'exact'"),
        ({"rng": -1}, "rng must be"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_bad_settings_are_refused(changed, message):
    with pytest.raises(InputError, match=message):
        ff.plan_margin(**SETTING | changed)


# Figures.


@pytest.fixture
def pyplot():
    yield plt
    plt.close("all")


def test_the_overview_has_a_panel_for_each_size_and_a_line_for_each_fnmr(study, pyplot):
    figure = study.plot_overview()
    panels = np.reshape(figure.axes, (4, 5))
    assert panels[0, 0].get_title(loc="left") == "n = 100, m = 2"
    assert panels[3, 4].get_title(loc="left") == "n = 800, m = 10"
    lines = panels[2, 0].get_lines()
    assert [line.get_label() for line in lines] == ["π = 2.5 %", "π = 5 %", "π = 10 %", "π = 15 %", "π = 20 %"]
    assert lines[2].get_xdata().tolist() == [3, 4, 5, 6, 10, 15, 20, 30]
    assert lines[2].get_ydata().tolist() == study.margin[2, 0, 2, 0].tolist()
    assert len({panel.get_ylim() for panel in panels.ravel()}) == 1
    assert [len(panel.texts) for panel in panels[1]] == [0, 0, 0, 0, 5]
    assert "0.45" in study.plot_overview(0.45).get_suptitle()
    with pytest.raises(InputError, match=r"the plan has nothing at .*ρ = 0.5.*correlation are 0.05, 0.15, 0.25"):
        study.plot_overview(0.5)


def test_one_setting_is_changed_at_a_time(study, pyplot):
    figure = study.plot_one_at_a_time()
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles == ["Subjects in each group", "Attempts of each subject", "Correlation of attempts", "FNMR"]
    by_correlation = figure.axes[2]
    assert [line.get_label() for line in by_correlation.get_lines()][::4] == ["ρ = 0.05", "ρ = 0.45"]
    assert by_correlation.get_lines()[4].get_ydata().tolist() == study.margin[2, 4, 2, 0].tolist()
    # Labels stand in the order of the lines' ends and apart from each other.
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in by_correlation.texts]
    assert [text.get_text() for text in by_correlation.texts] == [f"ρ = 0.{k}5" for k in range(5)]
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in itertools.pairwise(boxes))


@pytest.mark.slow
@pytest.mark.jit  # whole studies are simulated
def test_plans_of_a_single_setting_are_drawn_over_subjects(pyplot):
    few = {"n_simulations": 60, "rng": 3}
    asked = WITHOUT_SUBJECTS | few
    needed = ff.plan_subjects(margin=0.1, assurance=0.7, **asked)
    to_find = ff.plan_subjects(difference=0.1, power=0.6, **asked)
    with pytest.warns(OutOfReachWarning):
        out_of_reach = ff.plan_subjects(margin=0.001, max_subjects=80, **asked)

    def about(n: float) -> list[int]:
        return [round(n / 4), round(n / 2), int(n), int(2 * n), int(4 * n)]

    cases: list[tuple[Any, str, float, Any, float | None]] = [
        (ff.plan_margin(**SETTING, method="exact"), "margin", SETTING["n_subjects"],
         partial(ff.plan_margin, method="exact"), None),
        (ff.plan_margin(**SETTING, **few, assurance=0.6), "margin", SETTING["n_subjects"],
         partial(ff.plan_margin, assurance=0.6), None),
        (ff.plan_power(**SETTING | few, difference=0.1), "power", SETTING["n_subjects"],
         partial(ff.plan_power, difference=0.1), None),
        (needed, "margin", needed.n_subjects, partial(ff.plan_margin, assurance=0.7), 0.1),
        (to_find, "power", to_find.n_subjects, partial(ff.plan_power, difference=0.1), 0.6),
        (out_of_reach, "margin", 80, partial(ff.plan_margin, assurance=0.8), 0.001),
    ]  # fmt: skip
    for plan, value, n, again, wanted in cases:
        ax = pickle.loads(pickle.dumps(plan)).plot(pyplot.figure().add_subplot())
        curve, *marks = ax.get_lines()
        assert curve.get_xdata().tolist() == about(n)
        expected = getattr(again(**asked | {"n_subjects": about(n)}), value)
        np.testing.assert_array_equal(curve.get_ydata(), expected)
        assert [mark.get_label() for mark in marks] == [f"{int(n):,} subjects"] + (
            [] if wanted is None else [f"wanted: {100 * wanted:g} %"]
        )
        assert marks[0].get_xdata() == [n, n]
        assert wanted is None or marks[1].get_ydata() == [wanted, wanted]
        assert "_around" not in json.loads(plan.to_json())["settings"]
        (dot,) = plan.plot(pyplot.figure().add_subplot(), over="n_groups").get_lines()
        assert dot.get_xdata().size == 1


@pytest.mark.jit  # whole studies are simulated
def test_plans_are_drawn_over_any_setting(pyplot):
    n, groups = np.array([50, 100, 200]), np.array([[2], [6]])
    ax = ff.plan_margin(**SETTING | {"n_subjects": n, "n_groups": groups}, method="exact").plot(over="n_subjects")
    assert [line.get_label() for line in ax.get_lines()] == ["G = 2", "G = 6"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Subjects in each group", "Margin of error")
    power = ff.plan_power(**SETTING | {"n_subjects": n}, difference=[[0.05], [0.1]], n_simulations=50, rng=0)
    ax = power.plot(pyplot.figure().add_subplot())
    assert [line.get_label() for line in ax.get_lines()] == ["δ = 5 %", "δ = 10 %"]
    assert ax.get_ylabel() == "Power"
    needed = ff.plan_subjects(**WITHOUT_SUBJECTS, margin=[0.05, 0.1], n_simulations=50, rng=0)
    ax = needed.plot(over="wanted_margin", color="k")
    (line,) = ax.get_lines()
    assert line.get_color() == "k"
    assert ax.xaxis.get_major_formatter()(0.05) == "5 %"
    assert ax.get_legend() is None
    with pytest.raises(
        InputError, match=r"over must be one of 'n_groups', 'n_attempts'.*'wanted_assurance', not 'power'"
    ):
        needed.plot(over="power")
