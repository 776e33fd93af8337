"""ROC and DET curves, and the metrics that need no operating point: EER, minDCF, Cllr and min Cllr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.threads import both
from fastfair.data import score_keys
from fastfair.data.class_keys import ClassKeys, keys_of, not_kept
from fastfair.data.comparisons import Comparisons

from .curve_results import Det, Eer, MinDcf, Roc

EER_METHODS = ("nearest", "nearest-max", "interpolated", "convex-hull")


@checked
def roc(comparisons: Comparisons) -> Roc:
    """Compute the error rates at every distinct score, exactly.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.

    Returns
    -------
    Roc
        With `threshold`, `fmr` and `fnmr`, in ascending order of similarity. A threshold accepts similarities >= it,
        or distances <= it. FMR = accepted / all non-mated comparisons, FNMR = rejected / all mated comparisons.

    Examples
    --------
    >>> import fastfair as ff
    >>> curve = ff.roc(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]))
    >>> curve.fmr
    array([1. , 0.5, 0.5, 0. , 0. , 0. ])
    """
    from fastfair.kernels import curves as kernels

    mated, nonmated = comparisons.mated.keys, comparisons.nonmated.keys
    size = mated.size + nonmated.size + 1
    similarity = np.empty(size, score_keys.float_type(mated))
    fmr, fnmr = np.empty(size), np.empty(size)
    # The walks part in the middle and leave from it in both directions, so that what they write meets without a gap
    # whatever the ties.
    shorter, longer = sorted((mated, nonmated), key=len)
    split = kernels.middle(longer, shorter)
    i, j = kernels.count_below(mated, split), kernels.count_below(nonmated, split)
    bits = similarity.view(mated.dtype)
    arguments: tuple[Any, ...] = mated, nonmated, i, j, score_keys.magnitude(mated), bits, fmr, fnmr
    last, first = both(size, lambda: kernels.roc_above(*arguments), lambda: kernels.roc_below(*arguments))
    with np.errstate(over="ignore"):  # above the largest float lies infinity
        similarity[last] = np.nextafter(similarity[last - 1], np.inf, dtype=similarity.dtype)
    fmr[last], fnmr[last] = 0, 1
    points = slice(first, last + 1)
    threshold = 0 - similarity[points] if comparisons.score_kind == "distance" else similarity[points]
    return Roc(threshold, fmr[points], fnmr[points])


@checked
def det(comparisons: Comparisons) -> Det:
    """Compute the coordinates of a detection error trade-off plot.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.

    Returns
    -------
    Det
        The ROC with the standard normal quantiles of both rates.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.det(ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])).fmr_deviate
    array([ inf,   0.,   0., -inf, -inf])
    """
    from scipy.special import ndtri

    curve = roc(comparisons)
    return Det(curve.threshold, curve.fmr, curve.fnmr, ndtri(curve.fmr), ndtri(curve.fnmr))


@checked
def eer(comparisons: Comparisons, method: str = "nearest") -> Eer:
    """Compute the equal error rate.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    method : {"nearest", "nearest-max", "interpolated", "convex-hull"}
        "nearest": the mean of FMR and FNMR at the score where the two are nearest (of two such scores, the less similar
        one). "nearest-max": the larger of the two rates at that score [1]_. "interpolated": the rate where the straight
        line between the ROC points on either side of FMR = FNMR meets it. "convex-hull": the rate where the ROC's
        convex hull meets it.

    Returns
    -------
    Eer
        With `value`, `threshold` and `method`.

    Raises
    ------
    InputError
        For an unknown method.

    References
    ----------
    .. [1] Hutiri et al., "As Biased as You Measure", section 3, as its software computes it.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0])
    >>> ff.eer(c, method="nearest-max")
    Eer(value=0.5, threshold=0.4, method='nearest-max')
    >>> round(ff.eer(c, method="interpolated").value, 4)
    0.3333
    """
    validation.choice("method", method, EER_METHODS)
    value, similarity = equal_error(keys_of(comparisons), method)
    return Eer(value, comparisons.to_scale(similarity), method)


@checked
def min_dcf(
    comparisons: Comparisons,
    p_target: float = 0.05,
    c_miss: float = 1,
    c_fa: float = 1,
    normalize: bool = False,
) -> MinDcf:
    """Compute the minimum of the detection cost over all thresholds.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    p_target : float, default 0.05
        Prior probability of a mated comparison, in (0, 1).
    c_miss, c_fa : float, default 1
        Costs of a false non-match and of a false match.
    normalize : bool, default False
        Whether to divide by the cost of accepting everything or of rejecting everything, whichever is lower.

    Returns
    -------
    MinDcf
        The minimum of c_miss * p_target * FNMR + c_fa * (1 - p_target) * FMR, and its threshold.

    Raises
    ------
    InputError
        For a prior outside (0, 1) or costs that are not positive.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.min_dcf(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]), p_target=0.5)
    MinDcf(value=0.16666666666666666, threshold=0.8)
    """
    costs = DetectionCosts(p_target, c_miss, c_fa, normalize)
    value, key = costs.least(keys_of(comparisons))
    return MinDcf(value, comparisons.to_threshold(key))


@checked
def cllr(comparisons: Comparisons) -> float:
    """Compute the log-likelihood-ratio cost of scores that are natural-log likelihood ratios.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons; distances are negated first.

    Returns
    -------
    float
        In bits: 0 for a perfect system, 1 for one whose scores carry no information, and it may be above 1 for badly
        calibrated scores. Raw similarity scores are not likelihood ratios: for them see `min_cllr`.

    Notes
    -----
    With scores s, it is half the mean of log2(1 + exp(-s)) over mated comparisons plus half the mean of
    log2(1 + exp(s)) over non-mated ones.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.cllr(ff.Comparisons([0.0, 0.0], [1, 0]))
    1.0
    """
    return log_likelihood_ratio_cost(keys_of(comparisons))


@checked
def min_cllr(comparisons: Comparisons) -> float:
    """Compute the Cllr that remains after the best monotone calibration of the scores.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons, on any scale.

    Returns
    -------
    float
        In bits, between 0 (perfect separation) and 1 (none).

    Notes
    -----
    The best monotone calibration is that of pool adjacent violators, and follows from the convex hull of the ROC: all
    scores on one edge of the hull get the same likelihood ratio, the share of the mated comparisons that lie on the
    edge divided by the share of the non-mated ones.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.min_cllr(ff.Comparisons([0.9, 0.2], [1, 0]))
    0.0
    """
    return least_log_likelihood_ratio_cost(keys_of(comparisons))


@dataclass(frozen=True)
class EqualErrorPoint:
    """The ROC point where FMR and FNMR are nearest: its threshold as a key, and its rates."""

    key: np.signedinteger[Any]
    fmr: float
    fnmr: float


def nearest_equal_error(keys: ClassKeys) -> EqualErrorPoint:
    """Find the lowest key at which |FMR - FNMR| is smallest, comparing exactly.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys of comparisons of both classes.

    Returns
    -------
    EqualErrorPoint
    """
    low, high = _bracket(keys)
    m, n = keys.sizes
    gap_low = (n - low.below_nonmated) * m - low.below_mated * n
    gap_high = high.below_mated * n - (n - high.below_nonmated) * m
    point = low if gap_low <= gap_high else high
    return EqualErrorPoint(point.key, (n - point.below_nonmated) / n, point.below_mated / m)


def equal_error(keys: ClassKeys, method: str) -> tuple[float, float]:
    """Compute an equal error rate and its similarity threshold.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys of comparisons of both classes.
    method : str
        As in `eer`.

    Returns
    -------
    value, similarity : float
    """
    m, n = keys.sizes
    if method in ("nearest", "nearest-max"):
        point = nearest_equal_error(keys)
        value = (point.fmr + point.fnmr) / 2 if method == "nearest" else max(point.fmr, point.fnmr)
        return value, float(score_keys.decode(np.array([point.key]))[0])
    if method == "interpolated":
        low, high = _bracket(keys)
        x = np.array([n - low.below_nonmated, n - high.below_nonmated]) / n
        y = np.array([low.below_mated, high.below_mated]) / m
        share = (x[0] - y[0]) / ((x[0] - y[0]) - (x[1] - y[1]))
        at = score_keys.decode(np.array([low.key, high.key])).astype(np.float64)
        return float(x[0] + share * (x[1] - x[0])), float(at[0] + share * (at[1] - at[0]))
    from fastfair.kernels import curves as kernels

    keys.require_all("the convex hull")
    false_matches, false_nonmatches = kernels.convex_hull(keys.mated, keys.nonmated)
    x, y = false_matches / n, false_nonmatches / m
    after = int(np.argmax(x <= y))  # from (1, 0) to (0, 1), so there is one, and not the first
    gap = x[after - 1 : after + 1] - y[after - 1 : after + 1]
    share = gap[0] / (gap[0] - gap[1])
    return float(x[after - 1] + share * (x[after] - x[after - 1])), float("nan")


def log_likelihood_ratio_cost(keys: ClassKeys) -> float:
    """Compute the Cllr of sorted keys of comparisons of both classes.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys.

    Returns
    -------
    float
    """
    keys.require_all("Cllr")
    means = [
        float(log_likelihood_ratio_costs(score_keys.decode(of_class).astype(np.float64), is_mated).mean())
        for of_class, is_mated in ((keys.mated, True), (keys.nonmated, False))
    ]
    return sum(means) / (2 * float(np.log(2)))


def least_log_likelihood_ratio_cost(keys: ClassKeys) -> float:
    """Compute the min Cllr of sorted keys of comparisons of both classes.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys.

    Returns
    -------
    float
    """
    keys.require_all("min Cllr")
    of_classes = calibrated_costs(keys.mated, keys.nonmated)
    return sum(float(costs @ counts / counts.sum()) for costs, counts in of_classes) / 2


def calibrated_costs(
    mated: score_keys.Keys, nonmated: score_keys.Keys
) -> tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...]:
    """Compute the log-likelihood-ratio cost of comparisons after the best monotone calibration, in bits.

    Parameters
    ----------
    mated, nonmated : (n,) ndarray of int
        Sorted keys, neither empty.

    Returns
    -------
    tuple of two ((edges,) ndarray, (edges,) ndarray of int)
        For mated and for non-mated comparisons: the cost of one comparison on each edge of the ROC's convex hull, from
        the least similar scores on, and the number of comparisons on that edge.
    """
    from fastfair.kernels import curves as kernels

    false_matches, false_nonmatches = kernels.convex_hull(mated, nonmated)
    of_mated, of_nonmated = np.diff(false_nonmatches), -np.diff(false_matches)
    with np.errstate(divide="ignore"):
        ratio = (of_mated / mated.size) / (of_nonmated / nonmated.size)
        inverse = 1 / ratio
    costs = [np.log2(1 + np.where(counts > 0, odds, 0)) for counts, odds in ((of_mated, inverse), (of_nonmated, ratio))]
    return (costs[0], of_mated), (costs[1], of_nonmated)


def log_likelihood_ratio_costs(ratios: NDArray[np.float64], mated: bool) -> NDArray[np.float64]:
    """Compute the cost of each comparison, in nats, from its log-likelihood ratio.

    Parameters
    ----------
    ratios : (n,) ndarray
        Natural logarithms of likelihood ratios.
    mated : bool
        Whether the comparisons are mated.

    Returns
    -------
    (n,) ndarray
    """
    return np.asarray(np.logaddexp(0, -ratios if mated else ratios))


class DetectionCosts:
    """Costs of a false match and of a false non-match, weighted by the prior probability that each can happen.

    Parameters
    ----------
    p_target, c_miss, c_fa, normalize
        As in `min_dcf`.
    """

    def __init__(self, p_target: float = 0.05, c_miss: float = 1, c_fa: float = 1, normalize: bool = False) -> None:
        p_target = validation.rate("p_target", p_target)
        validation.positive("p_target", p_target)
        self.miss = validation.positive("c_miss", c_miss) * p_target
        self.false_match = validation.positive("c_fa", c_fa) * (1 - p_target)
        self.unit = min(self.miss, self.false_match) if normalize else 1.0

    def least(self, keys: ClassKeys) -> tuple[float, np.signedinteger[Any]]:
        """Return the minimum cost and the lowest key that has it, for sorted keys of comparisons of both classes."""
        from fastfair.kernels import curves as kernels

        mated, nonmated = keys.mated, keys.nonmated
        cost, index, _ = kernels.least_cost(mated, nonmated, keys.sizes, self.miss, self.false_match)
        # At thresholds at which not all errors are kept one rate is at least that of the errors kept.
        for costs_of_all, kept, n in zip((self.miss, self.false_match), (mated, nonmated), keys.sizes, strict=True):
            if kept.size < n and cost >= costs_of_all * (kept.size / n):
                raise not_kept("minDCF", keys)
        key = mated[index] if index < mated.size else max(mated[-1], nonmated[-1]) + mated.dtype.type(1)
        return cost / self.unit, key


@dataclass(frozen=True)
class _Point:
    key: np.signedinteger[Any]
    below_mated: int
    below_nonmated: int


def _bracket(keys: ClassKeys) -> tuple[_Point, _Point]:
    from fastfair.kernels import curves as kernels

    mated, nonmated = keys.mated, keys.nonmated
    if not (mated.size and nonmated.size):
        raise not_kept("the EER", keys)
    low, i, j, high, k, m = kernels.equal_error_bracket(mated, nonmated, keys.sizes)
    above_all = low == high
    if above_all and keys.limits is not None and ((k, m) != keys.sizes or mated.size < keys.sizes[0]):
        raise not_kept("the EER", keys)
    keys.require("the EER", low, high)
    kind = mated.dtype.type
    return _Point(kind(low), i, j), _Point(kind(high + 1 if above_all else high), k, m)
