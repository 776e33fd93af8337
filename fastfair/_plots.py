"""Drawing curves; matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from . import _validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._results import Det, Roc

_TICKS = np.array([1e-6, 1e-5, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999])
_MOST_POINTS = 20_000  # more cannot be told apart on paper and make vector files heavy


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    pyplot = _validation.require("matplotlib.pyplot", "cli", "drawing")
    return pyplot.subplots(layout="constrained")[1]


def _corners(curve: Roc | Det) -> slice:
    step = max(1, len(curve.fmr) // _MOST_POINTS)
    return slice(None, None, step)


def draw_roc(curve: Roc, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw FNMR over FMR, FMR on a logarithmic axis."""
    ax = _axes(ax)
    points = _corners(curve)
    ax.plot(curve.fmr[points], curve.fnmr[points], **kwargs)
    ax.set_xscale("log")
    ax.set_xlabel("False match rate")
    ax.set_ylabel("False non-match rate")
    ax.grid(alpha=0.3)
    return ax


def draw_det(curve: Det, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw normal deviates of FNMR over FMR, labelled in per cent."""
    ax = _axes(ax)
    points = _corners(curve)
    x, y = curve.fmr_deviate[points], curve.fnmr_deviate[points]
    seen = np.isfinite(x) & np.isfinite(y)
    ax.plot(x[seen], y[seen], **kwargs)
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
