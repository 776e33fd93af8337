"""`Evaluation`: the result of `evaluate`, to look up, to export, to draw, and to compute other
intervals from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtri

from fastfair import intervals
from fastfair._lib import plots, validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Floats
from fastfair._lib.text import drawn, per_cent, shortened
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import ErrorRate, Rates
from fastfair.errors import InputError
from fastfair.intervals import MethodOfEvaluations
from fastfair.measures._registry import COMPLEMENTS, METRICS
from fastfair.pages.parts import interval_name
from fastfair.results.model_card import ResultOfEstimates
from fastfair.results.result import Printed
from fastfair.uncertainty.interval_maker import require_method
from fastfair.uncertainty.quantities import Group, Quantity, ends_of, find, table_of, with_successes

from .chapter import (
    chapter_of,
    lines_of_tables,
    printed_tables,
    rates_of,
    summary_of_attributes,
    tables_of_rates,
    tables_to_show,
)
from .evaluated import Evaluated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastfair.pages.parts import Beside, Chapter, Table

Alternative = Literal["two-sided", "less", "greater"]
_POINT_LINES = ("-", ":", "-.", "--")  # of thresholds
_CLASSES = (("mated", plots.USUAL, "-"), ("non-mated", plots.STANDS_OUT, "--"))


@dataclass(frozen=True, eq=False)
class Evaluation(Evaluated, ResultOfEstimates):
    """The result of `evaluate`: a list of quantities, with the rates and replicates behind them.

    Attributes
    ----------
    quantities : tuple of Quantity
        All numbers with their intervals, in the order in which they are reported.
    rates : tuple of Rates
        Rates, counts and matrix of false match rates at each operating point.
    groups : tuple of str
        All groups.
    measured_groups : tuple of str
        The groups that the fairness measures compare: all but those dropped.
    settings : dict
        The arguments of the call, with the thresholds found and the seed.
    description : str
        A short description of the comparisons evaluated.
    uncertainty : IntervalMaker or None
        The replicates, or what intervals in closed form are made of; None where nothing has an
        interval, and in what was read from a file. Use `replicates` and `with_intervals`.
    comparisons : Comparisons or None
        The comparisons, which curves and distributions of scores are drawn from; None in what was
        read from a file.
    n_subjects : int or None
        Number of subjects of the comparisons; None where it is not known who they are.
    traces : Traces or None
        In place of comparisons, what a page that was read has of their curves and distributions.

    Notes
    -----
    The table of `to_frame` has a row for each quantity, with the attributes of `Quantity` and its
    `title`, what tables and plots call it. In JSON infinite values are "Infinity" and "-Infinity".

    Examples
    --------
    >>> import fastfair as ff
    >>> ev = ff.evaluate(ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0]), n_resamples=0)
    >>> ev.to_frame("polars").columns[:4]
    ['name', 'group', 'operating_point', 'estimate']
    >>> import json
    >>> json.loads(ev.to_json())["quantities"][0]["name"]
    'threshold'
    """

    @checked
    def value(self, name: str, group: Group = None, at: OperatingPoint | None = None) -> float:
        """Return one estimate.

        Parameters
        ----------
        name, group, at
            As in `quantity`.

        Returns
        -------
        float

        Raises
        ------
        InputError
            As `quantity` does.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c, at=[ff.at_threshold(0.35)], n_resamples=0).value("fmr")
        0.5
        """
        return self.quantity(name, group, at).estimate

    @checked
    def interval(
        self, name: str, group: Group = None, at: OperatingPoint | None = None
    ) -> tuple[float, float]:
        """Return one confidence interval.

        Parameters
        ----------
        name, group, at
            As in `quantity`.

        Returns
        -------
        low, high : float
            NaN where the quantity has no interval, and its note says why.

        Raises
        ------
        InputError
            As `quantity` does, and where neither replicates nor a closed form give the quantity an
            interval: without replicates only FMRs and FNMRs have one.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> low, high = ff.evaluate(c, unit="comparison", rng=0).interval("eer")
        >>> round(low, 4), round(high, 4)
        (0.0, 0.9998)
        """
        quantity = self.quantity(name, group, at)
        if quantity.low is None:
            raise InputError(
                f"{name} has no interval without replicates: evaluate with ⟦n_resamples⟧ > 0"
            )
        return ends_of(quantity)

    @checked
    def replicates(
        self, name: str, group: Group = None, at: OperatingPoint | None = None
    ) -> Floats:
        """Return the values of one quantity in every replicate.

        Parameters
        ----------
        name, group, at
            As in `quantity`.

        Returns
        -------
        (n_resamples,) ndarray
            NaN or infinite where the quantity was not computable.

        Raises
        ------
        InputError
            As `quantity` does, and without replicates.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> ff.evaluate(c, unit="comparison", n_resamples=100, rng=0).replicates("eer").shape
        (100,)
        """
        chosen = self.quantity(name, group, at)
        if chosen.name in COMPLEMENTS:
            return 1 - self.replicates(COMPLEMENTS[chosen.name], group, at)
        row = next(k for k, quantity in enumerate(self.quantities) if quantity is chosen)
        return self.maker.replicates[row]

    @checked
    def with_intervals(
        self,
        confidence_level: float | None = None,
        method: MethodOfEvaluations | None = None,
        alternative: Alternative | None = None,
        simultaneous: bool | None = None,
    ) -> Evaluation:
        """Compute intervals of another level or method from the same replicates.

        Parameters
        ----------
        confidence_level : float, optional
            As in `evaluate`; unchanged by default.
        method, alternative : str, optional
            As in `evaluate`; unchanged by default.
        simultaneous : bool, optional
            As in `evaluate`; unchanged by default.

        Returns
        -------
        Evaluation

        Raises
        ------
        InputError
            For an unknown method, a level outside (0, 1), and where nothing has an interval.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> ev = ff.evaluate(c, unit="comparison", rng=0)
        >>> ev.with_intervals(0.5, "percentile").interval("eer")
        (0.0, 0.5)
        """
        asked = {
            "confidence_level": confidence_level,
            "method": method,
            "alternative": alternative,
            "simultaneous": simultaneous,
        }
        maker = self.maker
        settings = self.settings | {
            name: value for name, value in asked.items() if value is not None
        }
        settings["confidence_level"] = intervals.level(settings["confidence_level"])
        if maker.has_replicates:
            require_method(*(settings[name] for name in ("method", "unit", "scheme")))

        def intervals_of(alternative: str) -> tuple[Quantity, ...]:
            changed = settings | {"alternative": alternative}
            return maker.with_intervals(*(changed[name] for name in asked))

        quantities = with_successes(
            intervals_of(settings["alternative"]),
            settings["metrics"],
            settings["alternative"],
            intervals_of,
        )
        return replace(self, quantities=quantities, settings=settings)

    @checked
    def quantity(
        self, name: str, group: Group = None, at: OperatingPoint | None = None
    ) -> Quantity:
        """Return one estimate with its interval, the counts behind it and its notes.

        Parameters
        ----------
        name : str
            As in `Quantity`.
        group : str or pair of str, optional
            The group; by default all comparisons. For "fmr_matrix" the reference's and the probe's,
            as in ("f", "m").
        at : OperatingPoint, optional
            The operating point; needed where the quantity was computed at more than one.

        Returns
        -------
        Quantity

        Raises
        ------
        InputError
            Where there is no such quantity, or more than one.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> q = ff.evaluate(c, at=[ff.at_threshold(0.35)], n_resamples=0).quantity("fmr")
        >>> q.n_errors, q.n_comparisons, q.note
        (1, 2, 'fewer than 30 errors')
        """
        return find(self.quantities, name, group, at)

    def _estimates(self) -> Sequence[Quantity]:
        return self.quantities

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.quantities)

    def _tables(self) -> list[Printed]:
        return printed_tables(self)

    @checked
    def summary(self) -> str:
        """Describe the most important numbers in sentences, and all groups in a table for each
        operating point.

        Returns
        -------
        str
            What `fastfair demo` prints, and `fastfair evaluate` above further tables.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> told = ff.evaluate(c, at=[ff.at_threshold(0.35)], n_resamples=0).summary().splitlines()
        >>> told[0]
        '2 mated and 2 non-mated comparisons.'
        >>> print(*told[-5:], sep=chr(10))
        Error rates at threshold=0.35
        Group  People  FNMR, %  Errors  FMR, %  Errors
        all                50*  1 of 2     50*  1 of 2
        <BLANKLINE>
        * fewer than 30 errors behind the rate (Doddington's rule of 30)
        """
        return "\n".join([super().summary(), *lines_of_tables([self])])

    def _sentences(self) -> Sequence[str]:
        return summary_of_attributes([self])

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        return tables_to_show([self])

    def _shown(self) -> Sequence[str]:
        return super().summary().splitlines() if self.rates else [self.description]

    def _shown_tables(self) -> Sequence[Printed]:
        """Return what a notebook shows: rates of groups with their intervals, then the others."""
        return [*tables_of_rates([self]), *self._tables()]

    def _chapter_beside(self, beside: Beside) -> Chapter:
        """Make its chapter of a page on which tests and requirements stand, too."""
        drawn = self._drawn()
        return chapter_of(drawn, drawn._numbers(), beside)

    def _drawn(self) -> Evaluation:
        """Return the evaluation with what pages draw of it, from which they are made again."""
        return replace(self, traces=self._traced()) if self.has_curves else self

    def _figures(self) -> dict[str, Axes]:
        """Return curves, scores, and rates at each operating point."""
        axes: dict[str, Axes] = {}
        # Without comparisons only pairs of vectors near the errors are kept.
        if self.comparisons is not None and self.has_curves:
            axes = {"det": self.plot_det(), "scores": self.plot_scores()}
        for rates in self.rates if self.groups else ():
            at = file_part(rates.at)
            for rate in sorted(rates_of(self)):
                axes[f"{rate}_{at}"] = self.plot(rate=rate, at=rates.at)
        return axes

    @checked
    def plot_det(
        self, groups: str | Sequence[str] | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Axes:
        """Draw the DET curves of all comparisons and of groups, with the operating points and
        intervals of their FNMR.

        Parameters
        ----------
        groups : str or sequence of str, optional
            The groups to draw. By default all are drawn, and named if they are 8 or fewer; of more,
            the three with the highest and the three with the lowest FNMR at the first operating
            point are named, and the others grey.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot` for the curve of all comparisons.

        Returns
        -------
        matplotlib Axes
        """
        named = [groups] if isinstance(groups, str) else list(groups or ())
        others = list[str]()
        for group in named:
            validation.choice("group", group, self.groups)
        if groups is None:
            fnmr = self.rates[0].group_fnmr if self.rates else np.zeros(len(self.groups))
            named = [self.groups[k] for k in plots.ends_to_name(fnmr[None])]
            others = [group for group in self.groups if group not in named]
        ax = plots.axes_or_new(ax, (5.6, 5.9 + 0.18 * (len(named) + bool(others))))
        for group in others:
            self._draw_curve(ax, group, color="0.75", linewidth=0.6, zorder=1)
        lines = []
        for k, group in enumerate(named):
            label = drawn(shortened(group, plots.LONGEST_IN_LEGEND))
            if others and self.rates:
                label += f": FNMR {per_cent(self.rates[0].group_fnmr[self.groups.index(group)])}"
            lines.append(
                self._draw_curve(ax, group, label=label, linewidth=1.2, **plots.line_style(k))
            )
        style: dict[str, Any] = {"color": "black", "linewidth": 1.8, "label": "all"}
        lines.insert(0, self._draw_curve(ax, None, **(style | kwargs)))
        if others:
            lines += ax.plot(
                [], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups"
            )
        for rates in self.rates:
            self._mark_point(ax, rates, lines[0].get_color())
        plots.probit_axes(ax)
        before = ax.get_legend()  # of another system drawn into the same axes
        plots.legend_below(ax, [*(before.legend_handles if before else ()), *lines])
        return ax

    def _draw_curve(self, ax: Axes, group: str | None, **style: Any) -> Any:
        """Draw a curve through some of its points; all lie on it. The legend names one without
        points, too.
        """
        curve = self._curve(group)
        if style.get("label") and not curve.false_matches.size:
            reason = (
                "no errors" if curve.n_mated and curve.n_nonmated else "no mated, or no non-mated"
            )
            style["label"] += f" (no curve: {reason})"
        return ax.plot(*curve.deviates, **style)[0]

    def _mark_point(self, ax: Axes, rates: Rates, color: Any) -> None:
        """Mark an operating point, with the interval of its FNMR."""
        x = ndtri(rates.fmr)
        y = ndtri(rates.fnmr)
        at = rates.at
        if not (math.isfinite(x) and math.isfinite(y)):
            return
        rate = self.quantity("fnmr", None, at)
        if rate.low is not None and rate.high is not None and rate.low > 0 and rate.high < 1:
            ax.plot([x, x], ndtri([rate.low, rate.high]), color=color, linewidth=1)
        ax.plot(x, y, "o", color=color, markersize=6, markerfacecolor="white", zorder=5)
        ax.annotate(
            f"{at.rate.upper()} {per_cent(at.value)}" if at.rate else str(at),
            (x, y),
            (5, 5),
            textcoords="offset points",
            fontsize="small",
            zorder=6,
        )

    @checked
    def plot(
        self,
        ax: Axes | None = None,
        *,
        rate: ErrorRate = "fnmr",
        at: OperatingPoint | None = None,
        **kwargs: Any,
    ) -> Axes:
        """Draw a rate of all comparisons and of each group, with its interval.

        Rates that rest on fewer than 30 errors are drawn lighter.

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
        """
        at = self.quantity(rate, None, at).at
        groups = (None, *self.groups)
        quantities = [self.quantity(rate, group, at) for group in groups]
        # FMRs of groups are often powers of ten apart.
        logarithmic = rate == "fmr" and any(quantity.estimate > 0 for quantity in quantities)
        few = [(quantity.n_errors or 0) < ENOUGH_ERRORS for quantity in quantities]
        name = interval_name(self.settings)
        about = f"estimate and {name}" if name else "estimate"
        of_few = f"{about if all(few) else 'the same'}, from fewer than {ENOUGH_ERRORS} errors"
        none = "no errors: the estimate is 0, left of the axis"
        bars = [
            plots.Bar(
                y,
                quantity.estimate,
                *ends_of(quantity),
                is_light=light,
                instead="no comparisons",
                label=none
                if logarithmic and quantity.estimate == 0
                else of_few
                if light
                else about,
            )
            for y, (quantity, light) in enumerate(zip(quantities, few, strict=True))
        ]
        ax = plots.draw_rows(
            ax,
            [group or "all" for group in groups],
            bars,
            [plots.Line(quantities[0].estimate, "all comparisons")],
            xlabel=f"{METRICS[rate].long_title} at {at}",
            logarithmic=logarithmic,
            **kwargs,
        )
        if self.groups:
            ax.axhline(0.5, color="0.7", linewidth=0.8)
        return ax

    @checked
    def plot_scores(self, group: str | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the distributions of mated and of non-mated scores, with the thresholds of the
        operating points.

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
        if group is not None:
            validation.choice("group", group, self.groups)
        edges = self.edges  # before axes are made, as it may be refused
        ax = plots.axes_or_new(ax)
        for (name, color, line), bins in zip(_CLASSES, self._distributions(group), strict=True):
            heights = bins / max(bins.sum(), 1) / (edges[1] - edges[0])
            style: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.4}
            style |= {"label": f"{name} ({bins.sum():,})"} | kwargs
            ax.stairs(heights, edges, **style)
            ax.stairs(heights, edges, fill=True, color=style["color"], alpha=0.2)
        for k, rates in enumerate(self.rates):
            style = {
                "linestyle": _POINT_LINES[k % len(_POINT_LINES)],
                "label": f"threshold at {rates.at}",
            }
            ax.axvline(rates.threshold, color="black", linewidth=1, **style)
        ax.set(xlabel=f"Score ({self.settings['score_kind']})", ylabel="Density", yticks=[])
        ax.set_ylim(bottom=0)
        ax.legend(
            fontsize="small",
            frameon=False,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
            ncols=2,
        )
        return ax

    def __repr__(self) -> str:
        points = ", ".join(str(r.at) for r in self.rates)
        return f"Evaluation({self.description}; at {points}; {len(self.quantities)} quantities)"


def file_part(at: OperatingPoint | None) -> str:
    """Write an operating point as a part of the name of a file."""
    return f"at_{str(at).lower().replace('=', '_').replace(' ', '_')}"
