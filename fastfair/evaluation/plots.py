"""Draw evaluations and comparisons of systems; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib import validation
from fastfair._lib.plots import (
    LONGEST_IN_LEGEND,
    STANDS_OUT,
    USUAL,
    Bar,
    Line,
    axes_or_new,
    draw_rows,
    ends_to_name,
    legend_below,
    line_style,
    probit_axes,
)
from fastfair._lib.text import drawn, per_cent, shortened
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.rates import Rates
from fastfair.measures._registry import METRICS
from fastfair.uncertainty.quantities import IN_PER_CENT, ends_of, find

from .chapter import interval_name
from .contrasts import Contrast, RankedSystem
from .evaluated import Evaluated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_POINT_LINES = ("-", ":", "-.", "--")  # of thresholds
_CLASSES = (("mated", USUAL, "-"), ("non-mated", STANDS_OUT, "--"))


def draw_det(evaluation: Evaluated, groups: Sequence[str] | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the DET curve of all comparisons and those of groups, with the operating points.

    With more groups than can be told apart, those with the highest and the lowest FNMR are named and the others are
    thin grey lines.
    """
    for group in groups or ():
        validation.choice("group", group, evaluation.groups)
    named = list(groups or ())
    if groups is None:
        fnmr = evaluation.rates[0].group_fnmr if evaluation.rates else np.zeros(len(evaluation.groups))
        named = [evaluation.groups[k] for k in ends_to_name(fnmr[None])]
    others = [group for group in evaluation.groups if group not in named] if groups is None else []
    ax = axes_or_new(ax, (5.6, 5.9 + 0.18 * (len(named) + bool(others))))
    for group in others:
        _curve(ax, evaluation, group, color="0.75", linewidth=0.6, zorder=1)
    lines = []
    for k, group in enumerate(named):
        label = drawn(shortened(group, LONGEST_IN_LEGEND)) + (_at_first_point(evaluation, group) if others else "")
        lines.append(_curve(ax, evaluation, group, label=label, linewidth=1.2, **line_style(k)))
    style: dict[str, Any] = {"color": "black", "linewidth": 1.8, "label": "all"}
    lines.insert(0, _curve(ax, evaluation, None, **(style | kwargs)))
    if others:
        lines += ax.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} other groups")
    for rates in evaluation.rates:
        _mark(ax, evaluation, rates, lines[0].get_color())
    probit_axes(ax)
    before = ax.get_legend()  # of another system drawn into the same axes
    legend_below(ax, [*(before.legend_handles if before else ()), *lines])
    return ax


def _at_first_point(evaluation: Evaluated, group: str) -> str:
    rates = evaluation.rates[0] if evaluation.rates else None
    return "" if rates is None else f": FNMR {per_cent(rates.group_fnmr[evaluation.groups.index(group)])}"


def _curve(ax: Axes, evaluation: Evaluated, group: str | None, **style: Any) -> Any:
    """Draw a curve through some of its points; all lie on it."""
    curve = evaluation._curve(group)
    if not (curve.n_mated and curve.n_nonmated):  # named in the legend all the same
        return ax.plot([], [], **_without_curve(style, "no mated, or no non-mated"))[0]
    if not curve.false_matches.size:
        style = _without_curve(style, "no errors")
    return ax.plot(*curve.deviates, **style)[0]


def _without_curve(style: dict[str, Any], reason: str) -> dict[str, Any]:
    return style | {"label": f"{style['label']} (no curve: {reason})"} if style.get("label") else style


def _mark(ax: Axes, evaluation: Evaluated, rates: Rates, color: Any) -> None:
    """Mark an operating point, with the interval of its FNMR."""
    x, y = ndtri(rates.fmr), ndtri(rates.fnmr)
    if not (math.isfinite(x) and math.isfinite(y)):
        return
    found = find(evaluation.quantities, "fnmr", None, rates.at)
    if found.low is not None and found.high is not None and found.low > 0 and found.high < 1:
        ax.plot([x, x], ndtri([found.low, found.high]), color=color, linewidth=1)
    ax.plot(x, y, "o", color=color, markersize=6, markerfacecolor="white", zorder=5)
    ax.annotate(
        f"{rates.at.rate.upper()} {per_cent(rates.at.value)}" if rates.at.rate else str(rates.at),
        (x, y), (5, 5), textcoords="offset points", fontsize="small", zorder=6,
    )  # fmt: skip


