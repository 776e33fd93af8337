"""Divide sorted comparisons into lists, and number the distinct pairs of units in each list, in
linear time.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit_if_large

_LOW = np.int64(2**32 - 1)


@jit_if_large
def divide(side, lists, flip, position, out):
    """Write comparisons to list 0 and to the lists of their groups, those of a list in order.

    side: keys, (n,) int32 or int64, and rows of the weights of both units, (n,) int32 each; lists:
    (n,) uint16 or int32, the list of each besides list 0, 0 for none, or none where there is list 0
    alone; flip: bool, whether to go from the last comparison to the first and invert the keys;
    position: (lists,) int64, where the first comparison of each list goes, overwritten; out: keys
    and both rows of all lists, types as those of side
    """
    keys, a, b = side
    out_keys, out_a, out_b = out
    for q in range(keys.size):
        p = keys.size - 1 - q if flip else q
        key = ~keys[p] if flip else keys[p]
        at = position[0]
        out_keys[at], out_a[at], out_b[at] = key, a[p], b[p]
        position[0] = at + 1
        if lists.size > 0 and lists[p] > 0:
            k = lists[p]
            at = position[k]
            out_keys[at], out_a[at], out_b[at] = key, a[p], b[p]
            position[k] = at + 1


@jit_if_large
def number_pairs(a, b, begin, end, n_units, pair, of_pairs, n_pairs_of_list):
    """Number the distinct pairs of units of some lists, from 0 in each: those with the same smaller
    unit together.

    a, b: (n,) int32 units below n_units of each comparison of all lists; begin, end: (lists,)
    int64, where each list's comparisons are; pair: (n,) int32, out, the pair of each comparison;
    of_pairs: smaller unit, larger unit and number of comparisons of each pair, (n,) int32 each,
    out, from begin on for each list; n_pairs_of_list: (lists,) int64, out, the number of its pairs
    """
    first, second, repeats = of_pairs
    position = np.zeros(n_units, np.int64)
    seen_with, number = np.full(n_units, -1, np.int32), np.empty(n_units, np.int32)
    longest = np.int64(0)
    for k in range(end.size):
        longest = max(longest, end[k] - begin[k])
    by_unit, units = np.empty(longest, np.int64), np.empty(min(longest, n_units), np.int32)
    stamp = np.int32(0)
    for k in range(end.size):
        n_seen = 0
        for p in range(begin[k], end[k]):
            low = min(a[p], b[p])
            if position[low] == 0:
                units[n_seen] = low
                n_seen += 1
            position[low] += 1
        total = np.int64(0)
        for unit in units[:n_seen]:
            total, position[unit] = total + position[unit], total
        for p in range(begin[k], end[k]):
            low = min(a[p], b[p])
            by_unit[position[low]] = np.int64(max(a[p], b[p])) << np.int64(32) | (p - begin[k])
            position[low] += 1
        start, n_pairs = np.int64(0), begin[k]
        for unit in units[:n_seen]:
            stop = position[unit]
            for q in range(start, stop):
                other = by_unit[q] >> np.int64(32)
                if seen_with[other] != stamp:
                    seen_with[other] = stamp
                    number[other] = n_pairs - begin[k]
                    first[n_pairs], second[n_pairs], repeats[n_pairs] = unit, other, 0
                    n_pairs += 1
                pair_of_unit = number[other]
                pair[begin[k] + (by_unit[q] & _LOW)] = pair_of_unit
                repeats[begin[k] + pair_of_unit] += 1
            position[unit] = 0
            start = stop
            stamp += np.int32(1)
        n_pairs_of_list[k] = n_pairs - begin[k]
