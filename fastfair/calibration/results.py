"""`Calibration`: what the decisions of log-likelihood ratios cost, overall and in each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from fastfair._lib.arguments import checked
from fastfair._lib.plots import GREY, STANDS_OUT, USUAL, Bar, Line, draw_rows, new_axes, row_size
from fastfair._lib.tables import columns_of
from fastfair._lib.text import cell, number_with_interval, p_in_words
from fastfair.error_rates.score_metrics import Costs
from fastfair.errors import InputError, visible
from fastfair.measures._registry import printed_name, quantity_name
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.results.result import Result
from fastfair.uncertainty.quantities import Estimate

from .curves import BayesError, Tippett, draw_bayes_errors, draw_tippetts

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

    def _figures(self) -> dict[str, Figure]:
        axes = {
            "costs": self.plot(), "bayes_error": self.plot_bayes_error(), "tippett": self.plot_tippett(),
            "normalized_bayes_error": self.plot_bayes_error(normalize=True),
        }  # fmt: skip
        return {name: one.figure for name, one in axes.items()}  # type: ignore[misc]  # they are in no sub-figure

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
    sections = [_of_application(result, one) for one in result.applications]
    sections += [_over_priors(result), _of_ratios(result)]
    remarks: dict[str, list[str]] = {}
    for row in result.costs:
        for note in filter(None, row.note.split("; ")):
            remarks.setdefault(note, []).append(f"{row.application}: {visible(row.group or 'all')}")
    for one in result.measures:
        for note in filter(None, one.note.split("; ")):
            remarks.setdefault(note, []).append(
                f"{printed_name(one.name)} at {one.application}: {visible(one.group or 'all')}"
            )
    sentences = [line for line in result.summary().splitlines() if line]
    return Chapter(result._title, sentences, sections, result.settings, result.to_json(), remarks)


def _of_application(result: Calibration, application: Costs) -> Section:
    rows = [row for row in result.costs if row.application == application]
    level = f"{100 * result.confidence_level:g} %"
    size = row_size([row.group or "all" for row in rows], _SIZE[0])
    ax = result.plot(new_axes(size), application)
    picture = Picture(
        svg_of(ax.figure),  # type: ignore[arg-type]
        "Actual and minimum detection cost of all comparisons and of each group, with intervals. See the table.",
        "What decisions at the Bayes threshold cost, and below it in grey what they would at the best threshold.",
    )
    columns = (
        "Group", "Actual DCF", "Minimum DCF", "Miscalibration", "Adjusted p-value", "Verdict", "FNMR", "FMR",
        "False non-matches", "False matches",
    )  # fmt: skip
    tables = [Table(f"Detection costs with {level} intervals in brackets", columns, list(map(_cells, rows)), (5,))]
    pairs = [one for one in result.differences if one.application == application]
    known = [one for one in pairs if len(pairs) <= 2 * _MOST_DIFFERENCES or one.verdict == DIFFERENT]
    if known:
        named = {"act_dcf": "actual DCF", "miscalibration": "miscalibration"}
        cells = [
            [
                f"{named[one.quantity]}: {visible(one.first)} minus {visible(one.second)}",
                number_with_interval(one.difference, one.simultaneous_low, one.simultaneous_high),
                one.verdict or "–",
            ]
            for one in known
        ]
        caption = f"Differences between groups; {level} intervals that hold for all pairs together"
        tables.append(Table(caption, ("Difference", "Value", "Verdict"), cells, (2,)))
    measures = [one for one in result.measures if one.application == application and one.group is None]
    if measures:
        cells = [
            [printed_name(one.name), number_with_interval(one.estimate, one.low, one.high), one.note or "–"]
            for one in measures
        ]
        tables.append(Table(f"Fairness measures with {level} intervals", ("Measure", "Value", "Remark"), cells, (2,)))
    title = f"Decisions at {application}"
    return Section(title, (f"The Bayes threshold is {application.threshold:.4g}.",), [picture], tables)


def _cells(row: ApplicationCost) -> list[str]:
    return [
        visible(row.group or "all"),
        *(_written(row, name) for name in ("actual", "minimum", "miscalibration")),
        cell(row.pvalue_adjusted),
        row.verdict or "–",
        *(cell(value) for value in (row.fnmr, row.fmr, row.n_false_nonmatches, row.n_false_matches)),
    ]


def _written(row: ApplicationCost | RatioCost, name: str) -> str:
    """Write a cost with its interval."""
    return number_with_interval(*(getattr(row, f"{name}{end}") for end in ("", "_low", "_high")))


def _over_priors(result: Calibration) -> Section:
    pictures = []
    for normalize, caption in (
        (False, "The applied probability of error (APE) over the prior; upright lines are the applications."),
        (True, "The same as a share of the error without scores: above 1, decisions would be better without them."),
    ):
        ax = result.plot_bayes_error(new_axes(_SIZE), normalize)
        pictures.append(Picture(svg_of(ax.figure), "Actual and minimum error over the prior log odds.", caption))  # type: ignore[arg-type]
    return Section("Errors over priors", (), pictures)


def _of_ratios(result: Calibration) -> Section:
    ax = result.plot_tippett(new_axes(_SIZE))
    picture = Picture(
        svg_of(ax.figure),  # type: ignore[arg-type]
        "Tippett plot: shares of mated and of non-mated comparisons over likelihood ratios.",
        "The share of comparisons whose likelihood ratio is at least so large.",
    )
    cells = [
        [
            visible(one.group or "all"),
            _written(one, "cllr"),
            _written(one, "minimum"),
            cell(one.loss),
            cell(one.loss_high),
        ]
        for one in result.ratio_costs
    ]
    columns = ("Group", "Cllr", "min Cllr", "Calibration loss", "At most")
    level = f"{100 * result.confidence_level:g} %"
    return Section("Likelihood ratios", (), [picture], [Table(f"Cllr in bits, with {level} intervals", columns, cells)])
