"""Comparisons kept as partners of units: grouped by the smaller of their two units, and there by
the list they are in.

What is summed over comparisons, or over distinct pairs of units, needs neither the order of scores
nor a list of pairs: the partners of one unit at a time are counted in an array that the processor's
cache holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import jit_if_large

_HALF, _LOW = np.int64(32), np.int64(2**32 - 1)  # bits of half a cost


class Runs(NamedTuple):
    """Comparisons of the same smaller unit in the same list, run after run; those of a unit lie
    together.
    """

    unit: NDArray[np.int32]  # (runs,) the smaller unit
    # (runs,) the list that the comparisons are in besides list 0, or 0 for none
    list: NDArray[np.int32]
    stop: NDArray[np.int64]  # (runs,) where the run ends in `partner`
    partner: NDArray[Any]  # (n,) uint16 or int32, the larger unit of each comparison
    # (n,) how many comparisons of a run each partner stands for; (0,) where it is one
    repeats: NDArray[np.int32]


@jit_if_large
def rows_of_units(first, second, row, ones, a, b):
    """Write the two rows of weights of each comparison: those of its units, or of a unit with
    itself the unit's and the row of ones.

    first, second: (n,) int32 units; row: (units,) int32; ones: int32; a, b: (n,) int32, out
    """
    for p in range(first.size):
        a[p] = row[first[p]]
        b[p] = ones if first[p] == second[p] else row[second[p]]


@jit_if_large
def lists_of_cells(reference_group, probe_group, lists, list_of):
    """Write the list of each comparison. Both groups: (n,) uint16; lists: (groups, groups) int32;
    list_of: (n,), out.
    """
    for p in range(list_of.size):
        list_of[p] = lists[reference_group[p], probe_group[p]]


@jit_if_large
def count_smaller(a, b, counts):
    """Count the comparisons of each smaller unit. a, b: (n,) int32; counts: (units,) int64, added
    to.
    """
    for p in range(a.size):
        counts[min(a[p], b[p])] += 1


@jit_if_large
def scatter(a, b, lists, position, partner, of_partner, costs, words):
    """Write the larger unit of each comparison, its list and its cost, behind those of the same
    smaller unit.

    a, b: (n,) int32; lists: (n,) uint16 or int32, or none where there is list 0 alone; position:
    (units,) int64, where the next comparison of a unit goes, overwritten; partner: out; of_partner:
    as `lists`, out; costs: (n,) int64, or none; words: (n, 2) uint32, out, the lower and the higher
    half of each cost
    """
    for p in range(a.size):
        low, high = min(a[p], b[p]), max(a[p], b[p])
        at = position[low]
        partner[at] = high
        if lists.size > 0:
            of_partner[at] = lists[p]
        if costs.size > 0:
            words[at, 0], words[at, 1] = costs[p] & _LOW, costs[p] >> _HALF
        position[low] = at + 1


@jit_if_large
def arrange(begin, first, last, n_lists, partner, lists, words):
    """Arrange the comparisons of each of some units by list, and return the number of their runs.

    begin: (units + 1,) int64, where the comparisons of each unit begin; first, last: the units,
    without the last; partner: (n,), overwritten; lists: (n,) the list of each, overwritten, or none
    where there is list 0 alone; words: (n, 2) uint32, their costs, overwritten, or none
    """
    longest, n_runs = np.int64(0), 0
    for unit in range(first, last):
        longest = max(longest, begin[unit + 1] - begin[unit])
        n_runs += begin[unit + 1] > begin[unit]
    if lists.size == 0:
        return n_runs
    position, seen = np.zeros(n_lists, np.int64), np.empty(n_lists, np.int64)
    others, lists_here = np.empty(longest, partner.dtype), np.empty(longest, lists.dtype)
    own_words = np.empty((longest if words.size > 0 else 0, 2), np.uint32)
    n_runs = 0
    for unit in range(first, last):
        start, stop, n_seen = begin[unit], begin[unit + 1], 0
        for p in range(start, stop):
            k = lists[p]
            if position[k] == 0:
                seen[n_seen] = k
                n_seen += 1
            position[k] += 1
            others[p - start], lists_here[p - start] = partner[p], k
            # element by element: an assignment of slices takes seconds to compile
            if words.size > 0:
                own_words[p - start, 0], own_words[p - start, 1] = words[p, 0], words[p, 1]
        n_runs += n_seen
        total = start
        for k in seen[:n_seen]:
            total, position[k] = total + position[k], total
        for p in range(stop - start):
            k = lists_here[p]
            at = position[k]
            partner[at], lists[at] = others[p], k
            if words.size > 0:
                words[at, 0], words[at, 1] = own_words[p, 0], own_words[p, 1]
            position[k] = at + 1
        for k in seen[:n_seen]:
            position[k] = 0
    return n_runs


@jit_if_large
def write_runs(begin, first, last, lists, run, runs):
    """Write the runs of some units, the first one at `run`.

    begin, first, last, lists: as `arrange` leaves them; runs: `Runs`, out but for partners
    """
    for unit in range(first, last):
        before = np.int64(-1)
        for p in range(begin[unit], begin[unit + 1]):
            k = np.int64(lists[p]) if lists.size > 0 else np.int64(0)
            if k != before:
                runs.unit[run], runs.list[run] = unit, k
                before = k
                run += 1
            runs.stop[run - 1] = p + 1


@jit_if_large
def count_pairs(runs, last, n_units):
    """Count the distinct pairs of the runs before `last`, each run on its own."""
    seen_in = np.full(n_units, -1, np.int64)
    n_pairs, start = 0, np.int64(0)
    for run in range(last):
        for p in range(start, runs.stop[run]):
            n_pairs += seen_in[runs.partner[p]] != run
            seen_in[runs.partner[p]] = run
        start = runs.stop[run]
    return n_pairs


@jit_if_large
def merge_repeated(runs, n_units, merged):
    """Keep each partner of a run once, with the number of its comparisons. merged: the `Runs`, out
    but for two.
    """
    seen_in, position = np.full(n_units, -1, np.int64), np.empty(n_units, np.int64)
    n, start, repeats = np.int64(0), np.int64(0), merged.repeats
    for run in range(runs.stop.size):
        for p in range(start, runs.stop[run]):
            partner = runs.partner[p]
            if seen_in[partner] != run:
                seen_in[partner], position[partner] = run, n
                merged.partner[n], repeats[n] = partner, 0
                n += 1
            repeats[position[partner]] += 1
        start = runs.stop[run]
        merged.stop[run] = n


@jit_if_large
def any_varies(runs, varies):
    """Tell whether any comparison has two units whose weights vary. varies: (units,) bool."""
    start = np.int64(0)
    for run in range(runs.stop.size):
        if varies[runs.unit[run]]:
            for p in range(start, runs.stop[run]):
                if varies[runs.partner[p]]:
                    return True
        start = runs.stop[run]
    return False
