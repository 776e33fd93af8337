"""Pairs of embeddings and their replicates, against loops over explicitly resampled data."""

from __future__ import annotations

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fastfair.kernels import dot_products, pairs
from helpers import flat
from helpers.each import each
from helpers.parting import parted_if
from helpers.refusals import refused
from helpers.small_embeddings import KINDS, as_draw, matrix_of, small_embeddings
from hypothesis import given
from hypothesis import strategies as st
from oracles import embeddings as slow

import fastfair as ff
from fastfair._lib import memory, seeds
from fastfair._lib.workers import Workers
from fastfair.bands.curve import FairnessBand, RocBand
from fastfair.data import pair_search, score_keys, sorted_scores, temporary_files
from fastfair.errors import OutputError
from fastfair.resampling import vector_replicates
from fastfair.resampling.vector_replicates import Draws, PairResampler

UNITS = ("sample", "subject", "subject+sample")


def bits(band: RocBand | FairnessBand) -> tuple[bytes, ...]:
    return band.replicates.tobytes(), band.threshold.tobytes(), band.low.tobytes()


@each("similarity", KINDS)
@each("dtype", [np.float32, np.float64])
def test_all_pairs_have_the_similarity_of_loops(similarity: str, dtype: type):
    rng = np.random.default_rng(1)
    e = ff.Embeddings(
        rng.normal(size=(40, 5)).astype(dtype), np.arange(40) // 3, similarity=similarity
    )
    np.testing.assert_allclose(
        matrix_of(e) * (1 - np.eye(40)),
        slow.similarities(e.vectors.tolist(), KINDS[similarity]) * (1 - np.eye(40)),
        rtol=2e-6,
        atol=2e-6,
    )


def test_a_vector_and_its_copy_are_at_distance_zero():
    vectors = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32) * 1e3
    vectors[1] = vectors[0]
    e = ff.Embeddings(vectors, list("aabbcc"), similarity="negative_euclidean")
    assert (
        score_keys.decode(
            pair_search.PairFinder(e.vectors, e.similarity, e.pairing).find(1.0)[0].keys
        )[-1]
        == 0
    )


@each("is_quick", [True, False])
@each("dtype", [np.float32, np.float64])
@each("d", [5, 64])
def test_a_similarity_depends_on_the_two_vectors_alone(dtype: type, is_quick: bool, d: int):
    rng = np.random.default_rng(d)
    vectors = rng.normal(size=(130, d)).astype(dtype)
    copies = rng.integers(0, 130, 20)
    vectors[copies] = vectors[rng.integers(0, 130, 20)]
    subject = rng.permutation(130) // 2
    order = rng.permutation(130)
    with pytest.MonkeyPatch.context() as patch:
        if not is_quick:  # as on processors that are not
            patch.setattr(dot_products, "is_quick", lambda: False)
        some, others = (
            ff.Embeddings(vectors[rows], subject[rows], similarity="inner_product")
            for rows in (np.arange(130), order)
        )
        matrix, moved = matrix_of(some), matrix_of(others)
        # A part of the pairs, found above a bound, has the same similarities.
        patch.setattr(pair_search, "_FEW", 0)
        part = pair_search.PairFinder(some.vectors, some.similarity, some.pairing).find(0.05)[1]
    padded = np.pad(vectors, ((0, 0), (0, -d % 16)))
    wanted = dot_products.products(padded[:, None], padded)
    off_diagonal = ~np.eye(130, dtype=bool)
    assert np.array_equal(matrix[off_diagonal], wanted[off_diagonal])
    assert np.array_equal(moved[off_diagonal], wanted[order][:, order][off_diagonal])
    whole = np.sort(wanted[(subject[:, None] < subject)])
    similarities = score_keys.decode(~part.keys)
    assert np.array_equal(similarities[::-1], whole[-similarities.size :])
    assert 0.03 < similarities.size / whole.size < 0.08


@pytest.mark.jit
@each("similarity", KINDS)
@each("dtype", [np.float32, np.float64])
@each("two_sets", [False, True])
def test_the_tail_is_the_exact_top_and_the_same_however_it_is_made(
    similarity: str, dtype: type, two_sets: bool
):
    rng = np.random.default_rng(2)
    vectors, subject = rng.normal(size=(1400, 6)).astype(dtype), rng.integers(0, 200, 1400)
    role = rng.choice(["reference", "probe"], 1400) if two_sets else None
    e = ff.Embeddings(vectors, subject, similarity=similarity, role=role)
    everything = pair_search.PairFinder(e.vectors, e.similarity, e.pairing).find(1.0)
    assert everything[1].complete
    assert everything[1].keys.size == e.n_nonmated
    assert everything[0].keys.size == e.n_mated
    in_tasks = Workers(executor=ThreadPoolExecutor(2))
    for workers, tile in (
        (Workers(1), 1),
        (Workers(2), 2),
        (Workers(2), 4),
        (in_tasks, 1),
        (in_tasks, 2),
    ):
        finder = pair_search.PairFinder(e.vectors, e.similarity, e.pairing, workers, tile)
        mated, nonmated = finder.find(0.05)
        assert not nonmated.complete
        assert 0.03 < nonmated.keys.size / e.n_nonmated < 0.07
        for found, whole in ((mated, everything[0]), (nonmated, everything[1])):
            for name in ("keys", "first", "second"):
                assert np.array_equal(getattr(found, name), getattr(whole, name)[: found.keys.size])


