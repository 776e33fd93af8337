"""The row of the innermost loop: adding up the weights of pairs, 64 replicates at a time."""

from __future__ import annotations

import numba
import numpy as np
from fastfair.kernels import sweep
from fastfair.kernels._jit import jit

from fastfair._lib import seeds
from fastfair.resampling.pair_source import SortedComparisons
from fastfair.resampling.units import BLOCK, Units

from .clock import clocked, take_turns
from .common import Trials, must_agree, versions, voxceleb1_h
from .rows import Against, Measurement, Row
from .targets import AtMostSeconds


@numba.njit
def _multiply_and_add(x, y, times):
    """Add up the products of neighbouring bytes, again and again."""
    total = 0
    for _ in range(times):
        once = np.int32(0)
        for i in range(x.size):
            once += np.int32(x[i]) * np.int32(y[i])
        total += once
    return total


def against_bare_loop() -> Measurement:
    comparisons = Trials.of(voxceleb1_h()).without_groups()
    units = Units.of_comparisons(comparisons, "subject")
    weights = units.new_weights()
    units.draw(0, seeds.stream(0)[0], weights)
    a, b = SortedComparisons(comparisons, False, units, None).listed.rows(slice(None))
    largest, totals = int(weights.max()), np.zeros(BLOCK, np.int64)

    add_many_pairs = jit(sweep.add_many_pairs)

    def ours() -> None:
        totals[:] = 0
        add_many_pairs(a, b, weights, largest, 0, a.size, totals)

    ours()
    wide = weights.astype(np.int64)
    must_agree(np.array_equal(totals, np.einsum("ij,ij->j", wide[a], wide[b])), "sums of weights")
    x, y = weights[:-1].reshape(-1), weights[1:].reshape(-1)  # every row times the next
    times = round(a.size / (weights.shape[0] - 1))

    must_agree(_multiply_and_add(x, y, 1) == np.vdot(x.astype(np.int64), y), "sums of products")
    theirs = clocked(lambda: _multiply_and_add(x, y, times))
    seconds = take_turns({"ours": clocked(ours), "theirs": theirs}, rounds=51)
    return Measurement(
        [value / (a.size * BLOCK) for value in seconds["ours"]],
        [value / (x.size * times) for value in seconds["theirs"]],
        "both add up what NumPy does",
        versions(),
        remarks=(
            "theirs reads neighbours and keeps one sum, ours gathers rows and keeps 64: a limit,"
            " and no rival"
        ),
    )


ROWS = (
    Row(
        "sweep",
        "`kernels.sweep.add_many_pairs` over the non-mated pairs of VoxCeleb1-H, 1 thread: a pair"
        " in a replicate",
        "a loop that multiplies and adds up the same bytes in their order, 1 thread: a product",
        Against.LIMIT,
        AtMostSeconds(0.15e-9),
        against_bare_loop,
    ),
)
