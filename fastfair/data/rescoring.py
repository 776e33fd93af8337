"""The same comparisons with other scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.validation import LOG_LIKELIHOOD_RATIO

from . import score_keys
from .comparisons import Comparisons
from .sorted_scores import SortedSide


def with_ratios(comparisons: Comparisons, mated: NDArray[Any], nonmated: NDArray[Any]) -> Comparisons:
    """Give comparisons log-likelihood ratios in place of their scores.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    mated, nonmated : (n,) ndarray of float64
        The finite ratios of the mated, and of the non-mated, comparisons, in the order of `Comparisons.mated.keys` and
        of `Comparisons.nonmated.keys`.

    Returns
    -------
    Comparisons
        With the same subjects, samples and groups.
    """
    made = Comparisons._of_parts(
        _sorted(comparisons.mated, mated), _sorted(comparisons.nonmated, nonmated), LOG_LIKELIHOOD_RATIO,
        comparisons.subjects, comparisons.samples, comparisons.sample_subject, comparisons.attributes,
        comparisons.grouping,
    )  # fmt: skip
    made.left_out = comparisons.left_out
    return made


def _sorted(side: SortedSide, ratios: NDArray[Any]) -> SortedSide:
    keys = score_keys.encode(np.ascontiguousarray(ratios, np.float64))
    order = np.argsort(keys, kind="stable")
    return replace(side.take(order), keys=keys[order])
