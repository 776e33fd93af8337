"""Drawing plans of studies; matplotlib is imported only here and in `axes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.axes import axes_or_new, tick_per_cent
from fastfair._lib.plot_style import USUAL
from fastfair._lib.text import per_cent
from fastfair.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .around import Around

Columns = Mapping[str, NDArray[Any]]
_TITLES = {
    "n_groups": "Groups",
    "n_subjects": "Subjects in each group",
    "n_attempts": "Attempts of each subject",
    "fnmr": "FNMR",
    "correlation": "Correlation of attempts",
    "difference": "Difference in FNMR",
    "wanted_margin": "Margin of error",
    "wanted_assurance": "Share of studies within the margin",
    "wanted_power": "Power",
    "margin": "Margin of error",
    "power": "Power",
}
_SYMBOLS = {
    "n_groups": "G",
    "n_subjects": "n",
    "n_attempts": "m",
    "fnmr": "π",
    "correlation": "ρ",
    "difference": "δ",
    "wanted_margin": "M",
    "wanted_assurance": "assurance",
    "wanted_power": "power",
}
_PER_CENT = {"fnmr", "difference", "margin", "power", "wanted_margin", "wanted_assurance", "wanted_power"}
_LABEL_SIZE = 8.0  # points


def draw_plan(columns: Columns, over: str, given: Sequence[str], value: str, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw a value over one of the settings given, a line for each combination of those others that change."""
    ax = axes_or_new(ax)
    others = [name for name in given if name != over and np.ptp(columns[name])]
    combinations = np.unique(np.stack([columns[name] for name in others]), axis=1).T if others else np.empty((1, 0))
    for color, combination in zip(_colors(len(combinations)), combinations, strict=True):
        wanted = dict(zip(others, combination, strict=True))
        x, y = _line(columns, wanted, over, value)
        style = {"color": color, "marker": ".", "label": _written_all(wanted)}
        ax.plot(x, y, **(style | kwargs))
    ax.set(xlabel=_TITLES[over], ylabel=_TITLES[value])
    for name, axis in ((over, ax.xaxis), (value, ax.yaxis)):
        if name in _PER_CENT:
            axis.set_major_formatter(tick_per_cent)
    ax.grid(alpha=0.3)
    if others:
        ax.legend()
    return ax


