"""What a scan does with each comparison: put it into the bucket of its pair of subjects, and count
it.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def find_buckets(reference, probe, flags, numbers, buckets, counts):
    """Find the bucket of each comparison; all those of two subjects go to that of the smaller one,
    the mated apart.

    reference, probe: (n,) uint16 or int32 positions in numbers; flags: (n,) bool, whether each is
    mated; numbers: (subjects,) uint16 or int32; buckets: (n,) uint8, out; counts: (2, buckets) int64, added
    to, those of mated comparisons first; their number is a power of 2, at most 128
    """
    n_buckets = counts.shape[1]
    for p in range(reference.size):
        bucket = min(numbers[reference[p]], numbers[probe[p]]) & (n_buckets - 1)
        counts[1 - flags[p], bucket] += 1
        buckets[p] = bucket if flags[p] else bucket + n_buckets


@jit
def fill_buckets(reference, probe, numbers, buckets, position, of_buckets):
    """Write the subjects of comparisons bucket by bucket.

    reference, probe, numbers, buckets: as `find_buckets` has them; position: (buckets,) int64,
    where those of each bucket begin, overwritten; of_buckets: (2, n) uint16 or int32, out
    """
    for p in range(reference.size):
        at = position[buckets[p]]
        of_buckets[0, at], of_buckets[1, at] = numbers[reference[p]], numbers[probe[p]]
        position[buckets[p]] = at + 1


@jit
def fill_keys(keys, buckets, position, of_buckets):
    """Write the keys of comparisons bucket by bucket.

    keys: (n,) int32 or int64; buckets, position: as in `fill_buckets`; of_buckets: (n,) of the type
    of keys, out
    """
    for p in range(keys.size):
        of_buckets[position[buckets[p]]] = keys[p]
        position[buckets[p]] += 1


@jit
def count_by_group(reference, probe, group, cells, seen):
    """Count comparisons by the group of the reference and that of the probe, and mark their
    subjects.

    reference, probe: (n,) uint16 or int32 subjects; group: (subjects,) uint16; cells: (groups,
    groups) int64, added to; seen: (2, subjects, groups) bool, added to: who was compared as
    reference with a probe of each group, and who as probe with a reference of it
    """
    for p in range(reference.size):
        r, q = group[reference[p]], group[probe[p]]
        cells[r, q] += 1
        seen[0, reference[p], q] = True
        seen[1, probe[p], r] = True


@jit
def rows_of_pairs(reference, probe, ones, a, b):
    """Write the units of comparisons; one of a subject with itself has the unit `ones` as its
    second.

    reference, probe: (n,) uint16 or int32 subjects; ones: int32; a, b: (n,) int32, out
    """
    for p in range(reference.size):
        a[p] = reference[p]
        b[p] = ones if reference[p] == probe[p] else np.int32(probe[p])


@jit
def sum_costs_by_group(reference, probe, group, costs, words):
    """Sum the costs of all comparisons, and of those of each group with itself.

    reference, probe: (n,) uint16 or int32 subjects; group: (subjects,) uint16; costs: (n,) int64;
    words: (2, 1 + groups) int64, added to: the lower 32 bits of costs, and the higher ones
    """
    for p in range(costs.size):
        low, high = costs[p] & np.int64(2**32 - 1), costs[p] >> np.int64(32)
        words[0, 0] += low
        words[1, 0] += high
        k = np.int64(group[reference[p]]) + 1
        if group[reference[p]] == group[probe[p]] and k < words.shape[1]:
            words[0, k] += low
            words[1, k] += high
