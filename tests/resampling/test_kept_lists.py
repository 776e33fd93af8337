"""Lists that are kept only as far as replicates are expected to need them, against complete ones: the same bits."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib import jobs, seeds, threads
from fastfair._lib.workers import ONE_THREAD, Workers
from fastfair.resampling import blocks, preparation
from fastfair.resampling.comparison_replicates import Resampler
from fastfair.resampling.preparation import Metrics

KEY = seeds.stream(11)[0]
POINTS = (ff.at_fmr(0.02), ff.at_fnmr(0.05), ff.at_threshold(1.5), ff.at_eer(), ff.at_mean_group_eer())


def comparisons_of(seed, n, decimals, dtype=np.float32):
    rng = np.random.default_rng(seed)
    subjects = np.arange(12)
    reference, probe = rng.integers(0, 12, (2, n))
    mated = rng.random(n) < 0.3
    mated[:6] = np.arange(6) < 3  # each group has both
    probe = np.where(mated, reference, np.where(reference == probe, (probe + 1) % 12, probe))
    reference[:6], probe[:6] = np.arange(6) % 3, (0, 1, 2, 3, 4, 5)
    scores = np.round(rng.normal(size=n) + 2 * mated + 0.5 * (reference % 3), decimals)
    group = subjects % 3
    return ff.Comparisons(scores.astype(dtype), mated, reference, probe, group[reference], group[probe])


def replicates(c, kept, *, jackknife=False, method="nearest", n=128, metrics=("eer",), workers=ONE_THREAD):
    """Compute replicates with lists that keep `kept` comparisons of each class at first, and say how many at last."""
    with mock.patch.object(preparation, "_with_spare", lambda needed, n: min(n, kept)):
        resampler = Resampler(c, POINTS, metrics=Metrics(metrics, method), measured=(0, 1, 2))
    # What is found before replicates needs the errors of the data.
    found = resampler.jackknife() if jackknife else resampler.replicate(n, KEY, workers)
    return found, resampler.prepared


def same(one, other):
    arrays = [(one.threshold, other.threshold), (one.fmr, other.fmr), (one.fnmr, other.fnmr)]
    arrays += [(one.metrics[name], other.metrics[name]) for name in one.metrics]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in arrays)


@pytest.mark.jit
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(30, 400),
    st.integers(0, 2),
    st.sampled_from(["nearest", "nearest-max", "interpolated"]),
    st.booleans(),
    st.sampled_from([("eer",), ("min_dcf",), ("eer", "min_dcf")]),
)
def test_lists_that_are_too_short_are_extended_to_the_same_bits(seed, n, decimals, method, jackknife, metrics):
    c = comparisons_of(seed, n, decimals)
    expected, complete = replicates(c, n, method=method, jackknife=jackknife, metrics=metrics)
    assert complete.x.complete
    assert complete.y.complete
    needed = max(preparation_needs(complete))
    for more in (0, 3):
        found, _ = replicates(c, needed + more, method=method, jackknife=jackknife, metrics=metrics)
        assert same(found, expected)


def preparation_needs(prepared):
    """Return how many mated and non-mated comparisons the estimates need."""
    with mock.patch.object(preparation, "_with_spare", lambda needed, n: needed):
        return prepared._numbers_to_keep([0, 1, 2, 3])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_replicates_that_reach_further_make_lists_longer(n_threads):
    c = comparisons_of(1, 3000, 3)
    expected, complete = replicates(c, 3000)
    needed = max(preparation_needs(complete))
    found, prepared = replicates(c, needed, workers=Workers(n_threads))
    assert needed < prepared.x.end[0] < prepared.x.sizes[0]
    assert same(found, expected)


@pytest.mark.jit
def test_a_part_of_many_comparisons_is_kept_from_the_start():
    rng = np.random.default_rng(0)
    n = 120_000
    reference = rng.integers(0, 300, n)
    mated = rng.random(n) < 0.3
    probe = np.where(mated, reference, (reference + rng.integers(1, 300, n)) % 300)
    c = ff.Comparisons(rng.normal(size=n) + 4 * mated, mated, reference, probe, reference % 2, probe % 2)
    point = [ff.at_fmr(0.01)]
    resampler = Resampler(c, point, metrics=Metrics(("eer",)))
    kept = resampler.prepared.x
    assert kept.end[0] < 0.2 * kept.sizes[0]
    found = resampler.replicate(256, KEY)
    assert resampler.prepared.x is kept
    of_costs = Resampler(c, point, metrics=Metrics(("min_dcf",)))
    assert of_costs.prepared.x.end[0] < 0.2 * kept.sizes[0]
    # Metrics that need all scores keep them.
    full = Resampler(c, point, metrics=Metrics(("eer", "min_dcf", "min_cllr")))
    assert full.prepared.x.complete
    expected = full.replicate(256, KEY)
    assert np.array_equal(found.fmr, expected.fmr)
    assert np.array_equal(found.fnmr, expected.fnmr)
    assert np.array_equal(found.metrics["eer"], expected.metrics["eer"])
    assert np.array_equal(of_costs.replicate(256, KEY).metrics["min_dcf"], expected.metrics["min_dcf"])
    assert resampler.prepared.complete(False).end[0] == kept.sizes[0]


@pytest.mark.jit
def test_lists_that_are_too_short_for_other_processes_are_extended_here(tmp_path, monkeypatch):
    asked = []

    def do_job(*arguments):
        asked.append(arguments)
        jobs.do_job(*arguments)

    monkeypatch.setattr(blocks, "do_job", do_job)
    c = comparisons_of(1, 3000, 3)
    expected, complete = replicates(c, 3000)
    needed = max(preparation_needs(complete))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for workers in (Workers(executor=pool), Workers(1, executor=pool, checkpoint=tmp_path)):
            found, prepared = replicates(c, needed, workers=workers)
            assert needed < prepared.x.end[0] < prepared.x.sizes[0]
            assert same(found, expected)
    assert len(asked) == 3  # nothing is asked of the workers again


@pytest.mark.jit
@pytest.mark.parametrize("n_threads", [1, 3])
def test_preparation_and_intervals_keep_to_the_number_of_threads(monkeypatch, n_threads):
    used = []

    def deal(work, items, n, told):
        used.append(min(n, len(items)))
        for number, item in enumerate(items):
            told(number, work(item))

    c = comparisons_of(5, 4000, 6)
    everything = ff.evaluate(c, POINTS, n_resamples=64, rng=0, n_threads=2)
    monkeypatch.setattr(threads, "_SMALL", 10)
    monkeypatch.setattr(threads, "deal", deal)
    found = ff.evaluate(c, POINTS, n_resamples=64, rng=0, n_threads=n_threads)
    assert max(used) == n_threads
    lows = [np.array([q.low for q in one.quantities], float) for one in (found, everything)]
    assert np.array_equal(*lows, equal_nan=True)
