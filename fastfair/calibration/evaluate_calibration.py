"""`evaluate_calibration`: what the decisions of log-likelihood ratios cost, and what of it is due to miscalibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import seeds
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.plots import GREY, STANDS_OUT, USUAL, Bar, Line, draw_rows, new_axes, row_size
from fastfair._lib.tables import columns_of
from fastfair._lib.text import number_with_interval, p_in_words
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.error_rates.operating_points import at_threshold, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.error_rates.score_metrics import (
    Costs,
    least_cost,
    log_likelihood_ratio_cost,
    mean_cost,
    require_ratios,
)
from fastfair.errors import InputError, visible
from fastfair.evaluation.evaluate import EvaluationSettings, concentrations, described, evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.summary import sizes_in_words
from fastfair.measures import MEASURES
from fastfair.measures._registry import printed_name, quantity_name
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.engine import Metrics, Resampler, different_groups
from fastfair.resampling.units import Unit
from fastfair.results.result import Result, on_page, printed
from fastfair.uncertainty.few_errors import SampleSizes
from fastfair.uncertainty.interval_maker import IntervalMaker
from fastfair.uncertainty.inversion import MeasureInversion, MovedSystems
from fastfair.uncertainty.quantities import (
    Estimate,
    Quantity,
    Selection,
    ends_of,
    entries,
    estimates,
    find,
    measure_entries,
    sizes_of_groups,
)

from .curves import BayesError, Tippett, bayes_error_of, draw_bayes_errors, draw_tippetts, tippett_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISCALIBRATED, DIFFERENT, UNDECIDED = "miscalibrated", "different", "undecided"
_Row = TypeVar("_Row", "ApplicationCost", "CostMeasure")
_Curve = TypeVar("_Curve", BayesError, Tippett)
_SIZE = (4.9, 3.4)  # inches
_APART = 0.16  # of a row, between the marks of actual and minimum cost
_MOST_DIFFERENCES = 15  # pairs of groups that a table lists; of more, only those that differ
_MOST_CURVES = 8  # groups that one plot can show


@dataclass(frozen=True)
class ApplicationCost:
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
        Actual minus minimum cost, with its interval. The estimate lies too high by chance, as the minimum is looked for
        in the same comparisons.
    cllr, cllr_low, cllr_high : float
        Cllr at the prior that, with equal costs, has the same threshold.
    pvalue : float
        p-value of the hypothesis that no threshold that is 1, 2 or 4 to either side costs less.
    pvalue_adjusted : float
        For a group, the same after Holm's adjustment for the number of groups.
    verdict : {"miscalibrated", "undecided", ""}
        Whether the adjusted p-value is at most one minus the confidence level; empty without one.
    fnmr, fmr : float
        Error rates at the Bayes threshold.
    n_mated, n_nonmated, n_false_nonmatches, n_false_matches : int
        Numbers of comparisons and of errors.
    note : str
        Warnings for the reader.
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
    note: str = ""


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
        Cllr minus min Cllr, with an upper limit. There is no lower limit, as the estimate lies too high by chance.
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
        The measure followed by its base metric, such as "nrb(act_dcf)": "act_dcf", "min_dcf", or "cllr" at the
        application's prior. `group` is that of a measure that has a value for each.
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
    _printed = "application group actual minimum miscalibration fnmr fmr pvalue_adjusted verdict"

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
        return self._one([row for row in self.costs if row.group == group], application, f"group {group!r}")

    @checked
    def measure(self, name: str, group: str | None = None, application: Costs | None = None) -> CostMeasure:
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
        return self._one(rows, application, f"measure {name!r} of {'all' if group is None else repr(group)}")

    def _one(self, rows: Sequence[_Row], application: Costs | None, what: str) -> _Row:
        found = [row for row in rows if application in (None, row.application)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(dict.fromkeys(str(row.application) for row in self.costs))
        if found:
            raise InputError(f"there are several applications, {known}: choose one with application=")
        where = "" if application is None else f" at {application}"
        raise InputError(f"there is no {what}{where}; applications are {known}")

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        text = [f"{self.description}."]
        for application in self.applications:
            rows = [row for row in self.costs if row.application == application]
            text.append(_sentence(rows[0]))
            found = [row for row in rows[1:] if row.verdict == MISCALIBRATED]
            if found:
                named = ", ".join(f"{row.group} ({row.actual:.3g}, at best {row.minimum:.3g})" for row in found)
                text.append(f"Miscalibrated, with p-values adjusted for the number of groups: {named}.")
            for quantity, called in (("act_dcf", "Decisions"), ("miscalibration", "Miscalibration")):
                pairs = [
                    one
                    for one in self.differences
                    if (one.application, one.quantity, one.verdict) == (application, quantity, DIFFERENT)
                ]
                said = ["{} than {}".format(*one.costlier_first) for one in pairs]
                if said:
                    text.append(f"{called} cost more for {', '.join(said)}.")
            if len(rows) > 2 and not any(
                one.verdict == DIFFERENT for one in self.differences if one.application == application
            ):
                text.append("No two groups differ significantly in what decisions or miscalibration cost.")
        overall = self.ratio_costs[0]
        text.append(
            f"Cllr is {overall.cllr:.3g} [{overall.cllr_low:.3g}, {overall.cllr_high:.3g}]; the best calibration would "
            f"save {overall.loss:.3g} of it, at most {overall.loss_high:.3g}."
        )
        return text

    def _columns(self) -> dict[str, list[Any]]:
        columns = columns_of(self.costs)
        asked = columns.pop("application")
        parts = {name: [float(getattr(one, name)) for one in asked] for name in ("p_target", "c_miss", "c_fa")}
        return {"application": list(map(str, asked))} | parts | columns

    def _figures(self) -> Mapping[str, Axes | Figure]:
        return {
            "costs": self.plot(), "bayes_error": self.plot_bayes_error(), "tippett": self.plot_tippett(),
            "normalized_bayes_error": self.plot_bayes_error(normalize=True),
        }  # fmt: skip

    @checked
    def plot(self, ax: Axes | None = None, application: Costs | None = None) -> Axes:
        """Draw the actual and the minimum cost of all comparisons and of each group, with intervals.

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
        labels = [f"{row.group or 'all'}{f' ({row.application})' if several else ''}" for row in rows]
        bars = []
        for y, row in enumerate(rows):
            actual = row.actual, row.actual_low, row.actual_high
            if row.verdict == MISCALIBRATED:
                style = {"color": STANDS_OUT, "marker": "D", "label": "actual DCF, miscalibrated"}
            else:
                style = {"color": USUAL, "marker": "o", "label": "actual DCF"}
            bars.append(Bar(y - _APART, *actual, **style))  # type: ignore[arg-type]
            minimum = row.minimum, row.minimum_low, row.minimum_high
            bars.append(Bar(y + _APART, *minimum, color=GREY, marker="s", label="minimum DCF"))
        normalize = self.settings["normalize"]
        xlabel = "Detection cost" + (", as a share of that without scores" if normalize else "")
        ax = draw_rows(ax, labels, bars, [Line(1, "", ":", GREY)] * normalize, xlabel=xlabel, per_cent=False)
        ax.set_xlim(left=0)
        return ax

    @checked
    def plot_bayes_error(self, ax: Axes | None = None, normalize: bool = False) -> Axes:
        """Draw the probability of error over the prior (APE), of each group, or of all where there are more than 8.

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
        marked = [-one.threshold for one in self.applications]
        return draw_bayes_errors(_shown(self.bayes_errors), ax, normalize=normalize, marked=marked)

    @checked
    def plot_tippett(self, ax: Axes | None = None) -> Axes:
        """Draw the shares of comparisons over likelihood ratios, of each group, or of all where there are more than 8.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return draw_tippetts(_shown(self.tippetts), ax)

    def _chapter(self) -> Chapter:
        return _chapter_of(self)


