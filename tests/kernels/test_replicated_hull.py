"""The passes over blocks of comparisons that every replicate pools."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import replicated_hull

import fastfair as ff


@pytest.mark.parametrize("n_blocks", [1, 40, 70])
@pytest.mark.parametrize("in_order", [True, False])
def test_any_number_of_pools_finds_room(n_blocks, in_order):
    """Score k has k mated of n_blocks + 1 comparisons: as many pools as scores, or one where they are turned around."""
    k = np.arange(1, n_blocks + 1)
    counts = k, k[::-1]
    scores = [np.repeat(k if in_order else -k, number).astype(float) for number in counts]
    c = ff.Comparisons(np.concatenate(scores), np.repeat([True, False], [side.size for side in scores]))
    lists = c.mated.keys, np.ascontiguousarray(~c.nonmated.keys[::-1])
    blocks = replicated_hull.find_blocks(*lists)
    ends = [np.array([keys.size]) for keys in lists]
    rows = [np.zeros(keys.size, np.int32) for keys in lists]
    weights, totals = np.ones((1, 64), np.uint8), [np.full((1, 64), keys.size) for keys in lists]
    for what, expected in (
        (replicated_hull.MIN_CLLR, ff.min_cllr(c)),
        (replicated_hull.EQUAL_ERROR, ff.eer(c, "convex-hull").value),
    ):
        values = np.empty((1, 64))
        replicated_hull.hull_figures(
            rows[1], rows[1], ends[1], rows[0], rows[0], ends[0], *blocks, np.array([blocks[0].size]), weights, 1,
            totals[1], totals[0], np.ones(1), np.ones(1), what, values,
        )  # fmt: skip
        assert values == pytest.approx(expected, abs=1e-12)
