"""Drawing how a synthesis came to its target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.axes import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_history(distance: NDArray[np.float64], ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw the distance of the rates from their target over the steps."""
    ax = axes_or_new(ax)
    ax.step(np.arange(distance.size), distance, **({"where": "post"} | kwargs))
    ax.set(xlabel="Step", ylabel="Distance from the target")
    ax.grid(alpha=0.3)
    return ax
