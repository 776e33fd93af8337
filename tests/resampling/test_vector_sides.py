"""Replicates of `evaluate` whose units are samples of vectors: against loops, and beside those of
bands."""

from __future__ import annotations

import math
import pickle
from functools import partial

import numpy as np
import pytest
from helpers.each import each
from helpers.small_embeddings import as_draw, matrix_of, small_embeddings, two_systems
from helpers.two_sets import random_sets
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import embeddings as slow

import fastfair as ff
from fastfair._lib import seeds
from fastfair.error_rates.score_metrics import Costs
from fastfair.resampling.engine import NO_METRICS, Metrics, Resampler
from fastfair.resampling.vector_replicates import Draws, PairResampler

UNITS = ("sample", "subject+sample")
KEY = seeds.stream(3)[0]
POINTS = (ff.at_fmr(0.3), ff.at_threshold(2.5), ff.at_fnmr(0.4))


def drawn_of(resampler: Resampler, e: ff.Embeddings) -> list[slow.Draw]:
    weights = resampler.units.new_weights()
    resampler.units.draw(0, KEY, weights)
    return [
        as_draw(e, resampler.units.unit, weights[:, r], resampler.units.subject) for r in range(3)
    ]


@pytest.mark.jit
@pytest.mark.parametrize("unit", UNITS)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 6), most=st.integers(1, 4))
def test_replicates_of_vectors_are_those_of_loops(unit: str, seed: int, n: int, most: int):
    e = small_embeddings(seed, n, most)
    matrix, subject, costs = matrix_of(e), e.subject.tolist(), Costs(0.3, 2, 1)
    resampler = Resampler(
        e.comparisons(),
        POINTS,
        unit=unit,
        metrics=Metrics(("eer", "min_dcf"), "nearest", costs),
        with_groups=True,
    )
    found = resampler.replicate(3, KEY)
    groups = dict(enumerate(e.subject_group.tolist()))
    thresholds = np.append(np.unique(matrix[np.triu_indices(len(e), 1)]), np.inf)
    for r, draw in enumerate(drawn_of(resampler, e)):
        fnmr = partial(slow.fnmr_around_rate, matrix, subject, draw=draw)
        fmr = partial(slow.fmr, matrix, subject, weighting="comparison", draw=draw)
        assume(not math.isnan(fmr(0)))
        held = slow.threshold_at_fmr(0.3, matrix, subject, "comparison", draw)
        np.testing.assert_equal(found.threshold[0, r], held)
        for point in range(len(POINTS)):
            t = float(found.threshold[point, r])
            for row, group in enumerate((None, *np.unique(e.subject_group).tolist())):
                within = {"of": group, "groups": groups}
                np.testing.assert_allclose(
                    found.fnmr[point, row, r], float(fnmr(t, **within)), rtol=1e-12, atol=1e-15
                )
                np.testing.assert_allclose(
                    found.fmr[point, row, r], float(fmr(t, **within)), rtol=1e-12, atol=1e-15
                )
        rates = [(float(fmr(t)), float(fnmr(t))) for t in thresholds]
        if not math.isnan(rates[0][1]):  # a replicate may have no subject of several vectors
            apart = min(abs(x - y) for x, y in rates)
            nearest = [(x + y) / 2 for x, y in rates if abs(x - y) <= apart + 1e-12]
            assert min(abs(found.metrics["eer"][0, r] - value) for value in nearest) < 1e-12
            least = min(costs.miss * y + costs.false_match * x for x, y in rates) / costs.unit
            assert found.metrics["min_dcf"][0, r] == pytest.approx(least, rel=1e-12)


@pytest.mark.jit
@pytest.mark.parametrize("unit", UNITS)
@given(seed=st.integers(0, 10**6))
def test_references_and_probes_are_drawn_as_bands_draw_them(unit: str, seed: int):
    e = random_sets(seed, 5, 5)
    bands = PairResampler(
        e, np.array([0.3]), Draws("comparison", unit), with_groups=True, with_overall_fmr=True
    )
    evaluated = Resampler(e.comparisons(), [ff.at_fmr(0.3)], unit=unit, metrics=NO_METRICS)
    wanted, found = (one.replicate(64, KEY) for one in (bands, evaluated))
    for name in ("threshold", "fnmr", "fmr"):
        of_bands = getattr(wanted, name)
        assert np.array_equal(
            getattr(found, name)[:, : of_bands.shape[1]], of_bands, equal_nan=True
        )