def draw_scores(evaluation: Evaluated, group: str | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distributions of mated and of non-mated scores, with the thresholds."""
    if group is not None:
        validation.choice("group", group, evaluation.groups)
    edges = evaluation.edges  # before axes are made, as it may be refused
    ax = axes_or_new(ax)
    _distributions(ax, evaluation, group, edges, **kwargs)
    ax.set(xlabel=f"Score ({evaluation.settings['score_kind']})", ylabel="Density")
    _legend_above(ax)
    return ax


def _distributions(ax: Axes, evaluation: Evaluated, group: str | None, edges: Floats, **kwargs: Any) -> None:
    for (name, color, line), bins in zip(_CLASSES, evaluation._distributions(group), strict=True):
        heights = bins / max(bins.sum(), 1) / (edges[1] - edges[0])
        style: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.4}
        style |= {"label": f"{name} ({bins.sum():,})"} | kwargs
        ax.stairs(heights, edges, **style)
        ax.stairs(heights, edges, fill=True, color=style["color"], alpha=0.2)
    _draw_points(ax, evaluation)
    ax.set_yticks([])
    ax.set_ylim(bottom=0)


def _draw_points(ax: Axes, evaluation: Evaluated) -> None:
    for k, rates in enumerate(evaluation.rates):
        style = _POINT_LINES[k % len(_POINT_LINES)]
        ax.axvline(rates.threshold, color="black", linewidth=1, linestyle=style, label=f"threshold at {rates.at}")


def _legend_above(ax: Axes) -> None:
    ax.legend(fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2)


def draw_rates(evaluation: Evaluated, rate: str, rates: Rates, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw a rate of each group with its interval; those that rest on few errors are lighter."""
    found = [find(evaluation.quantities, rate, group, rates.at) for group in (None, *evaluation.groups)]
    logarithmic = rate == "fmr" and any(
        one.estimate > 0 for one in found
    )  # those of groups are often powers of ten apart
    few = [(one.n_errors or 0) < ENOUGH_ERRORS for one in found]
    name = interval_name(evaluation.settings)
    about = f"estimate and {name}" if name else "estimate"
    of_few = f"{about if all(few) else 'the same'}, from fewer than {ENOUGH_ERRORS} errors"
    none = "no errors: the estimate is 0, left of the axis"
    bars = [
        Bar(
            y, one.estimate, *ends_of(one), is_light=light, instead="no comparisons",
            label=none if logarithmic and one.estimate == 0 else of_few if light else about,
        )
        for y, (one, light) in enumerate(zip(found, few, strict=True))
    ]  # fmt: skip
    ax = draw_rows(
        ax, ["all", *evaluation.groups], bars, [Line(found[0].estimate, "all comparisons")],
        xlabel=f"{METRICS[rate].long_title} at {rates.at}", logarithmic=logarithmic, **kwargs,
    )  # fmt: skip
    if len(bars) > 1:
        ax.axhline(0.5, color="0.7", linewidth=0.8)
    return ax


MOST_CURVES = 8  # of systems; more cannot be told apart
_OF_TWO = ({"color": USUAL}, {"color": STANDS_OUT, "linestyle": "--"})


def curves_shown(systems: Mapping[str, Evaluated]) -> list[str]:
    """Choose the systems whose DET curves are drawn: of many, those with the lowest FNMR at the first point."""
    chosen = list(systems)
    if len(chosen) > MOST_CURVES and all(one.rates for one in systems.values()):
        chosen.sort(key=lambda name: systems[name].rates[0].fnmr)
    return chosen[:MOST_CURVES]


def draw_det_of_systems(systems: Mapping[str, Evaluated], ax: Axes | None) -> Axes:
    """Draw the DET curve of each system by its name; of many, those with the lowest FNMR at the first point."""
    for k, name in enumerate(curves_shown(systems)):
        style = _OF_TWO[k] if len(systems) == 2 else line_style(k)
        ax = draw_det(systems[name], (), ax, label=drawn(shortened(name, LONGEST_IN_LEGEND)), **style)
    assert ax is not None
    return ax


def draw_differences(contrasts: Sequence[Contrast], level: float, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the difference in one rate, of all comparisons and of each group."""
    usual = f"difference and {100 * level:g} % interval"
    standing_out = f"{usual}; the adjusted p-value is at most {1 - level:.3g}"
    bars = [
        _bar(y, (one.difference, one.low, one.high), usual, standing_out, one.verdict in ("first", "second"))
        for y, one in enumerate(contrasts)
    ]
    label = f"{contrasts[0].name.upper()} at {contrasts[0].at},\nfirst minus second (percentage points)"
    ax = draw_rows(ax, [one.group or "all" for one in contrasts], bars, [Line(0)], xlabel=label, **kwargs)
    ax.xaxis.set_major_formatter(lambda value, position: f"{100 * value:g}")
    return ax


def _bar(y: int, ends: tuple[float, float, float], usual: str, standing_out: str, stands_out: bool) -> Bar:
    if stands_out:
        return Bar(y, *ends, color=STANDS_OUT, marker="D", label=standing_out)
    return Bar(y, *ends, label=usual)


def draw_ranking(ranking: Sequence[RankedSystem], level: float, ax: Axes | None, *, ranks: bool) -> Axes:
    """Draw the quantity of each system with its own interval, from the best to the worst, or its possible ranks."""
    usual, is_rate = f"estimate and its own {100 * level:g} % interval", ranking[0].name in IN_PER_CENT and not ranks
    best, label = usual, ranking[0].title + (" (%)" if is_rate else "")
    if ranks:
        usual, label = f"rank, and those possible at {100 * level:g} % together", f"rank by {label}"
        best = f"{usual}; may be the best"
    bars = [
        _bar(y, (one.rank, one.best_rank, one.worst_rank) if ranks else (one.estimate, one.low, one.high), usual, best,
             one.best_rank == 1)
        for y, one in enumerate(ranking)
    ]  # fmt: skip
    ax = draw_rows(ax, [one.system for one in ranking], bars, xlabel=label, per_cent=False)
    if ranks:
        ax.set_xlim(0.5, len(ranking) + 0.5)
        ax.locator_params(axis="x", integer=True)
    if is_rate:
        ax.xaxis.set_major_formatter(lambda value, position: f"{100 * value:g}")
    return ax
