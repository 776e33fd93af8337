"""The EER of trials, as users of bootstrap tools write it: from sums over sorted scores, or from
scikit-learn's ROC."""

import numpy as np
from sklearn.metrics import roc_curve


def by_sorting(mated: np.ndarray, scores: np.ndarray) -> float:
    """Compute both rates above every distinct score and take them where they are nearest."""
    order = np.argsort(scores)
    mated, scores = mated[order], scores[order]
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), scores.size - 1)
    rejected = np.cumsum(mated)[last]
    fnmr = rejected / rejected[-1]
    fmr = 1 - (last + 1 - rejected) / (scores.size - rejected[-1])
    k = np.argmin(np.abs(fnmr - fmr))
    return (fnmr[k] + fmr[k]) / 2


def by_roc_curve(mated: np.ndarray, scores: np.ndarray) -> float:
    """Take the point of the curve whose rates are nearest."""
    fmr, tmr, _ = roc_curve(mated, scores, drop_intermediate=False)
    k = np.argmin(np.abs(1 - tmr - fmr))
    return (1 - tmr[k] + fmr[k]) / 2