@pytest.mark.jit
@given(seed=st.integers(0, 10**6))
def test_replicates_of_bands_are_moved_to_the_rate_of_the_data(seed: int):
    e = small_embeddings(seed, 6, 5)
    bands = PairResampler(e, np.array([0.3]), Draws("comparison", "sample"), with_groups=True)
    evaluated = Resampler(e.comparisons(), [ff.at_fmr(0.3)], unit="sample", metrics=NO_METRICS)
    wanted, found = (one.replicate(64, KEY) for one in (bands, evaluated))
    n, mated = e.n_samples, e.subject[:, None] == e.subject
    np.fill_diagonal(mated, val=False)
    lacking = 1 - ((n - 1) ** 2).sum() / (n * (n - 1)).sum()
    at_threshold = np.array([(matrix_of(e)[mated] < t).mean() for t in found.threshold[0]])
    assert np.array_equal(found.threshold, wanted.threshold)
    np.testing.assert_allclose(
        found.fnmr[0, 0], wanted.fnmr[0, 0] + lacking * at_threshold, rtol=1e-12, atol=1e-15
    )


@pytest.mark.jit
@each("unit", [*UNITS])
def test_replicates_elsewhere_are_those_here(unit: str):
    resampler = Resampler(two_systems(5)[0].comparisons(), POINTS, unit=unit)
    here, elsewhere = (
        one.replicate(70, KEY) for one in (resampler, pickle.loads(pickle.dumps(resampler)))
    )
    for name in ("threshold", "fnmr", "fmr"):
        assert np.array_equal(getattr(here, name), getattr(elsewhere, name), equal_nan=True)


@pytest.mark.jit
@each("unit", [*UNITS])
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_vectors_and_their_comparisons_have_the_same_bits_with_any_number_of_threads(unit: str):
    first, second = two_systems(4)
    asked = {"metrics": ["eer", "min_dcf"], "unit": unit, "n_resamples": 70, "rng": 1}
    wanted = ff.evaluate(first, ff.at_fmr(0.02), n_threads=1, **asked)
    for data in (first, first.comparisons(), first.comparisons().by("group")):
        assert repr(ff.evaluate(data, ff.at_fmr(0.02), n_threads=3, **asked).quantities) == repr(
            wanted.quantities
        )
    pair = ff.compare(first, second, ff.at_fmr(0.02), **asked)
    assert repr(pair.evaluations[0].quantities) == repr(wanted.quantities)


@pytest.mark.jit
@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_every_metric_and_method_has_intervals_around_its_estimate(method: str):
    e = two_systems(7, groups=2)[0]
    found = ff.evaluate(
        e,
        ff.at_fnmr(0.2),
        "gini",
        metrics="all",
        unit="sample",
        n_resamples=400,
        rng=0,
        settings=ff.EvaluationSettings(method=method),
    )
    for quantity in found.quantities:
        if quantity.name in ("fmr", "eer", "cllr") and quantity.group is None:
            assert quantity.low < quantity.estimate < quantity.high
            drawn = found.replicates(quantity.name, at=quantity.at)
            assert abs(drawn.mean() - quantity.estimate) < 0.35 * drawn.std()


def test_weights_of_mated_vectors_alone_are_shrunk_and_once_for_each_metric():
    e = ff.von_mises_fisher_embeddings(20, [2, 3, 4, 5] * 5, 8, concentration=(5, 20), rng=1)
    resampler = Resampler(e.comparisons(), POINTS, unit="sample", metrics=Metrics())
    n = e.n_samples
    mean = sum(n * (n - 1) / 2 * (1 - 1 / n)) / e.n_mated
    assert set(resampler.shrinkage.metrics) == {
        "eer",
        "min_dcf",
        "cllr",
        "min_cllr",
        "auc",
        "d_prime",
    }
    for mated, nonmated in resampler.shrinkage.metrics.values():
        assert mated == pytest.approx([mean])
        assert nonmated.tolist() == [1]
