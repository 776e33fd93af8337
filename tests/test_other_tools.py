"""What other tools compute of the same scores, and which call of ours gives their number: docs/from_other_tools.

The scores are rounded, so that many of them are tied, where tools differ most.
"""

from __future__ import annotations

import numpy as np
import pytest

import fastfair as ff

# Each is compared where it is installed; they are no requirements, as each brings its own.
PYEER = "pyeer is not installed: pip install pyeer"
BOB = "bob.measure is not installed: pip install bob.measure"
FAIRLEARN = "fairlearn is not installed: pip install fairlearn"


@pytest.fixture(scope="module")
def scores():
    """Mated and non-mated similarities."""
    rng = np.random.default_rng(0)
    return np.round(rng.normal(2, 1, 700), 2), np.round(rng.normal(0, 1, 5_000), 2)


@pytest.fixture(scope="module")
def c(scores):
    mated, nonmated = scores
    return ff.Comparisons(np.concatenate(scores), np.arange(mated.size + nonmated.size) < mated.size)


@pytest.fixture(scope="module")
def roc(scores):
    """scikit-learn's curve: false positive rates, true positive rates, thresholds."""
    from sklearn.metrics import roc_curve

    mated, nonmated = scores
    flags = np.arange(mated.size + nonmated.size) < mated.size
    return roc_curve(flags, np.concatenate(scores), drop_intermediate=False)


def test_scikit_learns_curve_is_roc(c, roc):
    curve, (fpr, tpr, thresholds) = ff.roc(c), roc
    assert np.array_equal(curve.fmr[::-1], fpr)
    assert 1 - curve.fnmr[::-1] == pytest.approx(tpr)
    assert np.array_equal(curve.threshold[::-1][1:], thresholds[1:])


def test_scikit_learns_log_loss_is_cllr(scores, c):
    from sklearn.metrics import log_loss

    mated, nonmated = scores
    flags, ratios = np.arange(mated.size + nonmated.size) < mated.size, np.concatenate(scores)
    for p in (0.5, 0.02):
        posterior = 1 / (1 + np.exp(-ratios - np.log(p / (1 - p))))
        weights = np.where(flags, p / mated.size, (1 - p) / nonmated.size)
        entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
        assert ff.cllr(c, p) == pytest.approx(log_loss(flags, posterior, sample_weight=weights) / entropy, rel=1e-9)


def test_the_eer_of_voxceleb_trainers_is_nearest_max(c, roc):
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


def kaldi_eer(targets, nontargets):
    """The loop of Kaldi's compute-eer, which ends at the first target score that is above as many non-targets."""
    targets, nontargets = np.sort(targets), np.sort(nontargets)
    for position in range(targets.size):
        n = int(nontargets.size * position / targets.size)
        at = max(0, nontargets.size - 1 - n)
        if nontargets[at] < targets[position]:
            break
    return position / targets.size


def test_the_eer_of_kaldi_is_a_step_from_ours(scores, c):
    assert ff.eer(c).value == pytest.approx(kaldi_eer(*scores), abs=0.005)


def test_kaldis_and_voxcelebs_min_dcf_is_normalized(c, roc):
    fpr, tpr, _ = roc
    for p in (0.01, 0.05):
        least = min(p * (1 - tpr) + (1 - p) * fpr)
        assert ff.min_dcf(c, ff.Costs(p)).value == pytest.approx(least)
        assert ff.min_dcf(c, ff.Costs(p, normalize=True)).value == pytest.approx(least / min(p, 1 - p))


def test_tar_at_the_nearest_far_is_another_point(c, roc):
    """insightface's IJB scripts take the first point whose FAR is nearest, which may be above or reject too many."""
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


def test_pyeer_has_the_same_eer_and_the_fnmr_at_the_nearest_fmr(scores, c):
    stats = pytest.importorskip("pyeer.eer_info", reason=PYEER).get_eer_stats(*scores)
    assert ff.eer(c).value == pytest.approx(stats.eer)
    assert ff.rates(c, ff.at_fmr(0.01)).fnmr == pytest.approx(stats.fmr100)
    above = ff.rates(c, ff.at_fmr(0.0504))  # the nearest to 0.05 among tied scores
    assert above.fmr > 0.05
    assert above.fnmr == pytest.approx(stats.fmr20)


def test_bob_has_the_same_rates_at_a_threshold_and_the_same_eer(scores, c):
    bob = pytest.importorskip("bob.measure", reason=BOB)
    mated, nonmated = scores
    rates = ff.rates(c, ff.at_threshold(1.23))
    assert (rates.fmr, rates.fnmr) == pytest.approx(bob.farfrr(nonmated, mated, 1.23))
    assert ff.eer(c).value == pytest.approx(bob.eer(nonmated, mated))
    for fmr in (0.001, 0.01, 0.05):
        theirs = bob.farfrr(nonmated, mated, bob.far_threshold(nonmated, mated, fmr))
        rates = ff.rates(c, ff.at_fmr(fmr))
        assert rates.fmr == theirs[0] <= fmr
        assert rates.fnmr <= theirs[1] + 1e-12


def test_fairlearn_has_the_rates_of_groups_that_decisions_have():
    metrics = pytest.importorskip("fairlearn.metrics", reason=FAIRLEARN)
    rng = np.random.default_rng(1)
    flags, groups = np.arange(4_000) < 1_000, np.where(rng.random(4_000) < 0.4, "f", "m")
    similarities = rng.normal(size=4_000) + 2 * flags
    frame = metrics.MetricFrame(
        metrics={"fmr": metrics.false_positive_rate, "fnmr": metrics.false_negative_rate},
        y_true=flags, y_pred=similarities >= 1.5, sensitive_features=groups,
    )  # fmt: skip
    rates = ff.rates(ff.Comparisons(similarities, flags, reference_group=groups), ff.at_threshold(1.5))
    assert rates.group_fmr == pytest.approx(frame.by_group["fmr"].to_numpy())
    assert rates.group_fnmr == pytest.approx(frame.by_group["fnmr"].to_numpy())
