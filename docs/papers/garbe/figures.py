"""Figures of paper 2 made anew on VoxCeleb1-H."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import lines, ticker
from scipy import stats

from fastfair import at_fmr, roc_band
from fastfair.measures import MEASURES
from papers.figure_style import COLORS, LINES, new_figure
from papers.page_parts import Figure
from papers.settings import Settings
from papers.voxceleb import scores

from .claims import AT, OVER, contrasts, over_alpha
from .printed import SWAPS
from .runs import GROUPINGS, OPTIMISED, SLIM, Floats, Run, Study, terms, values
from .tables import term_intervals

_COLOR = {OPTIMISED: COLORS[0], SLIM: COLORS[1]}
_LINE: dict[str, Any] = dict(zip(GROUPINGS, LINES, strict=False))
_SOURCES = {OPTIMISED: "resnetse34v2", SLIM: "resnetse34l"}
_DET_LEVELS = np.geomspace(3e-4, 0.5, 60)


def measure_figure(study: Study, name: str, figures: str) -> Figure:
    """Draw densities of a measure and box plots of its terms, at one FMR and over all."""
    title = MEASURES[name].title
    # At an FMR of 0.1 % there may be no system whose IR is computable.
    rows = (OVER,) if name == "inequity_rate" else (AT, OVER)
    drawing, axes = new_figure(len(rows), 3, (10.5, 2.8 * len(rows) + 0.3))
    letters = iter("abcdef")
    for row, points in zip(axes, rows, strict=True):
        where = "FMR 0.1 %" if points == AT else "FMR 0.1 to 10 %"
        for run in study.drawn:
            (_half_of_replicates if points == AT else _half_of_levels)(row[0], run, name)
            _density(row[1], over_alpha(study, run, name, points), run, name)
        for ax, what in zip(row[:2], ("α = 0.5", "α in [0, 1]"), strict=True):
            ax.set(xlabel=title, ylabel="Density", title=f"({next(letters)}) {where}, {what}")
            ax.set_ylim(bottom=0)
        _boxes(row[2], study, name, points)
        row[2].set(title=f"({next(letters)}) {where}, terms")
    handles = [
        lines.Line2D(
            [], [], color=_COLOR[run.system], linestyle=_LINE[run.grouping], label=run.label
        )
        for run in study.drawn
    ]
    drawing.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    top = (
        "(a): of replicates over speakers, the estimates as vertical lines; replicates lie on the"
        " unfair side of them, as chance adds to what groups differ by. "
        if AT in rows
        else ""
    )
    what = "the computable values" if name == "inequity_rate" else "the values"
    caption = (
        f"{title} on VoxCeleb1-H, as in the paper's {figures}. Smoothed densities of {what} over α"
        f" and FMR. {top}Box plots of the terms FPD and FND, hatched for intersections: one value"
        " an FMR, at one FMR a line each."
    )
    return Figure(name, caption, drawing)


def _half_of_replicates(ax: Any, run: Run, name: str) -> None:
    """Draw the density of the replicates at the first FMR and alpha 0.5, and where the estimate
    lies.
    """
    _density(ax, values(name, run.drawn_fmr[:, 0], run.drawn_fnmr[:, 0], [0.5]), run, name)
    estimate = values(name, run.fmr[0], run.fnmr[0], [0.5])[0]
    ax.axvline(estimate, color=_COLOR[run.system], linestyle=_LINE[run.grouping], linewidth=0.8)


def _half_of_levels(ax: Any, run: Run, name: str) -> None:
    """Draw the density of the estimates at all FMRs and alpha 0.5."""
    _density(ax, values(name, run.fmr, run.fnmr, [0.5]), run, name)


def _density(ax: Any, found: Floats, run: Run, name: str) -> None:
    """Draw a density estimate over the range of the values; of logarithms where the measure has no
    upper bound.
    """
    known = found[np.isfinite(found)]
    unbounded = not MEASURES[name].bounded
    if unbounded:
        known = np.log10(known)
        _log_axis(ax, ax.xaxis)
    if known.size < 2 or np.ptp(known) == 0:
        return
    grid = np.linspace(known.min(), known.max(), 300)
    line = {"color": _COLOR[run.system], "linestyle": _LINE[run.grouping]}
    ax.plot(10**grid if unbounded else grid, stats.gaussian_kde(known)(grid), **line)


def _log_axis(ax: Any, axis: Any) -> None:
    """Make an axis logarithmic, with plain numbers 1, 2 and 5 of each decade."""
    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_locator(ticker.NullLocator())


def _term_axis(ax: Any, name: str) -> float:
    """Label the axis of a measure's terms; return what to multiply them by."""
    in_per_cent = name == "fdr"
    ax.set_ylabel(f"Term of {MEASURES[name].title}{' (%)' * in_per_cent}")
    if name == "garbe":
        ax.set_ylim(0, 1)
    else:
        _log_axis(ax, ax.yaxis)
    return 100.0 if in_per_cent else 1.0


