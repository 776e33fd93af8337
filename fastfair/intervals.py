"""Confidence intervals, simultaneous bands and p-values from bootstrap replicates, for many
quantities at once.

Replicates lie on the last axis. A replicate is NaN where the quantity was not computable, and is
then left out. It may be infinite, as a ratio to a rate of zero is, and then counts as the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import validation
from fastfair._lib.arguments import Array, Kind, checked
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.proportions import clopper_pearson_line, student_line
from fastfair.errors import InputError

__all__ = [
    "bootstrap_pvalue",
    "confidence_interval",
    "holm",
    "simultaneous_band",
    "standard_error",
    "upper_limit_without_errors",
]


def level(confidence_level: object) -> float:
    """Check a confidence level.

    Parameters
    ----------
    confidence_level : object
        The level that the caller gave.

    Returns
    -------
    float
        The same; anything but a number in (0, 1) is refused.
    """
    return validation.fraction("⟦confidence_level⟧", confidence_level, "(0, 1)")


def replicates_of(name: str, values: ArrayLike) -> Floats:
    """Make an array with replicates on its last axis."""
    array = validation.floats(name, values)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(
            f"{name} needs replicates on its last axis, but its shape is {array.shape}"
        )
    return array


def one_for_each(name: str, values: ArrayLike, replicates: Floats) -> Floats:
    """Make an array of one value for each row of replicates, or one for all."""
    array = validation.floats(name, values)
    if array.shape and array.shape != replicates.shape[:-1]:
        raise InputError(
            f"{name} needs one value for each quantity, but its shape is {array.shape} and the"
            f" replicates' {replicates.shape}"
        )
    return array


def _require_rates(name: str, array: Floats) -> None:
    """Refuse what is no fraction."""
    wrong = (array < 0) | (array > 1)
    if wrong.any():
        raise InputError(f"{name} must be fractions in [0, 1], not {array[wrong][0]:g}")


Ends = tuple[Floats, Floats]  # the lower and the upper end of intervals
# From replicates, ascending with NaN last, (..., r), estimates, (...), the share beyond each end,
# and what else there is, to intervals: a new method for any quantity is one function here, and then
# known everywhere.
METHODS_FOR_ANYTHING: dict[str, Callable[..., Ends]] = {}
METHODS_FOR_SOME: dict[str, Callable[..., Ends]] = {}  # with V-statistics, or for rates


def names_of_methods(names: Callable[[], Iterable[str]]) -> Kind:
    """Return the kind of arguments that name one of the methods known when a function is called."""

    def read(name: str, value: Any) -> str:
        return validation.choice(name, value, names())

    return Kind(
        "the name of a method",
        "names of methods",
        lambda value: isinstance(value, str),
        read,
        names,
    )


Method = Annotated[str, names_of_methods(lambda: (*METHODS_FOR_ANYTHING, *METHODS_FOR_SOME))]
MethodOfEvaluations = Annotated[
    str, names_of_methods(lambda: ("auto", *METHODS_FOR_ANYTHING, "dyadic"))
]
_VERY_LARGE = 2.0**600  # divides numbers whose squares overflow, without rounding


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
        "percentile": quantiles of the replicates. "basic": twice the estimate minus these.
        "normal": the estimate plus and minus normal quantiles of the replicates' standard
        deviation. "bca": quantiles corrected for bias and for acceleration [1]_. "recentered":
        quantiles of replicate minus V-statistic, added to the estimate [2]_. "dyadic": for rates,
        the estimate times and divided by exp(z * standard deviation / estimate). "logit": for rates
        x, logit(x) plus and minus t * sqrt((d + 1) / d) * standard deviation / (x (1 - x)), with a
        t quantile of d degrees of freedom and the standard deviation at most min(x, 1 - x).
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
    tail = (1 - level(confidence_level)) / 2
    values = replicates_of("replicates", replicates)
    center = one_for_each("estimate", estimate, values)
    more: dict[str, Any] = {"degrees_of_freedom": degrees_of_freedom}
    if method in ("logit", "dyadic"):
        _require_rates("estimate", center)
    if method == "bca":
        if jackknife is None:
            raise InputError('⟦method="bca"⟧ needs the jackknife')
        more["jackknife"] = replicates_of("jackknife", jackknife)
        if more["jackknife"].shape[:-1] != values.shape[:-1]:
            raise InputError(
                f"jackknife has the shape {more['jackknife'].shape}, but replicates {values.shape}"
            )
    if method == "recentered":
        if v_statistic is None:
            raise InputError(
                '⟦method="recentered"⟧ needs the V-statistic about which the replicates vary'
            )
        more["v_statistic"] = one_for_each("v_statistic", v_statistic, values)
    # A method that works in place changes copies: replicates are shared by all methods.
    return (METHODS_FOR_ANYTHING | METHODS_FOR_SOME)[method](
        values.copy(), center.copy(), tail, **more
    )


def _percentile(values: Floats, center: Floats, tail: float, **_: Any) -> Ends:
    ordered = np.sort(values, axis=-1)
    return _quantile(ordered, np.asarray(tail)), _quantile(ordered, np.asarray(1 - tail))


def _basic(values: Floats, center: Floats, tail: float, **_: Any) -> Ends:
    low, high = _percentile(values, center, tail)
    with np.errstate(invalid="ignore"):
        return 2 * center - high, 2 * center - low


def _normal(values: Floats, center: Floats, tail: float, **_: Any) -> Ends:
    from scipy.special import ndtri

    z = float(ndtri(1 - tail))
    error = standard_error(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return center - z * error, center + z * error


def _bca(values: Floats, center: Floats, tail: float, *, jackknife: Floats, **_: Any) -> Ends:
    ordered = np.sort(values, axis=-1)
    tails = _bca_tails(values, center, jackknife, tail)
    return _quantile(ordered, tails[0]), _quantile(ordered, tails[1])


def _recentered(
    values: Floats, center: Floats, tail: float, *, v_statistic: Floats, **_: Any
) -> Ends:
    low, high = _percentile(values, center, tail)
    with np.errstate(invalid="ignore"):
        shift = center - v_statistic
        return low + shift, high + shift


def _dyadic(values: Floats, center: Floats, tail: float, **_: Any) -> Ends:
    from scipy.special import ndtri

    z = float(ndtri(1 - tail))
    error = standard_error(values)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        factor = np.exp(z * error / center)
        return center / factor, center * factor


def _logit(
    values: Floats, center: Floats, tail: float, *, degrees_of_freedom: ArrayLike, **_: Any
) -> Ends:
    freedom = validation.floats("degrees_of_freedom", degrees_of_freedom)
    if not (freedom > 0).all():
        raise InputError(f"degrees_of_freedom must be above 0, not {freedom[~(freedom > 0)][0]:g}")
    low, high = (
        student_line(sign, center, standard_error(values), freedom).limit(tail) for sign in (-1, 1)
    )
    return low, high


METHODS_FOR_ANYTHING.update(percentile=_percentile, basic=_basic, normal=_normal, bca=_bca)
METHODS_FOR_SOME.update(recentered=_recentered, dyadic=_dyadic, logit=_logit)


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


def _quantile(ordered: Floats, share: Floats) -> Floats:
    """Return (...) quantiles of ascending (..., r) replicates, NaN last, between neighbours as
    NumPy does.
    """
    n = ordered.shape[-1] - np.isnan(ordered).sum(axis=-1)
    share = np.broadcast_to(share, n.shape)
    is_defined = (n > 0) & ~np.isnan(share)
    position = np.where(is_defined, share, 0) * np.maximum(n - 1, 0)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    low = np.take_along_axis(ordered, below[..., None], -1)[..., 0]
    high = np.take_along_axis(ordered, above[..., None], -1)[..., 0]
    weight = position - below
    with np.errstate(invalid="ignore"):
        between = np.where((weight == 0) | (low == high), low, low + weight * (high - low))
    return np.where(is_defined, between, np.nan)[()]


def _bca_tails(
    values: Floats, estimate: Floats, jackknife: Floats, tail: float
) -> tuple[Floats, Floats]:
    from scipy.special import ndtr, ndtri

    is_defined = ~np.isnan(values)
    n = is_defined.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = (values < estimate[..., None]).sum(axis=-1)
        equal = (values == estimate[..., None]).sum(axis=-1)
        below = lower + equal / 2
        bias = ndtri(below / n)
        finite = np.isfinite(jackknife)
        mean = finite_mean(jackknife)
        influence = np.where(finite, mean[..., None] - jackknife, 0.0)
        squares = (influence**2).sum(axis=-1)
        acceleration = np.where(squares > 0, (influence**3).sum(axis=-1) / (6 * squares**1.5), 0.0)
        moved = (bias + float(ndtri(share)) for share in (tail, 1 - tail))
        low, high = (ndtr(bias + z / (1 - acceleration * z)) for z in moved)
    return low, high


@checked
def upper_limit_without_errors(n: float, confidence_level: float) -> float:
    """Compute the upper end of Clopper and Pearson's two-sided interval for no errors in n
    independent trials.

    Parameters
    ----------
    n : float
        Number of trials, at least 1; need not be whole, as a number divided by a design effect is
        not.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
        About 3.7 / n at 95 %.

    Raises
    ------
    InputError
        For fewer than one trial and a level outside (0, 1).

    Examples
    --------
    >>> from fastfair.intervals import upper_limit_without_errors
    >>> round(upper_limit_without_errors(1000, 0.95), 5)
    0.00368
    """
    if not n >= 1:
        raise InputError(f"n must be at least 1, not {n:g}")
    return float(clopper_pearson_line(1, 0.0, n).limit((1 - level(confidence_level)) / 2))


def difference_interval(
    first: Floats, second: Floats, correlation: Floats
) -> tuple[Floats, Floats]:
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
    Zou and Donner, "Construction of confidence limits about effect measures: A general approach",
    Statistics in Medicine 27 (2008), equation 10.
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
    Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard
    deviation", Statistical Methods in Medical Research 21 (2012), equation 8.
    """
    below, above = first[0] - first[1], first[2] - first[0]
    other_below, other_above = second[0] - second[1], second[2] - second[0]
    low = _root(first, second, below, other_above, correlation, upper=False)
    high = _root(first, second, above, other_below, correlation, upper=True)
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
    is_defined = ~np.isnan(sets).any(axis=0)
    n = np.maximum(is_defined.sum(axis=1), 1)
    centred = [
        np.where(
            is_defined,
            replicates - (np.where(is_defined, replicates, 0).sum(axis=1) / n)[:, None],
            0,
        )
        for replicates in sets
    ]
    squares = [(replicates**2).sum(axis=1) for replicates in centred]
    product = (centred[0] * centred[1]).sum(axis=1)
    scale = np.sqrt(squares[0] * squares[1])
    return np.asarray(np.divide(product, scale, out=np.zeros(len(n)), where=scale > 0).clip(-1, 1))


