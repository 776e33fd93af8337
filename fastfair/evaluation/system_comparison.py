"""The results of `compare`: how two systems, or many, that scored the same comparisons differ, and
how they rank; or independent data sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import (
    LONGEST_IN_LEGEND,
    STANDS_OUT,
    USUAL,
    Bar,
    Line,
    draw_rows,
    line_style,
)
from fastfair._lib.text import (
    cell,
    drawn,
    number_with_interval,
    p_value,
    per_cent,
    shortened,
    value_and_interval,
)
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError, visible
from fastfair.measures._registry import METRICS, is_better_above, measure_of, printed_name
from fastfair.pages.drawings import Scale, det_panel, difference, interval
from fastfair.pages.parts import Cell, Chapter, Column, FirstScreen, Panels, Row, Section, Table
from fastfair.results import written
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN
from fastfair.uncertainty.notes import Note
from fastfair.uncertainty.quantities import (
    IN_PER_CENT,
    Group,
    Quantity,
    ends_of,
    find,
    in_words,
    table_of,
)

from .chapter import (
    OWN_SCALES,
    Said,
    brackets_of,
    det_curve,
    det_limits,
    facts_of,
    left_out_of_measures,
    printed_of,
    sentences_on_limitations,
    size_of,
)
from .contrasts import (
    REASONS,
    ComparedPair,
    Contrast,
    RankedSystem,
    possible_ranks,
    ranks_of,
)
from .counted_rates import sentence_on_people, sizes_of_counts
from .evaluated import Evaluated
from .failure_counts import ATTEMPTS, RateOfFailure
from .result import Evaluation, file_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = (
    "blue",
    "orange, dashed",
    "purple, dotted",
    "green, dash-dotted",
    "grey",
    "brown, dashed",
    "red, dotted",
    "black, dash-dotted",
)
_MOST_CURVES = 8  # of systems; more cannot be told apart
_STYLES_OF_TWO = ({"color": USUAL}, {"color": STANDS_OUT, "linestyle": "--"})
_SIDE = 380  # of a large panel, in pixels
_MOST_SAID = 10  # systems of a ranking that a sentence names
_MOST_PAIRS = 100  # with more, the differences are in the JSON alone
# quantities of which sentences and the first tables speak
_IN_SENTENCES = (*ATTEMPTS, "eer")
Rankings = Sequence[Sequence[RankedSystem]]
# quantities that files and pages rank systems by, overall and of groups
_IN_RANKINGS = (*ATTEMPTS, "eer", "min_dcf", "cllr", "min_cllr")


@dataclass(frozen=True, eq=False)
class SystemComparison(Result):
    """The result of `compare`: the difference of each pair of systems, and ranks.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems; of two they may be "first" and "second".
    evaluations : tuple of Evaluation
        Their evaluations, with the same replicates.
    contrasts : tuple of Contrast
        The differences of each pair that is compared, in the order of the evaluations' quantities.
        With a baseline that is the second system of each pair.
    settings : dict
        The arguments of the call.

    Notes
    -----
    The table of `to_frame` has a row for each contrast, with the attributes of `Contrast` and its
    `title`, what tables and plots call it. In JSON infinite values are "Infinity" and "-Infinity".

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> mated = [1] * 6 + [0] * 6
    >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> comparison = ff.compare({"good": good, "bad": bad}, at=ff.at_fmr(0.1), rng=0)
    >>> [one.system for one in comparison.ranking("fnmr")]
    ['good', 'bad']
    >>> comparison.contrast("fnmr").difference
    -0.5
    """

    _page_title = "Systems compared"

    systems: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    contrasts: tuple[Contrast, ...] = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    _compared: tuple[ComparedPair, ...] = field(default=(), repr=False, metadata=UNWRITTEN)

    @checked
    def evaluation(self, system: str) -> Evaluation:
        """Return the evaluation of one system.

        Parameters
        ----------
        system : str
            Its name.

        Returns
        -------
        Evaluation

        Raises
        ------
        InputError
            Where no system has this name.
        """
        return self.evaluations[
            self.systems.index(validation.choice("system", system, self.systems))
        ]

    @checked
    def contrast(
        self,
        name: str,
        group: Group = None,
        at: OperatingPoint | None = None,
        *,
        systems: tuple[str, str] | None = None,
    ) -> Contrast:
        """Return one contrast of two systems.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`.
        systems : pair of str, optional
            The systems, in the order in which they are compared: that of `systems`, or a system and
            the baseline. Needed where more than two are compared.

        Returns
        -------
        Contrast

        Raises
        ------
        InputError
            Where there is no such contrast, or more than one.

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> mated = [1] * 6 + [0] * 6
        >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> ff.compare(bad, good, rng=0).contrast("eer").difference
        0.3333333333333333
        """
        return find(self._of_pair(systems), name, group, at)

    def _of_pair(self, systems: tuple[str, str] | None) -> Sequence[Contrast]:
        """Return the contrasts of two systems, or of the only pair."""
        pairs = self._pairs()
        if systems is None and len(pairs) > 1:
            raise InputError(f"{len(self.systems)} systems are compared: choose two with systems=")
        systems = systems or next(iter(pairs))
        for name in systems:
            validation.choice("systems", name, self.systems)
        if systems not in pairs:
            first, second = systems
            other = f"{second!r} with {first!r}" if (second, first) in pairs else "others"
            raise InputError(f"{first!r} is not compared with {second!r}, but {other}")
        return pairs[systems]

    @checked
    def ranking(
        self, name: str | None = None, group: Group = None, at: OperatingPoint | None = None
    ) -> tuple[RankedSystem, ...]:
        """Rank the systems in one quantity, and say which ranks the data leave possible.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`, by default the FNMR, or the one rate that there is; lower
            rates, EERs and costs, and fairer measures, rank first.

        Returns
        -------
        tuple of RankedSystem
            From the best estimate to the worst.

        Raises
        ------
        InputError
            Where there is no such quantity, or more than one; for a rate that the operating point
            holds, a measure whose fair value lies between others, and where systems are compared
            with a baseline only.

        Notes
        -----
        The p-values of all pairs are adjusted together, so with a probability of at least the
        confidence level no two systems are called different that are not. The ranks from
        `best_rank` to `worst_rank` then hold the true rank of every system at once [1]_ [2]_, and
        where systems are truly equal all the ranks that they share. Of a group the same holds for
        the ranks of all groups together. A p-value that is withheld shows nothing.

        References
        ----------
        .. [1] Al Mohamad, Goeman and van Zwet, "Simultaneous confidence intervals for ranks with application to
           ranking institutions", Biometrics 78 (2022).
        .. [2] Klein, Wright and Wieczorek, "A joint confidence region for an overall ranking of populations", Journal
           of the Royal Statistical Society C 69 (2020).
        """
        name = self._usual_rate() if name is None else name
        if self.settings["baseline"] is not None:
            raise InputError(
                "a ranking needs all pairs, but systems are compared with a baseline: compare"
                " without one"
            )
        quantity = find(self._shared_quantities(), name, group, at)
        measure = measure_of(quantity.name)
        if quantity.is_held or quantity.name == "threshold":
            raise InputError(
                f"systems do not rank by {name} at {quantity.at}, which holds it for all of them"
            )
        if measure is not None and measure.fairer == "nearer":
            raise InputError(f"systems do not rank by {name}, whose fair value lies between others")
        return self._rank(quantity)

    def _shared_quantities(self) -> list[Quantity]:
        """Return the first system's quantities that all systems have."""
        first, *others = ({row.key: row for row in of.quantities} for of in self.evaluations)
        return [row for key, row in first.items() if all(key in rows for rows in others)]

    def _rank(self, quantity: Quantity) -> tuple[RankedSystem, ...]:
        each = [
            next(row for row in evaluation.quantities if row.key == quantity.key)
            for evaluation in self.evaluations
        ]
        pvalues = np.full((len(each), len(each)), np.nan)  # for pairs that are not compared
        for contrast in self.contrasts:
            if (contrast.name, contrast.group, contrast.probe_group, contrast.at) == quantity.key:
                i = self.systems.index(contrast.first_system)
                j = self.systems.index(contrast.second_system)
                pvalues[i, j] = pvalues[j, i] = contrast.pvalue_adjusted
        ranks = ranks_of(
            [of_system.estimate for of_system in each],
            pvalues,
            1 - self.settings["confidence_level"],
            higher_is_better=is_better_above(quantity.name),
        )
        rows = [
            RankedSystem(
                quantity.name,
                quantity.group,
                quantity.at,
                system,
                of_system.estimate,
                *ends_of(of_system),
                *ranks_of_system,
                probe_group=quantity.probe_group,
            )
            for system, of_system, ranks_of_system in zip(self.systems, each, ranks, strict=True)
        ]
        return tuple(sorted(rows, key=lambda row: row.rank))

    def _with_limits_at(
        self, level: float | None = None
    ) -> list[tuple[Contrast, tuple[float, float]]]:
        """Return the contrasts with the limits of their differences, of another level than their
        own where one is given.
        """
        if level is None:
            return [(row, (row.low, row.high)) for row in self.contrasts]
        if not self._compared:
            raise InputError("this result was read from a file: compare the systems again")
        ends = [
            end
            for pair in self._compared
            for end in zip(*pair.limits(level)[:2].tolist(), strict=True)
        ]
        return list(zip(self.contrasts, ends, strict=True))

    def _systems(self) -> dict[str, Evaluation]:
        """Return the evaluations by the names of the systems."""
        return dict(zip(self.systems, self.evaluations, strict=True))

    def _pairs(self) -> dict[tuple[str, str], list[Contrast]]:
        """Return the contrasts of each pair."""
        by_pair: dict[tuple[str, str], list[Contrast]] = {}
        for contrast in self.contrasts:
            by_pair.setdefault((contrast.first_system, contrast.second_system), []).append(contrast)
        return by_pair

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.contrasts)

    def _drawn(self) -> Self:
        return replace(
            self, evaluations=tuple(evaluation._drawn() for evaluation in self.evaluations)
        )

    def _sentences(self) -> list[str]:
        """Say how two systems differ, how many rank, or which of them differ from the baseline."""
        is_pair = len(self.systems) == 2
        said = [*self._sizes(), *self._on_independence()]
        for ranking in self._rankings():
            if ranking[0].name in _IN_SENTENCES and ranking[0].group is None:
                said += _on_ranking(ranking)
        if is_pair:
            said += _on_differences(self.contrasts, self.counted or "fnmr")
            said += _on_tests(self.contrasts)
        elif self.settings["baseline"] is not None:
            said += _on_baseline(self._pairs(), self.settings["baseline"])
            said += _on_tests(self.contrasts)
        return said + brackets_of(self.settings, self.evaluations)

    @property
    def is_paired(self) -> bool:
        """Whether the systems scored the same comparisons; else their data are independent."""
        return bool(self.settings.get("paired", True))

    @property
    def counted(self) -> str | None:
        """The rate, where systems are failure counts; else None."""
        return self.settings.get("rate")

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that all systems have, in which they are compared."""
        first, *others = (evaluation.groups for evaluation in self.evaluations)
        return tuple(group for group in first if all(group in groups for groups in others))

    @property
    def groups_left_out(self) -> dict[str, list[str]]:
        """The groups of each system that others lack."""
        return {
            name: [group for group in of.groups if group not in self.groups]
            for name, of in self._systems().items()
        }

    def _usual_rate(self) -> str:
        """Return the rate that is meant where none is named: the FNMR, or the one that there is."""
        names = {quantity.name for quantity in self.evaluations[0].quantities}
        return self.counted or next((name for name in ("fnmr", "fmr") if name in names), "fnmr")

    def _sizes(self) -> list[str]:
        """Say how much each system scored, or how much was counted."""
        first = self.evaluations[0]
        if self.counted:
            return [
                f"{visible(name)}: {sizes_of_counts(of, self.counted)}."
                for name, of in self._systems().items()
            ]
        if not first.rates:
            return []
        if self.is_paired:
            both = "Both" if len(self.systems) == 2 else str(len(self.systems))
            return [f"{both} systems scored {size_of(first)}."]
        return [
            f"{visible(name)}: {size_of(evaluation)}."
            for name, evaluation in self._systems().items()
        ]

    def _on_independence(self) -> list[str]:
        """Say that data sets are independent, and which groups some of them lack."""
        if self.is_paired:
            return []
        named = [
            f"{', '.join(map(visible, groups))} of {visible(name)}"
            for name, groups in self.groups_left_out.items()
            if groups
        ]
        said = ["The data sets are compared as independent ones."]
        if named:
            said.append(f"Groups that not all data sets have are left out: {'; '.join(named)}.")
        if self.counted and any(of.n_subjects is None for of in self.evaluations):
            said.append(sentence_on_people(self.counted))
        return said

    def _tables(self) -> list[Printed]:
        """Return the tables that the terminal prints: rankings of all and of groups, or the
        differences of pairs.
        """
        points = dict.fromkeys(contrast.at for contrast in self.contrasts)
        rankings = self._rankings()
        if rankings:
            return [
                printed_of(table)
                for point in points
                for table in _rankings_at(self, rankings, point)
            ]
        tables = [printed_of(table) for point in points for table in _differences_at(self, point)]
        notes = {
            note for contrast in self.contrasts if _is_shown(contrast) for note in contrast.notes
        }
        withheld = [[str(Note(code))] for code in REASONS if Note(code) in notes]
        if withheld:
            tables.append(
                (
                    "Withheld: any test would too often call equal systems different",
                    ["Reason"],
                    withheld,
                )
            )
        return tables

    def _chapter(self) -> Chapter:
        return chapter_of_systems(self._drawn())

    def _rankings(self) -> list[list[RankedSystem]]:
        """Return the rankings that files and pages have: of more than two systems, all of which are
        compared.
        """
        if self.settings["baseline"] is not None or len(self.systems) == 2:
            return []
        chosen = [
            quantity
            for quantity in self._shared_quantities()
            if quantity.name in _IN_RANKINGS and not quantity.is_held
        ]
        return [list(self._rank(quantity)) for quantity in chosen]

    def _content(self) -> dict[str, Any]:
        return super()._content() | {
            "rankings": written.to_plain([row for ranking in self._rankings() for row in ranking])
        }

    @checked
    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        group: Group = None,
        at: OperatingPoint | None = None,
        show: Literal["estimates", "ranks"] = "estimates",
    ) -> Axes:
        """Draw a quantity of each system with its own interval, from the best to the worst, or the
        possible ranks.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name, group, at
            As in `ranking`.
        show : {"estimates", "ranks"}
            What to draw: estimates, or the ranks with those that the data leave possible.

        Returns
        -------
        matplotlib Axes
        """
        ranking = self.ranking(name, group, at)
        level = f"{100 * self.settings['confidence_level']:g} %"
        ranks = show == "ranks"
        title = ranking[0].title
        is_rate = ranking[0].name in IN_PER_CENT and not ranks
        usual, best = [f"estimate and its own {level} interval"] * 2
        if ranks:
            usual = f"rank, and those possible at {level} together"
            best = f"{usual}; may be the best"
        bars = [
            _bar(
                y,
                (
                    (row.rank, row.best_rank, row.worst_rank)
                    if ranks
                    else (row.estimate, row.low, row.high)
                ),
                best if row.best_rank == 1 else usual,
                stands_out=row.best_rank == 1,
            )
            for y, row in enumerate(ranking)
        ]
        label = f"rank by {title}" if ranks else title + (" (%)" if is_rate else "")
        ax = draw_rows(ax, [row.system for row in ranking], bars, xlabel=label, per_cent=False)
        if ranks:
            ax.set_xlim(0.5, len(ranking) + 0.5)
            ax.locator_params(axis="x", integer=True)
        if is_rate:
            ax.xaxis.set_major_formatter(_hundredfold)
        return ax

    @checked
    def plot_det(self, ax: Axes | None = None) -> Axes:
        """Draw the DET curves of the systems, with the operating points and intervals of their
        FNMR.

        Of more than 8 systems those are drawn that have the lowest FNMR at the first operating
        point.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        systems = self._systems()
        for k, name in enumerate(_curves_shown(systems)):
            style = _STYLES_OF_TWO[k] if len(systems) == 2 else line_style(k)
            ax = systems[name].plot_det(
                (), ax, label=drawn(shortened(name, LONGEST_IN_LEGEND)), **style
            )
        assert ax is not None
        return ax

    @checked
    def plot_differences(
        self,
        ax: Axes | None = None,
        *,
        rate: RateOfFailure | None = None,
        at: OperatingPoint | None = None,
        systems: tuple[str, str] | None = None,
        **kwargs: Any,
    ) -> Axes:
        """Draw the difference of two systems in a rate, overall and in each group, with its
        interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fnmr", "fmr"}, optional
            The rate; by default the FNMR, or the one rate that there is, as of counts.
        at : OperatingPoint, optional
            The operating point; needed where there is more than one.
        systems : pair of str, optional
            As in `contrast`.
        **kwargs
            Passed to `Axes.plot` for the estimates.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            Where the operating point holds the rate and there are no groups: there is no difference
            to draw.
        """
        name = self._usual_rate() if rate is None else rate
        at = self.evaluations[0].quantity(name, None, at).at
        contrasts = [
            contrast
            for contrast in self._of_pair(systems)
            if contrast.name == name and contrast.at == at
        ]
        if not contrasts:
            raise InputError(
                f"there is no difference in {name.upper()} at {at}, which holds this rate"
            )
        level = self.settings["confidence_level"]
        usual = f"difference and {100 * level:g} % interval"
        standing_out = f"{usual}; the adjusted p-value is at most {1 - level:.3g}"
        bars = []
        for y, contrast in enumerate(contrasts):
            is_decided = contrast.verdict in ("first", "second")
            ends = contrast.difference, contrast.low, contrast.high
            bars.append(_bar(y, ends, standing_out if is_decided else usual, stands_out=is_decided))
        label = f"{_at_point(name, at)},\nfirst minus second (percentage points)"
        ax = draw_rows(
            ax,
            [contrast.group or "all" for contrast in contrasts],
            bars,
            [Line(0)],
            xlabel=label,
            **kwargs,
        )
        ax.xaxis.set_major_formatter(_hundredfold)
        return ax

    def _figures(self) -> dict[str, Axes]:
        has_curves = all(row.comparisons is not None for row in self.evaluations)
        axes = {"det": self.plot_det()} if has_curves else {}
        rows = self.contrasts if len(self.systems) == 2 else ()
        for rate, at in dict.fromkeys((row.name, row.at) for row in rows if row.name in ATTEMPTS):
            name = f"{rate}{_end_of_file(at)}"
            axes[name] = self.plot_differences(rate=rate, at=at)  # type: ignore[arg-type]
        for row in (ranking[0] for ranking in self._rankings()):
            if row.group is None and row.name in ATTEMPTS:
                end = _end_of_file(row.at)
                axes[f"{row.name}{end}"] = self.plot(name=row.name, at=row.at)
                axes[f"{row.name}_ranks{end}"] = self.plot(name=row.name, at=row.at, show="ranks")
        return axes

    def __repr__(self) -> str:
        return f"SystemComparison({', '.join(self.systems)}: {self.evaluations[0].description})"


