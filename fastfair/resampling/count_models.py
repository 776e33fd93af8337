"""How numbers of errors of groups vary: more than those of independent comparisons, as errors share subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .comparison_lists import ErrorLists

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CountModel:
    """The numbers of comparisons and errors of groups, and how errors vary at any rate r.

    The variance is n r (1 + linear) + quadratic r^2 for false matches, n r (1 - r) (1 + linear) for false non-matches.

    Attributes
    ----------
    comparisons, errors : (g,) ndarray
        Numbers of comparisons and errors inside each group.
    linear, quadratic : (g,) ndarray
        What comparisons of the same subjects, and those that share one subject, add to the variance.
    """

    comparisons: Floats
    errors: Floats
    linear: Floats
    quadratic: Floats

    def take(self, groups: list[int]) -> CountModel:
        """Keep some of the groups."""
        return CountModel(*(getattr(self, name)[groups] for name in ("comparisons", "errors", "linear", "quadratic")))


def count_model(lists: ErrorLists, errors: NDArray[np.int64], n_groups: int) -> CountModel:
    """Estimate how the numbers of errors of groups vary, from all groups together.

    With m comparisons of a pair of subjects, of which x are errors, e = x - r m, and m_k and T_k the sums of m and e
    over the pairs of subject k, the quadratic term of false matches is kappa M with M = sum_k (m_k^2 - sum m^2) and
    kappa = sum (T_k^2 - sum e^2) / sum r^2 M, the sums running over all groups. The linear term is
    (sum m (m - 1) / n) times the chance that another comparison of a pair errs where one does. That of false
    non-matches is (sum m^2 / n - 1) times the intra-class correlation of subjects.

    Parameters
    ----------
    lists : ErrorLists
        The mated, or the non-mated, comparisons; list 1 + g is of group g.
    errors : (lists,) ndarray of int
        The number of errors in each list.
    n_groups : int
        Number of groups.

    Returns
    -------
    CountModel
    """
    from fastfair.kernels import dyadic as kernels

    pairs = lists.pairs
    counts = np.empty(pairs.first.size)
    kernels.count_pair_errors(pairs.of_comparison, lists.start, lists.start + errors, counts)
    ends = np.append(0, pairs.end)
    varies = lists.stratum_size[lists.stratum] > 1
    n_errors, n = errors[1 : 1 + n_groups].astype(np.float64), lists.sizes[1 : 1 + n_groups].astype(np.float64)
    # Of each group: the covariance and what it is relative to, of one subject, and of the same pair or attempts.
    shared, share, again, repeats, repeated = np.zeros((5, n_groups))
    of_one, over = np.zeros((2, n_groups))
    for g in range(n_groups):
        of_list = slice(ends[1 + g], ends[2 + g])
        m, x = pairs.repeats[of_list].astype(np.float64), counts[of_list]
        rate = n_errors[g] / n[g] if n[g] else 0.0
        e = x - rate * m
        repeated[g] = (m * (m - 1)).sum()
        if lists.mated:
            of_one[g] = (e**2 - x * (1 - rate) ** 2 - (m - x) * rate**2).sum()
            over[g] = rate * (1 - rate) * repeated[g]
            continue
        again[g], repeats[g] = (x * (x - 1)).sum(), (x * (m - 1)).sum()
        sums = np.zeros((2, lists.stratum.size))
        for subject in (pairs.first[of_list], pairs.second[of_list]):
            own = varies[subject]
            for total, values in zip(sums, (e, m), strict=True):
                total += np.bincount(subject, np.where(own, values, 0.0), total.size)
            shared[g] -= (e[own] ** 2).sum()
            share[g] -= (m[own] ** 2).sum()
        shared[g] += (sums[0] ** 2).sum()
        share[g] += (sums[1] ** 2).sum()
        of_one[g], over[g] = shared[g], rate**2 * share[g]
    whole = over.sum()
    relative = max(0.0, of_one.sum() / whole) if whole > 0 else 0.0
    if lists.mated:
        linear, quadratic = min(relative, 1.0) * repeated / np.maximum(n, 1), np.zeros(n_groups)
    else:
        chance = again.sum() / repeats.sum() if repeats.sum() > 0 else 0.0
        linear, quadratic = chance * repeated / np.maximum(n, 1), relative * share
    return CountModel(n, n_errors, linear, quadratic)
