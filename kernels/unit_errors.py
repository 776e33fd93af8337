"""Count the errors of units and of their pairs at several thresholds, without a sorted list of all
pairs.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit, jit_if_large

ERRORS, SQUARES, TIMES = 0, 1, 2  # rows of sums


@jit
def group_by_smaller(a, b, begin, partner, comparison):
    """Arrange comparisons by the smaller of their two units, those of a unit in order.

    a, b: (n,) int32; begin: (units + 1,) int64, out, where the comparisons of each unit begin;
    partner: (n,) int32, out, the larger unit of each; comparison: (n,) int64, out, the position
    that each had
    """
    n_units = begin.size - 1
    begin[:] = 0
    for p in range(a.size):
        begin[min(a[p], b[p]) + 1] += 1
    for unit in range(n_units):
        begin[unit + 1] += begin[unit]
    position = begin[:-1].copy()
    for p in range(a.size):
        low = min(a[p], b[p])
        partner[position[low]], comparison[position[low]] = max(a[p], b[p]), p
        position[low] += 1


@helper
def _add(unit, partners, counts, of_units, sums):
    """Add errors of one unit with some partners, each of which may be there several times.

    unit: int; partners: (n,) uint16 or int32; counts: (units,) int64, errors of the unit with each
    other one so far; of_units: as in `add_errors`; sums: (3, units) float64, added to
    """
    references, probes, varies = of_units
    own_references, own_probes, own_varies = references[unit], probes[unit], varies[unit]
    n_errors, own_squared, own_times = 0.0, 0.0, 0.0
    for p in range(partners.size):
        other = partners[p]
        both = own_varies * varies[other]
        squared = both * np.float64(2 * counts[other] + 1)  # (c + 1)^2 - c^2
        times = both * (own_references * probes[other] + references[other] * own_probes)
        counts[other] += 1
        sums[ERRORS, other] += 1.0
        sums[SQUARES, other] += squared
        sums[TIMES, other] += times
        n_errors += 1.0
        own_squared += squared
        own_times += times
    sums[ERRORS, unit] += n_errors
    sums[SQUARES, unit] += own_squared
    sums[TIMES, unit] += own_times


@jit_if_large
def add_errors(listed, stops, runs, point_of_list, of_units, group, sums):
    """Sum over the errors of each unit at several thresholds, those across groups and those inside
    groups apart.

    listed: errors in the order of scores, as `group_by_smaller` arranges them: begin, partner and
    place
    stops: (points,) int64, ascending, how many of them are errors at each threshold
    runs: `partners.Runs` of other comparisons, their lists ascending for each unit
    point_of_list: (lists,) int64, the first threshold at which the comparisons of a list are errors
    of_units: (units,) float64 each, the numbers of references and of probes, and 1 where the weight
    of a unit varies, else 0
    group: (units,) int32, -1 for none
    sums: (points, 2, 3, units) float64, zeros, out: how sums over errors grow from each threshold
    to the next, across groups (0) and inside them (1), for each unit: ERRORS, their number; SQUARES,
    the sum over its pairs of the squared number of errors; TIMES, of the number of errors times that
    of comparisons. SQUARES and TIMES leave out pairs with a unit whose weight does not vary.
    """
    begin, partner, comparison = listed
    n_units, n_points = group.size, stops.size
    counts = np.zeros(n_units, np.int64)
    partner_of_error = np.empty(1, np.int32)  # a list of one partner
    run, start = 0, np.int64(0)
    for unit in range(n_units):
        first_start, p = start, begin[unit]
        for point in range(n_points):
            while p < begin[unit + 1] and comparison[p] < stops[point]:
                partner_of_error[0] = partner[p]
                inside = np.int64(group[unit] >= 0 and group[unit] == group[partner_of_error[0]])
                _add(unit, partner_of_error, counts, of_units, sums[point, inside])
                p += 1
            while (
                run < runs.unit.size
                and runs.unit[run] == unit
                and point_of_list[runs.list[run]] == point
            ):
                partners = runs.partner[start : runs.stop[run]]
                inside = np.int64(group[unit] >= 0 and group[unit] == group[partners[0]])
                _add(unit, partners, counts, of_units, sums[point, inside])
                start = runs.stop[run]
                run += 1
        while run < runs.unit.size and runs.unit[run] == unit:  # errors at none of the thresholds
            start = runs.stop[run]
            run += 1
        for q in range(begin[unit], p):
            counts[partner[q]] = 0
        for q in range(first_start, start):
            counts[runs.partner[q]] = 0
