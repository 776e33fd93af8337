"""Some of the comparisons, with the same subjects, samples and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .comparisons import Comparisons


def subset(
    comparisons: Comparisons, mated: NDArray[np.integer[Any]] | None, nonmated: NDArray[np.integer[Any]] | None
) -> Comparisons:
    """Keep some of the mated, and some of the non-mated, comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    mated, nonmated : (n,) ndarray of int, or None
        Positions in `Comparisons.mated` and `Comparisons.nonmated`, ascending; None keeps all.

    Returns
    -------
    Comparisons
        Its subjects are all those of `comparisons`, with or without comparisons, so that they keep their numbers.
    """
    of_mated, of_nonmated = (
        side if positions is None else side.take(positions.astype(np.intp, copy=False))
        for side, positions in ((comparisons.mated, mated), (comparisons.nonmated, nonmated))
    )
    return comparisons._with_sides(of_mated, of_nonmated, comparisons.grouping)