def draw_around(around: Around, wanted: float | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw what studies with a quarter to four times as many subjects would give, and what was wanted."""
    n = around.n_subjects
    sizes = sorted({max(2, round(n * times)) for times in (0.25, 0.5, 1, 2, 4)})
    ax = around.plan(n_subjects=sizes).plot(ax, over="n_subjects", **({"color": USUAL} | kwargs))
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    ax.axvline(n, color="0.5", linewidth=1, zorder=0, label=f"{n:,} subjects")
    if wanted is not None:
        label = f"wanted: {per_cent(wanted)}"
        ax.axhline(wanted, color="black", linestyle="--", linewidth=1, zorder=0, label=label)
    ax.legend(fontsize="small")
    return ax


def draw_overview(columns: Columns, correlation: float) -> Figure:
    """Draw the margin over the groups in panels by subjects and attempts, coloured by FNMR."""
    rows, across = np.unique(columns["n_subjects"]), np.unique(columns["n_attempts"])
    figure, axes = _panels(rows.size, across.size, (2.1 * across.size + 1.2, 1.9 * rows.size + 0.8))
    for (i, j), ax in np.ndenumerate(axes):
        held = {"n_subjects": float(rows[i]), "n_attempts": float(across[j])}
        _draw_margins(ax, columns, {**held, "correlation": correlation}, "fnmr")
        ax.set_title(_written_all(held), fontsize="medium", loc="left")
    for ax in axes[:, -1]:
        _label_ends(ax)
    figure.suptitle(f"Margin of error by FNMR π, {_written('correlation', correlation)}", x=0.01, ha="left")
    return figure


def draw_one_at_a_time(columns: Columns, held: Mapping[str, float]) -> Figure:
    """Draw the margin over the groups in panels that each change one of the settings held."""
    figure, axes = _panels(2, 2, (9.0, 7.0))
    for name, ax in zip(held, axes.ravel(), strict=True):
        _draw_margins(ax, columns, {other: at for other, at in held.items() if other != name}, name)
        ax.set_title(_TITLES[name], fontsize="medium", loc="left")
    for ax in axes.ravel():
        _label_ends(ax)
    figure.suptitle(f"Margin of error, one setting changed at a time about {_written_all(held)}", x=0.01, ha="left")
    return figure


def _panels(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Figure, NDArray[Any]]:
    pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
    figure, axes = pyplot.subplots(
        n_rows, n_columns, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    figure.supxlabel("Groups")
    figure.supylabel("Margin of error")
    return figure, axes


def _draw_margins(ax: Axes, columns: Columns, held: Mapping[str, Any], name: str) -> None:
    """Draw margins over the groups, a line for each value of one setting."""
    values = np.unique(columns[name])
    for color, value in zip(_colors(values.size), values, strict=True):
        x, y = _line(columns, {**held, name: value}, "n_groups", "margin")
        ax.plot(x, y, color=color, marker=".", markersize=4, linewidth=1.2, label=_written(name, value))
    ax.set(xscale="log", yscale="log")
    ticker = validation.require("matplotlib.ticker", "cli", "drawing")
    formatters: dict[Any, Any] = {ax.xaxis: "{x:g}", ax.yaxis: tick_per_cent}
    for axis, formatter in formatters.items():
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 3, 5)))
        axis.set_major_formatter(formatter)
        axis.set_minor_locator(ticker.NullLocator())
    ax.grid(alpha=0.3)


def _label_ends(ax: Any) -> None:
    """Write each line's label beside its end, one above the other where ends are close."""
    lines = sorted(ax.get_lines(), key=lambda line: line.get_ydata()[-1])
    ax.get_ylim()  # settles the limits
    within = ax.transData + ax.transAxes.inverted()
    ends = np.array([within.transform((line.get_xdata()[-1], line.get_ydata()[-1]))[1] for line in lines])
    gap = 1.2 * _LABEL_SIZE / 72 / (0.85 * ax.get_figure().get_figheight() / ax.get_subplotspec().get_gridspec().nrows)
    places = gap * np.arange(ends.size) + np.maximum.accumulate(ends - gap * np.arange(ends.size))
    places -= (places - ends).mean()
    for line, place in zip(lines, places, strict=True):
        ax.text(
            1.02, place, line.get_label(), color=line.get_color(), fontsize=_LABEL_SIZE, va="center",
            transform=ax.transAxes,
        )  # fmt: skip


def _line(columns: Columns, wanted: Mapping[str, Any], over: str, value: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Take the entries at some settings, in the order of another."""
    at = np.ones(columns[value].size, bool)
    for name, number in wanted.items():
        at &= np.isclose(columns[name], number, rtol=1e-9, atol=0)
        if not at.any():
            known = ", ".join(f"{number:g}" for number in np.unique(columns[name]))
            raise InputError(f"the plan has nothing at {_written_all(wanted)}; its values of {name} are {known}")
    order = np.argsort(columns[over][at], kind="stable")
    return columns[over][at][order], columns[value][at][order]


def _colors(n: int) -> list[Any]:
    """Take n colours in an order that everyone sees, none too light for paper."""
    colormaps = validation.require("matplotlib", "cli", "drawing").colormaps
    return list(colormaps["viridis"](np.linspace(0, 0.75, n)))


def _written(name: str, value: float) -> str:
    return f"{_SYMBOLS[name]} = {tick_per_cent(value) if name in _PER_CENT else f'{value:g}'}"


def _written_all(values: Mapping[str, float]) -> str:
    return ", ".join(_written(name, value) for name, value in values.items())
