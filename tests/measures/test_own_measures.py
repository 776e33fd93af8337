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
    assert compute(facts, [np.array([0.1, 0.2])], [np.float64(0.2)]).tolist() == pytest.approx([-np.log(2), 0])
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
    "it raises ZeroDivisionError on rates of shape": lambda x: 1 / 0,
    "it raises ValueError": lambda x: "much",
    r"it returns \(\), and not a value for each set": lambda x: x.max() - x.min(),
    "other values than each alone": lambda x: np.abs(np.diff(x, axis=-1)).sum(axis=-1) / x.size,
    "equal rates give 1, not the fair value 0": lambda x: x.min(axis=-1) / x.max(axis=-1),
    "where a group's rate is NaN it gives a number": lambda x: np.nanmax(x, axis=-1) - np.nanmin(x, axis=-1),
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
        ("frr", "what measure 'own' is computed from"), (["fmr", "fmr"], "each once"), ([], "must name base metrics"),
        (["fmr", "both rates"], "or be \"both rates\""), (3, "of must be text"),
    ]:  # fmt: skip
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
    refused("the name of a measure or its function", ff.fairness_band, ff.Comparisons([1, 0], [1, 0]), measure=np.ptp)
