"""Own measures: those that keep the rules are registered, and each rule that is broken is named."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.measures import MEASURES
from fastfair.measures._registry import _on_samples, compute

measure = ff.measures.measure
FAIR = {"of": "fnmr", "range": (0, 1), "fair_value": 0}


def gap(x):
    return x.max(axis=-1) - x.min(axis=-1)


@pytest.fixture(autouse=True)
def nothing_stays():
    before = dict(MEASURES)
    yield
    for name in set(MEASURES) - set(before):
        del MEASURES[name]
    assert before == MEASURES


@each("name", MEASURES)
def test_the_librarys_measures_keep_the_rules(name):
    assert _on_samples(MEASURES[name]) == MEASURES[name]


def test_facts_are_found_on_samples():
    @measure(**FAIR | {"range": (-np.inf, np.inf)}, name="excess", aliases="more than the average")
    def more(x, average):
        return np.log(x) - np.log(average[..., None])

    facts = MEASURES["excess"]
    assert facts.per_group
    assert facts.ratio
    assert facts.global_reference
    assert facts.fairer == "nearer"
    assert more.estimand is facts
    assert facts.title == "excess"
    assert compute(facts, [np.array([0.1, 0.2])], [np.float64(0.2)]).tolist() == pytest.approx(
        [-np.log(2), 0]
    )
    refused("taken by excess", measure(**FAIR, name="more_than_the_average"), gap)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.sampled_from([0.5, 1.0, 2.0]))
def test_a_registered_measure_is_its_function(rates, power):
    try:
        own = measure(**FAIR, name="own")(lambda x: gap(x) ** power)
        found = compute(MEASURES["own"], [np.array(rates)])
        assert found == (max(rates) - min(rates)) ** power
        assert own(np.array(rates)) == found
    finally:
        MEASURES.pop("own", None)


BROKEN = {
    "'own' raises ZeroDivisionError on rates of shape": lambda x: 1 / 0,
    "'own' raises ValueError": lambda x: "much",
    r"it returns \(\), and not a value for each set": lambda x: x.max() - x.min(),
    "other values than each alone": lambda x: np.abs(np.diff(x, axis=-1)).sum(axis=-1) / x.size,
    "equal rates give 1, not the fair value 0": lambda x: x.min(axis=-1) / x.max(axis=-1),
    "where a group's rate is NaN it gives a number": lambda x: (
        np.nanmax(x, axis=-1) - np.nanmin(x, axis=-1)
    ),
    "outside its range": lambda x: 2 * gap(x),
    "more unequal rates are nearer": lambda x: gap(x) * (0.9 - gap(x)).clip(0),
    "the most unequal rates give the fair value": lambda x: 0 * gap(x),
}


@each(("says", "function"), BROKEN.items())
def test_each_broken_rule_is_named(says, function):
    refused(says, measure(**FAIR, name="own"), function)
    assert "own" not in MEASURES


def test_names_that_are_taken_or_no_identifiers_are_refused():
    for name in ("worst gap", "1st", "lambda", "", "gap()"):
        refused("must be an identifier", measure(**FAIR, name=name), gap)
    refused("identifier", measure(**FAIR), lambda x: gap(x))
    for name in (
        "fdr",
        "FDR",
        "ir",
        "Inequity_Rate",
        "fmr",
        "min_dcf",
        "sed_mean",
        "all",
        "both_rates",
        "equal_error_rate",
    ):
        refused(f"the name '{name}' is taken", measure(**FAIR, name=name), gap)
    refused("'min DCF' is taken by min_dcf", measure(**FAIR, name="own", title="min DCF"), gap)
    refused("title of measure 'own' must have letters", measure(**FAIR, name="own", title="–"), gap)
    measure(**FAIR)(gap)
    refused("'gap' is taken by gap", measure(**FAIR), gap)


def test_a_cell_of_a_notebook_may_run_again(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__].gap, "__module__", "__main__")
    measure(**FAIR)(gap)
    measure(**FAIR, title="worst gap")(gap)
    assert MEASURES["gap"].title == "worst gap"


def test_what_cannot_be_is_refused():
    for of, says in [
        ("frr", "what measure 'own' is computed from"),
        (["fmr", "fmr"], "each once"),
        ([], "must name base metrics"),
        (["fmr", "both rates"], 'or be "both rates"'),
        (3, "of must be text"),
    ]:
        refused(says, lambda of=of: measure(**FAIR | {"of": of}, name="own")(gap))
    for bounds, says in [
        ((1, 0), "a least and a greatest"),
        ((0, 1, 2), "a pair of numbers"),
        ((0.5, 1), "fair_value must lie"),
    ]:
        refused(says, lambda bounds=bounds: measure(**FAIR | {"range": bounds}, name="own")(gap))
    refused("fair_value", measure, **FAIR | {"fair_value": np.nan})
    refused("of the groups' FMRs and FNMRs", measure(**FAIR | {"of": "both rates"}), gap)
    refused("it takes x, y, z", measure(**FAIR, name="own"), lambda x, y, z: x)
    refused("must be a function", measure(**FAIR, name="own", own_threshold=True), gap)
    refused("a function", measure(**FAIR, name="own"), 3)
    refused(
        "the name of a measure or its function",
        ff.fairness_band,
        ff.Comparisons([1, 0], [1, 0]),
        measure=np.ptp,
    )


def test_a_measure_that_works_in_place_changes_no_other():
    rng = np.random.default_rng(9)
    n = 900
    reference = rng.integers(0, 60, n)
    probe = np.where(rng.random(n) < 0.5, reference, (reference + 3 * rng.integers(1, 20, n)) % 60)
    groups, mated = np.array(["a", "b", "c"])[np.arange(60) % 3], reference == probe
    c = ff.Comparisons(
        mated * 3 + rng.normal(size=n), mated, reference, probe, groups[reference], groups[probe]
    )
    before = ff.evaluate(c, ff.at_fmr(0.05), ["garbe", "std", "gini"], rng=0, n_resamples=100)

    @measure(of=("fmr", "fnmr"), range=(0, 1), fair_value=0)
    def worst_deviation(x):
        x -= x.mean(axis=-1, keepdims=True)
        return np.abs(x, out=x).max(axis=-1)

    after = ff.evaluate(
        c, ff.at_fmr(0.05), ["worst_deviation", "garbe", "std", "gini"], rng=0, n_resamples=100
    )
    for name in ("garbe", "STD of FMR", "STD of FNMR", "Gini of FMR", "fmr", "fnmr"):
        assert (before.value(name), before.interval(name)) == (
            after.value(name),
            after.interval(name),
        )
    rates = before.rates[0].group_fnmr
    assert after.value("worst_deviation of FNMR") == pytest.approx(
        np.abs(rates - rates.mean()).max()
    )
    told = ff.check(
        c,
        ["worst_deviation of FNMR <= 0.9", "std of FNMR <= 0.4"],
        ff.at_fmr(0.05),
        rng=0,
        n_resamples=100,
    )
    assert [row.estimate for row in told.rows] == [
        after.value("worst_deviation of FNMR"),
        before.value("STD of FNMR"),
    ]


def test_what_a_measure_returned_does_not_change_later():
    kept = np.empty(50_000)

    @measure(**FAIR)
    def into_one_buffer(x):
        out = kept[: x[..., 0].size].reshape(x.shape[:-1])
        return np.subtract(x.max(axis=-1), x.min(axis=-1), out=out)

    first = compute(MEASURES["into_one_buffer"], [np.array([[0.1, 0.3]])])
    compute(MEASURES["into_one_buffer"], [np.array([[0.0, 0.9]])])
    assert first == pytest.approx(0.2)


def test_an_error_of_a_measure_names_it_and_its_rates():
    @measure(**FAIR, name="of_four")
    def of_four(x):
        return np.maximum(x[..., 3], x.max(axis=-1)) - x.min(axis=-1)

    c = ff.Comparisons(
        [0.9, 0.4, 0.7, 0.8, 0.1, 0.6], [1, 1, 1, 1, 0, 0], reference_group=list("ffmmfm")
    )
    refused(
        "measure 'of_four' raises IndexError",
        ff.evaluate,
        c,
        ff.at_threshold(0.5),
        [of_four],
        n_resamples=0,
    )
