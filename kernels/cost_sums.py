"""Sum costs of comparisons exactly: as whole numbers, whose sums do not depend on the order of
adding.

A cost is a whole number of at most 63 bits. A sum is held in words of 32 bits, the lowest first,
each in an int64, so that it may run over before what is beyond 32 bits is carried to the next word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit, jit_if_large
from .dyadic import _INSIDE, _M, _M_SQUARED, _Q, _REPEATS_SQUARED, _describe_list, _finish
from .philox import BLOCK
from .row_sums import repeats_at

WORDS = 4  # of the total of a list
WORDS_OF_SQUARES = 4
_BITS = np.int64(32)
_LOW = np.int64(2**32 - 1)
_TOGETHER = 4  # partners whose weights are added at once
_MOST_ROWS = np.int64(2**14)  # comparisons whose words, times two weights, int64 holds
_RUNS_TO_CARRY = 2**24  # runs after which totals are carried


class CostSums(NamedTuple):
    """Sums of costs over the pairs of a list."""

    costs: NDArray[np.int64]  # (units, 3) words: the costs of the comparisons of each unit
    # (units, 4) words: squared residuals of its pairs with units that vary, where it does
    squares: NDArray[np.int64]


@helper
def _carry(words):
    """Carry what is beyond 32 bits from word to word. words: (words, n) int64, overwritten."""
    for word in range(words.shape[0] - 1):
        for k in range(words.shape[1]):
            words[word + 1, k] += words[word, k] >> _BITS
            words[word, k] &= _LOW


carry = jit_if_large(_carry)


@helper
def _sum_rows(partners, costs, weights, start, stop, sums):
    """Sum cost times weight over the partners start to stop. sums: (words of a cost, 64) int64,
    out.
    """
    for word in range(sums.shape[0]):
        for r in range(BLOCK):
            sums[word, r] = 0
    together = stop - (stop - start) % _TOGETHER
    for p in range(start, together, _TOGETHER):
        first, second = weights[partners[p]], weights[partners[p + 1]]
        third, fourth = weights[partners[p + 2]], weights[partners[p + 3]]
        for word in range(sums.shape[0]):
            of_word = sums[word]
            a, b = np.int64(costs[p, word]), np.int64(costs[p + 1, word])
            c, d = np.int64(costs[p + 2, word]), np.int64(costs[p + 3, word])
            for r in range(BLOCK):
                of_word[r] += (
                    a * np.int64(first[r])
                    + b * np.int64(second[r])
                    + c * np.int64(third[r])
                    + d * np.int64(fourth[r])
                )
    for p in range(together, stop):
        row = weights[partners[p]]
        for word in range(sums.shape[0]):
            of_word, a = sums[word], np.int64(costs[p, word])
            for r in range(BLOCK):
                of_word[r] += a * np.int64(row[r])


@helper
def _add(words, sums):
    """Add words to others. words, sums: (words, 64) int64; element by element, as whole arrays
    compile for a second.
    """
    for word in range(sums.shape[0]):
        for r in range(sums.shape[1]):
            sums[word, r] += words[word, r]


@jit
def total_costs(runs, costs, weights, totals):
    """Sum weight times cost over the comparisons of the first lists, in 64 replicates.

    runs: `partners.Runs`; costs: (n, 2) or (n, 3) uint32 words of the costs of each partner;
    weights: (units, 64) uint8; totals: (lists, 4, 64) int64 words, out
    """
    n_lists = totals.shape[0]
    for k in range(n_lists):
        for word in range(WORDS):
            for r in range(BLOCK):
                totals[k, word, r] = 0
    unlisted = np.zeros((WORDS, BLOCK), np.int64)  # what is in list 0 alone
    sums, start = np.empty((costs.shape[1], BLOCK), np.int64), np.int64(0)
    for run in range(runs.stop.size):
        k, unit = runs.list[run], weights[runs.unit[run]]
        total = totals[k] if 0 < k < n_lists else unlisted
        while start < runs.stop[run]:
            stop = start + _MOST_ROWS if start + _MOST_ROWS < runs.stop[run] else runs.stop[run]
            _sum_rows(runs.partner, costs, weights, start, stop, sums)
            for word in range(sums.shape[0]):
                for r in range(BLOCK):
                    product = sums[word, r] * np.int64(unit[r])
                    total[word, r] += product & _LOW
                    total[word + 1, r] += product >> _BITS
            start = stop
        if run % _RUNS_TO_CARRY == _RUNS_TO_CARRY - 1:
            _carry(unlisted)
            for k in range(n_lists):
                _carry(totals[k])
    _add(unlisted, totals[0])
    for k in range(1, n_lists):
        _carry(totals[k])
        _add(totals[k], totals[0])
    _carry(totals[0])


@jit_if_large
def sum_costs(runs, costs, totals):
    """Sum the costs of the comparisons of the first lists. totals: (4, lists) int64 words, out;
    else as above.
    """
    n_lists = totals.shape[1]
    totals[:] = 0
    start = np.int64(0)
    for run in range(runs.stop.size):
        k = runs.list[run] if runs.list[run] < n_lists else 0
        for p in range(start, runs.stop[run]):
            for word in range(costs.shape[1]):
                totals[word, k] += np.int64(costs[p, word])
        start = runs.stop[run]
    _carry(totals)
    for k in range(1, n_lists):
        for word in range(WORDS):
            totals[word, 0] += totals[word, k]
    _carry(totals)


@jit_if_large
def merge_costs(runs, costs, n_units, merged, of_pairs):
    """Add up the costs of partners that are kept once.

    runs, costs: as above, each comparison on its own; merged: the same `Runs` after
    `partners.merge_repeated`; of_pairs: (pairs, 3) uint32 words, out
    """
    position, words = np.empty(n_units, np.int64), np.empty(3, np.int64)
    of_pairs[:] = 0
    start, first = np.int64(0), np.int64(0)
    for run in range(runs.stop.size):
        for p in range(first, merged.stop[run]):
            position[merged.partner[p]] = p
        for p in range(start, runs.stop[run]):
            sum_of_pair = of_pairs[position[runs.partner[p]]]
            words[0] = np.int64(sum_of_pair[0]) + np.int64(costs[p, 0])
            words[1] = np.int64(sum_of_pair[1]) + np.int64(costs[p, 1]) + (words[0] >> _BITS)
            words[2] = np.int64(sum_of_pair[2]) + (words[1] >> _BITS)
            for word in range(3):
                sum_of_pair[word] = words[word] & _LOW
        start, first = runs.stop[run], merged.stop[run]


@helper
def _number(words):
    """Return what three words are, as a float64. words: (3,) int64, carried meanwhile."""
    for word in range(2):
        words[word + 1] += words[word] >> _BITS
        words[word] &= _LOW
    return (np.float64(words[2]) * 2.0**32 + np.float64(words[1])) * 2.0**32 + np.float64(words[0])


def new_costs(n_units: int) -> CostSums:
    """Return `CostSums` of nothing."""
    return CostSums(
        np.zeros((n_units, 3), np.int64), np.zeros((n_units, WORDS_OF_SQUARES), np.int64)
    )


@jit_if_large
def add_costs(runs, costs, chosen, of_list, varies, sums):
    """Add up the costs of some runs of a list, and the squared residuals of their pairs.

    A residual is the cost of a pair's comparisons less as many means of the list.

    runs, costs: as above; chosen: (chosen,) int32, all runs of the list of some units, those of a
    unit together; of_list: the mean cost, and a power of 2 that no residual exceeds once it is
    multiplied by it; varies: (units,) bool, whether a unit's weight varies; sums: `CostSums`, added
    to
    """
    mean, scale = of_list
    repeats, words = np.zeros(varies.size, np.int64), np.zeros((varies.size, 3), np.int64)
    sum_of_unit = np.empty(3, np.int64)
    k = 0
    while k < chosen.size:
        unit, first = runs.unit[chosen[k]], k
        while k < chosen.size and runs.unit[chosen[k]] == unit:
            run = chosen[k]
            for p in range(runs.stop[run - 1] if run > 0 else 0, runs.stop[run]):
                other = runs.partner[p]
                repeats[other] += repeats_at(runs.repeats, p)
                for word in range(costs.shape[1]):
                    words[other, word] += np.int64(costs[p, word])
            k += 1
        sum_of_unit[:] = 0
        for run in chosen[first:k]:
            for p in range(runs.stop[run - 1] if run > 0 else 0, runs.stop[run]):
                other = runs.partner[p]
                if repeats[other] == 0:
                    continue
                cost = _number(words[other])
                for word in range(3):
                    sum_of_unit[word] += words[other, word]
                    sums.costs[other, word] += words[other, word]
                    words[other, word] = 0
                if varies[unit] and varies[other]:
                    residual = (cost - mean * np.float64(repeats[other])) * scale
                    left = residual * residual * 2.0**30
                    for word in range(WORDS_OF_SQUARES - 1, -1, -1):
                        whole = np.floor(left)
                        sums.squares[unit, word] += np.int64(whole)
                        sums.squares[other, word] += np.int64(whole)
                        left = (left - whole) * 2.0**32
                repeats[other] = 0
        for word in range(3):
            sums.costs[unit, word] += sum_of_unit[word]


@jit_if_large
def finish_costs(counts, sums, of_list, strata, variances):
    """Compute the variances of a list's mean cost from sums over its pairs.

    counts: the `pair_walk.Sums` of its comparisons; sums: its `CostSums`; of_list: as in
    `add_costs`; strata: stratum, (units,) int32, and stratum_size, (strata,) int64; variances: (3,)
    float64, out, as in `dyadic`, of scaled costs
    """
    mean, scale = of_list
    stratum, stratum_size = strata
    n_units, n_strata = stratum.size, stratum_size.size
    of_comparisons, of_stratum = np.zeros((n_strata, 4)), np.zeros((n_strata, 3))
    deviation, squares, n, two_way = np.zeros(n_units), np.zeros(n_units), 0.0, np.bool_(False)
    units, n_own, pairs_squared = np.empty(n_units, np.int64), 0, 0.0
    for unit in range(n_units):  # ascending, so that sums have one order
        m = counts.comparisons[unit]
        if m == 0:
            continue
        units[n_own] = unit
        n_own += 1
        n += m / 2
        fixed = of_comparisons[stratum[unit]]
        fixed[_M] += m
        fixed[_M_SQUARED] += m**2
        fixed[_REPEATS_SQUARED] += counts.repeats_squared[unit]
        two_way |= counts.repeats_squared[unit] > 0
        deviation[unit] = (_number(sums.costs[unit]) - mean * m) * scale
        for word in range(WORDS_OF_SQUARES - 1, -1, -1):
            squares[unit] = squares[unit] * 2.0**32 + np.float64(sums.squares[unit, word])
        squares[unit] *= 2.0 ** (-30 - 32 * (WORDS_OF_SQUARES - 1))
        of_stratum[stratum[unit], _Q] += squares[unit]
        pairs_squared += squares[unit] / 2
    for s in range(n_strata):
        of_comparisons[s, _INSIDE] = counts.inside[s]
    units = units[:n_own]
    of_units = _describe_list(units, stratum, stratum_size, of_comparisons, two_way)
    of_errors = deviation, squares, of_stratum
    _finish(of_units, of_errors, (n, mean * scale * n, pairs_squared), variances)
