"""Pairs parted by their keys, against loops over the pairs."""

from __future__ import annotations

from collections import Counter

import numpy as np
from fastfair.kernels import parted_pairs as kernels
from fastfair.kernels.partners import Runs
from hypothesis import given
from hypothesis import strategies as st

PLACES, DROPPED = 4, 2
BITS = 2 * PLACES + DROPPED, PLACES
PAIRS = st.lists(st.tuples(st.integers(0, 31), st.integers(0, 15), st.integers(0, 15)), max_size=80)
SORTED, LEFT_OUT = 3, 4
PARTS = st.lists(st.integers(0, LEFT_OUT), min_size=8, max_size=8)


def packed_of(pairs: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array([(key << 2 * PLACES) | (i << PLACES) | j for key, i, j in pairs], np.int64)


@given(pairs=PAIRS, parts=PARTS, cut=st.integers(0, 80), seed=st.integers(0, 99))
def test_pairs_are_counted_and_written_by_part(pairs, parts, cut, seed):
    rng = np.random.default_rng(seed)
    packed, part = packed_of(pairs), np.array(parts, np.int16)
    row, group = rng.integers(0, 6, 16, dtype=np.int32), rng.integers(-1, 2, 16, dtype=np.int32)
    cells = np.zeros(8, np.int64)
    kernels.count_cells(packed, BITS[0], cells)
    assert cells.tolist() == [
        sum(key >> DROPPED == cell for key, _, _ in pairs) for cell in range(8)
    ]
    wanted: dict[tuple[int, int, int], list[int]] = {}
    for key, i, j in pairs:
        if part[key >> DROPPED] < SORTED:
            of_list = group[i] + 1 if group[i] == group[j] else 0
            place = min(row[i], row[j]), part[key >> DROPPED], of_list
            wanted.setdefault(tuple(map(int, place)), []).append(int(max(row[i], row[j])))
    to_sort = [
        one
        for one, (key, _, _) in zip(packed, pairs, strict=True)
        if part[key >> DROPPED] == SORTED
    ]

    halves = packed[:cut], packed[cut:]
    counts = np.zeros((2, 6, 5, 3), np.int64)
    columns = BITS, part, row, group
    kept = [
        half[: kernels.count_parts(half, *columns, own)]
        for half, own in zip(halves, counts, strict=True)
    ]
    everything = packed_of(pairs)
    for half, part_of_all in zip(kept, (everything[:cut], everything[cut:]), strict=True):
        assert half.tolist() == [pair for pair in part_of_all if part[pair >> BITS[0]] != LEFT_OUT]
    assert counts.sum() == len(pairs)
    n_sorted = counts[:, :, SORTED].sum(axis=(1, 2))
    assert n_sorted.sum() == len(to_sort)
    counts = np.ascontiguousarray(counts[:, :, :SORTED])
    total = counts.sum(axis=0)
    assert {place: total[place] for place in zip(*np.nonzero(total), strict=True)} == {
        place: len(partners) for place, partners in wanted.items()
    }
    first = np.cumsum(total).reshape(total.shape) - total
    partner, out = np.full(int(total.sum()), 99, np.uint16), np.zeros(len(to_sort), np.int64)
    for half, start, own in (
        (0, first, out[: n_sorted[0]]),
        (1, first + counts[0], out[n_sorted[0] :]),
    ):
        kernels.scatter_parts(kept[half], *columns, start.copy(), partner, own)
    assert out.tolist() == to_sort
    runs = Runs(
        *np.empty((2, len(wanted)), np.int32),
        np.empty(len(wanted), np.int64),
        partner,
        np.empty(0, np.int32),
    )
    kernels.write_runs(total, runs)
    start, found = 0, {}
    for unit, of_list, stop in zip(runs.unit, runs.list, runs.stop, strict=True):
        found[int(unit), *divmod(int(of_list) - 1, 3)] = partner[start:stop].tolist()
        start = int(stop)
    assert start == partner.size
    assert found == wanted


@given(pairs=PAIRS, parts=PARTS, step=st.integers(1, 5))
def test_every_so_manyth_pair_is_counted_for_both_of_its_rows(pairs, parts, step):
    row = np.arange(16, dtype=np.int32)[::-1].copy()
    counts = np.zeros((3, 16))
    part = np.array(parts, np.int32)
    kernels.count_rows(packed_of(pairs), step, BITS, part, row, counts)
    wanted = Counter()
    for key, i, j in pairs[::step]:
        if part[key >> DROPPED] < SORTED:
            wanted[int(part[key >> DROPPED]), 15 - i] += 1
            wanted[int(part[key >> DROPPED]), 15 - j] += 1
    assert {place: counts[place] for place in zip(*np.nonzero(counts), strict=True)} == wanted
