"""Draw errors over priors, shares of likelihood ratios, costs of applications and transforms of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import axes_or_new
from fastfair._lib.plot_style import COLORS, GREY, STANDS_OUT, USUAL, explain, legend_below, line_style, row_axes
from fastfair._lib.text import drawn

from .cost_rows import MISCALIBRATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .cost_rows import ApplicationCost
    from .shown import ErrorsOverPriors, SharesOverRatios

_ACTUAL, _MINIMUM = ("actual DCF", USUAL, "o"), ("minimum DCF", GREY, "s")
_APART = 0.16  # of a row, between the marks of actual and minimum cost
_MOST_DEFAULTS = 1.5  # times the error without scores, up to which a normalised plot reaches


def draw_bayes_errors(
    curves: Mapping[str, ErrorsOverPriors], ax: Axes | None, *, normalize: bool = False, marked: Sequence[float] = ()
) -> Axes:
    """Draw errors over prior log odds: actual ones as lines, minimum ones dashed, and those without scores grey.

    Parameters
    ----------
    curves : dict of BayesError
        By the name of a group; one curve alone needs none.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    normalize : bool
        Whether to divide by the error without scores.
    marked : sequence of float
        Prior log odds of applications, marked by upright lines.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax)
    for k, curve in enumerate(curves.values()):
        unit = curve.default if normalize else np.ones_like(curve.default)
        color = COLORS[k % len(COLORS)]
        ax.plot(curve.prior_log_odds, curve.actual / unit, color=color)
        ax.plot(curve.prior_log_odds, curve.minimum / unit, color=color, linestyle="--")
    first = next(iter(curves.values()))
    ax.plot(
        first.prior_log_odds, np.ones_like(first.default) if normalize else first.default, color=GREY, linestyle=":"
    )
    for log_odds in marked:
        ax.axvline(log_odds, color="0.75", linewidth=0.8, zorder=0)
    highest = max(float(curve.actual.max()) for curve in curves.values())
    ax.set_ylim(0, _MOST_DEFAULTS if normalize else 1.15 * max(highest, 1e-3))
    ax.set_xlabel("Prior log odds of a mated comparison")
    ax.set_ylabel("Error / error without scores" if normalize else "Probability of error")
    ax.grid(alpha=0.3)
    styles = [] if len(curves) == 1 else [
        (name, {"color": COLORS[k % len(COLORS)]}) for k, name in enumerate(curves)
    ]  # fmt: skip
    usual = USUAL if len(curves) == 1 else "0.2"
    styles += [
        ("actual", {"color": usual}),
        ("minimum", {"color": usual, "linestyle": "--"}),
        ("without scores", {"color": GREY, "linestyle": ":"}),
    ]
    explain(ax, styles)
    return ax


def draw_tippetts(curves: Mapping[str, SharesOverRatios], ax: Axes | None) -> Axes:
    """Draw the shares of mated and of non-mated comparisons whose likelihood ratio is at least so large."""
    ax = axes_or_new(ax)
    for k, curve in enumerate(curves.values()):
        style: dict[str, Any] = {"color": COLORS[k % len(COLORS)], "drawstyle": "steps-pre"}
        at = curve.log_likelihood_ratio / math.log(10)
        ax.plot(at, curve.mated, **style)
        ax.plot(at, curve.nonmated, linestyle="--", **style)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Likelihood ratio (power of ten)")
    ax.set_ylabel("Share with at least that ratio")
    ax.grid(alpha=0.3)
    styles = [] if len(curves) == 1 else [
        (name, {"color": COLORS[k % len(COLORS)]}) for k, name in enumerate(curves)
    ]  # fmt: skip
    usual = USUAL if len(curves) == 1 else "0.2"
    explain(ax, [*styles, ("mated", {"color": usual}), ("non-mated", {"color": usual, "linestyle": "--"})])
    return ax


def draw_costs(rows: Sequence[ApplicationCost], normalize: bool, ax: Axes | None) -> Axes:
    """Draw the actual cost of each row with its interval, and below it the minimum."""
    several = len({row.application for row in rows}) > 1
    labels = [f"{row.group or 'all'}{f' ({row.application})' if several else ''}" for row in rows]
    ax = row_axes(ax, labels)
    handles = {}
    for y, row in enumerate(rows):
        actual = ("actual DCF, miscalibrated", STANDS_OUT, "D") if row.verdict == MISCALIBRATED else _ACTUAL
        for (name, color, marker), shift, (value, low, high) in (
            (actual, -_APART, (row.actual, row.actual_low, row.actual_high)),
            (_MINIMUM, _APART, (row.minimum, row.minimum_low, row.minimum_high)),
        ):
            if math.isnan(value):
                continue
            if not math.isnan(low):
                ax.plot([low, high], [y + shift] * 2, color=color, linewidth=1.4)
            (handles[name],) = ax.plot([value], [y + shift], marker, color=color, markersize=5, label=name)
    if normalize:
        ax.axvline(1, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlim(left=0)
    ax.set_xlabel("Detection cost" + (", as a share of that without scores" if normalize else ""))
    legend_below(ax, list(handles.values()))
    return ax


def draw_transforms(
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], label: str, ax: Axes | None
) -> Axes:
    """Draw log-likelihood ratios over scores, a line for each group."""
    ax = axes_or_new(ax)
    for k, (name, (scores, ratios)) in enumerate(lines.items()):
        ax.plot(scores, ratios, label=drawn(name), **line_style(k))
    ax.axhline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlabel(label)
    ax.set_ylabel("Log-likelihood ratio")
    ax.grid(alpha=0.3)
    if len(lines) > 1:
        legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax
