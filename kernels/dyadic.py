"""Compute by how much two-way product weights overstate the spread of a rate, from sums over pairs
of units.

With e_kl the sum over the comparisons of units k and l of (error - rate), T_k = sum_l e_kl, q_k =
sum_l e_kl^2 and K_s units in stratum s, the dyadic-robust variance is

    V = sum_s f_s sum_k [(T_k - mean T)^2 - q_k / 2] / n^2, and never below sum_kl e_kl^2 / n^2.

The factor f_s corrects for the rate being estimated from the same comparisons. With m_kl
comparisons of a pair, m_k of a unit, N = sum_k m_k / 2 and w the share of them inside the stratum,
it is

    f_s = 1 / (1 - sum_k (m_k^2 - sum_l m_kl^2 / 2) (1 + w) / (2 N^2)),

which is K (K - 1) / ((K - 2) (K - 3)) for all pairs of K units.
Replicates with product weights have the variance

    sum_s [(K_s - 2) / (K_s - 1) sum_k (T_k - mean T)^2 + K_s / (K_s - 1) sum_k q_k / 2] / n^2.

Weights must be shrunk by the square root of the ratio of the two. Where no comparison has two units
whose weights vary, weights are linear, which overstates nothing: V is sum_s K_s / (K_s - 1) sum_k
(T_k - mean T)^2 / n^2, and replicates have the same without K_s / (K_s - 1).

V is the less certain the more of it comes from few units. With K units' contributions c_k = (T_k -
mean T)^2 - q_k / 2, or q_k / 2 where V is the least that it may be, and x errors (or comparisons
without, if these are fewer), it has

    2 / (sum c^2 / (sum c)^2 - 1 / K - 1 / (2 x))

degrees of freedom: as many as an estimate of the variance of normal values that varies as much. The
last term is what sum c^2 / (sum c)^2 is for errors of different units. Their number varies with the
rate, which log odds allow for.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit, jit_if_large

ROBUST, PRODUCT, FREEDOM = range(3)
# Columns of sums over the units of a stratum, of errors and of comparisons.
_T, _T_SQUARED, _Q = range(3)
_M, _M_SQUARED, _REPEATS_SQUARED, _INSIDE = range(4)
_ROUNDING = 1e-14  # of a sum of squares, relative to its parts


@jit_if_large
def errors_of_pairs(keys, a, b, wanted):
    """Count the first comparisons up to a possible threshold, from which on they are of `wanted`
    distinct pairs.

    keys: (n,) int32 or int64, sorted; a, b: (n,) int32, the two units. Returns n where there are
    fewer pairs.
    """
    seen = np.empty((wanted, 2), np.int64)
    n_seen = 0
    for p in range(keys.size):
        if n_seen == wanted and keys[p] != keys[p - 1]:
            return p
        low, high = min(a[p], b[p]), max(a[p], b[p])
        new = n_seen < wanted
        for s in range(n_seen):
            new = new and not (seen[s, 0] == low and seen[s, 1] == high)
        if new:
            seen[n_seen, 0], seen[n_seen, 1] = low, high
            n_seen += 1
    return keys.size


@helper
def _describe_list(units, stratum, stratum_size, of_comparisons, two_way):
    """Return what `_finish` takes of a list: all that is given, and the strata of its units, each
    once, in the order in which they first occur.
    """
    n_strata = stratum_size.size
    seen, strata, n = np.zeros(n_strata, np.bool_), np.empty(n_strata, np.int64), 0
    for unit in units:
        s = stratum[unit]
        if not seen[s]:
            seen[s] = True
            strata[n] = s
            n += 1
    return units, strata[:n], stratum, stratum_size, of_comparisons, two_way


@helper
def _no_errors(stratum, stratum_size):
    """Return zeros for what `_finish` takes of errors. Both as in `variances`."""
    n_units = stratum.size
    return np.zeros(n_units), np.zeros(n_units), np.zeros((stratum_size.size, 3))


@helper
def _finish(of_list, of_errors, totals, variances_of_list):
    """Compute the two variances and the degrees of freedom of a list from sums over its units, and
    clear these sums.

    of_list: the list's units, (units,) int64, their strata, each once, the stratum of all units,
    the number of units in all strata, (strata, 4) float64 sums of comparisons, and whether any pair
    has two units whose weights vary; of_errors: of all units the sums of residuals T and of squared
    residuals of pairs q, and (strata, 3) float64, of which the last column is filled in; totals:
    the numbers of comparisons and of errors, and the sum of squared residuals of pairs;
    variances_of_list: (3,) float64, out
    """
    units, strata, stratum, stratum_size, of_comparisons, two_way = of_list
    deviation, squares, of_stratum = of_errors
    n, n_errors, pairs_squared = totals
    for unit in units:
        of_unit = of_stratum[stratum[unit]]
        of_unit[_T] += deviation[unit]
        of_unit[_T_SQUARED] += deviation[unit] ** 2
    robust, product, one_way, linear = 0.0, 0.0, 0.0, 0.0
    mean = np.zeros(stratum_size.size)
    for s in strata:
        of_one, fixed, size = of_stratum[s], of_comparisons[s], np.float64(stratum_size[s])
        mean[s] = of_one[_T] / size
        if size > 1 and fixed[_M] > 0:
            spread = of_one[_T_SQUARED] - of_one[_T] ** 2 / size
            one_way += size / (size - 1) * spread
            linear += spread
            inside = fixed[_INSIDE] / fixed[_M]
            repeated = fixed[_M_SQUARED] - fixed[_REPEATS_SQUARED] / 2
            left = 1 - repeated * (1 + inside) * 2 / fixed[_M] ** 2
            if left > 0:
                robust += (spread - of_one[_Q] / 2) / left
            product += (size - 2) / (size - 1) * spread + size / (size - 1) * of_one[_Q] / 2
        for column in range(of_one.size):
            of_one[column] = 0.0
    floored = two_way and robust <= pairs_squared * (1 + 1e-9)
    variances_of_list[ROBUST] = max(robust, pairs_squared) if two_way else one_way
    variances_of_list[PRODUCT] = product if two_way else linear
    n_varying, total, total_squared = 0, 0.0, 0.0
    for unit in units:
        if stratum_size[stratum[unit]] > 1:
            squares_of_unit = squares[unit] / 2
            contribution = (
                squares_of_unit
                if floored
                else (deviation[unit] - mean[stratum[unit]]) ** 2 - squares_of_unit
            )
            n_varying += 1
            total += contribution
            total_squared += contribution**2
        deviation[unit], squares[unit] = 0.0, 0.0
    rarer = min(n_errors, n - n_errors)
    left = total_squared - total**2 * (1 / max(n_varying, 1) + 0.5 / max(rarer, 1.0))
    variances_of_list[FREEDOM] = 2 * total**2 / left if left > 1e-12 * total_squared else np.inf


@helper
def _list_of_pairs(first, second, repeats, stratum, stratum_size):
    """Return what `_finish` takes of a list whose distinct pairs are given, and the number of its
    comparisons.
    """
    n_strata = stratum_size.size
    units, comparisons, repeats_squared = (
        np.empty(stratum.size, np.int64),
        np.zeros(stratum.size),
        np.zeros(stratum.size),
    )
    of_comparisons = np.zeros((n_strata, 4))
    n, n_units, two_way = 0.0, 0, False
    for p in range(first.size):
        i, j, m = first[p], second[p], np.float64(repeats[p])
        r, s = stratum[i], stratum[j]
        n += m
        for unit in (i, j):
            if comparisons[unit] == 0:
                units[n_units] = unit
                n_units += 1
            comparisons[unit] += m
        if r == s:
            of_comparisons[r, _INSIDE] += 2 * m
        if stratum_size[r] > 1 and stratum_size[s] > 1:
            two_way = True
            repeats_squared[i] += m**2
            repeats_squared[j] += m**2
    units = units[:n_units]
    for unit in units:
        of_comparisons[stratum[unit], _M] += comparisons[unit]
        of_comparisons[stratum[unit], _M_SQUARED] += comparisons[unit] ** 2
        of_comparisons[stratum[unit], _REPEATS_SQUARED] += repeats_squared[unit]
    of_list = _describe_list(units, stratum, stratum_size, of_comparisons, two_way)
    return of_list, n


@helper
def _add_residuals(first, second, repeats, sums, rate, varies, stratum, of_errors):
    """Add the residuals of a list's pairs to what `_finish` takes of errors, and return the sum of
    their squares.

    sums: (pairs,) float64; varies: (units,) bool, whether a unit's weight varies; others as in
    `variances`
    """
    deviation, squares, of_stratum = of_errors
    pairs_squared, p = 0.0, 0
    while p < first.size:
        # Pairs are sorted by their first unit, whose sums registers hold meanwhile.
        i = first[p]
        r, i_varies = stratum[i], varies[i]
        own_deviation, own_squares, own_stratum = deviation[i], squares[i], of_stratum[r, _Q]
        while p < first.size and first[p] == i:
            j = second[p]
            e = sums[p] - rate * repeats[p]
            own_deviation += e
            deviation[j] += e
            if i_varies and varies[j]:
                squared, s = e * e, stratum[j]
                pairs_squared += squared
                own_squares += squared
                squares[j] += squared
                own_stratum += squared
                if r == s:
                    own_stratum += squared
                else:
                    of_stratum[s, _Q] += squared
            p += 1
        deviation[i], squares[i], of_stratum[r, _Q] = own_deviation, own_squares, own_stratum
    return pairs_squared


@jit_if_large
def variances(first, second, repeats, end, sums, stratum, stratum_size, out):
    """Compute the dyadic-robust variance of each list's sum, its degrees of freedom, and that of
    product weights.

    first, second: (pairs,) int32 units of each distinct pair, sorted in each list, the second never
    the same; repeats: (pairs,) int32, at least 1; end: (lists,) int64; sums: (pairs,) float64,
    errors or costs; stratum: (units,) int32; stratum_size: (strata,) int64, 1 where a unit's weight
    never varies; out: (lists, 3) float64, out, the two variances times n^2, and degrees of freedom
    """
    of_errors, varies = _no_errors(stratum, stratum_size), stratum_size[stratum] > 1
    start = 0
    for k in range(end.size):
        pairs = first[start : end[k]], second[start : end[k]], repeats[start : end[k]]
        of_list, n = _list_of_pairs(*pairs, stratum, stratum_size)
        sums_of_list = sums[start : end[k]]
        total = 0.0
        for p in range(sums_of_list.size):
            total += sums_of_list[p]
        rate = total / n if n > 0 else 0.0
        squared = _add_residuals(*pairs, sums_of_list, rate, varies, stratum, of_errors)
        _finish(of_list, of_errors, (n, total, squared), out[k])
        start = end[k]


@helper
def _residuals_of_units(of_list, fixed, wrong, rate, of_errors):
    """Write the residuals of a list's units to what `_finish` takes of errors, and return the sum
    over its pairs.

    of_list: as in `_finish`; fixed: of each unit the number of its comparisons, and the sum of
    squared repeats of its pairs, (units,) float64; wrong: of each unit the number of its errors,
    and the sums over its pairs of squared errors, and of errors times comparisons, (units,)
    float64; of_errors: as in `_finish`
    """
    units, stratum = of_list[0], of_list[2]
    comparisons, repeats_squared = fixed
    n_wrong, wrong_squared, wrong_times = wrong
    deviation, squares, of_stratum = of_errors
    pairs_squared = 0.0
    for unit in units:
        deviation[unit] = n_wrong[unit] - rate * comparisons[unit]
        apart = wrong_squared[unit] + rate**2 * repeats_squared[unit]
        left = apart - 2 * rate * wrong_times[unit]
        squares[unit] = left if left > _ROUNDING * apart else 0.0
        of_stratum[stratum[unit], _Q] += squares[unit]
        pairs_squared += squares[unit] / 2
    return pairs_squared


@helper
def _weight(scale, i, j):
    """Return the weight of an error of two units; see `variances_of_all_pairs`."""
    if len(scale) == 0:
        return 1.0
    return scale[0][i] * scale[1][j]


@helper
def _list_of_all_pairs(sizes, stratum, stratum_size):
    """Return what `_finish` takes of a list that holds all pairs of its units, and what its
    residuals need.

    sizes, stratum, stratum_size: as in `variances_of_all_pairs`. Also returns the number of
    comparisons of each unit and the sum of their squares over its pairs, (units,) float64 each, and
    the number of all comparisons
    """
    references, probes = sizes
    n_units, n_strata = references.size, stratum_size.size
    n_inside, totals, squared_totals = 0, np.zeros(2), np.zeros(3)
    of_inside, units = np.zeros((2, n_strata)), np.empty(n_units, np.int64)
    for unit in range(n_units):
        r, q = references[unit], probes[unit]
        if r + q > 0:
            units[n_inside] = unit
            n_inside += 1
            totals[0] += r
            totals[1] += q
            of_inside[0, stratum[unit]] += r
            of_inside[1, stratum[unit]] += q
            if stratum_size[stratum[unit]] > 1:
                squared_totals[0] += r * r
                squared_totals[1] += q * q
                squared_totals[2] += r * q
    units = units[:n_inside]
    n, n_varying = 0.0, 0
    of_unit, repeats_squared = np.zeros(n_units), np.zeros(n_units)
    for unit in units:
        r, q = references[unit], probes[unit]
        of_unit[unit] = r * (totals[1] - q) + q * (totals[0] - r)
        n += of_unit[unit] / 2
        if stratum_size[stratum[unit]] > 1:
            n_varying += 1
            repeats_squared[unit] = (
                r * r * (squared_totals[1] - q * q)
                + q * q * (squared_totals[0] - r * r)
                + 2 * r * q * (squared_totals[2] - r * q)
            )
    of_comparisons = np.zeros((n_strata, 4))
    for unit in units:
        fixed = of_comparisons[stratum[unit]]
        fixed[_M] += of_unit[unit]
        fixed[_M_SQUARED] += of_unit[unit] ** 2
        r, q = references[unit], probes[unit]
        fixed[_INSIDE] += r * (of_inside[1, stratum[unit]] - q) + q * (
            of_inside[0, stratum[unit]] - r
        )
        fixed[_REPEATS_SQUARED] += repeats_squared[unit]
    of_list = _describe_list(units, stratum, stratum_size, of_comparisons, n_varying > 1)
    return of_list, (of_unit, repeats_squared), n


@jit
def variances_of_all_pairs(errors, stops, sizes, stratum, stratum_size, out):
    """Compute what `variances` does for a list that holds all pairs of its units, at several
    thresholds.

    errors: the errors at the last threshold, those of lower ones first: (n,) int32 first and second
    unit, (n,) int32 distinct pair, and () or two (units,) float64 whose values multiply to the
    weight of an error; stops: (points,) int64, ascending, the number of errors at each threshold;
    sizes: (units,) float64 of references and of probes, 0 for units that are not in the list: all
    comparisons of units i and j weigh references[i] * probes[j] + references[j] * probes[i];
    stratum, stratum_size: as in `variances`; out: (points, 3) float64, out
    """
    first, second, pair, scale = errors
    references, probes = sizes
    n_units = references.size
    of_list, of_units, n = _list_of_all_pairs(sizes, stratum, stratum_size)
    n_pairs = 0
    for p in range(pair.size):
        n_pairs = max(n_pairs, pair[p] + 1)
    of_pair = np.zeros(n_pairs)
    wrong = n_wrong, wrong_squared, wrong_times = (
        np.zeros(n_units),
        np.zeros(n_units),
        np.zeros(n_units),
    )
    of_errors = _no_errors(stratum, stratum_size)
    n_errors, position = 0.0, 0
    for point in range(stops.size):
        for p in range(position, stops[point]):
            i, j = first[p], second[p]
            weight = _weight(scale, i, j)
            n_errors += weight
            n_wrong[i] += weight
            n_wrong[j] += weight
            if stratum_size[stratum[i]] > 1 and stratum_size[stratum[j]] > 1:
                added = weight * (2 * of_pair[pair[p]] + weight)
                of_pair[pair[p]] += weight
                times = weight * (references[i] * probes[j] + references[j] * probes[i])
                for unit in (i, j):
                    wrong_squared[unit] += added
                    wrong_times[unit] += times
        position = max(position, stops[point])
        rate = n_errors / n if n > 0 else 0.0
        squared = _residuals_of_units(of_list, of_units, wrong, rate, of_errors)
        _finish(of_list, of_errors, (n, n_errors, squared), out[point])


@jit
def variances_of_counts(wrong, sizes, stratum, stratum_size, out):
    """Compute what `variances_of_all_pairs` does from sums over the errors of each unit.

    wrong: (points, 3, units) float64, as `unit_errors.add_errors` finds them; others as in
    `variances_of_all_pairs`
    """
    of_list, of_units, n = _list_of_all_pairs(sizes, stratum, stratum_size)
    of_errors = _no_errors(stratum, stratum_size)
    for point in range(wrong.shape[0]):
        of_point, n_errors = wrong[point], 0.0
        for unit in of_list[0]:
            n_errors += of_point[0, unit] / 2
        rate = n_errors / n if n > 0 else 0.0
        sums = of_point[0], of_point[1], of_point[2]
        squared = _residuals_of_units(of_list, of_units, sums, rate, of_errors)
        _finish(of_list, of_errors, (n, n_errors, squared), out[point])
