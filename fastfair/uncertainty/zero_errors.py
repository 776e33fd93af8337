"""The effective numbers of comparisons behind rates with fewer than five errors, and behind EERs of 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fastfair.resampling.comparison_replicates import Resampler
from fastfair.resampling.design_effects import ENOUGH_PAIRS

from .degrees_of_freedom import SIDES
from .entries import Entry
from .interval_notes import RATES


def independent_comparisons(
    entries: Sequence[Entry], groups: Sequence[str], resampler: Resampler
) -> NDArray[np.float64]:
    """Compute the effective sample size of rates and EERs of 0 or 1, and of rates with one to four errors.

    So few errors have no design effect of their own: it is that of a laxer threshold. An EER of 0 means that both rates
    are 0 at the thresholds between all non-mated and all mated scores. It cannot lie above the larger of the two upper
    limits there, which is that of the smaller number.

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
        Numbers of comparisons; NaN for other entries.
    """
    count = cache(resampler.independent_comparisons)
    own = {group: (k, k) for k, group in enumerate(groups)}
    found = np.full(len(entries), np.nan)
    for k, entry in enumerate(entries):
        if entry.name not in (*RATES, "eer"):
            continue
        cell = entry.cell or (None if entry.group is None else own[entry.group])
        held = cell is None and entry.point is not None and resampler.points[entry.point].kind == entry.name
        few = not held and entry.name in RATES and 0 < entry.value < 1
        if few:
            few = round(float(entry.value) * resampler.n_comparisons(entry.name == "fnmr", cell)) < ENOUGH_PAIRS
        if few or entry.value in (0, 1):
            found[k] = min(count(side == "mated", cell, bool(entry.value == 1)) for side in SIDES[entry.name])
    return found
