"""`PairedEvaluation`: how two systems that scored the same comparisons differ, with tables, plots and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.arguments import checked
from fastfair.error_rates.curve_results import ErrorRate
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.quantities import Group, find, table_of

from .contrasts import Contrast, contrasts_of
from .difference_tests import DifferenceTest
from .plotted import rates_at
from .result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastfair.pages.parts import Chapter

MethodOfContrasts = Literal["auto", "percentile", "basic", "normal", "bca"]
METHODS_OF_CONTRASTS: tuple[MethodOfContrasts, ...] = get_args(MethodOfContrasts)


@dataclass(frozen=True, eq=False)
class PairedEvaluation(Result):
    """The result of `compare`: contrasts, each the difference between the two systems in one quantity.

    Attributes
    ----------
    contrasts : tuple of Contrast
        The contrasts, in the order of the evaluations' quantities.
    first, second : Evaluation
        The evaluations of the two systems, with the same replicates.
    settings : dict
        The arguments of the call.
    tests : tuple of DifferenceTest
        The test of each quantity of the evaluations.
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
    tests: tuple[DifferenceTest, ...] = field(default=(), repr=False, metadata=UNWRITTEN)
    correlations: NDArray[Any] = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)

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
        level = intervals.level(self.settings["confidence_level"] if confidence_level is None else confidence_level)
        method = self.settings["method"] if method is None else method
        first, second = (evaluation.with_intervals(level, method) for evaluation in (self.first, self.second))
        settings = self.settings | {"confidence_level": level, "method": method}
        contrasts = contrasts_of((first, second), self.tests, self.correlations, level, method)
        return PairedEvaluation(contrasts, first, second, settings, self.tests, self.correlations)

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.contrasts)

    def _tables(self) -> list[Printed]:
        from .systems_chapter import printed_contrasts

        return printed_contrasts(self.contrasts, [rates.at for rates in self.first.rates])

    @checked
    def plot_det(self, ax: Axes | None = None) -> Axes:
        """Draw the DET curves of both systems, with the operating points and intervals of their FNMR.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .contrast_plots import draw_both_det

        return draw_both_det((self.first, self.second), ax)

    @checked
    def plot_differences(
        self, rate: ErrorRate = "fnmr", at: OperatingPoint | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Axes:
        """Draw the difference in a rate, overall and in each group, with its interval.

        Parameters
        ----------
        rate : {"fnmr", "fmr"}
            The rate.
        at : OperatingPoint, optional
            The operating point; needed where there is more than one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
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
        from .contrast_plots import draw_differences

        return draw_differences(self._differences(rate, at), self.settings["confidence_level"], ax, **kwargs)

    @checked
    def plot(self, rate: ErrorRate = "fnmr", at: OperatingPoint | None = None) -> Figure:
        """Draw the DET curves of both systems, and beside them the differences in a rate.

        Parameters
        ----------
        rate, at
            As in `plot_differences`.

        Returns
        -------
        matplotlib Figure
        """
        from .contrast_plots import draw_both

        contrasts = self._differences(rate, at)
        return draw_both((self.first, self.second), contrasts, self.settings["confidence_level"])

    @checked
    def summary(self) -> str:
        """Describe the most important differences in sentences.

        Returns
        -------
        str
        """
        from .systems_chapter import summary_of_systems

        return "\n".join(summary_of_systems(self.first, self.contrasts, self.settings))

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        rows = [one for one in self.contrasts if one.group is None]
        names = ("name", "operating_point", "first", "second", "difference", "low", "high", "pvalue", "verdict")
        return self.summary().splitlines(), {name: [getattr(one, name) for one in rows] for name in names}

    def _chapter(self) -> Chapter:
        from .systems_chapter import chapter_of_systems

        first, second = (system._drawn() for system in (self.first, self.second))
        numbers = replace(self, first=first, second=second).to_json()
        return chapter_of_systems(first, second, self.contrasts, self.settings, numbers)

    def _differences(self, rate: str, at: OperatingPoint | None) -> list[Contrast]:
        """Return the contrasts of a rate at one operating point."""
        at = rates_at(self.first, at).at
        found = [one for one in self.contrasts if one.name == rate and one.at == at]
        if not found:
            raise InputError(f"there is no difference in {rate.upper()} at {at}, which holds this rate")
        return found

    def __repr__(self) -> str:
        return f"PairedEvaluation({self.first.description} against {self.second.description})"
