"""Intervals of the difference, the sum and the ratio of two estimates, from the interval of each: MOVER."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def difference_interval(first: Floats, second: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Compute intervals of the differences of two estimates.

    Parameters
    ----------
    first, second : (3, ...) ndarray
        Estimate, low and high of each.
    correlation : (...) ndarray
        Correlation of the two estimates.

    Returns
    -------
    low, high : (...) ndarray

    References
    ----------
    Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
    Medicine 27 (2008), equation 10.
    """
    down, up = first[0] - first[1], first[2] - first[0]
    other_down, other_up = second[0] - second[1], second[2] - second[0]
    difference = first[0] - second[0]
    below = down**2 + other_up**2 - 2 * correlation * down * other_up
    above = up**2 + other_down**2 - 2 * correlation * up * other_down
    return difference - np.sqrt(np.maximum(below, 0)), difference + np.sqrt(np.maximum(above, 0))


def ratio_interval(first: Floats, second: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Compute intervals of the ratios of two estimates that are not negative.

    Parameters
    ----------
    first, second, correlation
        As in `difference_interval`.

    Returns
    -------
    low, high : (...) ndarray
        `high` is infinite where the second estimate's interval reaches 0.

    References
    ----------
    Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation",
    Statistical Methods in Medical Research 21 (2012), equation 8.
    """
    low = _root(first, second, first[0] - first[1], second[2] - second[0], correlation, upper=False)
    high = _root(first, second, first[2] - first[0], second[0] - second[1], correlation, upper=True)
    return low, high


def sum_interval(first: Floats, second: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Compute intervals of the sums of two estimates.

    Parameters
    ----------
    first, second, correlation
        As in `difference_interval`.

    Returns
    -------
    low, high : (...) ndarray
    """
    return difference_interval(first, -second[[0, 2, 1]], -correlation)


def correlations_of(sets: Floats) -> Floats:
    """Compute the correlations of two quantities' replicates.

    Parameters
    ----------
    sets : (2, n, r) ndarray
        Replicates; those that are NaN in either are left out.

    Returns
    -------
    (n,) ndarray
        0 where those of one do not vary.
    """
    known = ~np.isnan(sets).any(axis=0)
    n = np.maximum(known.sum(axis=1), 1)
    centred = [np.where(known, one - (np.where(known, one, 0).sum(axis=1) / n)[:, None], 0) for one in sets]
    squares = [(one**2).sum(axis=1) for one in centred]
    product, scale = (centred[0] * centred[1]).sum(axis=1), np.sqrt(squares[0] * squares[1])
    return np.asarray(np.divide(product, scale, out=np.zeros(len(n)), where=scale > 0).clip(-1, 1))


def _root(
    first: Floats, second: Floats, reach: Floats, other_reach: Floats, correlation: Floats, *, upper: bool
) -> Floats:
    """Solve (x - R y)^2 = a^2 + R^2 b^2 - 2 rho R a b for R, with the estimates x, y and their reaches a, b."""
    x, y = first[0], second[0]
    square, middle, rest = y**2 - other_reach**2, x * y - correlation * reach * other_reach, x**2 - reach**2
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(middle**2 - square * rest, 0))
        if upper:
            return np.asarray(np.where(square > 1e-12 * y**2, (middle + root) / square, np.inf))
        # The smaller root, written so that nothing cancels; the only positive one where the square is negative.
        return np.asarray(np.maximum(np.where(middle + root > 0, rest / (middle + root), 0.0), 0.0))
