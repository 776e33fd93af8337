"""The figures that `fastfair evaluate --plots` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastfair._lib.axes import off_screen
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.evaluation.rate_plots import has_cross_group_comparisons
from fastfair.evaluation.result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures_of(evaluation: Evaluation) -> dict[str, Figure]:
    """Draw an evaluation: curves, scores, and at each operating point rates, the matrix of FMRs and measures."""
    with off_screen():
        return _drawn(evaluation)


def _drawn(evaluation: Evaluation) -> dict[str, Figure]:
    from fastfair.evaluation.det_bands import add_band, band_of

    axes: dict[str, Axes] = {"det": evaluation.plot_det(), "scores": evaluation.plot_scores()}
    add_band(axes["det"], band_of(evaluation, None), "black")
    for rates in evaluation.rates if evaluation.groups else ():
        at = rates.at
        for rate in ("fmr", "fnmr"):
            axes[f"{rate}_{_named(at)}"] = evaluation.plot_rates(rate, at)
        if has_cross_group_comparisons(rates):
            axes[f"fmr_matrix_{_named(at)}"] = evaluation.plot_fmr_matrix(at)
        if evaluation.settings["measures"]:
            axes[f"measures_{_named(at)}"] = evaluation.plot_measures(at)
    figures = {name: one.get_figure(root=True) for name, one in axes.items()}
    if evaluation.groups:
        figures |= {f"{kind}_by_group": evaluation.plot_groups(kind) for kind in ("det", "scores")}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _named(at: OperatingPoint) -> str:
    """Return an operating point as a part of a file's name."""
    return f"at_{str(at).lower().replace('=', '_').replace(' ', '_')}"
