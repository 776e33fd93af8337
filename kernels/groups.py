"""Count comparisons and subjects of each group and pair of groups, and split comparisons by
group.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit, jit_if_large


@jit_if_large
def count_cells(reference_group, probe_group, start, stop, counts):
    """Count some comparisons by the group of the reference and that of the probe.

    reference_group, probe_group: (n,) uint16; start, stop: the comparisons; counts: (groups,
    groups) int64, added to
    """
    for k in range(start, stop):
        counts[reference_group[k], probe_group[k]] += 1


@jit_if_large
def split_within_groups(scores, reference_group, probe_group, end, out):
    """Write the comparisons inside each group, group by group, in their order.

    scores: (n,) keys; reference_group, probe_group: (n,) uint16; end: (groups,) int64, where each
    group's part of `out` begins, moved to where it ends; out: (comparisons within groups,) of the
    scores' type
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
