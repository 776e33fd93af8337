"""Unit weights of a block of 64 replicates: how often each unit is drawn.

Weights are uint8, indexed by unit and replicate; those of a unit fill one cache line.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit_in_place, part
from .philox import BLOCK, fill

_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@part
def _scaled(high, low, size):
    """Turn 64 random bits, in two words, into a whole number below `size`: the high part of their
    product.
    """
    size = np.uint64(size)
    return np.int64((high * size + ((low * size) >> _HALF)) >> _HALF)


@jit_in_place
def draw_with_replacement(end, purpose, first_replicate, key, words, weights):
    """Draw from each stratum as many units as it has, with replacement, and count how often each is
    drawn.

    end: (strata,) int64, where each stratum's units end in `weights`; purpose: int, different for
    each kind of draw; first_replicate: int; key: (2,) uint32; words: (4, 64) uint64, scratch;
    weights: (units, 64) uint8, out. Returns whether all counts fit into uint8.
    """
    fits = True
    start = 0
    for stratum in range(end.size):
        counts = weights[start : end[stratum]]
        size = counts.shape[0]
        for unit in range(size):
            for r in range(BLOCK):
                counts[unit, r] = size == 1
        for drawn in range(0, size if size > 1 else 0, 2):
            fill(drawn // 2, stratum, purpose, first_replicate, key, words)
            for word in range(0, 4 if drawn + 1 < size else 2, 2):
                for r in range(BLOCK):
                    unit = _scaled(words[word, r], words[word + 1, r], size)
                    if counts[unit, r] == 255:
                        fits = False
                    counts[unit, r] += np.uint8(1)
        start = end[stratum]
    return fits


@jit_in_place
def leave_one_out(first_unit, n_units, weights):
    """Write the weights of the jackknife: each replicate leaves out one unit, from first_unit on,
    up to the last one.

    first_unit, n_units: int; weights: (>= n_units, 64) uint8, out
    """
    for unit in range(n_units):
        for r in range(BLOCK):
            weights[unit, r] = 1
    for r in range(BLOCK):
        if first_unit + r < n_units:
            weights[first_unit + r, r] = np.uint8(0)


@jit_in_place
def multiply_by_owner(owner, weights, products):
    """Multiply each sample's weight by its subject's, and say whether all products fit.

    owner: (samples,) int32, rows of the subjects; weights: (rows, 64) uint8, subjects' rows and
    samples' rows in one array, samples last; products: (samples, 64) uint8, out
    """
    samples = weights[weights.shape[0] - owner.size :]
    fits = True
    for sample in range(owner.size):
        subject = weights[owner[sample]]
        for r in range(BLOCK):
            product = np.int32(samples[sample, r]) * np.int32(subject[r])
            if product > 255:
                fits = False
            products[sample, r] = np.uint8(product)
    return fits


@jit_in_place
def multiply_rows(first, second, weights, largest, products):
    """Multiply rows of weights two by two, and say whether all products fit.

    first, second: (products,) int32, rows of weights; weights: (rows, 64) uint8; largest: int, the
    largest product that two rows may have; products: (products, 64) uint8, out
    """
    fits = True
    for product in range(first.size):
        left, right, of_both = weights[first[product]], weights[second[product]], products[product]
        # the processor multiplies in eight bits, as nothing else is kept, and so many at a time
        for r in range(BLOCK):
            of_both[r] = np.uint8(np.int32(left[r]) * np.int32(right[r]))
        if largest > 255:
            for r in range(BLOCK):
                if np.int32(left[r]) * np.int32(right[r]) > 255:
                    fits = False
    return fits
