"""Sum over the distinct pairs of units of lists of comparisons, in one walk over the partners of
each unit.

With m comparisons of a pair of units, of which s are errors at a threshold, the variances of
`dyadic` and models of counts need sums of m, s, m^2, s^2 and s m over the pairs of each unit, and
of some over all pairs. All are integers, so that they do not depend on who adds them up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import jit_if_large
from .dyadic import (
    _INSIDE,
    _M,
    _M_SQUARED,
    _REPEATS_SQUARED,
    _describe_list,
    _finish,
    _no_errors,
    _residuals_of_units,
)
from .row_sums import repeats_at

# Columns of what is summed for models of counts: T and m over units whose weights vary, then over
# all pairs, then over those ends of pairs whose weights vary, then over pairs of two units that
# vary.
T_SQUARED, M_SQUARED, S_SQUARED, S_TIMES_M, REPEATS_SQUARED = range(5)
S_SQUARED_OF_ENDS, S_TIMES_M_OF_ENDS, REPEATS_SQUARED_OF_ENDS = range(5, 8)
S_SQUARED_OF_BOTH, S_TIMES_M_OF_BOTH, REPEATS_SQUARED_OF_BOTH = range(8, 11)
N_SUMS = 11
_WRONG, _WRONG_SQUARED, _WRONG_TIMES = range(3)


class Sums(NamedTuple):
    """Sums over the pairs of a list; errors are those between a point's threshold and the one
    before.
    """

    comparisons: NDArray[np.float64]  # (units,) number of comparisons of each unit
    # (units,) sum of m^2 over its pairs of units that both vary
    repeats_squared: NDArray[np.float64]
    inside: NDArray[np.float64]  # (strata,) ends of comparisons inside a stratum
    # (points, 3, units) errors, and sums of s^2 and s m over pairs of units that both vary
    wrong: NDArray[np.float64]
    # (points, N_SUMS) sums over pairs; those of m^2 at the first point
    of_pairs: NDArray[np.float64]


def new_sums(n_points: int, n_units: int, n_strata: int) -> Sums:
    """Return `Sums` of nothing."""
    return Sums(
        np.zeros(n_units),
        np.zeros(n_units),
        np.zeros(n_strata),
        np.zeros((n_points, 3, n_units)),
        np.zeros((n_points, N_SUMS)),
    )


@jit_if_large
def group_errors(a, b, first, last, begin, at):
    """Group the errors of a list by their smaller unit, those of a unit in order.

    a, b: (n,) int32 units of the comparisons of all lists; first, last: the errors, without the
    last; begin: (2, units) int64, zeros, out: where the errors of each unit begin and end in `at`;
    at: (errors,) int64, out, their positions
    """
    for p in range(first, last):
        begin[1, min(a[p], b[p])] += 1
    total = np.int64(0)
    for p in range(first, last):
        unit = min(a[p], b[p])
        # seen for the first time: told by a negative number
        if begin[1, unit] > 0 and begin[0, unit] == 0:
            total, begin[0, unit] = total + begin[1, unit], -total - 1
    for p in range(first, last):
        unit = min(a[p], b[p])
        if begin[0, unit] < 0:
            begin[0, unit] = -begin[0, unit] - 1
            begin[1, unit] = begin[0, unit]
        at[begin[1, unit]] = p
        begin[1, unit] += 1


@jit_if_large
def add_runs(runs, chosen, errors, stratum, varies, sums):
    """Add up the pairs of some runs of a list but for their errors, and count the comparisons of
    each error's pair.

    runs: `partners.Runs`; chosen: (chosen,) int32, all runs of the list of some units, those of a
    unit together; errors: a, b, begin and at of the list, as `group_errors` has them, where the
    first error is, and (errors,) int32, out, the number of comparisons of each error's pair;
    stratum: (units,) int32; varies: (units,) bool; sums: `Sums`, added to
    """
    a, b, begin, at, first_error, repeats = errors
    together = np.zeros(stratum.size, np.int32)
    k = 0
    while k < chosen.size:
        unit, first = runs.unit[chosen[k]], k
        own_varies = varies[unit]
        n, squared, varying, inside = 0.0, 0.0, 0.0, 0.0
        while k < chosen.size and runs.unit[chosen[k]] == unit:
            run = chosen[k]
            for p in range(runs.stop[run - 1] if run > 0 else 0, runs.stop[run]):
                other, more = runs.partner[p], repeats_at(runs.repeats, p)
                before = np.int64(together[other])
                together[other] = before + more
                # by so much m^2 grows
                grown = np.float64(more * (2 * before + more))
                n += more
                squared += grown
                sums.comparisons[other] += more
                inside += more * np.float64(stratum[other] == stratum[unit])
                if varies[other]:
                    varying += grown
                    if own_varies:
                        sums.repeats_squared[other] += grown
            k += 1
        for q in range(begin[0, unit], begin[1, unit]):
            repeats[at[q] - first_error] = together[max(a[at[q]], b[at[q]])]
        for run in chosen[first:k]:
            for p in range(runs.stop[run - 1] if run > 0 else 0, runs.stop[run]):
                together[runs.partner[p]] = 0
        sums.comparisons[unit] += n
        sums.inside[stratum[unit]] += 2 * inside
        sums.of_pairs[0, REPEATS_SQUARED] += squared
        sums.of_pairs[0, REPEATS_SQUARED_OF_ENDS] += varying
        if own_varies:
            sums.repeats_squared[unit] += varying
            sums.of_pairs[0, REPEATS_SQUARED_OF_ENDS] += squared


@jit_if_large
def add_errors(first_unit, last_unit, errors, stops, varies, sums):
    """Add up the errors of a list whose smaller unit is one of some units.

    first_unit, last_unit: the units, without the last; errors: as `add_runs` leaves them; stops:
    (points,) int64, ascending, where the errors of each point end; varies: (units,) bool; sums:
    `Sums`, added to
    """
    a, b, begin, at, first_error, repeats = errors
    seen = np.zeros(varies.size, np.int64)
    for unit in range(np.int64(first_unit), np.int64(last_unit)):
        own_varies = varies[unit]
        point = 0
        for q in range(begin[0, unit], begin[1, unit]):
            p = at[q]
            while stops[point] <= p:
                point += 1
            other = np.int64(max(a[p], b[p]))
            wrong, of_pairs = sums.wrong[point], sums.of_pairs[point]
            added, times = np.float64(2 * seen[other] + 1), np.float64(repeats[p - first_error])
            seen[other] += 1
            ends = np.float64(own_varies) + np.float64(varies[other])
            wrong[_WRONG, unit] += 1
            wrong[_WRONG, other] += 1
            if own_varies and varies[other]:
                for end in (unit, other):
                    wrong[_WRONG_SQUARED, end] += added
                    wrong[_WRONG_TIMES, end] += times
            of_pairs[S_SQUARED] += added
            of_pairs[S_TIMES_M] += times
            of_pairs[S_SQUARED_OF_ENDS] += ends * added
            of_pairs[S_TIMES_M_OF_ENDS] += ends * times
        for q in range(begin[0, unit], begin[1, unit]):
            seen[max(a[at[q]], b[at[q]])] = 0


@jit_if_large
def finish_list(sums, units, errors, strata, variances, of_pairs):
    """Compute the variances of a list's rates from the sums over its pairs.

    sums: `Sums`, overwritten; units: (k,) int64, ascending, those with comparisons; errors: where the list
    begins, where the errors of each point end, (points,) int64, ascending, and its place in what is
    written, (points,) int64; strata: stratum, (units,) int32, and stratum_size, (strata,) int64;
    variances: (points, 3) float64, out, as in `dyadic`; of_pairs: (points, N_SUMS) float64, out
    """
    first, stops, order = errors
    stratum, stratum_size = strata
    n_strata = stratum_size.size
    of_comparisons, n, two_way = np.zeros((n_strata, 4)), 0.0, np.bool_(False)
    for unit in units:
        fixed = of_comparisons[stratum[unit]]
        n += sums.comparisons[unit] / 2
        fixed[_M] += sums.comparisons[unit]
        fixed[_M_SQUARED] += sums.comparisons[unit] ** 2
        fixed[_REPEATS_SQUARED] += sums.repeats_squared[unit]
        two_way |= sums.repeats_squared[unit] > 0
    for s in range(n_strata):
        of_comparisons[s, _INSIDE] = sums.inside[s]
    of_list = _describe_list(units, stratum, stratum_size, of_comparisons, two_way)
    fixed = sums.comparisons, sums.repeats_squared
    wrong = sums.wrong[0, _WRONG], sums.wrong[0, _WRONG_SQUARED], sums.wrong[0, _WRONG_TIMES]
    of_errors = _no_errors(stratum, stratum_size)
    for point in range(stops.size):
        sums_of_pairs, n_errors = of_pairs[order[point]], np.float64(stops[point] - first)
        for column in range(N_SUMS):
            if point > 0:
                sums.of_pairs[0, column] += sums.of_pairs[point, column]
            sums_of_pairs[column] = sums.of_pairs[0, column]
        rate = n_errors / n if n > 0 else 0.0
        for unit in units:
            if point > 0:
                for column in range(3):
                    sums.wrong[0, column, unit] += sums.wrong[point, column, unit]
            if stratum_size[stratum[unit]] > 1:
                sums_of_pairs[T_SQUARED] += (wrong[0][unit] - rate * sums.comparisons[unit]) ** 2
                sums_of_pairs[M_SQUARED] += sums.comparisons[unit] ** 2
            # each pair is counted at both of its ends
            sums_of_pairs[S_SQUARED_OF_BOTH] += wrong[1][unit] / 2
            sums_of_pairs[S_TIMES_M_OF_BOTH] += wrong[2][unit] / 2
            sums_of_pairs[REPEATS_SQUARED_OF_BOTH] += sums.repeats_squared[unit] / 2
        squared = _residuals_of_units(of_list, fixed, wrong, rate, of_errors)
        _finish(of_list, of_errors, (n, n_errors, squared), variances[order[point]])
