"""Draw rates, measures and the matrix of FMRs of evaluations; matplotlib is imported only in modules of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.plots import LIGHTER, USUAL, ForestRow, axes_or_new, draw_forest, explain, rate_ticks
from fastfair._lib.text import drawn, number_with_interval, shortened
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS, measure_of, printed_name
from fastfair.uncertainty.quantities import find

from .chapter import measures_at
from .evaluated import Evaluated, interval_name
from .summary import has_comparisons_between_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_LABEL = 24  # characters beside a matrix
_ON_LIGHT = "#111111"  # not black, which pages turn into the colour of their text
_MOST_WRITTEN = 10  # with more groups the numbers do not fit the cells of a matrix


def forest_rows(evaluation: Evaluated, rate: str, rates: Rates) -> list[ForestRow]:
    """Return all comparisons and each group with their rate and its interval."""
    rows = []
    for group in (None, *evaluation.groups):
        found = find(evaluation.quantities, rate, group, rates.at)
        n_errors = found.n_errors or 0
        rows.append(
            ForestRow(
                "all" if group is None else group, found.estimate, _limit(found.low), _limit(found.high),
                is_light=n_errors < ENOUGH_ERRORS, instead="no comparisons",
            )
        )  # fmt: skip
    return rows


def _limit(value: float | None) -> float:
    return math.nan if value is None else value


def draw_rates(evaluation: Evaluated, rate: str, rates: Rates, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw a rate of each group with its interval; those that rest on few errors are lighter."""
    rows = forest_rows(evaluation, rate, rates)
    positive = [row.value for row in rows if row.value > 0]
    logarithmic = rate == "fmr" and bool(positive)  # FMRs of groups are often powers of ten apart
    ax = draw_forest(rows, ax, logarithmic=logarithmic, **kwargs)
    ax.axvline(rows[0].value, color="black", linestyle="--", linewidth=1, zorder=0)
    if len(rows) > 1:
        ax.axhline(0.5, color="0.7", linewidth=0.8)
    rate_ticks(ax.xaxis)
    ax.set_xlabel(f"{METRICS[rate].long_title} at {rates.at}")
    explain(ax, _legend(evaluation, rows, logarithmic))
    return ax


def _legend(evaluation: Evaluated, rows: Sequence[ForestRow], logarithmic: bool) -> list[tuple[str, dict[str, Any]]]:
    name = interval_name(evaluation.settings)
    about = f"estimate and {name}" if name else "estimate"
    mark = {"color": USUAL, "marker": "o", "markersize": 5, "linewidth": 1.6 if name else 0}
    light = mark | {"alpha": LIGHTER, "markerfacecolor": "none", "linewidth": 1.0 if name else 0}
    found: list[tuple[str, dict[str, Any]]] = []
    if not all(row.is_light for row in rows):
        found.append((about, mark))
    if any(row.is_light for row in rows):
        found.append((f"{'the same' if found else about}, from fewer than {ENOUGH_ERRORS} errors", light))
    if logarithmic and any(row.value == 0 for row in rows):
        found.append(("no errors: the estimate is 0, left of the axis", light | {"marker": "<"}))
    found.append(("all comparisons", {"color": "black", "linestyle": "--", "linewidth": 1}))
    return found


def draw_fmr_matrix(evaluation: Evaluated, rates: Rates, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the FMR by group of reference and of probe as a heat map with a logarithmic scale."""
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Patch

    if not has_comparisons_between_groups(rates):
        raise InputError("all non-mated comparisons are within groups: there is no FMR between groups to draw")
    n = len(rates.groups)
    labels = [drawn(shortened(group, _LONGEST_LABEL)) for group in rates.groups]
    side, names = max(3.2, 0.3 * n), 0.085 * max(map(len, labels))
    ax = axes_or_new(ax, (side + names + 1.6, side + names + 0.9))
    matrix = rates.fmr_matrix
    positive = matrix[matrix > 0]
    low, high = (positive.min(), positive.max()) if positive.size else (1e-6, 1.0)
    norm = LogNorm(low if low < high else high / 10, high)
    style: dict[str, Any] = {"cmap": "cividis", "norm": norm, "interpolation": "none"} | kwargs
    image = ax.imshow(np.where(matrix > 0, matrix, np.nan), **style)
    ax.set_facecolor("white")
    size = "small" if n <= 20 else "xx-small"
    for i, j in np.ndindex(n, n):
        value = matrix[i, j]
        if math.isnan(value):
            ax.text(j, i, "×", ha="center", va="center", color="0.5", fontsize=size)
        elif value == 0 or n <= _MOST_WRITTEN:
            light = value == 0 or norm(value) > 0.55
            text = "0" if value == 0 else f"{100 * value:.2g}"
            ax.text(j, i, text, ha="center", va="center", color=_ON_LIGHT if light else "white", fontsize=size)
    ax.set_xticks(range(n), labels, rotation=90 if max(map(len, labels)) > 3 else 0, fontsize=size)
    ax.set_yticks(range(n), labels, fontsize=size)
    ax.set(xlabel="Group of the probe", ylabel="Group of the reference")
    figure = ax.get_figure()
    assert figure is not None
    bar = figure.colorbar(image, ax=ax, shrink=0.8, label=f"{METRICS['fmr'].long_title} at {rates.at}")
    rate_ticks(bar.ax.yaxis)
    notes = [("0: no false match", (matrix == 0).any()), ("×: no comparisons", np.isnan(matrix).any())]
    handles = [Patch(facecolor="white", edgecolor="0.7", label=text) for text, is_there in notes if is_there]
    if n <= _MOST_WRITTEN:
        handles.append(Patch(facecolor="none", edgecolor="none", label="numbers: per cent"))
    if handles:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=1, fontsize="small", frameon=False,
            borderaxespad=0.2,
        )  # fmt: skip
    return ax


def draw_measures(evaluation: Evaluated, rates: Rates | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw how far each measure is from its fair value, with the interval; each row has a scale of its own."""
    found = measures_at(evaluation, rates)
    if not found:
        raise InputError("the evaluation has no fairness measures: evaluate comparisons with groups, and measures")
    rows = []
    for quantity in found:
        measure = measure_of(quantity.name)
        assert measure is not None
        away = [abs(x - measure.fair_value) for x in (quantity.estimate, _limit(quantity.low), _limit(quantity.high))]
        largest = max((x for x in away if math.isfinite(x)), default=0.0) or 1.0
        value, *ends = (x / largest for x in away)
        inside = _limit(quantity.low) <= measure.fair_value <= _limit(quantity.high)
        low, high = (0.0 if inside else min(ends)), max(ends)
        rows.append(ForestRow(printed_name(quantity.name), value, low, high, instead="not computable: see its note"))
    ax = draw_forest(rows, ax, **kwargs)
    ax.axvline(0, color="black", linestyle="--", linewidth=1.2, zorder=0)
    ax.set_xlim(-0.04, 1.04)
    ax.set_xticks([0, 1], ["fair", "farthest of\nthe row"])
    for y, quantity in enumerate(found):
        ax.text(
            1.03,
            y,
            number_with_interval(quantity.estimate, quantity.low, quantity.high),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize="small",
        )
    ax.set_xlabel("Distance from the value of a fair system; each row has its own scale")
    return ax
