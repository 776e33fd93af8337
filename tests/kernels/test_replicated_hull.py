"""The passes over blocks of comparisons that every replicate pools."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import replicated_hull, sweep

import fastfair as ff


@pytest.mark.parametrize("n_blocks", [1, 70])
@pytest.mark.parametrize("in_order", [True, False])
def test_any_number_of_pools_finds_room(n_blocks, in_order):
    """Score k has k mated of n_blocks + 1 comparisons: as many pools as scores, or one where they
    are turned around."""
    k = np.arange(1, n_blocks + 1)
    counts = k, k[::-1]
    scores = [np.repeat(k if in_order else -k, number).astype(float) for number in counts]
    c = ff.Comparisons(
        np.concatenate(scores), np.repeat([True, False], [side.size for side in scores])
    )
    # copies, as the kernel is compiled anew for arrays that cannot be written to
    lists = c.mated.keys.copy(), np.ascontiguousarray(~c.nonmated.keys[::-1])
    blocks = replicated_hull.find_blocks(*lists)
    mated, nonmated = (
        sweep.Side(
            keys,
            np.zeros(keys.size, np.int32),
            np.zeros(keys.size, np.int32),
            (),
            np.array([keys.size]),
            np.array([keys.size]),
            np.ones((1, 64), np.uint8),
            1,
            np.full((1, 64), keys.size),
            np.ones(1),
        )
        for keys in lists
    )
    for what, expected in (
        (replicated_hull.MIN_CLLR, ff.min_cllr(c)),
        (replicated_hull.EQUAL_ERROR, ff.eer(c, "convex-hull").value),
    ):
        values = np.empty((1, 64))
        replicated_hull.hull_figures(
            nonmated, mated, *blocks, np.array([blocks[0].size]), what, values
        )
        assert values == pytest.approx(expected, abs=1e-12)
