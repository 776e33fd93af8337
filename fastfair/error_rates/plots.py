"""Drawing ROC and DET curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastfair._lib.plots import axes_or_new, probit_axes, roc_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.floating[Any]]
_RESOLUTION = 300  # points a unit of normal deviate: more cannot be told apart on paper and make vector files heavy


def draw_roc(fmr: Floats, fnmr: Floats, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw FNMR over FMR, with FMR on a logarithmic axis."""
    ax = axes_or_new(ax)
    points = _visible(fmr, fnmr)
    ax.plot(fmr[points], fnmr[points], **kwargs)
    return roc_axes(ax)


def draw_det(fmr: Floats, fnmr: Floats, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw normal deviates of FNMR over FMR, labelled in per cent."""
    ax = axes_or_new(ax)
    points = _visible(fmr, fnmr)
    x, y = ndtri(fmr[points]), ndtri(fnmr[points])
    seen = np.isfinite(x) & np.isfinite(y)
    ax.plot(x[seen], y[seen], **kwargs)
    return probit_axes(ax)


def _visible(fmr: Floats, fnmr: Floats) -> NDArray[np.bool_]:
    """Find the points of a curve that differ visibly from the point before on a DET plot."""
    places = [np.round(_RESOLUTION * ndtri(rate)) for rate in (fmr, fnmr)]
    moved = np.logical_or(*(place[1:] != place[:-1] for place in places))
    return np.append(True, moved)
