"""Sum what units have over errors, and count the comparisons that they are in."""

from __future__ import annotations

from ._jit import jit
from .row_sums import repeats_at


@jit
def sum_errors(a, b, of_units, start, errors, sums):
    """Sum the numbers of both units over the errors of each list.

    a, b: (n,) int32, the units of each comparison; of_units: (units,) float64; start: (lists,)
    int64; errors: (lists,) int64, how many comparisons come first as errors; sums: (lists,)
    float64, out
    """
    for k in range(start.size):
        total = 0.0
        for p in range(start[k], start[k] + errors[k]):
            total += of_units[a[p]] + of_units[b[p]]
        sums[k] = total


@jit
def count_comparisons(runs, chosen, counts):
    """Count the comparisons of each unit in some runs.

    runs: `partners.Runs`; chosen: (n,) int32, which of them; counts: (units,) int64, added to
    """
    for run in chosen:
        for p in range(runs.stop[run - 1] if run > 0 else 0, runs.stop[run]):
            m = repeats_at(runs.repeats, p)
            counts[runs.unit[run]] += m
            counts[runs.partner[p]] += m
