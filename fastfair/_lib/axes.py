"""Drawing curves; matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from . import validation
from .text import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastfair.bands.coverage import CoverageExperiment
    from fastfair.bands.fairness import FairnessBand
    from fastfair.bands.roc import RocBand
    from fastfair.error_rates.curve_results import Det, Roc
    from fastfair.synthesis.hill_climbing import Synthesis

_TICKS = np.array([1e-5, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999])
_STYLES = ("-", "--", "-.", ":")
_RESOLUTION = 300  # points a unit of normal deviate: more cannot be told apart on paper and make vector files heavy


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
    return pyplot.subplots(layout="constrained")[1]


def per_cent(value: float, position: float = 0) -> str:
    """Write a rate, also as the formatter of an axis."""
    return f"{100 * value:.10g} %"


def _visible(curve: Roc | Det) -> NDArray[np.bool_]:
    """Tell the points that can be told from the one before on a DET plot."""
    places = [np.round(_RESOLUTION * ndtri(rate)) for rate in (curve.fmr, curve.fnmr)]
    moved = np.logical_or(*(place[1:] != place[:-1] for place in places))
    return np.append(True, moved)


def draw_roc(curve: Roc, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw FNMR over FMR, FMR on a logarithmic axis."""
    ax = axes_or_new(ax)
    points = _visible(curve)
    ax.plot(curve.fmr[points], curve.fnmr[points], **kwargs)
    return _roc_axes(ax)


def _roc_axes(ax: Axes) -> Axes:
    ax.set_xscale("log")
    ax.set_xlabel("False match rate")
    ax.set_ylabel("False non-match rate")
    ax.grid(alpha=0.3)
    return ax


def draw_band(band: RocBand, ax: Axes | None, *, det: bool, **kwargs: Any) -> Axes:
    """Draw a curve in its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    # On probit axes a rate of 0 or 1 lies at infinity; it is drawn at the edge of what can be told apart.
    edge = 1e-6
    place = (lambda rates: ndtri(np.clip(rates, edge, 1 - edge))) if det else np.asarray
    (line,) = ax.plot(place(band.fmr), place(band.fnmr), **kwargs)
    for low, high, alpha in ((band.band_low, band.band_high, 0.15), (band.low, band.high, 0.25)):
        ax.fill_between(place(band.fmr), place(low), place(high), color=line.get_color(), alpha=alpha, linewidth=0)
    return _probit_axes(ax) if det else _roc_axes(ax)


def draw_fairness_band(band: FairnessBand, title: str, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw a measure, of each group where it has one, in its interval and its simultaneous band."""
    ax = axes_or_new(ax)
    of_groups = band.value.ndim > 1
    for k, label in enumerate(band.groups if of_groups else (None,)):
        at = np.s_[:, k] if of_groups else np.s_[:]
        (line,) = ax.plot(band.fmr, band.value[at], **({"label": None if label is None else drawn(label)} | kwargs))
        for low, high, alpha in ((band.band_low, band.band_high, 0.15), (band.low, band.high, 0.25)):
            ax.fill_between(band.fmr, low[at], high[at], color=line.get_color(), alpha=alpha, linewidth=0)
    if np.isfinite(band.value).any():
        ax.set_xscale("log")
    else:
        ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
    ax.set(xlabel="False match rate", ylabel=title)
    if band.note:
        ax.set_title("No test: fair systems lie outside, too", fontsize="small")
    ax.grid(alpha=0.3)
    if of_groups:
        ax.legend()
    return ax


def draw_coverage(found: CoverageExperiment, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw estimated over nominal coverage, a line for each method and FMR."""
    ax = axes_or_new(ax)
    for m, method in enumerate(found.methods):
        for k, fmr in enumerate(found.fmr):
            style: dict[str, Any] = {"color": f"C{m}", "linestyle": _STYLES[k % len(_STYLES)], "marker": "."}
            style["label"] = f"{method}, FMR {fmr:g}"
            error = found.standard_error[m, :, k]
            ax.errorbar(found.confidence_level, found.coverage[m, :, k], error, **(style | kwargs))
    ends = found.confidence_level.min(), found.confidence_level.max()
    ax.plot(ends, ends, color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.set(xlabel="Nominal coverage", ylabel="Estimated coverage")
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def draw_history(made: Synthesis, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distance of the rates from their target over the steps."""
    ax = axes_or_new(ax)
    shown = made.history[: made.n_steps + 1]
    ax.step(np.arange(shown.size), shown, **({"where": "post"} | kwargs))
    ax.set(xlabel="Step", ylabel="Distance from the target")
    ax.grid(alpha=0.3)
    return ax


def draw_det(curve: Det, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw normal deviates of FNMR over FMR, labelled in per cent."""
    ax = axes_or_new(ax)
    points = _visible(curve)
    x, y = curve.fmr_deviate[points], curve.fnmr_deviate[points]
    seen = np.isfinite(x) & np.isfinite(y)
    ax.plot(x[seen], y[seen], **kwargs)
    return _probit_axes(ax)


def _probit_axes(ax: Axes) -> Axes:
    low, high = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    deviates = ndtri(_TICKS)
    shown = (deviates > low) & (deviates < high)
    labels = [f"{100 * tick:g}" for tick in _TICKS[shown]]
    ax.set_xticks(deviates[shown], labels)
    ax.set_yticks(deviates[shown], labels)
    ax.plot([low, high], [low, high], color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlabel("False match rate (%)")
    ax.set_ylabel("False non-match rate (%)")
    ax.grid(alpha=0.3)
    return ax
