"""`evaluate_calibration`: what decisions of log-likelihood ratios cost, and what of it is due to
miscalibration.

`bayes_error` and `tippett` are curves of the ratios: what they are worth at every prior, and how
they are distributed.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import ManyResamples, checked
from fastfair._lib.arrays import Floats, Integers, RandomKey
from fastfair._lib.plots import (
    GREY,
    STANDS_OUT,
    USUAL,
    Bar,
    Line,
    axes_or_new,
    draw_rows,
    explain,
    mark_style,
)
from fastfair._lib.tables import columns_of
from fastfair._lib.text import p_in_words
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import ClassKeys
from fastfair.error_rates.operating_points import at_threshold, threshold_key
from fastfair.error_rates.rates import Rates, rates_at_key
from fastfair.error_rates.score_metrics import (
    Costs,
    least_cost,
    least_log_likelihood_ratio_cost,
    log_likelihood_ratio_cost,
    mean_cost,
    require_ratios,
)
from fastfair.errors import InputError
from fastfair.evaluation.chapter import sizes_in_words
from fastfair.evaluation.evaluate import (
    EvaluationSettings,
    concentrations,
    evaluate,
    quantity_of_entry,
)
from fastfair.evaluation.result import Evaluation
from fastfair.measures import MEASURES
from fastfair.measures._registry import quantity_name
from fastfair.resampling.engine import Metrics, Replicates, Resampler, different_groups
from fastfair.resampling.units import Unit
from fastfair.results.result import Printed, Result, printed
from fastfair.uncertainty.few_errors import SampleSizes
from fastfair.uncertainty.interval_maker import IntervalMaker
from fastfair.uncertainty.inversion import MeasureInversion, MovedSystems
from fastfair.uncertainty.notes import Code, Note, Noted, notes_about
from fastfair.uncertainty.quantities import (
    Estimate,
    Quantity,
    Selection,
    ends_of,
    entries,
    estimates,
    find,
    measure_entries,
    noted,
    sizes_of_groups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        Probability of error where log-likelihood ratios are compared with their Bayes threshold,
        minus the log odds.
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
            Whether to divide by the error without scores, as a plot of the normalised Bayes error
            rate does.

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
def bayes_error(comparisons: Comparisons, prior_log_odds: ArrayLike = PRIOR_LOG_ODDS) -> BayesError:
    """Compute the probability of error over the prior, of log-likelihood ratios as they are and at
    their best.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios.
    prior_log_odds : (p,) array_like, optional
        Natural logarithms of the prior odds of a mated comparison; by default 201 from -10 to 10.

    Returns
    -------
    BayesError
        p FNMR + (1 - p) FMR at each prior p. Where actual and minimum differ, scores are not
        calibrated; where the actual error is above the default, decisions would be better without
        them [1]_.

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and log odds that are not
        finite.

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
    log_odds = np.atleast_1d(validation.numbers_of("prior_log_odds", prior_log_odds))
    if log_odds.ndim > 1 or not np.isfinite(log_odds).all():
        raise InputError("prior_log_odds must be finite numbers, in one dimension")
    return bayes_error_of(keys_of(comparisons), comparisons.score_dtype, log_odds)


