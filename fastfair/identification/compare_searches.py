"""`compare_searches`: do two systems that searched for the same people differ in their error
rates?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fastfair import intervals
from fastfair._lib.arguments import Natural, checked
from fastfair._lib.plots import Bar, Line, draw_rows
from fastfair._lib.text import p_in_words, per_cent
from fastfair.claims import Check, Estimates, Requirement, judged_check, points_in, requirements_of
from fastfair.data.exclusions import exclusions_of, exclusions_of_systems
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.measures._registry import name_of_difference
from fastfair.results.result import Result
from fastfair.uncertainty.notes import Code, Note, joined_of_two
from fastfair.uncertainty.quantities import Estimate, find

from .estimator import Estimator, IdentifiedRate, estimate_rows, points_of, shares
from .identify import Gallery
from .paired import SystemPair
from .result import Identification, sentences_on_failed
from .searches import Searches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SYSTEMS = "first", "second"
FEWEST_PEOPLE = 10  # with fewer, a correlation of what people do in two systems means little
OF_FEW_PEOPLE = Note.of(Code.FEW_PEOPLE, least=FEWEST_PEOPLE)
_WITHHELD = Code.FEW_PEOPLE, Code.TOO_FEW_SESSIONS  # why there is no interval


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
    paired : bool
        Whether searches are of the same people.
    """

    rows: tuple[SearchDifference, ...]
    systems: tuple[Identification, Identification]
    confidence_level: float
    paired: bool = True

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

    @checked
    def check(
        self,
        requirements: str | Sequence[str],
        at: OperatingPoint | None = None,
        *,
        confidence_level: float = 0.95,
        allow_undecided: bool = False,
    ) -> Check:
        """Judge requirements on differences, first minus second, by their limits.

        Parameters
        ----------
        requirements : str or sequence of str
            What must hold, such as "difference(fpir)[*] <= 0.1 %", of percentage points: as in
            `Identification.check`, but of "difference(fpir)", or "fpir(first) - fpir(second)".
        at, confidence_level, allow_undecided
            As in `Identification.check`.

        Returns
        -------
        Check

        Examples
        --------
        >>> import numpy as np
        >>> import fastfair as ff
        >>> rng = np.random.default_rng(0)
        >>> people, mates = np.arange(600), np.eye(600)[:, :300]
        >>> may, june = (
        ...     ff.Searches.from_matrix(rng.normal(size=(600, 300)) + 8 * mates, people, people[:300])
        ...     for _ in range(2)
        ... )
        >>> comparison = ff.compare_searches(june, may, ff.at_threshold(4.5), gallery="fixed", paired=False)
        >>> comparison.check("difference(fpir) <= 5 %").verdicts
        {'difference(fpir) <= 5 %': 'met'}
        """
        level = intervals.level(confidence_level)
        pairs = [_SYSTEMS]
        wanted = requirements_of(requirements, at or self.rows[0].at, shares(), pairs)
        points = points_of(points_in(wanted))
        first, second = (system.searches for system in self.systems)
        if first is None or second is None:
            raise InputError("this result was read from a file: compare the searches again")
        how = _How(self.systems[0].rank, self.systems[0].gallery, self.paired)

        @cache
        def rows(level: float | None) -> dict[tuple[Any, ...], SearchDifference]:
            level = self.confidence_level if level is None else level
            return {
                (name_of_difference(row.name), row.group, row.at): row
                for row in _compare((first, second), points, how, level)[0]
            }

        def row_of(rule: Requirement, level: float | None) -> SearchDifference:
            row = rows(level).get((rule.name, rule.group, rule.at))
            if row is None:
                raise InputError(f"requirement {rule.text!r}: there is no such difference")
            return row

        settings = {"rank": how.rank, "gallery": how.gallery, "confidence_level": level}
        groups = [name for name in self.systems[0].groups if name in self.systems[1].groups]
        estimates = Estimates(row_of)
        families = [rule.of_groups(groups) for rule in wanted]
        made = judged_check(wanted, families, estimates, settings)
        return replace(made, allow_undecided=allow_undecided, left_out=self.left_out)

    def _sentences(self) -> list[str]:
        rows = [row for row in self.rows if row.group is None]
        differing = [row for row in self.rows if row.pvalue_adjusted <= 1 - self.confidence_level]
        rates = [
            f"{row.title}: {per_cent(row.first)} and {per_cent(row.second)}, a difference of"
            f" {_points(row.estimate)} percentage points{_interval_and_p(row)}."
            for row in rows
        ]
        answer = (
            f"{len(differing)} of {len(self.rows)} rates differ, at {100 * self.confidence_level:g}"
            " % for all together."
        )
        failed = [
            f"Of the {name} system, {said}"
            for name, system in zip(_SYSTEMS, self.systems, strict=True)
            for said in sentences_on_failed(system.rows)
        ]
        how = [] if self.paired else ["The searches are compared as independent ones."]
        return [*how, *rates, *failed, answer]

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
        reason = next(note for note in row.notes if note.code in _WITHHELD)
        return f" ({reason})"
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
    paired: bool = True,
    confidence_level: float = 0.95,
) -> SearchComparison:
    """Compare two systems whose searches are of the same people in a gallery of the same people, or
    two sets of searches, such as those of two months.

    Parameters
    ----------
    first, second : Searches
        The searches by each system, in any order. Scores may be on different scales.
    at, rank, gallery
        As in `identify`; each system has its own threshold.
    paired : bool, default True
        Whether searches are by the same people. Others are compared as independent ones, in the
        groups that both have.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    SearchComparison

    Raises
    ------
    InputError
        Where the people enrolled, those searched with, their groups or their sessions differ, where
        one side alone has sessions, and as `identify` does.

    Notes
    -----
    A score test of the searches in which the systems differ, clustered by person: with T_k what
    person k adds to the difference D, as a probe, as one of a gallery that is drawn, and by way of
    thresholds that are held at a rate, D / sqrt(sum T_k^2) has Student's law with (sum T_k^2)^2 /
    sum T_k^4 - 1 degrees of freedom. For up to 16 people in whose searches the systems differ at
    given thresholds, p-values are those of all changes of signs of T_k. An interval has the
    differences that this test does not reject, so that it is without 0 exactly where the p-value is
    small. With fewer than ten people who search there is neither. Where few people
    differ, Student's law has few degrees of freedom and would allow almost any difference: limits
    that are beyond 0 are never beyond those of independent searches, below, but for what people
    add to one rate rather than to the other.

    Where people share sessions, sum T_k^2 grows by what sessions add beyond people in them, degrees
    of freedom are at most one fewer than sessions, and limits are never within those of people
    alone. Fewer than ten sessions are flagged, and with fewer than four there is neither interval
    nor p-value.

    Other searches (``paired=False``) are compared by the limits of both rates, after Zou and Donner:
    the difference minus its lower limit is the square root of the sum of squares of what lies
    between each rate and its limit. People who search in both sets, or are enrolled in both, and
    sessions of both make rates alike, so that limits are then too wide rather than too narrow.

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> people, noise = np.arange(300), rng.normal(size=(300, 200))
    >>> mates = people[:, None] == people[:200]
    >>> good, poor = (ff.Searches.from_matrix(noise + d * mates, people, people[:200]) for d in (6.0, 4.0))
    >>> comparison = ff.compare_searches(good, poor, ff.at_rank(1))
    >>> round(comparison.of("fnir").estimate, 3), comparison.of("fnir").pvalue < 0.001
    (-0.12, True)
    """
    level = intervals.level(confidence_level)
    if (first.sessions is None) != (second.sessions is None):
        raise InputError(
            "one of the systems has sessions, which people share, and the other has none: give"
            " ⟦session=⟧ of both, or of neither"
        )
    how = _How(rank, gallery, paired)
    if paired:
        for name, values, others in zip(
            ("probe", "enrolled", "group"),
            _describe(first),
            _describe(second),
            strict=True,
        ):
            if values != others:
                raise InputError(
                    f"{name} differs between the systems: both need the same people in the same"
                    " groups and sessions, or say ⟦paired=False⟧ where searches are others, such as"
                    " those of two months"
                )
    rows, of_each = _compare((first, second), points_of(at), how, level)
    adjusted = intervals.holm([row.pvalue for row in rows]).tolist()
    rows = [replace(row, pvalue_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]
    left_out = exclusions_of_systems(zip(_SYSTEMS, (first, second), strict=True))
    return SearchComparison(tuple(rows), of_each, level, paired, left_out=left_out)


class _How(NamedTuple):
    """How searches are compared: as in `compare_searches`."""

    rank: int | None
    gallery: str
    paired: bool


def _compare(
    systems: tuple[Searches, Searches], points: Sequence[OperatingPoint], how: _How, level: float
) -> tuple[list[SearchDifference], tuple[Identification, Identification]]:
    """Return the differences in rates, and the rates of each system."""
    of_each = []
    for searches in systems:
        estimator = Estimator(searches, how.rank, how.gallery, level)
        rates = estimate_rows(estimator, points, [searches.n_enrolled])
        about = searches.groups, searches.n_enrolled, how.rank, how.gallery, level, searches
        of_each.append(Identification(rates, *about, left_out=exclusions_of(searches)))
    pair = SystemPair(*systems, how.rank, how.gallery) if how.paired else None
    others = {_key(row): row for row in of_each[1].rows}
    rows: list[SearchDifference] = []
    for first_row in of_each[0].rows:
        second_row = others.get(_key(first_row))
        if (
            second_row is None
            or first_row.name not in shares()
            or first_row.name == first_row.at.rate
        ):
            continue
        if math.isnan(first_row.estimate + second_row.estimate):
            continue
        low, high, pvalue = (
            _compare_paired(pair, first_row, second_row, level)
            if pair
            else _compare_independent(first_row, second_row, level)
        )
        notes = tuple(
            note
            for note in joined_of_two(_SYSTEMS, first_row.notes, second_row.notes)
            if note.code is not Code.EFFECT_OF_SESSIONS  # which is that on a rate
        )
        if any(note.code is Code.TOO_FEW_SESSIONS for note in notes):
            low = high = pvalue = math.nan
        if min(first_row.n_subjects or 0, second_row.n_subjects or 0) < FEWEST_PEOPLE:
            low = high = pvalue = math.nan
            notes = (*notes, OF_FEW_PEOPLE)
        rows.append(
            SearchDifference(
                name=first_row.name,
                group=first_row.group,
                at=first_row.at,
                estimate=first_row.estimate - second_row.estimate,
                low=low,
                high=high,
                first=first_row.estimate,
                second=second_row.estimate,
                pvalue=pvalue,
                notes=notes,
            )
        )
    if not rows:
        raise InputError(
            "there is no rate to compare: the operating points hold it, or no searches are of its"
            " kind"
        )
    return rows, (of_each[0], of_each[1])


def _key(row: IdentifiedRate) -> tuple[Any, ...]:
    return row.name, row.group, row.at


def _compare_paired(
    pair: SystemPair, first_row: IdentifiedRate, second_row: IdentifiedRate, level: float
) -> tuple[float, float, float]:
    """Return the limits of a difference of two systems' rates of the same people, and the p-value.

    Where few people differ, the limits of the test may be far wider than those by the limits of
    each rate; then these hold, but for 0, of which the test alone decides.
    """
    of_rate = first_row.name, first_row.group, first_row.at
    low, high, pvalue = pair.test(*of_rate, level)
    correlation = pair.correlation(*of_rate)
    if correlation < 1:  # else nobody differs
        least, most, _ = _compare_independent(first_row, second_row, level, min(correlation, 0.0))
        low, high = max(low, min(least, 0.0)), min(high, max(most, 0.0))
    return low, high, pvalue


def _compare_independent(
    first_row: IdentifiedRate,
    second_row: IdentifiedRate,
    level: float,
    correlation: float = 0.0,
) -> tuple[float, float, float]:
    """Return the limits of a difference of rates, by those of each, and the p-value that goes with
    them: that of a normal law with the limit on the side of 0. By default they are independent.
    """
    first, second = (np.array([row.estimate, row.low, row.high]) for row in (first_row, second_row))
    low, high = map(float, intervals.difference_interval(first, second, np.array(correlation)))
    difference = first_row.estimate - second_row.estimate
    reach = difference - low if difference > 0 else high - difference
    if not difference or not reach:
        return low, high, 1.0
    return low, high, 2 * float(ndtr(-float(ndtri((1 + level) / 2)) * abs(difference) / reach))


def _describe(searches: Searches) -> tuple[Any, Any, Any]:
    """Return who is searched with and how often in each session, who is enrolled, and whose group
    is which, whatever the order.
    """
    labels = searches.labels.tolist()
    sessions = [None] if searches.sessions is None else searches.sessions.tolist()
    probes = sorted(
        (str(labels[k]), str(sessions[s]))
        for k, s in zip(searches.subject, searches.session, strict=True)
    )
    groups = {
        (labels[k], searches.groups[g] if searches.groups else "")
        for k, g in zip(searches.subject.tolist(), searches.group.tolist(), strict=True)
    }
    return probes, {labels[k] for k in searches.enrolled.tolist()}, groups
