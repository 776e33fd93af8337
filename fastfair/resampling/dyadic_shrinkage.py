"""The shrinkage of weights that gives the replicates of each rate and metric the dyadic-robust variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .comparison_lists import ErrorLists, shrinkage_of

Floats = NDArray[np.float64]
OfBoth = tuple[Floats, Floats]  # of the mated lists, of the non-mated ones


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Factors by which weights are shrunk towards equal weights; 1 leaves them as they are.

    Attributes
    ----------
    mated, nonmated : (lists, points) ndarray
        Factors for the error rates at each operating point.
    metrics : dict of pairs of (metrics' lists,) ndarray
        For each metric, the factors of the mated and of the non-mated lists.
    freedom : (lists, points) ndarray
        Degrees of freedom of the dyadic-robust variance of each FMR; infinite where it is not computed.
    """

    mated: Floats
    nonmated: Floats
    metrics: dict[str, OfBoth]
    freedom: Floats


def no_shrinkage(y: ErrorLists, x: ErrorLists, n_points: int, metrics: Sequence[str], n_metrics: int) -> Shrinkage:
    """Leave the weights of all mated and non-mated lists as they are.

    Parameters
    ----------
    y, x : ErrorLists
        Mated and non-mated comparisons.
    n_points : int
        Number of operating points.
    metrics : sequence of str
        Names of metrics, which only the first `n_metrics` lists have.
    n_metrics : int
        Number of lists that have metrics.

    Returns
    -------
    Shrinkage
    """
    ones = np.ones(n_metrics)
    return Shrinkage(
        np.ones((y.end.size, n_points)), np.ones((x.end.size, n_points)), dict.fromkeys(metrics, (ones, ones)),
        np.full((x.end.size, n_points), np.inf),
    )  # fmt: skip


def find_shrinkage(
    y: ErrorLists,
    x: ErrorLists,
    thresholds: NDArray[np.int64],
    keys: Mapping[str, NDArray[np.int64]],
    of_costs: Mapping[str, OfBoth],
    n_metrics: int,
) -> Shrinkage:
    """Compute the shrinkage that gives replicates the dyadic-robust variance; see `fastfair.kernels.dyadic`.

    Parameters
    ----------
    y, x : ErrorLists
        Mated and non-mated comparisons.
    thresholds : (points,) ndarray of int64
        Threshold keys of the operating points.
    keys : mapping of (n_metrics,) ndarray of int64
        For each metric that has a threshold, the threshold keys of the lists.
    of_costs : mapping of pairs of (n_metrics,) ndarray
        For each metric that is a mean of costs, the factors of the mated and of the non-mated lists.
    n_metrics : int
        Number of lists that have metrics; they come first.

    Returns
    -------
    Shrinkage
    """
    of_mated, of_nonmated = _of_rates(y, thresholds, keys, n_metrics), _of_rates(x, thresholds, keys, n_metrics)
    metrics = {name: (of_mated.metrics[name], of_nonmated.metrics[name]) for name in keys}
    return Shrinkage(of_mated.points, of_nonmated.points, {**metrics, **of_costs}, of_nonmated.freedom)


class _OfRates(NamedTuple):
    """Shrinkage and degrees of freedom of one class, (lists, points), and shrinkage of metrics by name."""

    points: Floats
    freedom: Floats
    metrics: dict[str, Floats]


def _of_rates(
    lists: ErrorLists, thresholds: NDArray[np.int64], keys: Mapping[str, NDArray[np.int64]], n_metrics: int
) -> _OfRates:
    n_points = thresholds.size
    errors = np.zeros((n_points + len(keys), lists.end.size), np.int64)
    errors[:n_points] = lists.count_errors(np.repeat(thresholds[:, None], lists.end.size, axis=1))
    for row, found in enumerate(keys.values(), n_points):
        errors[row, :n_metrics] = lists.count_errors(found)
    shrinkage, freedom = _shrinkage_and_freedom(lists, errors)
    of_metrics = {name: shrinkage[row, :n_metrics] for row, name in enumerate(keys, n_points)}
    return _OfRates(shrinkage[:n_points].T.copy(), freedom[:n_points].T.copy(), of_metrics)


def _shrinkage_and_freedom(lists: ErrorLists, errors: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Compute shrinkage and degrees of freedom for so many errors: both (points, lists), as `errors`."""
    from fastfair.kernels import dyadic as kernels

    if not lists.two_way:
        return np.ones(errors.shape), np.full(errors.shape, np.inf)
    variances, _ = lists.variances(errors)
    return shrinkage_of(variances), variances[..., kernels.FREEDOM]