def _end_of_file(at: OperatingPoint | None) -> str:
    return "" if at is None else f"_{file_part(at)}"


def _bar(y: int, ends: tuple[float, float, float], label: str, *, stands_out: bool) -> Bar:
    look: dict[str, Any] = {"color": STANDS_OUT, "marker": "D"} if stands_out else {}
    return Bar(y, *ends, label=label, **look)


def _hundredfold(value: float, position: float) -> str:
    """Write a number of an axis in per cent, without the sign."""
    return f"{100 * value:g}"


def _curves_shown(systems: Mapping[str, Evaluated]) -> list[str]:
    """Choose the systems whose DET curves are drawn: of many, those with the lowest FNMR at the
    first point.
    """
    chosen = list(systems)
    if len(chosen) > _MOST_CURVES and all(evaluation.rates for evaluation in systems.values()):
        chosen.sort(key=lambda name: systems[name].rates[0].fnmr)
    return chosen[:_MOST_CURVES]


def chapter_of_systems(comparison: SystemComparison) -> Chapter:
    """Make a chapter of the evaluations of systems and of how they differ; those of more than two
    are ranked.
    """
    systems = comparison._systems()
    rankings = comparison._rankings()
    first = comparison.evaluations[0]
    left_out = list(
        dict.fromkeys(
            said
            for row in comparison.evaluations
            for said in left_out_of_measures(replace(row, groups=comparison.groups))
        )
    )
    sections = [Section("", left_out), *_det_curves(systems)]
    is_pair = len(systems) == 2
    for point in dict.fromkeys(row.at for row in comparison.contrasts):
        title = "Without a threshold" if point is None else f"At {point}"
        title = METRICS[comparison.counted].long_title if comparison.counted else title
        differences = _differences_at(comparison, point)
        if rankings:
            sections.append(Section(title, (), (), _rankings_at(comparison, rankings, point)))
            title = f"Differences between systems: {title[:1].lower()}{title[1:]}"
        if len(comparison._pairs()) <= _MOST_PAIRS:
            sections.append(Section(title, (), (), differences, is_folded=bool(rankings)))
    picture = next(
        (
            _ranking_table(row)
            for row in rankings
            if row[0].name in _IN_SENTENCES and row[0].group is None
        ),
        None,
    )
    if is_pair and (first.rates or comparison.counted):
        name = comparison.counted or "fnmr"
        point = first.rates[0].at if first.rates else None
        rows = [row for row in comparison.contrasts if (row.name, row.at) == (name, point)]
        picture = _differences(rows, comparison.settings) if len(rows) > 1 else None
    said = comparison._sentences()
    other = {*comparison._sizes(), *brackets_of(comparison.settings, comparison.evaluations)}
    answer = [("", sentence) for sentence in said if sentence not in other]
    screen = FirstScreen(_facts(comparison), (), answer, sentences_on_limitations(first), picture)
    number = "Two" if is_pair else "Several"
    title = f"{number} {'systems' if comparison.is_paired else 'data sets'}"
    return Chapter(title, said, sections, comparison.settings, comparison._numbers(), first=screen)


