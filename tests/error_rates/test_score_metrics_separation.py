"""AUC and d': what a double loop and scikit-learn say, ties, scales, and how they are reported."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive

import fastfair as ff
from fastfair.claims import read_requirement

SCORES = st.lists(st.integers(0, 6).map(lambda k: k / 4), min_size=1, max_size=12)
FEW = {"n_resamples": 100, "rng": 0, "n_threads": 1}


@given(mated=SCORES, nonmated=SCORES, is_distance=st.booleans())
def test_they_are_what_loops_say(mated, nonmated, is_distance):
    sign, kind = (-1, "distance") if is_distance else (1, "similarity")
    scores = [sign * score for score in mated + nonmated]
    c = ff.Comparisons(scores, [1] * len(mated) + [0] * len(nonmated), score_kind=kind)
    assert ff.auc(c) == pytest.approx(naive.auc(mated, nonmated), abs=1e-12)
    expected = naive.d_prime(mated, nonmated)
    assert ff.d_prime(c) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_auc_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    mated = rng.random(3000) < 0.3
    scores = np.round(rng.normal(size=mated.size) + mated, 1)  # many ties
    expected = metrics.roc_auc_score(mated, scores)
    assert ff.auc(ff.Comparisons(scores, mated)) == pytest.approx(expected, abs=1e-12)


def population() -> ff.Comparisons:
    rng = np.random.default_rng(1)
    subject = rng.integers(0, 40, (2, 2000))
    subject[1, :600] = subject[0, :600]
    mated = subject[0] == subject[1]
    scores = np.round(rng.normal(size=mated.size) + 1.5 * mated, 1)
    groups = np.array(["f", "m"])[subject % 2]
    return ff.Comparisons(
        scores, mated, *subject, *groups, policies=ff.Policies(self_comparisons="keep")
    )


def test_evaluations_have_them_with_intervals_and_ask_for_them():
    c = population()
    ev = ff.evaluate(c, metrics=["auc", "d_prime"], measures=[], **FEW)
    for name, function in (("auc", ff.auc), ("d_prime", ff.d_prime)):
        assert ev.value(name) == pytest.approx(function(c), abs=1e-12)
        assert ev.value(name, "f") == pytest.approx(function(c.within_group("f")), abs=1e-12)
        for group in (None, "f", "m"):
            low, high = ev.interval(name, group)
            assert low < ev.value(name, group) < high
    assert ev.value("AUC") == ev.value("auc")
    assert ev.value("d'") == ev.value("d_prime")
    assert {"auc", "d_prime"}.isdisjoint(one.name for one in ff.evaluate(c, **FEW).quantities)
    assert {"auc", "d_prime"} <= {
        one.name for one in ff.evaluate(c, metrics="all", **FEW).quantities
    }


def test_an_auc_is_no_percentage():
    ev = ff.evaluate(population(), metrics="auc", measures=[], **FEW)
    table = next(rows for _, headings, rows in ev._tables() if "AUC" in headings)
    assert "%" not in table[0][1]
    assert table[0][1].startswith("0.8")


def test_requirements_are_judged_on_them():
    c = population()
    found = ff.check(c, ["auc[*] >= 0.5", "d' <= 0.1"], unit="comparison", **FEW)
    assert [row.name for row in found.rows] == ["auc", "auc", "d_prime"]
    assert read_requirement("decidability >= 2", ff.at_fmr(0.1)).name == "d_prime"
    refused("between 0 and 1", ff.check, c, "auc >= 1.5")


def test_what_is_separated_has_no_interval_of_its_area():
    c = ff.Comparisons([0.9, 0.8, 0.7, 0.1, 0.2, 0.3], [1, 1, 1, 0, 0, 0])
    ev = ff.evaluate(c, metrics=["auc"], unit="comparison", **FEW)
    found = ev.quantity("auc")
    assert found.estimate == 1
    assert math.isnan(found.low)
    assert found.note == "no interval: replicates do not vary"
    assert ff.d_prime(ff.Comparisons([1.0, 1.0, 0.0], [1, 1, 0])) == math.inf


def test_comparisons_that_failed_have_neither():
    c = ff.Comparisons([0.9, None, 0.1], [1, 1, 0], policies=ff.Policies("non-match"))
    for function in (ff.auc, ff.d_prime):
        refused("needs the score of every comparison", function, c)
