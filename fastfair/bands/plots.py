"""Draw ROC curves and fairness measures with their intervals and bands, and the coverage of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib.axes import axes_or_new, probit_axes, roc_axes
from fastfair._lib.text import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.floating[Any]]
Range = tuple[Floats, Floats]  # the lower and the upper end
_STYLES = ("-", "--", "-.", ":")
_POINTWISE, _SIMULTANEOUS = 0.25, 0.15  # how dark


def draw_band(
    fmr: Floats, fnmr: Floats, interval: Range, band: Range, ax: Axes | None, *, det: bool, **kwargs: Any
) -> Axes:
    """Draw a curve with its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    # On probit axes a rate of 0 or 1 lies at infinity; it is drawn at the edge of what can be told apart.
    edge = 1e-6
    place = (lambda rates: ndtri(np.clip(rates, edge, 1 - edge))) if det else np.asarray
    (line,) = ax.plot(place(fmr), place(fnmr), **kwargs)
    for (low, high), alpha in ((band, _SIMULTANEOUS), (interval, _POINTWISE)):
        ax.fill_between(place(fmr), place(low), place(high), color=line.get_color(), alpha=alpha, linewidth=0)
    return probit_axes(ax) if det else roc_axes(ax)


def draw_measure(
    fmr: Floats,
    value: Floats,
    interval: Range,
    band: Range,
    groups: Sequence[str],
    ax: Axes | None,
    **kwargs: Any,
) -> Axes:
    """Draw a measure, of each group if it has one value for each, with its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    of_groups = value.ndim > 1
    for k, label in enumerate(groups if of_groups else (None,)):
        at = np.s_[:, k] if of_groups else np.s_[:]
        (line,) = ax.plot(fmr, value[at], **({"label": None if label is None else drawn(label)} | kwargs))
        for (low, high), alpha in ((band, _SIMULTANEOUS), (interval, _POINTWISE)):
            ax.fill_between(fmr, low[at], high[at], color=line.get_color(), alpha=alpha, linewidth=0)
    if np.isfinite(value).any():
        ax.set_xscale("log")
    else:
        ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
    ax.set_xlabel("False match rate")
    ax.grid(alpha=0.3)
    if of_groups:
        ax.legend()
    return ax


def draw_coverage(
    nominal: Floats,
    coverage: Floats,
    standard_error: Floats,
    methods: Sequence[str],
    levels: Floats,
    ax: Axes | None,
    **kwargs: Any,
) -> Axes:
    """Draw estimated over nominal coverage, a line for each method and FMR; arrays are (methods, nominal, levels)."""
    ax = axes_or_new(ax)
    for m, method in enumerate(methods):
        for k, fmr in enumerate(levels):
            style: dict[str, Any] = {"color": f"C{m}", "linestyle": _STYLES[k % len(_STYLES)], "marker": "."}
            style["label"] = f"{method}, FMR {fmr:g}"
            ax.errorbar(nominal, coverage[m, :, k], standard_error[m, :, k], **(style | kwargs))
    ends = nominal.min(), nominal.max()
    ax.plot(ends, ends, color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.set(xlabel="Nominal coverage", ylabel="Estimated coverage")
    ax.grid(alpha=0.3)
    ax.legend()
    return ax