def _sentence(row: ApplicationCost) -> str:
    known = not math.isnan(row.actual_low)
    brackets = f" [{row.actual_low:.3g}, {row.actual_high:.3g}]" if known else ""
    text = f"At {row.application} decisions cost {row.actual:.3g}{brackets}; at the best threshold {row.minimum:.3g}"
    if row.verdict == MISCALIBRATED:
        return f"{text}: the ratios are miscalibrated ({p_in_words(row.pvalue)})."
    return f"{text}; " + (
        "there is no test of whether that is by chance." if not row.verdict
        else f"the data do not show that the ratios are miscalibrated ({p_in_words(row.pvalue)})."
    )  # fmt: skip


def _shown(curves: Mapping[str | None, _Curve]) -> dict[str, _Curve]:
    """Return the curves of groups, or that of all comparisons where these are none or too many."""
    of_groups = {group: curve for group, curve in curves.items() if group is not None}
    return of_groups if 1 < len(of_groups) <= _MOST_CURVES else {"": curves[None]}


@drawing()
def _chapter_of(result: Calibration) -> Chapter:
    """Make a chapter of costs, errors over priors and shares of likelihood ratios."""
    level = f"{100 * result.confidence_level:g} %"
    sections = [_of_application(result, one, level) for one in result.applications]
    over_priors = "Actual and minimum error over the prior log odds."
    sections.append(Section("Errors over priors", (), [
        _picture(
            result.plot_bayes_error(new_axes(_SIZE)), over_priors,
            "The applied probability of error (APE) over the prior; upright lines are the applications.",
        ),
        _picture(
            result.plot_bayes_error(new_axes(_SIZE), normalize=True), over_priors,
            "The same as a share of the error without scores: above 1, decisions would be better without them.",
        ),
    ]))  # fmt: skip
    shares = _picture(
        result.plot_tippett(new_axes(_SIZE)),
        "Tippett plot: shares of mated and of non-mated comparisons over likelihood ratios.",
        "The share of comparisons whose likelihood ratio is at least so large.",
    )
    _, headings, cells = printed(columns_of(result.ratio_costs), ("group", "cllr", "minimum", "loss", "loss_high"))
    table = Table(f"Cllr in bits, with {level} intervals", headings, cells)
    sections.append(Section("Likelihood ratios", (), [shares], [table]))
    remarks: dict[str, list[str]] = {}
    of_costs = [(row.note, f"{row.application}: {visible(row.group or 'all')}") for row in result.costs]
    of_measures = [
        (one.note, f"{printed_name(one.name)} at {one.application}: {visible(one.group or 'all')}")
        for one in result.measures
    ]
    for notes, what in of_costs + of_measures:
        for note in filter(None, notes.split("; ")):
            remarks.setdefault(note, []).append(what)
    sentences = [line for line in result.summary().splitlines() if line]
    return Chapter(result._title, sentences, sections, result.settings, result.to_json(), remarks)


