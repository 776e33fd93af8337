"""Confidence intervals, standard errors and quantiles from replicates."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib.arguments import Array, checked
from fastfair.errors import InputError

from ._checks import level, one_for_each, replicates_of, require_rates
from ._rates import logit_interval

Method = Literal["percentile", "basic", "normal", "bca", "recentered", "dyadic", "logit"]
METHODS: tuple[Method, ...] = get_args(Method)
METHODS_FOR_ANYTHING = ("percentile", "basic", "normal", "bca")
MethodOfEvaluations = Literal["auto", "percentile", "basic", "normal", "bca", "dyadic"]
METHODS_OF_EVALUATIONS: tuple[MethodOfEvaluations, ...] = get_args(MethodOfEvaluations)
Floats = NDArray[np.float64]
_VERY_LARGE = 2.0**600


@checked
def confidence_interval(
    replicates: Array,
    estimate: ArrayLike,
    confidence_level: float = 0.95,
    method: Method = "percentile",
    *,
    jackknife: Array | None = None,
    v_statistic: ArrayLike | None = None,
    degrees_of_freedom: ArrayLike = np.inf,
) -> tuple[Floats, Floats]:
    """Compute a confidence interval from bootstrap replicates.

    Parameters
    ----------
    replicates : (..., r) array_like
        A quantity in each of r replicates; NaN where it was not computable.
    estimate : (...) array_like
        The quantity in the data.
    confidence_level : float, default 0.95
        In (0, 1).
    method : {"percentile", "basic", "normal", "bca", "recentered", "dyadic", "logit"}
        "percentile": quantiles of the replicates. "basic": twice the estimate minus these. "normal": the estimate plus
        and minus normal quantiles of the replicates' standard deviation. "bca": quantiles corrected for bias and for
        acceleration [1]_. "recentered": quantiles of replicate minus V-statistic, added to the estimate [2]_.
        "dyadic": for rates, the estimate times and divided by exp(z * standard deviation / estimate). "logit": for
        rates x, logit(x) plus and minus t * sqrt((d + 1) / d) * standard deviation / (x (1 - x)), with a t quantile of
        d degrees of freedom and the standard deviation at most min(x, 1 - x).
    jackknife : (..., u) array_like, optional
        The quantity with each unit left out; needed by "bca".
    v_statistic : (...) array_like, optional
        The value around which the replicates vary; needed by "recentered".
    degrees_of_freedom : (...) array_like, default infinity
        For "logit": the number of units drawn minus the number of strata that they are drawn in.

    Returns
    -------
    low, high : (...) ndarray
        NaN where no replicate was computable; for "logit" also where the estimate is 0 or 1.

    Raises
    ------
    InputError
        For an unknown method, a level outside (0, 1), or a missing argument that the method needs.

    References
    ----------
    .. [1] Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987).
    .. [2] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from fastfair.intervals import confidence_interval
    >>> low, high = confidence_interval(np.arange(101) / 100, 0.4, 0.9)
    >>> round(float(low), 3), round(float(high), 3)
    (0.05, 0.95)
    """
    from scipy.special import ndtri

    tail = (1 - level(confidence_level)) / 2
    values = replicates_of("replicates", replicates)
    center = one_for_each("estimate", estimate, values)
    if method in ("logit", "dyadic"):
        require_rates("estimate", center)
    if method == "logit":
        return logit_interval(center, standard_error(values), degrees_of_freedom, confidence_level)
    if method in ("normal", "dyadic"):
        z = float(ndtri(1 - tail))
        error = standard_error(values)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if method == "normal":
                return center - z * error, center + z * error
            factor = np.exp(z * error / center)
            return center / factor, center * factor
    ordered = np.sort(values, axis=-1)
    if method == "bca":
        if jackknife is None:
            raise InputError('method="bca" needs the jackknife')
        left_out = replicates_of("jackknife", jackknife)
        if left_out.shape[:-1] != values.shape[:-1]:
            raise InputError(f"jackknife has the shape {left_out.shape}, but replicates {values.shape}")
        tails = _bca_tails(values, center, left_out, tail)
        return _quantile(ordered, tails[0]), _quantile(ordered, tails[1])
    low, high = _quantile(ordered, np.asarray(tail)), _quantile(ordered, np.asarray(1 - tail))
    with np.errstate(invalid="ignore"):
        if method == "basic":
            return 2 * center - high, 2 * center - low
        if method == "recentered":
            if v_statistic is None:
                raise InputError('method="recentered" needs the V-statistic about which the replicates vary')
            shift = center - one_for_each("v_statistic", v_statistic, values)
            return low + shift, high + shift
    return low, high


@checked
def standard_error(replicates: Array) -> Floats:
    """Compute the standard deviation of the replicates that are finite.

    Parameters
    ----------
    replicates : (..., r) array_like
        NaN or infinite where the quantity was not computable.

    Returns
    -------
    (...) ndarray
        NaN for fewer than two finite replicates.

    Examples
    --------
    >>> from fastfair.intervals import standard_error
    >>> float(standard_error([1.0, 3.0, float("nan")]))
    1.4142135623730951
    """
    values = replicates_of("replicates", replicates)
    try:
        with np.errstate(over="raise"):
            return _deviation(values)
    except FloatingPointError:  # squares of very large numbers
        with np.errstate(over="ignore"):
            return _deviation(values / _VERY_LARGE) * _VERY_LARGE


def finite_mean(replicates: Floats) -> Floats:
    """Return the means of the replicates that are finite; NaN where none is."""
    finite = np.isfinite(replicates)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(finite, replicates, 0.0).sum(axis=-1) / finite.sum(axis=-1))


def _deviation(values: Floats) -> Floats:
    finite = np.isfinite(values)
    n = finite.sum(axis=-1)
    if n.size and n.min() == values.shape[-1] > 1:
        return values.std(axis=-1, ddof=1)
    kept = np.where(finite, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = kept.sum(axis=-1) / n
        squares = (np.where(finite, values - mean[..., None], 0.0) ** 2).sum(axis=-1)
        return np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)[()]


def quantile(ordered: ArrayLike, share: ArrayLike) -> Floats:
    """Find quantiles of sorted replicates, interpolating linearly between neighbours as NumPy does.

    Parameters
    ----------
    ordered : (..., r) ndarray
        Replicates in ascending order, NaN last.
    share : (...) ndarray
        The share of replicates below the quantile, in [0, 1]: one for all rows or one for each.

    Returns
    -------
    (...) ndarray
        NaN where all replicates, or the share, are NaN.

    Raises
    ------
    InputError
        For replicates that are not in ascending order, and for shares outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from fastfair.intervals import quantile
    >>> float(quantile(np.array([1.0, 2.0, np.nan]), np.array(0.5)))
    1.5
    """
    rows, shares = replicates_of("ordered", ordered), one_for_each("share", share, replicates_of("ordered", ordered))
    with np.errstate(invalid="ignore"):
        if (rows[..., 1:] < rows[..., :-1]).any() or (np.isnan(rows[..., :-1]) & ~np.isnan(rows[..., 1:])).any():
            raise InputError("ordered must be ascending along its last axis, NaN last; sort it first")
    require_rates("share", shares)
    return _quantile(rows, shares)


def _quantile(ordered: Floats, share: Floats) -> Floats:
    n = ordered.shape[-1] - np.isnan(ordered).sum(axis=-1)
    share = np.broadcast_to(share, n.shape)
    known = (n > 0) & ~np.isnan(share)
    position = np.where(known, share, 0) * np.maximum(n - 1, 0)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    low = np.take_along_axis(ordered, below[..., None], -1)[..., 0]
    high = np.take_along_axis(ordered, above[..., None], -1)[..., 0]
    weight = position - below
    with np.errstate(invalid="ignore"):
        between = np.where((weight == 0) | (low == high), low, low + weight * (high - low))
    return np.where(known, between, np.nan)[()]


def _bca_tails(values: Floats, estimate: Floats, jackknife: Floats, tail: float) -> tuple[Floats, Floats]:
    from scipy.special import ndtr, ndtri

    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        below = (values < estimate[..., None]).sum(axis=-1) + (values == estimate[..., None]).sum(axis=-1) / 2
        bias = ndtri(below / n)
        finite = np.isfinite(jackknife)
        mean = finite_mean(jackknife)
        influence = np.where(finite, mean[..., None] - jackknife, 0.0)
        squares = (influence**2).sum(axis=-1)
        acceleration = np.where(squares > 0, (influence**3).sum(axis=-1) / (6 * squares**1.5), 0.0)
        shares = []
        for z in (float(ndtri(tail)), float(ndtri(1 - tail))):
            moved = bias + z
            shares.append(ndtr(bias + moved / (1 - acceleration * moved)))
    return shares[0], shares[1]