def _root(
    first: Floats,
    second: Floats,
    reach: Floats,
    other_reach: Floats,
    correlation: Floats,
    *,
    upper: bool,
) -> Floats:
    """Solve (x - R y)^2 = a^2 + R^2 b^2 - 2 rho R a b for R, with the estimates x, y and their
    reaches a, b.
    """
    x, y = first[0], second[0]
    square = y**2 - other_reach**2
    middle = x * y - correlation * reach * other_reach
    rest = x**2 - reach**2
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(middle**2 - square * rest, 0))
        if upper:
            return np.asarray(np.where(square > 1e-12 * y**2, (middle + root) / square, np.inf))
        # The smaller root, written so that nothing cancels; the only positive one where the square
        # is negative.
        return np.asarray(np.maximum(np.where(middle + root > 0, rest / (middle + root), 0.0), 0.0))


@checked
def simultaneous_band(replicates: Array, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
    """Compute a band that holds whole curves at a confidence level, by widening pointwise
    percentile intervals.

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
    This is the quantile form of the sup-t band [1]_: the tail share is the same at all points, and
    is chosen so that the band holds `confidence_level` of the replicate curves. It needs no
    standard errors, and a band of rates stays within [0, 1].

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
            "replicates must have an axis of points and one of replicates, but its shape is"
            f" {curves.shape}"
        )
    n = curves.shape[-1]
    missing = np.isnan(curves).any(axis=0).sum()
    if missing:
        raise InputError(
            f"replicates hold NaN in {missing} of {n} curves: keep those that are known at all"
            " points, as in replicates[:, ~np.isnan(replicates).any(axis=0)]"
        )
    depth = depths(curves)
    inside = depth >= least_depth(depth, wanted)
    low = np.where(inside, curves, np.inf).min(axis=-1)
    high = np.where(inside, curves, -np.inf).max(axis=-1)
    # At one point the curves kept may all lie on one side; a band is nowhere narrower than the
    # interval there.
    at_points = confidence_interval(curves, curves[..., 0], wanted)
    return np.minimum(low, at_points[0]), np.maximum(high, at_points[1])


def least_depth(depth: Integers, confidence_level: float) -> int:
    """Return the depth that whole curves have at every point, as many of them as the level says."""
    of_curves = np.sort(depth.min(axis=0))[::-1]
    n = depth.shape[-1]
    return int(of_curves[min(n, int(np.ceil(confidence_level * n - 1e-9))) - 1])


def depths(curves: Floats) -> Integers:
    """Count, for every value of each replicate, how many replicates are at most and at least as
    large; the fewer.

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


@checked
def bootstrap_pvalue(differences: Array) -> Any:
    """Compute two-sided p-values of the hypothesis of no difference from bootstrap replicates of a
    difference.

    Parameters
    ----------
    differences : (..., r) array_like
        Replicates; NaN ones are left out.

    Returns
    -------
    (...) ndarray
        2 (1 + k) / (1 + r), at most 1, where k of the r replicates lie on the rarer side of zero
        (those at zero lie on both); NaN without replicates. Up to 1 / r, the percentile interval
        excludes zero exactly where the p-value is below 1 - its confidence level.

    Examples
    --------
    >>> import numpy as np
    >>> from fastfair.intervals import bootstrap_pvalue
    >>> round(float(bootstrap_pvalue(np.arange(1, 1000))), 3)
    0.002
    """
    values = replicates_of("differences", differences)
    n = (~np.isnan(values)).sum(axis=-1)
    rarer = np.minimum((values <= 0).sum(axis=-1), (values >= 0).sum(axis=-1))
    return np.where(n > 0, np.minimum(1.0, 2 * (1 + rarer) / (n + 1)), np.nan)[()]


@checked
def holm(pvalues: Array) -> Floats:
    """Adjust p-values for multiple testing by Holm's step-down procedure.

    Parameters
    ----------
    pvalues : (k,) array_like
        One p-value for each test. NaN stays NaN and does not count as a test.

    Returns
    -------
    (k,) ndarray

    Examples
    --------
    >>> from fastfair.intervals import holm
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    given = validation.floats("pvalues", validation.column("pvalues", pvalues))
    _require_rates("pvalues", given)
    adjusted = np.full(given.shape, np.nan)
    # NaN are sorted to the end
    order = np.argsort(given, kind="stable")[: np.count_nonzero(~np.isnan(given))]
    adjusted[order] = np.maximum.accumulate(
        np.minimum(1.0, np.arange(order.size, 0, -1) * given[order])
    )
    return adjusted