def _picture(ax: Axes, shows: str, caption: str) -> Picture:
    return Picture(svg_of(ax.figure), shows, caption)  # type: ignore[arg-type]  # it is in no sub-figure


def _of_application(result: Calibration, application: Costs, level: str) -> Section:
    """Make a section of what decisions cost in an application: a picture, and tables of costs and their differences."""
    rows = [row for row in result.costs if row.application == application]
    picture = _picture(
        result.plot(new_axes(row_size([row.group or "all" for row in rows], _SIZE[0])), application),
        "Actual and minimum detection cost of all comparisons and of each group, with intervals. See the table.",
        "What decisions at the Bayes threshold cost, and below it in grey what they would at the best threshold.",
    )
    names = "group actual minimum miscalibration pvalue_adjusted verdict fnmr fmr n_false_nonmatches n_false_matches"
    _, headings, cells = printed(columns_of(rows), names.split())
    tables = [on_page(f"Detection costs with {level} intervals in brackets", headings, cells)]
    named = {"act_dcf": "actual DCF", "miscalibration": "miscalibration"}
    pairs = [one for one in result.differences if one.application == application]
    cells = [
        [
            f"{named[one.quantity]}: {visible(one.first)} minus {visible(one.second)}",
            number_with_interval(one.difference, one.simultaneous_low, one.simultaneous_high), one.verdict or "–",
        ]
        for one in pairs
        if len(pairs) <= 2 * _MOST_DIFFERENCES or one.verdict == DIFFERENT
    ]  # fmt: skip
    if cells:
        caption = f"Differences between groups; {level} intervals that hold for all pairs together"
        tables.append(Table(caption, ("Difference", "Value", "Verdict"), cells, (2,)))
    measures = [one for one in result.measures if one.application == application and one.group is None]
    if measures:
        _, headings, cells = printed(columns_of(measures), ("name", "estimate", "note"))
        tables.append(on_page(f"Fairness measures with {level} intervals", headings, cells))
    return Section(
        f"Decisions at {application}", (f"The Bayes threshold is {application.threshold:.4g}.",), [picture], tables
    )


