"""The figures of the page on choosing measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colors, lines, patches

from fastfair import OperatingPoint
from fastfair.evaluation.contrasts import Contrast
from papers.figure_style import COLORS, new_figure
from papers.page_parts import Figure

from .rules import Ability, Relation, favours, relation, title

_SHADES: dict[Relation, str] = {
    "agree": COLORS[5],
    "disagree": COLORS[1],
    "not told apart": "#DDDDDD",
    "withheld": "#EEEEEE",
    "not computable": "#FFFFFF",
}


def at_point(contrasts: Sequence[Contrast], point: OperatingPoint) -> list[Contrast]:
    """Keep the contrasts at an operating point and those that need none."""
    return [one for one in contrasts if one.at in (None, point)]


def draw_relations(
    name: str, contrasts: Sequence[Contrast], points: Sequence[OperatingPoint], grouping: str
) -> Figure:
    """Draw for all pairs of measures whether they call the same system fairer."""
    figure, axes = new_figure(1, len(points), (5.1 * len(points), 6.7))
    for k, (ax, point) in enumerate(zip(axes[0], points, strict=True)):
        _draw_matrix(ax, at_point(contrasts, point), with_names=k == 0)
        ax.set_title(f"By {grouping.lower()}, at {point}")
    handles: list[Any] = [
        patches.Patch(facecolor=shade, edgecolor="0.6", label=label)
        for label, shade in _SHADES.items()
    ]
    marks: dict[str, Any] = {"color": "black", "marker": "x", "linestyle": "", "markersize": 4}
    handles.append(lines.Line2D([], [], label="estimates favour different systems", **marks))
    figure.legend(handles=handles, loc="outside upper center", ncols=6)
    caption = (
        "Which pairs of measures call the same of two systems fairer, VoxCeleb1-H by"
        f" {grouping.lower()}. Coloured where both measures tell which system is fairer beyond"
        " chance; crosses where the estimates alone contradict each other."
    )
    return Figure(name, caption, figure)


def _draw_matrix(ax: Any, contrasts: Sequence[Contrast], with_names: bool) -> None:
    order = list(_SHADES)
    codes = np.array(
        [[order.index(relation(one, other)) for other in contrasts] for one in contrasts]
    )
    shades = colors.ListedColormap(list(_SHADES.values()))
    ax.pcolormesh(
        codes, cmap=shades, vmin=-0.5, vmax=len(order) - 0.5, edgecolors="white", linewidth=0.4
    )
    crossed = [
        (k, n)
        for n, one in enumerate(contrasts)
        for k, other in enumerate(contrasts)
        if {favours(one), favours(other)} == {"first", "second"}
    ]
    if crossed:
        x, y = np.array(crossed).T + 0.5
        ax.plot(x, y, color="black", marker="x", linestyle="", markersize=3, markeredgewidth=0.7)
    places, names = np.arange(len(contrasts)) + 0.5, [title(one.name) for one in contrasts]
    ax.set_xticks(places, names, rotation=90, fontsize=6.5)
    ax.set_yticks(places, names if with_names else [""] * len(names), fontsize=6.5)
    ax.set(aspect="equal")
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(length=0)


def draw_uncertainty(able: Sequence[Ability]) -> Figure:
    """Draw how much measures vary, and how often they tell bias."""
    figure, axes = new_figure(1, 2, (8.6, 5.0), sharey=True)
    places = np.arange(len(able))
    values = [[one.uncertainty for one in able], [100 * one.tells_bias for one in able]]
    for ax, row, color in zip(axes[0], values, COLORS, strict=False):
        ax.barh(places, np.nan_to_num(row), color=color, height=0.7)
        ax.grid(axis="y", visible=False)
        ax.set_axisbelow(True)
    for place, one in zip(places, able, strict=True):
        if one.computable < 1:
            text = f"computable in {100 * one.computable:.0f} %"
            axes[0, 0].text(
                0.02,
                place,
                text,
                transform=axes[0, 0].get_yaxis_transform(),
                fontsize=6,
                va="center",
                color="w",
            )
    axes[0, 0].set_yticks(places, [title(one.measure) for one in able], fontsize=7.5)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(title="Uncertainty", xlabel="Standard error / estimate, median")
    axes[0, 1].set(
        title="Apart from the fair value",
        xlabel="Intervals without the fair value (%)",
        xlim=(0, 100),
    )
    caption = (
        "How uncertain measures are. Left: paper 5's normalised uncertainty, median over results on"
        " real data and on made systems with bias; where not all results on real data are"
        " computable the bar says how many. Right: share of these intervals that leave the fair"
        " value out."
    )
    return Figure("uncertainty", caption, figure)
