"""ROC and DET curves, and the metrics that need no operating point: EER, actual and minimum DCF, Cllr, min Cllr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import Probability, checked
from fastfair._lib.plots import axes_or_new, probit_axes, roc_axes
from fastfair._lib.threads import both
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import require_scores

from . import score_metrics
from .score_metrics import Costs, require_ratios

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Roc:
    """Error rates at every distinct score, in ascending order of similarity.

    Attributes
    ----------
    threshold : (p,) ndarray of float
        Every distinct score, and last the next float beyond the most similar one, at which nothing is accepted.
    fmr, fnmr : (p,) ndarray of float
        False match rate at each threshold, falling to 0; false non-match rate, rising to 1.
    """

    threshold: Numbers
    fmr: NDArray[np.float64]
    fnmr: NDArray[np.float64]

    def __len__(self) -> int:
        return self.threshold.size

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw FNMR over FMR, with FMR on a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        points = _visible(self.fmr, self.fnmr)
        ax.plot(self.fmr[points], self.fnmr[points], **kwargs)
        return roc_axes(ax)


@dataclass(frozen=True, eq=False)
class Det(Roc):
    """A detection error trade-off curve: error rates and their normal deviates, the coordinates of a DET plot.

    Attributes
    ----------
    threshold, fmr, fnmr : (p,) ndarray of float
        As in `Roc`.
    fmr_deviate, fnmr_deviate : (p,) ndarray of float
        Standard normal quantiles of the rates; infinite at rates of 0 and 1.
    """

    fmr_deviate: NDArray[np.float64]
    fnmr_deviate: NDArray[np.float64]

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the curve on probit axes labelled in per cent.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        points = _visible(self.fmr, self.fnmr)
        x, y = self.fmr_deviate[points], self.fnmr_deviate[points]
        seen = np.isfinite(x) & np.isfinite(y)
        ax.plot(x[seen], y[seen], **kwargs)
        return probit_axes(ax)


@dataclass(frozen=True)
class Eer:
    """An equal error rate.

    Attributes
    ----------
    value : float
        The equal error rate, a fraction.
    threshold : float
        The threshold that has this rate, on the scale of the scores; NaN for "convex-hull", which mixes two thresholds.
    method : str
        The method of `eer` that was used.
    """

    value: float
    threshold: float
    method: str


@dataclass(frozen=True)
class ActDcf:
    """An actual detection cost.

    Attributes
    ----------
    value : float
        The cost.
    threshold : float
        The Bayes threshold: comparisons are accepted whose log-likelihood ratio is at least so large.
    fmr, fnmr : float
        The error rates there.
    """

    value: float
    threshold: float
    fmr: float
    fnmr: float


@dataclass(frozen=True)
class MinDcf:
    """A minimum detection cost.

    Attributes
    ----------
    value : float
        The minimum cost.
    threshold : float
        The lowest similarity threshold, or the highest distance threshold, that reaches it.
    """

    value: float
    threshold: float


NO_CLLR = 'their log-likelihood ratio would be minus infinity; read them with failures="exclude", or leave it out'


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
        or distances <= it. FMR = accepted / all non-mated comparisons, FNMR = rejected / all mated comparisons. Where
        failed comparisons count as non-matches, the curve begins where all others are accepted.

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
    # No threshold accepts comparisons that failed: they are not among the points.
    points = slice(first + int(np.isneginf(similarity[first])), last + 1)
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
def eer(comparisons: Comparisons, method: score_metrics.EerMethod = "nearest") -> Eer:
    """Compute the equal error rate.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    method : {"nearest", "nearest-max", "interpolated", "convex-hull"}
        How the EER is read off the curve. "nearest": the mean of FMR and FNMR at the score where the two are nearest
        (of two such scores, the less similar one). "nearest-max": the larger of the two rates at that score [1]_.
        "interpolated": the rate where the straight line between the ROC points on either side of FMR = FNMR meets it.
        "convex-hull": the rate where the ROC's convex hull meets it.

    Returns
    -------
    Eer
        With `value`, `threshold` and `method`.

    Raises
    ------
    InputError
        For an unknown method, and for "interpolated" and "convex-hull" where failed comparisons count as non-matches.

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
    require_eer(comparisons, method)
    keys = keys_of(comparisons)
    value, similarity = score_metrics.equal_error(keys, method)
    if method.startswith("nearest"):
        return Eer(value, comparisons.to_threshold(score_metrics.nearest_equal_error(keys).key), method)
    return Eer(value, comparisons.to_scale(similarity), method)


@checked
def min_dcf(comparisons: Comparisons, costs: Costs = Costs()) -> MinDcf:  # noqa: B008 - frozen
    """Compute the minimum of the detection cost over all thresholds.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    costs : Costs
        The prior of a mated comparison, and the costs of errors.

    Returns
    -------
    MinDcf
        The minimum of c_miss * p_target * FNMR + c_fa * (1 - p_target) * FMR, and its threshold.

    Raises
    ------
    InputError
        Where failed comparisons count as non-matches and accepting everything would cost less than rejecting
        everything.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.min_dcf(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]), ff.Costs(p_target=0.5))
    MinDcf(value=0.16666666666666666, threshold=0.8)
    """
    value, key = score_metrics.least_cost(costs, keys_of(comparisons))
    return MinDcf(value, comparisons.to_threshold(key))