def _rankings_at(
    comparison: SystemComparison, rankings: Rankings, point: OperatingPoint | None
) -> list[Table]:
    """Make the tables of ranks at an operating point, of all and of groups."""
    here = [ranking for ranking in rankings if ranking[0].at == point]
    tables = [_ranking_table(ranking) for ranking in here if ranking[0].group is None]
    of_groups = [ranking for ranking in here if ranking[0].group is not None]
    for name in dict.fromkeys(ranking[0].name for ranking in of_groups):
        each = [
            {row.system: row for row in ranking} for ranking in of_groups if ranking[0].name == name
        ]
        cells: list[Row] = [
            [
                visible(next(iter(of.values())).group or ""),
                *(
                    Cell(in_words(of[s]), f"rank {possible_ranks(of[s])}")
                    for s in comparison.systems
                ),
            ]
            for of in each
        ]
        caption = f"{_at_point(name, point)} of each group, and the ranks that are possible in it"
        tables.append(Table(caption, ["Group", *map(visible, comparison.systems)], cells))
    return tables


def _differences_at(comparison: SystemComparison, point: OperatingPoint | None) -> list[Table]:
    """Make the tables of differences at a point: of each rate or metric in groups, and last of the
    measures.

    Where systems rank, a table has all pairs, and all comparisons alone.
    """
    has_ranks = bool(comparison._rankings())
    alike = dict[Any, list[Contrast]]()
    shown = [
        contrast
        for contrast in comparison.contrasts
        if contrast.at == point and _is_shown(contrast)
    ]
    for contrast in sorted(shown, key=lambda contrast: measure_of(contrast.name) is not None):
        if has_ranks and contrast.group is None:
            alike.setdefault(contrast.name, []).append(contrast)
        elif not has_ranks:
            name = contrast.name if measure_of(contrast.name) is None else ""
            alike.setdefault((contrast.first_system, contrast.second_system, name), []).append(
                contrast
            )
    return [_differences(together, comparison.settings) for together in alike.values()]


