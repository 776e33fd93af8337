"""`Plotted`: the plots of an evaluation, which take matplotlib's axes and return them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from fastfair._lib.arguments import checked
from fastfair.error_rates.curve_results import ErrorRate, Rates
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError

from .evaluated import Evaluated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Plotted:
    """The methods of `Evaluation` that draw."""

    def _figures(self: Any) -> dict[str, Figure]:
        """Return curves, scores, and at each operating point rates, the matrix of FMRs and measures."""
        from .summary import has_comparisons_between_groups

        axes: dict[str, Axes] = {}
        if self.comparisons is not None:  # else only pairs of vectors near the errors are kept
            axes = {"det": self.plot_det(), "scores": self.plot_scores()}
        for rates in self.rates if self.groups else ():
            at = f"at_{str(rates.at).lower().replace('=', '_').replace(' ', '_')}"
            for rate in ("fmr", "fnmr"):
                axes[f"{rate}_{at}"] = self.plot_rates(rate, rates.at)
            if has_comparisons_between_groups(rates):
                axes[f"fmr_matrix_{at}"] = self.plot_fmr_matrix(rates.at)
            if self.settings["measures"]:
                axes[f"measures_{at}"] = self.plot_measures(rates.at)
        figures = {name: one.get_figure(root=True) for name, one in axes.items()}
        if self.groups and self.comparisons is not None:
            figures |= {f"{kind}_by_group": self.plot_groups(kind) for kind in ("det", "scores")}
        return {name: figure for name, figure in figures.items() if figure is not None}

    @checked
    def plot_det(
        self: Evaluated, groups: str | Sequence[str] | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Axes:
        """Draw the DET curves of all comparisons and of groups, with the operating points and intervals of their FNMR.

        Parameters
        ----------
        groups : str or sequence of str, optional
            The groups to draw. By default all are drawn, and named if they are 8 or fewer; of more, the three with the
            highest and the three with the lowest FNMR at the first operating point are named, and the others grey.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot` for the curve of all comparisons.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_det

        return draw_det(self, [groups] if isinstance(groups, str) else groups, ax, **kwargs)

    @checked
    def plot_rates(
        self: Evaluated,
        rate: ErrorRate = "fnmr",
        at: OperatingPoint | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Axes:
        """Draw a rate of all comparisons and of each group, with its interval.

        Rates that rest on fewer than 30 errors are drawn lighter.

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
        """
        from .rate_plots import draw_rates

        return draw_rates(self, rate, rates_at(self, at), ax, **kwargs)

    @checked
    def plot_fmr_matrix(
        self: Evaluated, at: OperatingPoint | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Axes:
        """Draw the FMR by group of the reference and of the probe, as a heat map with a logarithmic scale.

        Parameters
        ----------
        at : OperatingPoint, optional
            The operating point; needed where there is more than one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.imshow`.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            Where no non-mated comparison is between groups.
        """
        from .rate_plots import draw_fmr_matrix

        return draw_fmr_matrix(self, rates_at(self, at), ax, **kwargs)

    @checked
    def plot_scores(self: Evaluated, group: str | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the distributions of mated and of non-mated scores, with the thresholds of the operating points.

        The first and the last bin gather what lies beyond them.

        Parameters
        ----------
        group : str, optional
            The group; by default all comparisons.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.stairs` for the outlines.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_scores

        return draw_scores(self, group, ax, **kwargs)

    @checked
    def plot_thresholds(self: Evaluated, group: str | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw FMR and FNMR over the threshold, with the thresholds of the operating points.

        Parameters
        ----------
        group : str, optional
            The group; by default all comparisons.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot` for both curves.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_thresholds

        return draw_thresholds(self, group, ax, **kwargs)

    @checked
    def plot_measures(self: Evaluated, at: OperatingPoint | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw how far each fairness measure is from the value of a fair system, with its interval.

        Measures have different ranges, so each row has a scale of its own.

        Parameters
        ----------
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
            Where the evaluation has no fairness measures.
        """
        from .rate_plots import draw_measures

        return draw_measures(self, rates_at(self, at) if self.rates else None, ax, **kwargs)

    @checked
    def plot_groups(self: Evaluated, kind: Literal["det", "scores"] = "det") -> Figure:
        """Draw a small plot of each group, all on the same scales.

        Parameters
        ----------
        kind : {"det", "scores"}
            The DET curve of each group before that of all comparisons, with its rates at the operating points; or the
            distributions of its scores.

        Returns
        -------
        matplotlib Figure
        """
        from .plots import draw_panels

        return draw_panels(self, kind)


def rates_at(evaluation: Evaluated, at: OperatingPoint | None) -> Rates:
    """Return the rates at an operating point, or at the only one."""
    found = [rates for rates in evaluation.rates if at in (None, rates.at)]
    points = ", ".join(str(rates.at) for rates in evaluation.rates)
    if not evaluation.rates:
        raise InputError("the evaluation has no operating points: evaluate with at=")
    if not found:
        raise InputError(f"there are no rates at {at}, only at {points}")
    if len(found) > 1:
        raise InputError(f"there are rates at {points}: choose one with at=")
    return found[0]