def _boxes(ax: Any, study: Study, name: str, points: slice) -> None:
    """Draw box plots of both terms, FPD left and FND right, a box a run."""
    n, factor = len(study.drawn), _term_axis(ax, name)
    for side in range(2):
        for k, run in enumerate(study.drawn):
            found = terms(name, run.fmr[points], run.fnmr[points])[side]
            known = factor * found[np.isfinite(found)]
            color, hatched = _COLOR[run.system], run.grouping == list(GROUPINGS)[1]
            ax.boxplot(
                [known],
                positions=[side * (n + 1) + k],
                widths=0.7,
                patch_artist=True,
                boxprops={
                    "facecolor": "white" if hatched else color,
                    "edgecolor": color,
                    "hatch": "////" * hatched,
                },
                medianprops={"color": color if known.size == 1 else "black"},
                whiskerprops={"color": color},
                capprops={"color": color},
                flierprops={"marker": ".", "markersize": 3, "markeredgecolor": color},
                manage_ticks=False,
            )
    ax.set_xticks([(n - 1) / 2, n + 1 + (n - 1) / 2], ["FPD (of FMR)", "FND (of FNMR)"])


def terms_figure(study: Study) -> Figure:
    """Draw the terms of FDR and GARBE over FMR, with where they are said to swap."""
    drawing, axes = new_figure(1, 2, (9, 3.6))
    for ax, name in zip(axes[0], SWAPS, strict=True):
        factor = _term_axis(ax, name)
        for system in (OPTIMISED, SLIM):
            run = study.run(system, "nationality")
            for (term, low, high), label, line in zip(
                term_intervals(run, name), ("FPD", "FND"), ("-", "--"), strict=True
            ):
                ax.plot(
                    run.levels,
                    factor * term,
                    color=_COLOR[system],
                    linestyle=line,
                    label=f"{system}, {label}",
                )
                ax.fill_between(
                    run.levels,
                    factor * low,
                    factor * high,
                    color=_COLOR[system],
                    alpha=0.12,
                    linewidth=0,
                )
        ax.axvline(SWAPS[name], color="black", linestyle=":", linewidth=1, label="swap as printed")
        ax.set_title(f"Terms of {MEASURES[name].title}")
        _fmr_axis(ax)
    drawing.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    caption = (
        "The terms that α weights, over FMR, by nationality. Shaded: 95 % percentile intervals, on"
        " the unfair side of the estimates where groups have few errors. Where the lines of a"
        " system cross, its terms swap."
    )
    return Figure("terms_over_fmr", caption, drawing)


def garbe_figure(study: Study) -> Figure:
    """Draw GARBE over FMR with intervals, and what the two systems differ by."""
    drawing, axes = new_figure(2, 2, (9.5, 6), sharex=True, sharey="row")
    points = [at_fmr(level) for level in study.levels]
    for column, grouping in enumerate(GROUPINGS):
        top, bottom = axes[:, column]
        for system in (OPTIMISED, SLIM):
            found = [study.evaluations[system, grouping].quantity("garbe", at=at) for at in points]
            low, high = (
                np.array([getattr(q, end) for q in found], np.float64) for end in ("low", "high")
            )
            style = {"color": _COLOR[system], "label": system, "linestyle": LINES[system == SLIM]}
            top.plot(study.levels, [q.estimate for q in found], **style)
            top.fill_between(study.levels, low, high, color=_COLOR[system], alpha=0.18, linewidth=0)
        top.set(title=f"By {grouping}", ylim=(0, 0.8))
        differences = contrasts(study, grouping, "garbe")
        difference, low, high = (
            np.array([getattr(one, which) for one in differences])
            for which in ("difference", "low", "high")
        )
        bottom.plot(study.levels, difference, color="black")
        bottom.fill_between(study.levels, low, high, color="black", alpha=0.18, linewidth=0)
        bottom.axhline(0, color="black", linewidth=0.8, linestyle=":")
        _fmr_axis(bottom)
    axes[0, 0].set_ylabel("GARBE (0 is fair)")
    axes[1, 0].set_ylabel(f"{SLIM} less {OPTIMISED}")
    axes[0, 0].legend(loc="upper right", ncols=2)
    caption = (
        "GARBE at α = 0.5 over FMR, as in the paper's Figure 6, with pointwise 95 % intervals"
        " (top), and the difference of the two systems with pointwise 95 % intervals (bottom; below"
        " zero ResNetSE34L is the fairer)."
    )
    return Figure("garbe_over_fmr", caption, drawing)


def det_figure(settings: Settings) -> Figure:
    """Draw both DET curves with their intervals and bands."""
    drawing, axes = new_figure(1, 1, (4.6, 4.6))
    ax = axes[0, 0]
    for k, (system, source) in enumerate(_SOURCES.items()):
        comparisons = scores(source, ("Nationality",))
        style = {"color": _COLOR[system], "linestyle": LINES[k]}
        band = roc_band(
            comparisons, _DET_LEVELS, n_resamples=settings.n_resamples, rng=settings.seed
        )
        band.plot(ax, det=True, **style, label=system)
    ax.legend(loc="lower center")
    caption = (
        "DET curves, as in the paper's Figure 7, with pointwise 95 % intervals (darker) and"
        " simultaneous bands (lighter) over speakers."
    )
    return Figure("det", caption, drawing)


def _fmr_axis(ax: Any) -> None:
    ax.set_xscale("log")
    ticks = [0.001, 0.003, 0.01, 0.03, 0.1]
    ax.set_xticks(ticks, [f"{100 * tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("FMR of all comparisons (%)")