Floats = NDArray[np.float64]
_ENOUGH_ERRORS = 5  # of each kind in every group; with fewer, measures' intervals miss the truth more often
METRICS = ("act_dcf", "min_dcf", "cllr")
# What is added to the Bayes threshold where a lower cost is looked for: fixed beforehand, so that nothing is fitted.
# The farthest accept and reject everything, which ratios that are wrong by orders of magnitude need.
_NEAR, _FAR = (1.0, 2.0, 4.0), (8.0, 16.0, 64.0, 256.0, 1e9)
SHIFTS = np.array([sign * shift for shift in (*_NEAR, *_FAR) for sign in (-1, 1)])
# The share of the error probability that each shift has; together 1. Small faults are the usual ones.
_SHARES = np.repeat([0.75 / (2 * len(_NEAR)), 0.25 / (2 * len(_FAR))], [2 * len(_NEAR), 2 * len(_FAR)])


class ReplicatedCosts:
    """The costs of all comparisons and of each group in one application, in the data and in replicates.

    measured are the groups with comparisons of both classes; `at_bayes` has rates and counts at the Bayes threshold.
    """

    def __init__(
        self, comparisons: Comparisons, application: Costs, normalize: bool, measured: tuple[int, ...],
        unit: Unit, n_resamples: int, key: NDArray[np.uint32], workers: Workers,
    ) -> None:  # fmt: skip
        self.application, self._measured = application, measured
        self._costs = costs = replace(application, normalize=normalize)
        self._prior = application.effective_prior
        points = [at_threshold(costs.threshold + float(shift)) for shift in (0.0, *SHIFTS)]
        self._at_points = [rates_at_key(comparisons, point, threshold_key(comparisons, point)) for point in points]
        self.at_bayes = self._at_points[0]
        self.groups: tuple[str | None, ...] = (None, *self.at_bayes.groups)  # all comparisons, and the groups
        metrics = Metrics(("min_dcf", "cllr"), costs=costs, p_target=self._prior)
        resampler = Resampler(comparisons, points, unit=unit, metrics=metrics, measured=measured, workers=workers)
        drawn = resampler.replicate(n_resamples, key, workers)
        cells = different_groups(comparisons) if comparisons.groups else ()
        base = estimates(self._at_points, self._metrics(comparisons), cells)
        self._rows = rows = slice(0, 1 + len(comparisons.groups))
        # (points, 1 + groups) and (points, 1 + groups, r)
        self._of_points = mean_cost(costs, base.fnmr[:, rows], base.fmr[:, rows])
        self._drawn_of_points = mean_cost(costs, drawn.fnmr[:, rows], drawn.fmr[:, rows])
        self._base, self._drawn = (
            replace(one, metrics={"act_dcf": of_points[0]} | one.metrics)
            for one, of_points in ((base, self._of_points), (drawn, self._drawn_of_points))
        )
        self.uncertainty = self._uncertainty(comparisons, resampler, workers.n_threads)

    def _metrics(self, comparisons: Comparisons) -> dict[str, Floats]:
        lists = [keys_of(comparisons), *(keys_of(comparisons, k) for k in range(len(comparisons.groups)))]
        return {
            "min_dcf": np.array([least_cost(self._costs, keys)[0] if all(keys.sizes) else np.nan for keys in lists]),
            "cllr": np.array(
                [log_likelihood_ratio_cost(keys, p_target=self._prior) if all(keys.sizes) else np.nan for keys in lists]
            ),
        }

    def _uncertainty(self, comparisons: Comparisons, resampler: Resampler, n_threads: int | None) -> IntervalMaker:
        measured, both = self._measured, (self._base, self._drawn)
        of_costs = Selection(comparisons.groups, measured, *sizes_of_groups(comparisons), n_points=1, metrics=METRICS)
        measures = tuple(name for name, one in MEASURES.items() if "act_dcf" in one.of and len(measured) > 1)
        of_measures = replace(of_costs, n_points=0, measures=measures)
        no_points = [replace(one, fmr=one.fmr[:0], fnmr=one.fnmr[:0], threshold=one.threshold[:0]) for one in both]
        listed, replicates = (
            [*entries(one, of_costs), *measure_entries(alone, of_measures)]
            for one, alone in zip(both, no_points, strict=True)
        )
        at_bayes = self._at_points[:1]
        shares = concentrations(comparisons, at_bayes)
        systems = partial(MovedSystems, no_points[0], no_points[1], of_measures, n_threads)
        rows = {entry.key: k for k, entry in enumerate(listed)}
        return IntervalMaker(
            tuple(described(entry, at_bayes, shares) for entry in listed),
            np.array([entry.value for entry in replicates]),
            sizes=SampleSizes.of(listed, resampler),
            inversion=MeasureInversion(rows, systems) if measures else None,
            costs=self._costs,
            n_threads=n_threads,
        )

    @property
    def estimates(self) -> dict[str, Floats]:
        """(1 + groups,) actual and minimum cost, and their difference."""
        actual, minimum = self._base.metrics["act_dcf"], self._base.metrics["min_dcf"]
        return {"act_dcf": actual, "min_dcf": minimum, "miscalibration": np.maximum(actual - minimum, 0)}

    @cached_property
    def gains(self) -> tuple[Floats, Floats]:
        """(shifts, 1 + groups) costs that shifted thresholds save, and their standard errors where they save nothing.

        Chance that finds few errors finds a small standard error as well. So errors of one class vary at least as much
        as they would if there were so many that what the shift saves and what it adds were the same.
        """
        saved = self._of_points[0] - self._of_points[1:]
        drawn = self._drawn_of_points[:1] - self._drawn_of_points[1:]
        variance = drawn.var(axis=-1, ddof=1)
        of_classes = zip(self.weights, self._errors, self._sizes, strict=True)
        changes = [
            (weight / np.maximum(sizes, 1), np.abs(errors[1:] - errors[0])) for weight, errors, sizes in of_classes
        ]
        for (of_each, found), (of_other, others) in (changes, changes[::-1]):
            wanted = others * of_other / of_each
            variance = variance + of_each**2 * np.maximum(wanted - found, 0)
        return saved, np.sqrt(variance)

    @property
    def miscalibration_pvalues(self) -> Floats:
        """(1 + groups,) p-values of the hypothesis that no shifted threshold costs less than the Bayes threshold."""
        from scipy.special import stdtr

        saved, error = self.gains
        with np.errstate(invalid="ignore", divide="ignore"):
            pvalues = np.where(error == 0, 1.0, stdtr(self.freedom, -saved / error))
        return np.asarray(np.minimum(1.0, (pvalues / _SHARES[:, None]).min(axis=0)))

    @property
    def _errors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(points, 1 + groups) false non-matches and false matches."""
        counts = [rates.counts for rates in self._at_points]
        return (
            np.array([[one.false_nonmatches, *one.group_false_nonmatches] for one in counts]),
            np.array([[one.false_matches, *one.group_false_matches] for one in counts]),
        )

    @property
    def _sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(1 + groups,) numbers of mated and of non-mated comparisons."""
        one = self.at_bayes.counts
        return np.array([one.mated, *one.group_mated]), np.array([one.nonmated, *one.group_nonmated])

    @property
    def fewest_errors(self) -> int:
        """The fewest false matches, or false non-matches, of a group that measures compare."""
        rows = [1 + k for k in self._measured]
        return min((int(errors[0, rows].min()) for errors in self._errors if rows), default=0)

    @cached_property
    def freedom(self) -> Floats:
        """(1 + groups,) degrees of freedom of costs."""
        return self.rows_of("act_dcf", self.uncertainty.sizes.degrees_of_freedom)

    def replicates(self, name: str) -> Floats:
        """Return the (1 + groups, r) replicates of "act_dcf", "min_dcf" or "cllr"."""
        return self._drawn.metrics[name]

    @cached_property
    def correlation(self) -> Floats:
        """(1 + groups,) correlation of FNMR and FMR at the Bayes threshold."""
        return intervals.correlations_of(np.array([self._drawn.fnmr[0, self._rows], self._drawn.fmr[0, self._rows]]))

    @property
    def weights(self) -> tuple[float, float]:
        """What an FNMR and an FMR of 1 cost."""
        return self._costs.miss / self._costs.unit, self._costs.false_match / self._costs.unit

    def rows_of(self, name: str, values: Any) -> Any:
        """Return what stands beside a quantity of all comparisons and of each group."""
        places = {q.key[:2]: k for k, q in enumerate(self.uncertainty.quantities)}
        return np.array([values[places[name, group]] for group in self.groups])


