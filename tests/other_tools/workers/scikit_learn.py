"""scikit-learn's curves, and what scripts of speaker and face recognition make of them."""

import numpy as np
from answers import RATE, answer, flags_and_scores
from scipy.interpolate import interp1d
from scipy.optimize import brentq
from sklearn.metrics import confusion_matrix_at_thresholds, det_curve, log_loss, roc_curve


def roc(mated: np.ndarray, nonmated: np.ndarray, **options: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return false positive and false negative rates from the lowest threshold on."""
    fpr, tpr, _ = roc_curve(*flags_and_scores(mated, nonmated), **options)
    return fpr[::-1], 1 - tpr[::-1]


def det(mated: np.ndarray, nonmated: np.ndarray) -> np.ndarray:
    fpr, fnr, _ = det_curve(*flags_and_scores(mated, nonmated))
    return np.concatenate([fpr, fnr])


def counts(mated: np.ndarray, nonmated: np.ndarray) -> np.ndarray:
    _, false_positives, false_negatives, _, _ = confusion_matrix_at_thresholds(
        *flags_and_scores(mated, nonmated)
    )
    return np.concatenate([false_positives[::-1], false_negatives[::-1]])


def trainer_eer(mated: np.ndarray, nonmated: np.ndarray, **options: bool) -> float:
    fpr, tpr, _ = roc_curve(*flags_and_scores(mated, nonmated), **options)
    fnr = 1 - tpr
    nearest = np.nanargmin(np.absolute(fnr - fpr))
    return max(fpr[nearest], fnr[nearest])


def brentq_eer(mated: np.ndarray, nonmated: np.ndarray) -> float:
    fpr, tpr, _ = roc_curve(*flags_and_scores(mated, nonmated))
    return brentq(lambda x: 1.0 - x - interp1d(fpr, tpr)(x), 0.0, 1.0)


def trainer_min_dcf(mated: np.ndarray, nonmated: np.ndarray) -> float:
    fpr, fnr = roc(mated, nonmated)
    return min(0.05 * fnr + 0.95 * fpr) / 0.05


def nearest_fmr(mated: np.ndarray, nonmated: np.ndarray) -> list[float]:
    fpr, tpr, _ = roc_curve(*flags_and_scores(mated, nonmated))
    nearest = np.argmin(np.abs(fpr - RATE))
    return [fpr[nearest], 1 - tpr[nearest]]


def cllr_of_prior(mated: np.ndarray, nonmated: np.ndarray) -> float:
    """Return the log loss of posteriors, weighted by the prior, over the entropy of the prior."""
    p = 0.02
    flags, ratios = flags_and_scores(mated, nonmated)
    weights = np.where(flags, p / mated.size, (1 - p) / nonmated.size)
    posteriors = 1 / (1 + np.exp(-ratios - np.log(p / (1 - p))))
    return log_loss(flags, posteriors, sample_weight=weights) / -(
        p * np.log(p) + (1 - p) * np.log(1 - p)
    )


answer(
    {
        "sklearn-roc": lambda mated, nonmated: np.concatenate(
            roc(mated, nonmated, drop_intermediate=False)
        ),
        "sklearn-roc-default": lambda mated, nonmated: np.concatenate(roc(mated, nonmated)),
        "sklearn-det": det,
        "sklearn-counts": counts,
        "sklearn-log-loss": cllr_of_prior,
        "trainer-eer": lambda mated, nonmated: trainer_eer(
            mated, nonmated, drop_intermediate=False
        ),
        "trainer-eer-default": trainer_eer,
        "trainer-min-dcf": trainer_min_dcf,
        "brentq-eer": brentq_eer,
        "nearest-fmr": nearest_fmr,
    }
)
