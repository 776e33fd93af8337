"""Philox4x32-10, the counter-based random generator of Salmon et al. (2011), for 64 replicates at
once.

A word, 32 random bits, depends only on the key and its counter, so a replicate's draws are the same
in every thread and whatever was drawn before. Do not change this module: the same seed would give
other random numbers and intervals.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper

BLOCK = 64  # replicates computed at once: the uint8 weights of a unit fill one cache line
_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@helper
def _round(c0, c1, c2, c3, k0, k1):
    """Do one round. c0 to c3, k0, k1: uint64, words and key. Returns the words and the next round's
    key.
    """
    product_0, product_1 = _MULTIPLIER_0 * c0, _MULTIPLIER_1 * c2
    high_0, high_1 = product_0 >> _HALF, product_1 >> _HALF
    next_0, next_1 = (k0 + _WEYL_0) & _LOW, (k1 + _WEYL_1) & _LOW
    return high_1 ^ c1 ^ k0, product_1 & _LOW, high_0 ^ c3 ^ k1, product_0 & _LOW, next_0, next_1


@helper
def _two_rounds(c0, c1, c2, c3, k0, k1):
    """Do two rounds; as `_round`."""
    return _round(*_round(c0, c1, c2, c3, k0, k1))


@helper
def _mix(n, key, out):
    """Turn the counters of n replicates into words. key: (2,) uint32; out: (4, 64) uint64."""
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for r in range(n):
        state = out[0, r], out[1, r], out[2, r], out[3, r], k0, k1
        # Ten rounds without a loop: the state stays in registers, and several replicates are
        # computed at once.
        state = _two_rounds(*_two_rounds(*_two_rounds(*_two_rounds(*_two_rounds(*state)))))
        out[0, r], out[1, r], out[2, r], out[3, r] = state[0], state[1], state[2], state[3]


@helper
def fill(draw, stream, purpose, first_replicate, key, out):
    """Write four words for each of 64 replicates, of the counter (draw, stream, replicate,
    purpose).

    draw, stream, purpose, first_replicate: int below 2^32; key: (2,) uint32; out: (4, 64) uint64,
    words below 2^32
    """
    for r in range(BLOCK):
        out[0, r] = np.uint64(draw)
        out[1, r] = np.uint64(stream)
        out[2, r] = np.uint64(first_replicate + r)
        out[3, r] = np.uint64(purpose)
    _mix(BLOCK, key, out)


@helper
def fill_some(draw, stream, purpose, replicates, n, key, out):
    """Write the words of `fill` for the first n of some replicates.

    replicates: (64,) int64; out: (4, 64) uint64; draw, stream, purpose, key: as in `fill`
    """
    for r in range(n):
        out[0, r] = np.uint64(draw)
        out[1, r] = np.uint64(stream)
        out[2, r] = np.uint64(replicates[r])
        out[3, r] = np.uint64(purpose)
    _mix(n, key, out)


@helper
def fill_draws(first_draw, stream, purpose, replicate, key, out):
    """Write the words of 64 draws of one replicate, one after the other. All as in `fill`."""
    for k in range(BLOCK):
        out[0, k] = np.uint64(first_draw + k)
        out[1, k] = np.uint64(stream)
        out[2, k] = np.uint64(replicate)
        out[3, k] = np.uint64(purpose)
    _mix(BLOCK, key, out)