class Limits:
    """Intervals of the costs of an application, of one confidence level.

    Attributes
    ----------
    rates : two lists of Quantity
        FNMR and FMR at the Bayes threshold, of all comparisons and of each group.
    actual, minimum, cllr : (3, 1 + groups) ndarray
        Estimates, lower and upper limits.
    """

    def __init__(self, of: ReplicatedCosts, confidence_level: float) -> None:
        self._of, self._level = of, confidence_level
        self._found = found = of.uncertainty.with_intervals(confidence_level, "auto")
        self.rates = [[find(found, name, group, None) for group in of.groups] for name in ("fnmr", "fmr")]
        of_rates = zip(of.weights, self.rates, strict=True)
        mated, nonmated = (weight * _intervals(quantities) for weight, quantities in of_rates)
        low, high = intervals.sum_interval(mated, nonmated, of.correlation)
        self.actual = np.array([of.estimates["act_dcf"], np.maximum(low, 0), high])
        self._least = [find(found, "min_dcf", group, None) for group in of.groups]
        self.minimum = _intervals(self._least)
        self.cllr = _intervals([find(found, "cllr", group, None) for group in of.groups])

    @property
    def notes(self) -> list[str]:
        """What there is to say of the rates, and of the minimum, of all comparisons and of each group."""
        named = zip(("FNMR", "FMR", "minDCF"), (*self.rates, self._least), strict=True)
        each = [[f"{name}: {one.note}" if one.note else "" for one in quantities] for name, quantities in named]
        return ["; ".join(filter(None, notes)) for notes in zip(*each, strict=True)]

    @cached_property
    def miscalibration(self) -> Floats:
        """(3, 1 + groups) estimates, lower and upper limits of what miscalibration costs.

        The lower limits are what thresholds that were shifted without a look at the data save at least.
        """
        from scipy.special import stdtrit

        of, tail = self._of, (1 - self._level) / 2
        saved, error = of.gains
        reach = stdtrit(of.freedom, 1 - tail * _SHARES[:, None])
        low = np.maximum((saved - reach * error).max(axis=0), 0)
        correlation = intervals.correlations_of(np.array([of.replicates("act_dcf"), of.replicates("min_dcf")]))
        _, high = intervals.difference_interval(self.actual, self.minimum, correlation)
        estimate = of.estimates["miscalibration"]
        known = ~np.isnan(high)
        return np.array([estimate, np.where(known, np.minimum(low, estimate), np.nan), np.maximum(high, estimate)])

    @property
    def measures(self) -> tuple[Quantity, ...]:
        """The fairness measures of costs.

        In replicates a group without errors of a kind has none, so that its cost hardly varies: measures of the actual
        cost then have no interval, in which a fair system's value would often be missing.
        """
        few = self._of.fewest_errors
        return tuple(_noted(q, few) if q.name.endswith("(act_dcf)") else q for q in self._found if "(" in q.name)


