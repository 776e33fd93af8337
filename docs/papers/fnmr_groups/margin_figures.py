"""Figures 2 and 3 of paper 4: margins over the number of groups, by the other settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import NDArray

from fastfair.planning.fnmr import GroupsPlan
from papers.figure_style import per_cent

TITLES = {
    "n_groups": "Groups",
    "n_subjects": "Subjects in each group",
    "n_attempts": "Attempts of each subject",
    "fnmr": "FNMR",
    "correlation": "Correlation of attempts",
}
_SYMBOLS = {"n_groups": "G", "n_subjects": "n", "n_attempts": "m", "fnmr": "π", "correlation": "ρ"}
_LABEL_SIZE = 8.0  # points


def overview(plan: GroupsPlan, correlation: float = 0.05) -> Figure:
    """Draw figure 2: panels by subjects and attempts, a colour for each FNMR. All axes are alike
    and logarithmic.
    """
    rows, across = np.unique(plan.n_subjects), np.unique(plan.n_attempts)
    figure, axes = _panels(rows.size, across.size, (2.1 * across.size + 1.2, 1.9 * rows.size + 0.8))
    for (i, j), ax in np.ndenumerate(axes):
        held = {"n_subjects": float(rows[i]), "n_attempts": float(across[j])}
        _draw(ax, plan, {**held, "correlation": correlation}, "fnmr")
        ax.set_title(_written(held), fontsize="medium", loc="left")
    for ax in axes[:, -1]:
        _label_ends(ax)
    figure.suptitle(
        f"Margin of error by FNMR π, {_written({'correlation': correlation})}", x=0.01, ha="left"
    )
    return figure


def one_at_a_time(plan: GroupsPlan, held: Mapping[str, float]) -> Figure:
    """Draw figure 3: four panels, each of which changes one setting and holds the others."""
    figure, axes = _panels(2, 2, (9.0, 7.0))
    for name, ax in zip(held, axes.ravel(), strict=True):
        _draw(ax, plan, {other: at for other, at in held.items() if other != name}, name)
        ax.set_title(TITLES[name], fontsize="medium", loc="left")
    for ax in axes.ravel():
        _label_ends(ax)
    figure.suptitle(
        f"Margin of error, one setting changed at a time about {_written(held)}", x=0.01, ha="left"
    )
    return figure


def _panels(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Figure, NDArray[Any]]:
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    figure.supxlabel("Groups")
    figure.supylabel("Margin of error")
    return figure, axes


def _draw(ax: Any, plan: GroupsPlan, held: Mapping[str, float], name: str) -> None:
    """Draw margins over the groups, a line for each value of one setting."""
    values = np.unique(getattr(plan, name))
    for color, value in zip(
        mpl.colormaps["viridis"](np.linspace(0, 0.75, values.size)), values, strict=True
    ):
        at = np.ones(plan.margin.shape, np.bool_)
        for other, number in {**held, name: value}.items():
            at &= np.isclose(getattr(plan, other), number, rtol=1e-9, atol=0)
        order = np.argsort(plan.n_groups[at], kind="stable")
        style = {
            "color": color,
            "marker": ".",
            "markersize": 4,
            "linewidth": 1.2,
            "label": _written({name: value}),
        }
        ax.plot(plan.n_groups[at][order], plan.margin[at][order], **style)
    ax.set(xscale="log", yscale="log")
    formatters: dict[Any, Any] = {ax.xaxis: "{x:g}", ax.yaxis: per_cent}
    for axis, formatter in formatters.items():
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axis.set_major_formatter(formatter)
        axis.set_minor_locator(NullLocator())
    ax.grid(alpha=0.3)


def _label_ends(ax: Any) -> None:
    """Write each line's label beside its end, one above the other where ends are close."""
    lines = sorted(ax.get_lines(), key=lambda line: line.get_ydata()[-1])
    ax.get_ylim()  # settles the limits
    within = ax.transData + ax.transAxes.inverted()
    ends = np.array(
        [within.transform((line.get_xdata()[-1], line.get_ydata()[-1]))[1] for line in lines]
    )
    gap = (
        1.2
        * _LABEL_SIZE
        / 72
        / (0.85 * ax.get_figure().get_figheight() / ax.get_subplotspec().get_gridspec().nrows)
    )
    places = gap * np.arange(ends.size) + np.maximum.accumulate(ends - gap * np.arange(ends.size))
    places -= (places - ends).mean()
    for line, place in zip(lines, places, strict=True):
        style = {"color": line.get_color(), "fontsize": _LABEL_SIZE, "va": "center"}
        ax.text(1.02, place, line.get_label(), transform=ax.transAxes, **style)


def _written(values: Mapping[str, float]) -> str:
    return ", ".join(
        f"{_SYMBOLS[name]} = {per_cent(value) if name == 'fnmr' else f'{value:g}'}"
        for name, value in values.items()
    )
