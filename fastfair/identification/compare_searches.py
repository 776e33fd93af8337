"""`compare_searches`: do two systems that searched for the same people differ in their error rates?

The interval of a difference is made of those of both rates (Zou and Donner 2008), whose correlation is that of people's
influences on them: a person whom one system confuses is often confused by the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

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

from .identify import RATES, Gallery, Identification, identified, points_of, sentences_on_failed
from .searches import Searches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
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
        Differences of FPIR and FNIR, of all searches and of each group of probes, but for the rate that the operating
        point holds.
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
    def of(self, name: str, group: str | None = None, at: OperatingPoint | None = None) -> SearchDifference:
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
            f"{row.title}: {per_cent(row.first)} and {per_cent(row.second)}, a difference of {_points(row.estimate)} "
            f"percentage points{_interval_and_p(row)}."
            for row in rows
        ]
        found = (
            f"{len(differing)} of {len(self.rows)} rates differ, at {100 * self.confidence_level:g} % for all together."
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
        return draw_rows(ax, [row.title for row in self.rows], bars, lines, xlabel="Difference, first minus second")


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
        Where the people enrolled, those searched with or their groups differ, and as `identify` does.

    Notes
    -----
    A person's influence on a rate joins what the person does as probe and as enrolled, and by way of a threshold that
    is held at a rate. A p-value is that of a normal law whose standard error is the reach of the interval towards 0,
    divided by the normal quantile of the level. With fewer than ten people who search there is neither.

    References
    ----------
    Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
    Medicine 27 (2008).

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
            raise InputError(f"{name} differs between the systems: both need the same people in the same groups")
    order = {label: k for k, label in enumerate(first.labels.tolist())}
    place = np.array([order[label] for label in second.labels.tolist()])
    of_each, influences = [], []
    for searches in systems:
        rates, of_people = identified(searches, points, [searches.n_enrolled], (rank, gallery, level))
        about = searches.groups, searches.n_enrolled, rank, gallery, level, searches
        of_each.append(Identification(tuple(rates), *about, left_out=exclusions_of(searches)))
        influences.append(of_people)
    rows: list[SearchDifference] = []
    for one, other in zip(*(system.rows for system in of_each), strict=True):
        key = one.name, one.group, one.at, one.gallery_size
        if one.name not in RATES or one.name == one.at.rate or math.isnan(one.estimate):
            continue
        mine, theirs = influences[0][key][place], influences[1][key]
        scale = math.sqrt(float(mine @ mine) * float(theirs @ theirs))
        correlation = float(mine @ theirs) / scale if scale else 0.0
        of_one, of_other = (np.array([row.estimate, row.low, row.high]) for row in (one, other))
        ends = intervals.difference_interval(of_one, of_other, np.array(correlation))
        low, high = (float(end) for end in ends)
        difference, notes = one.estimate - other.estimate, joined(one.notes, other.notes)
        if min(one.n_subjects or 0, other.n_subjects or 0) < FEWEST_PEOPLE:
            low = high = math.nan
            notes = (*notes, OF_FEW_PEOPLE)
        reach = difference - low if difference > 0 else high - difference
        standard = float(ndtri((1 + level) / 2)) * abs(difference) / reach if reach > 0 else math.nan
        pvalue = math.nan if math.isnan(low) else 1.0 if difference == 0 else 2 * float(ndtr(-standard))
        rows.append(SearchDifference(
            name=one.name, group=one.group, at=one.at, estimate=difference, low=low, high=high, first=one.estimate,
            second=other.estimate, pvalue=pvalue, notes=notes,
        ))  # fmt: skip
    if not rows:
        raise InputError("there is no rate to compare: the operating points hold it, or no searches are of its kind")
    adjusted = intervals.holm([row.pvalue for row in rows]).tolist()
    rows = [replace(row, pvalue_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]
    left_out = exclusions_of_systems(zip(("first", "second"), systems, strict=True))
    return SearchComparison(tuple(rows), (of_each[0], of_each[1]), level, left_out=left_out)


def _described(searches: Searches) -> tuple[Any, Any, Any]:
    """Return who is searched with and how often, who is enrolled, and whose group is which, whatever the order."""
    labels = searches.labels.tolist()
    probes = sorted(str(labels[k]) for k in searches.subject)
    groups = {(labels[k], searches.groups[g] if searches.groups else "") for k, g in zip(
        searches.subject.tolist(), searches.group.tolist(), strict=True
    )}  # fmt: skip
    return probes, {labels[k] for k in searches.enrolled.tolist()}, groups