def _at_point(name: str, point: OperatingPoint | None) -> str:
    return printed_name(name) + ("" if point is None else f" at {point}")


def _on_tests(contrasts: Sequence[Contrast]) -> list[str]:
    """Say that tests decide, where a verdict stands beside an interval that holds 0."""
    decided = [contrast for contrast in contrasts if contrast.verdict in ("first", "second")]
    if not any(contrast.low <= 0 <= contrast.high for contrast in decided):
        return []
    return [
        "Some verdicts stand beside an interval that holds 0: there the test decides, and the"
        " interval is the more cautious of the two."
    ]


def _is_shown(contrast: Contrast) -> bool:
    return contrast.name != "fmr_matrix" and (
        contrast.group is None or measure_of(contrast.name) is None
    )


def _differences(contrasts: Sequence[Contrast], settings: Mapping[str, Any]) -> Table:
    """Write and draw differences between systems: of one quantity in groups or pairs, or of
    measures on own scales.
    """
    is_rate = all(contrast.name in IN_PER_CENT for contrast in contrasts)
    pairs = dict.fromkeys(
        (visible(contrast.first_system), visible(contrast.second_system)) for contrast in contrasts
    )
    several = len(pairs) > 1
    names = dict.fromkeys(contrast.name for contrast in contrasts)
    of_measures = measure_of(contrasts[0].name) is not None and not several
    sizes = [
        [
            x
            for x in map(abs, (contrast.difference, contrast.low, contrast.high))
            if math.isfinite(x)
        ]
        for contrast in contrasts
    ]
    farthest = max((x for of_row in sizes for x in of_row), default=1.0)
    rows: list[Row] = []
    for contrast, of_row in zip(contrasts, sizes, strict=True):
        text, ends = value_and_interval(
            contrast.difference, contrast.low, contrast.high, is_rate=is_rate
        )
        values = (
            per_cent(x).removesuffix(" %") if is_rate else number_with_interval(x)
            for x in (contrast.first, contrast.second)
        )
        better = {"first": contrast.first_system, "second": contrast.second_system}.get(
            contrast.verdict, contrast.verdict or "–"
        )
        look = "" if contrast.verdict in ("first", "second") else "few"
        largest = max(of_row, default=1.0) if of_measures else farthest
        what = printed_name(contrast.name) if of_measures else visible(contrast.group or "all")
        rows.append(
            [
                (
                    f"{visible(contrast.first_system)} – {visible(contrast.second_system)}"
                    if several
                    else what
                ),
                *values,
                Cell(
                    drawing=difference(
                        contrast.difference, contrast.low, contrast.high, largest, look=look
                    )
                ),
                Cell(text, ends, contrast.notes),
                p_value(contrast.pvalue_adjusted),
                visible(better),
            ]
        )
    unit, points = (", %", ", points") if is_rate else ("", "")
    minuend, subtrahend = ("first", "second") if several else next(iter(pairs))
    columns: list[str | Column] = [
        "Systems" if several else "Measure" if of_measures else "Group",
        f"{minuend}{unit}",
        f"{subtrahend}{unit}",
        Column("0 in the middle", "drawing"),
        f"Difference{points} [{100 * settings['confidence_level']:g} %]",
        "Adjusted p",
        Column("Better or fairer", "text"),
    ]
    of = _at_point("Fairness measures" if len(names) > 1 else contrasts[0].name, contrasts[0].at)
    explanation = OWN_SCALES if of_measures else ""
    caption = f"{of}: {minuend} minus {subtrahend}"
    return Table(caption, columns, rows, look="measures", explanation=explanation)