@given(
    seed=st.integers(0, 10**6),
    n_subjects=st.integers(2, 7),
    most=st.integers(1, 4),
    unit=st.sampled_from(UNITS),
    weighting=st.sampled_from(["identity", "comparison"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    parted=st.booleans(),
)
def test_estimates_and_replicates_are_those_of_the_data_written_out(
    seed: int, n_subjects: int, most: int, unit: str, weighting: str, dtype: type, parted: bool
):
    e = small_embeddings(seed, n_subjects, most, dtype=dtype)
    matrix, subject = matrix_of(e), e.subject.tolist()
    groups = {k: e.groups[e.subject_group[k]] for k in range(n_subjects)}
    levels = [0.1, 0.3, 0.9]
    least = 1 / e.n_nonmated
    if weighting == "identity":
        n = np.sort(e.n_samples)
        least = 2 / (n_subjects * (n_subjects - 1) * n[-1] * n[-2])
    levels = [level for level in levels if level > least] or [0.95]
    key = seeds.stream(seed)[0]
    with parted_if(parted):
        resampler = PairResampler(
            e, np.array(levels), Draws(weighting, unit), with_groups=True, with_overall_fmr=True
        )
        found, expected = resampler.estimate()
        drawn = resampler.replicate(3, key)
    weights = resampler.units.new_weights()
    resampler.units.draw(0, key, weights)
    truth = matrix, subject, groups, levels, weighting
    check(e, found, ..., truth)
    for name, of in ((None, 0), *((g, 1 + k) for k, g in enumerate(e.groups))):
        v = [
            float(
                (slow.fnmr if unit == "subject" else slow.fnmr_v)(
                    matrix, subject, t, weighting, name, groups
                )
            )
            for t in found.threshold
        ]
        np.testing.assert_allclose(expected[:, of], v, rtol=1e-12)
    rank = resampler.units.subject
    for r in range(3):
        check(e, drawn, (..., r), truth, as_draw(e, unit, weights[:, r], rank))


def check(e, rates, at, truth, draw=None):
    matrix, subject, groups, levels, weighting = truth
    for k, level in enumerate(levels):
        t = slow.threshold_at_fmr(level, matrix, subject, weighting, draw)
        np.testing.assert_equal(rates.threshold[at][k], t)
        for of, name in enumerate((None, *e.groups)):
            for found, function in ((rates.fmr, slow.fmr), (rates.fnmr, slow.fnmr)):
                want = (
                    float(function(matrix, subject, t, weighting, name, groups, draw))
                    if t == t
                    else np.nan
                )
                np.testing.assert_allclose(found[at][k, of], want, rtol=1e-12, atol=1e-15)


@pytest.mark.jit
@pytest.mark.parametrize("unit", UNITS)
def test_a_tail_that_is_too_short_is_extended(monkeypatch: pytest.MonkeyPatch, unit: str):
    e = ff.von_mises_fisher_embeddings(300, 4, 8, concentration=(5, 40), rng=1)
    levels, key = np.array([1e-4, 0.02]), seeds.stream(5)[0]

    def run() -> tuple:
        resampler = PairResampler(e, levels, Draws("identity", unit), with_groups=False)
        return resampler.estimate()[0], resampler.replicate(128, key), resampler

    long = run()
    monkeypatch.setattr(vector_replicates, "_SPARE", {unit: 0.3})
    monkeypatch.setattr(vector_replicates, "_SPARE_DEVIATIONS", 0)
    short = run()
    assert not long[2].error_lists.nonmated.complete
    for name in ("threshold", "fnmr"):
        assert np.array_equal(getattr(long[0], name), getattr(short[0], name))
        assert np.array_equal(getattr(long[1], name), getattr(short[1], name))


@pytest.mark.jit
@pytest.mark.parametrize("weighting", ["identity", "comparison"])
def test_threads_and_tiles_change_no_bit(monkeypatch: pytest.MonkeyPatch, weighting: str):
    rng = np.random.default_rng(3)
    subject = rng.integers(0, 150, 1300)
    e = ff.Embeddings(rng.normal(size=(1300, 16)).astype(np.float32), subject, group=subject % 3)
    bands = []
    for n_threads, tile in ((1, 4), (2, 1), (2, 3)):
        monkeypatch.setattr(pair_search.PairFinder.__init__, "__defaults__", (None, tile, None))
        bands.append(
            flat.roc_band(
                e, [1e-4, 1e-2], weighting=weighting, rng=1, n_threads=n_threads, n_resamples=200
            )
        )
    assert bits(bands[0]) == bits(bands[1]) == bits(bands[2])


def test_levels_below_the_resolution_name_the_lowest():
    e = small_embeddings(0, 5, 3)
    refused(
        r"a single false match makes an FMR of .*: give that or more", ff.roc_band, e, [1e-6, 0.1]
    )
    refused("above 0", ff.roc_band, e, [0, 0.1])


def test_too_many_pairs_are_refused_with_what_they_would_take(monkeypatch: pytest.MonkeyPatch):
    e = ff.von_mises_fisher_embeddings(400, 4, 8, concentration=(5, 40), rng=1)
    monkeypatch.setattr(memory, "_LITTLE", 0)
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    wide = ff.Embeddings(e.vectors.astype(np.float64), e.subject)
    says = (
        r"non-mated pairs to be kept would take .* and .* GiB are free: 21,845 pairs would fit; use"
        r" lower FMRs, or"
    )
    refused(says, ff.roc_band, wide, [0.1])
    refused(
        r"1,276,800 non-mated .* 37,449 pairs would fit; `scanned` and bands keep fewer pairs",
        e.comparisons,
    )
    monkeypatch.setattr(memory, "available", lambda: 2**10)
    refused("use fewer vectors of a subject", ff.roc_band, e, [0.1])


@pytest.mark.jit
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("similarity", ["cosine", "negative_euclidean"])
def test_pairs_in_temporary_files_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, tmp_path, workers: int, similarity
):
    drawn = ff.von_mises_fisher_embeddings(300, 4, 8, concentration=(5, 40), rng=1)
    np.save(tmp_path / "v.npy", drawn.vectors)
    how = {"group": drawn.subject % 3, "similarity": similarity}
    mapped = ff.Embeddings(np.load(tmp_path / "v.npy", mmap_mode="r"), drawn.subject, **how)
    executor = ThreadPoolExecutor(workers) if workers else None

    def band(e: ff.Embeddings) -> FairnessBand:
        return ff.fairness_band(
            e, "gini", "fmr", [0.01, 0.1], n_resamples=128, rng=0, executor=executor
        )

    in_memory = band(ff.Embeddings(drawn.vectors, drawn.subject, **how))
    made = []
    monkeypatch.setattr(temporary_files, "_ALWAYS_IN_MEMORY", 0)
    monkeypatch.setattr(temporary_files, "_SHARE_OF_MEMORY", 2**62)
    take_up = temporary_files._take_up
    monkeypatch.setattr(
        temporary_files, "_take_up", lambda file, size: (made.append(size), take_up(file, size))
    )
    in_files = band(mapped)
    assert sum(made) > 20 * 0.1 * mapped.n_nonmated
    assert bits(in_files) == bits(in_memory)


def test_arrays_go_to_files_where_memory_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path):
    def is_mapped(array: np.ndarray) -> bool:
        return isinstance(array.base, np.memmap)

    size = 3 * 2**20
    monkeypatch.setattr(memory, "available", lambda: 8 * 8 * size)
    assert not is_mapped(temporary_files.room(size, np.int64))
    assert is_mapped(temporary_files.room((size + 1, 1), np.int64))
    assert temporary_files.room(0, np.int64).size == 0
    monkeypatch.setattr(memory, "available", lambda: 0)
    assert not is_mapped(temporary_files.room(2**21, np.int64))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    arrays = [np.arange(size), np.arange(size)]
    found = temporary_files.join_arrays(arrays)
    assert is_mapped(found)
    assert not arrays
    assert np.array_equal(found, np.tile(np.arange(size), 2))
    assert not list(tmp_path.iterdir())  # it has no name
    monkeypatch.delattr(temporary_files.os, "posix_fallocate")
    assert not temporary_files.room((2, size), np.int32).any()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(temporary_files, "_take_up", full)
    with pytest.raises(OutputError, match=r"cannot be written: no space is left there"):
        temporary_files.room(size, np.int64)


@given(keys=st.lists(st.integers(0, 40), min_size=1, max_size=200), seed=st.integers(0, 99))
def test_pairs_are_sorted_by_key_and_then_by_vectors(keys: list[int], seed: int):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(len(keys)).astype(np.int64)
    packed = (np.array(keys, np.int64) << 9) | codes
    found = sorted_scores.sort_by_bits(packed.copy(), np.empty_like(packed), 9, 15)
    pairs.order_ties(found, 9)
    assert found.tolist() == sorted(packed.tolist())
