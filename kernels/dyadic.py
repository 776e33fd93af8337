"""Compute by how much two-way product weights overstate the spread of a rate, from sums over pairs of units.

With e_kl the sum over the comparisons of units k and l of (error - rate), T_k = sum_l e_kl, q_k = sum_l e_kl^2 and K_s
units in stratum s, the dyadic-robust variance is

    V = sum_s f_s sum_k [(T_k - mean T)^2 - q_k / 2] / n^2, and never below sum_kl e_kl^2 / n^2.

The factor f_s corrects for the rate being estimated from the same comparisons. With m_kl comparisons of a pair,
m_k of a unit, N = sum_k m_k / 2 and w the share of them inside the stratum, it is

    f_s = 1 / (1 - sum_k (m_k^2 - sum_l m_kl^2 / 2) (1 + w) / (2 N^2)),

which is K (K - 1) / ((K - 2) (K - 3)) for all pairs of K units.
Replicates with product weights have the variance

    sum_s [(K_s - 2) / (K_s - 1) sum_k (T_k - mean T)^2 + K_s / (K_s - 1) sum_k q_k / 2] / n^2.

Weights must be shrunk by the square root of the ratio of the two.
Where no comparison has two units whose weights vary, weights are linear, which overstates nothing, and V is
sum_s K_s / (K_s - 1) sum_k (T_k - mean T)^2 / n^2.

V is the less certain the more of it comes from few units. With K units' contributions c_k = (T_k - mean T)^2 - q_k / 2,
or q_k / 2 where V is the least that it may be, and x errors (or comparisons without, if these are fewer), it has

    2 / (sum c^2 / (sum c)^2 - 1 / K - 1 / (2 x))

degrees of freedom: as many as an estimate of the variance of normal values that varies as much. The last term is what
sum c^2 / (sum c)^2 is for errors of different units. Their number varies with the rate, which log odds allow for.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

ROBUST, PRODUCT, FREEDOM = range(3)
# Columns of sums over the units of a stratum.
_T, _T_SQUARED, _Q, _M, _M_SQUARED, _REPEATS_SQUARED, _INSIDE = range(7)


@jit
def count_pair_errors(pair, start, stop, errors):
    """Count the errors of each distinct pair.

    pair: (n,) int32, the pair of each comparison; start, stop: (lists,) int64, where each list's errors are; errors:
    (pairs,) float64, out
    """
    for p in range(errors.size):
        errors[p] = 0.0
    for k in range(start.size):
        for p in range(start[k], stop[k]):
            errors[pair[p]] += 1


@jit
def errors_of_pairs(keys, pair, wanted):
    """Count the first comparisons up to a possible threshold, from which on they are of `wanted` distinct pairs.

    keys: (n,) int32 or int64, sorted; pair: (n,) int32. Returns n where there are fewer pairs.
    """
    seen = np.empty(wanted, np.int64)
    n_seen = 0
    for p in range(keys.size):
        if n_seen == wanted and keys[p] != keys[p - 1]:
            return p
        new = n_seen < wanted
        for s in range(n_seen):
            new = new and seen[s] != pair[p]
        if new:
            seen[n_seen] = pair[p]
            n_seen += 1
    return keys.size


@jit
def variances(first, second, repeats, end, sums, stratum, stratum_size, found):
    """Compute the dyadic-robust variance of each list's sum, its degrees of freedom, and that of product weights.

    first, second: (pairs,) int32 units of each distinct pair; repeats: (pairs,) int32, at least 1; end: (lists,) int64;
    sums: (pairs,) float64, errors or costs; stratum: (units,) int32; stratum_size: (strata,) int64, 1 where a unit's
    weight never varies; found: (lists, 3) float64, out: the two variances times n^2, and degrees of freedom
    """
    deviation, comparisons, squares = np.zeros(stratum.size), np.zeros(stratum.size), np.zeros(stratum.size)
    of_stratum, mean = np.zeros((stratum_size.size, 7)), np.zeros(stratum_size.size)
    units = np.empty(stratum.size, np.int64)  # of one list
    start = 0
    for k in range(end.size):
        n, total = 0.0, 0.0
        for p in range(start, end[k]):
            n += repeats[p]
            total += sums[p]
        n_errors = total
        rate = total / n if n > 0 else 0.0
        pairs_squared, n_units, two_way = 0.0, 0, False
        for p in range(start, end[k]):
            e = sums[p] - rate * repeats[p]
            r, s = stratum[first[p]], stratum[second[p]]
            both_vary = stratum_size[r] > 1 and stratum_size[s] > 1
            pairs_squared += e * e if both_vary else 0.0
            two_way = two_way or both_vary
            for unit in (first[p], second[p]):
                if comparisons[unit] == 0:
                    units[n_units] = unit
                    n_units += 1
                deviation[unit] += e
                comparisons[unit] += repeats[p]
                of_unit = of_stratum[stratum[unit]]
                of_unit[_INSIDE] += repeats[p] * (r == s)
                if both_vary:
                    squares[unit] += e * e
                    of_unit[_Q] += e * e
                    of_unit[_REPEATS_SQUARED] += np.float64(repeats[p]) ** 2
        for unit in units[:n_units]:
            of_unit = of_stratum[stratum[unit]]
            of_unit[_T] += deviation[unit]
            of_unit[_T_SQUARED] += deviation[unit] ** 2
            of_unit[_M] += comparisons[unit]
            of_unit[_M_SQUARED] += comparisons[unit] ** 2
        robust, product, one_way = 0.0, 0.0, 0.0
        for s in stratum[units[:n_units]]:
            of_one, size = of_stratum[s], np.float64(stratum_size[s])
            if of_one[_M] > 0:  # a stratum counts once
                mean[s] = of_one[_T] / size
            if size > 1 and of_one[_M] > 0:
                spread = of_one[_T_SQUARED] - of_one[_T] ** 2 / size
                one_way += size / (size - 1) * spread
                inside = of_one[_INSIDE] / of_one[_M]
                repeated = of_one[_M_SQUARED] - of_one[_REPEATS_SQUARED] / 2
                left = 1 - repeated * (1 + inside) * 2 / of_one[_M] ** 2
                if left > 0:
                    robust += (spread - of_one[_Q] / 2) / left
                product += (size - 2) / (size - 1) * spread + size / (size - 1) * of_one[_Q] / 2
            for column in range(of_one.size):
                of_one[column] = 0.0  # so that each stratum is added once
        floored = two_way and robust <= pairs_squared * (1 + 1e-9)
        found[k, ROBUST] = max(robust, pairs_squared) if two_way else one_way
        found[k, PRODUCT] = product if two_way else one_way
        n_varying, total, total_squared = 0, 0.0, 0.0
        for unit in units[:n_units]:
            if stratum_size[stratum[unit]] > 1:
                own = squares[unit] / 2
                contribution = own if floored else (deviation[unit] - mean[stratum[unit]]) ** 2 - own
                n_varying += 1
                total += contribution
                total_squared += contribution**2
            deviation[unit], comparisons[unit], squares[unit] = 0.0, 0.0, 0.0
        rarer = min(n_errors, n - n_errors)
        left = total_squared - total**2 * (1 / max(n_varying, 1) + 0.5 / max(rarer, 1.0))
        found[k, FREEDOM] = 2 * total**2 / left if left > 1e-12 * total_squared else np.inf
        start = end[k]