def _ranking_table(ranking: Sequence[RankedSystem]) -> Table:
    scale = Scale(0.0, float(len(ranking)))
    rows: list[Row] = [
        [
            visible(row.system),
            in_words(row),
            cell(row.rank),
            possible_ranks(row),
            Cell(drawing=interval(scale, row.rank, row.best_rank, row.worst_rank, look="plain")),
        ]
        for row in ranking
    ]
    columns: list[str | Column] = ["System", "Value", "Rank", "Possible ranks"]
    columns.append(Column("From 1, at the left", "drawing"))
    return Table(f"Ranks by {ranking[0].title}", columns, rows, look="measures")


_FACTS = ("People", "Groups", "Comparisons")


def _facts(comparison: SystemComparison) -> Said:
    systems = comparison._systems()
    named = ", ".join(map(visible, list(systems)[:_MOST_CURVES]))
    named += ", and others" if len(systems) > _MOST_CURVES else ""
    first = next(iter(systems.values()))
    points = ", ".join(str(rates.at) for rates in first.rates)
    if comparison.is_paired:
        about = [fact for fact in facts_of(first) if fact[0] in _FACTS]
    else:
        about = [
            (f"{fact} of {visible(name)}", said)
            for name, of_system in list(systems.items())[:_MOST_CURVES]
            for fact, said in facts_of(of_system)
            if fact in _FACTS
        ]
    return [
        ("Systems" if comparison.is_paired else "Data sets", f"{len(systems)}: {named}"),
        *about,
        *([("Operating points", points)] if points else []),
    ]


