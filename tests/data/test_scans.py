"""What a scan collects: the scores nearest to errors, and pairs of subjects in buckets."""

import gc
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastfair._lib.threads import run_in_order
from fastfair.data import score_keys
from fastfair.data.scans import ScoreTail, SpilledPairs, find_near, in_buckets, near
from fastfair.data.temporary_files import ArrayFile, Folder

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


SCORES = st.sampled_from([-2.5, -1.0, -0.0, 0.0, 1e-30, 0.5, 1.0, 7.0])


@given(
    st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=20),
    st.tuples(*[st.none() | SCORES] * 2),
    st.sampled_from([np.float32, np.float64]),
)
def test_scores_are_near_where_their_keys_are(comparisons, ends, kind):
    scores, flags = (
        np.array([s for s, _ in comparisons], np.float32),
        np.array([m for _, m in comparisons]),
    )
    mated, nonmated = (
        None if end is None else score_keys.encode(np.array([end], kind))[0] for end in ends
    )
    limits = mated, None if nonmated is None else ~nonmated
    keys = score_keys.encode(scores)
    expected = [
        k
        for k, key in enumerate(keys)
        if near(np.array([key]), bool(flags[k]), limits[0 if flags[k] else 1])
    ]
    assert find_near(scores, flags, limits).tolist() == expected


@given(PARTS, st.integers(1, 25), st.booleans())
def test_leaving_out_what_is_not_near_changes_nothing(parts, most, mated):
    tails = ScoreTail(mated), ScoreTail(mated)
    for scores in parts:
        keys, codes = (
            score_keys.encode(np.array(scores, np.float32)),
            np.arange(len(scores), dtype=np.int32),
        )
        tails[0].add(keys, codes, codes, most)
        close = near(keys, mated, tails[1].limit)
        tails[1].add(keys[close], codes[close], codes[close], most, keys.size)
    (*columns, left), (*expected, left_of_expected) = (tail.finish() for tail in tails)
    assert all(np.array_equal(one, other) for one, other in zip(columns, expected, strict=True))
    assert (left is None) == (left_of_expected is None)
    assert left is None or (left.n, left.limit) == (left_of_expected.n, left_of_expected.limit)
    assert tails[0].n == tails[1].n


@pytest.mark.parametrize("at_once", [1, 40, 10**6])
@pytest.mark.parametrize("spilled", [(), (1,), (0, 2)])
@pytest.mark.parametrize(("kind", "n_threads"), [("f", 1), ("d", 3)])
def test_buckets_hold_the_key_of_each_comparison_beside_its_subjects(
    tmp_path, kind, spilled, at_once, n_threads
):
    rng = np.random.default_rng(at_once)
    pairs = SpilledPairs(Folder(tmp_path), "pairs", at_once, 0, has_keys=True)
    expected, n_bytes = [], 0
    for k in range(3):
        reference, probe = rng.integers(0, 300, (2, 200), dtype=np.int32)
        scores = rng.normal(size=200).astype(kind)
        flags, numbers = np.zeros(200, np.bool_), np.arange(300, dtype=np.int32)
        pairs.add(in_buckets(reference, probe, flags, numbers, score_keys.encode(scores))[1])
        expected += zip(reference.tolist(), probe.tolist(), scores.tolist(), strict=True)
        n_bytes += 200 * (2 * 2 + scores.itemsize)
        if k in spilled:
            pairs.spill()
            n_bytes = 0
        assert pairs.n_bytes == n_bytes
    readers, _ = pairs.buckets(n_threads)
    read = []
    for one in readers:
        reference, probe, keys = one()
        assert keys.dtype == (np.int32 if kind == "f" else np.int64)
        read += zip(
            reference.tolist(), probe.tolist(), score_keys.decode(keys).tolist(), strict=True
        )
    assert sorted(read) == sorted(expected)
    assert pairs.n == len(expected)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_comparisons_and_subjects_are_counted_by_groups(seed, n_groups, n_subjects):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n_subjects).astype(np.uint16)
    parts = [tuple(rng.integers(0, n_subjects, (2, n), dtype=np.int32)) for n in (0, 7, 20)]
    pairs = SpilledPairs(Folder(), "pairs", at_once=1, most_bytes=0)
    for part in parts:
        pairs.add(
            in_buckets(
                *part, np.zeros(part[0].size, np.bool_), np.arange(n_subjects, dtype=np.int32)
            )[1]
        )
    cells, subjects, n_seen = pairs.count(group, n_groups)
    reference, probe = np.hstack([np.stack(part) for part in parts])
    for i, j in itertools.product(range(n_groups), repeat=2):
        inside = (group[reference] == i) & (group[probe] == j)
        assert cells[i, j] == inside.sum()
        assert subjects[i, j] == len({*reference[inside].tolist(), *probe[inside].tolist()})
    assert n_seen == len({*reference.tolist(), *probe.tolist()})


def test_a_folder_in_another_is_made_with_it_when_needed_and_removed_with_its_owner(tmp_path):
    outer = Folder(tmp_path)
    inner = Folder(outer)
    assert not [*outer.path.iterdir()]
    arrays = [np.arange(6, dtype=np.uint16).reshape(2, 3), np.empty((2, 0)), np.arange(3.0)]
    file = ArrayFile(inner, "arrays")
    assert [*file] == []
    file.append(*arrays[:2])
    file.append(arrays[2][::-1])
    assert all(map(np.array_equal, file, [*arrays[:2], arrays[2][::-1]]))
    assert len([*outer.path.iterdir()]) == 1
    del file, inner
    gc.collect()
    assert not [*outer.path.iterdir()]


def test_threads_that_need_a_folder_at_once_get_the_same(tmp_path):
    for _ in range(20):
        folder = Folder(Folder(tmp_path))
        assert len(set(run_in_order(lambda _, folder=folder: folder.path, range(8), 8))) == 1
