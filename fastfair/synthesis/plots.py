"""Draw how a synthesis came to its target, and the coverage of intervals of simulated data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.floating[Any]]
_STYLES = ("-", "--", "-.", ":")


def draw_history(distance: Floats, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distance of the rates from their target over the steps."""
    ax = axes_or_new(ax)
    ax.step(np.arange(distance.size), distance, **({"where": "post"} | kwargs))
    ax.set(xlabel="Step", ylabel="Distance from the target")
    ax.grid(alpha=0.3)
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