def _det_curves(systems: Mapping[str, Evaluated]) -> list[Section]:
    """Draw the DET curve of each system."""
    if not all(system.has_curves for system in systems.values()):
        return []
    chosen = _curves_shown(systems)
    curves = [
        (f"k{k}", *det_curve(systems[name], None, 2 * _SIDE)) for k, name in enumerate(chosen)
    ]
    points = []
    for k, name in enumerate(chosen):
        for rates in systems[name].rates:
            fnmr = find(systems[name].quantities, "fnmr", None, rates.at)
            points.append((f"k{k}", rates.fmr, rates.fnmr, fnmr.low or 0.0, fnmr.high or 0.0))
    panel = det_panel(curves, points, det_limits([curve[1:] for curve in curves]), _SIDE)
    legend = "; ".join(f"{_LINES[k]}: {visible(name)}" for k, name in enumerate(chosen))
    alt = "DET curves of the systems; the tables have the numbers."
    caption = (
        f"FNMR over FMR, %, at all thresholds: {legend}. Circles: operating points, with the"
        " interval of the FNMR."
    )
    return [Section("Trade-off of the two errors", panels=Panels([("", panel, alt)], caption))]


def _on_differences(contrasts: Sequence[Contrast], rate: str) -> list[str]:
    """Say how two systems differ, and in which groups one has a lower FNMR, or counted rate."""
    said = []
    of_groups: dict[tuple[Any, str], list[str]] = {}
    for contrast in contrasts:
        better = visible(
            contrast.second_system if contrast.verdict == "second" else contrast.first_system
        )
        if contrast.group is None and contrast.name in _IN_SENTENCES:
            verdict = {
                "first": f"better: {better}",
                "second": f"better: {better}",
                "undecided": "which system is better is undecided",
            }.get(contrast.verdict, "no test is made")
            text, ends = value_and_interval(
                contrast.difference, contrast.low, contrast.high, is_rate=True
            )
            said.append(
                f"{contrast.title}: {per_cent(contrast.first)} and {per_cent(contrast.second)}, a"
                f" difference of {f'{text} {ends}'.rstrip()} percentage points; {verdict}."
            )
        elif contrast.name == rate and contrast.group and contrast.verdict in ("first", "second"):
            of_groups.setdefault((contrast.at, better), []).append(visible(contrast.group))
    for (point, better), groups in of_groups.items():
        n = f"{len(groups)} group" + ("s" if len(groups) > 1 else "")
        start = "The" if point is None else f"At {point} the"
        lower = f"{start} lower {printed_name(rate)} is that of {better}"
        said.append(f"{lower} in {n}: {', '.join(groups)}.")
    return said


