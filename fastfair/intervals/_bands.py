"""Bands that hold whole curves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import Array, checked
from fastfair.errors import InputError

from ._checks import level, replicates_of
from ._replicates import confidence_interval

Floats = NDArray[np.float64]


@checked
def simultaneous_band(replicates: Array, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
    """Compute a band that holds whole curves at a confidence level, by widening pointwise percentile intervals.

    Parameters
    ----------
    replicates : (points, r) ndarray
        A curve in each of r replicates, finite.
    confidence_level : float, default 0.95
        Share of replicates whose whole curve lies in the band.

    Returns
    -------
    low, high : (points,) ndarray

    Raises
    ------
    InputError
        For replicates that are NaN.

    Notes
    -----
    This is the quantile form of the sup-t band [1]_: the tail share is the same at all points, and is chosen so that
    the band holds `confidence_level` of the replicate curves. It needs no standard errors, and a band of rates stays
    within [0, 1].

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from fastfair.intervals import simultaneous_band
    >>> curves = np.random.default_rng(0).normal(size=(20, 2000))
    >>> low, high = simultaneous_band(curves)
    >>> inside = ((curves >= low[:, None]) & (curves <= high[:, None])).all(axis=0)
    >>> bool(inside.mean() >= 0.95)
    True
    """
    wanted = level(confidence_level)
    curves = replicates_of("replicates", replicates)
    if curves.ndim != 2 or not len(curves):
        raise InputError(
            f"replicates must have an axis of points and one of replicates, but its shape is {curves.shape}"
        )
    n = curves.shape[-1]
    missing = np.isnan(curves).any(axis=0).sum()
    if missing:
        raise InputError(
            f"replicates hold NaN in {missing} of {n} curves: keep those that are known at all points, as in "
            "replicates[:, ~np.isnan(replicates).any(axis=0)]"
        )
    depth = depths(curves)
    of_curve = np.sort(depth.min(axis=0))[::-1]
    least = of_curve[min(n, int(np.ceil(wanted * n - 1e-9))) - 1]
    inside = depth >= least
    low, high = np.where(inside, curves, np.inf).min(axis=-1), np.where(inside, curves, -np.inf).max(axis=-1)
    # At one point the curves kept may all lie on one side; a band is nowhere narrower than the interval there.
    at_points = confidence_interval(curves, curves[..., 0], wanted)
    return np.minimum(low, at_points[0]), np.maximum(high, at_points[1])


def depths(curves: Floats) -> NDArray[np.int64]:
    """Count, for every value of each replicate, how many replicates are at most and at least as large; the fewer.

    Parameters
    ----------
    curves : (points, r) ndarray
        A curve in each of r replicates, without NaN.

    Returns
    -------
    (points, r) ndarray
        1 for values that are the smallest or largest of all.
    """
    n = curves.shape[-1]
    depth = np.empty(curves.shape, np.int64)
    for row, values, point in zip(np.sort(curves, axis=-1), curves, depth, strict=True):
        at_most = np.searchsorted(row, values, side="right")
        at_least = n - np.searchsorted(row, values, side="left")
        point[:] = np.minimum(at_most, at_least)
    return depth
