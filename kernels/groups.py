"""Count comparisons and subjects of each group and pair of groups, and split comparisons by group."""

from __future__ import annotations

import numpy as np

from ._jit import jit


@jit
def count_cells(reference_group, probe_group, start, stop, counts):
    """Count some comparisons by the group of the reference and that of the probe.

    reference_group, probe_group: (n,) uint16; start, stop: the comparisons; counts: (groups, groups) int64, added to
    """
    for k in range(start, stop):
        counts[reference_group[k], probe_group[k]] += 1


@jit
def split_within_groups(scores, reference_group, probe_group, end, out):
    """Write the comparisons inside each group, group by group, in their order.

    scores: (n,) keys; reference_group, probe_group: (n,) uint16; end: (groups,) int64, where each group's part of
    `out` begins, moved to where it ends; out: (comparisons within groups,) of the scores' type
    """
    for k in range(scores.size):
        group = reference_group[k]
        if group == probe_group[k]:
            out[end[group]] = scores[k]
            end[group] += 1


@jit
def widen_ranges(subject, group, low, high):
    """Find the lowest and the highest group that each subject is in.

    subject: (n,) int32; group: (n,) uint16; low, high: (subjects,) int64, out
    """
    for k in range(subject.size):
        low[subject[k]] = min(low[subject[k]], np.int64(group[k]))
        high[subject[k]] = max(high[subject[k]], np.int64(group[k]))


@jit
def errors_of_top_subjects(reference, probe, cell, n_errors, n_subjects, n_all, held):
    """Count the errors of each cell that involve one of the twentieth of its subjects with most errors.

    reference, probe: (errors,) int32 below n_all; cell: (errors,) int64; n_errors, n_subjects: (cells,) int64, numbers
    of errors, and of subjects with or without errors; held: (cells,) int64, out. Of subjects with as many errors the
    first count.
    """
    # Without sums, slices and iteration over arrays, all of which take long to compile.
    end, most, total = np.empty(n_errors.size, np.int64), np.int64(0), np.int64(0)
    for c in range(n_errors.size):
        end[c] = total
        total += n_errors[c]
        most = max(most, n_errors[c])
    by_cell = np.empty(reference.size, np.int64)
    for k in range(reference.size):
        by_cell[end[cell[k]]] = k
        end[cell[k]] += 1
    errors = np.zeros(n_all, np.int64)
    of_cell = np.empty(n_all, np.int64)
    having = np.zeros(2 * most + 1, np.int64)  # number of subjects with so many errors
    start = 0
    for c in range(n_errors.size):
        n = 0
        for position in range(start, end[c]):
            k = by_cell[position]
            one, other = reference[k], probe[k]
            for subject in (one, other):
                if errors[subject] == 0:
                    of_cell[n] = subject
                    n += 1
                errors[subject] += 1
        least = 0
        for position in range(n):
            having[errors[of_cell[position]]] += 1
            least = max(least, errors[of_cell[position]])
        # Subjects with more errors than `least` are among those wanted, and the first of those with as many.
        wanted = (n_subjects[c] + 19) // 20
        while least > 0 and having[least] <= wanted:
            wanted -= having[least]
            least -= 1
        for position in range(n):
            subject = of_cell[position]
            having[errors[subject]] = 0
            if errors[subject] > least:
                errors[subject] = -1
        # Others than this cell's have no errors here. A sort would take longer to compile than all the rest.
        subject = 0
        while least > 0 and wanted > 0 and subject < n_all:
            if errors[subject] == least:
                errors[subject] = -1
                wanted -= 1
            subject += 1
        held[c] = 0
        for position in range(start, end[c]):
            k = by_cell[position]
            held[c] += errors[reference[k]] == -1 or errors[probe[k]] == -1
        for position in range(n):
            errors[of_cell[position]] = 0
        start = end[c]
