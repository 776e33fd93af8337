"""The area under an error rate over the share of comparisons that are discarded, and its standard error.

After discarding the comparisons of less than the j-th level of quality, a share s_j, the rate is r_j; it is the rate at
all shares from s_j to s_(j+1) exclusive. The area up to a share F is sum_j r_j d_j, with d_j the part of [0, F] between
these. It is a smooth function of the numbers of comparisons and of errors of each level, so its standard error follows
from what each comparison adds, summed over subjects and pairs of them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastfair.resampling.units import ComparisonUnits

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def area_of(
    quality: Floats, wrong: Flags, inside: Flags, limit: float, of_samples: Floats | None = None
) -> tuple[float, Floats, float]:
    """Compute an area, and what each comparison adds to it.

    Parameters
    ----------
    quality : (n,) ndarray
        Of each mated, or non-mated, comparison.
    wrong, inside : (n,) ndarray of bool
        Which of them are errors, and which are in the group that the area is of.
    limit : float
        The largest share discarded, in (0, 1).
    of_samples : (s,) ndarray, optional
        The quality of each sample, where shares are those of samples; they are then taken as given.

    Returns
    -------
    area : float
        In [0, limit]; NaN where nothing of the group is left at some share.
    added : (n,) ndarray
        Sums to 0.
    most : float
        What one more error adds at most.
    """
    levels, level = np.unique(quality, return_inverse=True)
    n, size = quality.size, levels.size
    if of_samples is None:
        share = np.concatenate(([0], np.cumsum(np.bincount(level, minlength=size)))) / n
    else:
        share = np.append(np.searchsorted(np.sort(of_samples), levels) / of_samples.size, 1.0)
        share[0] = 0.0  # whoever is below the lowest level of a comparison is in none
    width = np.diff(np.minimum(share, limit))
    last = int(np.flatnonzero(width > 0)[-1])
    kept, errors = (
        np.cumsum(np.bincount(level[which], minlength=size)[::-1])[::-1][: last + 1]
        for which in (inside, inside & wrong)
    )
    width = width[: last + 1]
    if not (kept[width > 0] > 0).all():
        return math.nan, np.zeros(n), math.nan
    rate = np.where(width > 0, errors / np.maximum(kept, 1), 0.0)
    each = width / np.maximum(kept, 1)
    to_errors, to_all = np.cumsum(each), np.cumsum(each * rate)
    reached = np.minimum(level, last)
    added = np.where(inside, wrong * to_errors[reached] - to_all[reached], 0.0)
    if of_samples is None:
        # The share that is discarded below a level varies with the data, too.
        before = level < last
        moved = np.where(before, rate[reached] - rate[last], 0.0)
        added += (moved - (rate[:last] @ width[:last] - rate[last] * share[last])) / n
    return float(rate @ width), added, float(to_errors[last])


def interval_of_few(area: float, error: float, most: float, confidence_level: float) -> tuple[float, float]:
    """Compute the interval of a sum of errors that weigh differently, of which there may be few.

    An area may come from a single error of a sample that is discarded early, and be as good as 0. Its upper limit
    allows for one error more that weighs as much as any.

    Parameters
    ----------
    area, error, most : float
        The area, its standard error, and what one more error adds at most.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    low, high : float

    References
    ----------
    Fay and Feuer, "Confidence intervals for directly standardized rates: a method based on the gamma distribution",
    Statistics in Medicine 16 (1997).
    """
    from scipy.special import gammaincinv

    tail = (1 - confidence_level) / 2
    low = float(gammaincinv((area / error) ** 2, tail)) * error**2 / area if area > 0 and error > 0 else 0.0
    mean, variance = area + most, error**2 + most**2
    return low, float(gammaincinv(mean**2 / variance, 1 - tail)) * variance / mean


def standard_error(units: ComparisonUnits, added: Floats, *, mated: bool) -> float:
    """Compute the standard error of a sum over comparisons that share subjects.

    Parameters
    ----------
    units : ComparisonUnits
        Subjects.
    added : (n,) ndarray
        What each mated, or non-mated, comparison adds to the sum, minus its mean.
    mated : bool
        Whether the comparisons are mated.

    Returns
    -------
    float
        By sums over subjects for mated comparisons, and dyadic-robust for others, as replicates have it; see
        `kernels.dyadic`.
    """
    from fastfair.kernels import dyadic as kernels

    a, b = units.rows(mated, slice(None))
    codes = np.minimum(a, b).astype(np.int64) * units.n_rows + np.maximum(a, b)
    pairs, where, repeats = np.unique(codes, return_inverse=True, return_counts=True)
    first, second = (part.astype(np.int32) for part in np.divmod(pairs, units.n_rows))
    sums = np.bincount(where, weights=added, minlength=pairs.size).astype(np.float64)
    found = np.empty((1, 3))
    end = np.array([pairs.size])
    kernels.variances(first, second, repeats.astype(np.int32), end, sums, units.stratum, units.stratum_size, found)
    return math.sqrt(max(0.0, float(min(found[0, kernels.ROBUST], found[0, kernels.PRODUCT]))))
