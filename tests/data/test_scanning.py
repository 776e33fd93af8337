"""What a scan collects: the scores nearest to errors, and pairs of subjects in buckets."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastfair.data import scanned_comparisons, score_keys
from fastfair.data.score_tails import ScoreTail
from fastfair.data.spilled_pairs import N_BUCKETS, Folder, SpilledPairs

PARTS = st.lists(st.lists(st.integers(-6, 6), max_size=30), min_size=1, max_size=6)


@given(PARTS, st.integers(1, 25), st.booleans())
def test_a_tail_keeps_all_scores_up_to_its_limit(parts, most, mated):
    tail = ScoreTail(mated)
    for scores in parts:
        codes = np.arange(len(scores), dtype=np.int32)
        tail.add(score_keys.encode(np.array(scores, np.float32)), codes, -codes, most)
    everything = np.sort(score_keys.encode(np.array(list(itertools.chain(*parts)), np.float32)))
    keys, reference, probe, left = tail.finish()
    assert np.array_equal(reference, -probe)
    assert tail.n == everything.size
    if left is None:
        assert np.array_equal(keys, everything)
        assert everything.size <= 2 * most
        return
    kept = everything[everything < left.limit] if mated else everything[everything >= left.limit]
    assert np.array_equal(keys, kept)
    assert left.n == everything.size - kept.size > 0
    assert keys.size <= 2 * most


def test_a_tail_of_float32_scores_that_is_widened_is_that_of_the_same_scores_as_float64():
    scores = np.random.default_rng(0).normal(size=50).astype(np.float32)
    codes = np.arange(50, dtype=np.int32)
    for mated in (True, False):
        narrow, wide = ScoreTail(mated), ScoreTail(mated)
        narrow.add(score_keys.encode(scores), codes, codes, 10)
        narrow.widen()
        wide.add(score_keys.encode(scores.astype(np.float64)), codes, codes, 10)
        (*columns, left), (*expected, left_of_expected) = narrow.finish(), wide.finish()
        assert all(np.array_equal(one, other) for one, other in zip(columns, expected, strict=True))
        assert left == left_of_expected or (left.n, left.limit) == (left_of_expected.n, left_of_expected.limit)


@pytest.mark.parametrize("at_once", [1, 40, 10**6])
@pytest.mark.parametrize("spilled", [(), (1,), (0, 2)])
@pytest.mark.parametrize("n_subjects", [5, 300, 70_000])
def test_buckets_hold_all_comparisons_those_of_a_pair_together(tmp_path, n_subjects, spilled, at_once):
    rng = np.random.default_rng(n_subjects)
    pairs = SpilledPairs(Folder(tmp_path), "pairs", at_once)
    parts = [rng.integers(0, n_subjects, (2, 200), dtype=np.int32) for _ in range(3)]
    for k, (reference, probe) in enumerate(parts):
        pairs.add(reference, probe, min(n_subjects, 300 if k == 0 else n_subjects) if n_subjects < 300 else n_subjects)
        if k in spilled:
            pairs.spill()
            assert pairs.n_bytes == 0
    read = [np.stack(bucket) for bucket in pairs]
    assert sorted(map(tuple, np.hstack(read).T)) == sorted(map(tuple, np.hstack(parts).T))
    buckets = [{tuple(sorted(pair)) for pair in bucket.T.tolist()} for bucket in read]
    assert sum(map(len, buckets)) == len(set().union(*buckets))
    assert len(read) <= N_BUCKETS
    if at_once == 10**6:
        assert len(read) == 1
    if spilled:
        assert any(tmp_path.iterdir())


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_comparisons_and_subjects_are_counted_by_groups(seed, n_groups, n_subjects):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n_subjects).astype(np.uint16)
    parts = [tuple(rng.integers(0, n_subjects, (2, n), dtype=np.int32)) for n in (0, 7, 20)]
    cells, subjects, n_seen = scanned_comparisons._count(parts, group, n_groups)
    reference, probe = np.hstack([np.stack(part) for part in parts])
    for i, j in itertools.product(range(n_groups), repeat=2):
        inside = (group[reference] == i) & (group[probe] == j)
        assert cells[i, j] == inside.sum()
        assert subjects[i, j] == len({*reference[inside].tolist(), *probe[inside].tolist()})
    assert n_seen == len({*reference.tolist(), *probe.tolist()})