def _noted(measure: Quantity, fewest: int) -> Quantity:
    """Take the interval from a measure where a group has no errors of a kind, and warn where it has few."""
    if fewest >= _ENOUGH_ERRORS or not math.isfinite(measure.estimate):
        return measure
    if fewest:
        note = f"a group has fewer than {_ENOUGH_ERRORS} false matches or false non-matches: likely too narrow"
    else:
        note = "no interval: a group has no false matches or no false non-matches, so that replicates hardly vary"
        measure = replace(measure, low=math.nan, high=math.nan)
    return replace(measure, note="; ".join(filter(None, (measure.note, note))))


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
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Calibration:
    """Compute what the decisions of log-likelihood ratios cost, overall and in each group, and what the best would.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios; `calibrate` makes such of other scores.
    applications : Costs or sequence of Costs
        Priors and costs; by default the priors 0.01 and 0.5 with equal costs.
    normalize : bool, default True
        Whether to divide the costs of all applications by that of accepting, or of rejecting, everything, whichever is
        lower.
    unit, n_resamples, confidence_level, rng, n_threads, progress
        As in `evaluate`; at least 2 replicates.

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
        Names groups without mated, or without non-mated, comparisons of their own, which measures leave out.

    Notes
    -----
    The interval of the actual DCF is put together from those of FNMR and FMR at the Bayes threshold [1]_, which hold
    without errors, too. That of the miscalibration, actual minus minimum, has as its lower limit what the threshold
    saves that is 1, 2 or 4 to either side of the Bayes threshold, at least: those are fixed beforehand, while the
    minimum is looked for in the same comparisons and found too low. The p-value, that none of them saves anything, is
    Bonferroni's for the six. The upper limit is from the intervals of both costs [1]_.

    Differences between groups have intervals from those of both groups [1]_, and simultaneous ones that hold for all
    pairs together, by Bonferroni's inequality. Verdicts follow these.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = ff.synthesis.binormal_comparisons(2000, 20_000, fmr=0.01, n_subjects=200, rng=0)
    >>> found = ff.evaluate_calibration(ff.calibrate(scores, rng=0).comparisons, ff.Costs(0.01), rng=0)
    >>> cost = found.cost(ff.Costs(0.01))
    >>> round(cost.actual, 3), round(cost.minimum, 3), cost.verdict
    (0.277, 0.27, 'undecided')
    """
    require_ratios(comparisons, "calibration")
    asked = tuple(dict.fromkeys([applications] if isinstance(applications, Costs) else applications))
    if not asked:
        raise InputError("applications is empty: give at least one, such as Costs(0.01)")
    level = intervals.level(confidence_level)
    if n_resamples < 2:
        raise InputError(f"calibration needs replicates: n_resamples must be at least 2, not {n_resamples}")
    fixed = seeds.fixed(rng)
    key, seed = seeds.stream(fixed)
    workers = Workers(n_threads, progress).checked(rng)
    evaluation = evaluate(
        comparisons, (), [], metrics=("cllr", "min_cllr"), unit=unit, n_resamples=n_resamples, confidence_level=level,
        rng=fixed, n_threads=workers.n_threads, progress=workers.progress,
        settings=EvaluationSettings(incomplete_groups="drop"),
    )  # fmt: skip
    measured = tuple(map(comparisons.groups.index, evaluation.measured_groups))
    costs: list[ApplicationCost] = []
    differences: list[CostDifference] = []
    measures: list[CostMeasure] = []
    for application in asked:
        found = ReplicatedCosts(comparisons, application, normalize, measured, unit, n_resamples, key, workers)
        limits = Limits(found, level)
        costs += _rows(found, limits, level)
        differences += _differences(found, limits, [1 + k for k in measured], level)
        measures += [CostMeasure._of(one, application=application, name=one.name) for one in limits.measures]
    groups = (None, *(comparisons.groups[k] for k in measured))
    keys = [keys_of(comparisons), *(keys_of(comparisons, k) for k in measured)]
    sizes = len(comparisons.mated), len(comparisons.nonmated)
    settings = {
        "applications": [str(one) for one in asked], "normalize": normalize, "grouping": list(comparisons.grouping),
        "unit": unit, "n_resamples": n_resamples, "confidence_level": level, "rng": seed,
    }  # fmt: skip
    return Calibration(
        tuple(costs), _ratio_costs(evaluation), tuple(differences), tuple(measures),
        {group: bayes_error_of(one) for group, one in zip(groups, keys, strict=True)},
        {group: tippett_of(one) for group, one in zip(groups, keys, strict=True)},
        sizes_in_words(*sizes, evaluation.n_subjects, len(comparisons.groups)), settings,
    )  # fmt: skip


