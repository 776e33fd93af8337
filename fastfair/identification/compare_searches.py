"""`compare_searches`: do two systems that searched for the same people differ in their error
rates?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastfair import intervals
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.plots import Bar, Line, draw_rows
from fastfair._lib.text import p_in_words, per_cent
from fastfair.data.exclusions import exclusions_of, exclusions_of_systems
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.results.result import Result
from fastfair.uncertainty.notes import Code, Note, joined
from fastfair.uncertainty.quantities import Estimate, find

from .estimator import Estimator, identified, points_of, shares
from .identify import Gallery
from .paired import SystemPair
from .result import Identification, sentences_on_failed
from .searches import Searches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_PEOPLE = 10  # with fewer, a correlation of what people do in two systems means little
OF_FEW_PEOPLE = Note.of(Code.FEW_PEOPLE, least=FEWEST_PEOPLE)


@dataclass(frozen=True, kw_only=True)
class SearchDifference(Estimate):
    """The difference of two systems in a rate, first minus second: an `Estimate`, and a test.

    Attributes
    ----------
    name : {"fpir", "fnir"}
        The rate.
    at : OperatingPoint
        The operating point; each system has its own threshold.
    first, second : float
        The rates of the systems.
    pvalue : float
        p-value of the hypothesis that they are equal; NaN where there is no interval.
    pvalue_adjusted : float
        The same, adjusted by Holm's procedure for the number of rows.
    """

    name: str
    at: OperatingPoint
    first: float
    second: float
    pvalue: float
    pvalue_adjusted: float = math.nan

    _unused = ("n_comparisons", "n_errors", "n_subjects")


@dataclass(frozen=True, eq=False, repr=False)
class SearchComparison(Result):
    """The result of `compare_searches`.

    Attributes
    ----------
    rows : tuple of SearchDifference
        Differences of FPIR and FNIR, of all searches and of each group of probes, but for the rate
        that the operating point holds.
    systems : tuple of Identification
        The rates of the first and of the second system.
    confidence_level : float
        The level of the intervals.
    """

    rows: tuple[SearchDifference, ...]
    systems: tuple[Identification, Identification]
    confidence_level: float

    _title = "Do two systems err equally often?"
    _printed = "name group operating_point first second estimate pvalue_adjusted"

    @checked
    def of(
        self, name: str, group: str | None = None, at: OperatingPoint | None = None
    ) -> SearchDifference:
        """Return a row.

        Parameters
        ----------
        name : {"fpir", "fnir"}
            The rate.
        group : str, optional
            A group of probes; all searches by default.
        at : OperatingPoint, optional
            Needed where there are several.

        Returns
        -------
        SearchDifference
        """
        return find(self.rows, name, group, at)

    def _sentences(self) -> list[str]:
        rows = [row for row in self.rows if row.group is None]
        differing = [row for row in self.rows if row.pvalue_adjusted <= 1 - self.confidence_level]
        told = [
            f"{row.title}: {per_cent(row.first)} and {per_cent(row.second)}, a difference of"
            f" {_points(row.estimate)} percentage points{_interval_and_p(row)}."
            for row in rows
        ]
        found = (
            f"{len(differing)} of {len(self.rows)} rates differ, at {100 * self.confidence_level:g}"
            " % for all together."
        )
        failed = [
            f"Of the {name} system, {said}"
            for name, system in zip(("first", "second"), self.systems, strict=True)
            for said in sentences_on_failed(system.rows)
        ]
        return [*told, *failed, found]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the differences with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        bars = [Bar(k, row.estimate, row.low, row.high) for k, row in enumerate(self.rows)]
        lines = [Line(0, "no difference")]
        return draw_rows(
            ax,
            [row.title for row in self.rows],
            bars,
            lines,
            xlabel="Difference, first minus second",
        )


def _interval_and_p(row: SearchDifference) -> str:
    if not row.has_interval:
        return f" ({OF_FEW_PEOPLE})"
    return f" [{_points(row.low)}, {_points(row.high)}], {p_in_words(row.pvalue_adjusted)}"


def _points(share: float) -> str:
    return f"{100 * share:.3g}"


@checked
def compare_searches(
    first: Searches,
    second: Searches,
    at: OperatingPoint | Sequence[OperatingPoint],
    *,
    rank: Natural | None = None,
    gallery: Gallery = "drawn",
    confidence_level: float = 0.95,
) -> SearchComparison:
    """Compare two systems whose searches are of the same people in a gallery of the same people.

    Parameters
    ----------
    first, second : Searches
        The searches by each system, in any order. Scores may be on different scales.
    at, rank, gallery
        As in `identify`; each system has its own threshold.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    SearchComparison

    Raises
    ------
    InputError
        Where the people enrolled, those searched with or their groups differ, and as `identify`
        does.

    Notes
    -----
    A score test of the searches in which the systems differ, clustered by person: with T_k what
    person k adds to the difference D, as a probe, as one of a gallery that is drawn, and by way of
    thresholds that are held at a rate, D / sqrt(sum T_k^2) has Student's law with (sum T_k^2)^2 /
    sum T_k^4 - 1 degrees of freedom. For up to 16 people in whose searches the systems differ at
    given thresholds, p-values are those of all changes of signs of T_k. An interval has the
    differences that this test does not reject, so that it is without 0 exactly where the p-value is
    small. With fewer than ten people who search there is neither.

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> people, noise = np.arange(300), rng.normal(size=(300, 200))
    >>> mates = people[:, None] == people[:200]
    >>> good, poor = (ff.Searches.from_matrix(noise + d * mates, people, people[:200]) for d in (6.0, 4.0))
    >>> found = ff.compare_searches(good, poor, ff.at_rank(1))
    >>> round(found.of("fnir").estimate, 3), found.of("fnir").pvalue < 0.001
    (-0.12, True)
    """
    points, systems = points_of(at), (first, second)
    level = intervals.level(confidence_level)
    described = [_described(searches) for searches in systems]
    for name, values, others in zip(("probe", "enrolled", "group"), *described, strict=True):
        if values != others:
            raise InputError(
                f"{name} differs between the systems: both need the same people in the same groups"
            )
    of_each = []
    for searches in systems:
        rates = identified(Estimator(searches, rank, gallery, level), points, [searches.n_enrolled])
        about = searches.groups, searches.n_enrolled, rank, gallery, level, searches
        of_each.append(Identification(rates, *about, left_out=exclusions_of(searches)))
    pair = SystemPair(first, second, rank, gallery)
    rows: list[SearchDifference] = []
    for one, other in zip(*(system.rows for system in of_each), strict=True):
        if one.name not in shares() or one.name == one.at.rate or math.isnan(one.estimate):
            continue
        low, high, pvalue = pair.test(one.name, one.group, one.at, level)
        notes = joined(one.notes, other.notes)
        if min(one.n_subjects or 0, other.n_subjects or 0) < FEWEST_PEOPLE:
            low = high = pvalue = math.nan
            notes = (*notes, OF_FEW_PEOPLE)
        rows.append(
            SearchDifference(
                name=one.name,
                group=one.group,
                at=one.at,
                estimate=one.estimate - other.estimate,
                low=low,
                high=high,
                first=one.estimate,
                second=other.estimate,
                pvalue=pvalue,
                notes=notes,
            )
        )
    if not rows:
        raise InputError(
            "there is no rate to compare: the operating points hold it, or no searches are of its"
            " kind"
        )
    adjusted = intervals.holm([row.pvalue for row in rows]).tolist()
    rows = [replace(row, pvalue_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]
    left_out = exclusions_of_systems(zip(("first", "second"), systems, strict=True))
    return SearchComparison(tuple(rows), (of_each[0], of_each[1]), level, left_out=left_out)


def _described(searches: Searches) -> tuple[Any, Any, Any]:
    """Return who is searched with and how often, who is enrolled, and whose group is which,
    whatever the order.
    """
    labels = searches.labels.tolist()
    probes = sorted(str(labels[k]) for k in searches.subject)
    groups = {
        (labels[k], searches.groups[g] if searches.groups else "")
        for k, g in zip(searches.subject.tolist(), searches.group.tolist(), strict=True)
    }
    return probes, {labels[k] for k in searches.enrolled.tolist()}, groups
