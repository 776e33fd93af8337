"""The figures that `--plots` of `fastfair evaluate` and of `fastfair synthesize` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fastfair._lib.axes import new_axes, off_screen
from fastfair._lib.plot_style import legend_below, line_style
from fastfair._lib.text import per_cent
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.summary import has_comparisons_between_groups
from fastfair.synthesis.hill_climbing import Synthesis
from fastfair.synthesis.systems import SystemMeasure, draw_systems

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HISTORY_SIZE = 6.4, 4.4  # inches, without the legend


def figures_of(evaluation: Evaluation) -> dict[str, Figure]:
    """Draw an evaluation: curves, scores, and at each operating point rates, the matrix of FMRs and measures."""
    with off_screen():
        return _drawn(evaluation)


def _drawn(evaluation: Evaluation) -> dict[str, Figure]:
    axes: dict[str, Axes] = {}
    if evaluation.comparisons is not None:  # else only pairs of vectors near the errors are kept
        axes = {"det": evaluation.plot_det(), "scores": evaluation.plot_scores()}
    for rates in evaluation.rates if evaluation.groups else ():
        at = rates.at
        for rate in ("fmr", "fnmr"):
            axes[f"{rate}_{_named(at)}"] = evaluation.plot_rates(rate, at)
        if has_comparisons_between_groups(rates):
            axes[f"fmr_matrix_{_named(at)}"] = evaluation.plot_fmr_matrix(at)
        if evaluation.settings["measures"]:
            axes[f"measures_{_named(at)}"] = evaluation.plot_measures(at)
    figures = {name: one.get_figure(root=True) for name, one in axes.items()}
    if evaluation.groups and evaluation.comparisons is not None:
        figures |= {f"{kind}_by_group": evaluation.plot_groups(kind) for kind in ("det", "scores")}
    return {name: figure for name, figure in figures.items() if figure is not None}


def figures_of_scores(
    scores: Mapping[str, Comparisons], climbed: Sequence[Synthesis], measures: Sequence[SystemMeasure]
) -> dict[str, Figure]:
    """Draw what was synthesized: curves and scores of each file, the steps of each climb, and measures of systems."""
    with off_screen():
        figures: dict[str, Figure | None] = {}
        for name, comparisons in scores.items():
            evaluation = evaluate(comparisons, (), (), metrics="eer", n_resamples=0)
            for kind, ax in (("det", evaluation.plot_det()), ("distributions", evaluation.plot_scores())):
                figures[f"{name}_{kind}"] = ax.get_figure(root=True)
            if evaluation.groups:
                figures[f"{name}_distributions_by_group"] = evaluation.plot_groups("scores")
        if climbed:
            figures["steps"] = _steps(climbed)
        if len({(one.table, one.ratios) for one in measures}) > 1:
            figures["measures"] = draw_systems(measures)
    return {name: figure for name, figure in figures.items() if figure is not None}


def _steps(climbed: Sequence[Synthesis]) -> Figure | None:
    width, height = _HISTORY_SIZE
    ax = new_axes((width, height + 0.18 * len(climbed)))
    for k, made in enumerate(climbed):
        rate = f"{made.kind.upper()} {per_cent(made.target)} at {'TMR' if made.kind == 'fmr' else 'TNMR'} {made.at:g}"
        made.plot(ax, label=rate, **line_style(k))
    legend_below(ax, ax.get_lines())
    return ax.get_figure(root=True)


def _named(at: OperatingPoint) -> str:
    """Return an operating point as a part of a file's name."""
    return f"at_{str(at).lower().replace('=', '_').replace(' ', '_')}"
