"""Bands of pairs that are partly summed: the same bits as those of pairs that are all sorted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.parting import parted_if
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib import seeds
from fastfair._lib.workers import Workers
from fastfair.resampling.engine import _Blocks
from fastfair.resampling.error_lists import Ranges
from fastfair.resampling.pair_source import Classes
from fastfair.resampling.vector_replicates import Draws, PairResampler

UNITS = ("sample", "subject", "subject+sample")


def embeddings(
    seed: int, *, equal: bool, ties: bool, two_sets: bool, n_subjects: int = 24
) -> ff.Embeddings:
    rng = np.random.default_rng(seed)
    n_samples = np.full(n_subjects, 4) if equal else rng.integers(1, 7, n_subjects)
    n_samples[0] = max(n_samples[0], 2)
    subject = np.repeat(np.arange(n_subjects), n_samples)
    place = np.concatenate([np.arange(n) for n in n_samples])
    centers = rng.normal(size=(n_subjects, 5))
    vectors = centers[subject] + rng.normal(size=(subject.size, 5))
    if ties:
        vectors = np.rint(vectors)
    role = np.where(place % 2, "probe", "reference") if two_sets else None
    return ff.Embeddings(
        vectors.astype(np.float32),
        subject,
        np.array(list("fmn"))[subject % 3],
        "inner_product",
        role,
    )


def rates_of(
    e: ff.Embeddings, levels: np.ndarray, draws: Draws, *, with_groups: bool
) -> tuple[bool, list]:
    resampler = PairResampler(
        e, levels, draws, with_groups=with_groups, with_overall_fmr=True, workers=Workers(2)
    )
    freedom = resampler.shrinkage.freedom
    was_parted = resampler.error_lists.nonmated.ranges is not None
    estimate, expected = resampler.estimate()
    drawn = resampler.replicate(100, seeds.stream(3)[0])
    arrays = [freedom, expected]
    arrays += [
        getattr(one, name) for one in (estimate, drawn) for name in ("threshold", "fmr", "fnmr")
    ]
    return was_parted, arrays


@pytest.mark.jit
@given(
    seed=st.integers(0, 10**6),
    unit=st.sampled_from(UNITS),
    weighting=st.sampled_from(["identity", "comparison"]),
    equal=st.booleans(),
    ties=st.booleans(),
    two_sets=st.booleans(),
    with_groups=st.booleans(),
    levels=st.lists(
        st.sampled_from([0.01, 0.011, 0.03, 0.1, 0.104, 0.3, 0.7, 0.99]), min_size=1, unique=True
    ),
    width=st.sampled_from([0, 2, 30, 200]),
    deviations=st.sampled_from([0.0, 1.0, 6.0]),
    least_share=st.sampled_from([0.0, 0.1]),
)
def test_sums_change_no_bit(
    seed,
    unit,
    weighting,
    equal,
    ties,
    two_sets,
    with_groups,
    levels,
    width,
    deviations,
    least_share,
):
    e = embeddings(seed, equal=equal, ties=ties, two_sets=two_sets)
    draws = Draws(weighting, unit, "dyadic" if unit == "subject" else "product")
    _, sorted_ones = rates_of(e, np.sort(levels), draws, with_groups=with_groups)
    with parted_if(True, width, deviations, least_share):
        _, parted = rates_of(e, np.sort(levels), draws, with_groups=with_groups)
    for one, other in zip(sorted_ones, parted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.jit
@pytest.mark.parametrize("threads", [1, 2])
def test_thresholds_inside_ranges_are_found_by_sorting_all(
    monkeypatch: pytest.MonkeyPatch, threads: int
):
    e = embeddings(2, equal=True, ties=False, two_sets=False, n_subjects=200)
    levels, seen = np.array([0.003, 0.05, 0.2]), []
    find_pairs = PairResampler._find_pairs
    monkeypatch.setattr(
        PairResampler, "_find_pairs", lambda self: (seen.append(self.share), find_pairs(self))
    )
    bands = []
    for parted in (False, True):
        with parted_if(parted, width=1):
            bands.append(ff.roc_band(e, levels, n_resamples=200, rng=0, n_threads=threads))
    assert (
        len(seen) == 3
    )  # two bands, and once more for all replicates, and nothing more is searched for
    assert np.array_equal(bands[0].replicates, bands[1].replicates)
    assert np.array_equal(bands[0].low, bands[1].low)


@pytest.mark.jit
def test_many_pairs_are_parted_and_others_are_not():
    e = ff.von_mises_fisher_embeddings(500, 6, 16, concentration=(5, 40), rng=1)
    draws = Draws("identity", "subject", "dyadic")
    for levels, weighting, parted in (
        ([1e-3, 0.2], "identity", True),
        ([1e-3, 0.01], "identity", False),
    ):
        resampler = PairResampler(
            e, np.array(levels), draws._replace(weighting=weighting), with_groups=False
        )
        assert (resampler.error_lists.nonmated.ranges is not None) == parted
    resampler = PairResampler(e, np.array([1e-3, 0.2]), draws, with_groups=False)
    nonmated = resampler.error_lists.nonmated
    assert nonmated.keys.size < 0.2 * nonmated.ranges.counts.sum()
    listed = PairResampler(e, np.array([1e-3, 0.2]), draws, with_groups=False, all_listed=True)
    assert listed.error_lists.nonmated.keys.size > 0.2 * e.n_nonmated
    key = seeds.stream(0)[0]
    fnmr = resampler.replicate(70, key).fnmr
    drawn = _Blocks(resampler, Classes(resampler.error_lists.mated.source, nonmated.source), key)
    again = pickle.loads(pickle.dumps(drawn))  # as another process draws them
    assert np.array_equal(resampler._run(70, again, Workers(1)).fnmr, fnmr)
    assert np.array_equal(listed.replicate(70, key).fnmr, fnmr)
    wide = e.vectors.astype(np.float64)
    unpacked = PairResampler(
        ff.Embeddings(wide, e.subject), np.array([0.2]), draws, with_groups=False
    )
    assert unpacked.error_lists.nonmated.ranges is None


def test_positions_among_all_pairs_become_positions_among_those_listed():
    keys, key, counts = [1, 2, 10, 12, 12, 30], [10, 30], [3, 4]
    ranges = Ranges(np.array(key), np.array(counts)[:, None], None)
    everything = [0, 1, -1, -1, -1, 2, 3, 4, -1, -1, -1, -1, 5, 6]
    assert ranges.positions(np.arange(14), np.array(keys)).tolist() == everything
    assert [ranges.below(limit).tolist() for limit in (9, 10, 29, 30, 31)] == [
        [0],
        [3],
        [3],
        [7],
        [7],
    ]
