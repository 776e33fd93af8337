"""One style for the figures of all pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from fastfair._lib import plots

COLORS = (*plots.COLORS, "#000000", "#666666")
LINES = plots.LINES
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.fonttype": "none",
    "svg.hashsalt": "fastfair",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the pages' style."""
    with mpl.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=COLORS)}):
        yield


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **kwargs: Any
) -> Any:
    """Make a figure outside of pyplot, so that nobody has to close it, and its axes in an array of
    two dimensions.
    """
    figure = Figure(figsize=size or (3.6 * columns, 3.0 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **kwargs)


def per_cent(rate: float, position: float = 0) -> str:
    """Write a rate, also as the formatter of an axis."""
    return f"{100 * rate:.10g} %"
