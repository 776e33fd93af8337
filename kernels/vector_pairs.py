"""Count and weigh the pairs of vectors of different subjects, every two vectors of which the
earlier is the reference.

The number of pairs of two subjects by which of them is the reference depends on the order of their
vectors; no pair is listed.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def count_by_order(subject, group, as_reference, as_probe):
    """Count the pairs of each subject with each group, those of a subject with itself, too.

    subject: (n,) int32, of each vector; group: (subjects,) uint16; as_reference, as_probe:
    (subjects, groups) int64, zeros, out: pairs whose other vector comes later, or earlier, by its
    group
    """
    n_groups = as_reference.shape[1]
    seen = np.zeros(n_groups, np.int64)
    for row in range(subject.size):
        k = subject[row]
        for g in range(n_groups):
            as_probe[k, g] += seen[g]
        seen[group[k]] += 1
    for row in range(subject.size):
        k = subject[row]
        seen[group[k]] -= 1
        for g in range(n_groups):
            as_reference[k, g] += seen[g]


@jit
def weigh_by_order(subject, group, lists, weights, totals):
    """Sum the weights of the pairs of two groups in replicates.

    subject: (n,) int32, of each vector; group: (subjects,) uint16; lists: (groups, groups) int32,
    the list of a pair of groups of reference and probe; those of one group are left out; weights:
    (subjects, replicates) uint8; totals: (lists, replicates) int64, added to
    """
    n_groups, n_replicates = lists.shape[0], weights.shape[1]
    seen = np.zeros((n_groups, n_replicates), np.int64)
    for row in range(subject.size):
        k = subject[row]
        weights_of_vector, of_group = weights[k], group[k]
        for g in range(n_groups):
            if g != of_group and lists[g, of_group] > 0:
                total, earlier = totals[lists[g, of_group]], seen[g]
                for r in range(n_replicates):
                    total[r] += earlier[r] * np.int64(weights_of_vector[r])
        earlier = seen[of_group]
        for r in range(n_replicates):
            earlier[r] += np.int64(weights_of_vector[r])


@jit
def square_by_order(first, last, subject, group, lists, varies, sums):
    """Sum the squared numbers of pairs of two subjects of different groups, of some subjects as
    references.

    first, last: the references, without the last; subject: (n,) int32, of each vector; group:
    (subjects,) uint16; lists: as in `weigh_by_order`; varies: (subjects,) bool; sums: three that
    are added to: (lists, subjects) int64, of pairs of subjects that both vary, and (lists,) int64,
    of all pairs, and times the number of subjects that vary
    """
    squares, of_all, of_ends = sums
    n_subjects = group.size
    pairs = np.empty(n_subjects, np.int64)
    begin = np.full(n_subjects, subject.size, np.int64)
    for row in range(subject.size - 1, -1, -1):
        begin[subject[row]] = row
    for k in range(first, last):
        pairs[:] = 0
        earlier = np.int64(0)
        for row in range(begin[k], subject.size):
            if subject[row] == k:
                earlier += 1
            else:
                pairs[subject[row]] += earlier
        for other in range(n_subjects):
            in_list = lists[group[k], group[other]]
            if group[other] == group[k] or in_list == 0 or pairs[other] == 0:
                continue
            squared = pairs[other] * pairs[other]
            of_all[in_list] += squared
            of_ends[in_list] += squared * (np.int64(varies[k]) + np.int64(varies[other]))
            if varies[k] and varies[other]:
                squares[in_list, k] += squared
                squares[in_list, other] += squared


@jit
def count_ordered(begin, rows, first, second, counts):
    """Count the pairs of two subjects of which the first is the reference.

    begin: (subjects + 1,) int64, where the vectors of each subject begin in `rows`; rows: (n,)
    int32, those of a subject ascend; first, second: (pairs,) int32, the subjects; counts: (pairs,)
    int32, out
    """
    for pair in range(first.size):
        at, stop = begin[first[pair]], begin[first[pair] + 1]
        earlier, total = np.int64(0), np.int64(0)
        for position in range(begin[second[pair]], begin[second[pair] + 1]):
            while at + earlier < stop and rows[at + earlier] < rows[position]:
                earlier += 1
            total += earlier
        counts[pair] = total
