"""The rules by which claims of paper 3 are decided, and how their numbers are written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from papers.page_parts import Range
from papers.verdict_rules import Outcome

from .printed import FDR_READ

Floats = NDArray[np.float64]
SURE = 0.975  # share of replicates, as of one end of a 95 % interval
BY_SHARE = "by share"  # what rules that use `by_share` end in; the page says what it means


def by_share(share: float) -> Outcome:
    """Decide by the share of replicates in which a claim is true."""
    if share >= SURE:
        return "holds"
    return "fails" if share <= 1 - SURE else "open"


def rises(values: Floats) -> float:
    """Return the share of replicates in which values rise from each point to the next: (points,
    replicates).
    """
    return float((values[1:] > values[:-1]).all(axis=0).mean())


def opposed(fdr: Floats, nrb: Floats) -> tuple[float, Floats]:
    """Tell how far FDR and NRB order operating points the other way round: both (points,
    replicates).

    Returns
    -------
    share : float
        Of replicates in which of the first and the last point one is fairer by FDR, the other by
        NRB.
    pairs : (replicates,) ndarray
        The share of all pairs of points that are opposed so.
    """
    first, second = np.triu_indices(len(fdr), 1)
    # A larger FDR is fairer, and so is a smaller NRB. Ties, also of two infinite values, are not
    # opposed.
    against = ((fdr[first] > fdr[second]) & (nrb[first] > nrb[second])) | (
        (fdr[first] < fdr[second]) & (nrb[first] < nrb[second])
    )
    return float(against[len(fdr) - 2].mean()), against.mean(axis=0)


def certainly_swapped(x: Floats, y: Floats) -> tuple[int, int]:
    """Count pairs of groups that two metrics order the other way round: (replicates, groups),
    estimates first.

    Returns
    -------
    estimated, certain : int
        Pairs swapped in the estimates, and of these the ones whose both orders are those of the
        estimates in nearly all replicates.
    """
    i, j = np.triu_indices(x.shape[-1], 1)
    signs = [np.sign(values[:, i] - values[:, j]) for values in (x, y)]
    swapped = signs[0][0] * signs[1][0] < 0
    certain = swapped.copy()
    for sign in signs:
        certain &= (sign[1:] == sign[0]).mean(axis=0) >= SURE
    return int(swapped.sum()), int(certain.sum())


def swap_outcome(swapped: int, certain: int) -> Outcome:
    """Decide whether two metrics order groups differently."""
    if certain:
        return "holds"
    return "open" if swapped else "fails"


def level_outcome(fdr: Range, nrb: Range) -> Outcome:
    """Decide whether an FDR says fair where an NRB says biased."""
    if fdr.high < FDR_READ:
        return "fails"
    if not nrb.low > 0:
        return "open"
    return "holds" if fdr.low >= FDR_READ else "in part"


def ratio_outcome(found: Range, printed: float) -> Outcome:
    """Decide whether a group is as many times worse as printed."""
    if found.low <= printed <= found.high:
        return "holds" if found.low > 1 else "open"
    return "in part" if found.low > 1 else "fails"


def keeps_order(values: Floats, measured: Floats) -> NDArray[np.bool_]:
    """Tell in which replicates a measure never ranks a group before one with a smaller value:
    (replicates, groups).
    """
    taken = np.take_along_axis(measured, np.argsort(values, axis=-1), axis=-1)
    return np.asarray((taken[:, 1:] >= taken[:, :-1]).all(axis=-1))


def rank_correlation(x: Floats, y: Floats) -> Floats:
    """Compute Spearman's correlation of two arrays along their last axes."""
    from scipy.stats import rankdata

    centred = [
        ranks - ranks.mean(axis=-1, keepdims=True)
        for ranks in (rankdata(v, axis=-1) for v in (x, y))
    ]
    u, v = centred
    return np.asarray((u * v).sum(axis=-1) / np.sqrt((u**2).sum(axis=-1) * (v**2).sum(axis=-1)))


def similarity_outcome(estimate: float, share_positive: float, wanted: float) -> Outcome:
    """Decide whether two lists are similar, by their correlation and how often replicates have a
    positive one.

    Replicates add noise, which makes correlations smaller; so their size is asked of the estimate
    alone.
    """
    if share_positive < SURE:
        return by_share(share_positive)
    return "holds" if estimate >= wanted else "in part"


def spread(values: Floats, estimate: float) -> Range:
    """Return an estimate and the middle 95 % of its replicates: infinite ones are largest, NaN ones
    left out.
    """
    ordered = np.sort(values[~np.isnan(values)])
    ends = ordered[[round((1 - SURE) * (ordered.size - 1)), round(SURE * (ordered.size - 1))]]
    return Range(estimate, float(ends[0]), float(ends[1]))


def written(found: Range, digits: int = 2) -> str:
    """Write an estimate with its interval."""
    low, high = (
        "infinity" if np.isinf(end) else f"{end:.{digits}f}" for end in (found.low, found.high)
    )
    return f"{found.value:.{digits}f} [{low}, {high}]"


def per_cent(share: float) -> str:
    """Write a share of replicates."""
    return f"{100 * share:.1f} %"
