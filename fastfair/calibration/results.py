"""`Calibration`: what the decisions of log-likelihood ratios cost, overall and in each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fastfair._lib import argument_kinds
from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair.errors import InputError, visible
from fastfair.measures._names import quantity_name
from fastfair.pages.reported import Reported

from .applications import Application
from .cost_rows import DIFFERENT, MISCALIBRATED, ApplicationCost, CostDifference, CostMeasure, RatioCost
from .curves import BayesError, Tippett

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastfair.pages.parts import Chapter

_Row = TypeVar("_Row", ApplicationCost, CostMeasure)
_Curve = TypeVar("_Curve", BayesError, Tippett)
_LEAST_SHOWN = 0.001  # of p-values; that of smaller ones says nothing
_MOST_CURVES = 8  # groups that one plot can show
_application = argument_kinds.optional(argument_kinds.one_of("Application"))


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Reported, Tabular):
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

    costs: tuple[ApplicationCost, ...]
    ratio_costs: tuple[RatioCost, ...]
    differences: tuple[CostDifference, ...]
    measures: tuple[CostMeasure, ...]
    bayes_errors: dict[str | None, BayesError] = field(repr=False)
    tippetts: dict[str | None, Tippett] = field(repr=False)
    description: str
    settings: dict[str, Any]

    @property
    def applications(self) -> tuple[Application, ...]:
        """The applications, in the order asked."""
        return tuple(dict.fromkeys(row.application for row in self.costs))

    @property
    def confidence_level(self) -> float:
        """Of the intervals."""
        return float(self.settings["confidence_level"])

    @checked(application=_application)
    def cost(self, application: Application | None = None, group: str | None = None) -> ApplicationCost:
        """Return what decisions cost in an application.

        Parameters
        ----------
        application : Application, optional
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

    @checked(application=_application)
    def measure(self, name: str, group: str | None = None, application: Application | None = None) -> CostMeasure:
        """Return a fairness measure of costs.

        Parameters
        ----------
        name : str
            Such as "nrb(act_dcf)".
        group : str, optional
            The group, for a measure with a value for each.
        application : Application, optional
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

    def _one(self, rows: Sequence[_Row], application: Application | None, what: str) -> _Row:
        found = [row for row in rows if application in (None, row.application)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(dict.fromkeys(str(row.application) for row in self.costs))
        if found:
            raise InputError(f"there are several applications, {known}: choose one with application=")
        where = "" if application is None else f" at {application}"
        raise InputError(f"there is no {what}{where}; applications are {known}")

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
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
                text.append("No two groups differ by more than chance in what decisions or miscalibration cost.")
        overall = self.ratio_costs[0]
        text.append(
            f"Cllr is {overall.cllr:.3g} [{overall.cllr_low:.3g}, {overall.cllr_high:.3g}], of which the best "
            f"calibration would save {overall.loss:.3g}, at most {overall.loss_high:.3g}."
        )
        return "\n".join(map(visible, text))

    def _columns(self) -> dict[str, list[Any]]:
        return ApplicationCost._columns_of(self.costs)

    def _content(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "settings": self.settings,
            "costs": records(self._columns()),
            "ratio_costs": records(columns_of(self.ratio_costs)),
            "differences": records(CostDifference._columns_of(self.differences)),
            "measures": records(CostMeasure._columns_of(self.measures)),
            "bayes_errors": _written(self.bayes_errors),
            "tippetts": _written(self.tippetts),
        }

    @checked(application=_application)
    def plot(self, ax: Axes | None = None, application: Application | None = None) -> Axes:
        """Draw the actual and the minimum cost of all comparisons and of each group, with intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        application : Application, optional
            By default all of them.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_costs

        rows = [row for row in self.costs if application in (None, row.application)]
        if not rows:
            self.cost(application)  # says which there are
        return draw_costs(rows, self.settings["normalize"], ax)

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
        from .plots import draw_bayes_errors

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
        from .plots import draw_tippetts

        return draw_tippetts(_shown(self.tippetts), ax)

    def _chapter(self) -> Chapter:
        from .chapter import chapter_of

        return chapter_of(self)

    @classmethod
    def _of_numbers(cls, content: Mapping[str, Any]) -> Calibration:
        """Make it of the numbers of a page."""
        measures = [CostMeasure._of_record(row) for row in content["measures"]]
        for k, name, value in content["infinite"]:
            measures[k] = CostMeasure(**(vars(measures[k]) | {name: float(value)}))
        return cls(
            tuple(map(ApplicationCost._of_record, content["costs"])),
            tuple(map(RatioCost._of_record, content["ratio_costs"])),
            tuple(map(CostDifference._of_record, content["differences"])),
            tuple(measures),
            _read(BayesError, content["bayes_errors"]),
            _read(Tippett, content["tippetts"]),
            content["description"],
            content["settings"],
        )


def _sentence(row: ApplicationCost) -> str:
    known = not math.isnan(row.actual_low)
    brackets = f" [{row.actual_low:.3g}, {row.actual_high:.3g}]" if known else ""
    text = (
        f"At {row.application} decisions cost {row.actual:.3g}{brackets}, and at the best threshold {row.minimum:.3g}"
    )
    if row.verdict == MISCALIBRATED:
        return f"{text}: the ratios are miscalibrated ({_p(row.pvalue)})."
    return f"{text}; " + (
        "there is no test of whether that is by chance." if not row.verdict
        else f"the data do not show that they are miscalibrated ({_p(row.pvalue)})."
    )  # fmt: skip


def _p(pvalue: float) -> str:
    return f"p = {pvalue:.2g}" if pvalue >= _LEAST_SHOWN else f"p < {_LEAST_SHOWN:g}"


def _shown(curves: Mapping[str | None, _Curve]) -> dict[str, _Curve]:
    """Return the curves of groups, or that of all comparisons where these are none or too many."""
    of_groups = {group: curve for group, curve in curves.items() if group is not None}
    return of_groups if 1 < len(of_groups) <= _MOST_CURVES else {"": curves[None]}


def _written(curves: Mapping[str | None, BayesError] | Mapping[str | None, Tippett]) -> list[dict[str, Any]]:
    return [
        {"group": group} | {name: array.tolist() for name, array in vars(curve).items()}
        for group, curve in curves.items()
    ]


def _read(kind: type[_Curve], rows: Sequence[Mapping[str, Any]]) -> dict[str | None, _Curve]:
    names = [one.name for one in fields(kind)]
    return {row["group"]: kind(*(np.array(row[name], np.float64) for name in names)) for row in rows}