@checked
def tippett(comparisons: Comparisons) -> Tippett:
    """Compute the shares of comparisons with at least so large a log-likelihood ratio, as Tippett
    plots show them.

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


def bayes_error_of(
    keys: ClassKeys, dtype: np.dtype[Any], log_odds: Floats = PRIOR_LOG_ODDS
) -> BayesError:
    """Compute the probability of error of sorted keys of both classes over prior log odds."""
    from fastfair.kernels import curves as kernels

    m, n = keys.sizes
    thresholds = score_keys.first_keys_at_least(
        score_keys.given_similarities(-log_odds, dtype), keys.mated
    )
    fnmr = np.searchsorted(keys.mated, thresholds) / m
    fmr = (n - np.searchsorted(keys.nonmated, thresholds)) / n
    priors = np.exp(-np.logaddexp(0, -log_odds)), np.exp(-np.logaddexp(0, log_odds))
    false_matches, false_nonmatches = kernels.convex_hull(keys.mated, keys.nonmated)
    least = (
        np.outer(priors[0], false_nonmatches / m) + np.outer(priors[1], false_matches / n)
    ).min(axis=1)
    return BayesError(log_odds, priors[0] * fnmr + priors[1] * fmr, least, np.minimum(*priors))


_LEAST_LOSS = 0.01  # bits; of less no base is guessed
_MOST_OF_LOSS = 0.5  # that one application may have
_BASES = {
    math.log(10): 'to base 10: declare them with ⟦score_kind="log10-likelihood-ratio"⟧',
    1 / math.log(10): (
        "natural ones that were multiplied by ln 10, as where natural ones are declared to be to"
        " base 10"
    ),
}


def _hint_on_base(keys: ClassKeys) -> str:
    """Say where another base of the logarithms explains most of what miscalibration costs; empty
    where none does.
    """
    least = least_log_likelihood_ratio_cost(keys)
    loss = log_likelihood_ratio_cost(keys) - least
    if loss < _LEAST_LOSS:
        return ""

    def loss_of(factor: float) -> float:
        mated, nonmated = (
            score_keys.encode(score_keys.decode(of_class).astype(np.float64) * factor)
            for of_class in (keys.mated, keys.nonmated)
        )
        return log_likelihood_ratio_cost(ClassKeys(mated, nonmated, keys.sizes)) - least

    left, factor = min((loss_of(factor), factor) for factor in _BASES)
    if left > (1 - _MOST_OF_LOSS) * loss:
        return ""
    return (
        f"Calibration by a factor of {'' if factor > 1 else '1/'}ln 10 would save {loss - left:.3g}"
        f" of the {loss:.3g} that miscalibration costs in Cllr: the logarithms may be"
        f" {_BASES[factor]}."
    )


def tippett_of(keys: ClassKeys) -> Tippett:
    """Compute the shares of sorted keys of both classes."""
    chosen = np.unique(np.concatenate([_some(keys.mated), _some(keys.nonmated)]))
    shares = [
        1 - np.searchsorted(of_class, chosen) / of_class.size
        for of_class in (keys.mated, keys.nonmated)
    ]
    return Tippett(score_keys.decode(chosen).astype(np.float64), shares[0], shares[1])


def _some(keys: score_keys.Keys) -> score_keys.Keys:
    return keys[np.linspace(0, keys.size - 1, min(keys.size, _QUANTILES)).round().astype(np.intp)]


def draw_bayes_errors(
    curves: Mapping[str, BayesError],
    ax: Axes | None,
    *,
    normalize: bool = False,
    marked: Sequence[float] = (),
) -> Axes:
    """Draw errors over prior log odds: actual ones as lines, minimum ones dashed, and those without
    scores grey.

    curves: by the name of a group, which one alone does not need; marked: prior log odds of
    applications.
    """

    def unit(curve: BayesError) -> Floats:
        return curve.default if normalize else np.ones_like(curve.default)

    first = next(iter(curves.values()))
    lines = {
        name: (curve.prior_log_odds, curve.actual / unit(curve), curve.minimum / unit(curve))
        for name, curve in curves.items()
    }
    guide: dict[str, Any] = {"color": GREY, "linestyle": ":"}
    ax = _draw_pairs(lines, ax, ("actual", "minimum"), [("without scores", guide)])
    ax.plot(first.prior_log_odds, first.default / unit(first), **guide)
    for log_odds in marked:
        ax.axvline(log_odds, color="0.75", linewidth=0.8, zorder=0)
    highest = max(float(curve.actual.max()) for curve in curves.values())
    ax.set_ylim(0, _MOST_DEFAULTS if normalize else 1.15 * max(highest, 1e-3))
    ylabel = "Error / error without scores" if normalize else "Probability of error"
    ax.set(xlabel="Prior log odds of a mated comparison", ylabel=ylabel)
    return ax


def draw_tippetts(curves: Mapping[str, Tippett], ax: Axes | None) -> Axes:
    """Draw the shares of mated and of non-mated comparisons whose likelihood ratio is at least so
    large.
    """
    lines = {
        name: (curve.log_likelihood_ratio / math.log(10), curve.mated, curve.nonmated)
        for name, curve in curves.items()
    }
    ax = _draw_pairs(lines, ax, ("mated", "non-mated"), drawstyle="steps-pre")
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    ax.set(
        xlabel="Likelihood ratio (power of ten)",
        ylabel="Share with at least that ratio",
        ylim=(0, 1.02),
    )
    return ax


def _draw_pairs(
    curves: Mapping[str, tuple[Floats, Floats, Floats]],
    ax: Axes | None,
    names: tuple[str, str],
    more: Sequence[tuple[str, Any]] = (),
    **style: Any,
) -> Axes:
    """Draw a line and a dashed line over the same places for each group, in its colour, and explain
    them below.
    """
    ax = axes_or_new(ax)
    several = len(curves) > 1
    colors: dict[str, dict[str, Any]] = {
        name: mark_style(k) | {"markevery": 0.12, "markersize": 4} if several else {"color": USUAL}
        for k, name in enumerate(curves)
    }
    for name, (places, line, dashed) in curves.items():
        ax.plot(places, line, **colors[name], **style)
        ax.plot(places, dashed, linestyle="--", **colors[name], **style)
    ax.grid(alpha=0.3)
    usual = {"color": "0.2" if several else USUAL}
    of_groups = list(colors.items()) if several else []
    explain(ax, [*of_groups, (names[0], usual), (names[1], usual | {"linestyle": "--"}), *more])
    return ax


MISCALIBRATED = "miscalibrated"
DIFFERENT = "different"
UNDECIDED = "undecided"
_Row = TypeVar("_Row", "ApplicationCost", "CostMeasure")
_Curve = TypeVar("_Curve", BayesError, Tippett)
_APART = 0.16  # of a row, between the marks of actual and minimum cost
_MOST_DIFFERENCES = 15  # pairs of groups that a table lists; of more, only those that differ
_MOST_CURVES = 8  # groups that one plot can show


@dataclass(frozen=True)
class ApplicationCost(Noted):
    """What decisions cost in one application, of all comparisons or of a group.

    Attributes
    ----------
    application : Costs
        Prior and costs.
    group : str or None
        The group; None for all comparisons.
    threshold : float
        The Bayes threshold.
    actual, actual_low, actual_high : float
        Cost of the decisions at the Bayes threshold, with its interval.
    minimum, minimum_low, minimum_high : float
        Cost at the best threshold, with its interval.
    miscalibration, miscalibration_low, miscalibration_high : float
        Actual minus minimum cost, with its interval. The estimate lies too high by chance, as the
        minimum is looked for in the same comparisons.
    cllr, cllr_low, cllr_high : float
        Cllr at the prior that, with equal costs, has the same threshold.
    pvalue : float
        p-value of the hypothesis that no shifted threshold of a fixed list costs less.
    pvalue_adjusted : float
        For a group, the same after Holm's adjustment for the number of groups.
    verdict : {"miscalibrated", "undecided", ""}
        Whether the adjusted p-value is at most one minus the confidence level; empty without one.
    fnmr, fmr : float
        Error rates at the Bayes threshold.
    n_mated, n_nonmated, n_false_nonmatches, n_false_matches : int
        Numbers of comparisons and of errors.
    notes : tuple of Note
        Warnings for the reader; `note` is their text.
    """

    application: Costs
    group: str | None
    threshold: float
    actual: float
    actual_low: float
    actual_high: float
    minimum: float
    minimum_low: float
    minimum_high: float
    miscalibration: float
    miscalibration_low: float
    miscalibration_high: float
    cllr: float
    cllr_low: float
    cllr_high: float
    pvalue: float
    pvalue_adjusted: float
    verdict: str
    fnmr: float
    fmr: float
    n_mated: int
    n_nonmated: int
    n_false_nonmatches: int
    n_false_matches: int
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class RatioCost:
    """Cllr at even odds of all comparisons or of a group, and what of it a calibration could save.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    cllr, cllr_low, cllr_high : float
        Cllr, with its interval.
    minimum, minimum_low, minimum_high : float
        min Cllr, with its interval.
    loss, loss_high : float
        Cllr minus min Cllr, with an upper limit. There is no lower limit, as the estimate lies too
        high by chance.
    """

    group: str | None
    cllr: float
    cllr_low: float
    cllr_high: float
    minimum: float
    minimum_low: float
    minimum_high: float
    loss: float
    loss_high: float


@dataclass(frozen=True)
class CostDifference:
    """The difference between two groups in what decisions cost.

    Attributes
    ----------
    application : Costs
        Prior and costs.
    quantity : {"act_dcf", "miscalibration"}
        What is compared: the actual cost, or actual minus minimum cost.
    first, second : str
        The groups.
    difference, low, high : float
        That of the first minus that of the second, with its interval.
    simultaneous_low, simultaneous_high : float
        Interval that holds for all pairs of groups together.
    verdict : {"different", "undecided", ""}
        Whether the simultaneous interval leaves out 0; empty without one.
    """

    application: Costs
    quantity: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    verdict: str

    @property
    def costlier_first(self) -> tuple[str, str]:
        """Both groups, the one with the larger cost first."""
        return (self.first, self.second) if self.difference > 0 else (self.second, self.first)


@dataclass(frozen=True, kw_only=True)
class CostMeasure(Estimate):
    """A fairness measure of costs: an `Estimate`, with the application and its name.

    Attributes
    ----------
    application : Costs
        Prior and costs.
    name : str
        The measure followed by its base metric, such as "nrb(act_dcf)": "act_dcf", "min_dcf", or
        "cllr" at the application's prior. `group` is that of a measure that has a value for each.
    """

    application: Costs
    name: str

    _unused = ("n_comparisons", "n_errors", "n_subjects")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """The result of `evaluate_calibration`.

    Attributes
    ----------
    costs : tuple of ApplicationCost
        For each application, of all comparisons and of each group.
    ratio_costs : tuple of RatioCost
        Cllr at even odds, of all comparisons and of each group.
    differences : tuple of CostDifference
        For each application, between each two groups, in the actual cost and in miscalibration.
    measures : tuple of CostMeasure
        Fairness measures of the actual and of the minimum cost, and of Cllr.
    bayes_errors : dict of BayesError
        Errors over priors, by group; that of all comparisons under None.
    tippetts : dict of Tippett
        Shares of comparisons over likelihood ratios, by group; those of all comparisons under None.
    description : str
        A short description of the comparisons.
    settings : dict
        The arguments of the call, and the seed.

    Notes
    -----
    The table of `to_frame` has a row for each application and group. JSON has all, curves included.
    """

    _page_title = "Calibration of log-likelihood ratios"
    _title = "Calibration"

    costs: tuple[ApplicationCost, ...]
    ratio_costs: tuple[RatioCost, ...]
    differences: tuple[CostDifference, ...]
    measures: tuple[CostMeasure, ...]
    bayes_errors: dict[str | None, BayesError] = field(repr=False)
    tippetts: dict[str | None, Tippett] = field(repr=False)
    description: str
    settings: dict[str, Any]

    @property
    def applications(self) -> tuple[Costs, ...]:
        """The applications, in the order asked."""
        return tuple(dict.fromkeys(row.application for row in self.costs))

    @property
    def confidence_level(self) -> float:
        """Of the intervals."""
        return float(self.settings["confidence_level"])

    @checked
    def cost(self, application: Costs | None = None, group: str | None = None) -> ApplicationCost:
        """Return what decisions cost in an application.

        Parameters
        ----------
        application : Costs, optional
            Needed where there are several.
        group : str, optional
            By default all comparisons.

        Returns
        -------
        ApplicationCost

        Raises
        ------
        InputError
            Where there is no such row, or more than one.
        """
        return self._one(
            [row for row in self.costs if row.group == group], application, f"group {group!r}"
        )

    @checked
    def measure(
        self, name: str, group: str | None = None, application: Costs | None = None
    ) -> CostMeasure:
        """Return a fairness measure of costs.

        Parameters
        ----------
        name : str
            Such as "nrb(act_dcf)".
        group : str, optional
            The group, for a measure with a value for each.
        application : Costs, optional
            Needed where there are several.

        Returns
        -------
        CostMeasure

        Raises
        ------
        InputError
            Where there is no such measure, or more than one.
        """
        called = quantity_name(name)
        rows = [row for row in self.measures if (row.name, row.group) == (called, group)]
        return self._one(
            rows, application, f"measure {name!r} of {'all' if group is None else repr(group)}"
        )

    def _one(self, rows: Sequence[_Row], application: Costs | None, what: str) -> _Row:
        matching = [row for row in rows if application in (None, row.application)]
        if len(matching) == 1:
            return matching[0]
        applications = ", ".join(dict.fromkeys(str(row.application) for row in self.costs))
        if matching:
            raise InputError(
                f"there are several applications, {applications}: choose one with application="
            )
        where = "" if application is None else f" at {application}"
        raise InputError(f"there is no {what}{where}; applications are {applications}")

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        text = [f"{self.description}.", _about_costs(normalized=bool(self.settings["normalize"]))]
        for application in self.applications:
            rows = [row for row in self.costs if row.application == application]
            text.append(_sentence(rows[0]))
            miscalibrated = [row for row in rows[1:] if row.verdict == MISCALIBRATED]
            if miscalibrated:
                named = ", ".join(
                    f"{row.group} ({row.actual:.3g}, at best {row.minimum:.3g})"
                    for row in miscalibrated
                )
                text.append(
                    f"Miscalibrated, with p-values adjusted for the number of groups: {named}."
                )
            pairs = [
                difference
                for difference in self.differences
                if (difference.application, difference.verdict) == (application, DIFFERENT)
            ]
            for quantity, called in (
                ("act_dcf", "Decisions"),
                ("miscalibration", "Miscalibration"),
            ):
                said = [
                    "{} than {}".format(*difference.costlier_first)
                    for difference in pairs
                    if difference.quantity == quantity
                ]
                if said:
                    text.append(f"{called} cost more for {', '.join(said)}.")
            if len(rows) > 2 and not pairs:
                text.append(
                    "No two groups differ significantly in what decisions or miscalibration cost."
                )
        overall = self.ratio_costs[0]
        text.append(
            f"Cllr is {overall.cllr:.3g} [{overall.cllr_low:.3g}, {overall.cllr_high:.3g}]; the"
            f" best calibration would save {overall.loss:.3g} of it, at most"
            f" {overall.loss_high:.3g}."
        )
        hint = self.settings.get("hint")
        return [*text, hint] if hint else text

    def _columns(self) -> dict[str, list[Any]]:
        columns = columns_of(self.costs)
        asked = columns.pop("application")
        parts = {
            name: [float(getattr(costs, name)) for costs in asked]
            for name in ("p_target", "c_miss", "c_fa")
        }
        return {"application": list(map(str, asked))} | parts | columns

    def _figures(self) -> Mapping[str, Axes | Figure]:
        return {
            "costs": self.plot(),
            "bayes_error": self.plot_bayes_error(),
            "tippett": self.plot_tippett(),
            "normalized_bayes_error": self.plot_bayes_error(normalize=True),
        }

    @checked
    def plot(self, ax: Axes | None = None, application: Costs | None = None) -> Axes:
        """Draw the actual and the minimum cost of all comparisons and of each group, with
        intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        application : Costs, optional
            By default all of them.

        Returns
        -------
        matplotlib Axes
        """
        rows = [row for row in self.costs if application in (None, row.application)]
        if not rows:
            self.cost(application)  # says which there are
        several = len({row.application for row in rows}) > 1
        labels = [
            f"{row.group or 'all'}{f' ({row.application})' if several else ''}" for row in rows
        ]
        bars = []
        for y, row in enumerate(rows):
            color = USUAL
            marker = "o"
            label = "actual DCF"
            if row.verdict == MISCALIBRATED:
                color = STANDS_OUT
                marker = "D"
                label = "actual DCF, miscalibrated"
            actual = row.actual, row.actual_low, row.actual_high
            minimum = row.minimum, row.minimum_low, row.minimum_high
            bars.append(Bar(y - _APART, *actual, color=color, marker=marker, label=label))
            bars.append(Bar(y + _APART, *minimum, color=GREY, marker="s", label="minimum DCF"))
        normalize = self.settings["normalize"]
        xlabel = "Detection cost" + (", as a share of that without scores" if normalize else "")
        ax = draw_rows(
            ax, labels, bars, [Line(1, "", ":", GREY)] * normalize, xlabel=xlabel, per_cent=False
        )
        ax.set_xlim(left=0)
        return ax

    @checked
    def plot_bayes_error(self, ax: Axes | None = None, normalize: bool = False) -> Axes:
        """Draw the probability of error over the prior (APE), of each group, or of all where there
        are more than 8.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        normalize : bool, default False
            As in `BayesError.plot`.

        Returns
        -------
        matplotlib Axes
        """
        marked = [-application.threshold for application in self.applications]
        return draw_bayes_errors(_shown(self.bayes_errors), ax, normalize=normalize, marked=marked)

    @checked
    def plot_tippett(self, ax: Axes | None = None) -> Axes:
        """Draw the shares of comparisons over likelihood ratios, of each group, or of all where
        there are more than 8.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return draw_tippetts(_shown(self.tippetts), ax)

    def _tables(self) -> list[Printed]:
        few = len(self.differences) <= 2 * _MOST_DIFFERENCES * len(self.applications)
        level = f"{100 * self.confidence_level:g} % intervals"
        listed: tuple[tuple[str, Sequence[Any], str], ...] = (
            (
                f"Detection costs with {level} in brackets",
                self.costs,
                (
                    "application group actual minimum miscalibration "
                    "pvalue_adjusted verdict fnmr fmr n_false_nonmatches n_false_matches"
                ),
            ),
            (
                f"Differences between groups; {level} that hold for all pairs together",
                [row for row in self.differences if few or row.verdict == DIFFERENT],
                "application name first second difference verdict",
            ),
            (
                f"Fairness measures with {level}",
                [row for row in self.measures if row.group is None],
                "application name estimate",
            ),
            (f"Cllr in bits, with {level}", self.ratio_costs, "group cllr minimum loss loss_high"),
        )
        tables = [
            (title, *printed(_columns_of(rows), names.split())[1:])
            for title, rows, names in listed
            if rows
        ]
        notes = [note for rows in (self.costs, self.measures) for row in rows for note in row.notes]
        kinds = Counter(filter(None, (note.on_page for note in notes)))
        rows_of_notes = [[kind, str(n)] for kind, n in kinds.items()]
        return [*tables, ("Notes", ["note", "numbers"], rows_of_notes)] if kinds else tables


