"""The figures of paper 3: FDR over its weight, NRB by base metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.figure_style import COLORS, LINES, new_figure, per_cent
from papers.page_parts import Figure, Range

from .printed import ALPHAS, FPR_AVERAGES
from .runs import POINTS, GroupSet, Runs

_TOP = 1.8  # of the NRB's axis: what lies above is drawn up to it
_WIDTH = 0.38


def figure_1(runs: Runs) -> Figure:
    """Draw the FDR over alpha."""
    drawn = runs.sizeable, runs.large
    figure, axes = new_figure(1, len(drawn), (8.2, 3.9))
    for ax, found in zip(axes[0], drawn, strict=True):
        _draw_fdr(ax, found)
    axes[0, 0].set_ylabel("FDR (1 is fair)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, title="Average FPR", loc="outside right center")
    return Figure(
        "figure_1",
        "**Figure 1: FDR over α** on VoxCeleb1-H, for thresholds with these average FPRs; 95 %"
        " intervals shaded. At α = 0 only the FNR counts, at α = 1 only the FPR. The axes differ.",
        figure,
    )


def _draw_fdr(ax: Any, found: GroupSet) -> None:
    for k, (rate, point) in enumerate(zip(FPR_AVERAGES, POINTS, strict=True)):
        ranges = [found.fdr_range(alpha, point) for alpha in ALPHAS]
        style = {"color": COLORS[k], "linestyle": LINES[k % len(LINES)], "marker": "."}
        ax.plot(ALPHAS, [r.value for r in ranges], label=per_cent(rate), **style)
        low, high = ([getattr(r, end) for r in ranges] for end in ("low", "high"))
        ax.fill_between(ALPHAS, low, high, color=COLORS[k], alpha=0.13, linewidth=0)
    ax.set(xlabel="Weight of the FPR, α", xticks=ALPHAS, title=found.name)


def figure_2(runs: Runs) -> Figure:
    """Draw the NRB by base metric."""
    figure, axes = new_figure(3, 1, (8.2, 7.6), sharex=True, sharey=True)
    for ax, found in zip(axes[:, 0], runs.intersections, strict=True):
        _draw_nrb(ax, found)
    handles, labels = axes[-1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
    figure.supylabel("NRB (0 is fair)", fontsize="medium")
    return Figure(
        "figure_2",
        "**Figure 2: NRB by base metric** on VoxCeleb1-H, with 95 % intervals; the average FPR"
        " falls from left to right. ∞: infinite, as a group has no errors; arrows: intervals that"
        " end above the axis, or nowhere.",
        figure,
    )


def _draw_nrb(ax: Any, found: GroupSet) -> None:
    wide = {"eer": (0, "EER", COLORS[2]), "min_dcf": (1, "minDCF", COLORS[4])}
    for metric, (place, name, color) in wide.items():
        _bar(ax, place, found.nrb_range(metric), color, name)
    points = list(zip(FPR_AVERAGES, POINTS, strict=True))[::-1]
    for shift, metric, name, color in (
        (-0.5, "fmr", "FPR", COLORS[0]),
        (0.5, "fnmr", "FNR", COLORS[1]),
    ):
        for k, (_, point) in enumerate(points):
            nrb = found.nrb_range(metric, point)
            _bar(ax, 2 + k + shift * _WIDTH, nrb, color, name if k == 0 else None)
    ticks = ["EER", "minDCF", *(f"at FPR\n{per_cent(rate)}" for rate, _ in points)]
    ax.set(xticks=range(len(ticks)), ylim=(0, _TOP), title=found.name)
    ax.set_xticklabels(ticks)
    ax.grid(visible=False, axis="x")


def _bar(ax: Any, place: float, nrb: Range, color: str, name: str | None) -> None:
    if np.isinf(nrb.value):
        ax.bar(
            place,
            _TOP,
            _WIDTH,
            facecolor="none",
            edgecolor=color,
            hatch="///",
            linewidth=0.8,
            label=name,
        )
        ax.text(
            place,
            0.5 * _TOP,
            "∞",
            ha="center",
            va="center",
            fontsize=13,
            bbox={"color": "white", "pad": 1},
        )
        return
    ax.bar(place, nrb.value, _WIDTH, color=color, alpha=0.75, label=name)
    if np.isnan(nrb.low):
        return
    ax.plot([place, place], [nrb.low, min(nrb.high, _TOP)], color="black", linewidth=1)
    ends = [(nrb.low, "_"), (_TOP * 0.985, "^") if nrb.high > _TOP else (nrb.high, "_")]
    for end, marker in ends:
        ax.plot(place, end, marker=marker, color="black", markersize=5, clip_on=False)
