"""Lists that are kept only as far as replicates are expected to need them, against complete ones:
the same bits."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib import seeds
from fastfair._lib import workers as jobs
from fastfair._lib.workers import ONE_THREAD, Workers
from fastfair.resampling import engine
from fastfair.resampling.engine import Metrics, Resampler
from fastfair.resampling.pair_source import Errors

KEY = seeds.stream(11)[0]
POINTS = (
    ff.at_fmr(0.02),
    ff.at_fnmr(0.05),
    ff.at_threshold(1.5),
    ff.at_eer(),
    ff.at_mean_group_eer(),
)


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
    return ff.Comparisons(
        scores.astype(dtype), mated, reference, probe, group[reference], group[probe]
    )


def replicates(
    c, kept, *, jackknife=False, method="nearest", n=128, metrics=("eer",), workers=ONE_THREAD
):
    """Compute replicates with lists that keep `kept` comparisons of each class at first, and say
    how many at last."""
    with mock.patch.object(engine, "_with_spare", lambda needed, n: min(n, kept)):
        resampler = Resampler(c, POINTS, metrics=Metrics(metrics, method), measured=(0, 1, 2))
    # What is found before replicates needs the errors of the data.
    found = resampler.jackknife() if jackknife else resampler.replicate(n, KEY, workers)
    return found, resampler


def same(one, other):
    arrays = [(one.threshold, other.threshold), (one.fmr, other.fmr), (one.fnmr, other.fnmr)]
    arrays += [(one.metrics[name], other.metrics[name]) for name in one.metrics]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in arrays)


@pytest.mark.jit
@given(
    st.integers(0, 10**6),
    st.integers(30, 400),
    st.integers(0, 2),
    st.sampled_from(["nearest", "nearest-max", "interpolated"]),
    st.booleans(),
    st.sampled_from([("eer",), ("min_dcf",), ("eer", "min_dcf")]),
)
def test_lists_that_are_too_short_are_extended_to_the_same_bits(
    seed, n, decimals, method, jackknife, metrics
):
    c = comparisons_of(seed, n, decimals)
    expected, complete = replicates(c, n, method=method, jackknife=jackknife, metrics=metrics)
    assert complete.error_lists.nonmated.complete
    assert complete.error_lists.mated.complete
    needed = max(preparation_needs(complete))
    for more in (0, 3):
        found, _ = replicates(c, needed + more, method=method, jackknife=jackknife, metrics=metrics)
        assert same(found, expected)


def preparation_needs(prepared):
    """Return how many mated and non-mated comparisons the estimates need."""
    with mock.patch.object(engine, "_with_spare", lambda needed, n: needed):
        return prepared._numbers_to_keep([0, 1, 2, 3])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_replicates_that_reach_further_make_lists_longer(n_threads):
    c = comparisons_of(1, 3000, 3)
    expected, complete = replicates(c, 3000)
    needed = max(preparation_needs(complete))
    found, prepared = replicates(c, needed, workers=Workers(n_threads))
    assert needed < prepared.error_lists.nonmated.end[0] < len(prepared.comparisons.nonmated)
    assert same(found, expected)


def test_pairs_are_walked_over_once_for_a_point_and_sums_stay_here():
    resampler = Resampler(comparisons_of(1, 300, 2), POINTS, measured=(0, 1, 2))
    lists = resampler.error_lists.nonmated
    errors = lists.errors_at(resampler.thresholds)
    walk = lists.source.variances
    with mock.patch.object(type(lists.source), "variances", side_effect=walk) as walks:
        for asked in (errors[::-1], errors[2:], errors + 1, errors + 1):
            stops = lists.start + asked
            expected = walk(Errors(lists.a, lists.b, lists.start, stops))
            assert all(map(np.array_equal, lists.variances(asked), expected))
    assert walks.call_count == 1
    assert lists._variances
    assert not pickle.loads(pickle.dumps(lists))._variances


@pytest.mark.slow
@pytest.mark.jit
def test_lists_that_are_too_short_for_other_processes_are_extended_here(tmp_path, monkeypatch):
    asked = []

    def do_job(*arguments):
        asked.append(arguments)
        jobs.do_job(*arguments)

    monkeypatch.setattr(engine, "do_job", do_job)
    c = comparisons_of(1, 3000, 3)
    expected, complete = replicates(c, 3000)
    needed = max(preparation_needs(complete))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for workers in (Workers(executor=pool), Workers(1, executor=pool, checkpoint=tmp_path)):
            found, prepared = replicates(c, needed, workers=workers)
            assert (
                needed < prepared.error_lists.nonmated.end[0] < len(prepared.comparisons.nonmated)
            )
            assert same(found, expected)
    assert len(asked) == 3  # nothing is asked of the workers again
