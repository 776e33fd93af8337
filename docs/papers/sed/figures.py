"""The figures of the page on paper 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import ticker
from scipy.special import ndtri

from fastfair import det
from fastfair.measures import MEASURES
from papers.figure_style import COLORS, LINES, new_figure
from papers.page_parts import Figure

from .printed import COLUMNS, FACTORS, SYSTEMS
from .systems import Runs

_TABLES = {"IV": "o", "V": "s", "VI": "^", "VII": "D", "VIII": "v"}
_DET_RATES = (2e-4, 0.2)
_SHOWN = (1, 5, 50)  # factors whose distances are drawn


def draw_sets(runs: Runs) -> Figure:
    """Draw distances and DET curves of the data sets of the first seed."""
    figure, axes = new_figure(1, 2, (8.4, 4.0))
    histogram, curves = axes[0]
    bins = np.linspace(0, 1, 41)
    for color, factor in zip(COLORS, _SHOWN, strict=False):
        made = runs.sets["fmr", factor][0]
        for mated, line in ((True, "-"), (False, "--")):
            label = f"x {factor}, {'' if mated else 'non-'}mated"
            shown = made.distances[made.mated == mated]
            histogram.hist(
                shown,
                bins,
                histtype="step",
                color=color,
                linestyle=line,
                linewidth=1.2,
                label=label,
            )
    histogram.set(title="Distances", xlabel="Distance", ylabel="Comparisons in 1/40")
    top = histogram.get_ylim()[1]
    histogram.set_ylim(0, 1.45 * top)
    histogram.legend(ncols=2, loc="upper center")
    drawn = [("overall", runs.overall)]
    drawn += [(f"x {factor}", runs.sets["fmr", factor][0].comparisons()) for factor in FACTORS]
    curves.set(xlim=ndtri(_DET_RATES), ylim=ndtri(_DET_RATES))
    for k, (label, comparisons) in enumerate(drawn):
        det(comparisons).plot(
            curves, color=COLORS[-1 - k], linestyle=LINES[k % len(LINES)], label=label
        )
    curves.set_title("DET, sets of one seed")
    figure.legend(*curves.get_legend_handles_labels(), loc="outside right center")
    caption = (
        "Data sets of Tables II and III. Left: distances of three sets of one seed, made by hill"
        " climbing. Right: DET curves of all sets with biased false matches, and of the overall"
        " set; x 5 is the set whose FMR at a TMR of 95 % is five times that of x 1."
    )
    return Figure("data_sets", caption, figure)


def draw_beside_printed(runs: Runs) -> Figure:
    """Draw our medians and ranges over the printed numbers, a point a system."""
    figure, axes = new_figure(2, 3, (9.6, 6.4))
    tables = np.array([table for table, _, _ in runs.systems])
    for ax, (name, title) in zip(axes.flat, COLUMNS.items(), strict=True):
        ours, printed = runs.values[name], np.array([one.numbers[name].value for one in SYSTEMS])
        if name == "fdr":
            ours, printed, title = 1 - ours, 1 - printed, f"1 - {title}"
        _draw_measure(
            ax,
            tables,
            np.asarray(ours),
            printed,
            title,
            lowest=MEASURES["inequity_rate"].fair_value,
        )
    axes[0, 0].legend(title="Table", ncols=2, loc="upper left", fontsize=7, title_fontsize=7)
    caption = (
        f"Ours against printed, a point a system. Medians over {runs.n_seeds} sets of systems, and"
        " bars from the 5th to the 95th percentile; on the dotted line both are the same. Systems"
        " at 0 in either, and those whose range is infinite, have no place on these axes."
    )
    return Figure("beside_printed", caption, figure)


def _draw_measure(ax: Any, tables: Any, ours: Any, printed: Any, title: str, lowest: float) -> None:
    median = np.median(ours, axis=0)
    low, high = np.percentile(ours, [5, 95], axis=0, method="inverted_cdf")
    shown = np.isfinite(median) & (median > 0) & (printed > 0) & np.isfinite(high)
    for (table, marker), color in zip(_TABLES.items(), COLORS, strict=False):
        at = shown & (tables == table)
        errors = np.array([median[at] - low[at], high[at] - median[at]])
        ax.errorbar(
            printed[at],
            median[at],
            errors,
            fmt=marker,
            color=color,
            markersize=4,
            elinewidth=0.7,
            alpha=0.8,
            label=table,
        )
    limits = (
        min(printed[shown].min(), median[shown].min()),
        max(printed[shown].max(), median[shown].max()),
    )
    ends = [
        max(limits[0] / 1.3, lowest / 1.1) if title == "IR" else limits[0] / 1.3,
        1.3 * limits[1],
    ]
    ax.plot(ends, ends, color="0.5", linestyle=":", linewidth=0.9, zorder=0)
    ax.set(xscale="log", yscale="log", title=title, xlabel="Printed", ylabel="Ours")
    if ends[1] < 100 * ends[0]:
        ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
        ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())