def _on_ranking(ranking: Sequence[RankedSystem]) -> list[str]:
    places = [
        f"{visible(row.system)} {in_words(row)} (rank {possible_ranks(row)})"
        for row in ranking[:_MOST_SAID]
    ]
    more = f", and {len(ranking) - _MOST_SAID} more" if len(ranking) > _MOST_SAID else ""
    best = [visible(row.system) for row in ranking if row.best_rank == 1]
    of = ranking[0].title
    about_best = (
        f"{best[0]} has the lowest {of}."
        if len(best) == 1
        else (
            f"Which of {len(best)} systems has the lowest {of} is undecided:"
            f" {', '.join(best[:_MOST_SAID])}"
        )
        + (", and others." if len(best) > _MOST_SAID else ".")
    )
    return [f"{of}, from the lowest: {'; '.join(places)}{more}.", about_best]


def _on_baseline(pairs: Mapping[tuple[str, str], Sequence[Contrast]], baseline: str) -> list[str]:
    said = []
    contrasts = [
        contrast
        for of_pair in pairs.values()
        for contrast in of_pair
        if contrast.group is None and contrast.name in _IN_SENTENCES
    ]
    for name, at in dict.fromkeys((contrast.name, contrast.at) for contrast in contrasts):
        of_each = {pair[0]: find(each, name, None, at) for pair, each in pairs.items()}
        parts = []
        for verdict, word in (("first", "lower than"), ("second", "higher than")):
            systems = [
                visible(system)
                for system, contrast in of_each.items()
                if contrast.verdict == verdict
            ]
            if systems:
                parts.append(f"{word} that of {visible(baseline)} in {', '.join(systems)}")
        others = sum(contrast.verdict not in ("first", "second") for contrast in of_each.values())
        parts += [f"undecided in {others} of {len(of_each)} systems"] if others else []
        said.append(f"The {next(iter(of_each.values())).title} is {'; '.join(parts)}.")
    return said
