"""Comparisons whose scores are those relative to a threshold of the group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from . import score_keys
from .comparisons import Comparisons
from .sorted_scores import SortedSide


def shifted(comparisons: Comparisons, thresholds: NDArray[np.float64], *, of_probe: bool) -> Comparisons:
    """Subtract from each score the threshold of a group.

    Parameters
    ----------
    comparisons : Comparisons
        With groups.
    thresholds : (groups,) ndarray
        On the scale of the scores.
    of_probe : bool
        Whether the group is that of the probe; else that of the reference.

    Returns
    -------
    Comparisons
        A score is accepted at the threshold 0 exactly where it was at the group's own. Scores are of float64, and no
        longer logarithms of likelihood ratios.
    """
    similar = np.negative(thresholds) if comparisons.score_kind == "distance" else thresholds
    sides = []
    for by_group in (comparisons.mated_by_group, comparisons.nonmated_by_group):
        group = by_group.probe_group if of_probe else by_group.reference_group
        scores = by_group.side.similarities.astype(np.float64) - similar[group]
        order = np.argsort(scores, kind="stable")
        sides.append(replace(by_group.side.take(order), keys=score_keys.encode(scores[order])))
    made = comparisons._with_sides(sides[0], sides[1], comparisons.grouping)
    if comparisons.failed is not None:
        of_mated, of_nonmated = map(_without_scores, comparisons.failed.sides)
        made.failed = replace(comparisons.failed, mated=of_mated, nonmated=of_nonmated)
    if made.score_kind == "log-likelihood-ratio":
        made.score_kind = "similarity"
    return made


def _without_scores(side: SortedSide) -> SortedSide:
    """Return failed comparisons with keys of float64."""
    return replace(side, keys=np.full(len(side), score_keys.failed_key(np.zeros(0, np.int64))))
