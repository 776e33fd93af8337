"""Masks of the floats that reach a bound, against loops; and the pairs that are taken out of panels
with them."""

from __future__ import annotations

import numpy as np
from fastfair.kernels import bit_masks, pairs
from fastfair.kernels._jit import jit
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st


@jit
def places_reaching(row, start, bound):
    """Return where the floats from `start` on reach a bound."""
    found, n = np.empty(bit_masks.TOGETHER, np.int64), 0
    mask = bit_masks.reaching(row, start, bound)
    while mask != 0:
        found[n] = start + bit_masks.lowest(mask)
        n += 1
        mask &= mask - 1
    return found[:n]


@each("dtype", [np.float32, np.float64])
@each("values", [[0.0, -0.0, 1.0, -1.0], [np.nextafter(np.float32(0.5), 1), 0.5], [-np.inf, 1e-42]])
@each("start", [0, 3, 65])
def test_masks_are_those_of_comparisons(dtype: type, values: list[float], start: int):
    row = np.random.default_rng(start).choice(np.array(values, dtype), 200)
    for bound in (*map(dtype, values), dtype(-np.inf), dtype(np.inf)):
        wanted = [p for p in range(start, start + 64) if row[p] >= bound]
        assert places_reaching(row, start, bound).tolist() == wanted


@given(
    seed=st.integers(0, 99),
    share=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    first_column=st.sampled_from([0, 40, 130]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_pairs_taken_out_of_a_panel_are_those_of_loops(seed, share, first_column, dtype):
    rng = np.random.default_rng(seed)
    panel, n, first_row, places = rng.random((8, 192)).astype(dtype), 300, 2, 9
    begin = rng.integers(0, n, 9)
    mated = np.minimum(begin + rng.integers(0, 150, 9), n)
    columns = np.stack((begin, mated, np.minimum(mated + rng.integers(0, 99, 9), n)), axis=1)
    kept = np.empty(panel.size + 1, dtype), np.empty(panel.size + 1, np.int64)
    bound = dtype(1 - share)
    size = pairs.take_nonmated(panel, first_row, first_column, columns, n, bound, places, kept)
    wanted = []
    for r in range(7):  # the panel's last row is padding
        partners, start, end = columns[first_row + r]
        for c in range(192):
            j = first_column + c
            if partners <= j < n and not start <= j < end and panel[r, c] >= bound:
                wanted.append((panel[r, c], ((first_row + r) << places) + j))
    assert list(zip(kept[0][:size], kept[1][:size], strict=True)) == wanted
