"""How errors depend on each other as they share subjects: design effects, effective sample sizes,
overdispersion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastfair._lib.arrays import Floats, Integers

if TYPE_CHECKING:
    from .error_lists import ErrorLists

# errors, or people or pairs of people who err: with fewer, no variance is estimated from them
ENOUGH_PAIRS = 5
_ROUNDING = 1e-12  # of a variance, relative to its parts
# standard deviations that one more session is above the mean, by whether comparisons are mated
_OF_BAD_SESSION = {True: 3.0, False: 5.0}
# times as many attempts as is typical, from which on those who fail try again; chance makes it 1.2
# of numbers between 1 and 20, and trying until success 1.9 to 3.7
_TRY_AGAIN = 1.5


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


def two_way_variance(people: Any, sessions: Any, cells: Any) -> Any:
    """Return the variance of a sum whose parts depend on each other if they share a person or a
    session.

    It is that over what shares a person, plus that over what shares a session, minus that over what
    shares both, a cell (Cameron, Gelbach and Miller 2011); and never below that of people alone. So
    sessions of a person's own, which are cells, change nothing, not even by rounding.
    """
    more = np.asarray(sessions - cells)
    return people + np.where(more > _ROUNDING * sessions, more, 0.0)


def two_way_freedom(people: Any, n_sessions: Any) -> Any:
    """Return the degrees of freedom of a two-way variance: those of people, and at most one fewer
    than there are sessions; at least 1.
    """
    return np.minimum(people, np.maximum(np.asarray(n_sessions) - 1.0, 1.0))


def one_more_session(added: Any, n: Any, n_sessions: Any, mated: bool) -> Any:
    """Return by how much one more session raises a rate of n comparisons, a bad one.

    Few sessions may miss the worst. Its rate is so many standard deviations between sessions above
    the mean, more for false matches, which are rarer and so more skewed.

    added: the variance that sessions add to the number of errors.
    """
    times = _OF_BAD_SESSION[mated]
    error = np.sqrt(np.maximum(added, 0.0)) / np.maximum(n, 1)
    return times * error * np.sqrt(n_sessions) / (np.asarray(n_sessions) + 1)


class AddedSubject(NamedTuple):
    """One more subject, for upper limits of rates of failure: how many attempts it makes, and how
    many of them fail; (...) arrays, or numbers.
    """

    attempts: Any
    failures: Any


class AttemptSums(NamedTuple):
    """Sums over subjects with e failures of m attempts, (...) arrays: of m, e, m^2, e m and e^2."""

    attempts: Any
    failures: Any
    squared_attempts: Any
    failures_times_attempts: Any
    squared_failures: Any

    @classmethod
    def of_pairs(cls, sums: Floats, n: Any, n_errors: Any) -> Self:
        """Take them from (..., sums) over pairs of units, as `kernels.pair_walk` names them."""
        from fastfair.kernels import pair_walk

        places = pair_walk.REPEATS_SQUARED, pair_walk.S_TIMES_M, pair_walk.S_SQUARED
        return cls(n, n_errors, *(sums[..., place] for place in places))

    @property
    def typical_attempts(self) -> Floats:
        """Attempts of the subject behind an attempt, on average; NaN without attempts."""
        return self._over(self.squared_attempts, self.attempts)

    @property
    def attempts_of_failing(self) -> Floats:
        """Attempts of the subject behind a failure, on average; NaN without failures."""
        return self._over(self.failures_times_attempts, self.failures)

    @property
    def failures_of_failing(self) -> Floats:
        """Failures of the subject behind a failure, on average; NaN without failures."""
        return self._over(self.squared_failures, self.failures)

    @staticmethod
    def _over(total: Any, number: Any) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / np.where(number, number, np.nan))


def typical_subject(sums: AttemptSums, of_all: AttemptSums) -> AddedSubject:
    """Return a subject as those of the data are, half of whose attempts fail.

    It has as many attempts as are typical, of subjects or of those who fail if that is larger.
    Where those who fail try far more often, as when people try until they succeed, a group may have
    drawn none of them: then it has at least the attempts and the failures that are typical of those
    who fail among all subjects.

    sums: of each rate, (...); of_all: of the subjects of all groups, an array that broadcasts.
    """
    attempts = np.fmax(sums.typical_attempts, sums.attempts_of_failing)
    try_again = of_all.attempts_of_failing > _TRY_AGAIN * of_all.typical_attempts
    attempts = np.where(try_again, np.fmax(attempts, of_all.attempts_of_failing), attempts)
    of_failing = np.fmax(sums.failures_of_failing, of_all.failures_of_failing)
    half = attempts / 2
    return AddedSubject(attempts, np.where(try_again, np.fmax(half, of_failing), half))


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
