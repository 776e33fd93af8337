"""How errors depend on each other as they share subjects: design effects, effective sample sizes,
overdispersion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.arrays import Floats, Integers

if TYPE_CHECKING:
    from .error_lists import ErrorLists

# errors, or people or pairs of people who err: with fewer, no variance is estimated from them
ENOUGH_PAIRS = 5


def share_of(part: Any, whole: Any) -> Floats:
    """Divide, with 0 where there is nothing to divide by."""
    positive = np.asarray(whole) > 0
    return np.where(positive, part / np.where(positive, whole, 1.0), 0.0)


def pooled(part: Any, whole: Any) -> Floats:
    """Divide sums over all groups, which are on the last axis; 0 for what would be negative."""
    return np.maximum(share_of(part.sum(axis=-1), whole.sum(axis=-1)), 0.0)


def repeat_probability(repeated: Any, repeatable: Any) -> Floats:
    """Return the probability that another comparison of two subjects errs where one does.

    With m comparisons of a pair, s of them errors: the sum of s (s - 1) over that of s (m - 1), of
    all groups together, which are on the last axis.
    """
    return pooled(repeated, repeatable)


def overdispersion(
    again: Any, repeated: Any, kappa: Any, rate: Any, sharing: Any, size: Any
) -> Any:
    """Return the variance of a number of false matches over that of as many independent ones.

    Of n = size comparisons with a rate r, where R = sum m (m - 1) is `repeated`, M = sum_k (m_k^2 -
    sum m^2) `sharing`, a `again`, and kappa the relative covariance of errors that share one
    subject: 1 + (a R + kappa r M) / n.
    """
    return 1 + (again * repeated + kappa * rate * sharing) / size


def effective_size(n: float, n_errors: float, variance: float) -> float:
    """Return the effective sample size of n comparisons: n over the design effect of errors with
    such a variance.
    """
    binomial = n_errors * (n - n_errors) / n
    return min(n, max(1.0, n * binomial / variance)) if variance > binomial else float(n)


def typical_attempts(sums: Floats, n: Any, n_errors: Any) -> Floats:
    """Return the typical number of mated comparisons of a subject, and of one who fails if that is
    larger.

    That is the sum of m^2 over the sum of m, or of e m over the sum of e, of subjects with e
    failures of m comparisons; NaN without comparisons. sums: (..., sums) over pairs of units, as
    `kernels.pair_walk` names them.
    """
    from fastfair.kernels import pair_walk

    with np.errstate(invalid="ignore", divide="ignore"):
        of_all = sums[..., pair_walk.REPEATS_SQUARED] / np.where(n, n, np.nan)
        return np.fmax(of_all, sums[..., pair_walk.S_TIMES_M] / n_errors)


@dataclass(frozen=True, eq=False)
class CountModel:
    """The numbers of comparisons and errors of groups, and how errors vary at any rate r.

    The variance is n r (1 + linear) + quadratic r^2 for false matches, n r (1 - r) (1 + linear) for
    false non-matches.

    Attributes
    ----------
    comparisons, errors : (g,) ndarray
        Numbers of comparisons and errors inside each group.
    linear, quadratic : (g,) ndarray
        What comparisons of the same subjects, and those that share one subject, add to the
        variance.
    """

    comparisons: Floats
    errors: Floats
    linear: Floats
    quadratic: Floats

    @property
    def standard_errors(self) -> Floats:
        """(g,) standard errors of the groups' false non-match rates."""
        rate = self.errors / self.comparisons
        return np.sqrt(rate * (1 - rate) * (1 + self.linear) / self.comparisons)

    def take(self, groups: list[int]) -> CountModel:
        """Keep some of the groups."""
        return CountModel(
            *(
                getattr(self, name)[groups]
                for name in ("comparisons", "errors", "linear", "quadratic")
            )
        )


def count_models(lists: ErrorLists, thresholds: Integers, n_groups: int) -> list[CountModel]:
    """Estimate how the numbers of errors of groups vary at some thresholds, from all groups
    together.

    With m comparisons of a pair of subjects, of which x are errors, e = x - r m, and m_k and T_k
    the sums of m and e over the pairs of subject k, the quadratic term of false matches is kappa M
    with M = sum_k (m_k^2 - sum m^2) and kappa = sum (T_k^2 - sum e^2) / sum r^2 M, the sums running
    over all groups. The linear term is (sum m (m - 1) / n) times the chance that another comparison
    of a pair errs where one does. That of false non-matches is (sum m^2 / n - 1) times the
    intra-class correlation of subjects.

    Parameters
    ----------
    lists : ErrorLists
        The mated, or the non-mated, comparisons; list 1 + g is of group g.
    thresholds : (points,) ndarray of int64
        Threshold keys.
    n_groups : int
        Number of groups.

    Returns
    -------
    list of CountModel
    """
    errors = lists.errors_at(thresholds)
    _, sums = lists.variances(errors)
    groups = slice(1, 1 + n_groups)
    n = lists.sizes[groups].astype(np.float64)
    return [
        _count_model(lists.mated, n, of_point[groups].astype(np.float64), sums_of_point[groups].T)
        for of_point, sums_of_point in zip(errors, sums, strict=True)
    ]


def _count_model(mated: bool, n: Floats, errors: Floats, sums: Floats) -> CountModel:
    """Make the model of FNMRs, or FMRs, from (groups,) comparisons and errors, and (sums, groups)
    sums over pairs.
    """
    from fastfair.kernels import pair_walk as kernels

    rate = errors / np.maximum(n, 1)
    repeated = sums[kernels.REPEATS_SQUARED] - n
    if not mated:
        repeated_errors = sums[kernels.S_SQUARED] - errors
        repeatable = sums[kernels.S_TIMES_M] - errors
        sharing = sums[kernels.M_SQUARED] - sums[kernels.REPEATS_SQUARED_OF_ENDS]
        squared = (
            sums[kernels.S_SQUARED_OF_ENDS]
            - 2 * rate * sums[kernels.S_TIMES_M_OF_ENDS]
            + rate**2 * sums[kernels.REPEATS_SQUARED_OF_ENDS]
        )
        kappa = float(pooled(sums[kernels.T_SQUARED] - squared, rate**2 * sharing))
        linear = repeat_probability(repeated_errors, repeatable) * repeated / np.maximum(n, 1)
        return CountModel(n, errors, linear, kappa * sharing)
    squared = (
        sums[kernels.S_SQUARED]
        - 2 * rate * sums[kernels.S_TIMES_M]
        + rate**2 * sums[kernels.REPEATS_SQUARED]
    )
    of_one = squared - errors * (1 - rate) ** 2 - (n - errors) * rate**2
    correlation = min(float(pooled(of_one, rate * (1 - rate) * repeated)), 1.0)
    return CountModel(n, errors, correlation * repeated / np.maximum(n, 1), np.zeros(n.size))
