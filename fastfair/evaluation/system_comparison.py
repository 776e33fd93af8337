"""The results of `compare`: how two systems, or many, that scored the same comparisons differ, and how they rank."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.text import did_you_mean
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate
from fastfair.errors import InputError
from fastfair.measures._registry import is_fairer_above, measure_of, quantity_name
from fastfair.results import written
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.quantities import HELD, Group, Quantity, find, table_of

from .contrasts import Contrast, Pair, PairContrasts, RankedSystem, places_of, ranks_of
from .result import NO_INTERVALS, Evaluation, file_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastfair.pages.parts import Chapter

Floats = NDArray[np.float64]


MethodOfContrasts = Literal["auto", "percentile", "basic", "normal", "bca"]
_RANKED = ("fnmr", "fmr", "eer", "min_dcf", "cllr", "min_cllr")  # in files and pages, overall and of groups


class _Compared(Result):
    """What the results for two systems and for many have in common: sentences, tables, DET curves and the page."""

    settings: dict[str, Any]

    @abstractmethod
    def _systems(self) -> dict[str, Evaluation]:
        """Return the evaluations by the names of the systems."""

    @abstractmethod
    def _pairs(self) -> Mapping[Pair, Sequence[Contrast]]:
        """Return the contrasts of each pair."""

    def _rankings(self) -> list[list[RankedSystem]]:
        """Return the rankings that files and pages have."""
        return []

    @checked
    def plot_det(self, ax: Axes | None = None) -> Axes:
        """Draw the DET curves of the systems, with the operating points and intervals of their FNMR.

        Of more than 8 systems those are drawn that have the lowest FNMR at the first operating point.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_det_of_systems

        return draw_det_of_systems(self._systems(), ax)

    def _figures(self) -> dict[str, Axes]:
        has_curves = all(one.comparisons is not None for one in self._systems().values())
        return {"det": self.plot_det()} if has_curves else {}

    def _sentences(self) -> list[str]:
        from .systems_chapter import summary_of_systems

        return summary_of_systems(self._systems(), self._pairs(), self._rankings(), self.settings)

    def _tables(self) -> list[Printed]:
        from .systems_chapter import printed_systems

        return printed_systems(self._systems(), self._pairs(), self._rankings(), self.settings)

    def _chapter(self) -> Chapter:
        from .systems_chapter import chapter_of_systems

        drawn = self._drawn()
        return chapter_of_systems(drawn._systems(), drawn._pairs(), drawn._rankings(), self.settings, drawn.to_json())


