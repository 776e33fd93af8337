"""The effective sample size of rates with no error or few, whose own errors do not tell the design effect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair.data.class_keys import keys_of, not_kept
from fastfair.data.scanned_comparisons import KeptComparisons

from .comparison_lists import ErrorLists
from .preparation import Preparation

ENOUGH_PAIRS = 5  # of subjects that err, for a variance


def independent_comparisons(prepared: Preparation, mated: bool, k: int, nothing_but_errors: bool = False) -> float:
    """Divide the number of comparisons of a list by the design effect of its error rate.

    A rate without errors has no variance to compute the design effect from. It is that of the rate at the nearest laxer
    threshold at which comparisons of five pairs of subjects, or mated comparisons of five subjects, are errors.

    Parameters
    ----------
    prepared : Preparation
        The comparisons. Their units are subjects.
    mated : bool
        Whether those of the list are mated.
    k : int
        The list, which has comparisons.
    nothing_but_errors : bool
        Whether all comparisons are errors, so that the nearest stricter threshold is meant at which those of five
        pairs, or subjects, are not.

    Returns
    -------
    float
        At least 1, and at most the number of comparisons. Where no threshold has five pairs in error and others that
        are not: the number of subjects, or of pairs of subjects without anybody in common. Where a scan has not kept
        the comparisons of five pairs: 1, so that limits are never narrower than those of all comparisons.
    """
    from fastfair.kernels import dyadic as kernels

    lists = prepared.y if mated else prepared.x
    n, stratum, stratum_size = int(lists.sizes[k]), lists.stratum, lists.stratum_size
    if nothing_but_errors:
        lists = prepared.complete(mated)
    keys, *units = _of_list(lists, k, backwards=nothing_but_errors)
    n_errors = kernels.errors_of_pairs(keys, *units, ENOUGH_PAIRS)
    if n_errors == keys.size < n and not nothing_but_errors:  # more comparisons are needed than are kept
        lists = prepared.complete(mated)
        keys, *units = _of_list(lists, k, backwards=False)
        n_errors = kernels.errors_of_pairs(keys, *units, ENOUGH_PAIRS)
    if keys.size < n and (n_errors == keys.size or nothing_but_errors):
        if isinstance(prepared.comparisons, KeptComparisons) and prepared.comparisons.may_keep_more:
            raise not_kept("the limit of a rate without errors", keys_of(prepared.comparisons))
        return 1.0
    if n_errors == keys.size:
        varying = np.unique(np.concatenate(units))
        n_subjects = int((stratum_size[stratum[varying]] > 1).sum())
        return float(min(n, max(1, n_subjects if mated else n_subjects // 2)))
    variance = float(lists.variance(k, n_errors, from_the_end=nothing_but_errors)[kernels.ROBUST])
    binomial = n_errors * (n - n_errors) / n
    return min(n, max(1.0, n * binomial / variance)) if variance > binomial else float(n)


def _of_list(lists: ErrorLists, k: int, *, backwards: bool) -> list[NDArray[np.integer]]:
    """Return the keys and the rows of both units of the comparisons of a list."""
    columns = (column[lists.start[k] : lists.end[k]] for column in (lists.keys, lists.a, lists.b))
    return [column[::-1].copy() if backwards else column for column in columns]
