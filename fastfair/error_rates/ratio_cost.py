"""The Cllr of all comparisons and of each group, in memory and of scans; what must be log-likelihood ratios."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_order
from fastfair._lib.validation import LOG_LIKELIHOOD_RATIO
from fastfair.data.class_keys import keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.scanning import Reader, SpilledPairs
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.errors import InputError

from .exact_costs import ExactCosts, exact_costs
from .score_metrics import log_likelihood_ratio_cost


def ratio_costs_of_groups(comparisons: Comparisons) -> NDArray[np.float64]:
    """Compute the Cllr of all comparisons and of each group.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons; of a scan, those that are kept.

    Returns
    -------
    (1 + groups,) ndarray
        NaN for a group without comparisons of one class.

    Raises
    ------
    InputError
        Where a scan has not kept all scores.
    """
    groups = range(len(comparisons.groups))
    lists = [keys_of(comparisons), *(keys_of(comparisons, k) for k in groups)]
    exact = exact_costs(lists[0])
    comparisons._require("costs")
    if not isinstance(comparisons, KeptComparisons):
        return np.array([log_likelihood_ratio_cost(keys, exact) if all(keys.sizes) else np.nan for keys in lists])
    sizes = np.array([keys.sizes for keys in lists]).T
    found = np.zeros(len(lists))
    for pairs, of_class, n in zip(comparisons.pairs, exact, sizes, strict=True):
        assert not isinstance(pairs, PairsOfVectors)  # which have no costs
        found += _means(pairs, comparisons.group_of_number, len(groups), of_class, n)
    return np.where((sizes > 0).all(axis=0), found / (2 * float(np.log(2))), np.nan)


def require_ratios(comparisons: Comparisons, what: str) -> None:
    """Raise an error where scores are not declared to be log-likelihood ratios."""
    if comparisons.score_kind != LOG_LIKELIHOOD_RATIO:
        raise InputError(
            f"{what} is that of log-likelihood ratios, but these scores are declared as {comparisons.score_kind}: pass "
            f'score_kind="{LOG_LIKELIHOOD_RATIO}" where they are, or make them so with calibrate'
        )


def _means(
    pairs: SpilledPairs, group: NDArray[np.uint16], n_groups: int, exact: ExactCosts, sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Compute the mean costs of all comparisons of a class, and of those within each group, in nats."""
    from fastfair.kernels import scan as kernels

    words, lock = np.zeros((2, 1 + n_groups), np.int64), threading.Lock()

    def add(read: Reader) -> None:
        reference, probe, keys = read()
        own = np.zeros((2, 1 + n_groups), np.int64)
        kernels.sum_costs_by_group(reference, probe, group, exact.of(keys), own)
        with lock:
            words.__iadd__(own)

    for _ in in_order(add, *pairs.buckets(count_threads(None))):
        pass
    return exact.means(words, sizes)
