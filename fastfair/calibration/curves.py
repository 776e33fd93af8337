"""`bayes_error` and `tippett`: what log-likelihood ratios are worth at every prior, and how they are distributed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import COLORS, GREY, USUAL, axes_or_new, explain
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import ClassKeys
from fastfair.error_rates.score_metrics import require_ratios
from fastfair.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Floats = NDArray[np.float64]
PRIOR_LOG_ODDS = np.linspace(-10, 10, 201)
_MOST_DEFAULTS = 1.5  # times the error without scores, up to which a normalised plot reaches
_QUANTILES = 200  # of either class at which the shares of a Tippett plot are computed


@dataclass(frozen=True, eq=False)
class BayesError:
    """The probability of a wrong decision over the prior log odds of a mated comparison.

    Attributes
    ----------
    prior_log_odds : (p,) ndarray
        Natural logarithms of prior odds.
    actual : (p,) ndarray
        Probability of error where log-likelihood ratios are compared with their Bayes threshold, minus the log odds.
    minimum : (p,) ndarray
        That at the best threshold.
    default : (p,) ndarray
        That without scores, of accepting or of rejecting everything, whichever is right more often.
    """

    prior_log_odds: Floats
    actual: Floats
    minimum: Floats
    default: Floats

    @checked
    def plot(self, ax: Axes | None = None, normalize: bool = False) -> Axes:
        """Draw the applied probability of error (APE) over the prior log odds.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        normalize : bool, default False
            Whether to divide by the error without scores, as a plot of the normalised Bayes error rate does.

        Returns
        -------
        matplotlib Axes
        """
        return draw_bayes_errors({"": self}, ax, normalize=normalize)


@dataclass(frozen=True, eq=False)
class Tippett:
    """The shares of comparisons with at least so large a log-likelihood ratio.

    Attributes
    ----------
    log_likelihood_ratio : (n,) ndarray
        Ascending natural logarithms of likelihood ratios.
    mated, nonmated : (n,) ndarray
        Share of the mated, and of the non-mated, comparisons whose ratio is at least that.
    """

    log_likelihood_ratio: Floats
    mated: Floats
    nonmated: Floats

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw both shares over the likelihood ratio, in powers of ten.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return draw_tippetts({"": self}, ax)


@checked
def bayes_error(comparisons: Comparisons, prior_log_odds: ArrayLike | None = None) -> BayesError:
    """Compute the probability of error over the prior, of log-likelihood ratios as they are and at their best.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios.
    prior_log_odds : (p,) array_like, optional
        Natural logarithms of the prior odds of a mated comparison; by default 201 from -10 to 10.

    Returns
    -------
    BayesError
        p FNMR + (1 - p) FMR at each prior p. Where actual and minimum differ, scores are not calibrated; where the
        actual error is above the default, decisions would be better without them [1]_.

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and log odds that are not finite.

    References
    ----------
    .. [1] Brümmer and du Preez, "Application-independent evaluation of speaker detection", Computer Speech and Language
       20 (2006).

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([3.0, 2.0, -0.5, 0.5, -2.0], [1, 1, 1, 0, 0], score_kind="log-likelihood-ratio")
    >>> curve = ff.calibration.bayes_error(c, [0.0])
    >>> curve.actual.round(4), curve.minimum.round(4), curve.default
    (array([0.4167]), array([0.1667]), array([0.5]))
    """
    require_ratios(comparisons, "the Bayes error rate")
    return bayes_error_of(keys_of(comparisons), _checked_log_odds(prior_log_odds))


@checked
def tippett(comparisons: Comparisons) -> Tippett:
    """Compute the shares of comparisons with at least so large a log-likelihood ratio, as Tippett plots show them.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios.

    Returns
    -------
    Tippett
        At 200 quantiles of the mated and of the non-mated ratios.

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([3.0, 2.0, -0.5, 0.5, -2.0], [1, 1, 1, 0, 0], score_kind="log-likelihood-ratio")
    >>> shares = ff.calibration.tippett(c)
    >>> dict(zip(shares.log_likelihood_ratio.tolist(), shares.nonmated.tolist()))
    {-2.0: 1.0, -0.5: 0.5, 0.5: 0.5, 2.0: 0.0, 3.0: 0.0}
    """
    require_ratios(comparisons, "a Tippett plot")
    return tippett_of(keys_of(comparisons))


def bayes_error_of(keys: ClassKeys, log_odds: Floats = PRIOR_LOG_ODDS) -> BayesError:
    """Compute the probability of error of sorted keys of both classes over prior log odds."""
    from fastfair.kernels import curves as kernels

    m, n = keys.sizes
    thresholds = score_keys.first_keys_at_least(-log_odds, keys.mated)
    fnmr = np.searchsorted(keys.mated, thresholds) / m
    fmr = (n - np.searchsorted(keys.nonmated, thresholds)) / n
    priors = np.exp(-np.logaddexp(0, -log_odds)), np.exp(-np.logaddexp(0, log_odds))
    false_matches, false_nonmatches = kernels.convex_hull(keys.mated, keys.nonmated)
    least = (np.outer(priors[0], false_nonmatches / m) + np.outer(priors[1], false_matches / n)).min(axis=1)
    return BayesError(log_odds, priors[0] * fnmr + priors[1] * fmr, least, np.minimum(*priors))


def tippett_of(keys: ClassKeys) -> Tippett:
    """Compute the shares of sorted keys of both classes."""
    chosen = np.unique(np.concatenate([_some(keys.mated), _some(keys.nonmated)]))
    shares = [1 - np.searchsorted(of_class, chosen) / of_class.size for of_class in (keys.mated, keys.nonmated)]
    return Tippett(score_keys.decode(chosen).astype(np.float64), shares[0], shares[1])


def _some(keys: score_keys.Keys) -> score_keys.Keys:
    return keys[np.linspace(0, keys.size - 1, min(keys.size, _QUANTILES)).round().astype(np.intp)]


def _checked_log_odds(values: ArrayLike | None) -> Floats:
    if values is None:
        return PRIOR_LOG_ODDS
    found = np.atleast_1d(validation.numbers_of("prior_log_odds", values))
    if found.ndim > 1 or not np.isfinite(found).all():
        raise InputError("prior_log_odds must be finite numbers, in one dimension")
    return found


def draw_bayes_errors(
    curves: Mapping[str, BayesError], ax: Axes | None, *, normalize: bool = False, marked: Sequence[float] = ()
) -> Axes:
    """Draw errors over prior log odds: actual ones as lines, minimum ones dashed, and those without scores grey.

    curves: by the name of a group, which one alone does not need; marked: prior log odds of applications.
    """
    ax = axes_or_new(ax)
    for k, curve in enumerate(curves.values()):
        unit = curve.default if normalize else np.ones_like(curve.default)
        color = COLORS[k % len(COLORS)]
        ax.plot(curve.prior_log_odds, curve.actual / unit, color=color)
        ax.plot(curve.prior_log_odds, curve.minimum / unit, color=color, linestyle="--")
    first = next(iter(curves.values()))
    ax.plot(
        first.prior_log_odds, np.ones_like(first.default) if normalize else first.default, color=GREY, linestyle=":"
    )
    for log_odds in marked:
        ax.axvline(log_odds, color="0.75", linewidth=0.8, zorder=0)
    highest = max(float(curve.actual.max()) for curve in curves.values())
    ax.set_ylim(0, _MOST_DEFAULTS if normalize else 1.15 * max(highest, 1e-3))
    ax.set_xlabel("Prior log odds of a mated comparison")
    ax.set_ylabel("Error / error without scores" if normalize else "Probability of error")
    ax.grid(alpha=0.3)
    _explain(ax, list(curves), ("actual", "minimum"), [("without scores", {"color": GREY, "linestyle": ":"})])
    return ax


def draw_tippetts(curves: Mapping[str, Tippett], ax: Axes | None) -> Axes:
    """Draw the shares of mated and of non-mated comparisons whose likelihood ratio is at least so large."""
    ax = axes_or_new(ax)
    for k, curve in enumerate(curves.values()):
        style: dict[str, Any] = {"color": COLORS[k % len(COLORS)], "drawstyle": "steps-pre"}
        at = curve.log_likelihood_ratio / math.log(10)
        ax.plot(at, curve.mated, **style)
        ax.plot(at, curve.nonmated, linestyle="--", **style)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Likelihood ratio (power of ten)")
    ax.set_ylabel("Share with at least that ratio")
    ax.grid(alpha=0.3)
    _explain(ax, list(curves), ("mated", "non-mated"))
    return ax


def _explain(ax: Axes, groups: Sequence[str], lines: tuple[str, str], more: Sequence[tuple[str, Any]] = ()) -> None:
    """Put a legend below: the colours of several groups, what a line and a dashed line are, and more."""
    several = len(groups) > 1
    styles: list[Any] = [(name, {"color": COLORS[k % len(COLORS)]}) for k, name in enumerate(groups) if several]
    usual = "0.2" if several else USUAL
    explain(ax, [*styles, (lines[0], {"color": usual}), (lines[1], {"color": usual, "linestyle": "--"}), *more])
