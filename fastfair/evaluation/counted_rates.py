"""Rates of counts, with the intervals and fairness measures that they have as comparisons which are
accepted or rejected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastfair._lib import plots
from fastfair._lib.arguments import checked
from fastfair._lib.text import NONE, p_value
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, at_threshold
from fastfair.errors import InputError, visible
from fastfair.measures._registry import (
    COMPLEMENTS,
    METRICS,
    measure_of,
    measures_called,
    printed_name,
)
from fastfair.pages.parts import Table
from fastfair.results.result import Printed, Result, on_page
from fastfair.uncertainty.notes import Code, has_code
from fastfair.uncertainty.quantities import Estimate, Quantity, find, in_words
from fastfair.uncertainty.sessions import IN_TOO_FEW, are_too_few, sentence_on_tests

from .failure_counts import ATTEMPTS, OF_TWO_PEOPLE, FailureCounts
from .result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT = at_threshold(0.5)  # decisions score 1 where they are accepted, and 0 where they are not


def names_of_counts(rate: str) -> dict[str, str]:
    """Return the names of what counts of a rate tell, the rate and measures of it, with those that
    they have of the decisions.
    """
    of_decisions = "fmr" if rate in OF_TWO_PEOPLE else "fnmr"
    return {rate: of_decisions} | measures_called(rate, of_decisions)


def names_of_decisions(rate: str) -> dict[str, str]:
    """Return what results call the rates and measures of the decisions that counts are."""
    return {of_decisions: called for called, of_decisions in names_of_counts(rate).items()}


def require_no_point(at: OperatingPoint | None) -> None:
    """Refuse an operating point of counts."""
    if at is not None:
        raise InputError(f"⟦at={at}⟧ is for scores, but FailureCounts hold decisions: leave it out")


def require_groups_of_counts(counts: FailureCounts, measures: Sequence[str]) -> None:
    """Refuse measures over groups of counts that have none."""
    if len(measures) and not counts.groups:
        raise InputError(
            f"{measures[0]} is a measure over groups, but the counts have none: give ⟦group⟧"
        )


def unit_of_counts(counts: FailureCounts, unit: Any) -> Any:
    """Return the units that counts consist of: comparisons where people are not known."""
    return "comparison" if counts.totals else unit


def sentence_on_people(name: str) -> str:
    """Say that people are not known; name: of a rate, or of 1 minus one."""
    attempts = f"{ATTEMPTS[COMPLEMENTS.get(name, name)]}s"
    return (
        f"The {attempts} are taken for independent, as people are not given: limits are too"
        " narrow if some people have several."
    )


def sizes_of_counts(evaluation: Evaluation, rate: str) -> str:
    """Say how many attempts, people and groups an evaluation of counts is of."""
    row = find(evaluation.quantities, rate, None, None)
    people = "" if evaluation.n_subjects is None else f" of {evaluation.n_subjects:,} people"
    groups = f", in {len(evaluation.groups)} groups" if evaluation.groups else ""
    return f"{row.n_comparisons:,} {ATTEMPTS[rate]}s{people}{groups}"


@dataclass(frozen=True, kw_only=True)
class CountedRate(Estimate):
    """A rate that was counted, or a fairness measure of it: an `Estimate`, and what it is of.

    Attributes
    ----------
    name : str
        The rate, such as "frr", or a measure of it, such as "gini(frr)".
    pvalue : float or None
        Of a fairness measure, the p-value of its fair value, not adjusted; None for all else.
    """

    name: str
    pvalue: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class CountedRates(Result):
    """The result of `evaluate` for counts.

    Attributes
    ----------
    rate : str
        The rate that was counted.
    rows : tuple of CountedRate
        The rate of all and of each group, and fairness measures of it.
    groups : tuple of str
        The groups.
    settings : dict
        The arguments of the call, and the seed.
    """

    rate: str
    rows: tuple[CountedRate, ...]
    groups: tuple[str, ...]
    settings: dict[str, Any]

    _title = "How often do attempts fail?"

    @checked
    def quantity(self, name: str, group: str | None = None) -> CountedRate:
        """Return one estimate with its interval, the counts behind it and its notes.

        Parameters
        ----------
        name : str
            The rate, or a measure of it, as in `CountedRate`.
        group : str, optional
            The group; by default all.

        Returns
        -------
        CountedRate

        Examples
        --------
        >>> import fastfair as ff
        >>> rates = ff.evaluate(ff.FailureCounts(5, 174, rate="frr"), rng=0)
        >>> rates.quantity("frr").n_errors
        5
        """
        return find(self.rows, name, group, None)

    @checked
    def value(self, name: str, group: str | None = None) -> float:
        """Return one estimate.

        Parameters
        ----------
        name, group
            As in `quantity`.

        Returns
        -------
        float
        """
        return self.quantity(name, group).estimate

    @checked
    def interval(self, name: str, group: str | None = None) -> tuple[float, float]:
        """Return one confidence interval; NaN where there is none, and the note says why.

        Parameters
        ----------
        name, group
            As in `quantity`.

        Returns
        -------
        low, high : float
        """
        row = self.quantity(name, group)
        return row.low, row.high

    @property
    def _of_rate(self) -> list[CountedRate]:
        return [row for row in self.rows if row.name == self.rate]

    @property
    def _of_measures(self) -> list[CountedRate]:
        return [row for row in self.rows if row.name != self.rate]

    def _question(self) -> str:
        return f"How high is the {METRICS[self.rate].long_title.lower()}?"

    def _sentences(self) -> list[str]:
        overall, *groups = self._of_rate
        title = self.rate.upper()
        said = [
            f"{overall.n_errors:,} of {overall.n_comparisons:,} {ATTEMPTS[self.rate]}s are errors:"
            f" {title} {in_words(overall)}."
        ]
        if has_code(overall, Code.TAKEN_FOR_INDEPENDENT):
            said.append(sentence_on_people(self.rate))
        if are_too_few(self._of_rate):
            said.append(IN_TOO_FEW)
        if groups:
            low, high = (
                end(groups, key=lambda row: row.estimate if row.estimate >= 0 else 0.0)
                for end in (min, max)
            )
            said.append(
                f"It is highest in {visible(str(high.group))}, {in_words(high)}, and lowest in"
                f" {visible(str(low.group))}, {in_words(low)}."
            )
            if self.rate not in OF_TWO_PEOPLE:
                said.append(sentence_on_tests("a test to say (fnmr_test)", self._of_rate))
        return said

    def _tables(self) -> list[Printed]:
        rows = [
            [
                visible(row.group or "all"),
                NONE if row.n_subjects is None else f"{row.n_subjects:,}",
                in_words(row),
                f"{row.n_errors:,} of {row.n_comparisons:,}",
            ]
            for row in self._of_rate
        ]
        tables = [("", ["Group", "People", self.rate.upper(), "Errors"], rows)]
        measures = [
            [
                printed_name(row.name) + ("" if row.group is None else f" of {visible(row.group)}"),
                in_words(row),
                f"{measure.fair_value:g}",
                p_value(row.pvalue),
            ]
            for row in self._of_measures
            if (measure := measure_of(row.name)) is not None
        ]
        if measures:
            headings = ["Measure", "Value", "Fair value", "p, not adjusted"]
            tables.append(("Fairness measures", headings, measures))
        return tables

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        tables = [on_page(*table) for table in self._tables()]
        names = ("rates", "measures")[: len(tables)]
        return {name: [(None, table)] for name, table in zip(names, tables, strict=True)}

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rate of all and of each group, with its interval.

        Rates that rest on fewer than 30 errors are drawn lighter.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows = self._of_rate
        bars = [
            plots.Bar(
                y,
                row.estimate,
                row.low,
                row.high,
                is_light=(row.n_errors or 0) < ENOUGH_ERRORS,
                instead=f"no {ATTEMPTS[self.rate]}s",
            )
            for y, row in enumerate(rows)
        ]
        return plots.draw_rows(
            ax,
            [row.group or "all" for row in rows],
            bars,
            [plots.Line(rows[0].estimate, "all")],
            xlabel=METRICS[self.rate].long_title,
            logarithmic=self.rate in OF_TWO_PEOPLE and any(row.estimate > 0 for row in rows),
        )


def counted_rates(
    counts: FailureCounts,
    quantities: Sequence[Quantity],
    settings: dict[str, Any],
) -> CountedRates:
    """Make the result of an evaluation of the decisions."""
    named = names_of_decisions(counts.rate_name)
    rows = tuple(
        CountedRate._of(quantity, name=named[quantity.name], pvalue=quantity.pvalue)
        for quantity in quantities
        if quantity.name in named
    )
    kept = settings_of_counts(settings, counts)
    return CountedRates(counts.rate_name, rows, counts.groups, kept, left_out=counts.left_out)


def counted_evaluation(counts: FailureCounts, evaluation: Evaluation) -> Evaluation:
    """Return an evaluation of the decisions that counts are with the names of counts."""
    names = names_of_decisions(counts.rate_name)
    return replace(
        evaluation,
        quantities=tuple(
            replace(quantity, name=names[quantity.name], at=None)
            for quantity in evaluation.quantities
            if quantity.name in names
        ),
        rates=(),
        settings=settings_of_counts(evaluation.settings, counts),
        description=repr(counts),
        uncertainty=None,
        comparisons=None,
        n_subjects=counts.n_people,
        left_out=counts.left_out,
    )


_OF_SCORES = (
    *("at", "thresholds", "metrics", "score_kind", "score_kinds"),
    *("p_target", "c_miss", "c_fa", "normalize"),
)


def settings_of_counts(settings: dict[str, Any], counts: FailureCounts) -> dict[str, Any]:
    """Return the settings of the decisions that are of use for counts, and which rate they have."""
    kept = {name: value for name, value in settings.items() if name not in _OF_SCORES}
    return kept | {"grouping": list(counts.grouping), "rate": counts.rate_name}