def _ratio_costs(evaluation: Evaluation) -> tuple[RatioCost, ...]:
    """Return Cllr and min Cllr at even odds, and what a calibration could save."""
    rows = []
    for group in (None, *evaluation.groups):
        actual, minimum = _intervals([evaluation.quantity(name, group) for name in ("cllr", "min_cllr")]).T
        replicates = np.array([[evaluation.replicates(name, group)] for name in ("cllr", "min_cllr")])
        _, high = intervals.difference_interval(
            actual[:, None], minimum[:, None], intervals.correlations_of(replicates)
        )
        loss = max(actual[0] - minimum[0], 0.0) if not math.isnan(actual[0]) else math.nan
        ends = _named("cllr", actual) | _named("minimum", minimum)
        rows.append(RatioCost(group, **ends, loss=float(loss), loss_high=max(float(high[0]), float(loss))))
    return tuple(rows)


def _rows(found: ReplicatedCosts, limits: Limits, level: float) -> list[ApplicationCost]:
    pvalues = found.miscalibration_pvalues
    adjusted = [pvalues[0], *intervals.holm(pvalues[1:]).tolist()] if pvalues.size > 1 else pvalues.tolist()
    rates, notes = found.at_bayes, limits.notes
    rows = []
    for k, group in enumerate(found.groups):
        mated, nonmated = limits.rates[0][k], limits.rates[1][k]
        known = not math.isnan(limits.miscalibration[1, k])
        pvalue, of_groups = (float(one) if known else math.nan for one in (pvalues[k], adjusted[k]))
        verdict = MISCALIBRATED if of_groups <= 1 - level else UNDECIDED
        rows.append(
            ApplicationCost(
                found.application, group, rates.threshold, **_named("actual", limits.actual[:, k]),
                **_named("minimum", limits.minimum[:, k]),
                **_named("miscalibration", limits.miscalibration[:, k]),
                **_named("cllr", limits.cllr[:, k]),
                pvalue=pvalue, pvalue_adjusted=of_groups, verdict="" if math.isnan(of_groups) else verdict,
                fnmr=mated.estimate, fmr=nonmated.estimate, n_mated=mated.n_comparisons or 0,
                n_nonmated=nonmated.n_comparisons or 0, n_false_nonmatches=mated.n_errors or 0,
                n_false_matches=nonmated.n_errors or 0, note=notes[k],
            )
        )  # fmt: skip
    return rows


