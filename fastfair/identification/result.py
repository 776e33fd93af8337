"""`Identification`: the rates of searches in words, on plots, judged by requirements, and counted
for tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import Bar, draw_lines, draw_rows, rate_ticks
from fastfair._lib.text import p_in_words, per_cent, rate_with_interval, typed
from fastfair.claims import (
    Check,
    Estimates,
    Requirement,
    judged_check,
    measures_in,
    points_in,
    requirements_of,
)
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, RULES, OperatingPoint, at_rank
from fastfair.errors import InputError
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.measures._registry import MATED, METRICS, quantity_name
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN
from fastfair.uncertainty.notes import Code, Note, joined
from fastfair.uncertainty.quantities import Group, find

from .estimator import (
    Estimator,
    IdentificationRate,
    IdentifiedRate,
    estimate_rows,
    points_of,
    shares,
)
from .rates import RATES
from .searches import Searches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHARES_OF_GALLERY = 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0
_MOST_RANKS = 20  # of a CMC on a page
# Measures that are quasi-convex in rates or in their logarithms, which `range_within` needs.
FAIRNESS = "gini", "std", "max_min_ratio", "max_geomean_ratio", "log_geomean_sum"


def rates_and_complements() -> list[str]:
    """Return the names of the rates that are shares of searches, and of 1 minus these."""
    rates = shares()
    return [*rates, *(RATES[rate].complement for rate in rates if RATES[rate].complement)]


def quantities() -> list[str]:
    """Return the names of what requirements may be about."""
    return [
        *rates_and_complements(),
        *(f"{name}({rate})" for name in FAIRNESS for rate in shares()),
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """The result of `identify`.

    Attributes
    ----------
    rows : tuple of IdentifiedRate
        At each operating point and gallery size, of all searches and of each group of probes.
    groups : tuple of str
        The groups.
    n_enrolled : int
        The number of enrolled people.
    rank : int or None
        How many candidates were looked at; None for all.
    gallery : {"drawn", "fixed"}
        Whether intervals are for another gallery, or for this one.
    confidence_level : float
        The level of the intervals.
    simultaneous : bool
        Whether intervals of the points of a curve hold together.
    largest : tuple of IdentifiedRate
        At each operating point, the group with the largest FPIR; the interval is that of the
        largest FPIR of all groups, and holds whichever group that is. Empty without groups.
    """

    rows: tuple[IdentifiedRate, ...]
    groups: tuple[str, ...]
    n_enrolled: int
    rank: int | None
    gallery: str
    confidence_level: float
    searches: Searches | None = field(default=None, repr=False, metadata=UNWRITTEN)
    simultaneous: bool = False
    largest: tuple[IdentifiedRate, ...] = ()

    _title = "How often are searches of a gallery wrong?"
    _printed = (
        "name group probe_group operating_point gallery_size n_searches n_failed n_errors estimate"
    )

    @checked
    def of(
        self,
        name: str,
        group: Group = None,
        at: OperatingPoint | None = None,
        size: int | None = None,
    ) -> IdentifiedRate:
        """Return a row.

        Parameters
        ----------
        name : str
            What is estimated, as in `IdentifiedRate`.
        group : str, or tuple of two, optional
            A group of probes; all searches by default. For "fpir_matrix", the group of the person
            returned, or that and the group of the probe.
        at : OperatingPoint, optional
            Needed where there are several.
        size : int, optional
            The number of enrolled people; all by default.

        Returns
        -------
        IdentifiedRate
        """
        sizes = sorted({row.gallery_size for row in self.rows})
        wanted = (
            (self.n_enrolled if self.n_enrolled in sizes else sizes[-1]) if size is None else size
        )
        if wanted not in sizes:
            raise InputError(
                f"there are no rates in galleries of {wanted}, only of {', '.join(map(str, sizes))}"
            )
        self._require_searches(quantity_name(name))
        return find([row for row in self.rows if row.gallery_size == wanted], name, group, at)

    @checked
    def check(
        self,
        requirements: str | Sequence[str],
        at: OperatingPoint | None = None,
        *,
        confidence_level: float = 0.95,
        allow_undecided: bool = False,
    ) -> Check:
        """Judge requirements on FPIR, FNIR and measures of their fairness, as `check` does those on
        comparisons.

        Parameters
        ----------
        requirements : str or sequence of str
            What must hold, such as "fpir[*]@threshold=0.6 <= 0.1 %" or "max_min_ratio(fnir)@rank=1
            <= 3": as in `check`, with operating points of searches.
        at : OperatingPoint, optional
            The operating point of requirements that name none; by default the first of this result.
        confidence_level : float, default 0.95
            The level of the limits, to one side, in (0.5, 1).
        allow_undecided : bool, default False
            Whether the check passes where the data do not decide.

        Returns
        -------
        Check

        Raises
        ------
        InputError
            For a requirement that cannot be read, that no data or all data would meet, or on a rate
            that its operating point holds; for unknown groups, and as `identify` does.

        Notes
        -----
        For this gallery, limits decide. For others (`gallery="drawn"`) it is luck whether someone
        is enrolled who resembles many, so that a requirement is met only where the bound is four
        times the limit, and undecided if it is on a measure of fairness.

        Examples
        --------
        >>> import numpy as np
        >>> import fastfair as ff
        >>> rng = np.random.default_rng(0)
        >>> people, scores = np.arange(300), rng.normal(size=(300, 200))
        >>> searches = ff.Searches.from_matrix(scores, people, people[:200], group=np.where(people % 2, "f", "m"))
        >>> identification = ff.identify(searches, ff.at_threshold(4.5), gallery="fixed")
        >>> identification.check(["fpir[*] <= 10 %", "fpir@threshold=2 <= 10 %"]).verdicts
        {'fpir[*] <= 10 %': 'met', 'fpir@threshold=2 <= 10 %': 'not met'}
        """
        level = intervals.level(confidence_level)
        wanted = requirements_of(requirements, at or self.rows[0].at, quantities())
        for rule in wanted:
            self._require_searches(rule.name)
        points = points_of(points_in(wanted))
        measures = sorted(set(measures_in(wanted)))

        @cache
        def rows(level: float) -> Sequence[IdentifiedRate]:
            return estimate_rows(self._estimator(level), points, [self.n_enrolled], measures)

        def row_of(rule: Requirement, at_level: float | None) -> IdentifiedRate:
            there = rows(level if at_level is None else at_level)
            return find(there, rule.name, rule.group, rule.at)

        def needed(requirement: Requirement, row: IdentifiedRate, level: float) -> str:
            if self.gallery != "fixed" or requirement.name not in RATES or not row.at.is_given:
                return ""
            times = self._estimator(level).evidence_of(row).times_needed(requirement.bound, level)
            people = f"{math.ceil(times * (row.n_subjects or 0)):,}" if 1 < times < math.inf else ""
            in_sessions = ""
            if self.searches is not None and self.searches.sessions is not None:
                in_sessions = f" in {times:.2g} times as many sessions"
            return (
                f"; about {people} people{in_sessions} who search with this rate would be enough"
                if people
                else ""
            )

        settings = {"rank": self.rank, "gallery": self.gallery, "confidence_level": level}
        families = [rule.of_groups(self.groups) for rule in wanted]
        estimates = Estimates(row_of, needed=needed)
        made = judged_check(wanted, families, estimates, settings)
        return replace(made, allow_undecided=allow_undecided, left_out=self.left_out)

    def _require_searches(self, name: str) -> None:
        """Refuse a rate, or a measure of one, of searches that there are none of."""
        rate = name.partition("(")[2].removesuffix(")") or name
        sides = METRICS[rate].sides if rate in METRICS else ()
        is_mated = () if self.searches is None else self.searches.is_mated.tolist()
        if is_mated and sides and (sides == (MATED,)) not in is_mated:
            raise InputError(f"the {rate.upper()} is over {sides[0]} searches, and there are none")

    def _estimator(self, level: float = 0.95) -> Estimator:
        if self.searches is None:
            raise InputError("this result was read from a file: identify the searches again")
        return Estimator(self.searches, self.rank, self.gallery, level)

    @checked
    def failure_counts(
        self, rate: IdentificationRate = "fnir", at: OperatingPoint | None = None
    ) -> FailureCounts:
        """Count the searches of each person, and the errors among them, to test whether groups'
        rates are equal.

        Parameters
        ----------
        rate : {"fnir", "fpir"}
            Errors of mated or of non-mated searches.
        at : OperatingPoint, optional
            Needed where there are several.

        Returns
        -------
        FailureCounts
            For `fnmr_test`, which then tests equal rates in this very gallery, and for `check`,
            `claim` and `evaluate`.
        """
        self._require_searches(rate)
        return self._estimator().counts(RATES[rate], self.of(rate, at=at).at)

    @checked
    def own_thresholds(
        self, at: OperatingPoint | Sequence[OperatingPoint] | None = None
    ) -> OwnThresholds:
        """Tell what FNIRs of groups would be if the threshold of each group held the FPIR, or the
        other way around, in that group.

        Parameters
        ----------
        at : OperatingPoint or sequence of OperatingPoint, optional
            Of `at_fpir` and `at_fnir`; by default those of this result.

        Returns
        -------
        OwnThresholds

        Examples
        --------
        >>> import numpy as np
        >>> import fastfair as ff
        >>> rng = np.random.default_rng(0)
        >>> people, scores = np.arange(300), rng.normal(size=(300, 200))
        >>> searches = ff.Searches.from_matrix(scores, people, people[:200], group=np.where(people % 2, "f", "m"))
        >>> own = ff.identify(searches, ff.at_fpir(0.1)).own_thresholds()
        >>> [(row.group, row.threshold) for row in own.rows if row.name == "fpir"]
        [('f', 3.4), ('m', 3.29)]
        """
        estimator = self._estimator(self.confidence_level)
        asked = dict.fromkeys(row.at for row in self.rows) if at is None else points_of(at)
        points = [rate for rate in asked if not rate.is_given]
        if not self.groups:
            raise InputError(
                "own thresholds are of groups, which these searches lack: give ⟦groups=⟧"
            )
        if not points:
            raise InputError(
                "own thresholds are found at operating points that hold a rate, such as fpir=0.01 or"
                f" fnir=0.05, not at {', '.join(map(str, asked))}"
            )
        rows = []
        for code, group in enumerate(self.groups):
            alone = replace(estimator, searches=estimator.searches._of_group(code))
            for point in points:
                needed = RATES[point.rule.holds[0]].of_searches(alone.searches)
                if needed.any():
                    rows_there = alone.rows(point, [self.n_enrolled])
                    rows += [replace(row, group=group) for row in rows_there if row.group is None]
        if not rows:
            raise InputError("no group has searches of the kind that the operating points hold")
        return OwnThresholds(tuple(rows), self.confidence_level, left_out=self.left_out)

    def _sentences(self) -> list[str]:
        kind = (
            "other galleries of such people"
            if self.gallery == "drawn"
            else "this gallery and other probes"
        )
        level = f"{100 * self.confidence_level:g} %"
        largest = max(row.gallery_size for row in self.rows)
        rows = [
            row
            for row in self.rows
            if row.group is None and row.gallery_size == largest
            if row.name in shares() and not row.is_held
        ]
        return [
            f"Searches of a gallery of {self.n_enrolled:,} people; {level} intervals for {kind}"
            f"{', which hold together for all points of a curve' * self.simultaneous}.",
            *self._on_thresholds(),
            *(f"{row.title} is {_in_words(row)}{self._extremes(row)}." for row in rows),
            *(
                f"The largest FPIR of {len(self.groups)} groups at {row.at} is {_in_words(row)}"
                f" ({row.group})."
                for row in self.largest
            ),
            *self._on_groups(),
            *sentences_on_failed(self.rows),
            *(f"Note: {note}." for note in self._notes()),
        ]

    def _on_thresholds(self) -> list[str]:
        """Say which threshold holds a rate, as a number that is typed or deployed."""
        held = {str(row.at): row.threshold for row in self.rows if not row.at.is_given}
        return [
            f"{at} is held at the threshold {typed(threshold)}." for at, threshold in held.items()
        ]

    def _on_groups(self) -> list[str]:
        """Say whether groups differ, by tests of equal rates, where measures of fairness are asked
        for.
        """
        pvalues = {
            f"{METRICS[row.name.partition('(')[2][:-1]].title}s of groups at {row.at}": row.pvalue
            for row in self.rows
            if not math.isnan(row.pvalue)
        }
        significance = 1 - self.confidence_level
        return [
            f"{what} {'differ' if pvalue <= significance else 'are not shown to differ'}"
            f" ({p_in_words(pvalue)})."
            for what, pvalue in pvalues.items()
        ]

    def _notes(self) -> list[str]:
        notes = joined(*map(_named_notes, self.rows))
        return [str(note) for note in notes if note.code is not Code.HELD]

    def _extremes(self, of_all: IdentifiedRate) -> str:
        """Name the groups with the lowest and the highest rate."""
        alike = (row for row in self.rows if (row.name, row.at, row.gallery_size) == _key(of_all))
        by_rate = sorted(
            (row for row in alike if row.group and not math.isnan(row.estimate)),
            key=lambda r: r.estimate,
        )
        if len(by_rate) < 2:
            return ""
        return (
            f"; from {_in_words(by_rate[0])} ({by_rate[0].group}) to {_in_words(by_rate[-1])}"
            f" ({by_rate[-1].group})"
        )

    @checked
    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Axes:
        """Draw TPIR over rank (CMC), FNIR over FPIR (DET), a rate over gallery sizes, or rates of
        groups.

        A curve is drawn over what has several values; its intervals are of each point by itself.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : {"fpir", "fnir", "tpir"}, optional
            The rate; by default TPIR over ranks, and else FNIR, or FPIR where there are no mated
            searches.

        Returns
        -------
        matplotlib Axes
        """
        sizes = {row.gallery_size for row in self.rows}
        values = {
            kind: [row.at.value for row in self.rows if row.at.kind == kind]
            for kind in dict.fromkeys(row.at.kind for row in self.rows if row.at.rule.curve)
        }
        over = next(
            (kind for kind in values if len(set(values[kind])) > 1),
            "size" if len(sizes) > 1 else "",
        )
        usual = "fnir" if any(row.name == "fnir" for row in self.rows) else "fpir"
        rate = validation.choice(
            "name",
            name or (RULES[over].curve if over in values else usual),
            rates_and_complements(),
        )
        rows = [row for row in self.rows if row.name == rate and over in ("", "size", row.at.kind)]
        if not rows:
            raise InputError(f"there is no {rate.upper()} to draw")
        if over:
            return self._draw_curves(ax, rows, over)
        labels = [f"{row.group or 'all'} at {row.at}" for row in rows]
        bars = [
            Bar(k, row.estimate, row.low, row.high, is_light=_is_of_few_errors(row))
            for k, row in enumerate(rows)
        ]
        return draw_rows(ax, labels, bars, xlabel=METRICS[rate].long_title)

    def _figures(self) -> Mapping[str, Axes | Figure]:
        """Return the plot of the rates, and of searches at hand the CMC and the FPIR over gallery
        sizes.
        """
        figures = dict(super()._figures())
        if self.searches is None:
            return figures
        n, at = self.n_enrolled, self.rows[0].at
        sizes = sorted({max(1, round(n * share)) for share in _SHARES_OF_GALLERY})
        largest_rank = min(n, self.searches.best.shape[1], _MOST_RANKS)
        for name, points, of_sizes in (
            ("false_positives_over_gallery_sizes", [at], sizes),
            ("mates_over_ranks", list(map(at_rank, range(1, largest_rank + 1))), [n]),
        ):
            with suppress(InputError):  # of what lists do not reach, and where there are none
                rows = estimate_rows(self._estimator(self.confidence_level), points, of_sizes)
                drawn = "fpir" if len(of_sizes) > 1 else "tpir"
                if len(points) + len(of_sizes) > 2 and any(row.name == drawn for row in rows):
                    figures[name] = replace(self, rows=rows).plot(name=drawn)
        return figures

    def _draw_curves(self, ax: Axes | None, rows: Sequence[IdentifiedRate], over: str) -> Axes:
        """Draw a rate over gallery sizes, or over the values of operating points of a kind."""
        by_size = over == "size"
        at = rows[-1].at
        largest = max(row.gallery_size for row in rows)
        drawn = [row for row in rows if (row.at == at if by_size else row.gallery_size == largest)]

        def place(row: IdentifiedRate) -> float:
            return float(row.gallery_size if by_size else row.at.value)

        drawn.sort(key=place)
        curves = {
            group or "all": [
                np.array([getattr(row, part) for row in drawn if row.group == group])
                for part in ("estimate", "low", "high")
            ]
            for group in self.groups or (None,)
        }
        title = (
            f"Enrolled people, at {at}"
            if by_size
            else METRICS[over].long_title
            if over in METRICS
            else over.title()
        )
        ax = draw_lines(
            np.unique([place(row) for row in drawn]),
            curves,
            ax,
            (title, METRICS[rows[0].name].long_title),
        )
        rate_ticks(ax.yaxis)
        if not by_size and RULES[over].holds:
            ax.set_xscale("log")
            rate_ticks(ax.xaxis)
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class OwnThresholds(Result):
    """The result of `Identification.own_thresholds`.

    Attributes
    ----------
    rows : tuple of IdentifiedRate
        The rates of each group at its own threshold.
    confidence_level : float
        The level of the intervals.
    """

    rows: tuple[IdentifiedRate, ...]
    confidence_level: float

    _title = "What if each group had a threshold of its own?"
    _printed = "name group operating_point typed_threshold n_searches n_errors estimate"

    def _columns(self) -> dict[str, list[object]]:
        return super()._columns() | {"typed_threshold": [typed(row.threshold) for row in self.rows]}

    def _sentences(self) -> list[str]:
        held: dict[OperatingPoint, list[str]] = {}
        for row in self.rows:
            if row.name == row.at.rate:
                held.setdefault(row.at, []).append(f"{typed(row.threshold)} in {row.group}")
        return [f"{at} is held at the threshold {', '.join(said)}." for at, said in held.items()]


def _is_of_few_errors(row: IdentifiedRate) -> bool:
    return row.n_errors is not None and row.n_errors < ENOUGH_ERRORS


def _named_notes(row: IdentifiedRate) -> list[Note]:
    """Return the notes of a rate; what sessions do to it names the rate."""
    effect = Code.EFFECT_OF_SESSIONS
    return [replace(note, about=row.title) if note.code is effect else note for note in row.notes]


def _key(row: IdentifiedRate) -> tuple[str, OperatingPoint, int]:
    return row.name, row.at, row.gallery_size


def _in_words(row: IdentifiedRate) -> str:
    return (
        rate_with_interval(row.estimate, row.low, row.high)
        if row.has_interval
        else per_cent(row.estimate)
    )


def sentences_on_failed(rows: Sequence[IdentifiedRate]) -> list[str]:
    """Say how many searches failed, and what they count as."""
    said = []
    for row in rows:
        if row.group is not None or not row.n_failed:
            continue
        is_mated = row.name in ("fnir", "tpir")
        kind = "mated" if is_mated else "non-mated"
        counts_as = "are misses at every rank and threshold" if is_mated else "return nobody"
        said.append(
            f"{row.n_failed:,} of {row.n_searches:,} {kind} searches failed and {counts_as}."
        )
    return list(dict.fromkeys(said))
