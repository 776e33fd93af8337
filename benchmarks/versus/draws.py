"""The row of random draws: subjects with replacement against a generator that only makes the
words."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from fastfair.kernels import philox
from fastfair.kernels._jit import jit
from numpy.typing import NDArray

from fastfair._lib import seeds
from fastfair._lib.seeds import Purpose
from fastfair.resampling.units import BLOCK, Draw

from .clock import clocked, take_turns
from .common import must_agree, versions
from .rows import Against, Measurement, Row
from .targets import NoTarget

_SUBJECTS = 1190  # of VoxCeleb1-H
_BLOCKS = 8  # of replicates, a round
_KNOWN = (
    0x6627E8D5,
    0xE169C58D,
    0xBC57AC4C,
    0x9B00DBD8,
)  # of counter 0 and key 0, published with the generator


@numba.njit
def _round(c0, c1, c2, c3, k0, k1):
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    product_0, product_1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
    words = (
        (product_1 >> half) ^ c1 ^ k0,
        product_1 & low,
        (product_0 >> half) ^ c3 ^ k1,
        product_0 & low,
    )
    return (*words, (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low)


@numba.njit
def _two_rounds(c0, c1, c2, c3, k0, k1):
    return _round(*_round(c0, c1, c2, c3, k0, k1))


@numba.njit
def _bare_philox(first_replicate, key, out):
    """Write the words of Philox4x32-10. out: (counters, 4, 64) uint64.

    A loop of rounds would keep replicates from being computed side by side, and the state out of
    registers.
    """
    k0, k1, zero = np.uint64(key[0]), np.uint64(key[1]), np.uint64(0)
    for counter in range(out.shape[0]):
        words = out[counter]
        for r in range(BLOCK):
            state = (np.uint64(counter), zero, np.uint64(first_replicate + r), zero, k0, k1)
            state = _two_rounds(*_two_rounds(*_two_rounds(*_two_rounds(*_two_rounds(*state)))))
            words[0, r], words[1, r], words[2, r], words[3, r] = (
                state[0],
                state[1],
                state[2],
                state[3],
            )


def against_bare_generator() -> Measurement:
    key = seeds.stream(0)[0]
    draw = Draw.of(Purpose.SUBJECTS, np.zeros(_SUBJECTS, np.int64))
    weights = np.empty((_SUBJECTS, BLOCK), np.uint8)
    words = np.empty((_SUBJECTS // 2, 4, BLOCK), np.uint64)  # two words a draw

    _bare_philox(0, np.zeros(2, np.uint32), words)
    must_agree(tuple(words[0, :, 0].tolist()) == _KNOWN, "the words of counter 0 and key 0")
    _bare_philox(BLOCK, key, words)
    ours = np.empty((4, BLOCK), np.uint64)
    jit(philox.fill)(1, 0, Purpose.SUBJECTS.value, BLOCK, key, ours)
    must_agree(np.array_equal(words[1], ours), "words")
    draw.fill(BLOCK, key, weights)
    must_agree(np.array_equal(weights, _counts(words)), "how often subjects are drawn")

    def each_block(fill: Callable[[int], None]) -> None:
        for block in range(_BLOCKS):
            fill(block * BLOCK)

    seconds = take_turns(
        {
            "ours": clocked(lambda: each_block(lambda first: draw.fill(first, key, weights))),
            "theirs": clocked(lambda: each_block(lambda first: _bare_philox(first, key, words))),
        },
        rounds=51,
    )
    draws = _BLOCKS * BLOCK * _SUBJECTS
    return Measurement(
        [value / draws for value in seconds["ours"]],
        [value / draws for value in seconds["theirs"]],
        "words as published and as ours; NumPy counts the same draws from them",
        versions(),
        remarks="ours scales the words to subjects and counts them as well: a limit, and no rival",
    )


def _counts(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Turn words, (counters, 4, replicates), into how often each subject is drawn, (subjects,
    replicates)."""
    size, half = np.uint64(_SUBJECTS), np.uint64(32)
    high, low = words[:, 0::2].reshape(-1, BLOCK), words[:, 1::2].reshape(-1, BLOCK)
    drawn = (high * size + ((low * size) >> half)) >> half
    return np.stack([np.bincount(r.astype(np.int64), minlength=_SUBJECTS) for r in drawn.T], axis=1)


ROWS = (
    Row(
        "draws",
        f"the weights of {_SUBJECTS:,} subjects in 64 replicates, 1 thread: a subject drawn",
        "a bare Philox4x32-10 loop, 1 thread: its two words",
        Against.LIMIT,
        NoTarget(faster=False),
        against_bare_generator,
    ),
)
