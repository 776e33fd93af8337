"""How many independent comparisons would tell as much of a rate without errors as comparisons that share subjects."""

from __future__ import annotations

import numpy as np

from .comparison_lists import ErrorLists

_ENOUGH_PAIRS = 5  # of subjects that err, for a variance


def independent_comparisons(lists: ErrorLists, k: int, nothing_but_errors: bool = False) -> float:
    """Divide the number of comparisons of a list by the design effect of its error rate.

    A rate without errors has no variance to compute the design effect from. It is that of the rate at the nearest laxer
    threshold at which comparisons of five pairs of subjects, or mated comparisons of five subjects, are errors.

    Parameters
    ----------
    lists : ErrorLists
        The mated, or the non-mated, comparisons. Their units are subjects.
    k : int
        The list, which has comparisons.
    nothing_but_errors : bool
        Whether all comparisons are errors, so that the nearest stricter threshold is meant at which those of five
        pairs, or subjects, are not.

    Returns
    -------
    float
        At least 1, and at most the number of comparisons. Where no threshold has five pairs in error and others that
        are not: the number of subjects, or of pairs of subjects without anybody in common.
    """
    from fastfair.kernels import dyadic as kernels

    comparisons = slice(lists.start[k], lists.end[k])
    pairs = lists.pairs
    ends = np.append(0, pairs.end)
    of_list = slice(ends[k], ends[k + 1])
    first, second, repeats = pairs.first[of_list], pairs.second[of_list], pairs.repeats[of_list]
    keys, pair = lists.keys[comparisons], pairs.of_comparison[comparisons] - np.int32(ends[k])
    if nothing_but_errors:
        keys, pair = np.ascontiguousarray(keys[::-1]), pair[::-1].copy()
    n_errors = kernels.errors_of_pairs(keys, pair, _ENOUGH_PAIRS)
    n = keys.size
    if n_errors == n:
        varying = np.concatenate((first, second))
        n_subjects = np.unique(varying[lists.stratum_size[lists.stratum[varying]] > 1]).size
        return float(min(n, max(1, n_subjects if lists.mated else n_subjects // 2)))
    errors = np.bincount(pair[:n_errors], minlength=first.size).astype(np.float64)
    found = np.empty((1, 3))
    end = np.array([first.size])
    kernels.variances(first, second, repeats, end, errors, lists.stratum, lists.stratum_size, found)
    binomial = n_errors * (n - n_errors) / n
    variance = float(found[0, kernels.ROBUST])
    return min(n, max(1.0, n * binomial / variance)) if variance > binomial else float(n)
