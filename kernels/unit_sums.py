"""Sum what units have over the comparisons that they are in."""

from __future__ import annotations

from ._jit import jit


@jit
def sum_units(a, b, of_units, end, errors, found):
    """Sum the numbers of both units over the errors, and over all comparisons, of each list.

    a, b: (n,) int32, the units of each comparison; of_units: (units,) float64; end: (lists,) int64; errors: (lists,)
    int64, how many comparisons come first as errors; found: (lists, 2) float64, out: the sums over errors, over all
    """
    start = 0
    for k in range(end.size):
        total = 0.0
        for p in range(start, start + errors[k]):
            total += of_units[a[p]] + of_units[b[p]]
        found[k, 0] = total
        for p in range(start + errors[k], end[k]):
            total += of_units[a[p]] + of_units[b[p]]
        found[k, 1] = total
        start = end[k]
