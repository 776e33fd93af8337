"""How many independent comparisons are behind rates and EERs of 0 or 1, which are the same in all replicates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fastfair.resampling.comparison_replicates import Resampler

from .degrees_of_freedom import SIDES
from .entries import Entry
from .interval_notes import RATES


def independent_comparisons(
    entries: Sequence[Entry], groups: Sequence[str], resampler: Resampler
) -> NDArray[np.float64]:
    """Count the independent comparisons that would tell as much of each rate and EER of 0 or 1.

    An EER of 0 means that both rates are 0 at the thresholds between all non-mated and all mated scores. It cannot lie
    above the larger of the two upper limits there, which is that of the smaller number.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    groups : sequence of str
        All groups.
    resampler : Resampler
        The resampler of the evaluation.

    Returns
    -------
    (entries,) ndarray
        NaN for other entries.
    """
    count = cache(resampler.independent_comparisons)
    own = {group: (k, k) for k, group in enumerate(groups)}
    found = np.full(len(entries), np.nan)
    for k, entry in enumerate(entries):
        if entry.name in (*RATES, "eer") and entry.value in (0, 1):
            cell = entry.cell or (None if entry.group is None else own[entry.group])
            found[k] = min(count(side == "mated", cell, bool(entry.value == 1)) for side in SIDES[entry.name])
    return found
