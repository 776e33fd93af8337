"""Sum what units have over the comparisons that they are in."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from .row_sums import repeats_at


@jit
def sum_errors(a, b, of_units, start, errors, found):
    """Sum the numbers of both units over the errors of each list.

    a, b: (n,) int32, the units of each comparison; of_units: (units,) float64; start: (lists,) int64; errors: (lists,)
    int64, how many comparisons come first as errors; found: (lists,) float64, out
    """
    for k in range(start.size):
        total = 0.0
        for p in range(start[k], start[k] + errors[k]):
            total += of_units[a[p]] + of_units[b[p]]
        found[k] = total


@jit
def sum_comparisons(runs, of_units, found):
    """Sum the numbers of both units over all comparisons of each list.

    runs: `partners.Runs`; of_units: (units,) float64; found: (lists,) float64, out
    """
    for k in range(found.size):
        found[k] = 0.0
    start, unlisted = np.int64(0), 0.0
    for run in range(runs.stop.size):
        own, total = of_units[runs.unit[run]], 0.0
        for p in range(start, runs.stop[run]):
            total += repeats_at(runs.repeats, p) * (own + of_units[runs.partner[p]])
        start = runs.stop[run]
        if runs.list[run] > 0:
            found[runs.list[run]] += total
        else:
            unlisted += total
    for k in range(1, found.size):
        found[0] += found[k]
    found[0] += unlisted


@jit
def count_comparisons(runs, wanted, counts):
    """Count the comparisons of each unit in a list.

    runs: `partners.Runs`; wanted: the list, 0 for all; counts: (units,) int64, added to
    """
    start = np.int64(0)
    for run in range(runs.stop.size):
        if not 0 < wanted != runs.list[run]:
            for p in range(start, runs.stop[run]):
                m = repeats_at(runs.repeats, p)
                counts[runs.unit[run]] += m
                counts[runs.partner[p]] += m
        start = runs.stop[run]
