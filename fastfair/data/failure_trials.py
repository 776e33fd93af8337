"""Comparisons as trials of whether they fail, so that rates of failure are computed as error rates are."""

from __future__ import annotations

import numpy as np

from . import score_keys
from .comparisons import Comparisons
from .sorted_scores import SortedSide

_SCORED, _WRONG = 1.0, 0.0  # what a mated comparison scores that has a score, or has none; a non-mated one the contrary


def failure_trials(comparisons: Comparisons) -> Comparisons:
    """Return all comparisons, each with a score that tells whether it failed.

    Parameters
    ----------
    comparisons : Comparisons
        With what became of failed ones.

    Returns
    -------
    Comparisons
        At a threshold between 0 and 1 their FNMR is the share of the mated comparisons that failed, and their FMR the
        share of the non-mated ones.
    """
    failed = comparisons.failed
    assert failed is not None
    sides = []
    for mated, side, lost in zip((True, False), (comparisons.mated, comparisons.nonmated), failed.sides, strict=True):
        n_failed = score_keys.count_failed(side.keys)  # of those that are among the others
        scored = side.take(np.arange(n_failed, len(side))) if n_failed else side
        parts = [lost, scored] if mated else [scored, lost]
        kind = score_keys.float_type(side.keys)
        keys = [
            np.full(len(part), score_keys.encode(np.array([score], kind))[0])
            for part, score in zip(parts, (_WRONG, _SCORED), strict=True)
        ]
        sides.append(SortedSide.joined(parts, np.concatenate(keys)))
    return Comparisons._of_parts(
        sides[0], sides[1], "similarity", comparisons.subjects, comparisons.samples, comparisons.sample_subject,
        comparisons.attributes, comparisons.grouping,
    )  # fmt: skip
