"""`SystemComparison`: how many systems that scored the same comparisons differ, and how they rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.measures._registry import is_fairer_above, measure_of, quantity_name
from fastfair.results import written
from fastfair.results.result import Printed, Result
from fastfair.uncertainty.quantities import HELD, Group, Key, Quantity, find, table_of

from .contrasts import Contrast
from .pair_contrasts import PairContrasts, places_of
from .paired_result import MethodOfContrasts
from .ranks import RankedSystem, ranks_of
from .result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastfair.pages.parts import Chapter

    from .systems_chapter import ManySystems

_IN_ARRAYS = ("estimate", "low", "high", "pvalue_adjusted")
_RANKED = ("fnmr", "fmr", "eer", "min_dcf", "cllr", "min_cllr")  # in files and pages, overall and of groups


@dataclass(frozen=True, eq=False)
class SystemComparison(Result):
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
            raise InputError(f"there is no quantity {name!r} of groups{validation.did_you_mean(called, names)}")
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
        evaluations = tuple(evaluation.with_intervals(level, method) for evaluation in self.evaluations)
        assert isinstance(self.contrasts, PairContrasts)  # the others are of files, whose evaluations have just refused
        contrasts = self.contrasts.with_intervals(dict(zip(self.systems, evaluations, strict=True)), level, method)
        settings = self.settings | {"confidence_level": level, "method": method}
        return SystemComparison(self.systems, evaluations, contrasts, contrasts.pvalues_adjusted, settings)

    def _columns(self) -> dict[str, list[Any]]:
        rows = [(pair, one) for pair, contrasts in self.contrasts.items() for one in contrasts]
        names = {f"{which}_system": [pair[k] for pair, _ in rows] for k, which in enumerate(("first", "second"))}
        return names | table_of([one for _, one in rows])

    def _rankings(self) -> list[RankedSystem]:
        if self.settings["baseline"] is not None:
            return []
        chosen = [one for one in self.evaluations[0].quantities if one.name in _RANKED and HELD not in one.note]
        return [row for one in chosen for row in self._ranked(one)]

    def _by_quantity(self) -> list[list[RankedSystem]]:
        rankings: dict[Key, list[RankedSystem]] = {}
        for one in self._rankings():
            rankings.setdefault((one.name, one.group, one.probe_group, one.at), []).append(one)
        return list(rankings.values())

    def _tables(self) -> list[Printed]:
        from .systems_chapter import printed_rankings

        return printed_rankings(self._as_shown(self.evaluations))

    def _content(self) -> dict[str, Any]:
        return super()._content() | {"rankings": written.to_plain(self._rankings())}

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
        from .contrast_plots import draw_det_of

        return draw_det_of(dict(zip(self.systems, self.evaluations, strict=True)), ax)

    @checked
    def plot_ranking(
        self, name: str = "fnmr", group: Group = None, at: OperatingPoint | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the rank of each system, and the ranks that the data leave possible.

        Parameters
        ----------
        name, group, at
            As in `ranking`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .ranking_plots import draw_ranks

        return draw_ranks(self.ranking(name, group, at), self.settings["confidence_level"], ax)

    @checked
    def plot(self, name: str = "fnmr", group: Group = None, at: OperatingPoint | None = None) -> Figure:
        """Draw a quantity of each system with its interval, and beside it the ranks.

        Parameters
        ----------
        name, group, at
            As in `ranking`.

        Returns
        -------
        matplotlib Figure
        """
        from .ranking_plots import draw_ranking

        return draw_ranking(self.ranking(name, group, at), self.settings["confidence_level"])

    @checked
    def summary(self) -> str:
        """Describe the rankings, or the differences to the baseline, in sentences.

        Returns
        -------
        str
        """
        from .systems_chapter import summary_of_many

        return "\n".join(summary_of_many(self._as_shown(self.evaluations)))

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        rows = [one for one in self._rankings() if one.group is None]
        names = ("name", "operating_point", "system", "estimate", "low", "high", "rank", "best_rank", "worst_rank")
        return self.summary().splitlines(), {name: [getattr(one, name) for one in rows] for name in names}

    def _chapter(self) -> Chapter:
        from .systems_chapter import chapter_of_many

        drawn = tuple(evaluation._drawn() for evaluation in self.evaluations)
        return chapter_of_many(self._as_shown(drawn), replace(self, evaluations=drawn).to_json())

    def _as_shown(self, evaluations: Sequence[Evaluation]) -> ManySystems:
        from .systems_chapter import ManySystems

        by_name = dict(zip(self.systems, evaluations, strict=True))
        return ManySystems(by_name, self.contrasts, self._by_quantity(), self.settings)

    def __repr__(self) -> str:
        return f"SystemComparison({', '.join(self.systems)}: {self.evaluations[0].description})"


def _number(value: float | None) -> float:
    return math.nan if value is None else value
