"""What scikit-learn, which tests have installed, and scripts around it make of scores of which many
are tied."""

from __future__ import annotations

import numpy as np
import pytest

import fastfair as ff


@pytest.fixture(scope="module")
def scores():
    """Mated and non-mated similarities."""
    rng = np.random.default_rng(0)
    return np.round(rng.normal(2, 1, 700), 2), np.round(rng.normal(0, 1, 5_000), 2)


@pytest.fixture(scope="module")
def c(scores):
    mated, nonmated = scores
    return ff.Comparisons(
        np.concatenate(scores), np.arange(mated.size + nonmated.size) < mated.size
    )


@pytest.fixture(scope="module")
def roc(scores):
    """scikit-learn's curve: false positive rates, true positive rates, thresholds."""
    from sklearn.metrics import roc_curve

    mated, nonmated = scores
    flags = np.arange(mated.size + nonmated.size) < mated.size
    return roc_curve(flags, np.concatenate(scores), drop_intermediate=False)


def test_its_curve_is_roc(c, roc):
    curve, (fpr, tpr, thresholds) = ff.roc(c), roc
    assert np.array_equal(curve.fmr[::-1], fpr)
    assert 1 - curve.fnmr[::-1] == pytest.approx(tpr)
    assert np.array_equal(curve.threshold[::-1][1:], thresholds[1:])


def test_its_log_loss_is_cllr(scores, c):
    from sklearn.metrics import log_loss

    mated, nonmated = scores
    flags, ratios = np.arange(mated.size + nonmated.size) < mated.size, np.concatenate(scores)
    for p in (0.5, 0.02):
        posterior = 1 / (1 + np.exp(-ratios - np.log(p / (1 - p))))
        weights = np.where(flags, p / mated.size, (1 - p) / nonmated.size)
        entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
        assert ff.cllr(c, p) == pytest.approx(
            log_loss(flags, posterior, sample_weight=weights) / entropy, rel=1e-9
        )


def test_the_eer_of_trainers_is_nearest_max_of_many_scores(c, roc):
    fpr, tpr, _ = roc
    fnr = 1 - tpr
    k = np.nanargmin(np.absolute(fnr - fpr))
    assert ff.eer(c, "nearest-max").value == pytest.approx(max(fpr[k], fnr[k]))


def test_the_eer_by_a_root_of_the_interpolated_curve_is_interpolated(c, roc):
    from scipy.interpolate import interp1d
    from scipy.optimize import brentq

    fpr, tpr, _ = roc
    root = brentq(lambda x: 1.0 - x - interp1d(fpr, tpr)(x), 0.0, 1.0)
    assert ff.eer(c, "interpolated").value == pytest.approx(root, abs=1e-6)


def test_the_min_dcf_of_trainers_is_normalized(c, roc):
    fpr, tpr, _ = roc
    for p in (0.01, 0.05):
        least = min(p * (1 - tpr) + (1 - p) * fpr)
        assert ff.min_dcf(c, ff.Costs(p)).value == pytest.approx(least)
        assert ff.min_dcf(c, ff.Costs(p, normalize=True)).value == pytest.approx(
            least / min(p, 1 - p)
        )


def test_tar_at_the_nearest_far_is_another_point(c, roc):
    """insightface's IJB scripts take the first point whose FAR is nearest, which may be above or
    reject too many."""
    fpr, tpr, _ = roc
    above = worse = 0
    for far in (1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2):
        k = np.argmin(np.abs(fpr - far))
        rates = ff.rates(c, ff.at_fmr(far))
        assert rates.fmr == fpr[fpr <= far].max()
        assert rates.fnmr == pytest.approx(1 - tpr[fpr <= far].max())
        above += fpr[k] > far
        worse += fpr[k] <= far and 1 - tpr[k] > rates.fnmr + 1e-9
    assert (above, worse) == (2, 3)