@checked
def act_dcf(comparisons: Comparisons, costs: Costs = Costs()) -> ActDcf:  # noqa: B008 - frozen
    """Compute the detection cost of the decisions that log-likelihood ratios themselves make.

    Parameters
    ----------
    comparisons : Comparisons
        Mated and non-mated comparisons whose scores are declared to be log-likelihood ratios.
    costs : Costs
        As in `min_dcf`.

    Returns
    -------
    ActDcf
        c_miss * p_target * FNMR + c_fa * (1 - p_target) * FMR at the Bayes threshold
        log(c_fa * (1 - p_target) / (c_miss * p_target)), which is the best one for calibrated scores. It is not below
        the minimum, see `min_dcf`; the difference is what miscalibration costs.

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and as `min_dcf` does.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([3.0, 2.0, -0.5, 0.5, -2.0], [1, 1, 1, 0, 0], score_kind="log-likelihood-ratio")
    >>> found = ff.act_dcf(c, ff.Costs(p_target=0.5))
    >>> found.threshold, round(found.value, 4), round(ff.min_dcf(c, ff.Costs(p_target=0.5)).value, 4)
    (0.0, 0.4167, 0.1667)
    """
    require_ratios(comparisons, "the actual DCF")
    fnmr, fmr = score_metrics.rates_of(keys_of(comparisons), comparisons.to_key(costs.threshold))
    return ActDcf(score_metrics.mean_cost(costs, fnmr, fmr), costs.threshold, fmr, fnmr)


@checked
def cllr(comparisons: Comparisons, p_target: Probability = 0.5) -> float:
    """Compute the log-likelihood-ratio cost of scores that are natural-log likelihood ratios.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons; distances are negated first.
    p_target : float, default 0.5
        Prior probability of a mated comparison, in (0, 1).

    Returns
    -------
    float
        As a share of what scores that carry no information cost, which is in bits at the default prior: 0 for a perfect
        system, 1 for one whose scores carry no information, and it may be above 1 for badly calibrated scores. Raw
        similarity scores are not likelihood ratios: for them see `min_cllr`.

    Raises
    ------
    InputError
        For a prior outside (0, 1), and where failed comparisons count as non-matches: their log-likelihood ratio would
        be minus infinity.

    Notes
    -----
    With scores s and the prior p, it is p times the mean of log(1 + exp(-s - logit p)) over mated comparisons, plus
    1 - p times the mean of log(1 + exp(s + logit p)) over non-mated ones, over -p log p - (1 - p) log(1 - p) [1]_.

    References
    ----------
    .. [1] Brümmer and du Preez, "Application-independent evaluation of speaker detection", Computer Speech and Language
       20 (2006).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.cllr(ff.Comparisons([0.0, 0.0], [1, 0]))
    1.0
    >>> round(ff.cllr(ff.Comparisons([2.0, -5.0], [1, 0]), p_target=0.01), 4)
    0.4775
    """
    require_scores(comparisons.failed, "Cllr", NO_CLLR)
    return score_metrics.log_likelihood_ratio_cost(keys_of(comparisons), p_target=p_target)


@checked
def min_cllr(comparisons: Comparisons, p_target: Probability = 0.5) -> float:
    """Compute the Cllr that remains after the best monotone calibration of the scores.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons, on any scale.
    p_target : float, default 0.5
        As in `cllr`.

    Returns
    -------
    float
        On the scale of `cllr`, between 0 (perfect separation) and 1 (none).

    Raises
    ------
    InputError
        For a prior outside (0, 1), and where failed comparisons count as non-matches.

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
    require_scores(comparisons.failed, "min Cllr", NO_CLLR)
    return score_metrics.least_log_likelihood_ratio_cost(keys_of(comparisons), p_target)


def require_eer(comparisons: Comparisons, method: str) -> None:
    """Refuse a method of the EER that would draw lines to where failed comparisons are accepted."""
    if method in ("interpolated", "convex-hull"):
        require_scores(comparisons.failed, f'the EER by the method "{method}"', 'use "nearest" or "nearest-max"')


_RESOLUTION = 300  # points a unit of normal deviate: more cannot be told apart on paper and make vector files heavy


def _visible(fmr: Numbers, fnmr: Numbers) -> NDArray[np.bool_]:
    """Find the points of a curve that differ visibly from the point before on a DET plot."""
    from scipy.special import ndtri

    places = [np.round(_RESOLUTION * ndtri(rate)) for rate in (fmr, fnmr)]
    moved = np.logical_or(*(place[1:] != place[:-1] for place in places))
    return np.append(True, moved)
