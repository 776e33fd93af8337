"""Axes of plots, for the `plots` modules of the other folders; only they and this module import matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from . import validation
from .text import per_cent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TICKS = np.array([1e-5, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999])
_FEW_TICKS = _TICKS[[0, 1, 3, 5, 8]]  # for small plots


_on_screen: ContextVar[bool] = ContextVar("on_screen", default=True)


@contextmanager
def off_screen() -> Iterator[None]:
    """Make new figures without pyplot: no window opens, and nobody has to close them."""
    before = _on_screen.set(False)
    try:
        yield
    finally:
        _on_screen.reset(before)


def save(figure: Figure, file: BinaryIO, kind: str, dots: int) -> None:
    """Write a figure as "png" or "svg", the same bytes for the same figure: without a date and with its own ids."""
    matplotlib = validation.require("matplotlib", "cli", "drawing")
    with matplotlib.rc_context({"svg.hashsalt": "fastfair"}):
        figure.savefig(file, format=kind, dpi=dots, metadata={"Date": None} if kind == "svg" else None)


def new_axes(size: tuple[float, float] | None = None) -> Axes:
    """Return the axes of a new figure of a size in inches."""
    if _on_screen.get():
        pyplot = validation.require("matplotlib.pyplot", "cli", "drawing")
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    figures = validation.require("matplotlib.figure", "cli", "drawing")
    return figures.Figure(figsize=size, layout="constrained").subplots()


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the axes given, or those of a new figure of a size in inches."""
    return new_axes(size) if ax is None else ax


def tick_per_cent(value: float, position: float = 0) -> str:
    """Format the rate of a tick in per cent, as matplotlib's formatters do."""
    return per_cent(value, digits=10)


def roc_axes(ax: Axes) -> Axes:
    """Set up axes for a ROC curve, with FMR on a logarithmic scale."""
    ax.set_xscale("log")
    ax.set_xlabel("False match rate")
    ax.set_ylabel("False non-match rate")
    ax.grid(alpha=0.3)
    return ax


def probit_axes(ax: Axes, *, small: bool = False) -> Axes:
    """Set up axes for a DET curve, in normal deviates that are labelled in per cent; small ones have fewer labels."""
    from scipy.special import ndtri

    ticks = _FEW_TICKS if small else _TICKS
    low, high = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.set(xlim=(low, high), ylim=(low, high))
    deviates = ndtri(ticks)
    shown = (deviates > low) & (deviates < high)
    labels = [f"{100 * tick:g}" for tick in ticks[shown]]
    ax.set_xticks(deviates[shown], labels)
    ax.set_yticks(deviates[shown], labels)
    ax.set_xlabel("False match rate (%)")
    ax.set_ylabel("False non-match rate (%)")
    square_with_diagonal(ax)
    return ax


def square_with_diagonal(ax: Axes) -> None:
    """Make axes whose two scales are the same as wide as high, with a line where both rates are equal."""
    low, high = ax.get_xlim()
    ax.set_aspect("equal")
    ax.plot([low, high], [low, high], color="0.7", linewidth=0.8, linestyle=":", zorder=0)
    ax.grid(alpha=0.3)
