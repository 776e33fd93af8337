"""How the error rates of two sets of comparisons go together where subjects are in both.

What subject k adds to a rate of comparisons, A_k, is the sum over its comparisons of (error - rate) / n; a_kl is the
same for the comparisons of the pair k, l. Subjects of both sets are drawn together, so the covariance of two rates is
sum_k A_k B_k - sum_kl a_kl b_kl over the subjects, and the pairs of non-mated comparisons, of both. Each such pair is
in two of the A_k, and so counts once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Added:
    """What subjects, and pairs of them, add to a rate or to a difference of rates.

    Attributes
    ----------
    of_subjects : (k,) ndarray
        Sums over the comparisons of each subject.
    codes, of_pairs : (p,) ndarray
        The pairs of subjects of non-mated comparisons as lower * k + higher, ascending, and the sum over each.
    """

    of_subjects: Floats
    codes: Integers
    of_pairs: Floats

    def minus(self, other: Added) -> Added:
        """Return what is added to the difference of two rates, of which one at most is of non-mated comparisons."""
        of_pairs = self if self.codes.size else other
        sign = 1.0 if self.codes.size else -1.0
        return Added(self.of_subjects - other.of_subjects, of_pairs.codes, sign * of_pairs.of_pairs)


def added(
    comparisons: Comparisons, numbers: Integers, n_subjects: int, key: int, *, mated: bool, group: int | None
) -> Added:
    """Sum what subjects add to an error rate at a threshold.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects.
    numbers : (subjects,) ndarray of int64
        A number for each subject, the same in both sets.
    n_subjects : int
        How many numbers there are.
    key : int
        The threshold's key.
    mated : bool
        Whether the rate is the FNMR.
    group : int, optional
        The group of references and probes; all comparisons by default.

    Returns
    -------
    Added
    """
    side = comparisons.mated if mated else comparisons.nonmated
    assert side.reference is not None
    assert side.probe is not None
    below = score_keys.count_below(side.keys, key)
    wrong = (np.arange(side.keys.size) < below) == mated
    inside: NDArray[np.bool_] | slice = slice(None)
    if group is not None:
        by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
        inside = (by_group.reference_group == group) & (by_group.probe_group == group)
    first, second = numbers[side.reference[inside]], numbers[side.probe[inside]]
    errors = wrong[inside]
    values = (errors - errors.mean()) / errors.size if errors.size else np.zeros(0)
    apart = first != second
    sums: Floats = np.bincount(first, weights=values, minlength=n_subjects).astype(np.float64)
    sums += np.bincount(second[apart], weights=values[apart], minlength=n_subjects)
    if mated:
        return Added(sums, np.zeros(0, np.int64), np.zeros(0))
    codes, where = np.unique(np.minimum(first, second) * n_subjects + np.maximum(first, second), return_inverse=True)
    return Added(sums, codes, np.bincount(where, weights=values, minlength=codes.size).astype(np.float64))


def correlation(one: Added, other: Added) -> float:
    """Return the correlation of two rates; 0 where one of them does not vary.

    What subjects have in several pairs adds to the variance of an FMR; where it is estimated to be negative it counts
    as none, and between two rates of non-mated comparisons for no more than it does in their variances.
    """
    (pairs, several), *own = (_parts(*both) for both in ((one, other), (one, one), (other, other)))
    in_several = [max(0.0, each) for _, each in own]
    if one.codes.size and other.codes.size:
        most = math.sqrt(in_several[0] * in_several[1])
        several = min(max(several, -most), most)
    variances = [of_pairs + each for (of_pairs, _), each in zip(own, in_several, strict=True)]
    scale = math.sqrt(variances[0] * variances[1])
    return min(max((pairs + several) / scale, -1.0), 1.0) if scale > 0 else 0.0


def _parts(one: Added, other: Added) -> tuple[float, float]:
    """Return the sum over pairs, and what subjects have in several pairs, of a covariance."""
    _, here, there = np.intersect1d(one.codes, other.codes, assume_unique=True, return_indices=True)
    of_pairs = float(one.of_pairs[here] @ other.of_pairs[there])
    return of_pairs, float(one.of_subjects @ other.of_subjects) - 2 * of_pairs


def numbered(first: Comparisons, second: Comparisons) -> tuple[Integers, Integers, int, int]:
    """Number the subjects of two sets so that those of both have the same number.

    Returns
    -------
    of_first, of_second : (subjects,) ndarray of int64
        The numbers.
    n : int
        How many there are.
    n_shared : int
        How many subjects are in both.
    """
    assert first.subjects is not None
    assert second.subjects is not None
    n = first.subjects.size
    known = {who: k for k, who in enumerate(first.subjects.tolist())}
    others = second.subjects.tolist()
    of_second = np.array([known.get(who, n + k) for k, who in enumerate(others)], np.int64)
    return np.arange(n), of_second, n + len(others), int(np.count_nonzero(of_second < n))