@dataclass(frozen=True, eq=False)
class PairedEvaluation(_Compared):
    """The result of `compare`: contrasts, each the difference between the two systems in one quantity.

    Attributes
    ----------
    contrasts : tuple of Contrast
        The contrasts, in the order of the evaluations' quantities.
    first, second : Evaluation
        The evaluations of the two systems, with the same replicates.
    settings : dict
        The arguments of the call.
    drawn : SystemComparison or None
        What the contrasts were taken from, to make other intervals; None in what was read from a file.
    correlations : (quantities,) ndarray
        The correlation of the two systems' rates; NaN for other quantities.

    Notes
    -----
    The table of `to_frame` has a row for each contrast, with the attributes of `Contrast` and its `title`, what tables
    and plots call it. In JSON infinite values are null, too, and listed under "infinite" by the position of their
    contrast.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> ff.compare(c, c, rng=0).to_frame("polars").columns[3:6]
    ['first', 'second', 'difference']
    """

    _page_title = "Two systems"

    contrasts: tuple[Contrast, ...]
    first: Evaluation
    second: Evaluation
    settings: dict[str, Any] = field(repr=False)
    drawn: SystemComparison | None = field(default=None, repr=False, metadata=UNWRITTEN)
    correlations: NDArray[Any] = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)

    @classmethod
    def _of_pair(cls, found: SystemComparison) -> PairedEvaluation:
        """Make the result for two systems of that of a list of them."""
        ((pair, contrasts),), (first, second) = found.contrasts.items(), found.evaluations
        assert isinstance(found.contrasts, PairContrasts)
        settings = {name: value for name, value in found.settings.items() if name != "baseline"}
        return cls(contrasts, first, second, settings, found, found.contrasts.correlations(pair))

    @checked
    def contrast(self, name: str, group: Group = None, at: OperatingPoint | None = None) -> Contrast:
        """Return one contrast.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`.

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
        return find(self.contrasts, name, group, at)

    @checked
    def with_intervals(
        self, confidence_level: float | None = None, method: MethodOfContrasts | None = None
    ) -> PairedEvaluation:
        """Compute intervals of another level or method from the same replicates.

        Parameters
        ----------
        confidence_level : float, optional
            As in `compare`; unchanged by default.
        method : str, optional
            As in `compare`; unchanged by default.

        Returns
        -------
        PairedEvaluation

        Raises
        ------
        InputError
            For an unknown method and a level outside (0, 1).

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> ff.compare(c, c, rng=0).with_intervals(0.5).settings["confidence_level"]
        0.5
        """
        if self.drawn is None:
            raise InputError(NO_INTERVALS)
        return PairedEvaluation._of_pair(self.drawn.with_intervals(confidence_level, method))

    def _systems(self) -> dict[str, Evaluation]:
        return {"first system": self.first, "second system": self.second}

    def _pairs(self) -> Mapping[Pair, Sequence[Contrast]]:
        return {("first system", "second system"): self.contrasts}

    def _drawn(self) -> Self:
        return replace(self, first=self.first._drawn(), second=self.second._drawn())

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.contrasts)

    @checked
    def plot(
        self, ax: Axes | None = None, *, rate: ErrorRate = "fnmr", at: OperatingPoint | None = None, **kwargs: Any
    ) -> Axes:
        """Draw the difference in a rate, overall and in each group, with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fnmr", "fmr"}
            The rate.
        at : OperatingPoint, optional
            The operating point; needed where there is more than one.
        **kwargs
            Passed to `Axes.plot` for the estimates.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            Where the operating point holds the rate and there are no groups: there is no difference to draw.
        """
        from .plots import draw_differences

        return draw_differences(self._differences(rate, at), self.settings["confidence_level"], ax, **kwargs)

    def _figures(self) -> dict[str, Axes]:
        drawn: dict[Any, None] = dict.fromkeys((one.name, one.at) for one in self.contrasts if one.name in ERROR_RATES)
        return super()._figures() | {f"{rate}_{file_part(at)}": self.plot(rate=rate, at=at) for rate, at in drawn}

    def _differences(self, rate: str, at: OperatingPoint | None) -> list[Contrast]:
        """Return the contrasts of a rate at one operating point."""
        at = self.first._rates_at(at).at
        found = [one for one in self.contrasts if one.name == rate and one.at == at]
        if not found:
            raise InputError(f"there is no difference in {rate.upper()} at {at}, which holds this rate")
        return found

    def __repr__(self) -> str:
        return f"PairedEvaluation({self.first.description} against {self.second.description})"


@dataclass(frozen=True, eq=False)
class SystemComparison(_Compared):
    """The result of `compare` of a list of systems: the difference of each pair, and ranks.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    evaluations : tuple of Evaluation
        Their evaluations, with the same replicates.
    contrasts : mapping of pair of str to tuple of Contrast
        The contrasts of each pair that is compared, by the names of the first and the second system. Intervals are
        computed when a pair is looked up. With a baseline that is the second system of each pair.
    pvalues_adjusted : (pairs, quantities) ndarray
        The p-values of all pairs, in their order, for all quantities of the evaluations, in their order, adjusted as
        `compare` says. NaN where withheld.
    settings : dict
        The arguments of the call.

    Notes
    -----
    The table of `to_frame` has a row for each pair and contrast: `first_system`, `second_system`, the attributes of
    `Contrast` and its `title`, what tables and plots call it. In JSON infinite values are null, too, and listed under
    "infinite" by the position of their contrast.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> mated = [1] * 6 + [0] * 6
    >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> found = ff.compare({"good": good, "bad": bad}, at=ff.at_fmr(0.1), rng=0)
    >>> [one.system for one in found.ranking("fnmr")]
    ['good', 'bad']
    >>> found.contrast("good", "bad", "fnmr").difference
    -0.5
    """

    _page_title = "Several systems"

    systems: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    contrasts: Mapping[tuple[str, str], tuple[Contrast, ...]] = field(repr=False)
    pvalues_adjusted: NDArray[np.float64] = field(repr=False)
    settings: dict[str, Any] = field(repr=False)

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
        return self.evaluations[self.systems.index(validation.choice("system", system, self.systems))]

    @checked
    def contrast(
        self, first: str, second: str, name: str, group: Group = None, at: OperatingPoint | None = None
    ) -> Contrast:
        """Return one contrast of two systems.

        Parameters
        ----------
        first, second : str
            The systems, in the order in which they are compared: that of `systems`, or a system and the baseline.
        name, group, at
            As in `Evaluation.quantity`.

        Returns
        -------
        Contrast

        Raises
        ------
        InputError
            Where there is no such contrast, or more than one.
        """
        for argument, system in (("first", first), ("second", second)):
            validation.choice(argument, system, self.systems)
        if (first, second) not in self.contrasts:
            other = f"{second!r} with {first!r}" if (second, first) in self.contrasts else "others"
            raise InputError(f"{first!r} is not compared with {second!r}, but {other}")
        return find(self.contrasts[first, second], name, group, at)

    @checked
    def ranking(
        self, name: str = "fnmr", group: Group = None, at: OperatingPoint | None = None
    ) -> tuple[RankedSystem, ...]:
        """Rank the systems in one quantity, and say which ranks the data leave possible.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`; lower rates, EERs and costs, and fairer measures, rank first.

        Returns
        -------
        tuple of RankedSystem
            From the best estimate to the worst.

        Raises
        ------
        InputError
            Where there is no such quantity, or more than one; for a rate that the operating point holds, a measure
            whose fair value lies between others, and where systems are compared with a baseline only.

        Notes
        -----
        The p-values of all pairs are adjusted together, so with a probability of at least the confidence level no two
        systems are called different that are not. The ranks from `best_rank` to `worst_rank` then hold the true rank of
        every system at once [1]_ [2]_, and where systems are truly equal all the ranks that they share. Of a group the
        same holds for the ranks of all groups together. A p-value that is withheld shows nothing.

        References
        ----------
        .. [1] Al Mohamad, Goeman and van Zwet, "Simultaneous confidence intervals for ranks with application to
           ranking institutions", Biometrics 78 (2022).
        .. [2] Klein, Wright and Wieczorek, "A joint confidence region for an overall ranking of populations", Journal
           of the Royal Statistical Society C 69 (2020).
        """
        if self.settings["baseline"] is not None:
            raise InputError("a ranking needs all pairs, but systems are compared with a baseline: compare without one")
        found = find(self.evaluations[0].quantities, name, group, at)
        measure = measure_of(found.name)
        if HELD in found.note or found.name == "threshold":
            raise InputError(f"systems do not rank by {name} at {found.at}, which holds it for all of them")
        if measure is not None and measure.fairer == "nearer":
            raise InputError(f"systems do not rank by {name}, whose fair value lies between others")
        return self._ranked(found)

    def _ranked(self, quantity: Quantity) -> tuple[RankedSystem, ...]:
        k = self.evaluations[0].quantities.index(quantity)
        each = [evaluation.quantities[k] for evaluation in self.evaluations]
        ranks = ranks_of(
            [one.estimate for one in each], self._matrix(k), 1 - self.settings["confidence_level"],
            higher_is_better=is_fairer_above(quantity.name),
        )  # fmt: skip
        rows = [
            RankedSystem(
                one.name, one.group, one.at, system, one.estimate, _number(one.low), _number(one.high), *of_system,
                probe_group=one.probe_group,
            )
            for system, one, of_system in zip(self.systems, each, ranks, strict=True)
        ]  # fmt: skip
        return tuple(sorted(rows, key=lambda row: row.rank))

    def _matrix(self, k: int) -> NDArray[np.float64]:
        """Return the (systems, systems) adjusted p-values of one quantity; NaN for pairs that are not compared."""
        found = np.full((len(self.systems), len(self.systems)), np.nan)
        one, other = np.array(places_of(self.systems, list(self.contrasts))).T
        found[one, other] = found[other, one] = self.pvalues_adjusted[:, k]
        return found

    @checked
    def array(
        self, name: str, of: Literal["estimate", "low", "high", "pvalue_adjusted"] = "estimate"
    ) -> NDArray[np.float64]:
        """Return one quantity of all systems, groups and operating points as an array.

        Parameters
        ----------
        name : str
            As in `Quantity`, but for "fmr_matrix".
        of : {"estimate", "low", "high", "pvalue_adjusted"}
            The estimate, an end of its own interval, or the adjusted p-value of the difference of two systems.

        Returns
        -------
        (systems, groups, points) ndarray, or (systems, systems, groups, points) for p-values
            All comparisons are the first of the groups, and alone for measures over groups. What needs no operating
            point has one. NaN where there is no number.

        Raises
        ------
        InputError
            Where there is no such quantity.
        """
        called, quantities = quantity_name(name), self.evaluations[0].quantities
        rows = [k for k, one in enumerate(quantities) if one.name == called and one.probe_group is None]
        if not rows:
            names = sorted({one.name for one in quantities if one.probe_group is None})
            raise InputError(f"there is no quantity {name!r} of groups{did_you_mean(called, names)}")
        groups, points = ({value: n for n, value in enumerate(dict.fromkeys(values))} for values in (
            [quantities[k].group for k in rows], [quantities[k].at for k in rows]
        ))  # fmt: skip
        n = len(self.systems)
        shape = (n, n) if of == "pvalue_adjusted" else (n,)
        found = np.full((*shape, len(groups), len(points)), np.nan)
        for k in rows:
            each = [evaluation.quantities[k] for evaluation in self.evaluations]
            values = self._matrix(k) if len(shape) == 2 else [_number(getattr(one, of)) for one in each]
            found[..., groups[quantities[k].group], points[quantities[k].at]] = values
        return found

    @checked
    def with_intervals(
        self, confidence_level: float | None = None, method: MethodOfContrasts | None = None
    ) -> SystemComparison:
        """Compute intervals of another level or method from the same replicates.

        Parameters
        ----------
        confidence_level : float, optional
            As in `compare`; unchanged by default.
        method : str, optional
            As in `compare`; unchanged by default.

        Returns
        -------
        SystemComparison

        Raises
        ------
        InputError
            For an unknown method and a level outside (0, 1).
        """
        level = intervals.level(self.settings["confidence_level"] if confidence_level is None else confidence_level)
        method = self.settings["method"] if method is None else method
        evaluations = {name: evaluation.with_intervals(level, method) for name, evaluation in self._systems().items()}
        assert isinstance(self.contrasts, PairContrasts)  # the others are of files, whose evaluations have just refused
        contrasts = self.contrasts.with_intervals(evaluations, level, method)
        settings = self.settings | {"confidence_level": level, "method": method}
        return SystemComparison(
            self.systems, tuple(evaluations.values()), contrasts, contrasts.pvalues_adjusted, settings
        )

    def _columns(self) -> dict[str, list[Any]]:
        rows = [(pair, one) for pair, contrasts in self.contrasts.items() for one in contrasts]
        names = {f"{which}_system": [pair[k] for pair, _ in rows] for k, which in enumerate(("first", "second"))}
        return names | table_of([one for _, one in rows])

    def _systems(self) -> dict[str, Evaluation]:
        return dict(zip(self.systems, self.evaluations, strict=True))

    def _pairs(self) -> Mapping[Pair, Sequence[Contrast]]:
        return self.contrasts

    def _drawn(self) -> Self:
        return replace(self, evaluations=tuple(one._drawn() for one in self.evaluations))

    def _rankings(self) -> list[list[RankedSystem]]:
        if self.settings["baseline"] is not None:
            return []
        chosen = [one for one in self.evaluations[0].quantities if one.name in _RANKED and HELD not in one.note]
        return [list(self._ranked(one)) for one in chosen]

    def _content(self) -> dict[str, Any]:
        return super()._content() | {
            "rankings": written.to_plain([row for ranking in self._rankings() for row in ranking])
        }

    @checked
    def plot_ranking(
        self, ax: Axes | None = None, *, name: str = "fnmr", group: Group = None, at: OperatingPoint | None = None
    ) -> Axes:
        """Draw the rank of each system, and the ranks that the data leave possible.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name, group, at
            As in `ranking`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_ranks

        return draw_ranks(self.ranking(name, group, at), self.settings["confidence_level"], ax)

    @checked
    def plot(
        self, ax: Axes | None = None, *, name: str = "fnmr", group: Group = None, at: OperatingPoint | None = None
    ) -> Axes:
        """Draw a quantity of each system with its own interval, from the best to the worst.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name, group, at
            As in `ranking`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_estimates

        return draw_estimates(self.ranking(name, group, at), self.settings["confidence_level"], ax)

    def _figures(self) -> dict[str, Axes]:
        axes = super()._figures()
        for one in (ranking[0] for ranking in self._rankings()):
            if one.group is None and one.name in ERROR_RATES:
                asked: dict[str, Any] = {"name": one.name, "at": one.at}
                axes[f"{one.name}_{file_part(one.at)}"] = self.plot(**asked)
                axes[f"{one.name}_ranks_{file_part(one.at)}"] = self.plot_ranking(**asked)
        return axes

    def __repr__(self) -> str:
        return f"SystemComparison({', '.join(self.systems)}: {self.evaluations[0].description})"


def _number(value: float | None) -> float:
    return math.nan if value is None else value