def _columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the columns of rows; differences with the intervals that hold for all pairs."""
    columns = columns_of(rows)
    if "quantity" in columns:
        columns["name"] = columns["quantity"]
        columns |= {f"difference_{end}": columns[f"simultaneous_{end}"] for end in ("low", "high")}
    return columns


def _about_costs(*, normalized: bool) -> str:
    """Explain the numbers of the sentences that follow."""
    return (
        "A cost is the mean over decisions: c_miss (1 by default) for a false non-match and c_fa for"
        " a false match, where the share p_target is mated"
        + ("; 1 is the cost of decisions without scores." if normalized else ".")
    )


def _sentence(row: ApplicationCost) -> str:
    has_interval = not math.isnan(row.actual_low)
    brackets = f" [{row.actual_low:.3g}, {row.actual_high:.3g}]" if has_interval else ""
    cost = (
        f"with the Bayes threshold {row.threshold:.4g}, decisions cost {row.actual:.3g}{brackets}"
    )
    verdict = {
        "": "; there is no test of whether that is by chance",
        MISCALIBRATED: f": the ratios are miscalibrated ({p_in_words(row.pvalue)})",
        UNDECIDED: (
            f"; the data do not show that the ratios are miscalibrated ({p_in_words(row.pvalue)})"
        ),
    }[row.verdict]
    return f"At {row.application}, {cost}; at the best threshold {row.minimum:.3g}{verdict}."


def _shown(curves: Mapping[str | None, _Curve]) -> dict[str, _Curve]:
    """Return the curves of groups, or that of all comparisons where these are none or too many."""
    of_groups = {group: curve for group, curve in curves.items() if group is not None}
    return of_groups if 1 < len(of_groups) <= _MOST_CURVES else {"": curves[None]}


# of each kind in every group; with fewer, measures' intervals miss the truth more often
_ENOUGH_ERRORS = 5
_METRICS = ("act_dcf", "min_dcf", "cllr")
# What is added to the Bayes threshold where a lower cost is looked for: fixed beforehand, so that
# nothing is fitted. The farthest accept and reject everything, which ratios that are wrong by
# orders of magnitude need.
_NEAR = (1.0, 2.0, 4.0)
_FAR = (8.0, 16.0, 64.0, 256.0, 1e9)
SHIFTS = np.array([sign * shift for shift in (*_NEAR, *_FAR) for sign in (-1, 1)])
# The share of the error probability that each shift has; together 1. Small faults are the usual
# ones.
_SHARES = np.repeat(
    [0.75 / (2 * len(_NEAR)), 0.25 / (2 * len(_FAR))], [2 * len(_NEAR), 2 * len(_FAR)]
)


@dataclass(frozen=True, eq=False)
class ReplicatedCosts:
    """The costs of all comparisons and of each group in one application, in the data and in
    replicates.

    Attributes
    ----------
    application : Costs
        Prior and costs.
    at_bayes : Rates
        Rates and counts at the Bayes threshold.
    weights : pair of float
        What an FNMR and an FMR of 1 cost.
    base, drawn : Replicates
        The data and the replicates, with the metrics "act_dcf", "min_dcf" and "cllr".
    saved, error : (shifts, 1 + groups) ndarray
        What shifted thresholds save, and the standard errors where they save nothing.
    fewest_errors : int
        The fewest false matches, or false non-matches, of a group that measures compare.
    maker : IntervalMaker
        Makes intervals of rates, costs and measures.
    """

    application: Costs
    at_bayes: Rates
    weights: tuple[float, float]
    base: Replicates
    drawn: Replicates
    saved: Floats
    error: Floats
    fewest_errors: int
    maker: IntervalMaker

    @property
    def groups(self) -> tuple[str | None, ...]:
        """All comparisons, and the groups."""
        return None, *self.at_bayes.groups

    @property
    def miscalibration(self) -> Floats:
        """(1 + groups,) actual minus minimum cost."""
        return np.maximum(self.base.metrics["act_dcf"] - self.base.metrics["min_dcf"], 0)

    @cached_property
    def freedom(self) -> Floats:
        """(1 + groups,) degrees of freedom of costs."""
        places = {q.key[:2]: k for k, q in enumerate(self.maker.quantities)}
        return self.maker.sizes.degrees_of_freedom[
            [places["act_dcf", group] for group in self.groups]
        ]


def replicate_costs(
    comparisons: Comparisons,
    application: Costs,
    normalize: bool,
    measured: tuple[int, ...],
    unit: Unit,
    n_resamples: int,
    key: RandomKey,
    workers: Workers,
) -> ReplicatedCosts:
    """Compute costs in the data and in replicates; measured: the groups with comparisons of both
    classes.
    """
    costs = replace(application, normalize=normalize)
    prior = application.effective_prior
    points = [at_threshold(costs.threshold + float(shift)) for shift in (0.0, *SHIFTS)]
    at_points = [
        rates_at_key(comparisons, point, threshold_key(comparisons, point)) for point in points
    ]
    metrics = Metrics(("min_dcf", "cllr"), costs=costs, p_target=prior)
    resampler = Resampler(
        comparisons, points, unit=unit, metrics=metrics, measured=measured, workers=workers
    )
    lists = [keys_of(comparisons, k) for k in (None, *range(len(comparisons.groups)))]
    of_lists = [
        (
            (least_cost(costs, keys)[0], log_likelihood_ratio_cost(keys, p_target=prior))
            if all(keys.sizes)
            else (np.nan, np.nan)
        )
        for keys in lists
    ]
    cells = different_groups(comparisons) if comparisons.groups else ()
    base = estimates(
        at_points, dict(zip(("min_dcf", "cllr"), np.array(of_lists).T, strict=True)), cells
    )
    both = base, resampler.replicate(n_resamples, key, workers)
    rows = slice(0, len(lists))
    of_points = [mean_cost(costs, rates.fnmr[:, rows], rates.fmr[:, rows]) for rates in both]
    base, drawn = (
        replace(rates, metrics={"act_dcf": values[0]} | rates.metrics)
        for rates, values in zip(both, of_points, strict=True)
    )
    weights = costs.miss / costs.unit, costs.false_match / costs.unit
    errors = [
        np.array(
            [
                [getattr(rates.counts, name), *getattr(rates.counts, f"group_{name}")]
                for rates in at_points
            ]
        )
        for name in ("false_nonmatches", "false_matches")
    ]
    saved, drawn_saved = (values[:1] - values[1:] for values in of_points)
    error = _error_of_savings(drawn_saved, weights, errors, at_points[0])
    compared = [1 + k for k in measured]
    return ReplicatedCosts(
        application,
        at_points[0],
        weights,
        base,
        drawn,
        saved,
        error,
        min((int(rates[0, compared].min()) for rates in errors if compared), default=0),
        _interval_maker(
            comparisons, measured, (base, drawn), at_points[0], resampler, costs, workers.n_threads
        ),
    )


def _error_of_savings(
    drawn: Floats,
    weights: tuple[float, float],
    errors: Sequence[Integers],
    at_bayes: Rates,
) -> Floats:
    """Compute (shifts, 1 + groups) standard errors of what shifted thresholds save, where they save
    nothing.

    Chance that finds few errors finds a small standard error as well. So errors of one class vary
    at least as much as they would if there were so many that what the shift saves and what it adds
    were the same. errors: false non-matches and false matches, (points, 1 + groups) each.
    """
    variance = drawn.var(axis=-1, ddof=1)
    counts = at_bayes.counts
    sizes = (
        np.array([counts.mated, *counts.group_mated]),
        np.array([counts.nonmated, *counts.group_nonmated]),
    )
    changes = [
        (weight / np.maximum(n, 1), np.abs(wrong[1:] - wrong[0]))
        for weight, wrong, n in zip(weights, errors, sizes, strict=True)
    ]
    for (of_each, variance_of_class), (of_other, others) in (changes, changes[::-1]):
        wanted = others * of_other / of_each
        variance = variance + of_each**2 * np.maximum(wanted - variance_of_class, 0)
    return np.sqrt(variance)


def _interval_maker(
    comparisons: Comparisons,
    measured: tuple[int, ...],
    both: tuple[Replicates, Replicates],
    at_bayes: Rates,
    resampler: Resampler,
    costs: Costs,
    n_threads: int | None,
) -> IntervalMaker:
    of_costs = Selection(
        comparisons.groups, measured, *sizes_of_groups(comparisons), n_points=1, metrics=_METRICS
    )
    measures = tuple(
        name for name, measure in MEASURES.items() if "act_dcf" in measure.of and len(measured) > 1
    )
    of_measures = replace(of_costs, n_points=0, measures=measures)
    no_points = [
        replace(
            estimated,
            fmr=estimated.fmr[:0],
            fnmr=estimated.fnmr[:0],
            threshold=estimated.threshold[:0],
        )
        for estimated in both
    ]
    listed, replicates = (
        [*entries(estimated, of_costs), *measure_entries(alone, of_measures)]
        for estimated, alone in zip(both, no_points, strict=True)
    )
    shares = concentrations(comparisons, [at_bayes])
    systems = partial(MovedSystems, no_points[0], no_points[1], of_measures, n_threads)
    rows = {entry.key: k for k, entry in enumerate(listed)}
    return IntervalMaker(
        tuple(quantity_of_entry(entry, [at_bayes], shares) for entry in listed),
        np.array([entry.value for entry in replicates]),
        sizes=SampleSizes.of(listed, resampler),
        inversion=MeasureInversion(rows, systems) if measures else None,
        costs=costs,
        n_threads=n_threads,
    )


def limits_of(
    costs: ReplicatedCosts, level: float
) -> tuple[dict[str, Floats], tuple[Quantity, ...]]:
    """Make intervals of one confidence level.

    Returned are (3, 1 + groups) estimates, lower and upper limits of "actual", "minimum",
    "miscalibration" and "cllr", and the quantities that these are made of. The lower limits of
    miscalibration are what thresholds that were shifted without a look at the data save at least.
    """
    quantities = costs.maker.with_intervals(level, "auto")
    mated, nonmated, minimum, cllr = (
        _intervals([find(quantities, name, group, None) for group in costs.groups])
        for name in ("fnmr", "fmr", "min_dcf", "cllr")
    )
    drawn = costs.drawn
    rows = slice(0, len(costs.groups))
    of_rates = intervals.correlations_of(np.array([drawn.fnmr[0, rows], drawn.fmr[0, rows]]))
    low, high = intervals.sum_interval(
        costs.weights[0] * mated, costs.weights[1] * nonmated, of_rates
    )
    actual = np.array([costs.base.metrics["act_dcf"], np.maximum(low, 0), high])
    reach = stdtrit(costs.freedom, 1 - (1 - level) / 2 * _SHARES[:, None])
    low = np.maximum((costs.saved - reach * costs.error).max(axis=0), 0)
    of_costs = intervals.correlations_of(
        np.array([drawn.metrics["act_dcf"], drawn.metrics["min_dcf"]])
    )
    _, high = intervals.difference_interval(actual, minimum, of_costs)
    lost = costs.miscalibration
    low = np.where(np.isnan(high), np.nan, np.minimum(low, lost))
    miscalibration = np.array([lost, low, np.maximum(high, lost)])
    return {
        "actual": actual,
        "minimum": minimum,
        "miscalibration": miscalibration,
        "cllr": cllr,
    }, quantities


def _measures_of(costs: ReplicatedCosts, quantities: Sequence[Quantity]) -> list[CostMeasure]:
    """Return the fairness measures of costs.

    In replicates a group without errors of a kind has none, so that its cost hardly varies:
    measures of the actual cost then have no interval, in which a fair system's value would often be
    missing.
    """
    made = []
    fewest = costs.fewest_errors
    for quantity in quantities:
        if "(" not in quantity.name:
            continue
        if (
            quantity.name.endswith("(act_dcf)")
            and fewest < _ENOUGH_ERRORS
            and math.isfinite(quantity.estimate)
        ):
            if fewest:
                quantity = noted(quantity, Note.of(Code.FEW_ERRORS_OF_A_KIND, least=_ENOUGH_ERRORS))
            else:
                quantity = noted(
                    replace(quantity, low=math.nan, high=math.nan), Note(Code.NO_ERRORS_OF_A_KIND)
                )
        made.append(CostMeasure._of(quantity, application=costs.application, name=quantity.name))
    return made


def _intervals(quantities: list[Quantity]) -> Floats:
    """Return the (3, n) estimates and limits of quantities; NaN where there are none."""
    return np.array([(q.estimate, *ends_of(q)) for q in quantities], np.float64).T


_USUAL = (Costs(0.01), Costs(0.5))


@checked
def evaluate_calibration(
    comparisons: Comparisons,
    applications: Costs | Sequence[Costs] = _USUAL,
    *,
    normalize: bool = True,
    unit: Unit = "subject",
    n_resamples: ManyResamples = 2000,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Calibration:
    """Compute what the decisions of log-likelihood ratios cost, overall and in each group, and what
    the best would.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios; `calibrate` makes such of
        other scores.
    applications : Costs or sequence of Costs
        Priors and costs; by default the priors 0.01 and 0.5 with equal costs.
    normalize : bool, default True
        Whether to divide the costs of all applications by that of accepting, or of rejecting,
        everything, whichever is lower.
    unit
        As in `evaluate`.
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level, rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and as `evaluate` does.

    Warns
    -----
    DroppedWarning
        Names groups without mated, or without non-mated, comparisons of their own, which measures
        leave out.

    Notes
    -----
    The interval of the actual DCF is put together from those of FNMR and FMR at the Bayes threshold
    [1]_, which hold without errors, too. That of the miscalibration, actual minus minimum, has as
    its lower limit what some threshold at a fixed distance from the Bayes threshold saves, at
    least: distances of 1, 2, 4, 8, 16, 64 and 256 to either side, and accepting and rejecting
    everything, while the minimum is looked for in the same comparisons and found too low. The
    p-value, that none of them saves anything, is Bonferroni's, with three quarters of the error
    probability for the six nearest. The upper limit is from the intervals of both costs [1]_.

    Differences between groups have intervals from those of both groups [1]_, and simultaneous ones
    that hold for all pairs together, by Bonferroni's inequality. Verdicts follow these.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = ff.synthesis.binormal_comparisons(2000, 20_000, fmr=0.01, n_subjects=200, rng=0)
    >>> calibration = ff.evaluate_calibration(ff.calibrate(scores, rng=0).comparisons, ff.Costs(0.01), rng=0)
    >>> cost = calibration.cost(ff.Costs(0.01))
    >>> round(cost.actual, 3), round(cost.minimum, 3), cost.verdict
    (0.277, 0.27, 'undecided')
    """
    require_ratios(comparisons, "calibration")
    asked = tuple(
        dict.fromkeys([applications] if isinstance(applications, Costs) else applications)
    )
    if not asked:
        raise InputError("applications is empty: give at least one, such as Costs(0.01)")
    level = intervals.level(confidence_level)
    fixed = seeds.fix_seed(rng)
    key, seed = seeds.stream(fixed)
    workers = Workers(n_threads, progress).checked(rng)
    evaluation = evaluate(
        comparisons,
        (),
        [],
        metrics=("cllr", "min_cllr"),
        unit=unit,
        n_resamples=n_resamples,
        confidence_level=level,
        rng=fixed,
        n_threads=workers.n_threads,
        progress=workers.progress,
        settings=EvaluationSettings(incomplete_groups="drop"),
    )
    measured = tuple(map(comparisons.groups.index, evaluation.measured_groups))
    costs: list[ApplicationCost] = []
    differences: list[CostDifference] = []
    measures: list[CostMeasure] = []
    for application in asked:
        replicated = replicate_costs(
            comparisons, application, normalize, measured, unit, n_resamples, key, workers
        )
        limits, quantities = limits_of(replicated, level)
        costs += _rows(replicated, limits, quantities, level)
        differences += _differences(replicated, limits, [1 + k for k in measured], level)
        measures += _measures_of(replicated, quantities)
    groups = (None, *(comparisons.groups[k] for k in measured))
    keys = [keys_of(comparisons), *(keys_of(comparisons, k) for k in measured)]
    sizes = len(comparisons.mated), len(comparisons.nonmated)
    settings = {
        "applications": [str(application) for application in asked],
        "normalize": normalize,
        "grouping": list(comparisons.grouping),
        "unit": unit,
        "n_resamples": n_resamples,
        "confidence_level": level,
        "rng": seed,
        "hint": _hint_on_base(keys[0]),
    }
    return Calibration(
        tuple(costs),
        _ratio_costs(evaluation),
        tuple(differences),
        tuple(measures),
        {
            group: bayes_error_of(keys_of_group, comparisons.score_dtype)
            for group, keys_of_group in zip(groups, keys, strict=True)
        },
        {
            group: tippett_of(keys_of_group)
            for group, keys_of_group in zip(groups, keys, strict=True)
        },
        sizes_in_words(*sizes, evaluation.n_subjects, len(comparisons.groups)),
        settings,
        left_out=comparisons.left_out,
    )


def _ratio_costs(evaluation: Evaluation) -> tuple[RatioCost, ...]:
    """Return Cllr and min Cllr at even odds, and what a calibration could save."""
    rows = []
    for group in (None, *evaluation.groups):
        actual, minimum = _intervals(
            [evaluation.quantity(name, group) for name in ("cllr", "min_cllr")]
        ).T
        replicates = np.array(
            [[evaluation.replicates(name, group)] for name in ("cllr", "min_cllr")]
        )
        _, high = intervals.difference_interval(
            actual[:, None], minimum[:, None], intervals.correlations_of(replicates)
        )
        loss = max(actual[0] - minimum[0], 0.0) if not math.isnan(actual[0]) else math.nan
        ends = _named("cllr", actual) | _named("minimum", minimum)
        rows.append(
            RatioCost(group, **ends, loss=float(loss), loss_high=max(float(high[0]), float(loss)))
        )
    return tuple(rows)


def _rows(
    costs: ReplicatedCosts,
    limits: Mapping[str, Floats],
    quantities: Sequence[Quantity],
    level: float,
) -> list[ApplicationCost]:
    with np.errstate(invalid="ignore", divide="ignore"):
        of_shifts = np.where(
            costs.error == 0, 1.0, stdtr(costs.freedom, -costs.saved / costs.error)
        )
    # that no shifted threshold costs less
    pvalues = np.minimum(1.0, (of_shifts / _SHARES[:, None]).min(axis=0))
    pvalues[np.isnan(limits["miscalibration"][1])] = np.nan
    adjusted = [pvalues[0], *intervals.holm(pvalues[1:])]
    rows = []
    for k, group in enumerate(costs.groups):
        mated, nonmated, least = (
            find(quantities, name, group, None) for name in ("fnmr", "fmr", "min_dcf")
        )
        verdict = MISCALIBRATED if adjusted[k] <= 1 - level else UNDECIDED
        ends = {
            field: end
            for name, values in limits.items()
            for field, end in _named(name, values[:, k]).items()
        }
        rows.append(
            ApplicationCost(
                costs.application,
                group,
                costs.at_bayes.threshold,
                **ends,
                pvalue=float(pvalues[k]),
                pvalue_adjusted=float(adjusted[k]),
                verdict="" if math.isnan(adjusted[k]) else verdict,
                fnmr=mated.estimate,
                fmr=nonmated.estimate,
                n_mated=mated.n_comparisons or 0,
                n_nonmated=nonmated.n_comparisons or 0,
                n_false_nonmatches=mated.n_errors or 0,
                n_false_matches=nonmated.n_errors or 0,
                notes=notes_about(mated, nonmated, least),
            )
        )
    return rows


def _differences(
    costs: ReplicatedCosts, limits: Mapping[str, Floats], rows: Sequence[int], level: float
) -> list[CostDifference]:
    """Compare the costs of each pair of groups, and what miscalibration costs them."""
    pairs = list(itertools.combinations(rows, 2))
    if not pairs:
        return []
    together, _ = limits_of(costs, 1 - (1 - level) / len(pairs))  # Bonferroni's
    first, second = (list(side) for side in zip(*pairs, strict=True))
    drawn = costs.drawn.metrics["act_dcf"]
    correlations = {
        "act_dcf": intervals.correlations_of(np.array([drawn[first], drawn[second]])),
        "miscalibration": np.zeros(len(pairs)),  # whose lower limits are not those of replicates
    }
    made = []
    for quantity, name in (("act_dcf", "actual"), ("miscalibration", "miscalibration")):
        alone, at_once = (
            intervals.difference_interval(
                ends[name][:, first], ends[name][:, second], correlations[quantity]
            )
            for ends in (limits, together)
        )
        difference = limits[name][0, first] - limits[name][0, second]
        for n, (a, b) in enumerate(pairs):
            low, high = (float(end[n]) for end in at_once)
            made.append(
                CostDifference(
                    costs.application,
                    quantity,
                    str(costs.groups[a]),
                    str(costs.groups[b]),
                    float(difference[n]),
                    float(alone[0][n]),
                    float(alone[1][n]),
                    low,
                    high,
                    "" if math.isnan(low) else DIFFERENT if low > 0 or high < 0 else UNDECIDED,
                )
            )
    return made


def _named(name: str, ends: Floats) -> dict[str, Any]:
    """Return an estimate and its limits by the names of their fields."""
    return {
        f"{name}{suffix}": float(end)
        for suffix, end in zip(("", "_low", "_high"), ends, strict=True)
    }