def _differences(found: ReplicatedCosts, limits: Limits, rows: Sequence[int], level: float) -> list[CostDifference]:
    """Compare the costs of each pair of groups, and what miscalibration costs them."""
    pairs = list(itertools.combinations(rows, 2))
    if not pairs:
        return []
    together = Limits(found, 1 - (1 - level) / len(pairs))  # Bonferroni's
    made = []
    for name in ("act_dcf", "miscalibration"):
        alone, at_once = (_of_pairs(found, one, name, pairs) for one in (limits, together))
        for n, (first, second) in enumerate(pairs):
            low, high = (float(end[n]) for end in at_once)
            made.append(CostDifference(
                found.application, name, str(found.groups[first]), str(found.groups[second]),
                float(found.estimates[name][first] - found.estimates[name][second]),
                float(alone[0][n]), float(alone[1][n]), low, high,
                "" if math.isnan(low) else DIFFERENT if low > 0 or high < 0 else UNDECIDED,
            ))  # fmt: skip
    return made


def _of_pairs(
    found: ReplicatedCosts, limits: Limits, name: str, pairs: Sequence[tuple[int, int]]
) -> tuple[Floats, Floats]:
    """Compute intervals of differences between groups in the actual cost, or in what miscalibration costs."""
    first, second = (list(side) for side in zip(*pairs, strict=True))
    if name == "act_dcf":
        ends, replicates = limits.actual, found.replicates("act_dcf")
        correlation = intervals.correlations_of(np.array([replicates[first], replicates[second]]))
    else:  # whose lower limits are not those of replicates
        ends, correlation = limits.miscalibration, np.zeros(len(pairs))
    return intervals.difference_interval(ends[:, first], ends[:, second], correlation)


def _named(name: str, ends: Floats) -> dict[str, Any]:
    """Return an estimate and its limits by the names of their fields."""
    return {f"{name}{suffix}": float(end) for suffix, end in zip(("", "_low", "_high"), ends, strict=True)}
