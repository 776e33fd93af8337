"""Fairness measures of any base metric; the docstring of `fastfair.measures` says what measures have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib.arguments import checked

from ._arrays import Floats, average_of, divide, geomean, group_array, max_over_min


@checked
def gini(x: ArrayLike) -> Floats:
    """Compute the Gini coefficient, scaled so that it is 1 where one group has all the errors.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups, not negative.

    Returns
    -------
    (...) ndarray
        ``G / (G - 1) * sum_ij |x_i - x_j| / (2 G^2 mean(x))``, from 0 (fair) to 1; 0 where every x is 0, NaN for one
        group.

    References
    ----------
    Paper 1 (16), paper 2 (7-8), paper 5 A.1; ISO/IEC 19795-10.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.gini([0.0, 0.0, 0.3]))
    1.0
    """
    x = np.sort(group_array("x", x), axis=-1)
    n_groups = x.shape[-1]
    # The gap above the k-th smallest lies between k (G - k) pairs; sums of gaps are exactly 0 where all are equal.
    k = np.arange(1, n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread, total = np.diff(x, axis=-1) @ (k * (n_groups - k)).astype(np.float64), x.sum(axis=-1)
        return np.where(total == 0, 0.0, spread / (total * np.float64(n_groups - 1)))[()]


@checked
def std(x: ArrayLike) -> Floats:
    """Compute the population standard deviation over groups.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups: FMR, FNMR, TMR or EER.

    Returns
    -------
    (...) ndarray
        ``sqrt(mean_g (x_g - mean(x))^2)``, from 0 (fair).

    References
    ----------
    Paper 1 (21) and Table I.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.std([0.25, 0.75]))
    0.25
    """
    with np.errstate(invalid="ignore"):
        return np.std(group_array("x", x), axis=-1)


@checked
def group_to_min_difference(x: ArrayLike) -> Floats:
    """Compute the difference between each group and the best group.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.

    Returns
    -------
    (..., g) ndarray
        ``x_g - min x``, from 0 (fair).

    References
    ----------
    Paper 3, table 1.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_min_difference([0.25, 0.75])
    array([0. , 0.5])
    """
    x = group_array("x", x)
    with np.errstate(invalid="ignore"):
        return np.asarray(x - x.min(axis=-1, keepdims=True))


@checked
def group_to_average_ratio(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute each group's ratio to the average.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled; not the mean of the groups.

    Returns
    -------
    (..., g) ndarray
        ``x_g / average``, 1 where fair.

    References
    ----------
    Paper 3, table 1. Its table 3 shows that the average is that of pooled comparisons (3.218 / 3.657 = 0.880).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_average_ratio([0.25, 0.5], 0.25)
    array([1., 2.])
    """
    x = group_array("x", x)
    return divide(x, average_of("average", average, x))


@checked
def group_to_average_log_ratio(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute the negative natural logarithm of each group's ratio to the average.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled.

    Returns
    -------
    (..., g) ndarray
        ``-ln(x_g / average)``: 0 where fair, below 0 for groups worse than average; +inf for a group without errors.

    References
    ----------
    Paper 3, table 1.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.group_to_average_log_ratio([0.25, 0.5], 0.25).round(3)
    array([-0.   , -0.693])
    """
    with np.errstate(divide="ignore"):
        return -np.log(group_to_average_ratio(x, average))


@checked
def nrb(x: ArrayLike, average: ArrayLike) -> Floats:
    """Compute the Normalised Reliability Bias.

    Parameters
    ----------
    x : (..., g) array_like
        A base metric of g groups.
    average : (...) array_like
        The metric of all comparisons pooled.

    Returns
    -------
    (...) ndarray
        ``mean_g |ln(x_g / average)|``, from 0 (fair) to infinity.

    References
    ----------
    Paper 3 (2).

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.nrb([0.25, 0.5], 0.25)), 4)
    0.3466
    """
    return np.abs(group_to_average_log_ratio(x, average)).mean(axis=-1)


@checked
def max_min_ratio(x: ArrayLike) -> Floats:
    """Compute the ratio of the worst group to the best.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max x / min x``, from 1 (fair) to infinity.

    References
    ----------
    Paper 5 A.1; NIST FRTE part 8.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.max_min_ratio([0.01, 0.04]))
    4.0
    """
    return max_over_min(group_array("x", x))


@checked
def max_geomean_ratio(x: ArrayLike) -> Floats:
    """Compute the ratio of the worst group to the geometric mean.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max x / geomean(x)``, from 1 (fair) to infinity.

    References
    ----------
    Paper 5 A.1; NIST FRTE part 8.

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.max_geomean_ratio([0.01, 0.04])), 12)
    2.0
    """
    x = group_array("x", x)
    return np.maximum(divide(x.max(axis=-1), geomean(x)), 1)  # rounding alone could bring it below


@checked
def log_geomean_sum(x: ArrayLike) -> Floats:
    """Sum the groups' distances from their geometric mean, in powers of ten.

    Parameters
    ----------
    x : (..., g) array_like
        False match or false non-match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``sum_g |log10(x_g / geomean(x))|``, from 0 (fair) to infinity; NaN where a group has no errors (0 / 0).

    References
    ----------
    Paper 5 A.1.

    Examples
    --------
    >>> import fastfair as ff
    >>> round(float(ff.measures.log_geomean_sum([0.001, 0.1])), 12)
    2.0
    """
    x = group_array("x", x)
    with np.errstate(divide="ignore"):
        return np.abs(np.log10(divide(x, geomean(x)[..., np.newaxis]))).sum(axis=-1)
